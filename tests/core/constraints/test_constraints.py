"""Standing instructions: found in what users say, kept word for word, and taken back by them.

The labelled sentences are in two halves. Words and rules were tuned on the first alone; on the
second, which the same author wrote before there were any, they were then measured once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quickest import quickest
from strategies import History, histories

from chatfold import ChatContext
from chatfold.core.constraints import Words, standing
from chatfold.core.views import ItemView, MediaPart, ResultPart, SummaryPart, TextPart

TUNED_ON = (
    (
        "Never call me before ten in the morning.",
        "Always answer in French.",
        "Don't touch the production database.",
        "Please do not send anything to the customer without asking me first.",
        "Only use the staging server.",
        "From now on, write dates as YYYY-MM-DD.",
        "Make sure every commit has a ticket number.",
        "You must not delete any files.",
        "No more emojis, please.",
        "Stop apologizing all the time.",
        "Please avoid abbreviations.",
        "Keep your answers short.",
        "Use at most three bullet points.",
        "Write it without any jargon.",
        "I want you to always show the SQL before running it.",
        "And don't use any external libraries.",
        "Remember to never share my phone number.",
        "Under no circumstances may you book anything over 500 euros.",
        "You should only reply in lower case.",
        "Also, never push to main.",
        "Don't forget to run the tests after each change.",
        "If you are unsure, always ask me.",
        "Please don't suggest any restaurants with pork.",
        "Be brief from now on.",
        "In future, use metric units.",
        "I'd prefer that you never use my full name.",
        "Do not refactor code that you were not asked to change.",
        "Refunds must never exceed 100 dollars.",
        "Only contact me by email.",
        "You are not allowed to install packages.",
        "You may only read files in src/.",
        "Each reply must be under 200 words.",
        "Whenever you change a file, run the linter.",
        "Please keep the public API unchanged.",
        "Don't ever mention the competitor.",
        "Ensure that all amounts are in CHF.",
        "Never, ever use tabs.",
        "Going forward, please cc my assistant.",
        "Please stop using bullet lists.",
        "It's important that you don't change the schema.",
    ),
    (
        "I never received the parcel.",
        "It only happens at night.",
        "I don't know.",
        "Don't you think that is strange?",
        "Have you ever been to Rome?",
        "My son always forgets his password.",
        "The app doesn't start.",
        "Why do you always ask me that?",
        "I only ordered two of them.",
        "We never had this problem before.",
        "They told me not to worry.",
        "I don't have the order number with me.",
        "There is no more milk in the fridge.",
        "The train stops in Basel.",
        "It stopped working yesterday.",
        "I can't log in without my phone.",
        "At most ten people came.",
        "I've always liked blue.",
        "What happens if I don't pay?",
        "Is it possible to only pay half?",
        "She said she would never come back.",
        "The only thing I changed was the font.",
        "I was wondering if that always takes so long.",
        "Thanks, that's all I need.",
        "Please send me the invoice.",
        "Book the 9:40 to Zurich.",
        "The log says 'never mind' and then exits.",
        "I don't mind either way.",
        "Doesn't matter.",
        "It's not working and I don't get why.",
        "I don't need it anymore.",
        "You never answered my question.",
        "You always do such a good job!",
        "You only sent me one of the two files.",
        "The function never returns.",
        "Users don't like the new layout.",
        "Nobody ever replied.",
        "If I don't hear back I will call again.",
        "No, I don't think so.",
        "I'm always happy to help.",
    ),
)

UNSEEN = (
    (
        "Please never quote prices without VAT.",
        "Do NOT run migrations automatically.",
        "you must always double check the address with me",
        "dont use semicolons",
        "I only want vegetarian options.",
        "No more than two follow-up questions, please.",
        "Just make sure you don't overwrite my changes.",
        "Stop adding comments to every line.",
        "Avoid the word 'delve'.",
        "From here on out, call me Sam.",
        "Nothing gets deleted without my approval.",
        "Keep all explanations under five sentences.",
        "Only ever use flights with Lufthansa.",
        "Whatever happens, do not cancel the order.",
        "You can't use the internet for this.",
        "Please always include the tracking number when you reply.",
        "Write everything in British English from now on.",
        "We must not store any card numbers.",
        "Please refrain from making jokes.",
        "Never book a room on the ground floor; I can't stand the noise.",
        "Max 280 characters per post.",
        "Don't you dare touch the config.",
        "One more thing: always use type hints.",
        "Only two people may know about this, so don't mention it to anyone.",
        "Do everything in a branch and never commit to master directly.",
        "When you write tests, only use pytest.",
        "Please do not include any personal data in the report.",
        "For all further requests, use the new address.",
        "Use only the functions from utils.py.",
        "The budget is at most 1,200 dollars.",
        "Don't call, just text me.",
        "Make sure to keep the tone formal.",
        "Under no circumstances should the tests be skipped.",
        "I never want to see that popup again.",
        "Always, and I mean always, use HTTPS.",
        "Please reply only in Spanish.",
        "Do not, under any circumstances, share this link.",
        "Leave the header as it is and don't reformat anything.",
        "Never assume that I agree.",
        "You need to keep it below 50 MB at all times.",
    ),
    (
        "My card has never been charged.",
        "Only the first page gets printed.",
        "I don't understand the second step.",
        "Do you only ship within Europe?",
        "Didn't you say it was free?",
        "I have never used this before, sorry.",
        "The server always crashes after an update.",
        "It doesn't make sure that the file exists.",
        "He never pays on time.",
        "That was the only option left.",
        "I ordered it without a lid.",
        "It arrived without the charger.",
        "You didn't attach the file.",
        "I'd never heard of that.",
        "We don't sell those in Germany.",
        "There are at most five left in stock, the site says.",
        "I always thought so.",
        "Why don't we try tomorrow?",
        "How do I make sure that it is saved?",
        "I stopped using it last year.",
        "The button does not respond.",
        "Don't know yet.",
        "Don't worry, no rush.",
        "Never mind, I found it.",
        "Only 12 of them work.",
        "No more questions from me, thanks!",
        "I could only find one receipt.",
        "The error only shows up when I click twice.",
        "I am not allowed to enter the building.",
        "From now on it is summer, apparently.",
        "Since then it never worked again.",
        "He asked me to stop calling.",
        "My boss told me to always lock the door.",
        "It must not have been delivered.",
        "I keep getting short circuits.",
        "Please check the status of order 20417.",
        "They only accept cash.",
        "You never know.",
        "Always a pleasure!",
        "Tests pass without errors.",
    ),
)
STANDARD = {*TUNED_ON[0], *UNSEEN[0], *TUNED_ON[1], *UNSEEN[1]}


def views(*texts: str) -> Sequence[ItemView]:
    return [ItemView("user", (TextPart(text),)) for text in texts]


def told(*texts: str, earlier: Sequence[str] = ()) -> list[str]:
    return standing(views(*texts), earlier=earlier).held


# --- which sentences are instructions -------------------------------------------------------------


@pytest.mark.parametrize(("name", "labelled"), [("tuned on", TUNED_ON), ("unseen", UNSEEN)])
def test_instructions_are_told_from_statements_and_questions(
    name: str, labelled: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    """95 % of the instructions are found, and 90 % of what is found are instructions."""
    instructions, others = labelled
    found = [s for s in instructions if told(s) == [s]]
    wrong = [s for s in others if told(s)]
    assert len(found) >= 0.95 * len(instructions), set(instructions) - set(found)
    assert len(found) >= 0.90 * (len(found) + len(wrong)), wrong


@pytest.mark.parametrize("labelled", [TUNED_ON, UNSEEN])
def test_instructions_are_found_among_other_sentences(
    labelled: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    """Each is kept word for word, whatever stands around it in the message."""
    for text in labelled[0]:
        if told(text) and text.endswith("."):
            around = f"Hi there! My order is LK-20417. {text} Thanks a lot."
            assert told(around) == [text]
            assert told(f"Some wishes:\n\n1. {text}\n- Thanks\n") == [text]
            assert told(f"Some wishes:\n* Thanks\n* {text}") == [text]


def test_a_question_is_no_instruction_unless_it_asks_for_one() -> None:
    """With or without its mark."""
    assert told("Why would I never get a refund") == []
    assert told("Do you always answer in French?") == []
    assert told("Could you please only use metric units?") == [
        "Could you please only use metric units?"
    ]


def test_what_the_user_does_not_want_is_an_instruction() -> None:
    """Of the model, of anybody, of a thing; a wish of the moment is none."""
    for text in (
        "I don't want you to push to main.",
        "I don't want any emojis in replies.",
        "We don't want anyone to see the prices.",
        "I never want you to call.",
        "Don't want any emojis.",
    ):
        assert told(text) == [text]
    assert told("I don't want to bother you.", "Don't want to bother you.") == []
    assert told("Never push to tags.", "I don't want you to push to main.")[1:] == [
        "I don't want you to push to main."
    ]
    assert told("I don't want you to push to main.", "You can push to main again.") == []


def test_what_others_said_is_no_instruction() -> None:
    """Unless the user says it himself."""
    assert told("The page says: do not reload.") == []
    assert told("My boss told me: never be late.") == []
    assert told("I said: never reload the page.") == ["I said: never reload the page."]


@pytest.mark.parametrize(
    "said",
    [
        "pls never use yarn.",
        "plz don't touch the lock file.",
        "Never use yarn, ok?",
        "Don't call my office, will you?",
        "@bot never use yarn.",
        "But never again without asking!",
        "In this repo we always use pnpm.",
        "In our team we only merge on Mondays.",
        "No emojis.",
        "Short answers, no markdown please.",
        "No bullet points, please.",
        "Cite only sources from 2023 or later.",
        "Recommend only vegan places.",
        "Wait at least five minutes between calls.",
        "Use tabs, not spaces.",
        "Use pnpm not npm.",
        "Answer in French.",
        "Please reply in German.",
        "Please speak slowly.",
        "No calls before 9 am.",
        "No meetings after 5 pm, please.",
        "No text messages please.",
        "Keep my cash reserve above 5,000 euros.",
        "Prod is off limits.",
        "Actually keep it short.",
        "Show me only the first line of each mail.",
        "Use only the first floor from now on.",
        "Book nothing over 500 euros.",
    ],
)
def test_how_people_write_them_in_a_hurry(said: str) -> None:
    """Short forms, a question for consent, a mention, the custom of a place."""
    assert told(f"Hello. {said} Thanks.") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Ask me before you book anything.",
        "Please ask me before sending mails.",
        "If it costs over $500, ask me first.",
        "Check every price with me first.",
        "Wait for my OK before you pay anything.",
        "Get our approval for each transfer.",
        "Hold all payments until I confirm.",
        "Until I say otherwise, hold all payments.",
        "You need my approval for every payment.",
        "Ask me for approval before each transfer.",
        "Please ask us for our permission before you delete files.",
        "Before you pay anything tell me.",
        "Let me approve every payment first.",
        "I want to approve each booking first.",
        "Everything you write must be in French.",
        "Stick to the cheapest fare.",
        "Leave the staging server alone.",
        "Don't cancel the order yet.",
        "Please do not deploy it yet.",
    ],
)
def test_what_waits_for_the_users_consent_is_an_instruction(said: str) -> None:
    """Nobody may forget that the user wants to be asked."""
    assert told(f"Hello. {said} Thanks.") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Ask me tomorrow.",
        "Ask me first thing tomorrow.",
        "Ask me before Monday.",
        "Ask me before evening.",
        "Tell me first what it costs.",
        "Wait a moment, I'll look for the number.",
        "Wait for my mail.",
        "Hold on until I say something.",
        "Let me check with my wife first.",
        "Ask me for the number.",
        "I want to check in first.",
        "I want to check all my orders.",
        "I need to review any open invoices.",
        "Everything we ordered should arrive on Monday.",
        "Whatever you need should be in the file.",
        "I'll stick with tea.",
        "They always ask me first.",
        "I was asked to check with you first.",
        "If you need my approval, call.",
        "It was charged without asking!",
        "In this project we never had such a problem.",
        "You never close, ok?",
        "Never again!",
        "So never, ok?",
        "Never again will I order here.",
        "Wait, only 400.",
        "Wait, two at most.",
        "No emojis were in that mail.",
        "No bullet points showed up in the export.",
        "No markdown was rendered.",
        "I suggest only the first.",
        "Send only the first page.",
        "Show me only the last 5 orders.",
        "Log my blood pressure: 142 over 91 this morning.",
        "Use card 4471, not 5521.",
        "Use the blue one, not the red.",
        "Use this, not that.",
        "Use mine, not hers.",
        "No calls came in before 9 am.",
        "No meetings before 9 were booked.",
        "No emails in my inbox.",
        "No calls today.",
        "Answer in one sentence.",
        "The beach was off limits.",
        "Actually book the 10 am one.",
    ],
)
def test_requests_of_the_moment_and_complaints_are_none(said: str) -> None:
    """They ask for consent to nothing that comes later."""
    assert told(f"Hello. {said} Thanks.") == []


@pytest.mark.parametrize(
    "said",
    [
        "I'm allergic to penicillin.",
        "My daughter is allergic to nuts.",
        "We are lactose intolerant and allergic to fish.",
        "I'm vegetarian.",
        "My wife is pregnant, so no raw fish.",
        "I am a diabetic.",
        "We are two adults and one wheelchair user.",
        "My mother needs a wheelchair.",
    ],
)
def test_what_a_user_cannot_have_holds_as_an_instruction_does(said: str) -> None:
    """Whoever forgets it does harm, and it has no value by which it would be kept."""
    assert told(f"Hello. {said} Thanks.") == [said]


def test_a_question_about_an_allergy_is_none() -> None:
    """It tells nothing of the user."""
    assert told("Is he allergic to nuts?", "Who is vegetarian?") == []


def test_a_line_that_goes_on_with_a_sentence_is_of_it() -> None:
    """So an exception on the next line is not lost; it is kept on one line."""
    assert told("Hi\n- do not call me\n  or text me\r\n  unless it burns\nThanks") == [
        "do not call me or text me unless it burns"
    ]
    assert told("Never call me.\nOr text me.") == ["Never call me."]
    assert told("Never call me\n\nor text me") == ["Never call me"]
    assert told("Never call me\n- or text me") == ["Never call me"]
    assert told("Never call me\n> or text me") == ["Never call me"]
    assert told("> Never call me\nor text me, never use yarn") == ["or text me, never use yarn"]
    assert told("Never call me\nThe log is here:") == ["Never call me"]


def test_typographic_apostrophes_and_capitals_change_nothing() -> None:
    """People write on telephones."""
    assert told("DON’T TOUCH THE CONFIG.") == ["DON’T TOUCH THE CONFIG."]
    assert told("Please don’t\tcall   me.") == ["Please don’t\tcall   me."]


def test_a_sentence_does_not_end_at_an_abbreviation() -> None:
    """And quotation marks are no part of a word."""
    text = "You cannot use commands that wait (e.g. python or vim), really."
    assert told(f"Hello. {text} Thanks.") == [text]
    assert told("'Never' call me.") == ["'Never' call me."]


@pytest.mark.parametrize(
    "said",
    [
        "Never call Mr. Smith before ten.",
        "Do not share my file with Dr. Weber.",
        "Please address me as Dr. Wu from now on.",
        "Never pay invoice No. 5512.",
        "Never ask J. Smith for approval.",
        "Never ship to Acme Inc. in Berlin.",
        "Never book St. Gallen trains, please.",
    ],
)
def test_a_name_behind_an_abbreviation_is_part_of_the_sentence(said: str) -> None:
    """Without it the instruction would be about nobody, or about everybody."""
    assert told(f"Hello. {said} Thanks.") == [said]


def test_a_sentence_ends_behind_what_may_be_a_word() -> None:
    """Nor does it go on because the next one begins with a small letter."""
    assert told("Keep it under 500 ms. Can you do that?") == ["Keep it under 500 ms."]
    assert told("Never touch prod, staging etc. Can you?") == ["Never touch prod, staging etc."]
    assert told("Why? I said no. Never call me. then again") == ["Never call me."]


def test_a_clause_begins_behind_each_mark() -> None:
    """Also where two stand side by side, and where nothing but a tag is left."""
    assert told("Go;; never push to main.") == ["Go;; never push to main."]
    assert told(", ok?") == []


def test_one_word_alone_is_an_answer() -> None:
    """It says nothing to keep to."""
    assert told("Never!", "Always.", "Only", "never") == []


def test_quoted_lines_and_code_are_not_what_the_user_says() -> None:
    """What is pasted is not asked for."""
    text = "> Never reply to this mail.\n```\n# never change this\n```\nDon't touch the config."
    assert told(text) == ["Don't touch the config."]
    assert told("```\nnever change this") == []
    assert told("~~~\nnever change this\n~~~\nDon't touch it.") == ["Don't touch it."]


# --- where they come from -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        ItemView("assistant", (TextPart("Never call me."),)),
        ItemView("tool", (ResultPart("1", "get", "Never call me."),)),
        ItemView("user", (ResultPart("1", "get", "Never call me."),)),
        ItemView("user", (SummaryPart("Never call me."),)),
        ItemView(
            "user", (ResultPart("1", "get", "Never."), MediaPart("text", text="Never call me."))
        ),
        ItemView("tool", (TextPart("Never call me."),)),
        ItemView("system", (TextPart("Never call me."),)),
        ItemView("unknown", (TextPart("Never call me."),)),
    ],
)
def test_nobody_but_the_user_gives_instructions(view: ItemView) -> None:
    """Results, files, summaries and the model's own words are no source."""
    assert standing([view]).held == []


