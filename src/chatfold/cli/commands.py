"""The commands: demo, summarize, calls and check.

Belongs here: what users type and what they are told. An error is one line on stderr. Not here:
files (`files`, `outputs`), how values are shown (`terminal`, `demo`).
"""

from __future__ import annotations

import errno
import io
import json
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any, Final, NoReturn

import typer

from chatfold import __version__
from chatfold.cli.demo import show
from chatfold.cli.files import FileError, History, read_history
from chatfold.cli.outputs import reject_unwritable, write_whole
from chatfold.cli.story import SHAPE_NAMES
from chatfold.cli.terminal import (
    Mending,
    call_table,
    console,
    counted,
    fields,
    one_line,
    print_json,
    report,
)
from chatfold.context import ChatContext
from chatfold.core.calls import ToolCallRecord, pair_calls
from chatfold.core.plan import Outcome
from chatfold.errors import ChatfoldError, MissingExtraError, SummarizerError, UnknownShapeError
from chatfold.shapes import SHAPES
from chatfold.summarizers import Summarizer, resolve

__all__ = ["app", "run"]

Context = ChatContext[dict[str, Any]]

# Help texts stand here, so that a command's signature shows what it takes at a glance.
_FILE: Final = (
    "A JSON list of items, an object with a list under messages, input or items, JSONL with one "
    "item a line, or - for standard input."
)
_SHAPE: Final = f"{', '.join(shape.name for shape in SHAPES)}; by default found out."
_WRITER: Final = "What writes the summary: extractive (no model), openai:MODEL or anthropic:MODEL."

# An outcome names remedies as they are written in Python.
_FLAGS: Final = {
    r"keep_tokens=(\d+)_?(\d*)_?(\d*)": r"--keep-tokens \1\2\3",
    r"abandon=\[\.\.\.\]": "--abandon ID",
    r"max_summary_tokens\b": "--max-summary-tokens",
}


def demo(
    shape: Annotated[str | None, typer.Option(help="Show one shape only.", metavar="NAME")] = None,
) -> None:
    """Fold a support call in each shape: before, prompt, summary, after. No key, no network."""
    with _reported():
        if shape is not None and shape not in SHAPE_NAMES:
            raise UnknownShapeError(
                f"there is no demo in {shape!r}; there are {', '.join(SHAPE_NAMES)}", shape=shape
            )
        for name in SHAPE_NAMES if shape is None else (shape,):
            show(console(), name, whole_prompt=name in (shape, SHAPE_NAMES[0]))


def summarize(
    file: Annotated[str, typer.Argument(help=_FILE, metavar="FILE")],
    keep_last_turns: Annotated[
        int | None,
        typer.Option(min=0, help="Turns to keep; by default 2.", metavar="N"),
    ] = None,
    keep_tokens: Annotated[
        int | None, typer.Option(min=0, help="Tokens to keep; may cut inside a turn.", metavar="T")
    ] = None,
    llm: Annotated[str, typer.Option(help=_WRITER, metavar="NAME")] = "extractive",
    shape: Annotated[str | None, typer.Option(help=_SHAPE, metavar="NAME")] = None,
    abandon: Annotated[
        list[str] | None, typer.Option(help="Id of an open call to give up.", metavar="ID")
    ] = None,
    max_summary_tokens: Annotated[
        int | None, typer.Option(min=1, help="Length of the summary to ask for.", metavar="N")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; may be FILE.", metavar="OUT")
    ] = "-",
) -> None:
    """Replace the older part of a history with one summary; print the list as FILE has it.

    What happened is told on stderr. Where there is nothing to fold, FILE is passed on unchanged.
    """
    with _reported():
        if output != "-":
            reject_unwritable(output)
        history = read_history(file)
        ctx = _context(history, shape)
        backends = _summarizers(llm)
        given_up = _given_up(ctx, abandon or [])
        wanted: dict[str, Any] = {"abandon": given_up, "max_summary_tokens": max_summary_tokens}
        if keep_last_turns is not None:
            wanted["keep_last_turns"] = keep_last_turns
        if keep_tokens is not None:
            wanted["keep_tokens"] = keep_tokens
        outcome = ctx.summarize(backends, **wanted)
        data = history.rendered(ctx.items) if outcome.changed else history.raw
        if output == "-":
            typer.echo(data, nl=False)
        else:
            write_whole(output, data)
        _tell(outcome, ctx)


