"""The options of a summarization: what callers may pass, checked and filled in with defaults."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import NoneType
from typing import Any, Final, Literal, TypedDict, cast, get_args

from chatfold.core.callables import check_sync, has_method, kind_of
from chatfold.core.constraints import Words
from chatfold.core.live import Mode, checked_request
from chatfold.core.redaction import Redact, Redaction
from chatfold.core.render import TemplateRenderer, filled
from chatfold.core.scalars import check_model, check_whole
from chatfold.core.terms import Grounding, Terms, Thinking
from chatfold.errors import TemplateError
from chatfold.events import Hook
from chatfold.policy import Policy
from chatfold.stores.base import checked_key
from chatfold.templates import check_templates, load_templates
from chatfold.threads import check_timeout

__all__ = ["Settings", "SummaryOptions", "check_given"]

_ROLES = ("user", "assistant", "system", "developer")
_SHORTEST_PROMPT = 1000  # tokens
_LEAST: Final = {
    "retries": 0,
    "max_summary_tokens": 1,
    "ledger_tokens": 0,
    "max_prompt_tokens": _SHORTEST_PROMPT,
}


class SummaryOptions(TypedDict, total=False):
    """Options that the context and every summarizing call accept; the call's win.

    Attributes:
        timeout: Seconds that one model call may take (60, in the background 120); None for no
            limit.
        retries: How often the SDK repeats a failed request (1).
        instructions: What the application adds to the prompt; data like all else, it is escaped.
        language: Language of the summary; by default the user's.
        max_summary_tokens: Length asked for, in tokens; by default 5 % of the head, at least 400
            (or half of a shorter head) and at most 2,000.
        redact: Takes each text before it leaves the process, and the summary before it goes in;
            what escapes of JSON hide in a text is shown to it as well.
        post_process: Takes the summary and returns the one to use.
        templates: A directory, a mapping of names to sources, a Jinja environment, or an object
            with `render`, whose templates come before the built-in ones.
        summary_role: Role of the summary item (`user`).
        min_gain: Share of the list's tokens that a fold has to save (0: any saving will do).
        max_prompt_tokens: Tokens that one prompt may have; a larger head is folded in parts. None
            takes the summarizer's window, as far as that is known.
        ledger_tokens: Tokens for the needed facts that the summary's text left out; 0 adds none.
            By default 5 % of the head, and what an earlier record takes, up to 10 % together; from
            200 to 2,000.
        grounding: What becomes of ids, dates, amounts and the like in the summary that the
            conversation does not hold: `report` names them in the outcome; `drop` takes out the
            sentences with such an id, date, amount or address; `repair` asks the model once more,
            then drops; `refuse` makes them an error (`repair`).
        effects: What tools do, by name (of one in a namespace: `crm.sync`, else `sync`): `read` or
            `write`. Completed calls of tools that write are recorded as done. What is not told is
            guessed from a tool's name.
        standing_words: The words by which standing instructions are found in what users say, for
            other languages than Dutch, English, French, German, Italian, Portuguese and
            Spanish.
        thinking: `keep` leaves reasoning in the recent part as it is and says what requests have
            to carry (`requirements`); `strip` takes it out of a provider's messages where it is
            bound to what came before (`keep`).
        on_event: Is called with a `FoldEvent` before a fold, where returning False forbids it, and
            after it, also where it failed or there was nothing to do. A context manager that it
            returns before is entered while the call is at work on the fold. `Telemetry` is one
            such hook.
        mode: `prompt` asks with a prompt of its own; `append` sends your own next request with the
            question behind it, so that the conversation is read from the provider's prompt cache
            (`prompt`). It needs a client for the model of that request, and takes no `redact`,
            as the items are sent as they are. Where it gives no text, a prompt is used after all,
            and the outcome says why (`fell_back`).
        request: For append mode: the keyword arguments of your own requests but for the items:
            `model`, `tools`, `system` or `instructions`, `thinking`, `cache_control`, ...
    """

    timeout: float | None
    retries: int
    instructions: str | None
    language: str | None
    max_summary_tokens: int | None
    redact: Callable[[str], str] | None
    post_process: Callable[[str], str] | None
    templates: str | os.PathLike[str] | Mapping[str, str] | TemplateRenderer | None
    summary_role: str
    min_gain: float
    max_prompt_tokens: int | None
    ledger_tokens: int | None
    grounding: Grounding
    effects: Mapping[str, Literal["read", "write"]]
    standing_words: Words | Sequence[Words]
    thinking: Thinking
    on_event: Hook | None
    mode: Mode
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one summarization, complete and checked."""

    timeout: float | None = 60.0
    retries: int = 1
    instructions: str | None = None
    language: str | None = None
    max_summary_tokens: int | None = None
    redact: Callable[[str], str] | None = None
    post_process: Callable[[str], str] | None = None
    templates: Any = None
    summary_role: str = "user"
    min_gain: float = 0.0
    max_prompt_tokens: int | None = None
    ledger_tokens: int | None = None
    grounding: Grounding = "repair"
    effects: Mapping[str, Literal["read", "write"]] = field(
        default_factory=dict[str, Literal["read", "write"]]
    )
    standing_words: Words | Sequence[Words] = ()
    thinking: Thinking = "keep"
    on_event: Hook | None = None
    mode: Mode = "prompt"
    request: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def updated(
        self, options: Mapping[str, Any], call: Callable[..., Any] | None = None
    ) -> Settings:
        """Return the settings with `options` in place of what they name.

        Args:
            options: What a caller has given.
            call: What it was given to; where an option is not known, its own arguments are named.

        Raises:
            TypeError: An option is not known; the message lists those that are. Or a value is
                of a type that the option does not take.
            ValueError: A value is out of range, or two options cannot both hold.
        """
        unknown = sorted(set(options) - _NAMES)
        if unknown:
            there_are = ", ".join(sorted(_NAMES | _arguments(call)))
            raise TypeError(f"unknown option {', '.join(unknown)}; there are {there_are}")
        if "request" in options:
            options = {**options, "request": checked_request(options["request"])}
        made = replace(self, **options)
        made.check()
        return made

    def check(self) -> None:
        """Check every value.

        Raises:
            ValueError: A value is out of range, or two options cannot both hold.
            TypeError: A function cannot be called, or a number is none.
        """
        self._check_types()
        check_timeout(self.timeout)
        if self.summary_role not in _ROLES:
            raise ValueError(
                f"summary_role must be one of {', '.join(_ROLES)}, not {self.summary_role!r}"
            )
        if self.max_prompt_tokens is not None and self.max_prompt_tokens < _SHORTEST_PROMPT:
            raise ValueError(
                f"max_prompt_tokens must be {_SHORTEST_PROMPT} or more, or None, not "
                f"{self.max_prompt_tokens!r}: the instructions alone take half of that"
            )
        for name, least in _LEAST.items():
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least)
        for name, kinds in (("grounding", Grounding), ("thinking", Thinking), ("mode", Mode)):
            if getattr(self, name) not in get_args(kinds):
                raise ValueError(
                    f"{name} must be one of {', '.join(get_args(kinds))}, "
                    f"not {getattr(self, name)!r}"
                )
        for tool, effect in self.effects.items():
            if not isinstance(tool, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"effects is by the names of tools, not {tool!r}")
            if effect not in ("read", "write"):
                raise ValueError(f"effects[{tool!r}] must be 'read' or 'write', not {effect!r}")
        if not 0 <= self.min_gain < 1:
            raise ValueError(f"min_gain must be from 0 to below 1, not {self.min_gain!r}")
        if self.mode == "append" and self.redact is not None:
            raise ValueError(
                "mode='append' sends the items as they are, where redact= does not reach; leave "
                "one of the two out"
            )

    def _check_types(self) -> None:
        """Check what kind of value each option has.

        Raises:
            TypeError: One has another.
        """
        for name in ("redact", "post_process", "on_event"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise TypeError(f"{name} must be a function, or None, not {getattr(self, name)!r}")
            check_sync(name, getattr(self, name), may_yield=name == "on_event")
        if isinstance(self.on_event, type):  # each event would make one, and nobody be told
            raise TypeError(f"on_event must be a function, or None, not {kind_of(self.on_event)}")
        for (what, kinds), names in _TYPES.items():
            for name in names:
                value = getattr(self, name)
                if isinstance(value, bool) or not isinstance(value, kinds):
                    raise TypeError(f"{name} must be {what}, not {value!r}")
        for words in self._words():
            if not isinstance(words, Words):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(
                    "standing_words must be a Words, such as Words(orders=('immer', 'nie')), or a "
                    f"list of them, not {self.standing_words!r}"
                )

    def _words(self) -> tuple[Words, ...]:
        words = self.standing_words
        return tuple(words) if isinstance(words, (list, tuple)) else (cast("Words", words),)

    def check_templates(self) -> None:
        """Check that there is what `templates` names; for when they are given, as that takes time.

        Raises:
            TypeError: It is of a type that it cannot be.
            ValueError: It names what is not there, or replaces nothing.
            TemplateError: A template does not load, or uses what there is not; or the built-in
                templates are missing.
        """
        if self.templates is not None:
            check_templates(self.templates)

    def terms(self) -> Terms:
        """Return what is wanted of a summary that is written."""
        return Terms(
            grounding=self.grounding,
            ledger_tokens=self.ledger_tokens,
            effects=self.effects,
            words=self._words(),
            thinking=self.thinking,
            redact=self.redaction(),
            instructions=self.instructions,
            post_process=self.post_process,
        )

    def redaction(self) -> Redact | None:
        """Return what every text goes through before it leaves the process, or None."""
        return None if self.redact is None else Redaction(self.redact)

    def compaction_instructions(self) -> str | None:
        """Return what a provider that folds by itself is told; None leaves it to its own words.

        Raises:
            TemplateError: The template does not load or render.
        """
        if self.instructions is None and self.language is None:
            return None
        return filled(
            self.renderer(),
            "compaction_instructions.jinja",
            instructions=self.instructions,
            language=self.language,
        )

    def renderer(self) -> TemplateRenderer:
        """Return what renders the templates.

        Raises:
            TemplateError: They cannot be used any more; that was looked at when they were given.
        """
        try:
            return load_templates(self.templates)
        except (TypeError, ValueError) as error:
            raise TemplateError(str(error), template="templates") from error


def _arguments(call: Callable[..., Any] | None) -> set[str]:
    """Return the names of a call's own options."""
    if call is None:
        return set()
    given = inspect.signature(call).parameters.values()
    return {each.name for each in given if each.kind is each.KEYWORD_ONLY}


_NAMES = frozenset(field.name for field in fields(Settings))
_TYPES: Final[Mapping[tuple[str, tuple[type, ...]], Sequence[str]]] = {
    ("a number", (int, float)): ("min_gain",),
    ("a number, or None", (int, float, NoneType)): ("timeout",),
    ("a whole number", (int,)): ("retries",),
    ("a whole number, or None", (int, NoneType)): (
        "ledger_tokens",
        "max_prompt_tokens",
        "max_summary_tokens",
    ),
    ("text, or None", (str, NoneType)): ("instructions", "language"),
    ("a mapping of tools to 'read' or 'write'", (Mapping,)): ("effects",),
}


def check_given(
    *,
    pin: Any,
    counter: Any,
    policy: Any,
    summary_key: Any,
    key: Any = None,
    shape: Any = None,
    model: Any = None,
) -> None:
    """Check what a context is given besides its options, so that a mistake shows before a fold.

    Raises:
        TypeError: Something is of a type that it cannot be.
    """
    if not (pin is None or callable(pin)):
        raise TypeError(f"pin must be a function of an item, or None, not {pin!r}")
    check_sync("pin", pin)
    # Lists and texts have a `count`, too.
    if counter is not None and (isinstance(counter, Sequence) or not has_method(counter, "count")):
        raise TypeError(
            f"counter must be an object with count(text), not {counter!r}; the name of a model is "
            "model="
        )
    check_sync("counter.count", getattr(counter, "count", None))
    if not isinstance(policy, (Policy, NoneType)):
        raise TypeError(f"policy must be a Policy, or None, not {policy!r}")
    if not isinstance(summary_key, (bytes, NoneType)):
        raise TypeError(f"summary_key must be bytes, not {type(summary_key).__name__}")
    if key is not None:
        checked_key(key)
    check_model("model", model)
    if not (shape is None or isinstance(shape, str) or _is_shape(shape)):
        raise TypeError(
            f"shape must be a name, such as 'openai_chat', an object that is a Shape, or None, not "
            f"{shape!r}"
        )


def _is_shape(value: Any) -> bool:
    """Return whether a value can stand for a shape; a class of shapes cannot."""
    return (
        not isinstance(value, type)
        and isinstance(getattr(value, "name", None), str)
        and callable(getattr(value, "read", None))
    )