@settings(max_examples=25)
@given(st.sampled_from(sorted(TUNED_ON[0])), histories())
def test_no_result_of_any_history_is_a_source(sentence: str, history: History) -> None:
    """Whatever shape it has, an instruction in a result is not the user's."""
    ctx = ChatContext(history.items, shape=history.shape)
    before = standing(ctx.views()).held
    poisoned = [
        view._replace(
            parts=tuple(
                part._replace(text=sentence) if type(part) is ResultPart else part
                for part in view.parts
            )
        )
        for view in ctx.views()
    ]
    assert standing(poisoned).held == before


def test_a_secret_is_cleaned_before_it_is_read() -> None:
    """Neither what is returned nor what it is compared with holds it."""
    text = "Never send hunter2 to anybody."
    cleaned = standing(views(text, text), clean=lambda t: t.replace("hunter2", "[secret]")).held
    assert cleaned == ["Never send [secret] to anybody."]
    at_the_end = f"{'Hello there. ' * 15_383}Ok ok. Never use hunter2 to anybody."
    assert at_the_end[:200_000].endswith("hunt")
    assert "hunt" not in str(
        standing(views(at_the_end), clean=lambda t: t.replace("hunter2", "-")).held
    )


# --- order, number and size -----------------------------------------------------------------------


