"""What every store does alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logs import records
from stores.drawn import any_text, exact, fold, folds, item, texts

from chatfold.stores import Store, StoredItem
from chatfold.stores._words import phrases

KEY = "conversation"
NewStore = Callable[..., Store]

# One store serves all examples of a test: each uses a key of its own, or erases first.
_shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


# Saving and loading


@_shared
@given(folds())
def test_a_fold_comes_back_exactly_as_it_was_saved(store: Store, drawn: Any) -> None:
    """Any unicode, lone surrogates, big integers, NaN and the order of keys are kept."""
    store.save(drawn)
    assert exact(store.load(drawn.key, drawn.fold_id)) == exact(drawn)


@pytest.mark.parametrize(
    "value",
    [
        "\ud83d\ude00",  # two lone surrogates, not one character
        "😀",
        "\ud800 alone",
        "nul \0 inside",
        int("9" * 4000),
        -0.0,
        float("-inf"),
        {"b": 1, "a": {"\ud800": [None, True, 1, 1.0]}},
    ],
    ids=ascii,
)
def test_a_value_that_json_libraries_often_change_is_kept(store: Store, value: Any) -> None:
    saved = fold(item(0, "text", native={"value": value}))
    store.save(saved)
    assert exact(store.load(KEY, "first")) == exact(saved)


def test_what_was_never_saved_is_not_there(store: Store) -> None:
    store.save(fold("hello"))
    assert store.load(KEY, "second") is None
    assert store.load("another", "first") is None
    assert store.folds("another") == []
    assert store.find("another", query="hello") == []


def test_saving_again_replaces(store: Store) -> None:
    """The same key and id name the same fold; nothing of the earlier one is found any more."""
    store.save(fold(item(0, "old words", "call_old"), "second"))
    store.save(fold("new"))
    loaded = store.load(KEY, "first")
    assert loaded is not None
    assert texts(loaded.items) == ["new"]
    assert len(store.folds(KEY)) == 1
    assert store.find(KEY, query="old") == []
    assert store.find(KEY, call_id="call_old") == []


def test_folds_are_listed_oldest_first_and_without_items(store: Store) -> None:
    """Folds of the same time stand in the order in which they were saved."""
    for fold_id, created in (("c", 30.0), ("a", 10.0), ("b", 20.0), ("d", 10.0), ("a", 10.0)):
        store.save(fold("text", fold_id=fold_id, created=created))
    listed = store.folds(KEY)
    assert [one.fold_id for one in listed] == ["d", "a", "b", "c"]
    assert listed[1] == replace(fold("text", fold_id="a", created=10.0), items=())


def test_a_fold_without_items_is_kept(store: Store) -> None:
    store.save(fold())
    assert store.load(KEY, "first") == fold()


def test_what_the_caller_changes_later_changes_nothing_in_the_store(store: Store) -> None:
    """Neither the saved items nor the returned ones are the store's own."""
    native = {"content": ["original"]}
    saved = fold(item(0, "original", native=native))
    store.save(saved)
    native["content"].append("edited")
    saved.summary["content"] = "edited"
    loaded = store.load(KEY, "first")
    assert loaded is not None
    loaded.items[0].item["content"].clear()
    store.folds(KEY)[0].summary.clear()
    store.find(KEY, query="original")[0].item.clear()
    again = store.load(KEY, "first")
    assert again is not None
    assert again.items[0].item == {"content": ["original"]}
    assert again.summary == {"role": "user", "content": "summary first"}


