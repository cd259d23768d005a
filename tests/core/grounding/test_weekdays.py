"""Which weekdays beside dates in a summary are found to be wrong."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.grounding import Sources, ungrounded
from chatfold.core.views import ItemView, TextPart

DAYS = {
    "2026-03-04": "a Wednesday",
    "2026-03-06": "a Friday",
    "2026-03-08": "a Sunday",
    "2026-05-12": "a Tuesday",
}
SHOWN = f"{', '.join(DAYS)}; 04.03.2026, 08.03.2026, 05/12/2026. Stand-up on Sunday, 2 April 2026."
LIST = '[{"day": "Friday", "date": "2026-04-01"}, {"day": "Monday", "date": "2026-04-07"}]'


def found(summary: str, *others: str) -> list[str]:
    """Return what is found to be invented in a summary."""
    views = [ItemView("user", (TextPart(text),)) for text in (SHOWN, LIST, *others)]
    return [each.value.text for each in ungrounded(summary, Sources(views, []))]


@pytest.mark.parametrize(
    ("summary", "wrong"),
    [
        ("The visit is on Tuesday 2026-03-04.", "Tuesday 2026-03-04"),
        ("The visit is on Tuesday, 2026-03-04 at ten.", "Tuesday, 2026-03-04"),
        ("Due on Friday, 12 May 2026.", "Friday, 12 May 2026"),
        ("Due on Friday the 12th of May 2026.", "Friday the 12th of May 2026"),
        ("Due 2026-05-12 (Friday).", "2026-05-12 (Friday"),
        ("Due 2026-05-12 (Friday at noon).", "2026-05-12 (Friday"),
        ("Call after Tuesday, 2026-03-04.", "Tuesday, 2026-03-04"),
        ("Due 2026-05-12, a Friday.", "2026-05-12, a Friday"),
        ("Due last Sunday (4 March 2026)", "Sunday (4 March 2026"),
        ("Due Fri. 12 May 2026 at noon.", "Fri. 12 May 2026"),
        ("Due Tue, 4 Mar 2026", "Tue, 4 Mar 2026"),
        ("Due Friday, 05/12/2026", "Friday, 05/12/2026"),
        ("- Tuesday, March 6, 2026: call", "Tuesday, March 6, 2026"),
        ("Paid, Tuesday, March 6, 2026", "Tuesday, March 6, 2026"),
        ("Fällig Freitag, 12. Mai 2026", "Freitag, 12. Mai 2026"),
        ("Termin am Dienstag, den 04.03.2026", "Dienstag, den 04.03.2026"),
        ("Termin am Sa 08.03.2026", "Sa 08.03.2026"),
        ("rendez-vous le mardi 4 mars 2026", "mardi 4 mars 2026"),
        ("la cita es el martes, 4 de marzo de 2026", "martes, 4 de marzo de 2026"),
        ("terça-feira, 4 de março de 2026", "terça-feira, 4 de março de 2026"),
    ],
)
def test_a_weekday_that_a_date_is_not_is_invented(summary: str, wrong: str) -> None:
    """It is told with its date, as nobody knows which of them is wrong."""
    assert found(summary) == [wrong]


@pytest.mark.parametrize(
    "summary",
    [
        "Tuesday, 05/12/2026",
        "Saturday 05/12/2026",
        "Friday-Sunday, March 6, 2026",
        "Friday to Sunday, 2026-03-08",
        "Tuesday and Thursday, March 6, 2026",
        "every Tuesday, 2026-03-04 onwards",
        "jeden Dienstag, 04.03.2026 bis Mai",
        "On Tuesday, 2026-03-06 was chosen",
        "So 2026-03-04 was chosen",
        "Do 2026-03-04 first",
        "Sent 2026-03-04, Tuesday at noon they called",
        "Sent 2026-03-04; Tuesday",
        "Moved from Tuesday to 2026-03-04",
        "Some Tuesday, May 2026",
        "Friday, 12 May",
        "Black Friday 2026-03-04",
        "the call (2026-03-04)",
        "now on 2026-03-06 (Thursday was full)",
        "valid from 2026-03-04 (Monday to Friday only)",
        "He cannot on Thursday, 2026-03-06 works for him",
        "every other Tuesday, 2026-03-06 first",
        "the day after Thursday, 2026-03-06",
        "not on Thursday, 2026-03-06",
    ],
)
def test_a_weekday_that_need_not_be_that_of_the_date_is_none(summary: str) -> None:
    """It is one of several, of each week, of another day, or no weekday."""
    assert found(summary) == []


@pytest.mark.parametrize(
    "summary", ["Friday, 2026-04-01", "Sunday 2 April 2026", "The stand-up: 2026-04-02 (Sunday)"]
)
def test_a_weekday_that_was_said_is_not_invented(summary: str) -> None:
    """It may be wrong, as it stood beside that date, or in its object."""
    assert found(summary, "A Monday.") == []


def test_what_was_said_of_another_day_was_not_said_of_this_one() -> None:
    assert found("Monday, 2026-04-01") == ["Monday, 2026-04-01"]
    assert found("Friday, 2026-03-04", "2026-03-04: the tour of Friday, 2026-03-06") == [
        "Friday, 2026-03-04"
    ]
    assert found("Friday, 2026-05-12", "Monday, 2026-05-12. Not on Friday.") == [
        "Friday, 2026-05-12"
    ]


def test_a_wrong_weekday_is_found_in_the_sentence_of_its_date() -> None:
    """Where the point of a short form looks like the end of one."""
    summary = "Nothing else. They come on Tue. 4 March 2026 at ten. All is paid."
    (wrong,) = ungrounded(summary, Sources([ItemView("user", (TextPart(SHOWN),))], []))
    start, stop = wrong.sentence
    assert summary[start:stop].endswith("4 March 2026 at ten.")


NAMES = {
    "{}, %-d %B %Y": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "{} %Y-%m-%d": "Mon Tue Wed Thu Fri Sat Sun",
    "%Y-%m-%d ({})": "Mon Tue Wed Thu Fri Sat Sun",
    "{}, den %d.%m.%Y": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "{}, %d.%m.%Y": "Mo Di Mi Do Fr Sa So",
    "le {} %d/%m/%Y": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "el {}, %Y-%m-%d": "lunes martes miércoles jueves viernes sábado domingo",
}


@pytest.mark.parametrize(("form", "names"), NAMES.items())
def test_a_right_weekday_is_never_found(form: str, names: str) -> None:
    days = [date(2026, 1, 13) + timedelta(days=number) for number in range(7)]
    for day in days:
        written = [day.strftime(form.format(name)) for name in names.split()]
        wrong = [text for text in written if found(text, day.isoformat(), f"{day:%d/%m/%Y}")]
        assert len(wrong) == 6
        assert written[day.weekday()] not in wrong


def test_a_sentence_with_a_wrong_weekday_goes_where_nobody_mends_it() -> None:
    """With the date of it, which the record has."""
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Book the technician for 2026-03-04, please. " * 20},
        {"role": "assistant", "content": "Booked for 2026-03-04."},
        {"role": "user", "content": "Thanks! And now?"},
    ]
    said = "The user wants a technician. He comes on Tuesday, 2026-03-04."
    outcome = ChatContext(items).summarize(lambda _: said, keep_last_turns=1, grounding="drop")
    assert outcome.summary == "The user wants a technician."
    assert "2026-03-04" in items[0]["content"]