def test_each_is_returned_once_and_what_is_said_again_is_new() -> None:
    """Other capitals and points make no other instruction."""
    one, other = "Never call me before ten.", "Always answer in French."
    assert told(one, other, "never call me before ten") == [other, "never call me before ten"]
    assert told("Hello", earlier=[one, other, one]) == [one, other]


def test_a_long_one_is_cut_on_a_word() -> None:
    """300 characters hold any instruction, and say when they do not."""
    (cut,) = told("Never call me " + "before ten " * 60)
    assert len(cut) <= 300
    assert cut.endswith(("before…", "ten…"))
    assert told("Never call me " + "x" * 5_000) == []


def test_of_a_long_one_the_clause_that_asks_is_kept() -> None:
    """Wherever it stands: at the beginning, at the end, or between."""
    filler = ", as I told your colleagues on the phone and in the shop downtown last spring" * 4
    rule = "please never call me before ten"
    (last,) = told(f"I know that I have asked for it before{filler}, but {rule}.")
    assert last.endswith(f", but {rule}.")
    assert last.startswith("…")
    (between,) = told(f"I know that I have asked before{filler}, but {rule}{filler}.")
    assert between.startswith("…never call me before ten, as I told")
    assert between.endswith("…")
    (first,) = told(f"Never call me before ten{filler}.")
    assert first.startswith("Never call me before ten")
    for kept in (last, between, first):
        assert len(kept) <= 300
        assert told("Hello.", earlier=[kept]) == [kept]


