"""Encoded data leaves a text, and all else stays: by what real tools write, and by its letters."""

from __future__ import annotations

import json
import random
import re
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable
from textwrap import wrap
from urllib.parse import quote
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from quickest import quickest
from strategies import texts

from chatfold.core.encoded import LEAST, readable

LABEL = re.compile(r"\[(\d{1,3}(?:,\d{3})*) characters of encoded data\]")
RANDOM = random.Random(20417)
BYTES = RANDOM.randbytes(1_000)
BASE64 = b64encode(BYTES).decode()
CODE = b64encode(b"def f(x: int) -> int:\n    return x + 1\n" * 20).decode()
ZEROS = b64encode(bytes(2_000) + BYTES[:150] + bytes(2_000)).decode()
SVG = '<svg><path d="M1 2"/></svg>' * 20
TOKEN = ".".join(
    ("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9", *(urlsafe_b64encode(BYTES[:99]).decode(),) * 2)
)


def folded(text: str, width: int, end: str = "\n") -> str:
    return end.join(wrap(text, width))


def hexdump(data: bytes) -> str:
    """As `hexdump -C` writes it."""
    lines: list[str] = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        pairs = [f"{byte:02x}" for byte in row]
        words = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
        columns = f"{' '.join(pairs[:8])}  {' '.join(pairs[8:])}".ljust(48)
        lines.append(f"{at:08x}  {columns}  |{words}|")
    return "\n".join(lines)


def xxd(data: bytes) -> str:
    """As `xxd` writes it."""
    lines: list[str] = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16].hex()
        words = "".join(chr(b) if 32 <= b < 127 else "." for b in data[at : at + 16])
        lines.append(f"{at:08x}: {' '.join(wrap(row, 4)):39}  {words}")
    return "\n".join(lines)


def od(data: bytes) -> str:
    """As `hexdump` writes it: an offset of seven digits, and groups of four."""
    rows = (data[at : at + 16].hex() for at in range(0, len(data), 16))
    return "\n".join(f"{n * 16:07x} {' '.join(wrap(row, 4))}" for n, row in enumerate(rows))


def colons(data: bytes) -> str:
    """As `openssl x509 -text` writes a modulus."""
    rows = (data[at : at + 15] for at in range(0, len(data), 15))
    return ":\n".join("    " + row.hex(":") for row in rows).lstrip()


ENCODED = {
    "base64": BASE64,
    "base64 of code": CODE,
    "base64 of JSON": b64encode(json.dumps(list(range(300))).encode()).decode(),
    "base64 mostly of zeros": ZEROS,
    "base64 for URLs": urlsafe_b64encode(BYTES).decode(),
    "base64 without padding": BASE64.rstrip("="),
    "base32": b32encode(BYTES).decode(),
    "a picture": "iVBORw0KGgo" * 30 + "=",
    "hexadecimal": BYTES.hex(),
    "hexadecimal in capitals": BYTES.hex().upper(),
    "hexadecimal of text": (b"Where is my order? It has not come. " * 9).hex(),
    "lines of 64": folded(BASE64, 64),
    "lines of 76": folded(BASE64, 76, "\r\n"),
    "lines of 60": folded(BYTES.hex(), 60),
    "indented lines": folded(BASE64, 72, "\n    "),
    "quoted lines": folded(BASE64, 64, '"\n  "'),
    "escaped lines": folded(BASE64, 76, "\\r\\n"),
    "lines escaped twice": folded(BASE64, 76, "\\\\n"),
    "escaped slashes": BASE64.replace("/", "\\/"),
    "escaped plus signs": BASE64.replace("+", "\\u002B"),
    "percent signs": quote(BASE64, safe=""),
    "a data URL": f"data:image/png;base64,{BASE64}",
    "a data URL without a type": f"data:;base64,{BASE64}",
    "a data URL with a parameter": f"data:text/plain;charset=utf-8;base64,{BASE64}",
    "a data URL in lines": f"data:image/png;base64,{folded(BASE64, 76)}",
    "a data URL with lines below": f"data:image/png;base64,\n{folded(BASE64, 76)}",
    "a picture as a data URL": f"data:image/svg+xml,{quote(SVG)}",
    "a signed token": TOKEN,
    "a modulus": colons(BYTES[:300]),
    "bytes in Python": repr(BYTES).removeprefix("b'").removesuffix("'"),
}
"""What several tools write."""

