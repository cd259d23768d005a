"""The words that a record has for calls: how what stands in a result is named."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chatfold import ChatContext
from chatfold.core.call_ends import Ends
from chatfold.core.call_json import label_of, leaves_of
from chatfold.core.call_words import CallWords
from chatfold.core.entries import Field

_KEYS = st.sampled_from(("id", "order", "total", "lines"))
_DOCUMENTS = st.recursive(
    st.integers(0, 3) | st.just("ok"),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(_KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def words_of(result: Any) -> CallWords:
    """Return the words of one call with that result."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    items: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(result)},
    ]
    return CallWords(ChatContext(items).tool_calls())


@given(st.dictionaries(_KEYS, _DOCUMENTS, min_size=1, max_size=3))
def test_a_label_is_the_shortest_end_of_a_path_that_no_other_has(document: Any) -> None:
    """At least two steps of it, and from the place in a list on; compared with all ends of all."""
    words = words_of(document)
    paths = [path for path, _ in leaves_of(document)]
    for path in paths:
        places = [n for n, step in enumerate(reversed(path), 1) if isinstance(step, int)]
        sizes = range(max(2, *places[:1], 0), len(path))
        alone = (n for n in sizes if sum(other[-n:] == path[-n:] for other in paths) == 1)
        assert words.label(0, path) == label_of(path[-next(alone, max(len(path), 1)) :])


def test_values_that_are_nested_deeply_have_labels() -> None:
    """One path in 900 objects and one beside them: they differ in the outermost step alone."""
    inner: Any = {"id": "LK-1"}
    for _ in range(900):
        inner = {"a": inner}
    document = {"b": inner, "c": inner}
    words = words_of(document)
    labels = [words.label(0, path) for path, _ in leaves_of(document)]
    assert labels == [f"{first}.{'a.' * 900}id" for first in "bc"]


def test_a_small_result_that_is_nested_deeply_takes_little_memory() -> None:
    """Its labels are found without all the ends of all its paths: these were 80 MB here."""
    document: Any = [f"LK-{number}" for number in range(200)]
    for _ in range(300):
        document = {"a": document}
    words, path = words_of(document), (*("a",) * 300, 7)
    tracemalloc.start()
    try:
        assert words.label(0, path) == "a.7"
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_how_a_call_ended_is_found_once_and_not_handed_on() -> None:
    """A call that was answered where it was made may yet get another result."""
    calls, known = words_of({"id": "LK-1"}).calls, Ends({}, {})
    words = CallWords(calls, ends=known)
    assert (words.failure(0), words.outcome(0)) == (None, (Field("id", "LK-1"),))
    assert words.outcome(0) is words.outcome(0)
    assert known == Ends({}, {})
    known.failures[0], known.outcomes[0] = "It was said before.", ()
    words = CallWords(calls, ends=known)
    assert (words.failure(0), words.outcome(0)) == ("It was said before.", ())


def test_a_rehearsal_is_named_as_one() -> None:
    """What came of it would else be told as what came about."""
    for arguments, expected in (
        ({"app": "web", "dry_run": True}, [("app", "web"), ("dry_run", "true")]),
        ({"dryRun": "All"}, [("dryRun", "true")]),
        ({"dry_run": True}, [("dry_run", "true")]),
        ({"app": "web", "dry_run": False}, [("app", "web")]),
    ):
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "deploy", "arguments": json.dumps(arguments)},
        }
        words = CallWords(
            ChatContext([{"role": "assistant", "content": None, "tool_calls": [call]}]).tool_calls()
        )
        assert [(field.label, field.text) for field in words.identity(0)] == expected