def test_the_newest_forty_are_kept() -> None:
    """A list of rules is bounded, over folds too."""
    rules = [f"Never book room {number}." for number in range(60)]
    assert told(*rules) == rules[-40:]
    assert told(*rules[50:], earlier=rules[:50]) == rules[-40:]


@given(st.lists(st.sampled_from(sorted(STANDARD)), max_size=12), st.integers(0, 12))
def test_in_two_folds_is_as_in_one(sentences: list[str], cut: int) -> None:
    """What an earlier call returned stands for the items that it read."""
    first = told(*sentences[:cut])
    assert told(*sentences[cut:], earlier=first) == told(*sentences)


@given(st.lists(st.text(max_size=200), max_size=4), st.lists(st.text(max_size=50), max_size=4))
def test_any_text_can_be_read(said: list[str], earlier: list[str]) -> None:
    """What is returned was said, or was there."""
    held = told(*said, earlier=earlier)
    assert len(held) <= 40
    assert all(text in earlier or any(text in words for words in said) for text in held)


# --- taking back ----------------------------------------------------------------------------------

NO_CALLS = "Never call me before ten in the morning."
NO_EMOJIS = "No more emojis, please."
DATES = "From now on, write dates as YYYY-MM-DD."
RULES = [NO_CALLS, NO_EMOJIS, DATES, "Always cc my assistant Kim."]


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("You can call me before ten again.", NO_CALLS),
        ("Forget what I said about emojis.", NO_EMOJIS),
        ("You can use emojis again.", NO_EMOJIS),
        ("Ignore my earlier rule on dates, please.", DATES),
        ("Never mind the cc to Kim.", "Always cc my assistant Kim."),
        ("You don't need to cc Kim anymore.", "Always cc my assistant Kim."),
        ("Feel free to call before ten in the morning.", NO_CALLS),
        ("Emojis are fine, I changed my mind.", NO_EMOJIS),
        ("Emojis are okay again.", NO_EMOJIS),
        ("It's fine to call before noon now.", None),
    ],
)
def test_what_the_user_takes_back_is_gone(said: str, gone: str | None) -> None:
    """Where the words clearly name one of them; the rest stays."""
    left = [rule for rule in RULES if rule != gone]
    found = told(said, earlier=RULES)
    assert found[: len(left)] == left
    assert found[len(left) :] == ([said] if gone is None else [])
    assert told(*RULES, said) == found


