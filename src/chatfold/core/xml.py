r"""Escaping for XML, exact for every string.

Three characters are escaped as XML does (`&`, `<`, `>`). What XML 1.0 forbids, and
no reference can name, is written as ``\u{HEX}``: control characters, lone surrogates, U+FFFE and
U+FFFF. A backslash that would start such a sequence by itself is written as ``\u{5c}``. The
carriage return, which parsers turn into a line feed, is the reference `&#13;`. So the parser's
text, put through `decode` once, is the original text.

Source: https://www.w3.org/TR/xml/#charsets and #sec-line-ends (read 2026-11-21).
Not here: which elements there are (`render`).
"""

from __future__ import annotations

import re
from collections.abc import Container

__all__ = [
    "attribute",
    "attributes",
    "decode",
    "encode",
    "escape",
    "markup",
    "unescape_copied",
]

_FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|\\(?=u\{[0-9a-f]{1,6}\})"
)
_CONTROLS = bytes({*range(0x20)} - {0x09, 0x0A, 0x0D})
_ENCODED = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#39|#34|#13|#10|#9);")
_ENTITIES = {
    "&lt;": "<",
    "&gt;": ">",
    "&amp;": "&",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&#34;": '"',
    "&#13;": "\r",
    "&#10;": "\n",
    "&#9;": "\t",
}


def encode(text: str) -> str:
    r"""Return `text` with each character that XML cannot carry as ``\u{HEX}``."""
    return (
        text if _is_clean(text) else _FORBIDDEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)
    )


def _is_clean(text: str) -> bool:
    """Return whether nothing needs `encode`: a search that is quick over megabytes of text."""
    if "\\u{" in text or "\ufffe" in text or "\uffff" in text:
        return False
    try:
        data = text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return len(data.translate(None, _CONTROLS)) == len(data)


def decode(text: str) -> str:
    """Return what `encode` was given; apply it once, to what the XML parser returned."""
    if "\\u{" not in text:
        return text
    return _ENCODED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= 0x10FFFF else found[0]


def escape(text: str) -> str:
    """Return `text` as XML character data; `decode` what a parser makes of it."""
    return encode(markup(text))


def markup(text: str) -> str:
    """Return `text` with XML's own characters escaped, and the others left to one `encode`."""
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    if "\r" in text:
        text = text.replace("\r", "&#13;")
    return text


def attribute(text: str) -> str:
    """Return `text` for use between double quotes.

    A parser turns line breaks and tabs in an attribute into spaces, so they are written as
    references. Like `markup`, it leaves what XML forbids to one `encode` of the whole.
    """
    if text.isidentifier():  # most names and ids: nothing in them needs an escape
        return text
    text = markup(text).replace('"', "&quot;")
    if "\n" in text or "\t" in text:
        text = text.replace("\n", "&#10;").replace("\t", "&#9;")
    return text


def attributes(**values: object) -> str:
    """Return ` name="value"` for each value that is not None, in the order given."""
    return "".join(
        f' {name}="{attribute(str(value))}"' for name, value in values.items() if value is not None
    )


def unescape_copied(text: str, source: Container[str]) -> str:
    """Return a model's text with the entities decoded that it copied out of the prompt.

    The prompt shows `a < b` as `a &lt; b`, and models repeat what they saw. An entity that stands
    in `source` itself was meant, and is left alone.
    """
    return _ENTITY.sub(lambda found: found[0] if found[0] in source else _ENTITIES[found[0]], text)