DUMPS = {
    "hexdump -C": hexdump(BYTES[:400]),
    "hexdump -C of text": hexdump(b"Where is my order? It has not come. " * 9),
    "hexdump": od(BYTES[:400]),
    "xxd": xxd(BYTES[:400]),
}
WORDS = {
    "a path": "/usr/local/lib/python/site_packages/some_package/inner_package/module" * 8,
    "a path with ids": "".join(f"/objects/{UUID(bytes=RANDOM.randbytes(16))}" for _ in range(12)),
    "a name": "a_very_long_name_that_says_what_it_is_for_and_when_" * 8,
    "a name in camel case": "getUserNameFromDatabaseConnectionFactory2Bean" * 8,
    "a constant": "MAXIMUM_NUMBER_OF_CONNECTIONS_FOR_REGION_2_" * 8,
    "a rule": "=" * 600,
    "a rule of dashes": "-" * 600,
    "a filler": "x" * 5_000,
    "a filler of three letters": "Xy1" * 400,
    "a long number": "31415926535897932384626433832795028841971" * 9,
    "a protein": "".join(RANDOM.choices("ACDEFGHIKLMNPQRSTVWY", k=600)),
    "a gene": "".join(RANDOM.choices("ACGT", k=600)),
    "hashes": "\n".join(RANDOM.randbytes(32).hex() for _ in range(20)),
    "long hashes": "\n".join(RANDOM.randbytes(64).hex() for _ in range(20)),
    "hashes of commits": "\n".join(RANDOM.randbytes(20).hex() for _ in range(50)),
    "hashes of packages": "\n".join(
        f'    "sha512-{b64encode(RANDOM.randbytes(64)).decode()}",' for _ in range(9)
    ),
    "hashes with names": "\n".join(
        f"{RANDOM.randbytes(32).hex()}  dist/chatfold-{n}.whl" for n in range(20)
    ),
    "identifiers": "\n".join(str(UUID(bytes=RANDOM.randbytes(16))) for _ in range(20)),
    "tokens": "\n".join(b64encode(RANDOM.randbytes(30)).decode() for _ in range(20)),
    "fingerprints": "\n".join(RANDOM.randbytes(32).hex(":") for _ in range(20)),
    "addresses of machines": "\n".join(RANDOM.randbytes(6).hex(":") for _ in range(60)),
    "columns of numbers": "\n".join(
        " ".join(f"{RANDOM.randrange(10_000):04}" for _ in range(16)) for _ in range(20)
    ),
    "columns of pairs": "\n".join(
        " ".join(f"{RANDOM.randrange(100):02}" for _ in range(16)) for _ in range(20)
    ),
    "bits in a comment": "// in[1] = b7 b6 b5 b4 b3 b2 b1 b0\n// in[2] = c7 c6 c5 c4 c3 c2 c1 c0\n"
    * 9,
    "words in Cyrillic": "приветмир" * 100,
    "words in Chinese": "你好世界订单已经发货" * 100,
    "words in Cyrillic as JSON": json.dumps("привет мир, где мой заказ? " * 40),
    "words in Cyrillic in a URL": f"https://example.com/{quote('приветмир' * 30)}",
    "words with colours": "".join(f"\\x1b[3{n % 8}mtest {n}\\x1b[0m passed " for n in range(60)),
    "words with an accent": "\\xe9t\\xe9 et hiver, " * 60,
    "minified code": 'function(a,b){var c=a.d("x1");return c?b[c]:e.f(a,{g:!0,h:"i"})};' * 30,
    "JSON": json.dumps([{"id": f"ord_{n:08x}", "sku": f"A/{n}", "total": 1.5} for n in range(99)]),
    "a path with short ids": "/xY3dE6/aB9zK2" * 30,
    "numbers with units": "".join(f"{n}mm" for n in range(1_000, 1_100)),
    "tokens of growing length": "\n".join(BASE64[:n] for n in range(120, 240, 12)),
    "a short data URL in many words": f"Hi. data:image/png;base64,{BASE64[:150]} {'word ' * 60}",
    "a short data URL": f"data:image/png;base64,{BASE64[:200]}",
    "data in words": "data:see/the table, " * 40,
    "a short token": f"{TOKEN[:250]}",
    "a short run": BASE64[: LEAST - 1],
    "short lines": folded(BASE64, 40),
}
"""What looks like it, and is what somebody said."""


@pytest.mark.parametrize("data", ENCODED.values(), ids=ENCODED.keys())
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("It says ", " and no more."),
        ('{"body": "', '", "size": 3}'),
        ("-----BEGIN DATA-----\n", "\n-----END DATA-----\nDone"),
        ("<img src='", "'/>"),
        ("Привет\n", "\nпока"),
    ],
)
def test_encoded_data_becomes_a_label_that_says_how_long_it_was(
    data: str, before: str, after: str
) -> None:
    """The words around it stay, and nearly all of the data goes."""
    text, count = readable(f"{before}{data}{after}")
    assert count == 1
    (label,) = LABEL.finditer(text)
    assert text.startswith(before)
    assert text.endswith(after)
    rest = text[len(before) : len(text) - len(after)].replace(label[0], "", 1)
    assert len(rest) <= 2, rest  # a backslash, a padding
    assert abs(int(label[1].replace(",", "")) + len(rest) - len(data)) == 0


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS.keys())
def test_a_dump_goes_with_its_offsets_and_characters(dump: str) -> None:
    """Its lines go whole, in plain text and in JSON, and the lines around it stay."""
    for before, after in (("", ""), ("$ xxd a\n", "\nDone"), ("", "\n00000190\n")):
        text, count = readable(f"{before}{dump}{after}")
        assert (count, LABEL.sub("-", text)) == (1, f"{before}-{after}")
        text, count = readable(json.dumps({"out": f"{before}{dump}{after}"}))
        assert (count, LABEL.sub("-", text)) == (1, json.dumps({"out": f"{before}-{after}"}))


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
@pytest.mark.parametrize("shape", ["{}", "It says {} and no more.", '{{"body": "{}"}}', "\n{}\n"])
def test_words_that_only_look_like_it_are_the_same_object(words: str, shape: str) -> None:
    """Paths, names, hashes, numbers and other scripts are no encoded data."""
    text = shape.format(words)
    made, count = readable(text)
    assert count == 0
    assert made is text


