"""Letters and chats without headers make no instruction where the user asks something about them.

Not here: mails with headers, tags and files (`test_pasted`).
"""

from __future__ import annotations

import time

import pytest

from chatfold.core.constraints import standing
from chatfold.core.views import ItemView, TextPart

RULE = "Always answer in French."


def held(text: str) -> list[str]:
    """Return the instructions of one message."""
    return standing([ItemView("user", (TextPart(text),))]).held


LETTERS = [
    (
        "Can you draft a reply to this email?",
        (
            "Hi Team,\n\nour parcel was left in the rain. Please never leave parcels outside.\n\n"
            "Best regards,\nMartin Cole\nCole & Sons"
        ),
    ),
    (
        "Please summarize the following email for me:",
        (
            "Dear Ms Porter,\n\nThank you. From now on, please send all invoices to a@cole.example "
            "only. Do not use the old address.\n\nKind regards\nLaura Stone"
        ),
    ),
    (
        "I got this complaint from a customer. What should I answer?",
        "Hello,\n\nI got a red lamp. Never call me about it, I only want email.\n\nThanks,\nJoe",
    ),
    (
        "Ticket from this morning, please classify this ticket:",
        "Hi support,\nThe export breaks. Always restart the worker first.\nRegards, Ivan",
    ),
    (
        "Translate this letter into German.",
        "Dear tenants,\n\nPlease never park in front of the gate.\n\nSincerely,\nThe management",
    ),
    (
        "Kannst du auf diese Mail antworten?",
        "Hallo zusammen,\n\nbitte stellen Sie Pakete nie draußen ab.\n\nViele Grüße\nMartin Kohl",
    ),
    (
        "Bitte fasse die folgende E-Mail zusammen:",
        (
            "Sehr geehrte Frau Porter,\n\nAb sofort bitte alle Rechnungen nur an r@kohl.example. "
            "Verwenden Sie nie die alte Adresse.\n\nMit freundlichen Grüßen\nLaura Stein"
        ),
    ),
    (
        "Diese Beschwerde kam heute von einem Kunden, was soll ich antworten?",
        "Guten Tag,\n\nRufen Sie mich nie an, ich möchte nur E-Mails.\n\nGruß\nJoe",
    ),
    (
        "Übersetze diesen Brief ins Englische.",
        "Liebe Mieter,\n\nbitte parken Sie nie vor dem Tor.\n\nMfG\nIhre Hausverwaltung",
    ),
    (
        "Wie ist der Ton in dieser Mail von meinem Vermieter?",
        (
            "Sehr geehrter Herr Hall,\n\nzahlen Sie nie bar. Bitte nur per Überweisung.\n\n"
            "Mit freundlichen Grüßen\nP. Grün"
        ),
    ),
]
CHATS = [
    (
        "Summarize the state of the thread below:",
        "[10:31] Bob: never deploy on Fridays please\n[10:32] Ana: ok\n[10:33] Bob: always tag it",
    ),
    (
        "Summarize this chat:",
        "[10:31] Bob: never deploy on Fridays please\n[10:32] Ana: ok\n[10:33] Bob: always tag it",
    ),
    (
        "What does he want in this conversation?",
        "12.05.26, 10:31 - Bob: Do not pay the invoice.\n12.05.26, 10:35 - Ana: why?",
    ),
    (
        "Here is the support chat, please tag it with a topic:",
        (
            "Customer: my router is dead\nAgent: did you restart it?\n"
            "Customer: yes. Never ask me again.\nAgent: sorry\nCustomer: Always send a technician."
        ),
    ),
    (
        "Slack thread below, summarize the thread for me:",
        "Bob Miller  10:31 AM\nNever merge without reviews.\n\nAna Roe  10:33 AM\nAlways squash.",
    ),
    (
        "Fass diesen Chat zusammen:",
        "[10:31] Bob: bitte nie freitags deployen\n[10:32] Ana: ok\n[10:33] Bob: immer taggen",
    ),
    (
        "Was will er in diesem Chatverlauf?",
        "12.05.26, 10:31 - Bob: Bezahl die Rechnung nicht.\n12.05.26, 10:35 - Ana: warum?",
    ),
    (
        "Kannst du den Chat bewerten?",
        "Kunde: nie wieder DHL bitte\nBerater: gut\nKunde: immer mit UPS liefern",
    ),
    (
        "Fasse den folgenden Slack-Thread zusammen:",
        "Bob Müller  10:31\nNie ohne zwei Reviews mergen.\n\nAna Roth  10:33\nImmer squashen.",
    ),
]


