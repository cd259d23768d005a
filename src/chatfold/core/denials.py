"""The words by which a sentence denies, in the languages that most agents are spoken to in.

A part of a sentence without its "not" says the contrary of the whole, so whoever takes a part out
of one has to know whether there is any. One word too many found here costs a few words of room.
Not here: whether an instruction forbids (`constraint_content`), by the words of one language.
"""

from __future__ import annotations

import re

__all__ = ["denies"]

_WORDS = (
    r"not|never|nobody|none|nothing|nowhere|neither|nor|without|except|unless|cannot|hardly"
    r"|(?:do|does|did|is|are|was|were|have|has|had|wo|would|ca|could|should|must|need|ai)n['’]?t"
    r"|no(?!\.?\s*[\d#])|refuse[ds]?|instead|rather than|other than"  # but "order no. 4711"
    # Dutch, German
    r"|niet|geen|nooit|zonder|niemand|niets|behalve|nicht|nichts|kein\w*|nie|niemals|niemand\w*"
    r"|ohne|weder|noch|außer|ausser|statt|anstatt|nirgends"
    # French, Spanish, Portuguese, Italian, Romanian, Catalan
    r"|n['’]\w+|ne|pas|jamais|aucune?|sans|ni|sauf|rien|personne|nunca|jam[aá]s|ning[uú]n\w*|sin"
    r"|nada|nadie|tampoco|excepto|salvo|n[aã]o|sem|nenhum\w*|ningu[eé]m|nem|exceto|non|senza"
    r"|nessun\w*|né|niente|nulla|neanche|nemmeno|tranne|nu|fără|niciodată|nici|cap"
    # Danish, Norwegian, Swedish, Finnish, Polish, Czech, Hungarian, Turkish
    r"|ikke|ikkje|aldri|aldrig|ingen|intet|inga|inget|uden|uten|inte|utan|ei|eivät|älä|ilman"
    r"|nigdy|bez|żad\w+|nikt|nic|není|nejsem|nebudu|nechci|nikdy|nem|nincs|soha|nélkül|değil|yok"
    # Russian, Ukrainian, Greek, Hebrew, Arabic, Hindi, Indonesian, Vietnamese
    r"|не|нет|нельзя|никогда|без|ні|немає|ніколи|δεν|δε|μην|όχι|χωρίς|ποτέ|לא|אין|בלי|אל"
    r"|لا|لم|لن|ليس|بدون|غير|नहीं|मत|बिना|tidak|bukan|jangan|belum|tanpa|không|chưa|đừng"
)
# Written without spaces: Chinese, Japanese, Korean, Thai.
_PARTS = r"[不没沒未别別勿非無无]|ない|ません|なく|ずに|않|못\s|없|말고|아니|ไม่"
_MONTH = r"(?-i:\bmai\b)"  # "never" in Italian; the month of May in German has a capital
_DENIAL = re.compile(rf"\b(?:{_WORDS})\b|{_PARTS}|{_MONTH}", re.IGNORECASE)


def denies(text: str, start: int = 0, stop: int | None = None) -> bool:
    """Return whether a text, or a part of it, has a word that denies."""
    return _DENIAL.search(text, start, len(text) if stop is None else stop) is not None