@given(texts() | st.text())
@example("data:")
@example("x" * 256)
@example("\\" * 300)
def test_a_text_without_such_runs_is_the_same_object(text: str) -> None:
    """Nothing is copied where there is nothing to replace."""
    made, count = readable(text)
    assert (made is text) == (count == 0)
    if len(text) < LEAST:
        assert made is text


PIECES = st.sampled_from(
    sorted(ENCODED.values()) + sorted(DUMPS.values()) + sorted(WORDS.values())
) | st.text(max_size=40)


@given(st.lists(PIECES, max_size=4), st.sampled_from([" ", "\n\n", ", ", '"', "你"]))
def test_what_is_readable_has_nothing_more_to_replace(pieces: list[str], between: str) -> None:
    """Twice is as once, and the count is that of the labels."""
    text = between.join(pieces)
    made, count = readable(text)
    assert len(LABEL.findall(made)) == count + len(LABEL.findall(text))
    again, more = readable(made)
    assert (more, again) == (0, made)
    assert again is made


@given(st.binary(min_size=300, max_size=900), st.sampled_from([0, 60, 64, 72, 76]))
def test_any_bytes_in_base64_are_found(data: bytes, width: int) -> None:
    """Whatever is encoded, unless it is little else than one byte again and again."""
    text = b64encode(data).decode()
    distinct = len(set(text)) >= 40
    text = folded(text, width) if width else text
    made, count = readable(f"Here: {text} so.")
    if distinct:
        assert count == 1
        assert len(made) < 60


@given(st.integers(min_value=LEAST - 4, max_value=LEAST + 4))
def test_the_shortest_run_that_is_replaced_has_256_characters(size: int) -> None:
    """One less is left as it is."""
    assert readable(f"x: {BASE64[:size]}")[1] == (size >= LEAST)


def test_runs_are_counted_one_by_one() -> None:
    """Words between two runs stay between them."""
    text, count = readable(f"one {BASE64} two {TOKEN} three {hexdump(BYTES)}\nfour")
    assert count == 3
    assert LABEL.sub("-", text) == "one - two - three -\nfour"


def test_folders_in_front_of_data_are_kept() -> None:
    """They are the address of something."""
    text, _ = readable(f"GET https://example.com/api/v1/files/{BASE64[:400]}")
    assert text == "GET https://example.com/api/v1/files/[400 characters of encoded data]"


def test_the_word_behind_a_block_is_no_part_of_it() -> None:
    """A short last line is taken for data where it looks like data."""
    block = folded(BASE64[:640], 64)
    assert LABEL.sub("-", readable(f"{block}\nDone")[0]) == "-\nDone"
    assert LABEL.sub("-", readable(f"{block}\nYWJj\nDone")[0]) == "-\nDone"
    assert LABEL.sub("-", readable(f"{block}\nYQ==\nDone")[0]) == "-\nDone"
    assert LABEL.sub("-", readable(f"{block}\nDone: 3")[0]) == "-\nDone: 3"


HOSTILE: dict[str, Callable[[int], str]] = {
    "backslashes": lambda n: "\\" * n,
    "backslashes and letters": lambda n: "\\n\\u002" * (n // 7),
    "urls that never end": lambda n: "data:a/b;" * (n // 9),
    "parameters": lambda n: "data:a/b" + ";a=b" * (n // 4),
    "equals signs": lambda n: "A=" * (n // 2),
    "lines of 60": lambda n: ("x" * 60 + "\n") * (n // 61),
    "lines and spaces": lambda n: ("Ab1" * 20 + "\n" + " " * 64) * (n // 125),
    "groups": lambda n: "ab " * (n // 3),
    "groups and letters": lambda n: "ab cd ef ab cd ef ab cx " * (n // 24),
    "columns": lambda n: ("ab cd ef ab cd ef ab cd  |" + "|" * 60 + "\n") * (n // 87),
    "tokens": lambda n: "eyJ." * (n // 4),
    "escapes": lambda n: "\\x41" * (n // 4),
    "escapes and words": lambda n: "\\x41aaaaaaaaa" * (n // 13),
    "folders": lambda n: "ab/" * (n // 3),
    "percent signs": lambda n: "%2" * (n // 2),
    "data": lambda n: BASE64[:-4] * (n // len(BASE64) + 1),
    "prose": lambda n: "The parcel left the warehouse. " * (n // 31),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_the_length_of_a_text(hostile: Callable[[int], str]) -> None:
    """Sixteen times the text takes nowhere near 256 times as long."""

    def seconds(size: int) -> float:
        text = hostile(size)
        return quickest(lambda: readable(text))

    assert seconds(320_000) < 80 * max(seconds(20_000), 0.0005)
