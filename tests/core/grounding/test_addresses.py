"""Addresses, paths and phones: what else is said of them was shown with them."""

from __future__ import annotations

import pytest
from sources import called, found, shown

PULL = "See https://github.com/acme/billing/pull/1017/files?w=1#top and say yes."


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("https://github.com/acme/billing/pull/17", "PR #17 is open.", "PR #71 is open."),
        ("https://github.com/acme/billing/pull/17", "PR (#17) is open.", "PR (#7) is open."),
        (PULL, "acme/billing#1017 is open.", "acme/billing#1018 is open."),
        (PULL, "The PR 1017 is open.", "The PR 1018 is open."),
        ("https://git.example/a/b/-/merge_requests/882", "MR !882 is open.", "MR !288 is open."),
        ("https://shop.example/view?order=9917342", "Order #9917342 is late.", "Order #9917."),
        (
            "https://github.com/a/b/commit/4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e",
            "4d5e6f7a8 is on main.",
            "4d5e6f8a8 is on main.",
        ),
    ],
)
def test_a_segment_of_an_address_is_an_id_that_was_shown(source: str, true: str, lie: str) -> None:
    assert found(true, shown(source)) == []
    assert len(found(lie, shown(source))) == 1


@pytest.mark.parametrize(
    "said", ["PRs 1017 and 1018 were merged.", "Pull requests 1018, 1017.", "Release 1017, 1018."]
)
def test_numbers_of_things_may_stand_in_a_row(said: str) -> None:
    assert found(said, shown(PULL)) == ["1018"]


@pytest.mark.parametrize("said", ["1017 customers were told.", "PR 1017 has 1017 comments."])
def test_a_segment_of_an_address_is_no_count(said: str) -> None:
    assert len(found(said, shown(PULL))) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/billing",
        "https://github.com/acme",
        "https://github.com/acme/billing/pull/1017",
        "https://github.com/acme/billing/pull/1017/files",
        "https://github.com/acme/billing.git",
        "github.com/acme/billing",
    ],
)
def test_what_an_address_begins_with_was_shown(url: str) -> None:
    assert found(f"It is at {url} now.", shown(PULL)) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/bill",
        "https://github.com/acme/billing/pull/101",
        "https://github.com/acme/billing/pull/1018",
        "https://github.com/acme/billing/issues",
        "https://github.com/billing",
        "https://gitlab.com/acme/billing",
    ],
)
def test_what_no_address_begins_with_was_not_shown(url: str) -> None:
    assert found(f"It is at {url} now.", shown(PULL)) == [url]


def test_a_folder_of_a_bucket_was_shown_with_what_is_in_it() -> None:
    sources = shown("copy: s3://acme-logs/2026/01/a.gz to s3://acme-cold/2026/01/a.gz")
    assert found("Logs are in s3://acme-logs/2026/01/ and s3://acme-cold.", sources) == []
    assert found("Logs are in s3://acme-logs/2026/02.", sources) == ["s3://acme-logs/2026/02"]


@pytest.mark.parametrize(
    "remote",
    [
        "git@git.example.com:acme/web.git",
        "To git.example.com:acme/web.git",
        "ssh://git@git.example.com/acme/web.git",
        "https://git.example.com/acme/web.git",
    ],
)
def test_a_remote_of_git_is_the_address_of_its_repository(remote: str) -> None:
    sources = called(("bash", {"command": "git push"}, f"{remote}\n   1b0c3d2..a81f6e0  main"))
    assert found("It is https://git.example.com/acme/web, git.example.com/acme.", sources) == []
    assert found("It is git@git.example.com:acme/web.git.", sources) == []
    wrong = "https://git.example.com/acme/app"
    assert found(f"It is {wrong}.", sources) == [wrong]


def test_an_address_of_mail_is_no_remote() -> None:
    sources = shown("See https://git.example.com/acme/web.")
    assert found("Write to joe@git.example.com.", sources) == ["joe@git.example.com"]
    assert found("Write to git@mail.example.com.", sources) == ["git@mail.example.com"]


def test_a_file_is_in_the_folder_that_was_shown_with_it() -> None:
    sources = called(("bash", {"command": "cd ~/infra/prod && terraform apply tf3.plan"}, "ok"))
    assert found("~/infra/prod/tf3.plan was applied.", sources) == []
    for wrong in ("~/infra/prod/tf4.plan", "~/infra/dev/tf3.plan", "~/infra/prod/apply/tf3.plan"):
        assert found(f"{wrong} was applied.", sources) == [wrong]


@pytest.mark.parametrize(
    ("source", "true"),
    [
        ("Call 07700 900416.", "+44 7700 900416"),
        ("Call 07700900416.", "+44 (0)7700 900416"),
        ("Ruf 0171 5550199 an.", "+49 171 5550199"),
        ("Call 415-555-0132.", "+1 (415) 555-0132"),
        ("Chiama 06 5550 1234.", "+39 06 5550 1234"),
        ("Liga 021 555 01 99.", "+351 21 555 01 99"),
    ],
)
def test_a_phone_may_be_told_with_its_country_code(source: str, true: str) -> None:
    assert found(f"Phone {true}.", shown(source)) == []
    wrong = f"{true[:-1]}7"
    assert found(f"Phone {wrong}.", shown(source)) == [wrong]


def test_another_country_code_than_was_shown_is_no_other_way_to_write_it() -> None:
    assert found("Phone +33 7700 900416.", shown("Call +44 7700 900416.")) == ["+33 7700 900416"]


