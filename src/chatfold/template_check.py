"""What is wrong with a template that shows in its source: no value is needed, and nothing is run.

Not here: how templates are found, and what an error says (`templates`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes

__all__ = ["names_used"]

_GUARDS: Final = ("defined", "undefined")  # tests that a name stands that nobody may have given
_DEFAULTS: Final = ("default", "d")


class _Part(NamedTuple):
    """A template that is to be looked through, and where another one takes it in.

    Attributes:
        name: Its name.
        optional: Whether it may be missing.
        by: Name and file of the other, and the line in it; None for the template itself.
    """

    name: str
    optional: bool = False
    by: tuple[str, str | None, int] | None = None


def names_used(
    environment: jinja2.Environment, name: str, given: Sequence[str] = ()
) -> frozenset[str] | None:
    """Look through a template and all that it takes in; return the names that they use.

    Args:
        environment: Finds them.
        name: Name of the template.
        given: The names that it is rendered with.

    Returns:
        None where the source does not tell: it is not there, or what is taken in goes by a name
        that is known only when it is rendered.

    Raises:
        TemplateSyntaxError: One does not parse, asks for a filter, a test or a template that there
            is not, or uses a name that nobody gives.
        Exception: What the environment's loader raises.
    """
    from jinja2 import meta

    waiting, seen, used, told = [_Part(name)], set[str](), set[str](), True
    while waiting:
        part = waiting.pop()
        if part.name in seen:
            continue
        seen.add(part.name)
        found = _source(environment, part)
        if found is None:
            told = False
            continue
        source, path = found
        tree = environment.parse(source, part.name, path)
        _check_known(environment, tree, part.name, path)
        names = meta.find_undeclared_variables(tree)
        used |= names
        inner = [*_taken_in(environment, tree, part.name, path)]
        told = told and None not in inner
        waiting += filter(None, inner)
        # A part may use what the template sets that takes it in; and a block, what the outer one.
        if part.by is None and not _extends(tree):
            _check_given(tree, names, given, part.name, path)
    return frozenset(used) if told else None


def _source(environment: jinja2.Environment, part: _Part) -> tuple[str, str | None] | None:
    """Return the source of a template and its file; None where there is no source to look at."""
    from jinja2 import TemplateAssertionError, TemplateNotFound

    assert environment.loader is not None, "it was looked at before"
    try:
        source, path, _ = environment.loader.get_source(environment, part.name)
    except TemplateNotFound:
        if part.optional or part.by is None:
            return None
        by, file, line = part.by
        raise TemplateAssertionError(
            f"there is no template {part.name!r}", line, by, file
        ) from None
    except RuntimeError:  # Jinja's word of a loader that has compiled templates alone
        return None
    return source, path


def _check_known(
    environment: jinja2.Environment, tree: nodes.Template, name: str, path: str | None
) -> None:
    """Check that there is each filter and each test; Jinja itself does not where an `if` stands."""
    from jinja2 import TemplateAssertionError, nodes

    tests = [*tree.find_all(nodes.Test)]
    asked = {test.name for test in tests}  # `'x' is filter`: the template sees to it itself
    kinds: tuple[tuple[str, Any, Any], ...] = (
        ("filter", tree.find_all(nodes.Filter), environment.filters),
        ("test", tests, environment.tests),
    )
    for kind, uses, there in kinds:
        for use in uses if kind not in asked else ():
            if use.name not in there:
                raise TemplateAssertionError(
                    f"there is no {kind} {use.name!r}", use.lineno, name, path
                )


def _check_given(
    tree: nodes.Template, names: set[str], given: Sequence[str], name: str, path: str | None
) -> None:
    """Check that a template uses no name that nobody gives, but where it says what is then."""
    from jinja2 import TemplateAssertionError, nodes

    guarded = {
        use.node.name
        for use in tree.find_all((nodes.Test, nodes.Filter))
        if use.name in (_GUARDS if isinstance(use, nodes.Test) else _DEFAULTS)
        and isinstance(use.node, nodes.Name)
    }
    wrong = names.difference(given, guarded)
    if wrong:
        uses = (use for use in tree.find_all(nodes.Name) if use.name in wrong)
        first = min(uses, key=lambda use: use.lineno)
        there_are = ", ".join(given) or "none"
        raise TemplateAssertionError(
            f"{first.name!r} is undefined; the names here are {there_are}", first.lineno, name, path
        )


def _taken_in(
    environment: jinja2.Environment, tree: nodes.Template, name: str, path: str | None
) -> Iterator[_Part | None]:
    """Yield the templates that one includes, imports or extends; None for one without a name."""
    from jinja2 import nodes

    kinds: Any = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
    for use in tree.find_all(kinds):
        target = use.template
        inner = target.value if isinstance(target, nodes.Const) else None
        if isinstance(inner, str):
            optional = bool(getattr(use, "ignore_missing", False))
            inner = environment.join_path(inner, name)
            yield _Part(inner, optional, (name, path, use.lineno))
        else:
            yield None


def _extends(tree: nodes.Template) -> bool:
    from jinja2 import nodes

    return tree.find(nodes.Extends) is not None
