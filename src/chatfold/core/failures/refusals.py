"""The words by which a tool that changes things says that it changed nothing.

"No tables available." is an answer of a tool that looks, and a refusal of one that books. So these
words tell nothing of a tool whose name says that it looks. Not here: words that tell of a failure
whatever the tool is for (`words`, `unmade`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from chatfold.core.effects import reads_by_name
from chatfold.core.failures.successes import tells_a_deed
from chatfold.core.failures.words import is_for, words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["says_refused"]

_READ: Final = 200  # characters at the start of a text that are looked at

_UNAVAILABLE = (
    r"{s}(?:(?:is|are|was|were) )?(?:(?:currently|temporarily|now|already|completely) ){0,2}"
    r"(?P<gone>unavailable|out of stock|sold out|fully booked|booked out|overbooked)\b"
    r"|(?:there (?:is|are|was|were) )?no (?:[\w-]+ ){1,4}?(?:(?:is|are|was|were) )?"
    r"(?:available|left|free|possible)\b"
    r"|{s}(?:is|are) (?:invalid|not (?:reachable|mergeable|possible|allowed|permitted|supported"
    r"|eligible|valid|authori[sz]ed|registered|found|enabled))\b"
    r"|{s}(?:is|are) (?P<shut>closed) (?:on|at|in|for|today|tomorrow|until|right now)\b"
    r"|{s}(?:is|are) no longer (?:possible|allowed|offered|(?P<past>available|valid|accepted))\b"
    r"|(?:it (?:is|was) |it['’]s )?too late (?:to|for)\b|(?:not enough|too (?:few|many)) [a-z]+"
    r"|{s}(?:is |are |was )?too (?:big|far|heavy|high|large|late|long|low|old|short|small)\b"
    r"|{s}(?:is|are) (?P<out>offline|unreachable|out of (?:ink|order|paper|range|reach|service))\b"
    r"|{s}(?:is|are) (?:at capacity|in the past|incorrect|wrong)\b"
    r"|{s}does not (?:accept|allow|cover|include|permit|support)\b"
    r"|{s}(?:conflicts with|has a conflict)\b|nothing to (?!do\b)[a-z]+"
    r"|only \d+ (?:[\w-]+ ){0,2}(?:available|in stock|left|remaining)\b"
    r"|maximum (?:amount|length|number|size) of [\w ]{1,30} (?:exceeded|reached)\b"
    r"|{s}(?:window|period|deadline|cut-?off) (?:has |is |was )?"
    r"(?:closed|expired|passed|ended|over)\b"
    r"|{s}(?:creation|registration|booking|ordering|checkout|feature|service|sign-?ups?|refunds"
    r"|returns|payments) (?:is|are) (?:currently |temporarily )?"
    r"(?P<off>disabled|closed|suspended|not enabled)\b"
    r"|(?:(?:your|the|this) )?(?:session|token|link|code|card|offer|coupon|voucher|quote|key"
    r"|certificate) (?:has |is |was )?(?P<old>expired)\b"
)
_THERE_ALREADY = (
    r"{s}already exists?\b"
    r"|{s}(?:is|are) (?:already (?:active|in use|open|pending|registered|running|taken)|taken)\b"
    r"|another [\w ]{1,30}? is (?:already )?(?:in progress|open|pending|running)\b"
    r"|{s}(?:has|have) already been [a-z]+"
    r"|{s}(?:and|so) (?:it )?(?:can(?:not|['’]t)|can no longer) be [a-z]+"
    r"|{s}could(?: not|n['’]t) be [a-z]+"
    r"|{s}has been modified since\b"
    r"|no (?:match(?:es)?|replacements?|occurrences?|changes?|commits?|updates?) "
    r"(?:(?:was|were|has been|have been) )?(?:found|made|performed|applied|saved|between)\b"
    r"|{s}(?:is|was|are) not unique\b"
)
_DEMANDS = (
    r"please (?:provide|specify|supply|try again|log ?in|sign in|re-?authenticate)\b"
    r"|missing (?:[\w-]+ ){0,2}(?:parameters?|arguments?|fields?|values?|inputs?|headers?|keys?"
    r"|property|properties)\b"
    r"|missing (?:[\w-]+ ){0,1}(?:permissions?|access|rights|scopes?)\s*[.!]?\s*\Z"
    r"|[\w.-]+ (?:is|are) (?:required|missing|mandatory)(?=\s*(?:[.!:,;\n]|$))"
    r"|{s}must (?:be (?:an?|at least|at most|positive|negative|between|greater|less|in the|one of"
    r"|valid|unique|specified|provided|set)|not be|contain|match|start|end)\b"
    r"|(?:the )?(?:wrong|incorrect|bad|unknown) (?:user ?name|password|user|credentials?|code|pin"
    r"|otp|login|key|token|format|type|value|id|e-?mail|account|parameter|customer|order|item)\b"
    r"|(?:you have|you['’]ve) (?:reached|exceeded|used up)\b"
    r"|{s}(?:limit|quota|allowance|rate) (?:(?:has been|have been|was|is) )?(?:exceeded|reached)\b"
    r"|{s}exceeds (?:the|your|its|our|available|maximum)\b"
)
_TROUBLE = (
    r"(?:i['’]m |we['’]re |i am |we are )?(?:very )?sorry\b(?! (?:for|about)\b)"
    r"|unfortunately\b|something went wrong\b|(?:oops|uh-oh|whoops)\b"
    r"|(?:an? )?(?:[a-z]+ )?(?:problem|issue|error) (?:has )?occurred\b"
    r"|(?:connection|socket|network|host|server) (?:(?:was|is) )?(?:refused|reset|aborted"
    r"|unreachable|closed unexpectedly)\b(?=\s*(?:[.:,;!\n(]|$)| (?:by|to|at|from|for)\b)"
    r"|socket hang up\b|no route to host\b|npm err!|(?:merge )?conflicts?(?=:| in\b)"
    r"|(?:(?:connect|read|write|getaddrinfo) )?(?:econn\w+|enotfound|etimedout|enoent|eacces|eperm"
    r"|eexist|eai_\w+|ehostunreach|epipe|enospc|erofs|ebusy|emfile|enotempty|enotdir|eisdir)\b"
    r"|duplicate (?:key|entry|value|record|name|id)\b"
    r"|{s}(?:does|do|did) not (?:exist|match|appear)\b"
    r"|(?:near [^\n]{1,40}?: |{s})syntax error\b|{s}violates\b"
    r"|(?:[\w./-]+: ){1,3}(?:cannot|can['’]t|could not|unable|permission denied|no such"
    r"|command not found|not found|fatal|error)\b"
    r"|read-only file system\b|disk quota exceeded\b|no space left on device\b|refusing to\b"
    r"|(?:remote )?rejected\]|{s}(?P<ended>aborted)(?=\s*(?:[.!\n]|$))"
    r"|{s}failed (?:permanently|temporarily|again)\b"
    r"|{s}(?<!not )(?<!n't )(?P<denied>denied|declined|refused|rejected)(?=\s*(?:[.:!,;(\n]|$)"
    r"| (?:as|because|by|due|since|until|unless)\b| [–—-])"
    # What blocks a task may be another one.
    r"|{s}(?<!not )(?P<stopped>blocked) by (?:an? |the |our |your )?(?:[a-z-]+ ){0,2}(?:admin[a-z]*"
    r"|bank|browser|filter|firewall|gateway|hold|interlock|issuer|limit|polic(?:y|ies)|provider"
    r"|rules?|server|system)\b"
)
# Of SMTP: a reply with its enhanced code (RFC 3463), and the errors of Python's client.
_OF_MAIL = (
    r"|(?:4\d\d[ -]4|5\d\d[ -]5)\.\d{1,3}\.\d{1,3}\b|[45]5\d (?:mailbox (?:unavailable|full|not)"
    r"|no such user|user unknown|relay(?:ing)? (?:access )?denied"
    r"|requested (?:mail )?action (?:not|aborted))\b"
    r"|smtp[a-z]{0,20}(?:refused|disconnected)(?=\s*(?:[:({]|$))"
)
_ELSEWHERE = (  # German, French, Spanish, Italian and Portuguese
    r"leider\b|keine (?:berechtigung|verbindung|rechte)\b|{s}existiert bereits\b"
    r"|{s}konnten? (?:[^\W\d_]+ ){0,6}?nicht\b"
    r"|(?:es ist )?(?:ein )?(?:[^\W\d_]+ )?(?:fehler|problem) (?:ist )?aufgetreten\b"
    r"|{s}(?:ist|sind|war) (?:(?:derzeit|momentan|aktuell) )?nicht "
    r"(?:möglich|verfügbar|erlaubt|vorhanden|erreichbar)\b"
    r"|{s}n['’](?:a|ont) pas (?:pu|été)\b|impossible (?:de |d['’])|une erreur\b|désolée?\b"
    r"|lo siento\b|no se (?:pudo|puede|ha podido|pudieron)\b|no (?:fue|ha sido) posible\b"
    r"|(?:ha ocurrido|ocurrió|se produjo|ocorreu) (?:un|um) error?\b"
    r"|impossibile\b|non è stato possibile\b|si è verificato un errore\b|não foi possível\b"
    r"|{s}não (?:pôde|puderam) ser\b"
    # Japanese: at the end of the sentence, and in no quotes.
    r"|[^\n。.:「」『』]{0,40}(?:に失敗(?:しました|した)|できませんでした|エラーが発生しました)"
    r"(?=[。.!！ ]*(?:$|\n))"
)
# What failed comes first in these, and no clause that tells of it: `El informe dice que no ...`.
# No sentence may stand behind it, as that may tell of a deed.
_OF_SUBJECTS = (
    r"(?:(?:(?:el|la|los|las|su|sus|le|les|votre|il|lo|gli|o|a|os|as|der|die|das|ihre?) |l['’])"
    r"(?!(?:cliente|usuario|paciente|client|patient|kunde|persona)\b)"
    r"(?:(?!(?:que|qui|che|dass|porque|car|wo|donde|dove|sur|über|sobre)\b)[\w#/-]{1,40} ){1,4}?"
    r"(?:no (?:se (?:pudo|pudieron|ha podido|han podido)|pud(?:o|ieron) (?:ser|[^\W\d_]+se))\b"
    r"|(?:ha|han) fallado\b|falló\b|(?:a|ont) échoué\b|n['’]est pas (?:possible|autorisée?)\b"
    r"|è fallit[oa]\b|non è riuscit[oa]\b"
    r"|wurden? nicht (?:ausgeführt|durchgeführt|gespeichert|übernommen)(?=\s*(?:[.:!]|$)))"
    r"|[^\W\d_]{4,40} (?:non riuscit[aeio]"
    r"|no (?:autorizad|completad|permitid|procesad|realizad)[ao]s?"
    r"|nicht (?:erlaubt|möglich|zulässig)|non (?:aboutie?|autorisée?|effectuée?))"
    r"(?=\s*(?:[.:!(]|$))"
    r"|(?:el usuario|la usuaria) (?:ha )?(?:deneg|rechaz)(?:ó|ado)\b"
    r"|l['’]utilisat(?:eur|rice) a (?:décliné|refusé|rejeté)\b"
    r"|l['’]utente ha (?:negato|rifiutato)\b"
    r"|[oa] usuári[oa] (?:negou|recusou|rejeitou)\b"
    r"|(?:der|die) (?:be)?nutzer(?:in)? hat (?:[^\W\d_]+ ){0,4}?(?:abgelehnt|verweigert)\b"
    r")(?=(?:(?!\b(?:pero|sino|mais|ma|però|mas|porém|aber|jedoch|doch)\b)[^\n.;!]){0,160}"
    r"[.!]*\s*\Z)"
)
# In Japanese words are not parted; what cannot be done may be told beside what was.
_JAPANESE = (
    r"エラー ?[:：](?! ?(?:なし|無|ありません|発生せず|発生していません|検出され(?:ず|ません)"
    r"|0|０|ゼロ))"
    r"|[^\n。.:「」『』\d]{0,40}できません(?=[。.!！ ]*\Z)"
    r"|[^\n。.:「」『』]{0,40}(?P<rejected>却下|拒否)され(?:ました|た)(?=[。.!！ ]*(?:$|\n))"
)
_SUBJECT = r"(?:[\w#'’\"@/.-]*[\w'’\"] ){0,6}?"
_IN_ENGLISH = (_UNAVAILABLE, _THERE_ALREADY, _DEMANDS, _TROUBLE + _OF_MAIL)
_ALL = "|".join((*_IN_ENGLISH, _ELSEWHERE, _OF_SUBJECTS, _JAPANESE))
_REFUSED = re.compile(rf"\W*+(?:{_ALL})".replace("{s}", _SUBJECT), re.IGNORECASE)
_STATES = ("gone", "shut", "past", "out", "off", "old", "ended", "denied", "stopped", "rejected")
_ENDING: Final = word_set(  # what such a tool has ended is no longer there
    "archive block cancel close deactivate delete disable end expire hide remove retire revoke "
    "stop suspend terminate unpublish"
)
_COMPOSING = (["compose"], ["draft"], ["generate"], ["rewrite"])
_BLOCKING = word_set(
    "ban blacklist blocklist cancel close deactivate deny disable filter freeze hold kick link "
    "lock moderate mute quarantine remove replace report restrict rule stop suspend"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’]t)?")
_GOES_ON = re.compile(r"[.,;:!\n–—]|\b(?:and|but|so|yet)\b")


def says_refused(text: str, name: str, given: Callable[[], Iterable[str]]) -> bool:
    """Return whether a text begins with words by which a tool says that it changed nothing.

    Args:
        text: The result.
        name: The name of the call's tool: `mark_sold_out` is there to say so, and `check_stock`
            only looks.
        given: Returns the texts that the call was given; what they name is no refusal either.
    """
    found = _REFUSED.match(text, 0, _READ)
    if found is None or reads_by_name(name, "function", {}) or text in given():
        return False
    state = next((kind for kind in _STATES if found[kind]), None)
    said = text[found.start() : found.start(state) if state else found.end()]
    if state and _is_meant(state, found[state].lower(), name, given):
        return False
    before = _WORD.findall(said.lower())
    if not state:  # its last word may be of what was refused: "could not be booked"
        before = [*before[:1], *(word for word in before[1:-1] if is_for(word, name))]
    clauses = map(_WORD.findall, _GOES_ON.split(text[found.end() : _READ].lower())[1:])
    return not any(tells_a_deed(words, name) for words in (before, *clauses))


def _is_meant(state: str, said: str, name: str, given: Callable[[], Iterable[str]]) -> bool:
    """Return whether what a text says of something is what its tool was to bring about."""
    words = words_of_name(name)
    if state in ("past", "out"):
        return not _ENDING.isdisjoint(words)
    if state == "gone":
        return words[:1] in (["set"], ["mark"], ["flag"]) or not set(said.split()).isdisjoint(words)
    if state in ("denied", "stopped") and words[:1] in _COMPOSING:  # what it wrote may say so
        return True
    if state == "stopped" and not _BLOCKING.isdisjoint(words):
        return True
    return any(is_for(said, of) or said == of.lower() for of in (name, *given()))
