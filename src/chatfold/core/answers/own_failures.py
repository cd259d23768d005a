"""Sentences by which a summarizer, a server or an agent says that it has failed itself.

They name what was asked of it (the summary, "your request"), and nothing of the conversation.
Not here: pages, bodies and lines of errors, and refusals (`no_summary`).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["REGRETS", "TELLS", "is_own_failure"]

_LONGEST: Final = 200  # characters
_LONGEST_REASON: Final = 600  # with what an exception says

REGRETS = (
    r"(?:(?:i['\u2019]?m|i am|we['\u2019]?re|we are) (?:very |so |really |truly )?sorry|sorry"
    r"|(?:my )?apologies|(?:i|we) (?:sincerely )?apologi[sz]e|unfortunately"
    r"|as an ai[\w -]{0,40}|es tut mir (?:sehr )?leid|tut mir leid|leider"
    r"|(?:je suis |nous sommes )?d\u00e9sol\u00e9(?:e|s|es)?|malheureusement"
    r"|lo siento(?: mucho)?|lo lamento|lamentablemente|mi dispiace|sinto muito|desculpe)"
    r"[\s,.!:;\u2014-]*(?:(?:but|aber|mais|pero|ma|mas) )?"
)
_SUMMARY = (
    r"(?:(?:generat|creat|produc|writ|prepar|mak)(?:ing|e) (?:(?:the|an?|your|this) )?"
    r"(?:(?:conversation|chat) )?summary(?: (?:of|for) (?:the|this|your) (?:conversation|chat))?"
    r"|summari[sz](?:ing|e)(?: (?:the|this|your))? (?:conversation|chat|messages|history))"
    r"(?: at (?:this|the) (?:time|moment)| right now)?"
)
_AT_WORK = (
    rf"(?: (?:while|when|in|during|with))? (?:{_SUMMARY}|(?:(?:process|handl|complet|generat)ing"
    r"(?: (?:your|this|the|an?))?|your) (?:request|prompt|response|completion))"
)
_KIND = r"(?:(?:unexpected|internal|unknown|server) ){0,2}"
_CANNOT = (
    r"(?:(?:i|we) )?(?:failed to|(?:was |were )?unable to|could not|couldn['\u2019]t|cannot"
    r"|can['\u2019]t)"
)
_BUSY = (
    r"(?:(?:is|are) (?:currently |temporarily )?(?:overloaded|unavailable|not available|busy"
    r"|at capacity)|(?:is|are|['\u2019]re) (?:currently )?experiencing (?:very )?(?:high|heavy)"
    r" (?:demand|load|traffic))"
)
_AGAIN = (
    r"(?:(?:please |you can )?(?:try again|retry(?: later| your request|\Z|[.!]))"
    r"|please (?:check (?:your|the)|contact (?:us|support|your)|modify|reduce|refresh|reload|try"
    r"|wait)|sorry about that)\b"
)
_SENTENCE = re.compile(
    rf"(?:error[\s:-]+)?(?:{REGRETS}|(?:oops|whoops|uh-oh)[\s,.!]*)?"
    r"(?:(?:there was|(?:i|we)(?:['\u2019]ve| have)? (?:encountered|ran into|hit|had)) (?:an?|some)"
    rf" {_KIND}(?:error|issue|problem)(?: occurred)?{_AT_WORK}"
    rf"|(?:(?:i|we) (?:encountered|ran into) an {_KIND}error|something went wrong"
    rf"|an {_KIND}error(?: has)? occurred)(?:{_AT_WORK})?"
    rf"|(?:the server had an )?error{_AT_WORK}|(?:unknown |unexpected )?error"
    rf"|{_CANNOT} (?:process your request|generate (?:a |the )?(?:response|completion)"
    r"|get (?:a )?(?:response|completion) from (?:the )?(?:model|llm|api|openai))"
    r"|(?:the|this|that) (?:model|engine) is (?:currently |temporarily )?overloaded"
    r"(?: with other requests| right now| at the moment)?"
    rf"|(?:we|(?:the|our|this) (?:model|engine|servers?|service|api)) ?{_BUSY}"
    rf"(?=[\s.!:,-]*{_AGAIN})"
    r"|the server is (?:currently processing too many requests|overloaded or not ready yet)"
    r"|(?:the )?model [`'\"][^`'\"\n]{1,60}[`'\"] does not exist"
    r"(?: or you do not have access to it)?"
    r"|you exceeded your current quota(?=, please check your plan)"
    r"|need more steps to process this request"
    r"|agent stopped due to (?:iteration limit or time limit|max(?:imum)? iterations)(?: reached)?)"
    rf"(?::? (?:request )?time(?:d )?-?out)?[\s.!:,-]*(?:{_AGAIN}[^;]*)?",
    re.IGNORECASE,
)
_WITH_REASON = re.compile(
    rf"(?:error[\s:-]+)?(?:(?:{REGRETS})?(?:(?:(?:there was )?an? )?(?:error|exception|failure)"
    rf"(?: occurred)?(?: (?:while|when|in|during))? {_SUMMARY}|{_CANNOT} {_SUMMARY}"
    r"|(?:summary generation|summari[sz]ation) (?:failed|error|timed out)"
    r"|(?:(?:the|a) )?(?:conversation )?summary (?:could not|cannot) be (?:generated|created)"
    r"(?: (?:due to|because of) an (?:internal )?error)?)"
    r"(?:[\s.!]*|\s*[:(][^;]*|[.!]\s*" + _AGAIN + r"[^;]*)"
    r"|(?:rate limit reached|request too large) for \S{1,80} in organization\b.*"
    r"|incorrect api key provided: \S{1,200} you can find your api key at .*"
    r"|this model['\u2019]s maximum context length is \d+ tokens\. however, you.*"
    r"|(?:\w{1,40}\(.{0,200}\): )?max retries exceeded with url: .*)",
    re.IGNORECASE,
)
# The words of an exception are anybody's; these tell of a conversation.
TELLS = re.compile(
    r"\b(?:the (?:users?|customers?|assistant)|ask(?:s|ed)|wants?|wanted|said|says|told|fixed"
    r"|fixes|solved|resolved|mended|next|pending|still|then"
    r"|s?he|they|her|his|their|tomorrow|yesterday|users?(?![\"'])|customers?"
    r"|agent(?! stopped)|ticket|filed|opened|patched|booked|merged|switched|captured|raised"
    r"|finished|owner|deploy(?:ed)?"
    r"|migration|refund|checkout|applied)\b|\b(?-i:[A-Z]{1,5}-\d)",
    re.IGNORECASE,
)


def is_own_failure(text: str) -> bool:
    """Return whether a text, without space around it, is nothing but such a sentence."""
    if len(text) > _LONGEST_REASON or "\n" in text:
        return False
    is_one = len(text) <= _LONGEST and _SENTENCE.fullmatch(text) is not None
    return (is_one or _WITH_REASON.fullmatch(text) is not None) and TELLS.search(text) is None
