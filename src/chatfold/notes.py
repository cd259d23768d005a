"""The texts that stand in a list for results that came late, and between results and the user.

Not here: where in the list they go (`writing`), their words (`prompts/`).
"""

from __future__ import annotations

from chatfold.core.render import filled
from chatfold.core.views import ResultPart, legible, qualified
from chatfold.core.xml import attributes, encode, escape
from chatfold.options import Settings

__all__ = ["Notes"]


class Notes:
    """Writes the notes of one list.

    Args:
        settings: What says by which templates.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def late(self, part: ResultPart) -> str:
        """Return the text that stands for a result whose call was folded away.

        Raises:
            TemplateError: The template does not load or render.
        """
        status = "failed" if part.failed else "completed"
        name = part.name and qualified(part.name, part.namespace)
        attrs = attributes(name=name, call_id=part.id, status=status)
        return filled(
            self._settings.renderer(),
            "repair_note.jinja",
            kind="orphan",
            attrs=encode(attrs),
            text=escape(legible(part)),
            media=sum(not medium.text for medium in part.media),
        )

    def unanswered(self) -> str:
        """Return the text that stands between results and the user's message behind them.

        Raises:
            TemplateError: The template does not load or render.
        """
        values = {"kind": "unanswered", "attrs": "", "text": "", "media": 0}
        return filled(self._settings.renderer(), "repair_note.jinja", **values).strip()