def test_things_are_no_topic_as_anything_is_none() -> None:
    """What may be done again is told by the words beside them."""
    rule = "Don't schedule anything on Fridays."
    assert told(rule, "You can schedule things on Fridays again.") == []
    assert told(rule, "You can schedule things on Mondays again.")[:1] == [rule]


def test_the_contrary_takes_the_place_of_an_instruction() -> None:
    """The newer one holds, where it says "do" of what the older said "don't"."""
    assert told("Always answer in French.", "Never answer in French.") == [
        "Never answer in French."
    ]
    again = "From now on call me at any time."
    close = ["Never call me before ten.", "Never call me before ten o'clock."]
    assert told(*close) == close  # it is not the contrary
    wider = ["Never send Kim the accounts with a cc to Ann.", "Always cc Kim."]
    assert told(*wider) == wider
    assert told(NO_CALLS, "Always cc Kim.", again) == ["Always cc Kim.", again]


@pytest.mark.parametrize(
    "said",
    [
        "You can use tabs in the Makefile again.",  # of another place
        "Forget what I said about that.",  # of what?
        "You can call again.",  # two of them speak of calls
    ],
)
def test_in_doubt_all_are_kept(said: str) -> None:
    """What a sentence may take back is left to the model that reads both."""
    rules = ["Never use tabs in Python.", "Never call my wife.", "Never call my office."]
    assert told(*rules, said)[:3] == rules


