"""The request to mend a draft shows it in tags, and small models give those back."""

from __future__ import annotations

from typing import Any

import pytest
from laws import talk

from chatfold import ChatContext
from chatfold.core.answers.thoughts import out_of_draft

SAID = "Order LK-4821936 arrived broken.\nThe return RMA-90721 was made."
REQUEST = "These values in it do not stand in the conversation, or stand there for something else:"


@pytest.mark.parametrize(
    "answer",
    [
        f"<draft>\n{SAID}\n</draft>",
        f"<draft>{SAID}</draft>",
        f"<draft>\n{SAID}\n</draft>\n\n{REQUEST}\n- RP-55081",
        f"<draft>\n{SAID}\n</draft>\nI left the value out.",
        f"Here is the record:\n\n<draft>\n{SAID}\n</draft>\n",
        f"<draft>\n{SAID}",
    ],
)
def test_the_tags_go_with_what_stands_behind_them(answer: str) -> None:
    """What they hold is the answer."""
    assert out_of_draft(answer, "Order LK-4821936.") == SAID


@pytest.mark.parametrize(
    "answer",
    [
        SAID,
        f"{SAID}\n<draft>\n{SAID}\n</draft>",
        f"{SAID}\n</draft>",
        "The mail is in <draft> until it is sent; </draft> ends it.",
        "<drafts>\n<draft>1</draft>\n</drafts>",
        "<p>It is a</p>: <draft>1</draft>",
    ],
)
def test_other_words_stay(answer: str) -> None:
    """Such as those about a draft of the conversation's."""
    assert out_of_draft(answer, "A mail was written.") == answer


def test_a_draft_that_speaks_of_the_tags_may_be_mended_to_one_that_does() -> None:
    """The conversation is about them."""
    answer = "<draft> opens a draft in the feed, </draft> closes it."
    assert out_of_draft(answer, f"{answer} It is feed 4711.") == answer


def folded(*answers: str) -> tuple[Any, Any]:
    """Return the outcome of a fold with these answers, one after the other, and what was said."""
    items = [{"role": "user", "content": "My order LK-4821936 arrived broken."}, *talk()]
    left = [*answers]
    outcome = ChatContext(items).summarize(lambda _: left.pop(0), keep_last_turns=1)
    return outcome, outcome.summary


def test_a_mended_draft_comes_into_the_list_without_its_tags() -> None:
    """They stood there, and the request's own sentence behind them."""
    good = "The order LK-4821936 arrived broken."
    again = f"<draft>\n{good}\n</draft>\n\n{REQUEST}\n- RP-55081"
    outcome, said = folded(f"{good}\nThe replacement is RP-55081.", again)
    assert (said, outcome.llm_calls) == (good, 2)
    assert outcome.facts.ungrounded == ()


@pytest.mark.parametrize("empty", ["<draft>\n</draft>", "<draft></draft>\n- RP-55081", "<draft>"])
def test_tags_with_nothing_in_them_mend_nothing(empty: str) -> None:
    """The draft stands, without its sentence; a first answer of that kind is an empty one."""
    good = "The order LK-4821936 arrived broken."
    outcome, said = folded(f"{good}\nThe replacement is RP-55081.", empty)
    assert (said, outcome.llm_calls) == (good, 2)
    assert outcome.facts.dropped == ("The replacement is RP-55081.",)