def _endless() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def _deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (fold(item(0, "a"), item(1, "b", native={"x": object()})), TypeError),
        (replace(fold("a"), summary=object()), TypeError),
        (fold(item(0, "a", native=_endless())), ValueError),
        (fold(item(0, "a", native=_deep())), ValueError),
        (fold(item(1, "a"), item(0, "b")), ValueError),
        (fold(item(0, "a"), item(0, "b")), ValueError),
        (fold("a", key=""), ValueError),
        (fold("a", fold_id=""), ValueError),
        (fold("a", created=float("nan")), ValueError),
        (replace(fold("a"), key=b"bytes"), TypeError),
        ("fold", TypeError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_fold_that_cannot_be_kept_is_refused_and_changes_nothing(
    store: Store, bad: Any, error: type[Exception]
) -> None:
    store.save(fold("before"))
    with pytest.raises(error):
        store.save(bad)
    assert [one.fold_id for one in store.folds(KEY)] == ["first"]
    assert texts(store.find(KEY, query="before")) == ["before"]


# Removing


def test_a_discarded_fold_is_gone_and_others_stay(store: Store) -> None:
    store.save(fold(item(0, "shared words", "c1"), fold_id="one"))
    store.save(fold(item(0, "other words", "c1"), fold_id="two"))
    store.discard(KEY, "one")
    store.discard(KEY, "one")
    store.discard("another", "two")
    assert [one.fold_id for one in store.folds(KEY)] == ["two"]
    assert store.load(KEY, "one") is None
    assert texts(store.find(KEY, query="words")) == ["other words"]
    assert texts(store.find(KEY, call_id="c1")) == ["other words"]


def test_erase_removes_all_of_a_key_and_nothing_of_another(store: Store) -> None:
    for key in (KEY, "another"):
        for fold_id in ("one", "two"):
            store.save(fold(item(0, f"words {fold_id}", "c1"), key=key, fold_id=fold_id))
    assert store.erase(KEY) == 2
    assert store.erase(KEY) == 0
    assert store.folds(KEY) == []
    assert store.load(KEY, "one") is None
    assert store.find(KEY, query="words") == []
    assert store.find(KEY, call_id="c1") == []
    assert len(store.folds("another")) == 2
    assert len(store.find("another", query="words")) == 2
    assert len(store.find("another", call_id="c1")) == 2


@pytest.mark.parametrize("key", [17, None, UUID(int=17), b"conversation"])
def test_a_key_of_a_wrong_type_is_not_taken_for_one_without_folds(store: Store, key: Any) -> None:
    """Whoever erases by a number, where a text was the key, would believe that all is gone."""
    for call in (store.erase, store.folds):
        with pytest.raises(TypeError, match="a key must be a str, not "):
            call(key)


def test_expire_removes_what_is_older_than_a_time_under_every_key(store: Store) -> None:
    for key in (KEY, "another"):
        for created in (1.0, 2.0, 3.0):
            store.save(fold(f"at {created}", key=key, fold_id=str(created), created=created))
    assert store.expire(2.0) == 2
    assert store.expire(2.0) == 0
    for key in (KEY, "another"):
        assert [one.created for one in store.folds(key)] == [2.0, 3.0]
        assert sorted(texts(store.find(key, query="at"))) == ["at 2.0", "at 3.0"]


@pytest.mark.parametrize("limit", [3600, 3600.0, timedelta(hours=1)])
def test_a_save_drops_what_is_older_than_expire_after(new_store: NewStore, limit: Any) -> None:
    store = new_store(expire_after=limit)
    now = time.time()
    store.save(fold("old", key="another", fold_id="old", created=now - 3000))
    store.save(fold("older", key="another", fold_id="older", created=now - 3700))
    assert [one.fold_id for one in store.folds("another")] == ["old"]
    store.save(fold("young", created=now))
    assert store.find("another", query="older") == []
    assert texts(store.find("another", query="old")) == ["old"]


def test_expire_without_a_time_uses_expire_after(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock of the process; no test waits for it, as a save may take longer than a wait."""
    store: Any = new_store(expire_after=3600)
    now = time.time()
    store.save(fold("text", created=now))
    assert store.expire() == 0
    monkeypatch.setattr(time, "time", lambda: now + 3601)
    assert store.expire() == 1
    assert store.folds(KEY) == []
    with pytest.raises(ValueError, match="expire_after="):
        new_store().expire()  # type: ignore[call-arg]  # beyond the protocol


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), timedelta()])
def test_an_expire_after_that_means_nothing_is_refused(new_store: NewStore, limit: Any) -> None:
    with pytest.raises(ValueError, match="expire_after must be more than 0 seconds"):
        new_store(expire_after=limit)
    for no_number in ("60", True):
        with pytest.raises(TypeError, match="expire_after must be a number, not"):
            new_store(expire_after=no_number)


def test_without_originals_only_positions_and_call_ids_are_kept(new_store: NewStore) -> None:
    store = new_store(keep_originals=False)
    store.save(fold(item(0, "secret words", "c1"), "more"))
    loaded = store.load(KEY, "first")
    assert loaded is not None
    assert loaded.items == (StoredItem(0, "", ("c1",), None), StoredItem(1, "", (), None))
    assert loaded.summary == {"role": "user", "content": "summary first"}
    assert store.find(KEY, query="secret") == []
    assert store.find(KEY, call_id="c1") == [StoredItem(0, "", ("c1",), None)]


# Finding


def test_items_are_found_by_call_id_in_order_of_their_folds(store: Store) -> None:
    store.save(fold("x", item(1, "late", "c1", "c2"), fold_id="late", created=2000.0))
    store.save(fold(item(0, "call", "c1"), item(1, "result", "c1"), created=1000.0))
    assert texts(store.find(KEY, call_id="c1")) == ["call", "result", "late"]
    assert texts(store.find(KEY, call_id="c2")) == ["late"]
    assert texts(store.find(KEY, call_id="c1", limit=2)) == ["call", "result"]
    for other in ("c", "C1", "c1 ", "c%", ""):
        assert store.find(KEY, call_id=other) == []


def test_a_call_id_of_any_characters_is_found(store: Store) -> None:
    odd = "\ud800'\"%_\0é"
    store.save(fold(item(0, "odd", odd, odd), item(1, "plain", "plain")))
    assert texts(store.find(KEY, call_id=odd)) == ["odd"]


def test_a_found_item_comes_whole(store: Store) -> None:
    wanted = item(1, "the wanted one", "c1", native={"role": "tool", "content": [1, {"a": None}]})
    store.save(fold("first", wanted))
    assert store.find(KEY, query="wanted") == [wanted]


def test_items_with_all_words_come_before_and_instead_of_items_with_some(store: Store) -> None:
    store.save(fold("espresso machine broken", "espresso beans", "the machine", "nothing here"))
    assert texts(store.find(KEY, query="machine espresso")) == ["espresso machine broken"]
    some = texts(store.find(KEY, query="machine espresso grinder"))
    assert some[0] == "espresso machine broken"
    assert set(some) == {"espresso machine broken", "espresso beans", "the machine"}


def test_the_parts_of_an_id_apart_are_not_the_id(store: Store) -> None:
    """So the first text does not hold all that is asked for, and those with some are found."""
    store.save(fold("espresso for 90721, rma later", "espresso beans", "nothing here"))
    found = texts(store.find(KEY, query="RMA-90721 espresso"))
    assert sorted(found) == ["espresso beans", "espresso for 90721, rma later"]


def test_the_best_match_stands_first(store: Store) -> None:
    """A text that is all about the words beats one that names them among many others."""
    long = "refund " + "filler words that say nothing at all " * 20
    store.save(fold(long, "refund refund refund", "refund of the order", *["other"] * 5))
    found = texts(store.find(KEY, query="refund"))
    assert found == ["refund refund refund", "refund of the order", long]


def test_a_rare_word_weighs_more_than_a_common_one(store: Store) -> None:
    store.save(fold(*(f"status order number {n}" for n in range(20)), "status chargeback here"))
    found = texts(store.find(KEY, query="chargeback status order missing", limit=3))
    assert found[0] == "status chargeback here"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("RMA-90721", True),
        ("rma-90721", True),
        ("RMA 90721", True),
        ("90721", True),
        ("907", True),
        ("RMA-907", True),
        ("rma-9", True),
        ("RMA-90722", False),
        ("RMA-0721", False),
        ("90721-RMA", False),
        ("a@example.org", True),
        ("src/app/main.py", True),
        ("main.py:12", True),
        ("create_rma", True),
        ("1,299.00", True),
        ("1,299.50", False),
        ("9", False),
        ("cafe", True),
        ("CAFÉ", True),
        ("cafe\u0301", True),
        ("STRASSE", True),
        ("2\u00bd", True),
        ("東京", True),
        ("京都", True),
        ("駅", True),
        ("東都", False),
        ("プリンタ", True),
        ("リンター", True),
        ("ﾌﾟﾘﾝﾀ", True),
        ("서울", True),
        ("울에", True),
        ("กรุงเทพ", True),
        ("हिन्दी", True),
        ("привет", True),
        ("мир", True),
    ],
)
def test_an_id_or_part_of_a_word_is_found_as_people_type_it(
    store: Store, query: str, found: bool
) -> None:
    said = (
        "Return RMA-90721 by a@example.org, src/app/main.py:12 create_rma $1,299.00 at the café "
        "in der Straße, 2½ kg; 東京都の駅でプリンターを買った。"
        "서울에서 กรุงเทพมหานคร हिन्दी ПРИВЕТ мира"
    )
    store.save(fold("something else", said))
    assert texts(store.find(KEY, query=query)) == ([said] if found else [])


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "\n\t",
        "*",
        '"',
        "'",
        "%",
        "_",
        "()",
        "-",
        "^",
        "\0",
        "\ud800",
        "。",
        "!?",
        "\u0301",
    ],
    ids=ascii,
)
def test_a_query_without_words_finds_nothing(store: Store, query: str) -> None:
    """LIKE's wildcards among them."""
    store.save(fold("some text", item(1, '100% of _all_ "quoted" text', "c1")))
    assert store.find(KEY, query=query) == []


@pytest.mark.parametrize(
    "query",
    [
        'text"',
        '"text" OR',
        "text AND",
        "NOT text",
        "text NEAR/2 here",
        "scope : text",
        "{words} : text",
        "text* *here",
        "^text",
        "(text",
        "text + here",
        "-text",
        "text; DROP TABLE chatfold_folds; --",
        "text' OR '1'='1",
        "text\0here",
        "\ud800text",
        "\\text",
        "text%",
        '{"query":"text"}',
    ],
    ids=ascii,
)
def test_syntax_in_a_query_is_read_as_words(store: Store, query: str) -> None:
    store.save(fold("the text is here", "another"))
    store.save(fold("the text is here", key="another tenant"))
    assert texts(store.find(KEY, query=query)) == ["the text is here"]


@_shared
@given(any_text)
def test_no_query_and_no_call_id_raises(store: Store, typed: str) -> None:
    store.save(fold("the text", "x"))
    store.find(KEY, query=typed)
    store.find(KEY, call_id=typed)
    store.find(typed, query="x", call_id=typed)


@_shared
@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=4, unique=True), st.data())
def test_every_word_of_a_text_finds_it(store: Store, said: list[str], data: st.DataObject) -> None:
    """In every script, and however many words of the text are asked for at once."""
    store.erase(KEY)
    store.save(fold(*said))
    wanted = data.draw(st.sampled_from(said))
    pieces = wanted.split()
    few = data.draw(st.lists(st.sampled_from(pieces), max_size=5)) if pieces else []
    if phrases(" ".join(few)):
        assert wanted in texts(store.find(KEY, query=" ".join(few)))


