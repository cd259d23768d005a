"""What a template gave, kept for as long as it would give the same again.

Only for templates that depend on their values alone. Not here: how they are found (`templates`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import jinja2

__all__ = ["TemplateTexts"]

_SHORT: Final = 200  # characters of a value that a text is kept for
_MOST: Final = 64  # texts
_MARK: Final = "\0"


class TemplateTexts:
    """The texts of one template, each without the values that it only inserts, such as `{{ x }}`.

    They are kept for values that are short; one that is only inserted may be of any length.

    Args:
        template: The template.
    """

    def __init__(self, template: jinja2.Template) -> None:
        self.template = template
        self._inserted, self._used = _names_in(template)
        self._known: dict[tuple[object, ...], list[str]] = {}

    def text(
        self, values: Mapping[str, object], render: Callable[[Mapping[str, object]], str]
    ) -> str:
        """Return the template's text.

        Args:
            values: What the template may use.
            render: Renders it with values.

        Raises:
            The same as `render`.
        """
        key = self._key(values)
        if key is None:
            return render(values)
        pieces = self._known.get(key)
        if pieces is None:
            marks = {name: f"{_MARK}{name}{_MARK}" for name in self._inserted}
            pieces = render({**values, **marks}).split(_MARK)  # every other one is a name
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = pieces
        if len(pieces) == 1:
            return pieces[0]
        made = [*pieces]
        made[1::2] = [str(values[name]) for name in pieces[1::2]]
        return "".join(made)

    def _key(self, values: Mapping[str, object]) -> tuple[object, ...] | None:
        """Return what the text depends on besides what it inserts; None where that is too much."""
        if self._used is None or not all(type(values.get(n)) is str for n in self._inserted):
            return None
        key: list[object] = []
        for name in self._used:
            value = values.get(name, ...)
            if type(value) is str:
                if len(value) > _SHORT or _MARK in value:
                    return None
            elif not (value is None or type(value) is bool or type(value) is int):
                return None
            key += type(value), value  # True is not 1
        return tuple(key)


def _names_in(template: jinja2.Template) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the names that a template only inserts, and the others that it uses.

    None for the others where it includes templates, or has no source.
    """
    from jinja2 import meta, nodes

    environment, name = template.environment, template.name
    if environment.loader is None or name is None:
        return (), None
    source = environment.loader.get_source(environment, name)[0]
    tree = environment.parse(source)
    if _MARK in source or any(True for _ in meta.find_referenced_templates(tree)):
        return (), None
    uses = Counter(found.name for found in tree.find_all(nodes.Name))
    outputs = (one for output in tree.find_all(nodes.Output) for one in output.nodes)
    inserts = Counter(one.name for one in outputs if isinstance(one, nodes.Name))
    names = sorted(meta.find_undeclared_variables(tree))
    inserted = tuple(name for name in names if uses[name] == inserts[name])
    return inserted, tuple(name for name in names if name not in inserted)
