"""The words of English that standing instructions are made of.

Not here: the phrases that make a sentence one (`english_orders`), what each kind of
words is for (`constraint_words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraint_words import Words
from chatfold.core.languages.english_orders import ALWAYS, EXCEPTIONS, ORDERS

__all__ = ["ENGLISH"]


ENGLISH: Final = Words(
    orders=ORDERS,
    always=ALWAYS,
    asking=("can|could|would|will you * always|never|only|avoid|stop|not|keep",),
    limits=(
        "from now|here on|onwards|onward|out",
        "from this point|moment",
        "from today",
        "going forward|forwards",
        "in the future",
        "in future",
        "henceforth",
        "at all times",
        "each|every time",
        "for all|any further|future|other|later",
    ),
    bounds=(
        "always|never|only|without|unless|unchanged|until|exclusively",
        "each|every reply|answer|message|response|change|commit|step|file|email|mail",
        "at most|least",
        "no|not|nothing more|less|longer|larger|later|earlier|other|else|than",
        "under|below|within #|one|two|three|four|five|six|seven|eight|nine|ten",
        # "142 over 91" is a blood pressure.
        "[abcdefghijklmnopqrstuvwxyz]* over|above #|one|two|three|four|five|six|seven|eight|ten",
        "up to #",
        "as * is|are",
        "instead of",
        "rather than",
        "for everything|anything",
        "before you [!~]*",
        "before [!em]*ing",
        "before emailing|editing|making|merging|moving|mailing|executing",
        "before|after|with|on each|every",
    ),
    requests=(
        "please|pls|plz|use|reply|answer|respond|write|speak|talk|be|call|book|send|contact|show|run|put",
        "do|give|leave|read|ask|include|add|work|stick|tell|format|return|commit|change|buy",
        "order|pay|quote|list|name|round|translate|let|treat|address|start|end|begin|sign|explain",
        "prefer|follow|check|confirm|save|store|log|report|mark|cc|set|create|assume|mention",
        "cite|recommend|refer|suggest|remind|ship|deliver|refund|charge|deploy|delivery|deliveries|payment",
        "spend|verify|squash|rebase|merge|allow|test|review|get|compare|keep|freeze|exclude|ignore",
        "hold all|any|every|each|the|my|our|off",
        "shipping",
        "wait at|before|between|for|on|till|until|with|#",
        "each|every|all|everything * must|should|has|have|needs",
        "the|my|our * budget|limit|maximum is|are|must",
    ),
    joins=("and|but|so|or|then|please",),
    fillers=(
        "also|actually|just|ok|okay|well|oh|hey|kindly|again|therefore|really|ever|pls|plz",
        "alright|cool|great|hello|hi|perfect|right|so|sure|thanks|thx|uh|um|whatever|yeah|yep|yes",
        "thank you",
    ),
    exceptions=EXCEPTIONS,
    reports=(
        "he|she|they|it|log|page|site|error|message|manual|text|support say|says|said|reads",
        "told|asked|tells|asks|advised|warned me|us|him|her|them",
        "was|were|been|am told|asked",
    ),
    questions=(
        "why|what|who|where|how|which",
        "is|are|was|were|does|did|do|have|has|can|could|would|will i|you|we|he|she|it|they|there",
    ),
    subjects=(
        "i|i'm|i've|i'd|i'll|it|it's|he|he's|she|she's|they|they're|we|we're|we've|there|there's|this",
        "that|that's|which|who|nobody|somebody|someone|something|because|since",
    ),
    takes_back=(
        "forget|ignore|disregard|scrap|drop|cancel|discard|skip|lift|undo * said|told|rule|rules",
        "forget|ignore|disregard|scrap|drop * limit|instruction|instructions|request|about|earlier",
        "never mind the|my|what|about",
        "nevermind the|my|what|about",
        "* no longer applies|needed|necessary|required|holds|matters",
        "i|i've changed my mind",
        "i take * back",
    ),
    negations=(
        "never|not|no|don't|dont|stop|avoid|without|mustn't|can't|cannot|refrain",
        "needn't|shouldn't|aren't|doesn't|isn't|skip",
    ),
    common=(
        "a|an|the|to|of|in|on|at|by|for|with|and|or|but|so|if|is|are|be|was|were|it|its|it's|that",
        "this|these|those|there|then|than|as|from|into|about|any|all|some|my|your|our|i|i'd|i'm|i've",
        "you|we|please|now|just|also|ever|always|only|make|sure|must|should|can|may|could|will|use",
        "would|want|need|like|again|anymore|longer|more|what|said|told|earlier|rule|rules|forget",
        "ignore|mind|changed|free|feel|fine|ok|okay|do|does|did|have|has|when|whenever|time|thing|things",
        "instruction|instructions|request|anything|everything|going|forward|future|limit|using|put",
        "never|not|no|don't|dont|stop|avoid|without|mustn't|can't|cannot|refrain|here|onwards",
        "disregard|scrap|drop|cancel|discard|skip|lift|undo|nevermind|needn't|anyway|applies",
        "actually|shouldn't|aren't|that's|prefer|prefers|rather|insist|require|requires|needs|has",
    ),
    allows=(
        "you|we can|may|could|should * * again",
        "you|we don't|dont|needn't * * anymore|longer",
        "you|we do not|no * * anymore|longer",
        "you|we no longer need|have|must",
        "it's|that's fine|ok|okay|alright|allowed * again",
        "* is|are fine|ok|okay|alright|allowed * again",
        "feel free to",
        "actually do [!n]*",
        "actually you|we can|may",
        "* at any time",
    ),
    permits=(
        "you|we can|may|could|should * * now|anyway",
        "you|we don't|dont need|have to",
        "you|we don't|dont|needn't * to",
        "you|we do not|no * to|need",
        "it's|that's fine|ok|okay|alright|allowed to",
        "* is|are fine|ok|okay|alright|allowed to",
        "it's|that's fine|ok|okay|alright|allowed * now|after|to",
        "* is|are fine|ok|okay|alright|allowed * now|after|to",
    ),
    contrasts=(
        "from|to|into|for|with|by",
        "on|off",
        "in|out",
        "my|your|our",
        "all|some|only",
        "use|put|cancel|drop|discard|undo|lift|scrap|ignore|disregard|forget",
    ),
    endings=(
        "|s|ed|ing",
        "e|es|ed|ing",
        "y|ies|ied|ying",
        "s|ses",
        "x|xes",
        "ch|ches",
        "sh|shes",
        "g|gging|gged",
        "n|nning",
        "p|pping|pped",
        "t|tting|tted",
    ),
    openers=(
        "yes|yeah|yep|no|nope|sure|fine|good|great|right|alright|thanks|actually|anyway|now|please",
        "and|but|so|let's|lets",
        "of course",
        "all right",
        "thank you",
        "never mind",
        "by the way",
        "on second thought|thoughts",
        "you|we can|should",
        "i|i'd|we|we'd want|like|need you to",
    ),
    hedges=(
        "you|he|she|they|who|nobody|somebody|someone|everyone|everybody * say|says|said|saying",
        "you|he|she|they|who|nobody|somebody|someone|everyone|everybody * tell|tells|told|telling",
        "you|he|she|they|who|nobody|somebody|someone|everyone|everybody * write|writes|wrote|asked",
        "you|he|she|they|who|nobody|somebody|someone|everyone|everybody * think|thinks|thought",
        "you|he|she|they|who|nobody|somebody|someone|everyone|everybody * claim|claims|claimed",
        "you|he|she|they|who|nobody|somebody|someone|everyone|everybody * mean|means|meant",
        "i|we never|not|didn't|don't|dont|haven't|hadn't * say|said|mean|meant|tell|told|want",
        "not|never|isn't|wasn't|doesn't|don't|didn't * that|true|because|as|like|if|mean",
        "if|unless|until|whether i|we|it|there|this|that|he|she|they",
        "if|unless|until you * must|have|can|could|should|may",
        "so that",
        "as if|though",
        "in case",
    ),
    letters=(
        "dear|hi|hello|hey|greetings|regards|sincerely|cheers|bye|yours",
        "good morning|afternoon|evening|day",
        "best|kind|warm|many|with regards|wishes|thanks|best|kind",
    ),
    corrects=("actually|no|nope|sorry|correction|rather", "on second thought|thoughts"),
    tags=("ok|okay|alright|please|pls|plz|understood", "got it", "will|would you"),
    lists=("and|or|nor|but|plus",),
    goes_on=(
        "and|or|nor|but|unless|except|until|till|if|when|while|before|after|because|since|without",
        "on|at|in|by|for|from|to|of|with|than|that|which|who|about|between|during|as|via",
    ),
)
"""The words of English."""