def test_a_query_of_any_length_is_answered(store: Store) -> None:
    store.save(fold("needle 東京" + " hay" * 100))
    for query in (
        "needle " + "word " * 200_000,
        "needle " + " ".join(f"w{n}" for n in range(10_000)),
        "needle " + "a-" * 100_000,
        "needle " + "東" * 100_000,
        "needle " + "x" * 1_000_000,
        "needle" + " \u0315\u0300" * 100_000,
    ):
        assert len(store.find(KEY, query=query)) == 1


def test_an_item_that_was_saved_twice_is_found_once(store: Store) -> None:
    """Under another fold, or twice in one; what is another item with the same words is found."""
    again = item(0, "same words", "c1", native={"n": 1})
    for fold_id in ("one", "two", "three"):
        store.save(fold(again, replace(again, position=1), fold_id=fold_id))
    other = item(0, "same words", "c1", native={"n": 2})
    store.save(fold(other, fold_id="four"))
    for found in (
        store.find(KEY, query="same words"),
        store.find(KEY, call_id="c1"),
        store.find(KEY, call_id="c1", query="same"),
    ):
        assert [one.item["n"] for one in found] == [1, 2]
    assert len(store.find(KEY, query="same words", limit=1)) == 1
    store.discard(KEY, "one")
    assert len(store.find(KEY, query="same words")) == 2