@pytest.mark.parametrize(("asked", "pasted"), [*LETTERS, *CHATS])
def test_what_the_user_asks_something_about_makes_no_instruction(asked: str, pasted: str) -> None:
    """The user's own words stand before it, in the line that asks, too, and behind it."""
    assert held(f"{asked}\n\n{pasted}") == []
    assert held(f"{RULE} {asked}\n{pasted}\n\n{RULE}") == [RULE]
    assert held(f"{asked}\n\n{pasted}\n\n{RULE}") == [RULE]


@pytest.mark.parametrize(("asked", "pasted"), [*LETTERS[:1], *CHATS[:3]])
def test_without_a_request_the_words_are_the_users(asked: str, pasted: str) -> None:
    """A host may hand over what customers write, and who said it when."""
    assert held(pasted) != []
    assert held(f"{pasted}\n\n{asked}") != []


@pytest.mark.parametrize(
    "said",
    [
        "What is going on with this ticket?\n\nHello,\n\n{}\n\nBest regards,\nAnna Kern",
        "Can you check the status of this ticket?\n\nHello,\n\n{}\n\nRegards\nAnna",
        "Order 4711\n\nDear support team,\n\n{}\n\nKind regards\nBob",
        "Please answer this ticket soon.\n\nDear support team,\n\n{}\n\nKind regards\nBob",
        "Subject: Please check this ticket\n\nHello,\n\n{}\n\nRegards\nBob",
        "Please don't reply to this email, call me.\n\nHello,\n\n{}\n\nThanks\nBob",
        "Please reply to this email address only.\n\nHi team,\n\n{}\n\nRegards\nBob",
        "Dear team,\nI got this email from you. What does it mean?\n{}\nKind regards\nBob",
        "Hi,\nplease reply to this message in writing.\n\nHello,\n{}\nBest\nBob",
        "Summarize this email:\n\nHi team,\nwe moved.\n\n{}",
        "Answer the mail I forwarded.\n\nHello,\n{}\n\nBest\nBob",
        "[10:31] Ana: {}\n[10:32] Ana: Where is my parcel?",
        "Check this thread.\n\n[10:31] Ana: {}",
        "Summarize this chat.\nGoal: ship\nStyle: short\n{}",
        "Summarize this chat.\nGoal: ship\nStyle: short\nTone: {}",
        "Rules for this chat:\nLanguage: French\nTone: polite\nLanguage: {}",
        "Check this thread and reply to Kim.\nNote: {}\nImportant: be brief.\nNote: in French.",
        "Review this thread pool.\nWorker: runs\nMain: joins\nWorker: {}",
        "Plan a day from this chat, please check:\nDinner 7:30 PM\nMovie 9:00 PM\n{}",
        "Check this chat:\n\nDinner 7:30 PM\nA table for two.\n\n{}",
        "Summarize this chat:\n[10:31] Ana: hi\n[10:32] Bob: hi\n\n{}\n\n[10:33] Ana: bye",
    ],
)
def test_in_doubt_the_words_are_the_users(said: str) -> None:
    assert any(own.endswith(RULE) for own in held(said.replace("{}", RULE)))


def test_what_was_shown_takes_nothing_back() -> None:
    asked, pasted = CHATS[0]
    said = [f"{asked}\n\n{pasted}\n\nYou can use emojis again."]
    views = [ItemView("user", (TextPart(text),)) for text in ("Never use emojis.", *said)]
    assert standing(views).held[0] == "Never use emojis."


@pytest.mark.parametrize(
    "piece",
    [
        "Summarize this chat:\n",
        "Summarize this email:\nHi team,\n",
        "summarize this chat:\n[10:31] B: x\n",
        "summarize this email:\nBest\n",
        "reply A 10:31\nx\n\n",
        "reply A: x\n",
        "reply the ",
        "reply A" + " " * 50,
    ],
)
def test_what_it_takes_grows_with_the_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = time.perf_counter()
    held(text)
    assert time.perf_counter() - began < 5.0
