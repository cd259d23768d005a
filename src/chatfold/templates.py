"""Turns the Jinja templates of `prompts/` into text; every word a model reads lives there.

What goes into a template (escaped text, numbers, flags) is the core's business, and so is what
becomes of the result: nothing here knows what a prompt is. Nor where the files lie, and how they
are read (`template_files`).
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from chatfold.core.render import PROMPT, unseen
from chatfold.errors import TemplateError
from chatfold.template_check import names_used
from chatfold.template_files import (
    built_in_loader,
    file_loader,
    prompt_directory,
    template_error,
)
from chatfold.template_texts import TemplateTexts

if TYPE_CHECKING:
    from types import TracebackType

    import jinja2

    from chatfold.core.render import TemplateRenderer

__all__ = ["TemplateSet", "check_templates", "load_templates"]

_SOUND: Final[set[Hashable]] = set()  # what templates said in which nothing was wrong
_MOST_SOUND: Final = 64
_TAKES_IN: Final = re.compile(r"\b(?:include|import|extends)\b")


class TemplateSet:
    """Templates by name, each taken from the first of several sources that holds it.

    Values are inserted as they are, without HTML escaping: the renderer escapes the conversation's
    text itself, once, under the rules of the `<conversation>` element, and a second escape would
    change what the model reads. Values are never read as templates, so `{{ x }}` in a message
    stays as it is. A name that a template uses and that nobody gave is an error, not blank text.

    Args:
        environments: Jinja environments with a loader, in the order in which they are asked.
        steady: Whether the templates give the same text for the same values, and so need not be
            rendered again for each. Those of a caller may say what time it is.
        holds: Says of a name whether the first environment has a template of the caller's under
            it; by default none.
    """

    def __init__(
        self,
        *environments: jinja2.Environment,
        steady: bool = False,
        holds: Callable[[str], bool] | None = None,
    ) -> None:
        self._environments = environments
        self._steady = steady
        self._holds = holds
        self._texts: dict[str, TemplateTexts] = {}

    def render(self, name: str, /, **values: object) -> str:
        """Return the text of one template, without its final line break.

        Args:
            name: File name of the template, such as `summary.jinja`.
            **values: What the template may use.

        Raises:
            TemplateError: The template is missing, is not UTF-8, has a syntax error, uses a name
                that is not among `values`, or raises while it runs. The error says which template
                and, where it can be told, which line; the cause is its `__cause__`.
        """
        template = self._find(name)
        if not self._steady:
            return self._rendered(template, name, values)
        texts = self._texts.get(name)
        if texts is None or texts.template is not template:
            texts = self._texts[name] = TemplateTexts(template)
        return texts.text(values, functools.partial(self._rendered, template, name))

    def check(self) -> None:
        """Check the caller's templates by their sources: none is rendered.

        Raises:
            TemplateError: One does not load, uses a filter, a test, a template or a name that
                there is not, or none of those for the prompt shows the conversation.
        """
        if self._holds is None:
            return
        replaced = [*filter(self._holds, _names())]
        said = _all_said(self._environments[0], replaced)
        if said in _SOUND:  # `templates=` may be given anew at each turn
            return
        for name in replaced:
            self._names_used(self._environments[0], name)
        if not set(PROMPT).isdisjoint(replaced) and not self._shows_conversation(replaced):
            raise unseen()
        if said is not None:
            if len(_SOUND) >= _MOST_SOUND:
                _SOUND.clear()
            _SOUND.add(said)

    def _shows_conversation(self, replaced: Collection[str]) -> bool:
        for name in PROMPT:
            names = self._names_used(self._environments[0 if name in replaced else -1], name)
            if names is None or "conversation" in names:
                return True
        return False

    def _names_used(self, environment: jinja2.Environment, name: str) -> frozenset[str] | None:
        try:
            return names_used(environment, name, _given(name))
        except TemplateError:
            raise
        except Exception as error:
            raise template_error(error, *_place(error, name)) from error

    def _rendered(self, template: jinja2.Template, name: str, values: Mapping[str, object]) -> str:
        try:
            # Not `template.render`: on failure it rewrites the traceback, which then no longer
            # says which of several templates (includes, macros) failed.
            context = template.new_context(dict(values))
            return template.environment.concat(template.root_render_func(context))
        except TemplateError:
            raise
        except Exception as error:
            raise template_error(error, *_place(error, name)) from error

    def _find(self, name: str) -> jinja2.Template:
        known = self._texts.get(name)  # of steady ones alone
        if known is not None and known.template.is_up_to_date:
            return known.template
        from jinja2 import TemplateNotFound

        missing: Exception | None = None
        for environment in self._environments:
            try:
                return environment.get_template(name)
            except TemplateNotFound as error:
                missing = error
            except TemplateError:
                raise
            except Exception as error:
                raise template_error(error, *_place(error, name)) from error
        raise TemplateError(f"there is no template {name!r}", template=name) from missing


def load_templates(
    source: str
    | os.PathLike[str]
    | Mapping[str, str]
    | TemplateRenderer
    | jinja2.Environment
    | None = None,
) -> TemplateRenderer:
    """Return what renders the prompts, from whatever a user gives as `templates=`.

    A template of the caller's replaces the built-in one of the same name; the others stay as they
    are. It may include, import or extend built-in templates (not from an environment of the
    caller's, whose loader alone decides what it finds).

    Args:
        source: None for the built-in set; a directory of templates, read again when a file
            changes; a mapping of template names to sources; a `jinja2.Environment` with a loader,
            used as an overlay without autoescape and with strict undefined names; or an object
            with `render(name, /, **values) -> str`, which is returned as it is.

    Raises:
        TypeError: `source` is none of these, or a mapping holds something that is not text.
        ValueError: The directory does not exist, the environment has no loader, or a directory or
            mapping replaces no built-in template (a misspelt name, most likely); an empty mapping
            may.
        TemplateError: The built-in templates are missing.
    """
    if source is None:
        return _built_in()
    if isinstance(source, str | os.PathLike):
        return _from_directory(Path(source))
    if isinstance(source, Mapping):
        return _from_mapping(cast("Mapping[object, object]", source))
    if callable(getattr(source, "render", None)):
        return cast("TemplateRenderer", source)

    import jinja2

    if isinstance(source, jinja2.Environment):
        return _from_environment(source)
    raise TypeError(
        "templates= takes a directory, a mapping of names to sources, a jinja2.Environment or an "
        f"object with render(name, **values), not {source!r}"
    )


def _all_said(environment: jinja2.Environment, names: Iterable[str]) -> Hashable:
    """Return all that a check of templates looks at; None where they take in others, or fail."""
    assert environment.loader is not None, "it was looked at before"
    try:
        said = {name: environment.loader.get_source(environment, name)[:2] for name in names}
    except Exception:  # it is told where the template is looked through
        return None
    if any(_TAKES_IN.search(source) for source, _ in said.values()):
        return None
    known = (environment.filters, environment.tests, environment.globals)
    return (*said.items(), *map(frozenset, known))


def check_templates(source: object) -> None:
    """Check what a user gives as `templates=`, so that a mistake shows before a fold is due.

    Raises:
        The same as `load_templates`, and `TemplateError` for what `TemplateSet.check` finds.
    """
    templates = load_templates(cast("Any", source))
    if isinstance(templates, TemplateSet):
        templates.check()


@functools.cache
def _built_in() -> TemplateSet:
    return TemplateSet(_environment(built_in_loader()), steady=True)


def _from_directory(directory: Path) -> TemplateSet:
    if not directory.is_dir():
        raise ValueError(f"templates= names a directory that does not exist: {str(directory)!r}")

    def holds(name: str) -> bool:
        return (directory / name).is_file()

    _require_an_override(holds, f"the directory {str(directory)!r}")
    return _with_fallback(file_loader(directory), holds)


def _from_mapping(sources: Mapping[object, object]) -> TemplateSet:
    if not sources:
        return _built_in()
    from jinja2 import DictLoader

    texts: dict[str, str] = {}
    for name, text in sources.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(
                f"templates= maps names to template sources, both text, not {name!r} to {text!r}"
            )
        texts[name] = text
    _require_an_override(texts.__contains__, "the mapping")
    return _with_fallback(DictLoader(texts), texts.__contains__)


def _from_environment(environment: jinja2.Environment) -> TemplateSet:
    from jinja2 import StrictUndefined, TemplateNotFound

    if environment.loader is None:
        raise ValueError("templates= got a jinja2.Environment without a loader")
    overlay = environment.overlay(
        autoescape=False,
        undefined=StrictUndefined,
        enable_async=False,  # its render would start an event loop inside a running one
        bytecode_cache=None,  # its keys do not tell code with autoescape from code without
    )
    loader = environment.loader

    def holds(name: str) -> bool:
        try:
            loader.get_source(overlay, name)
        except TemplateNotFound:
            return False
        except Exception:  # it is told with the template's name when that is looked through
            return True
        return True

    return TemplateSet(overlay, _environment(built_in_loader()), holds=holds)


def _require_an_override(holds: Callable[[str], bool], where: str) -> None:
    """Refuse a source whose every name is unknown: it would be silently ignored."""
    known = _names()
    if not any(map(holds, known)):
        raise ValueError(
            f"templates= got {where}, which replaces none of the built-in templates: "
            + ", ".join(known)
        )


@functools.cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(file.name for file in prompt_directory().iterdir() if file.is_file()))


@functools.cache
def _given(name: str) -> tuple[str, ...]:
    """Return the names that a template is rendered with: those that the built-in one uses."""
    from jinja2 import meta

    names = set[str]()
    for one in PROMPT if name in PROMPT else (name,):  # both are rendered with the same
        source = (prompt_directory() / one).read_text(encoding="utf-8")
        names |= meta.find_undeclared_variables(_environment(built_in_loader()).parse(source))
    return tuple(sorted(names))


def _with_fallback(loader: jinja2.BaseLoader, holds: Callable[[str], bool]) -> TemplateSet:
    from jinja2 import ChoiceLoader

    return TemplateSet(_environment(ChoiceLoader([loader, built_in_loader()])), holds=holds)


def _environment(loader: jinja2.BaseLoader) -> jinja2.Environment:
    from jinja2 import Environment, StrictUndefined

    return Environment(
        loader=loader,
        autoescape=False,  # see TemplateSet: values arrive escaped
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def _place(error: Exception, name: str) -> tuple[str, int | None, str | None]:
    """Return the template, line and file at which an error arose, as far as they can be told."""
    from jinja2 import TemplateSyntaxError

    if isinstance(error, TemplateSyntaxError):
        return error.name or name, error.lineno, error.filename
    place: tuple[str, int | None, str | None] = (name, None, None)
    step: TracebackType | None = error.__traceback__
    while step is not None:
        # Jinja puts the template beside the code that it compiled from it; the innermost wins.
        template = step.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            lineno = cast("Callable[[int], int]", template.get_corresponding_lineno)
            place = (template.name or name, lineno(step.tb_lineno), template.filename)
        step = step.tb_next
    return place