def test_items_that_differ_only_in_where_their_json_ends_are_two(store: Store) -> None:
    store.save(fold(item(0, "23", "c1", native=1), item(1, "3", "c1", native=12)))
    assert len(store.find(KEY, call_id="c1")) == 2


def test_words_are_sought_among_the_items_of_a_call(store: Store) -> None:
    store.save(fold(item(0, "alpha beta", "c1"), item(1, "alpha", "c2"), item(2, "gamma", "c1")))
    assert texts(store.find(KEY, call_id="c1", query="alpha")) == ["alpha beta"]
    assert texts(store.find(KEY, call_id="c2", query="gamma")) == []
    assert texts(store.find(KEY, call_id="c2", query="alpha beta")) == ["alpha"]
    assert texts(store.find(KEY, call_id="c1", query="  ")) == ["alpha beta", "gamma"]
    assert texts(store.find(KEY, call_id="c1", query="?!")) == []


def test_the_limit_is_kept(store: Store) -> None:
    store.save(fold(*(item(n, f"word {n}", "c1") for n in range(500))))
    assert len(store.find(KEY, query="word")) == 20
    assert len(store.find(KEY, query="word", limit=450)) == 450
    assert len(store.find(KEY, call_id="c1", limit=1000)) == 500
    assert store.find(KEY, query="word", limit=0) == []
    with pytest.raises(ValueError, match="limit"):
        store.find(KEY, query="word", limit=-1)


def test_a_search_for_nothing_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="call_id= or query="):
        store.find(KEY)


def test_an_empty_text_is_no_match(store: Store) -> None:
    store.save(fold(item(0, ""), item(1, "word")))
    assert texts(store.find(KEY, query="word nothing")) == ["word"]


# Quiet


def test_neither_repr_nor_log_nor_error_shows_content(new_store: NewStore) -> None:
    with records() as logged:
        store = new_store()
        saved = fold(item(0, "hidden words", "c1"))
        store.save(saved)
        found = store.find(KEY, query="hidden")
        said = [repr(store), repr(saved), repr(store.load(KEY, "first")), repr(found)]
        store.erase(KEY)
    assert "hidden" not in "".join([*said, *(record.getMessage() for record in logged)])
    assert "summary first" not in "".join(said)


def test_every_store_is_one_by_the_protocol(store: Store) -> None:
    assert isinstance(store, Store)