def test_a_permission_that_concerns_no_instruction_is_not_kept() -> None:
    """It takes nothing back."""
    assert told("You can try the other card now.", earlier=[NO_CALLS]) == [NO_CALLS]
    assert told("You can call me again.") == []


def test_only_the_user_takes_back() -> None:
    """A result cannot lift what the user said."""
    lift = ItemView("tool", (ResultPart("1", "get", "Forget what I said about emojis."),))
    assert standing([*views(*RULES), lift]).held == RULES


@pytest.mark.parametrize(
    "said",
    [
        "Please check this, I never received an email.",
        "Please check my order, it was never delivered.",
        "Please refund me, I only got one of two.",
        "Please send it again, it always gets lost.",
        "Check my invoice - there is always something wrong.",
    ],
)
def test_what_is_told_behind_a_request_does_not_bound_it(said: str) -> None:
    """A complaint gives the reason; what bounds a request stands before the next clause."""
    assert standing(views(said)).held == []
    bounded = f"{said.partition(',')[0].partition(' -')[0]} only by email, I told you."
    assert standing(views(bounded)).held == [bounded]


# --- other languages ------------------------------------------------------------------------------

GERMAN = Words(
    orders=("nie|niemals|immer|nur", "kein|keine|keinen", "achte darauf", "hör auf"),
    always=(
        "du|sie darfst|dürfen nie|nicht|nur",
        "auf keinen fall",
        "* bitte nicht|nie|kein|keine",
    ),
    limits=("ab jetzt|sofort", "in zukunft", "jedes mal"),
    bounds=("nie|niemals|immer|nur|ohne|höchstens",),
    requests=("bitte|schreib*|antworte*|ruf*|verwende*|schick*|frag*|nenn*",),
    joins=("und|aber|oder|bitte",),
    fillers=("also|auch|dann",),
    exceptions=("nie|nur *[!l]t", "nur der|die|das|ein|eine|noch"),
    reports=("er|sie sagt|sagte",),
    questions=("warum|wieso|wer|wo|wann",),
    takes_back=("vergiss * über|von|mit", "du|sie darfst|dürfen * wieder"),
    negations=("nie|niemals|nicht|kein|keine|keinen|ohne",),
    common=(
        "der|die|das|den|dem|und|mir|mich|du|sie|darfst|wieder|bitte|nie|immer|vor|vergiss|was|das|über|verwenden",
    ),
)


