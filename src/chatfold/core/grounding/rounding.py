"""To which place a number is rounded, as it is written.

Not here: whether a number that was shown rounds to it (`derived`).
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

__all__ = ["far_scale", "last_place", "place"]

_FAR = re.compile(r"[ \u00a0\u202f]([kKMB])(?![\w'-])")
_SCALES: Final = {"k": 3, "K": 3, "M": 6, "B": 9}


def far_scale(text: str, stop: int) -> int:
    """Return the power of ten behind a gap behind a number: 6 in "EUR 4.18 M", 0 for none.

    It may as well be something else: a shirt for $20 may be of size M.
    """
    far = _FAR.match(text, stop)
    return _SCALES[far[1]] if far else 0


def last_place(text: str, number: Decimal) -> Decimal:
    """Return the value of one at the last digit of a number as it is written.

    That of "4.18 million" is ten thousand. Where more than a power of ten stands between the digits
    and the number, as in 3万5千, it is that of the number's own last digit.
    """
    digits = "".join(filter(str.isdecimal, text)).lstrip("0")
    if digits and number:
        step = (abs(number) / int(digits)).normalize()
        if step.as_tuple().digits == (1,):
            return step
    return place(number)


def place(number: Decimal, *, trailing: bool = False) -> Decimal:
    """Return the value of one at a number's last digit; `trailing`: at its last digit but zeros."""
    exponent = number.as_tuple().exponent
    if trailing:
        exponent = number.normalize().as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))