def calls(
    file: Annotated[str, typer.Argument(help=_FILE, metavar="FILE")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
    shape: Annotated[str | None, typer.Option(help=_SHAPE, metavar="NAME")] = None,
) -> None:
    """List every tool call of a history with its result."""
    with _reported():
        records = _context(read_history(file), shape).tool_calls()
        if as_json:
            print_json([fields(call) for call in records])
            return
        done = sum(call.completed for call in records)
        if records:
            console().print(call_table(records))
        typer.echo(f"{counted(len(records), 'tool call')}, {done} with a result")


def check(
    file: Annotated[str, typer.Argument(help=_FILE, metavar="FILE")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
    shape: Annotated[str | None, typer.Option(help=_SHAPE, metavar="NAME")] = None,
    fix: Annotated[
        str | None, typer.Option(help="Where to write the mended list; may be FILE.", metavar="OUT")
    ] = None,
) -> None:
    """List what the provider would refuse or lose; exit code 1 if there is anything.

    With --fix, the list is mended, and the exit code is 1 only if something had to be left that the
    provider would refuse. Warnings and losses stay, and are counted.
    """
    with _reported():
        if fix not in (None, "-"):
            reject_unwritable(fix)
        history = read_history(file)
        ctx = _context(history, shape)
        problems = ctx.check()
        if fix is None:
            report(ctx, problems, as_json=as_json)
            raise typer.Exit(1 if problems else 0)
        repairs = ctx.repair()
        mending = Mending(repairs, ctx.check())
        report(ctx, problems, mending, as_json=as_json, aside=fix == "-")
        changed = any(repair.action != "left" for repair in repairs)
        data = history.rendered(ctx.items) if changed else history.raw
        if fix == "-":
            typer.echo(data, nl=False)
        else:
            write_whole(fix, data)
        raise typer.Exit(int(any(repair.action == "left" for repair in repairs)))


def run() -> int:
    """Run the command with the arguments of the process, and return its exit code."""
    try:
        code: object = app(standalone_mode=False)
    except Exception as error:
        # A usage error of click, whose home in typer is private and has moved.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "chatfold")
        typer.echo(f"chatfold: {one_line(message())} (see {command} --help)", err=True)
        return 2
    return code if isinstance(code, int) else 0


def _options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Action-aware summarization for LLM chat histories, in the provider's own message format."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # histories hold what a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    if version:
        typer.echo(f"chatfold {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


class UsageError(Exception):
    """An option has a value that cannot be used."""


def _application() -> typer.Typer:
    made = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback(invoke_without_command=True)(_options)
    for command in (demo, summarize, calls, check):
        made.command()(command)
    return made


app = _application()


@contextmanager
def _reported() -> Generator[None]:
    """Turn errors that users can do something about into one line and an exit code."""
    try:
        yield
    except (FileError, MissingExtraError, UnknownShapeError, UsageError) as error:
        _stop(error, 2)
    except ChatfoldError as error:
        _stop(error, 1)
    except RecursionError:
        _stop("the history is nested too deeply", 2)
    except OSError as error:  # of a stream: those of files were told above
        if error.errno == errno.EPIPE:  # whoever reads has enough
            raise
        _stop(f"cannot write the output: {(error.strerror or str(error)).lower()}", 2)


def _stop(error: object, code: int) -> NoReturn:
    typer.echo(f"chatfold: {one_line(str(error))}", err=True)
    raise typer.Exit(code)


def _context(history: History, shape: str | None) -> Context:
    return ChatContext(history.items, shape=shape)


def _summarizers(llm: str) -> list[Summarizer]:
    """Return what `--llm` names, before anything is sent.

    Raises:
        UsageError: There is no such summarizer, or it has no key.
    """
    kind, _, model = llm.partition(":")
    if llm != "extractive" and not (kind in ("openai", "anthropic") and model):
        raise UsageError(f"--llm takes extractive, openai:MODEL or anthropic:MODEL, not {llm!r}")
    try:
        made = resolve(llm, asynchronous=False)
    except SummarizerError as error:
        raise UsageError(f"--llm {error}") from error
    if kind == "anthropic" and not _anthropic_has_key():
        raise UsageError(f"--llm {llm} needs a key: set ANTHROPIC_API_KEY")
    return made


def _anthropic_has_key() -> bool:
    """Return whether the SDK finds a key; it says so itself only when a request is sent."""
    import anthropic

    with anthropic.Anthropic() as client:
        keys = ("api_key", "auth_token", "credentials")  # older versions have no `credentials`
        return any(getattr(client, key, None) is not None for key in keys)


def _given_up(ctx: Context, labels: list[str]) -> Callable[[ToolCallRecord], bool]:
    """Return what `abandon=` takes; a call without an id goes by what messages call it.

    Raises:
        UsageError: No open call bears one of the labels.
    """
    # Not ctx.tool_calls(): it leaves out requests for approval, which may block a fold too.
    waiting = {call.label for call in pair_calls(ctx.views()) if call.status == "open"}
    for label in labels:
        if label not in waiting:
            known = ", ".join(sorted(waiting)) or "none"
            raise UsageError(f"--abandon {label}: no such open call; open are: {known}")
    return lambda call: call.label in labels


def _tell(outcome: Outcome[Any], ctx: Context) -> None:
    """Print on stderr what happened, and what the list needs from now on."""
    text = str(outcome)
    for option, flag in _FLAGS.items():
        text = re.sub(option, flag, text)
    typer.echo(one_line(text), err=True)
    for requirement in outcome.requirements:
        needed = json.dumps(requirement.options)
        typer.echo(
            one_line(f"requests with this list need {needed}: {requirement.message}"), err=True
        )
    faults = sum(problem.severity == "error" for problem in ctx.check())
    if faults:
        typer.echo(
            f"{counted(faults, 'problem')} left for which a provider refuses the list: "
            "see chatfold check",
            err=True,
        )
