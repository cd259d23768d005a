"""The languages that are built in: the words by which standing instructions are found in each.

They are data. Not here: how sentences are read by them (`constraints`), what each kind of words is
for (`words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraints.languages.dutch import DUTCH
from chatfold.core.constraints.languages.english import ENGLISH
from chatfold.core.constraints.languages.french import FRENCH
from chatfold.core.constraints.languages.german import GERMAN
from chatfold.core.constraints.languages.italian import ITALIAN
from chatfold.core.constraints.languages.portuguese import PORTUGUESE
from chatfold.core.constraints.languages.spanish import SPANISH

__all__ = ["LANGUAGES"]

LANGUAGES: Final = (DUTCH, ENGLISH, FRENCH, GERMAN, ITALIAN, PORTUGUESE, SPANISH)
