"""In which fields a unit holds a value."""

from __future__ import annotations

from chatfold.core.grounding.units import Index


def test_a_unit_tells_the_fields_also_of_what_came_after_it_was_asked() -> None:
    """A key may vouch for several values, and stand in several fields of several units."""
    index = Index()
    one, other = index.unit(-1), index.unit(-1)
    index.place("number", ("number:5", "number:05"), one, "count")
    assert index.fields_of("number:05", [one, other]) == {("number", "count")}
    index.place("number", ("number:5",), one, "total")
    index.place("id", ("number:5",), other, "room")
    assert index.fields_of("number:5", [one]) == {("number", "count"), ("number", "total")}
    assert index.fields_of("number:5", [other]) == {("id", "room")}
    assert index.fields_of("number:6", [one, other]) == set()
