"""The command `chatfold`: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import shared_directory
from fake_server import LLMServer, llm_server, ok, refused, server_error
from typer.testing import CliRunner
from validator import validate

from chatfold import ChatContext, __version__
from chatfold.cli.commands import app
from chatfold.cli.files import FileError, read_history
from chatfold.cli.story import FACTS, SHAPE_NAMES, support_call

__all__ = ["llm_server"]  # a fixture is used by its name

Item = dict[str, Any]

# An audit hook sees every attempt, by whatever module.
OFFLINE = """
import sys
def refuse(event, arguments):
    if event in ("socket.__new__", "socket.connect", "socket.getaddrinfo"):
        raise AssertionError(f"network: {event}")
sys.addaudithook(refuse)
"""
ENTRY = """
import sys
from chatfold.cli import main
sys.argv[0] = "chatfold"
main()
"""


def run(*arguments: str | Path, input: bytes | None = None) -> Any:
    """Run the app in this process."""
    return CliRunner().invoke(app, [str(a) for a in arguments], input=input)


def process(
    *arguments: str | Path, code: str | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m chatfold` (or `code`) as users do."""
    start = ["-m", "chatfold"] if code is None else ["-c", code]
    return subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **(environment or {})},
    )


def assert_refused(done: Any, *words: str) -> None:
    """Assert that a run ended with exit code 2 and one line on stderr that holds `words`."""
    assert done.exit_code == 2, (done.output, done.exception)
    assert done.stdout == ""
    assert done.stderr.startswith("chatfold: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def saved(path: Path, value: object, **options: Any) -> Path:
    path.write_text(json.dumps(value, **options), encoding="utf-8")
    return path


def lines(items: Sequence[Item]) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """The support call as a JSON list."""
    return saved(tmp_path / "history.json", support_call("openai_chat"))


# The demo


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_the_demo_shows_a_summary_with_the_facts_in_each_shape(shape: str) -> None:
    """Order, serial number, warranty date, year and phone are in the summary of each shape."""
    done = run("demo", "--shape", shape)
    assert done.exit_code == 0, done.output
    summary = done.stdout.partition("\nSummary")[2].partition("\nAfter")[0]
    for value in FACTS.values():
        assert value in " ".join(summary.replace("│", " ").split())
    for heading in ("Before", "Prompt", "Summary", "After", "Kept"):
        assert f"\n{heading}" in done.stdout
    kept = done.stdout.partition("\nKept")[2].split("\n")[1:]
    assert {line.partition(" ")[0] for line in kept if line} == {"yes"}


def test_the_demo_shows_all_shapes_without_a_network() -> None:
    """`chatfold demo` opens no socket and looks up no host; the hook would end it."""
    done = process("demo", code=OFFLINE + ENTRY)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    shown = done.stdout.decode()
    assert [shown.count(f" {shape} ─") for shape in SHAPE_NAMES] == [1, 1, 1]


def test_the_hook_of_the_test_above_ends_a_program_that_uses_the_network() -> None:
    """The check of the demo is worth something: the same hook stops an attempt to connect."""
    done = process(code=OFFLINE + "import socket; socket.create_connection(('localhost', 9))")
    assert done.returncode != 0
    assert b"network: socket" in done.stderr


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_the_demo_history_is_valid_and_holds_five_answered_calls(shape: str) -> None:
    """The support call breaks no rule, by `check()` and by the independent validator."""
    items = support_call(shape)
    ctx = ChatContext(items)
    assert ctx.shape is not None
    assert ctx.shape.name == shape
    assert ctx.check() == []
    assert validate(items, shape, strict=shape != "anthropic") == []
    names = [call.name for call in ctx.tool_calls() if call.completed]
    assert len(names) == 5
    assert "transfer_to_returns_agent" in names


def test_the_demo_of_an_unknown_shape_is_refused() -> None:
    """The error lists the shapes that there are."""
    assert_refused(run("demo", "--shape", "telegram"), "telegram", *SHAPE_NAMES)


# Forms of a file


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_a_list_comes_back_as_a_list(tmp_path: Path, shape: str) -> None:
    """A JSON list is folded into a valid JSON list; the outcome goes to stderr."""
    items = support_call(shape)
    done = run("summarize", saved(tmp_path / "h.json", items), "--keep-last-turns", "1")
    assert done.exit_code == 0, done.output
    folded = json.loads(done.stdout)
    assert len(folded) < len(items)
    assert folded[-8:] == items[-8:]
    assert validate(folded, shape) == []
    assert done.stderr.startswith("summarized 16 items: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("key", ["messages", "input", "items"])
def test_an_object_keeps_its_other_keys(tmp_path: Path, key: str) -> None:
    """Only the list in an object is replaced; keys, their order and the indentation stay."""
    request = {"model": "m", key: support_call("openai_responses"), "extra": {"a": [1, 2.5]}}
    path = saved(tmp_path / "request.json", request, indent=4)
    done = run("summarize", path, "--keep-last-turns", "1")
    folded = json.loads(done.stdout)
    assert list(folded) == list(request)
    assert {**folded, key: None} == {**request, key: None}
    assert len(folded[key]) == 10
    assert done.stdout.startswith('{\n    "model": "m"')


def test_jsonl_comes_back_as_jsonl(tmp_path: Path) -> None:
    """One item a line, blank lines passed over; the form does not depend on the file's name."""
    items = support_call("openai_chat")
    path = tmp_path / "history.txt"
    path.write_text("\n" + lines(items).replace("\n", "\r\n\r\n"), encoding="utf-8")
    done = run("summarize", path, "--keep-last-turns", "1")
    folded = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(folded) == 10
    assert folded[2:] == items[-8:]


def test_standard_input_is_read_for_a_dash() -> None:
    """`-` reads a history from standard input, a byte order mark before it or not."""
    raw = lines(support_call("openai_chat")).encode()
    plain = run("summarize", "-", "--keep-last-turns", "1", input=raw)
    marked = run("summarize", "-", "--keep-last-turns", "1", input=b"\xef\xbb\xbf" + raw)
    assert plain.exit_code == marked.exit_code == 0
    assert plain.stdout == marked.stdout
    assert len(plain.stdout.splitlines()) == 10


def test_what_cannot_be_folded_is_passed_on_byte_for_byte(tmp_path: Path) -> None:
    """With too few turns the output is the input, and stderr says why and what to type."""
    raw = b'\xef\xbb\xbf[ {"role":"user",\n"content": "\\u00e9 1e2"} ]'
    path = tmp_path / "short.json"
    path.write_bytes(raw)
    out = tmp_path / "out.json"
    done = process("summarize", path, "-o", out)
    assert done.returncode == 0
    assert out.read_bytes() == raw
    assert process("summarize", path).stdout == raw
    assert b"too_few_turns" in done.stderr
    assert b"1 turn of 8 tokens; pass --keep-tokens 4 to cut inside" in done.stderr


def test_text_of_every_script_and_half_surrogates_survive(tmp_path: Path) -> None:
    """Non-ASCII is written as it is; half of a surrogate pair, which UTF-8 lacks, as its escape."""
    items = support_call("openai_chat")
    items[-1]["content"] = "Größe 寸法 🎧 \ud83d"
    done = process("summarize", saved(tmp_path / "h.json", items), "--keep-last-turns", "1")
    assert done.returncode == 0, done.stderr
    assert "Größe 寸法 🎧 \\ud83d".encode() in done.stdout
    assert json.loads(done.stdout)[-1] == items[-1]


def test_the_list_is_utf_8_whatever_the_terminal_takes(tmp_path: Path) -> None:
    """With an ASCII terminal the JSON is still UTF-8, and tables show escapes."""
    items = support_call("openai_chat")
    items[-4]["content"] = "寸法"
    path = saved(tmp_path / "h.json", items, ensure_ascii=False)
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process("summarize", path, "--keep-last-turns", "1", environment=ascii_only)
    assert json.loads(done.stdout)[-4] == items[-4]
    shown = process("calls", path, environment={**ascii_only, "COLUMNS": "200"})
    assert shown.returncode == 0, shown.stderr
    assert b"\\u5bf8" in shown.stdout
    assert process("demo", environment=ascii_only).returncode == 0


NUMBERS = (
    '{"amount": 1234567890.1234567890, "id": 12345678901234567890.0, "rate": 1.10, "of": [1E5,'
    ' -0.0, -0.00, 1e-400], "whole": 123456789012345678901234567890, "half": 0.5, "text": "1.10"}'
)


@pytest.mark.parametrize("form", ["list", "object", "indented", "jsonl"])
def test_numbers_that_stay_keep_their_digits(tmp_path: Path, form: str) -> None:
    """What the file says of an amount or an id is written back, however Python would write it."""
    items: list[Any] = support_call("anthropic")
    items[-3]["content"][0]["input"] = "NUMBERS"
    text = {
        "list": json.dumps(items),
        "object": json.dumps({"settings": "NUMBERS", "messages": items}),
        "indented": json.dumps(items, indent=2),
        "jsonl": lines(items),
    }[form]
    path = tmp_path / "h.json"
    path.write_text(text.replace('"NUMBERS"', NUMBERS), encoding="utf-8")
    done = run("summarize", path, "--keep-last-turns", "1")
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("summarized")
    shown = re.sub(r"\s*\n\s*", " ", done.stdout) if form == "indented" else done.stdout
    plain = shown.replace("[ ", "[").replace(" ]", "]").replace("{ ", "{").replace(" }", "}")
    assert plain.count(NUMBERS) == (2 if form == "object" else 1)


def test_tokens_can_be_kept_instead_of_turns(history: Path) -> None:
    """`--keep-tokens` alone cuts inside a turn and keeps that turn's request."""
    done = run("summarize", history, "--keep-tokens", "150")
    folded = json.loads(done.stdout)
    assert folded[2]["content"].startswith("418 Alder Court")
    assert len(folded) < 10
    assert validate(folded, "openai_chat") == []


def test_an_open_call_can_be_given_up(tmp_path: Path) -> None:
    """A call that may still be answered blocks; `--abandon` gives it up, and checks the id."""
    items = support_call("openai_responses")
    items[6]["async"] = True
    del items[7]
    path = saved(tmp_path / "h.json", items)
    blocked = run("summarize", path, "--keep-last-turns", "1")
    assert blocked.exit_code == 0
    assert blocked.stdout.count("call_k1order") == 1
    given_up = run("summarize", path, "--keep-last-turns", "1", "--abandon", "call_k1order")
    assert len(json.loads(given_up.stdout)) == 10
    refused = run("summarize", path, "--abandon", "call_1")
    assert_refused(refused, "--abandon call_1", "call_k1order")


def test_what_blocks_a_fold_is_named_with_the_option_that_helps(tmp_path: Path) -> None:
    """Where an open call leaves nothing to fold, stderr names it and `--abandon`."""
    items = support_call("openai_responses")[6:]
    items[0]["async"] = True
    del items[1]
    done = run("summarize", saved(tmp_path / "h.json", items), "--keep-last-turns", "1")
    assert done.exit_code == 0
    assert "blocked_by_open_calls" in done.stderr
    assert "answer call_k1order, or pass --abandon ID" in done.stderr


def _filler(turns: int) -> list[Item]:
    made: list[Item] = []
    for turn in range(turns):
        made.append({"role": "user", "content": f"Question {turn}: " + "word " * 200})
        made.append({"role": "assistant", "content": f"Answer {turn}: " + "word " * 200})
    return made


# Writing


def test_the_output_file_may_be_the_input_file(history: Path) -> None:
    """FILE is replaced in one step; its permissions stay and nothing is left beside it."""
    history.chmod(0o640)
    items = json.loads(history.read_text(encoding="utf-8"))
    done = run("summarize", history, "--keep-last-turns", "1", "-o", history)
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    folded = json.loads(history.read_text(encoding="utf-8"))
    assert folded[-8:] == items[-8:]
    assert history.stat().st_mode & 0o777 == 0o640
    assert list(history.parent.iterdir()) == [history]


def test_a_link_stays_a_link(history: Path, tmp_path: Path) -> None:
    """Where OUT is a symbolic link, the file that it leads to is replaced."""
    target = saved(tmp_path / "target.json", [])
    link = tmp_path / "link.json"
    link.symlink_to(target)
    assert run("summarize", history, "--keep-last-turns", "1", "-o", link).exit_code == 0
    assert link.is_symlink()
    assert len(json.loads(target.read_text(encoding="utf-8"))) == 10


def test_a_new_file_has_the_usual_permissions(history: Path, tmp_path: Path) -> None:
    """OUT gets the permissions that any new file of the user gets."""
    out, usual = tmp_path / "out.json", tmp_path / "usual"
    usual.touch()
    assert run("summarize", history, "--keep-last-turns", "1", "-o", out).exit_code == 0
    assert out.stat().st_mode == usual.stat().st_mode


def test_a_device_is_written_to_and_not_replaced(history: Path) -> None:
    """`-o /dev/null` leaves the device in its place."""
    assert run("summarize", history, "--keep-last-turns", "1", "-o", os.devnull).exit_code == 0
    assert not Path(os.devnull).is_file()


needs_descriptors = pytest.mark.skipif(
    not Path("/dev/fd").is_dir(), reason="no names of open files here"
)


@needs_descriptors
@pytest.mark.parametrize("out", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_output_that_the_shell_opened_is_written_to(history: Path, out: str) -> None:
    """A pipe has no name that it could be replaced by; `-o >(wc -c)` gives `/dev/fd/63`."""
    if not Path(out).exists():
        pytest.skip("no such name here")
    done = process("summarize", history, "--keep-last-turns", "1", "-o", out)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 10
    plain = process("check", history, "--fix", out)
    assert plain.stdout.endswith(history.read_bytes())


@needs_descriptors
@pytest.mark.parametrize("mode", ["ab", "wb"])
@pytest.mark.parametrize("through_a_link", [False, True])
def test_what_the_output_of_the_shell_holds_stays(
    history: Path, tmp_path: Path, mode: str, through_a_link: bool
) -> None:
    """`-o /dev/stdout` with `>>` adds to the file; what is written there next comes behind it."""
    out, held = Path("/dev/stdout"), tmp_path / "held.txt"
    if through_a_link:
        out = tmp_path / "link"
        out.symlink_to("/dev/stdout")
    held.write_text("before\n", encoding="utf-8")
    with held.open(mode) as file:
        file.write(b"header\n")
        file.flush()
        subprocess.run(
            [sys.executable, "-m", "chatfold", "check", str(history), "--fix", str(out)],
            stdout=file,
            check=True,
        )
        file.write(b"footer\n")
    texts = held.read_bytes()
    assert texts.startswith(b"before\nheader\n" if mode == "ab" else b"header\n")
    assert texts.endswith(history.read_bytes() + b"footer\n")


@needs_descriptors
def test_a_descriptor_that_is_not_open_is_refused(history: Path) -> None:
    """Before any time is spent; the name is told."""
    assert_refused(run("check", history, "--fix", "/dev/fd/987"), "/dev/fd/987", "bad file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_written_to_and_not_replaced(history: Path, tmp_path: Path) -> None:
    """Whoever waits at its other end gets the list."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        done = process("summarize", history, "--keep-last-turns", "1", "-o", pipe)
        assert done.returncode == 0, done.stderr
        assert reader.stdout is not None
        assert len(json.loads(reader.stdout.read())) == 10
    assert not pipe.is_file()


@pytest.mark.parametrize(
    ("out", "words"),
    [("absent/out.json", "no directory"), ("history.json/out.json", "no directory"), (".", "is a")],
)
def test_an_output_that_cannot_be_written_is_refused(history: Path, out: str, words: str) -> None:
    """A missing directory, a file in its place and a directory are told apart from a file."""
    target = history.parent / out
    done = run("summarize", history, "--keep-last-turns", "1", "-o", target)
    assert_refused(done, f"cannot write {target}", words)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("locked", ["file", "directory"])
def test_a_read_only_output_is_refused(history: Path, tmp_path: Path, locked: str) -> None:
    """Neither a read-only file is replaced, nor a file in a read-only directory."""
    folder = tmp_path / "folder"
    folder.mkdir()
    out = saved(folder / "out.json", "before")
    (out if locked == "file" else folder).chmod(0o500)
    done = run("summarize", history, "--keep-last-turns", "1", "-o", out)
    folder.chmod(0o700)
    assert_refused(done, "permission denied")
    assert json.loads(out.read_text(encoding="utf-8")) == "before"


def test_a_failed_write_leaves_the_old_file(
    history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full, OUT holds what it held, and no draft is left beside it."""

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    out = saved(tmp_path / "out.json", "before")
    monkeypatch.setattr(os, "fsync", full)
    done = run("summarize", history, "--keep-last-turns", "1", "-o", out)
    assert_refused(done, "no space left")
    assert json.loads(out.read_text(encoding="utf-8")) == "before"
    assert sorted(tmp_path.iterdir()) == [history, out]


# Models


def test_a_model_writes_the_summary(
    history: Path, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`openai:` and `anthropic:` take address and key from the environment, as the SDKs do."""
    for name, value in llm_server.env.items():
        monkeypatch.setenv(name, value)
    for llm in ("openai:gpt-5-mini", "anthropic:claude-haiku-5-5"):
        done = run("summarize", history, "--keep-last-turns", "1", "--llm", llm)
        assert done.exit_code == 0, done.stderr
        assert "it was shipped" in json.loads(done.stdout)[1]["content"]
    models = [request.body["model"] for request in llm_server.requests]
    assert models == ["gpt-5-mini", "claude-haiku-5-5"]


@pytest.mark.parametrize("failure", [server_error, refused])
def test_a_failed_model_changes_no_file(
    history: Path, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch, failure: Any
) -> None:
    """Exit code 1, one line that says what failed, and OUT is what it was."""
    for name, value in llm_server.env.items():
        monkeypatch.setenv(name, value)
    llm_server.default = failure()
    before = history.read_bytes()
    done = run("summarize", history, "--llm", "openai:m", "--keep-last-turns", "1", "-o", history)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("chatfold: ")
    assert done.stderr.count("\n") == 1
    assert history.read_bytes() == before
    assert list(history.parent.iterdir()) == [history]


def test_a_process_whose_model_fails_says_so_in_one_line(
    history: Path, llm_server: LLMServer
) -> None:
    """What the library logs of it is not printed besides."""
    llm_server.default = refused()
    done = process("summarize", history, "--llm", "openai:m", environment=llm_server.env)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"chatfold: ")
    assert done.stderr.count(b"\n") == 1, done.stderr


def test_no_remedy_is_one_of_python(
    tmp_path: Path, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in llm_server.env.items():
        monkeypatch.setenv(name, value)
    llm_server.default = ok("Order LK-7777771 was lost.")
    said = [{"role": role, "content": "Hello. " * 200} for role in ("user", "assistant") * 3]
    made_up = run("summarize", saved(tmp_path / "m.json", said), "--llm", "openai:m")
    unknown = run("summarize", saved(tmp_path / "u.json", [{"content": "Hello"}] * 3))
    for done, code, words in ((made_up, 1, "another model"), (unknown, 0, "--shape")):
        assert done.exit_code == code, done.stderr
        assert words in done.stderr
        assert re.search(r"\b[a-z_]+=", done.stderr) is None, done.stderr


# Requests whose history the provider holds

HELD: Sequence[Any] = (
    ("input", {"previous_response_id": "resp_1"}, "'resp_1'", {"previous_response_id": None}),
    ("input", {"conversation": {"id": "conv_1"}}, "'conv_1'", {"conversation": None}),
    (
        "messages",
        {"thread": {"type": "continue", "previous_message_id": "msg_1"}},
        "'msg_1'",
        {"thread": {"type": "create"}},
    ),
)


@pytest.mark.parametrize(("key", "held", "words", "replayed"), HELD)
def test_a_request_whose_history_the_provider_holds_is_folded_only_when_asked_to(
    tmp_path: Path, key: str, held: Item, words: str, replayed: Item
) -> None:
    """As in the library; what is written names no history of the provider's any more."""
    said = [item for item in support_call("openai_chat") if item["role"] in ("user", "assistant")]
    items = [item for item in said if item["content"]]
    path = saved(tmp_path / "request.json", {"model": "m", **held, key: items})
    done = run("summarize", path, "--keep-last-turns", "1")
    assert (done.exit_code, done.stdout_bytes) == (0, path.read_bytes())
    assert "(server_managed)" in done.stderr
    assert words in done.stderr
    assert "pass --replay" in done.stderr
    done = run("summarize", path, "--keep-last-turns", "1", "--replay")
    assert (done.exit_code, done.stderr.partition(" ")[0]) == (0, "summarized")
    written = json.loads(done.stdout)
    assert len(written.pop(key)) < len(items)
    assert written == {"model": "m", **replayed}


@pytest.mark.parametrize(
    ("key", "fields"),
    [
        ("input", {"previous_response_id": None, "conversation": None}),
        ("messages", {"thread": {"type": "create"}}),
        ("messages", {"thread": "support", "conversation": "call 17"}),
    ],
)
def test_a_request_that_holds_the_whole_history_is_folded(
    tmp_path: Path, key: str, fields: Item
) -> None:
    """A thread that begins with it, and names that whoever saved it gave, are in nobody's way."""
    path = saved(tmp_path / "request.json", {**fields, key: support_call("anthropic")})
    done = run("summarize", path, "--keep-last-turns", "1")
    assert (done.exit_code, done.stderr.partition(" ")[0]) == (0, "summarized")
    assert {k: v for k, v in json.loads(done.stdout).items() if k != key} == fields


def test_a_result_whose_call_the_provider_holds_is_not_mended(tmp_path: Path) -> None:
    """`check` names nothing, and `--fix` leaves the request as it was."""
    result = {"type": "function_call_output", "call_id": "call_1", "output": "shipped"}
    path = saved(tmp_path / "request.json", {"previous_response_id": "resp_1", "input": [result]})
    assert run("check", path).exit_code == 0
    done = run("check", path, "--fix", "-")
    assert (done.exit_code, done.stdout_bytes) == (0, path.read_bytes())


@pytest.mark.parametrize("llm", ["openai:gpt-5-mini", "anthropic:claude-haiku-5-5"])
def test_a_missing_key_is_named(
    history: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, llm: str
) -> None:
    """Nothing is sent without a key; the line says which variable to set."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))  # where the SDK looks for a profile
    done = run("summarize", history, "--llm", llm)
    assert_refused(done, llm, f"{llm.partition(':')[0].upper()}_API_KEY")


@pytest.mark.parametrize("llm", ["gpt-5", "openai:", "mistral:large", ""])
def test_an_unknown_summarizer_is_refused(history: Path, llm: str) -> None:
    """The line says what `--llm` takes."""
    assert_refused(run("summarize", history, "--llm", llm), "openai:MODEL", repr(llm))


# The lists of calls and problems


def test_calls_lists_every_call_with_its_result(history: Path) -> None:
    """The table has a line for each call; `--json` has all of each record."""
    done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["calls", str(history)])
    assert done.exit_code == 0, done.output
    assert "check_warranty" in done.stdout
    assert "5 tool calls, 5 with a result" in done.stdout
    records = json.loads(run("calls", history, "--json").stdout)
    assert [record["name"] for record in records][:2] == ["lookup_order", "check_warranty"]
    assert records[0]["arguments"]["order_number"] == "LK-4821936"
    assert records[0]["completed"] is True
    assert (records[0]["call_index"], records[0]["result_index"]) == (6, 7)


def test_calls_tells_tools_of_one_name_apart(tmp_path: Path) -> None:
    """Two servers may have a tool of one name."""
    call = {"type": "mcp_call", "name": "restart", "arguments": "{}", "output": "ok"}
    homes = ("staging", "production")
    items = [{"role": "user", "content": "Restart both."}]
    items += [{**call, "id": f"mcp_{home}", "server_label": home} for home in homes]
    history = saved(tmp_path / "h.json", items)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["calls", str(history)])
    assert [f"{home}.restart" in done.stdout for home in homes] == [True, True]
    records = json.loads(run("calls", history, "--json").stdout)
    assert [(r["namespace"], r["name"]) for r in records] == [(home, "restart") for home in homes]


def test_calls_prints_nothing_that_moves_the_cursor(tmp_path: Path) -> None:
    """Control characters in a tool's output are shown as escapes, markup is left as it is."""
    items = support_call("openai_chat")
    items[7]["content"] = "\x1b[2J[bold]wiped[/bold]\x07"
    path = saved(tmp_path / "h.json", items)
    done = CliRunner(env={"COLUMNS": "300"}).invoke(app, ["calls", str(path)])
    assert "\\x1b[2J[bold]wiped[/bold]\\x07" in done.stdout
    assert "\x1b" not in done.stdout


def test_arguments_that_are_no_json_stay_text(tmp_path: Path) -> None:
    """`calls --json` is JSON whatever a model wrote as arguments."""
    items = support_call("openai_chat")
    for index, raw in ((6, '{"a": NaN}'), (14, "not json"), (18, '"\\ud800"')):
        items[index]["tool_calls"][0]["function"]["arguments"] = raw
    done = run("calls", saved(tmp_path / "h.json", items), "--json")
    assert done.exit_code == 0, done.exception

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    records = json.loads(done.stdout, parse_constant=refuse)
    assert [record["arguments"] for record in records[:3]] == ['{"a": NaN}', "not json", "\ud800"]


def test_check_names_item_rule_and_the_providers_words(tmp_path: Path) -> None:
    """A result without its call: exit code 1, and all that is known about it."""
    items = support_call("openai_chat")
    path = saved(tmp_path / "h.json", items[:6] + items[7:])
    done = run("check", path)
    assert done.exit_code == 1
    assert "item 6: error: " in done.stdout
    assert "[orphan_result]" in done.stdout
    assert "Invalid parameter: messages with role 'tool' must be a response" in done.stdout
    assert "1 problem in 24 items (openai_chat)" in done.stdout
    as_json = run("check", path, "--json")
    assert as_json.exit_code == 1
    (problem,) = json.loads(as_json.stdout)
    assert (problem["rule"], problem["indices"]) == ("orphan_result", [6])


BROKEN = [
    {"role": "user", "content": "hi"},
    {"role": "tool", "tool_call_id": "lost", "content": "LK-1"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    },
    {"role": "user", "content": "well?"},
]


def test_an_error_names_what_is_typed_here(history: Path) -> None:
    """Its remedy is an option of this command, not of Python's call."""
    done = run("summarize", history, "--keep-last-turns", 0, "--max-summary-tokens", 1)
    assert done.exit_code == 1
    assert done.stderr.endswith("pass a larger --max-summary-tokens\n"), done.stderr


def test_a_fold_without_gain_asks_for_no_option_that_is_not_here(tmp_path: Path) -> None:
    """Each run tries anew, so that nothing has to be forced."""
    path = tmp_path / "short.json"
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    path.write_text(json.dumps(said * 2), encoding="utf-8")
    done = run("summarize", path, "--keep-last-turns", 1)
    assert "(no_gain)" in done.stderr
    assert done.stderr.endswith("or pass a lower --max-summary-tokens\n"), done.stderr


def test_a_result_in_the_way_is_moved_by_another_command(tmp_path: Path) -> None:
    path, out = tmp_path / "late.json", tmp_path / "mended.json"
    result = {"role": "tool", "tool_call_id": "c", "content": "done"}
    said = {"role": "assistant", "content": "Not yet. " * 99}
    late = [*BROKEN[-2:], said, {"role": "user", "content": "And now? " * 99}, said, result]
    path.write_text(json.dumps([{"role": "user", "content": "Go."}, *late]), encoding="utf-8")
    done = run("summarize", path, "--keep-last-turns", 1)
    remedy = "item 6; chatfold check FILE --fix OUT moves it behind its call\n"
    assert remedy in done.stderr
    assert run("check", path, "--fix", out).exit_code == 0
    assert "summarized" in run("summarize", out, "--keep-last-turns", 1).stderr


def test_a_length_that_nobody_can_write_is_refused(history: Path) -> None:
    done = run("summarize", history, "--max-summary-tokens", 10**400)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Invalid value for '--max-summary-tokens'" in done.stderr


def test_check_with_fix_writes_a_list_that_the_provider_takes(tmp_path: Path) -> None:
    """Each problem and each repair is told; nothing of the history is lost; exit code 0."""
    path, out = tmp_path / "broken.json", tmp_path / "mended.json"
    path.write_text(json.dumps({"model": "m", "messages": BROKEN}), encoding="utf-8")
    done = run("check", path, "--fix", out)
    assert done.exit_code == 0
    for words in ("orphan_result", "unanswered_call", "answered", "noted", "2 repairs, 0 left"):
        assert words in done.stdout
    mended = json.loads(out.read_text(encoding="utf-8"))
    assert mended["model"] == "m"
    assert validate(mended["messages"], "openai_chat") == []
    assert "LK-1" in json.dumps(mended)
    assert run("check", out).exit_code == 0
    assert json.loads(path.read_text(encoding="utf-8"))["messages"] == BROKEN


def test_check_with_fix_and_a_dash_prints_the_list_alone(tmp_path: Path) -> None:
    """The list is stdout's, the words are stderr's, also as JSON."""
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(BROKEN), encoding="utf-8")
    done = run("check", path, "--fix", "-")
    assert validate(json.loads(done.stdout), "openai_chat") == []
    assert "orphan_result" in done.stderr
    told = json.loads(run("check", path, "--fix", "-", "--json").stderr)
    assert {r["action"] for r in told["repairs"]} == {"answered", "noted"}
    assert {p["rule"] for p in told["problems"]} == {"orphan_result", "unanswered_call"}


def test_check_with_fix_says_what_it_had_to_leave(tmp_path: Path) -> None:
    """What cannot be mended is named with the reason, and the exit code is 1."""
    path = tmp_path / "broken.json"
    items = [{"role": "user", "content": "hi"}, {"role": "user", "content": {"text": "well?"}}]
    path.write_text(json.dumps(items), encoding="utf-8")
    done = run("check", path, "--fix", path)
    assert done.exit_code == 1
    assert "left as it is" in done.stdout
    assert "malformed_item" in done.stdout
    assert json.loads(path.read_text(encoding="utf-8")) == items


def test_check_with_fix_names_what_a_provider_takes(tmp_path: Path) -> None:
    """A warning is not mended and no failure; what stays is told with its place, and in JSON."""
    path, out = tmp_path / "h.json", tmp_path / "out.json"
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "done"}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    saved(path, [BROKEN[0], reasoning, call, result, {**result, "call_id": "lost"}])
    done = run("check", path, "--fix", out)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith(
        "; 1 repair, 0 left; 1 problem kept that not every server refuses\n"
    ), done.stdout
    kept = run("check", out).stdout.splitlines()[:-1]
    assert kept[0].startswith("item 1: warning: ")
    assert f"kept, in the new list: {kept[0]}" in done.stdout.splitlines()
    told = json.loads(run("check", path, "--fix", out, "--json").stdout)
    assert [r["rule"] for r in told["repairs"]] == ["orphan_result"]
    assert [p["rule"] for p in told["remaining"]] == ["needs_store"]
    assert told["remaining"] == json.loads(run("check", out, "--json").stdout)


def test_the_json_of_check_with_fix_has_one_form(history: Path, tmp_path: Path) -> None:
    """Also where there was nothing to mend, so that a program can read it."""
    told = json.loads(run("check", history, "--fix", tmp_path / "out.json", "--json").stdout)
    assert told == {"problems": [], "repairs": [], "remaining": []}


def test_check_with_fix_mends_every_real_broken_history(tmp_path: Path) -> None:
    """Each fault is told in words at its index, the output is valid, and the exit code is 0."""
    source = shared_directory() / "corpus" / "dirty.jsonl"
    if not source.is_file():
        pytest.skip("no corpus beside the checkout; set CHATFOLD_SHARED")
    path, out = tmp_path / "dirty.json", tmp_path / "mended.json"
    for line in source.read_text(encoding="utf-8").splitlines():
        history = json.loads(line)
        shape = history["provider_shape"]
        saved(path, history["items"])
        done = run("check", path, "--fix", out)
        assert done.exit_code == 0, (history["id"], done.output)
        assert f"({shape})" in done.stdout
        assert validate(json.loads(out.read_bytes()), shape, strict=True) == [], history["id"]
        told: dict[int, str] = {}
        for found in re.finditer(
            r"^item (\d+)(?: \(with ([\d, ]+)\))?: (?:error|pending|loss|warning): (.+) \[\w+\]$",
            done.stdout,
            re.MULTILINE,
        ):
            for index in (found[1], *(found[2] or "").split(", ")):
                told |= {int(index): found[3]} if index else {}
        for index, _ in history["errors"]:
            assert len(told.get(index, "").split()) > 3, (history["id"], index, done.stdout)
        again = run("check", out, "--fix", tmp_path / "again.json")
        assert (again.exit_code, "repair" in again.stdout) == (0, False), history["id"]


def test_check_with_fix_leaves_a_good_list_as_it_was_written(history: Path, tmp_path: Path) -> None:
    """Byte for byte, and the exit code says that nothing was wrong."""
    out = tmp_path / "same.json"
    assert run("check", history, "--fix", out).exit_code == 0
    assert out.read_bytes() == history.read_bytes()


def test_check_finds_nothing_wrong_with_a_good_list(history: Path) -> None:
    """Exit code 0, and an empty list for programs."""
    done = run("check", history)
    assert (done.exit_code, done.stdout) == (0, "no problems in 25 items (openai_chat)\n")
    assert json.loads(run("check", history, "--json").stdout) == []


def test_a_dirty_history_is_folded_and_reported(tmp_path: Path) -> None:
    """Faults in the tail stay, and stderr says so; they are not chatfold's to repair."""
    items = [*support_call("openai_chat"), {"role": "user", "content": "Thanks!"}]
    items.append({"role": "tool", "tool_call_id": "call_gone", "content": "late"})
    path = saved(tmp_path / "h.json", items)
    done = run("summarize", path, "--keep-last-turns", "1")
    assert done.exit_code == 0, done.output
    assert "1 problem left" in done.stderr


def test_a_shape_can_be_named(history: Path) -> None:
    """`--shape` overrides what is found, and an unknown one is refused with those there are."""
    done = run("check", history, "--shape", "anthropic")
    assert done.exit_code == 1
    assert "foreign_item" in done.stdout
    for command in ("summarize", "calls", "check"):
        assert_refused(run(command, history, "--shape", "telegram"), "telegram", "openai_chat")


# Bad input

USER = '{"role": "user", "content": "hi"}'

BAD: list[tuple[str, bytes, list[str]]] = [
    ("empty", b"", ["is empty"]),
    ("blank", b" \n\t\n", ["is empty"]),
    ("not UTF-8", b'[{"role": "user",\n "content": "\xff"}]', ["line 2", "0xff", "UTF-8"]),
    ("UTF-16", "[]".encode("utf-16"), ["line 1", "UTF-8"]),
    *(
        (f"{name} without a mark", "[{}]".encode(name), ["not UTF-8; save the file as UTF-8"])
        for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
    ),
    ("broken", b'[\n {"role": "user",\n  "content": }\n]', ["line 3, column 14", "not JSON"]),
    ("cut off", b'[{"role": "user"', ["line 1, column 17", "not JSON"]),
    ("two values", b"[] []", ["line 1, column 4", "not JSON"]),
    ("NaN", b'[{"role": "user", "content": "NaN", "n": NaN}]', ["line 1, column 42", "NaN"]),
    ("infinite", b'[{"n":\n 1e999}]', ["line 2, column 2", "1e999", "too large"]),
    ("-infinite", b'[{"n": 1e99,\n "-1e999": -1e999}]', ["line 2, column 12", "too large"]),
    (
        "huge integer",
        b'[{"n": [9, -' + b"9" * 5000 + b"]}]",
        ["line 1, column 12", "5,001 digits", "-9999999999999999999..."],
    ),
    ("deep", b"[" * 100_000, ["nested too deeply"]),
    ("a number", b"5", ["is a number"]),
    ("a text", b'"hi"', ["is a text"]),
    ("no list", b'{"model": "m"}', ["without a list", "messages, input or items"]),
    ("text as input", b'{"input": "hi"}', ["input is a text", "not a list"]),
    ("item 1 is null", f"[{USER}, null]".encode(), ["item 1", "null"]),
    ("item 0 is a list", b'{"messages": [[]]}', ["messages, item 0", "a list"]),
    ("line 3 broken", f"{USER}\n\n{{broken\n".encode(), ["line 3, column 2", "not JSON"]),
    ("line 2 is text", f'{USER}\n"hi"\n'.encode(), ["line 2", "a text"]),
    ("line 2 has NaN", f'{USER}\n{{"n": NaN}}\n'.encode(), ["line 2, column 7", "NaN"]),
    ("histories", b'{"items": []}\n{"items": []}\n', ["line 1", "whole history", "of its own"]),
]


@pytest.mark.parametrize(("raw", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
@pytest.mark.parametrize("command", ["summarize", "calls", "check"])
def test_bad_input_is_told_in_one_line(
    tmp_path: Path, command: str, raw: bytes, words: list[str]
) -> None:
    """The line names the file, the place and what was found; nothing is written."""
    path = tmp_path / "bad.json"
    path.write_bytes(raw)
    assert_refused(run(command, path), str(path), *words)
    assert_refused(run(command, "-", input=raw), "standard input", *words)
    if command == "summarize":
        out = tmp_path / "out.json"
        assert_refused(run(command, path, "-o", out), *words)
        assert not out.exists()


@pytest.mark.parametrize("command", ["summarize", "calls", "check"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, command: str) -> None:
    """A missing file and a directory are told in one line."""
    absent = tmp_path / "absent.json"
    assert_refused(run(command, absent), f"cannot read {absent}", "no such file")
    assert_refused(run(command, tmp_path), f"cannot read {tmp_path}", "is a directory")


@pytest.mark.parametrize(
    ("form", "raw"),
    [
        ("list", b"[]"),
        ("object", b'{"messages": []}'),
        ("one line", USER.encode()),
        ("U+2028", f'{USER}\n{{"role": "user", "content": "a\u2028b"}}'.encode()),
    ],
)
def test_short_histories_are_histories(form: str, raw: bytes) -> None:
    """An empty list, one item on a line, and a line break that is none to JSON are read."""
    done = run("summarize", "-", input=raw)
    assert done.exit_code == 0, done.output
    assert done.stdout.encode() == raw
    assert run("check", "-", input=raw).exit_code == 0


# The process


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["summarize"], "FILE"),
        (["compress", "x"], "compress"),
        (["summarize", "x", "--keep-last-turns", "-1"], "--keep-last-turns"),
        (["summarize", "x", "--keep-tokens", "many"], "--keep-tokens"),
        (["check", "x", "--nonsense"], "--nonsense"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], words: str) -> None:
    """Exit code 2 and one line that says where help is."""
    done = process(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().count("\n") == 1
    assert words in done.stderr.decode()
    assert "--help" in done.stderr.decode()


def test_the_process_has_the_exit_codes_of_the_commands(history: Path, tmp_path: Path) -> None:
    """0 for a good list, 1 for problems, 2 for input that cannot be used, and no traceback."""
    broken = saved(tmp_path / "broken.json", json.loads(history.read_bytes())[7:])
    for path, code in ((history, 0), (broken, 1), (tmp_path / "absent", 2)):
        done = process("check", path)
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


def test_the_version_and_the_help_are_printed() -> None:
    """`--version` prints name and version; without a command there is help."""
    assert process("--version").stdout.decode() == f"chatfold {__version__}\n"
    done = process()
    assert done.returncode == 0
    for command in (b"demo", b"summarize", b"calls", b"check"):
        assert command in done.stdout


@pytest.mark.parametrize("package", ["typer", "rich"])
@pytest.mark.parametrize("module", ["chatfold", "chatfold.cli"])
def test_a_missing_extra_is_named(package: str, module: str) -> None:
    """Without typer or rich both ways to start print one line with the `pip install` command."""
    start = (
        "import runpy; runpy.run_module('chatfold', run_name='__main__')"
        if module == "chatfold"
        else ENTRY
    )
    done = process(code=f"import sys; sys.modules[{package!r}] = None\n{start}")
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert 'pip install "chatfold[cli]"' in done.stderr.decode()


def test_an_interrupt_while_the_command_is_loaded_is_quiet(history: Path) -> None:
    """Whoever stops it is told what a shell tells of any command, and no trace of imports."""
    finder = f"""
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "chatfold.context":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
{ENTRY}"""
    done = process("check", history, code=finder)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("llm", ["openai:m", "anthropic:m"])
def test_a_client_that_cannot_be_made_is_told_in_one_line(history: Path, llm: str) -> None:
    """A client that is thrown away half made has nothing more to say."""
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    environment = {**keys, "SSL_CERT_FILE": str(history.with_name("none.pem"))}
    done = process("summarize", history, "--llm", llm, environment=environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1, done.stderr
    assert b"client cannot be made" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", ["summarize", "calls", "check", "demo"])
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path, command: str) -> None:
    """Where the disk is full under a redirection, users are told so, without a traceback."""
    file = saved(tmp_path / "history.json", support_call("openai_chat"))
    arguments = [] if command == "demo" else [file]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "chatfold", command, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert b"chatfold: cannot write the output: no space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], [], ["check", "--help"]])
def test_help_that_cannot_be_written_is_one_line(arguments: list[str]) -> None:
    """Help and version are printed before any command runs."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "chatfold", *arguments], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert done.stderr == b"chatfold: cannot write the output: no space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="no descriptors to close")
@pytest.mark.parametrize("command", ["summarize", "calls", "check", "demo", "--version", "--help"])
def test_a_closed_standard_output_is_told(history: Path, command: str) -> None:
    """A list that goes nowhere is no success; a file takes it all the same."""
    arguments = [str(history)] if command in ("summarize", "calls", "check") else []
    done = _with_stdout_closed(command, *arguments)
    assert done.returncode == 2
    assert done.stderr == b"chatfold: cannot write the output: standard output is closed\n"
    if command == "summarize":
        out = history.with_name("out.json")
        done = _with_stdout_closed(command, *arguments, "--keep-last-turns", "1", "-o", str(out))
        assert done.returncode == 0, done.stderr
        assert len(json.loads(out.read_bytes())) == 10


def _with_stdout_closed(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "chatfold", *arguments]
    return subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE)


def test_help_does_not_depend_on_docstrings() -> None:
    """Python may leave them out."""
    for arguments in ([], ["--help"], ["check", "--help"]):
        stripped = process(*arguments, environment={"PYTHONOPTIMIZE": "2"})
        assert stripped.stdout == process(*arguments).stdout
        assert b"provider" in stripped.stdout


@pytest.mark.parametrize(
    "arguments", [["check", ""], ["check", "FILE", "--fix", ""], ["summarize", "FILE", "-o", ""]]
)
def test_a_file_without_a_name_is_told(history: Path, arguments: list[str]) -> None:
    """A variable of a script may be empty."""
    given = [str(history) if each == "FILE" else each for each in arguments]
    assert_refused(run(*given), "without a name")


def test_an_item_that_is_nested_too_deeply_is_told_in_words(tmp_path: Path) -> None:
    """Not by the name that Python has for it. How deep that is differs between its versions."""
    path = tmp_path / "deep.json"
    said: dict[int, str] = {}
    for depth in (600, 1500, 100_000):
        path.write_text('[{"role": "user", "content": ' + "[" * depth + "]" * depth + "}]")
        done = run("check", path)
        said[depth] = done.stdout + done.stderr
        assert done.exit_code == (1 if "problem" in said[depth] else 2)
        assert "Recursion" not in said[depth]
    assert "nested too deeply" in said[1500]
    assert "deep.json is nested too deeply" in said[100_000]
    if sys.version_info < (3, 12):
        assert "item: it is nested too deeply" in said[600]


def test_a_closed_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service may have none; Python then has no stream there."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match="standard input: it is closed"):
        read_history("-")


def test_links_in_a_circle_cannot_be_written(tmp_path: Path) -> None:
    """They lead to no file."""
    link = tmp_path / "loop.json"
    try:
        link.symlink_to(link)
    except OSError:
        pytest.skip("no links here")
    file = saved(tmp_path / "history.json", support_call("openai_chat"))
    assert_refused(run("check", file, "--fix", link), "cannot write", "loop.json")


def test_a_closed_pipe_is_quiet_and_no_error(tmp_path: Path) -> None:
    """A reader that goes away early (`| head -1`) changes neither exit code nor files."""
    big = saved(tmp_path / "big.json", _filler(2000))
    calls = [_called(f"call_{number}") for number in range(2000)]
    broken = saved(tmp_path / "broken.json", [{"role": "user", "content": "Go."}, *calls])
    out = tmp_path / "out.json"
    for code, *arguments in (
        (0, "demo"),
        (0, "summarize", big),
        (0, "summarize", big, "--keep-last-turns", "5000"),
        (0, "summarize", big, "--keep-last-turns", "1", "-o", "/dev/stdout"),
        (0, "calls", broken),
        (0, "calls", broken, "--json"),
        (1, "check", broken),
        (1, "check", broken, "--json"),
        (0, "check", broken, "--fix", out),
    ):
        if "/dev/stdout" in arguments and not Path("/dev/stdout").exists():
            continue
        done, told = _read_a_little(*map(str, arguments))
        assert done == code, arguments
        assert b"Traceback" not in told
        assert b"Exception" not in told
    assert len(json.loads(out.read_bytes())) == 4001


def _called(call_id: str) -> Item:
    function = {"name": "look_up", "arguments": "{}"}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _read_a_little(*arguments: str) -> tuple[int, bytes]:
    """Return the exit code and what stood on stderr."""
    with subprocess.Popen(
        [sys.executable, "-m", "chatfold", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.read(10)
        program.stdout.close()
        told = program.stderr.read()
        return program.wait(60), told
