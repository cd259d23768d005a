"""What the fields of a failure say of it.

Not here: whether it is one (`fields`, `forms`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, cast

from chatfold.core.failures.words import said_in_text
from chatfold.core.json_text import decoded

__all__ = ["FAILURES", "OTHER_REASONS", "REASONS", "read", "text_of", "told_in"]

FAILURES = (
    *("failure_message", "failureMessage", "failure_reason", "failureReason"),
    *("error_description", "errorDescription", "err", "exception", "fault", "strerror"),
    "FunctionError",  # https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
    "Fault",  # https://developer.intuit.com/app/developer/qbo/docs/develop/troubleshooting
)
REASONS = ("error", "reason", "message", "detail", "details", "error_message", "msg", "errors")
OTHER_REASONS = (
    *("errorMessage", "Error", "why", "stderr", "error_code", "errorCode", "errorMessages"),
    *("fehler", "erreur", "errore", "erro", "grund", "motif", "motivo", "raison"),
    *("mensaje", "meldung", "nachricht"),
    *("messaggio", "hinweis", "detalle", "decline_reason", "rejection_reason", "explanation"),
    *FAILURES,
)
_NONE = "none null kein keine aucun aucune nessuno nessuna ninguno ninguna nenhum nenhuma geen"
_VALUES = {"true": True, "false": False, **dict.fromkeys(_NONE.split())}
_LONGEST_VALUE = max(map(len, _VALUES))


def told_in(fields: dict[str, Any]) -> str | None:
    """Return what the fields of a failure say of it, None where they say nothing."""
    said = (text_of(read(fields.get(key))) for key in (*REASONS, *OTHER_REASONS))
    return next(filter(None, said), None)


def read(value: Any) -> Any:
    """Return a value as what it says: some write truth values and nulls as texts."""
    if isinstance(value, str) and len(value) <= _LONGEST_VALUE:
        return _VALUES.get(value.lower(), value)
    return value


def text_of(value: Any) -> str | None:
    """Return what a field says of a failure, None where it says nothing.

    Results of MCP hold it in the `text` of the parts of their `content`.
    """
    if isinstance(value, str) and value[:1] == "{":  # such as the body of a response
        with suppress(ValueError):
            value = decoded(value)
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        inner = fields.get("message") or fields.get("error")
        value = inner if isinstance(inner, str) else json.dumps(value) if value else None
    if isinstance(value, list):
        parts = cast(list[Any], value)
        if all(isinstance(part, str) for part in parts):
            return "; ".join(filter(str.strip, parts)) or None
        texts = (cast(dict[str, Any], part).get("text") for part in parts if isinstance(part, dict))
        value = next((text for text in texts if isinstance(text, str) and text.strip()), None)
        value = value or (json.dumps(parts) if parts else None)
    if isinstance(value, str) and value.strip():
        return said_in_text(value) or value
    return None
