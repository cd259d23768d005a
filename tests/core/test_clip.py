"""Texts cut in the middle: what stays, what is said of the rest, and that nothing is torn."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.clip import cut_middle, cut_texts, cut_to, level, shortened
from chatfold.core.views import (
    CallPart,
    ItemView,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    StatePart,
    SummaryPart,
    TextPart,
    UnknownPart,
    texts,
)

LONG = "0123456789 " * 300
ANY = st.text(st.characters(exclude_categories=("Co",)), max_size=300)


def mark(left_out: int, total: int) -> str:
    return f"\ue000{left_out} {total}\ue001"


def count(found: Sequence[str]) -> list[int]:
    return [len(text) for text in found]


def measure(views: Sequence[ItemView]) -> int:
    return sum(len(text) for view in views for text in texts(view))


@given(text=ANY, keep=st.integers(-5, 300))
def test_both_ends_stay_and_the_marker_says_how_much_does_not(text: str, keep: int) -> None:
    cut = cut_middle(text, keep, mark)
    if max(0, keep) >= len(text):
        assert cut == text
        return
    head, _, rest = cut.partition("\n\ue000")
    numbers, _, tail = rest.partition("\ue001\n")
    left_out, total = map(int, numbers.split())
    assert total == len(text)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) == len(text) - left_out <= max(0, keep)


def test_words_are_not_torn_where_white_space_is_near() -> None:
    cut = cut_middle("alpha beta gamma delta " * 40, 100, mark)
    head, _, tail = cut.partition("\n\ue000")
    assert set(head.split()) <= {"alpha", "beta", "gamma", "delta"}
    assert set(tail.partition("\ue001\n")[2].split()) <= {"alpha", "beta", "gamma", "delta"}


def test_a_surrogate_pair_and_a_combined_character_are_not_torn() -> None:
    """JSON from other languages holds them as two; an accent belongs to its letter."""
    for unit in ("\ud83d\ude00", "e\u0301", "\u2764\ufe0f"):
        for keep in range(10, 30):
            cut = cut_middle(unit * 100, keep, mark)
            head, _, rest = cut.partition("\n\ue000")
            assert len(head) % 2 == 0
            assert rest.partition("\ue001\n")[2][:1] in ("", unit[0])


@given(sizes=st.lists(st.integers(0, 500), max_size=20), room=st.integers(-10, 3000))
def test_the_level_is_the_highest_that_fits(sizes: list[int], room: int) -> None:
    top = level(sizes, room)
    if sum(sizes) <= room:
        assert top == max(sizes, default=0)
        return
    assert sum(min(size, top) for size in sizes) <= max(0, room)
    assert room <= 0 or sum(min(size, top + 1) for size in sizes) > room


def fitted(views: list[ItemView], room: int) -> list[ItemView] | None:
    made = shortened(views, room, measure=measure, count=count, clean=str, mark=mark)
    return None if made is None else list(made)


def test_the_biggest_output_is_cut_first_and_what_was_said_stays() -> None:
    parts: tuple[Part, ...] = (
        TextPart("What is it? " * 110),
        CallPart("c", "read", '{"path": "' + "a/" * 100 + '"}'),
        ResultPart("c", "read", LONG),
        ResultPart("d", "read", "short"),
    )
    made = fitted([ItemView("user", parts)], 2400)
    assert made is not None
    shown = made[0].parts
    assert (shown[0], shown[1], shown[3]) == (parts[0], parts[1], parts[3])
    assert isinstance(shown[2], ResultPart)
    assert 600 < len(shown[2].text) < 900
    assert cut_texts([ItemView("user", parts)], made) == 1


def test_every_kind_of_text_can_be_cut_and_is_counted() -> None:
    media = (MediaPart("image", text=LONG), MediaPart("image", text="small"))
    parts: list[Part] = [
        TextPart(LONG),
        ReasoningPart(LONG),
        CallPart("c", "read", LONG),
        ResultPart("c", "read", LONG, media=media),
        ServerCallPart("s", "search", LONG, LONG),
        MediaPart("file", text=LONG),
        StatePart("tools", text=LONG),
        UnknownPart("new", LONG),
    ]
    whole = [ItemView("assistant", tuple(parts))]
    made = fitted(whole, 3000)
    assert made is not None
    assert measure(made) <= 3000
    assert cut_texts(whole, made) == 10
    for before, after in zip(parts, made[0].parts, strict=True):
        assert type(before) is type(after)
    assert cut_texts(whole, whole) == 0
    summary = [ItemView("user", (SummaryPart("a"),))]
    assert cut_texts(summary, [ItemView("user", (SummaryPart("b"),))]) == 1


def test_what_cannot_fit_is_not_cut_to_nothing() -> None:
    views = [ItemView("tool", tuple(ResultPart(f"c{n}", "read", LONG) for n in range(100)))]
    assert fitted(views, 2300) is None
    assert fitted(views, 20_000) is not None


def test_a_text_is_redacted_before_it_is_cut() -> None:
    """Half of a secret is not recognized, so it would be shown."""
    secret = "sk-" + "a1" * 1000
    views = [ItemView("tool", (ResultPart("c", "read", f"{LONG[:400]}{secret}{LONG}"),))]

    def clean(text: str) -> str:
        return text.replace(secret, "[secret]")

    def shown(found: Sequence[ItemView]) -> int:
        return sum(len(clean(text)) for view in found for text in texts(view))

    for room in range(1000, 3000, 37):
        made = shortened(views, room, measure=shown, count=count, clean=clean, mark=mark)
        assert made is not None
        assert all("a1a1" not in text for text in texts(made[0]))


class Watched(str):
    """A text that counts how many characters are taken out of it."""

    taken = 0

    def __getitem__(self, key: object) -> str:
        part = super().__getitem__(key)  # type: ignore[index]
        Watched.taken += len(part)
        return part


def test_cutting_takes_no_more_than_it_keeps() -> None:
    """However long a run without white space is, and however many accents stand in a row."""
    for text in ("a" * 1_000_000, "\u0301" * 1_000_000, " " * 1_000_000):
        Watched.taken = 0
        cut_to(Watched(text), 1_000_000, 2_000, mark)
        assert Watched.taken < 3_000
