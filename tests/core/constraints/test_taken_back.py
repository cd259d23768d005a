"""What takes an instruction back, and what is about something else and leaves it.

Not here: which sentences are instructions (`test_constraints`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.constraints import Words, standing
from chatfold.core.constraints.languages.english import ENGLISH
from chatfold.core.views import ItemView, TextPart


def told(*texts: str, words: Words = ENGLISH, earlier: Sequence[str] = ()) -> list[str]:
    views = [ItemView("user", (TextPart(text),)) for text in texts]
    return standing(views, words=words, earlier=earlier).held


# --- about something else -------------------------------------------------------------------------

OTHER_THINGS = [
    # paths, hosts, names, numbers
    ("Never delete files in /srv/data/prod/orders.", "Always delete files in /srv/data/prod/tmp."),
    (
        "Never restart the payment service on the db-1 host.",
        "Always restart the payment service on the db-2 host.",
    ),
    (
        "Always copy Anna Berg on mails about the Oslo contract.",
        "Never copy Paul Berg on mails about the Oslo contract.",
    ),
    (
        "Never email invoices of the Berlin office to Dana Miller.",
        "Always email invoices of the Berlin office to Dana Weber.",
    ),
    ("Never push to the branch release-1.2.", "Always push to the branch release-1.3."),
    ("Never open ticket 20417 on your own.", "Always open ticket 20418 on your own."),
    ("Never send the offer to a@example.com.", "Always send the offer to b@example.com."),
    ("Never archive mails older than 30 days.", "Always archive mails older than 90 days."),
    ("Never write into /data/Prod of that box.", "Always write into /data/prod of that box."),
    ("Never delete /srv/log of that box.", "Always delete /srv/logs of that box."),
    ("Never use C++ for the tools.", "Always use C# for the tools."),
    ("Never email Dana Martin.", "Always email Dana Martins."),
    # common nouns that look like one another
    ("Never change the form on the site.", "Always change the format on the site."),
    ("never email maria.", "always email marie."),
    # a narrower or a wider thing
    ("Never reply to Kim.", "Always reply to Kim in French."),
    ("Never share my phone number with recruiters.", "Always share my phone number."),
    # the same words of other things
    (
        "Never copy files from staging to production.",
        "Always copy files from production to staging.",
    ),
    ("Never ask Anna before Ben.", "Always ask Ben before Anna."),
    ("Never send mails from the sales account.", "Always send mails to the sales account."),
    ("Never use my card.", "Always use your card."),
    ("Never use the users table.", "Always drop the users table."),
    # not the contrary
    ("Never merge without tests.", "Always merge with tests."),
]


@pytest.mark.parametrize(("first", "second"), OTHER_THINGS)
def test_the_contrary_of_another_thing_takes_nothing_back(first: str, second: str) -> None:
    """What differs is the object, however many words are the same, and in either order."""
    assert told(first, second) == [first, second]
    assert told(second, first) == [second, first]
    assert told(second, earlier=[first]) == [first, second]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Never delete files in /srv/prod/orders.", "You may delete files in /srv/prod/tmp again."),
        ("Never delete files in /srv/prod.", "You may delete files in /srv/prod/tmp again."),
        ("Never delete files in /srv/prod/tmp.", "You may delete files in /srv/prod again."),
        ("Never restart db-1.", "Actually do restart db-2."),
        ("Never email Maria.", "You can email Marie again."),
        ("Never email Dana Martin.", "Feel free to email Dana Martins."),
        ("never open ticket 20417", "you can open ticket 20418 again"),
        ("Never mention Falcon to Kim.", "Forget what I said about Falcon and Eagle."),
        (
            "Never copy files from staging to prod.",
            "You may copy files from prod to staging again.",
        ),
        ("Never take mails of the sales account.", "You can take the mails of sales again, too."),
        ("Never send mails from sales.", "You can send mails to sales again."),
        ("Never turn off the heater.", "You can turn on the heater again."),
        ("Never use my card.", "You can use your card again."),
        ("Never use tabs.", "You can use tabs in the Makefile again."),
        ("Always cc Anna Berg.", "You don't need to cc Paul Berg anymore."),
        # of one of several
        ("Never delete /srv/tmp or /srv/data.", "You may delete /srv/tmp again."),
        ("Never delete /srv/a, /srv/b.", "You may delete /srv/b again."),
        ("Never restart db-1 on the db-2 host.", "Feel free to restart db-1."),
        ("Never delete /srv/tmp or /srv/data.", "Forget what I said about /srv/data."),
        ("Never call Dana or Joe.", "You may call Dana again."),
        ("Never read Kim's or Dana's mails.", "You may read Kim's mails again."),
        ("Never email Dana, Joe or Kim.", "You can email Dana again."),
        ("Never use tabs, emojis or bold text.", "You can use tabs again."),
        ("Never push to main, and always ask Kim.", "You can push to main again."),
    ],
)
def test_what_is_allowed_of_another_thing_takes_nothing_back(rule: str, said: str) -> None:
    """It stands behind the instruction, so that who reads both can tell."""
    assert told(rule, said) == [rule, said]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        # for once, of a part of it
        ("Never deploy on Fridays.", "You can deploy now."),
        ("Never delete files in prod.", "It's ok to delete the files."),
        ("Always cc Kim on offers.", "You don't need to cc Kim."),
        # not the contrary of it
        ("Never deploy on Fridays.", "We don't deploy on Fridays anymore."),
        ("Never delete the logs.", "We don't want to delete the logs."),
        ("Always cc Kim.", "You can cc Kim again."),
        ("Always restart db-1 on Mondays.", "Actually do restart db-1 on Mondays."),
        ("Never restart db-1 on Mondays.", "Never restart db-1 at any time."),
        ("Never delete x.sql or y.sql.", "You may not delete x.sql now."),
        ("Never mention Kim or Tom.", "I've changed my mind, never mention Tom."),
        # asked
        ("Never call me before ten.", "So you can call me before ten again?"),
        ("Never use emojis.", "Did you forget what I said about emojis?"),
    ],
)
def test_what_may_not_be_a_taking_back_is_none(rule: str, said: str) -> None:
    """A permission for once, the same in other words, a question: the instruction stays."""
    assert told(rule, said) == [rule, said]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Never use C++.", "Never use C#."),
        ("Never use 😀.", "Never use 🎉."),
        ("Never touch .env.", "Never touch env."),
        ("Never delete /srv/A.", "Never delete /srv/a."),
        ("Never go below -5.", "Never go below 5."),
    ],
)
def test_signs_and_capitals_of_a_value_make_another_instruction(first: str, second: str) -> None:
    """Both are kept; points and quotation marks around a word are no part of it."""
    assert told(first, second) == [first, second]
    again = f"**{first.removesuffix('.')}**!"
    assert told(first, again) == [again]


def test_what_is_said_again_is_read_as_it_is_said_then() -> None:
    """A name is one by its capital."""
    rules = ["Never call Tom.", "Never email Marks."]
    said = "you can email mark again"
    assert told("never email marks", *rules, said) == [*rules, said]


def test_an_amended_number_stands_behind_the_old_one() -> None:
    """The newer one is read last."""
    rules = ["Use at most 3 items.", "Use at most 5 items."]
    assert told(*rules) == rules


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Keep it at 20.", "Actually keep it at 18."),
        ("Keep it at 20.", "Actually, always keep it at 18, not 20."),
        ("Keep the pool size at 20.", "Actually set the pool size at 18."),
        ("Keep the pool size at 20.", "No, keep the pool size at 18, not 20."),
        ("Keep answers under 100 words.", "Sorry, keep answers under 150 words."),
    ],
)
def test_a_number_that_is_told_anew_takes_the_place_of_the_old_one(rule: str, said: str) -> None:
    assert told(rule, said) == [said]
    assert told(rule, said, said) == [said]


@pytest.mark.parametrize(
    ("rule", "said", "is_kept"),
    [
        ("Never use port 8080.", "Actually, never use port 9090.", True),
        ("Never use port 8080.", "Actually, never use port 9090, not 8080.", True),
        ("Never use port 8080.", "Actually use port 9090.", False),
        ("Always cc a@x.com.", "Actually, always cc b@x.com.", True),
        ("Keep it at 20.", "And keep it at 18.", True),
        ("Keep the fan at 3 and the stove at 20.", "Actually keep the stove at 18.", True),
        ("Keep the budget under 500.", "Actually raise the budget by 50.", False),
        ("Keep it at 20.", "Actually book the table at 18.", False),
        ("Keep it at 20.", "Actually I am 18.", False),
        ("Keep the pool size at 20.", "Actually, is the pool size at 18?", False),
    ],
)
def test_another_thing_with_a_number_leaves_the_old_one(
    rule: str, said: str, is_kept: bool
) -> None:
    assert told(rule, said) == [rule, *([said] if is_kept else [])]


def test_a_number_that_may_be_of_two_instructions_leaves_both() -> None:
    rules = ["Keep the pool size at 20.", "Keep the pool size at 30."]
    assert told(*rules, "Actually set the pool size at 18.")[:2] == rules


LOOK_ALIKE = """
    /srv/a /srv/as /srv/a/b /srv/A /srv/ab ~/x x .env env *.log log https://x.com https://y.com
    db-1 db-2 db-12 10.0.0.1 10.0.0.11 v1.2 v1.20 LK-204 LK-205 #204 204 2040 2,040 50% $50
    a@x.com a@x.co Anna Anne Annas Berg Bergen Oslo main maintenance C C++ C#
