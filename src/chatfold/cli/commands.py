"""The commands: demo, summarize, calls and check.

Belongs here: what users type and what they are told. An error is one line on stderr. Not here:
files (`files`, `outputs`), streams (`streams`), how values are shown (`terminal`, `demo`).
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any, Final, NoReturn

import typer

from chatfold import __version__
from chatfold.cli import texts
from chatfold.cli.demo import show
from chatfold.cli.files import FileError, History, read_history, reason
from chatfold.cli.outputs import reject_unwritable, write_whole
from chatfold.cli.story import SHAPE_NAMES
from chatfold.cli.streams import prepare_streams
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
from chatfold.summarizers import Summarizer, resolve

__all__ = ["app", "run"]

Context = ChatContext[dict[str, Any]]

_LONGEST: Final = 1_000_000_000  # tokens: beyond what any model writes

# Outcomes and errors name remedies as they are written in Python.
_FLAGS: Final = {
    r"keep_tokens=(\d+)_?(\d*)_?(\d*)": r"--keep-tokens \1\2\3",
    r"abandon=\[\.\.\.\]": "--abandon ID",
    r"max_summary_tokens\b=?": "--max-summary-tokens",
    r" with force=True": "",  # each run tries anew
    r"ctx\.repair\(\)": "chatfold check FILE --fix OUT",
    r"replay=True": "--replay",
    r"\bshape=": "--shape",
    r", or grounding='report'": "",  # what is made up is not to be printed for good
}


def demo(
    shape: Annotated[
        str | None,
        typer.Option(help=f"Show one only: {', '.join(SHAPE_NAMES)}.", metavar="NAME"),
    ] = None,
) -> None:
    """Show what a fold does."""
    with _reported():
        if shape is not None and shape not in SHAPE_NAMES:
            raise UnknownShapeError(
                f"there is no demo in {shape!r}; there are {', '.join(SHAPE_NAMES)}", shape=shape
            )
        for name in SHAPE_NAMES if shape is None else (shape,):
            show(console(), name, whole_prompt=name in (shape, SHAPE_NAMES[0]))


def summarize(
    file: Annotated[str, typer.Argument(help=texts.FILE, metavar="FILE")],
    keep_last_turns: Annotated[
        int | None,
        typer.Option(
            min=0, help="Turns to keep; by default 2, or all that --keep-tokens lets.", metavar="N"
        ),
    ] = None,
    keep_tokens: Annotated[
        int | None, typer.Option(min=0, help="Tokens to keep; may cut inside a turn.", metavar="T")
    ] = None,
    llm: Annotated[str, typer.Option(help=texts.WRITER, metavar="NAME")] = "extractive",
    shape: Annotated[str | None, typer.Option(help=texts.SHAPE, metavar="NAME")] = None,
    abandon: Annotated[
        list[str] | None,
        typer.Option(
            help="Id of an open call to give up; may be given several times.", metavar="ID"
        ),
    ] = None,
    max_summary_tokens: Annotated[
        int | None,
        typer.Option(min=1, max=_LONGEST, help="Length of the summary to ask for.", metavar="N"),
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help=texts.REPLAY)] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; may be FILE.", metavar="OUT")
    ] = "-",
) -> None:
    """Fold a history, and print or write the list."""
    with _reported():
        if output != "-":
            reject_unwritable(output)
        history = read_history(file)
        ctx = _context(history, shape)
        backends = _summarizers(llm)
        given_up = _given_up(ctx, abandon or [])
        wanted: dict[str, Any] = {"abandon": given_up, "max_summary_tokens": max_summary_tokens}
        wanted["replay"] = replay
        if keep_last_turns is not None:
            wanted["keep_last_turns"] = keep_last_turns
        if keep_tokens is not None:
            wanted["keep_tokens"] = keep_tokens
        outcome = ctx.summarize(backends, **wanted)
        needed = ctx.request_options()
        data = history.rendered(ctx.items, needed) if outcome.changed else history.raw
        if output == "-":
            typer.echo(data, nl=False)
        else:
            write_whole(output, data)
        _tell(outcome, ctx, history)


def calls(
    file: Annotated[str, typer.Argument(help=texts.FILE, metavar="FILE")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
    shape: Annotated[str | None, typer.Option(help=texts.SHAPE, metavar="NAME")] = None,
) -> None:
    """Print the tool calls."""
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
    file: Annotated[str, typer.Argument(help=texts.FILE, metavar="FILE")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
    shape: Annotated[str | None, typer.Option(help=texts.SHAPE, metavar="NAME")] = None,
    fix: Annotated[
        str | None, typer.Option(help="Where to write the mended list; may be FILE.", metavar="OUT")
    ] = None,
) -> None:
    """Print what is wrong with a history, and mend it if asked."""
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
    prepare_streams()
    # What the library warns of is in the outcome, or in the error: that is told, once.
    logging.getLogger("chatfold").addHandler(logging.NullHandler())
    sys.unraisablehook = _without_finalizers
    try:
        code: object = app(standalone_mode=False)
    except OSError as error:  # of a stream: those of files are told where they are read or written
        typer.echo(f"chatfold: cannot write the output: {reason(error)}", err=True)
        return 2
    except Exception as error:
        # A usage error of click, whose home in typer is private and has moved.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "chatfold")
        typer.echo(f"chatfold: {one_line(message())} (see {command} --help)", err=True)
        return 2
    return code if isinstance(code, int) else 0


def _without_finalizers(failed: sys.UnraisableHookArgs) -> None:
    """Show what cannot be raised, but not of a client that was thrown away half made.

    The SDK's own error has told why it could not be made; its finalizer then misses what it lacks.
    """
    if getattr(failed.object, "__name__", "") != "__del__":
        sys.__unraisablehook__(failed)


def _options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Do what does not take a command."""
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
    made.callback(invoke_without_command=True, help=texts.ABOUT)(_options)
    made.command(help=texts.DEMO)(demo)
    made.command(help=texts.SUMMARIZE)(summarize)
    made.command(help=texts.CALLS)(calls)
    made.command(help=texts.CHECK)(check)
    return made


app = _application()


@contextmanager
def _reported() -> Generator[None]:
    """Turn errors that users can do something about into one line and an exit code."""
    try:
        yield
    except (FileError, MissingExtraError, UnknownShapeError, UsageError) as error:
        _stop(_in_flags(str(error)), 2)
    except ChatfoldError as error:
        _stop(_in_flags(str(error)), 1)
    except RecursionError:
        _stop("the history is nested too deeply", 2)


def _stop(error: object, code: int) -> NoReturn:
    typer.echo(f"chatfold: {one_line(str(error))}", err=True)
    raise typer.Exit(code)


def _context(history: History, shape: str | None) -> Context:
    held = history.held
    if held is None:
        return ChatContext(history.items, shape=shape)
    return ChatContext(history.items, shape=shape or held.shape, server_managed=True)


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


def _in_flags(text: str) -> str:
    """Return a remedy as it is typed here."""
    for option, flag in _FLAGS.items():
        text = re.sub(option, flag, text)
    return text


def _tell(outcome: Outcome[Any], ctx: Context, history: History) -> None:
    """Print on stderr what happened, and what the list needs from now on."""
    held = history.held.by if history.held else ""
    typer.echo(one_line(_in_flags(str(outcome)).replace("server_managed=True", held)), err=True)
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