@pytest.mark.parametrize(
    "said",
    [
        "Nie vor zehn Uhr anrufen.",
        "Bitte keine Emojis.",
        "Ab jetzt antworte auf Französisch.",
        "Antworte immer mit höchstens drei Sätzen.",
        "Du darfst nie etwas löschen.",
        "Und auf keinen Fall die Produktion anfassen!",
        "Ruf mich bitte nicht an.",
    ],
)
def test_another_language_is_a_matter_of_words(said: str) -> None:
    """German, as a user would add it."""
    assert standing(views(said), words=GERMAN).held == [said]


def test_the_end_of_a_sentence_may_stand_last_among_other_words() -> None:
    words = Words(orders=("keine _ *e bitte|.",))
    for said in ("Keine Anrufe.", "Keine Anrufe, bitte!", "Keine Anrufe bitte am Sonntag"):
        assert standing(views(said), words=words).held == [said]
    assert standing(views("Keine Anrufe kamen."), words=words).held == []
    words = Words(orders=("keine * bitte|.",))
    assert standing(views("Keine langen Anrufe bitte."), words=words).held != []
    with pytest.raises(ValueError, match="goes on behind the end"):
        Words(orders=("keine *e bitte|. heute",))


def test_another_language_has_its_own_exceptions_and_its_own_taking_back() -> None:
    """Statements and questions are none, and what is taken back is gone."""
    others = ("Das Paket kam nie an.", "Warum antwortet nie jemand?", "Er sagte, nie wieder Bahn.")
    assert standing(views(*others), words=GERMAN).held == []
    rules = ["Nie vor zehn Uhr anrufen.", "Bitte keine Emojis."]
    lifted = views(*rules, "Du darfst Emojis wieder verwenden.", "Vergiss das über Emojis.")
    assert standing(lifted, words=GERMAN).held == rules[:1]


