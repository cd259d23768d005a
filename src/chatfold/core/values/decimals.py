"""Written numbers in plain decimal form, whatever marks stand in them.

Not here: where a number begins and ends in a text, and what stands beside it (`numbers`).
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from chatfold.core.values.kinds import Keys

__all__ = ["decimal", "number_of", "plain_number", "scaled"]


def number_of(key: str) -> Decimal | None:
    """Return the number in the key of a number or an amount."""
    written = key.partition(":")[2].partition(" ")[0]
    try:
        found = Decimal(written)
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found.adjusted()) < 20 else None


def plain_number(written: str) -> Keys:
    """Return the keys of a number without unit and currency: `number:1299.5`.

    No marks of thousands, a point before the decimals, no zeros at either end, no sign. "1.299"
    is 1.299 and vouches for 1299, "1,299" is 1299 and vouches for 1.299; a number with decimals
    vouches for a version.
    """
    key, others = decimal(written, money=False)
    also = tuple(f"number:{form}" for form in others)
    if "." in written:
        also += (f"version:{written}",)
    elif "," in written:
        also += (f"id:{key}",)
    return f"number:{key}", also


def decimal(written: str, *, money: bool) -> tuple[str, tuple[str, ...]]:
    """Return a number in plain form and its other readings; of money, three digits are no cents."""
    bare = written.replace("'", "").replace(" ", "")
    dots, commas = bare.count("."), bare.count(",")
    other: list[str] = []
    if dots and commas:
        decimal, group = (".", ",") if bare.rfind(".") > bare.rfind(",") else (",", ".")
        bare = bare.replace(group, "").replace(decimal, ".")
    elif commas:
        pieces = bare.split(",")
        if len(pieces[-1]) == 3:
            other = [*pieces, bare.replace(",", ".")] if commas == 1 else pieces
            bare = bare.replace(",", "")
        else:
            other, bare = pieces, bare.replace(",", ".")
    elif dots > 1:
        bare = bare.replace(".", "")
    elif dots and len(bare) - bare.index(".") == 4 and 4 < len(bare) < 8 and bare[0] != "0":
        whole = bare.replace(".", "")
        bare, other = (whole, [bare]) if money else (bare, [whole])
    key = _trimmed(bare)
    if not other:
        return key, ()
    forms = dict.fromkeys(map(_trimmed, other))
    forms.pop(key, None)
    return key, tuple(forms)


def _trimmed(number: str) -> str:
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if number[:2] != "0." else number


def scaled(number: str, exponent: int) -> str:
    """Return a number in plain form times a power of ten."""
    if not exponent:
        return _trimmed(number)
    whole, _, fraction = number.partition(".")
    rest = fraction[exponent:]
    moved = whole + fraction[:exponent].ljust(exponent, "0")
    return _trimmed(f"{moved}.{rest}" if rest else moved)
