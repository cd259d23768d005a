"""The words by which a sentence denies or sets a condition, in the languages of most agents' users.

A part of a sentence without its "not" says the contrary of the whole, and without its "if" what was
only to be on a condition, so whoever takes a part out of one has to know whether there is any. One
word too many found here costs a few words of room.
Not here: whether an instruction forbids (`constraints.content`), by the words of one language.
"""

from __future__ import annotations

import re

from chatfold.core.word_sets import word_set

__all__ = ["qualifies"]

_WORDS = word_set(
    # English
    "not never nobody none nothing nowhere neither nor without except unless cannot hardly instead "
    "refuse refused refuses dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont "
    "wouldnt cant couldnt shouldnt mustnt neednt aint "
    # Dutch, German
    "niet geen nooit zonder niets behalve nicht nichts nie niemals ohne weder noch außer ausser "
    "statt anstatt nirgends "
    # French, Spanish, Portuguese, Italian, Romanian, Catalan
    "ne pas jamais aucun aucune sans ni sauf rien personne nunca jamás jamas sin nada nadie "
    "tampoco excepto salvo não nao sem ninguém ninguem nem exceto non senza né niente nulla "
    "neanche nemmeno tranne nu fără niciodată nici cap "
    # Danish, Norwegian, Swedish, Finnish, Polish, Czech, Hungarian, Turkish
    "ikke ikkje aldri aldrig ingen intet inga inget uden uten inte utan ei eivät älä ilman nigdy "
    "bez nikt nic není nejsem nebudu nechci nikdy nem nincs soha nélkül değil yok "
    # Russian, Ukrainian, Greek, Hebrew, Arabic, Hindi, Indonesian, Vietnamese
    "не нет нельзя никогда без ні немає ніколи δεν δε μην όχι χωρίς ποτέ לא אין בלי אל "
    "لا لم لن ليس بدون غير नहीं मत बिना tidak bukan jangan belum tanpa không chưa đừng "
    # Conditions
    "if whether provided wenn falls sofern si caso indien jeśli jestli если"
)
_BEGINNINGS = ("kein", "nenhum", "nessun", "niemand", "ningun", "ningún", "żad")
_SHORTENED = re.compile(r"n['’]t\b|\bn['’]")  # "don't", "n'est"
_WITH_OTHERS = {
    "no": re.compile(r"\bno\b(?!\.?\s*[\d#])"),  # but "order no. 4711"
    "than": re.compile(r"\b(?:other|rather) than\b"),
}
_MONTH = re.compile(r"\bmai\b")  # "never" in Italian; the month of May in German has a capital
# Written without spaces: Chinese, Japanese, Korean, Thai.
_PARTS = re.compile(r"[不没沒未别別勿非無无]|ない|ません|なく|ずに|않|못\s|없|말고|아니|ไม่")
_WORD = re.compile(r"\w+(?:[\u0900-\u0dff]+\w*)*")  # some letters of India are marks to `\w`


def qualifies(text: str, start: int = 0, stop: int | None = None) -> bool:
    """Return whether a text, or a part of it, has a word that denies or begins a condition."""
    part = text[start:stop]
    plain = part.lower()
    words = _WORD.findall(plain)
    return (
        not _WORDS.isdisjoint(words)
        or any(word in words and found.search(plain) for word, found in _WITH_OTHERS.items())
        or (("'" in plain or "’" in plain) and _SHORTENED.search(plain) is not None)
        or any(word.startswith(_BEGINNINGS) for word in words)
        or ("mai" in words and _MONTH.search(part) is not None)
        or (not plain.isascii() and _PARTS.search(plain) is not None)
    )