def test_words_may_be_few() -> None:
    """Only the first kind has to be given; phrases are read as they are documented."""
    assert standing(views("nunca me llames", "Always."), words=Words(("nunca",))).held == [
        "nunca me llames"
    ]
    assert standing(views("Ach nunbitte nicht."), words=Words(("*bitte",))).held == []
    assert standing(views("Nunbitte nicht."), words=Words(("*bitte",))).held == ["Nunbitte nicht."]
    few = Words(("stop *ing", "book # rooms", "take [ab]* only", "say * never", "go up|down"))
    yes = (
        "stop talking now",
        "book 12 rooms",
        "take air only",
        "say it to me never",
        "go down now",
    )
    no = ("stop it now", "book two rooms", "take him only", "say a b c d e never", "go left now")
    assert standing(views(*yes, *no), words=few).held == list(yes)


HOSTILE: dict[str, Callable[[int], str]] = {
    "fillers": lambda n: "and please also " * (n // 16),
    "commas": lambda n: ",;:" * (n // 3),
    "dashes": lambda n: " - " * (n // 3),
    "beginnings": lambda n: "you you you you " * (n // 16),
    "never": lambda n: "never, " * (n // 7),
    "fences": lambda n: "```\n" * (n // 4),
    "lines": lambda n: "Never call me.\n" * (n // 15),
    "instructions": lambda n: "".join(
        f"Never call {i}. You can call {i}\n" for i in range(n // 30)
    ),
    "words": lambda n: "x" * n,
    "spaces": lambda n: " " * n + ".",
    "bullets": lambda n: "1. " * (n // 3),
    "quotes": lambda n: '."' * (n // 2),
    "points": lambda n: ". " * (n // 2),
    "openers": lambda n: "ok, please, " * (n // 12),
    "clauses": lambda n: "Never do x, you can do x again, " * (n // 32),
    "leads": lambda n: ": \n" * (n // 3),
    "quotations": lambda n: "'a ‘b “" * (n // 7),
    "rules": lambda n: "---" + "a" * n,
    "broken lines": lambda n: "never\nor " * (n // 9),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_the_length_of_a_text(hostile: Callable[[int], str]) -> None:
    """Sixteen times the text takes nowhere near 256 times as long."""

    def seconds(size: int) -> float:
        text = hostile(size)
        return quickest(lambda: told(text))

    assert seconds(64_000) < 80 * max(seconds(4_000), 0.0005)
