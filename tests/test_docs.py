"""Every Python block of docs/ runs as printed, and the pages name all that there is.

The blocks of one page share a namespace, run in order in an empty directory, and reach no network:
clients that are made without arguments talk to a local model, and any other connection fails.
"""

from __future__ import annotations

import ast
import importlib.util
import ipaddress
import logging
import os
import re
import socket
import sys
import traceback
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from clerk import Clerk

import chatfold
from chatfold import ChatContext, Middleware, Outcome, errors
from chatfold.core.plan import Reason
from chatfold.policy import Load, Policy

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
OTHERS = [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")]
LANGUAGES = {"python", "bash", "text", "json"}

# What pages may need that this environment need not have, by the name of the distribution.
FRAMEWORKS = {
    "agents": "openai-agents",
    "chatfold.integrations.langchain": "langchain",
    "chatfold.integrations.livekit": "livekit-agents",
    "chatfold.integrations.openai_agents": "openai-agents",
    "langchain": "langchain",
    "langchain_anthropic": "langchain-anthropic",
    "langchain_core": "langchain-core",
    "langchain_openai": "langchain-openai",
    "langgraph": "langgraph",
    "langgraph.checkpoint.sqlite": "langgraph-checkpoint-sqlite",
    "livekit": "livekit-agents",
}
_PROBES = {
    "chatfold.integrations.langchain": "langchain",
    "chatfold.integrations.livekit": "livekit.agents",
    "chatfold.integrations.openai_agents": "agents",
    "livekit": "livekit.agents",
}


class Block(NamedTuple):
    """A fenced block: what stands behind its fence, its code, and the line where that begins."""

    info: str
    line: int
    code: str


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found: list[Block] = []
    info: str | None = None
    code: list[str] = []
    for number, line in enumerate(read(page).splitlines(), 1):
        if not line.startswith("```"):
            code.append(line)
        elif info is None:
            info, code = line.removeprefix("```"), []
        else:
            found.append(Block(info, number - len(code), "\n".join(code) + "\n"))
            info = None
    assert info is None, f"{page.name}: a block is not closed"
    return found


def code_of(page: Path) -> str:
    return "".join(block.code for block in blocks(page) if block.info == "python")


def prose_of(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)


def run(page: Path) -> dict[str, Any]:
    """Run the Python blocks of a page one after the other, and return their names.

    Errors show the page and its lines, as each block is compiled where it stands.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.info == "python":
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, str(page), "exec"), namespace)
    return namespace


def missing(page: Path) -> str:
    """Return the distribution that a page needs and that is not installed, "" where none is."""
    modules: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(code_of(page))]
    while nodes:
        node = nodes.pop()
        if not isinstance(node, ast.Try):  # it is ready for what is missing
            nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for name, distribution in FRAMEWORKS.items():
        if any(f"{module}.".startswith(f"{name}.") for module in modules):
            try:
                known = importlib.util.find_spec(_PROBES.get(name, name)) is not None
            except ModuleNotFoundError:  # not even the package above it
                known = False
            if not known:
                return distribution
    return ""


def _is_here(address: Any) -> bool:
    """Return whether an address is of this machine."""
    if not isinstance(address, tuple):
        return True  # a socket in the file system
    host = str(address[0])
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clerk]:
    """A running model, an empty directory, and no network beside them."""
    connect, connect_ex, resolve = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def checked(address: Any) -> None:
        if not _is_here(address):
            raise OSError(f"no network in tests of pages: {address!r}")

    def connected(self: socket.socket, address: Any) -> None:
        checked(address)
        connect(self, address)

    def connected_ex(self: socket.socket, address: Any) -> int:
        checked(address)
        return connect_ex(self, address)

    def resolved(host: Any, *args: Any, **options: Any) -> Any:
        if host is not None:
            checked((host if isinstance(host, str) else host.decode(),))
        return resolve(host, *args, **options)

    monkeypatch.setattr(socket.socket, "connect", connected)
    monkeypatch.setattr(socket.socket, "connect_ex", connected_ex)
    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.chdir(tmp_path)
    provider = sys.modules.get("agents.models.openai_provider")
    if provider is not None:  # its one pool of connections is of the loop of an earlier page
        monkeypatch.setattr(provider, "_http_client", None)
    before = dict(os.environ)
    log = logging.getLogger("chatfold")
    handlers, level = list(log.handlers), log.level
    with Clerk() as clerk:
        # The Agents SDK would send its traces to OpenAI, LangChain to LangSmith.
        quiet = {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false"}
        livekit = {
            "LIVEKIT_INFERENCE_URL": clerk.env["OPENAI_BASE_URL"],
            "LIVEKIT_API_KEY": "devkey",
            "LIVEKIT_API_SECRET": "a secret that is long enough for LiveKit",
        }
        os.environ.update({**clerk.env, **quiet, **livekit})
        yield clerk
    os.environ.clear()
    os.environ.update(before)
    log.handlers[:] = handlers
    log.setLevel(level)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page: Path, model: Clerk) -> None:
    """Its assertions hold, and no request is made that the provider would refuse."""
    needed = missing(page)
    if needed:
        pytest.skip(f"docs/{page.name} needs {needed}, which is not installed")
    run(page)
    assert model.refused == []


# What a page may hold


@pytest.mark.usefixtures("model")
def test_thinking_is_set_as_the_model_of_the_page_takes_it() -> None:
    """LangChain knows which models take no manual thinking any more, and raises."""
    langchain = pytest.importorskip("langchain_anthropic", reason="langchain-anthropic is missing")
    own = run(DOCS / "thinking-reasoning-and-caching.md")["own"]
    chat = langchain.ChatAnthropic(model="claude-sonnet-5-5", api_key="none", **own)
    assert chat._get_request_payload("hello")["thinking"] == own["thinking"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_is_kept_from_running(page: Path) -> None:
    """Fences are plain and name a language; no code is marked, hidden or unreachable."""
    assert {block.info for block in blocks(page)} <= LANGUAGES
    lines = read(page).splitlines()
    fences = [line for line in lines if re.match(r"\s*(```|~~~)", line)]
    assert all(line.startswith("```") for line in fences)
    assert len(fences) == 2 * len(blocks(page))
    assert "<!--" not in read(page)
    code = code_of(page)
    assert not re.search(r"#\s*(doctest|type:\s*ignore|noqa|pragma|skip|no.?test)", code, re.I)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.If, ast.While)):
            assert not isinstance(node.test, ast.Constant) or node.test.value
            assert "TYPE_CHECKING" not in ast.dump(node.test)


def test_an_error_shows_the_page_and_its_line(tmp_path: Path) -> None:
    """A reader of the report finds the line without counting."""
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n```python\nx = 1\n```\n\nThen:\n\n```python\n\nassert x == 2\n```\n"
    )
    with pytest.raises(AssertionError) as caught:
        run(page)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.line) == (str(page), 11, "assert x == 2")


def test_a_page_reaches_no_network(tmp_path: Path, model: Clerk) -> None:
    """Neither by name nor by address."""
    for host in ("example.com", "192.0.2.1"):
        page = tmp_path / "page.md"
        code = f"import socket\nsocket.create_connection(({host!r}, 80), timeout=1)"
        page.write_text(f"```python\n{code}\n```\n")
        with pytest.raises(OSError, match="no network in tests of pages"):
            run(page)


def test_a_page_of_a_framework_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the import of the framework, or of chatfold's own file for it."""
    page = tmp_path / "page.md"
    imports = {
        "import absent_framework": "absent-framework",
        "from absent_framework.parts import one": "absent-framework",
        "from chatfold.integrations import absent": "absent-framework",
        "try:\n    import absent_framework\nexcept ImportError:\n    pass": "",
        "import absent_frameworks": "",
        "import socket": "",
    }
    monkeypatch.setitem(FRAMEWORKS, "absent_framework", "absent-framework")
    monkeypatch.setitem(FRAMEWORKS, "chatfold.integrations.absent", "absent-framework")
    for line, needed in imports.items():
        page.write_text(f"```python\n{line}\n```\n")
        assert missing(page) == needed, line


# What the pages name


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize(
    "page", [*PAGES, *OTHERS], ids=lambda page: f"{page.parent.stem}-{page.stem}"
)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files exist, and have the heading that a link names."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", prose_of(file), re.MULTILINE)
            assert anchor in map(slug, headings), target