"""
VALUES = st.sampled_from(LOOK_ALIKE.split())
DOING = st.sampled_from(("touch", "send mails about", "restart the payment service on the host"))
CONTRARY = st.sampled_from(
    ("Always {}.", "You may {} again.", "Feel free to {}.", "Actually do {}.", "Please do {} now.")
)


@given(DOING, VALUES, VALUES, CONTRARY)
def test_a_ban_is_taken_back_of_its_own_object_alone(
    doing: str, one: str, other: str, contrary: str
) -> None:
    """Whatever the values are, however close they look."""
    ban = f"Never {doing} {one}."
    found = told(ban, contrary.format(f"{doing} {other}"))
    if one != other:
        assert ban in found
    elif "now" not in contrary:
        assert ban not in found


# --- the same thing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Never delete files in /srv/a.", "You may delete files in /srv/a again."),
        ("Never restart the payment service on the db-1 host.", "Actually do restart the service."),
        ("Never restart db-1.", "Actually, you can restart db-1."),
        ("Always copy Anna Berg on mails.", "You don't need to copy Anna Berg anymore."),
        ("Always copy Anna Berg on mails.", "You no longer need to copy Anna Berg."),
        ("Always copy Anna Berg on mails.", "You needn't copy Anna on the mails anymore."),
        ("Always copy Anna Berg on the Oslo mails.", "Forget what I said about the Oslo mails."),
        (
            "Never email invoices of Acme to Dana.",
            "You can email the invoices of Acme to Dana again.",
        ),
        ("Never email invoices of Acme to Dana.", "Feel free to email invoices to Dana."),
        ("Never mention the price.", "No, you can mention the price again."),
        ("Never mention the price.", "It's fine to mention prices."),
        ("Never mention the price.", "You may mention the price now."),
        ("Never deploy without asking me.", "You no longer need to ask me."),
        ("Never skip the tests.", "You can skip the tests again."),
        ("Always run the tests.", "You can skip to run the tests again."),
        ("Never use emojis.", "Forget the no emojis rule."),
        ("Never use emojis.", "Ignore my rule about emojis, please."),
        ("Never use emojis.", "The rule about emojis no longer applies."),
        ("Never call https://api.example.com.", "You may call https://api.example.com again."),
        ("Stop sending me mails.", "You can send me mails again."),
        ("Stop committing to main.", "You may commit to main again."),
        ("Never copy the list.", "Copying the list is okay now, I changed my mind."),
        ("Drafts must never be published.", "You may publish drafts again."),
        ("Never read Kim's mails.", "Forget what I said about Kim."),
        ("**Never touch the config.**", "You can touch the `config` again."),
        ("DON’T SEND MAILS.", "You can send a mail again."),
        ("Stop running db-1.", "You can run db-1 again."),
        ("Never use tabs or emojis.", "You can use tabs and emojis again."),
        ("Never call before 10 am or after 8 pm.", "You can call again."),
    ],
)
def test_a_taking_back_may_be_in_other_words_and_leave_some_out(rule: str, said: str) -> None:
    """All that it names is what the instruction is about."""
    other = "Never book a room on the ground floor."
    assert told(rule, other) == [rule, other]
    assert told(rule, other, said) == [other]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Never delete files in /srv/a.", "Always delete the files in /srv/a."),
        ("Never answer in English.", "Only answer in English."),
        ("Stop adding comments to every line.", "Please always add comments to every line."),
        ("Don't use tabs.", "From now on, use tabs."),
        ("Always use tabs.", "No more tabs, please."),
        ("You shouldn't call Kim.", "You must always call Kim."),
        ("Never deploy without approval.", "Always deploy without approval."),
    ],
)
def test_the_contrary_of_the_very_same_thing_takes_its_place(rule: str, said: str) -> None:
    """In whatever words "do" and "don't" are said."""
    assert told(rule) == [rule]
    assert told(rule, said) == [said]


def test_of_what_touches_no_instruction_nothing_is_kept() -> None:
    """It has nothing to take back."""
    rule = "Never mention Falcon."
    for said in ("Forget what I said about Eagle.", "Forget what I said about that."):
        assert told(rule, said) == [rule]


def test_of_two_that_may_be_meant_the_one_of_the_same_order_is() -> None:
    """The other way round is another thing."""
    there, back = "Never move data from A1 to B2.", "Never move data from B2 to A1."
    assert told(there, back, "You may move data from B2 to A1 again.") == [there]


# --- spoken of ------------------------------------------------------------------------------------

NO_DELETING = "Never delete my backups."
NO_PUSHING = "Never push to main."
NO_PAYING = "Never pay invoices from Acme."
PAY_AGAIN = "You can pay invoices from Acme again."


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        # complained of
        (NO_DELETING, "You always forget what I said about backups."),
        (NO_DELETING, "Now you always ignore what I told you about backups!"),
        (NO_DELETING, "You never drop what I said about backups."),
        # denied
        (NO_PUSHING, "I never said you can push to main again."),
        (NO_PUSHING, "I never said, you can push to main again."),
        (NO_PUSHING, "I don't want it, you can push to main again."),
        (NO_DELETING, "It's not that you may delete my backups again."),
        (NO_PUSHING, "I never said, always push to main."),
        ("Always make backups.", "Don't forget what I said about backups."),
        ("Always make backups.", "Never forget what I said about backups."),
        ("Never use emojis.", "No emojis, I changed my mind."),
        ("Never use emojis.", "You said the rule about emojis no longer applies."),
        # what another said
        (
            "Always ask me before paying.",
            "You said you don't need to ask me before paying anymore!",
        ),
        (NO_PUSHING, "You said, you can push to main again."),
        (NO_PUSHING, "You can push to main again, you said."),
        (NO_PUSHING, "You said you must always push to main."),
        (NO_PUSHING, "You said: always push to main."),
        # on a condition
        (NO_PUSHING, "You can push to main again if I say so."),
        (NO_PUSHING, "Make sure it's ok to push to main."),
        (NO_PUSHING, "Then you can push to main again."),
    ],
)
def test_a_taking_back_that_is_only_spoken_of_is_none(rule: str, said: str) -> None:
    """It has to begin its clause, and nothing around may say that it is none."""
    assert told(rule, said) == [rule, said]
    assert told(said, earlier=[rule]) == [rule, said]


PASTED = [
    "Look at this mail:\nHi! {}\nBye",
    "Look at this mail:\n\n{}",
    "This came: well. {}",
    "Kim wrote：{}\n{}",
    "Subject: Payment\nFrom: a@example.com\n\n{}",
    "{}\n\nFrom: a@example.com\nTo: b@example.com\nAll is well.",
    "Dear Kim,\n{}",
    "Look at this.\nHello Kim! {}",
    "Look at this. Hi! {}",
    "{}\nBest regards\nKim",
    "{}\n> When can we pay?",
    "{}\n--- Original message ---\nWhen can we pay?",
    "{}\n________________\nWhen can we pay?",
    'They sent "Well. {} Bye."',
    "They sent “Well. {} Bye.”",
    "They sent „Well. {} Bye.“",
    "They sent «Well. {} Bye.»",
    "They sent 'Don't worry. {} Bye.'",
    'They sent "Well.\n\n{}',
    '"{}"',
    "| {} |\nThis came:\n{}",
]


@pytest.mark.parametrize("pasted", PASTED)
@pytest.mark.parametrize(
    "lift", [PAY_AGAIN, "Always pay invoices from Acme.", "Forget the rule on Acme."]
)
def test_what_may_be_pasted_takes_nothing_back(pasted: str, lift: str) -> None:
    """Anybody may have written it; what it asks for is kept, in doubt."""
    text = pasted.replace("{}", lift)
    assert told(NO_PAYING, text)[0] == NO_PAYING
    assert told(text, earlier=[NO_PAYING])[0] == NO_PAYING
    assert told(NO_PAYING, lift)[:1] != [NO_PAYING]


def test_what_is_pasted_may_be_in_a_part_of_its_own() -> None:
    """A message is read as one."""
    one, other = TextPart("Look at this mail:"), TextPart(PAY_AGAIN)
    rule = ItemView("user", (TextPart(NO_PAYING),))
    assert standing([rule, ItemView("user", (one, other))]).held == [NO_PAYING, PAY_AGAIN]
    assert standing([rule, ItemView("user", (other, one))]).held == []
    assert standing([rule, ItemView("user", (one,)), ItemView("user", (other,))]).held == []


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "Hi! {}",
        "Thanks. {}\n\nNow go on.",
        "Use \"x\" and the dog's name, not 'y'. {}",
        "{} These are open:\n- two",
        "Look at this code:\n\n```\nx = 1\n```\n{}",
        "At 10:30 it was done. {}",
        "- Go on.\n- {}",
    ],
)
def test_what_the_user_says_around_it_lets_a_taking_back_stand(said: str) -> None:
    """A greeting in the same line, words in quotation marks, code, a colon behind it."""
    assert told(NO_PAYING, said.replace("{}", PAY_AGAIN)) == []


@pytest.mark.parametrize(
    "said",
    [
        "Yes, you can push to main again.",
        "Ok fine, you can push to main again!",
        "No, from now on you can push to main again.",
        "Actually, please forget what I said about main.",
        "I'd like you to forget what I said about main.",
        "I changed my mind, you can push to main again.",
        "No - you can push to main again.",
        "That's fine, you can push to main again.",
        "It's fine to push to main.",
        "Pushing to main is fine again.",
        "What I said about main no longer applies.",
        "The rule to never push to main no longer applies.",
        "You can push to main again if you like.",
    ],
)
def test_a_taking_back_may_stand_behind_words_that_open_it(said: str) -> None:
    """Or behind a clause that denies nothing."""
    assert told(NO_PUSHING, said) == []


# --- other languages ------------------------------------------------------------------------------

GERMAN = Words(
    orders=("nie|niemals|immer|nur", "lösche|ruf|verschiebe|schick * nie|nicht|immer"),
    takes_back=("vergiss * über|von",),
    negations=("nie|niemals|nicht|kein|keine|ohne",),
    common=(
        "der|die|das|den|in|auf|an|nie|niemals|immer|nicht|du|darfst|wieder|jetzt|von|nach|vergiss|über",
    ),
    allows=("du darfst * * wieder",),
    permits=("du darfst * * jetzt",),
    contrasts=("von|nach",),
    endings=("|n|en|t", "e|en|st|t"),
)
FEW = Words(
    orders=("nunca|siempre", "nie|immer"),
    negations=("nunca|nie",),
    common=("nunca|siempre|nie|immer",),
)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Nie Dateien in /srv/prod/orders löschen.", "Immer Dateien in /srv/prod/tmp löschen."),
        (
            "Nie den Dienst auf db-1 neu starten.",
            "Du darfst den Dienst auf db-2 wieder neu starten.",
        ),
        ("Schick Anna Berg nie Rechnungen.", "Schick Paul Berg immer Rechnungen."),
        ("Schick Anna Berg nie Rechnungen.", "Du darfst Paul Berg Rechnungen wieder schicken."),
        ("Nie Post von Berlin bearbeiten.", "Immer Post nach Berlin bearbeiten."),
        ("Nie Post von Berlin bearbeiten.", "Du darfst Post von Berlin nie wieder bearbeiten."),
        ("Nie freitags etwas löschen.", "Du darfst etwas jetzt löschen."),
    ],
)
def test_in_german_another_thing_takes_nothing_back(rule: str, said: str) -> None:
    """The rule is one of words, not of English."""
    assert told(rule, said, words=GERMAN) == [rule, said]


@pytest.mark.parametrize(
    "said",
    [
        "Du darfst die Dateien in /srv/a wieder löschen.",
        "Du darfst die Dateien in /srv/a jetzt löschen.",
        "Vergiss das über Dateien in /srv/a.",
    ],
)
def test_in_german_the_same_thing_is_taken_back(said: str) -> None:
    """Also where the verb is at the end and in another form."""
    rules = ["Lösche Dateien in /srv/a nie.", "Lösche Dateien in /srv/b nie."]
    assert told(*rules, words=GERMAN) == rules
    assert told(*rules, said, words=GERMAN) == rules[1:]


@pytest.mark.parametrize(
    "said",
    [
        "Ich sage nicht, du darfst Dateien in /srv/a wieder löschen.",
        "Nie vergiss das über Dateien in /srv/a.",
        "Sieh dir das an:\nDu darfst die Dateien in /srv/a wieder löschen.",
    ],
)
def test_in_german_what_is_only_spoken_of_takes_nothing_back(said: str) -> None:
    """Where a clause begins is not a matter of words."""
    words = replace(GERMAN, common=(*GERMAN.common, "ich|sage"))
    rule = "Lösche Dateien in /srv/a nie."
    assert rule in told(rule, said, words=words)


def test_another_language_has_its_own_openers_hedges_and_letters() -> None:
    """Each is found as it is documented."""
    words = replace(GERMAN, openers=("ja|doch",), hedges=("du sagtest",), letters=("liebe|lieber",))
    rule, lift = "Lösche Dateien in /srv/a nie.", "du darfst Dateien in /srv/a wieder löschen."
    assert told(rule, f"Ja, {lift}", words=words) == []
    assert rule in told(rule, f"Ja, {lift}", words=GERMAN)
    assert rule in told(rule, lift.replace(".", ", du sagtest."), words=words)
    assert rule in told(rule, f"Liebe Anna\n{lift}", words=words)


def test_few_words_of_a_language_will_do() -> None:
    """Without endings and contrasts equal words are the same."""
    rules = [
        "Nunca borrar /srv/a.",
        "Siempre borrar /srv/b.",
        "Nie Kim anrufen.",
        "Immer Tom anrufen.",
    ]
    assert told(*rules, words=FEW) == rules
    assert told(*rules, "Siempre borrar /srv/a.", words=FEW) == [
        *rules[1:],
        "Siempre borrar /srv/a.",
    ]