def test_the_end_of_a_phone_is_not_all_of_it() -> None:
    """Neither where a country code is cut off in a wrong place."""
    assert found("Phone +44 7700 900416.", shown("Call 700900416.")) == ["+44 7700 900416"]
    assert found("Phone +49 30 555019.", shown("Fax 0 30 555019, id 30555019.")) == []
    assert found("Phone +49 5550199.", shown("Call 555-0199, 5550199.")) == ["+49 5550199"]


@pytest.mark.parametrize(
    ("written", "within"),
    [
        ("+34612555019", "612 555 019"),
        ("+34 612 555 019", "612555019"),
        ("+34 612 555 019", "612 55 50 19"),
        ("+351 912 345 678", "912.345.678"),
        ("+47 912 34 567", "912 34 567"),
        ("+420 601 234 567", "601 234 567"),
        ("+91 98765 43210", "98765 43210"),
        ("+6561234567", "6123 4567"),
        ("+85291234567", "9123-4567"),
        ("+52 55 1234 5678", "(55) 1234 5678"),
        ("+380 44 123 45 67", "044 123 45 67"),
    ],
)
def test_a_phone_in_groups_of_digits_is_one_that_was_shown(written: str, within: str) -> None:
    """Without its country code, and with one where it was shown without."""
    assert found(f"Phone {within}, 2 calls.", shown(f"Ring {written}.")) == []
    assert found(f"Phone {written}.", shown(f"My number is {within}.")) == []
    assert found(f"Phone {within[:-1]}2.", shown(f"Ring {written}."))
    assert found(f"Phone {written[:-1]}2.", shown(f"My number is {within}."))


@pytest.mark.parametrize(
    "within",
    ["612 555 018", "613 555 019", "34 555 019", "1 612 555 019", "612 555 019 9", "555 019"],
)
def test_other_groups_of_digits_are_no_phone_that_was_shown(within: str) -> None:
    assert found(f"Phone {within}.", shown("Ring +34612555019.")) != []


def test_an_amount_is_no_phone() -> None:
    """In whatever country: a number in groups of three may be so much of anything."""
    for source in (
        "The total was 612 555 019.",
        "Tell them that the total was 612 555 019.",
        "The call cost 612 555 019 EUR.",
        "EUR 612 555 019 for the phone.",
        "Ring +33 612 555 019.",
        "Ring 612 555 0191.",
        "Ring 612 555 019 1.",
        "Ring 7 612 555 019.",
        "The revenue was 612 555 019. Call me.",
    ):
        assert found("Phone +34 612 555 019.", shown(source)) == ["+34 612 555 019"]
    assert found("It cost 612 555 019 EUR.", shown("Ring +34612555019.")) == ["612 555 019 EUR"]


def test_a_date_is_no_phone() -> None:
    sources = shown("Call me, the offer of 2024-05-12 ends.")
    assert found("Phone +65 2024 0512.", sources) == ["+65 2024 0512"]


def test_what_was_asked_before_says_that_a_number_is_that_of_a_phone() -> None:
    for question, wrong in (("Which number may we call?", []), ("The total?", ["+34 612 555 019"])):
        assert found("Phone +34 612 555 019.", shown(question, "612 555 019")) == wrong


def test_a_phone_in_groups_of_digits_belongs_to_whom_it_was_shown_for() -> None:
    sources = shown("A-1001 has +34612555019.\nA-1002 has +34612555020.")
    assert found("A-1001: 612 555 019.\nA-1002: 612 555 020.", sources) == []
    assert found("A-1001: 612 555 020.", sources) == ["612 555 020"]


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("Mail sean.o'brien@acme.ie.", "sean.o'brien@acme.ie", "shane.o'brien@acme.ie"),
        ("Mail Kim.O\u2019Neil@acme.ie.", "kim.o'neil@acme.ie", "kim.o'niel@acme.ie"),
        ("C'est l'adresse d'arcy@acme.fr.", "d'arcy@acme.fr", "l'arcy@acme.fr"),
        ("Mail d'arcy@acme.fr.", "arcy@acme.fr", "d'darcy@acme.fr"),
        ("Mail anne@acme.fr.", "l'adresse d'anne@acme.fr", "l'adresse d'anna@acme.fr"),
        ("Mail 'to sean.o'brien@acme.ie'.", "sean.o'brien@acme.ie", "dan.o'brien@acme.ie"),
    ],
)
def test_an_address_is_whole_with_an_apostrophe(source: str, true: str, lie: str) -> None:
    sources = shown(source)
    assert found(f"The user gave {true} for that.", sources) == []
    assert found(f"The user gave {lie} for that.", sources) == [lie.rpartition(" ")[2]]


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("Order WO-55821/2.", "WO-55821/2", "WO-55821/7"),
        ("Order WO-55821/2.", "part 2 of WO-55821", "WO-55812"),
        ("N°45-77/C", "45-77/C", "45-77/D"),
        ("SKU-112, size M", "SKU-112/M", "SKU-121/M"),
        ("A-77 or B-78", "A-77/B-78", "A-77/B-79"),
    ],
)
def test_an_id_is_whole_with_the_piece_behind_its_slash(source: str, true: str, lie: str) -> None:
    sources = shown(source)
    assert found(f"The user gave {true} for that.", sources) == []
    assert found(f"The user gave {lie} for that.", sources) != []