def test_the_index_lists_every_page_and_every_example() -> None:
    """Each of them once."""
    listed = re.findall(r"\]\((?!\.\./)([^)#]+)\)", read(DOCS / "index.md"))
    examples = [f"examples/{path.name}" for path in (DOCS / "examples").glob("*.py")]
    pages = [page.name for page in PAGES if page.name != "index.md"]
    assert sorted(listed) == sorted(pages + examples)


def rows(page: str) -> set[str]:
    """Return the names that begin the rows of a page's tables."""
    return set(re.findall(r"^\| `(\w+)` \|", prose_of(DOCS / page), re.MULTILINE))


def test_every_reason_and_every_error_has_a_row_and_is_met_by_the_code() -> None:
    """errors.md is complete: what may be seen stands in a table, and in a block that runs."""
    named = {*get_args(Reason), *errors.__all__}
    assert rows("errors.md") == named
    code = code_of(DOCS / "errors.md")
    base = {"ChatfoldError", "SummaryError"}  # of others, and never raised themselves
    assert {name for name in named - base if not re.search(rf"\b{name}\b", code)} == set()


def test_every_error_that_the_package_exports_is_in_the_tree() -> None:
    """errors.md takes the names from chatfold.errors, users import them from chatfold."""
    assert {name for name in chatfold.__all__ if name.endswith("Error")} == {*errors.__all__}


def test_every_setting_of_a_policy_is_named() -> None:
    """policy-and-budgets.md leaves none out, nor what a `when` function is given."""
    page = read(DOCS / "policy-and-budgets.md")
    names = [field.name for kind in (Policy, Load) for field in fields(kind)]
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []


def public(kind: type) -> set[str]:
    """Return the public names that a class gives its instances."""
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_public_name_method_and_field_is_told_of_somewhere() -> None:
    """What no page mentions, nobody finds: in the README or on a page, as code or in a block."""
    code = "\n".join(
        found
        for page in (DOCS.parent / "README.md", *PAGES)
        for found in (code_of(page), *re.findall(r"`[^`\n]+`", prose_of(page)))
    )
    names = {*chatfold.__all__} - {"__version__"}
    names |= public(ChatContext) | public(Middleware) | {field.name for field in fields(Outcome)}
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", code)) == []
