"""Cutting the connections of a call whose server says nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from chatfold.stores._watch import Watch

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A connection: the side of the call, which waits for five seconds, and the server's."""
    mine, server = socket.socketpair()
    mine.settimeout(5)
    with mine, server:
        yield mine, server


def test_a_call_that_waits_for_too_long_is_cut(pair: Pair) -> None:
    watch = Watch(0.1)
    watch.add(pair[0])
    start = time.monotonic()
    assert pair[0].recv(1) == b""
    assert 0.05 < time.monotonic() - start < 4
    assert watch.expired
    watch.close()


def test_progress_begins_the_time_anew(pair: Pair) -> None:
    watch = Watch(2.0)
    watch.add(pair[0])
    for _ in range(22):
        time.sleep(0.1)
        watch.progress()
    pair[1].send(b"x")
    assert pair[0].recv(1) == b"x"
    assert not watch.expired
    watch.close()


def test_what_is_over_is_left_alone(pair: Pair) -> None:
    """The connection, and a file that has the number of its socket since."""
    before = threading.active_count()
    watch = Watch(0.1)
    watch.add(pair[0])
    watch.close()
    time.sleep(0.2)
    pair[1].send(b"x")
    assert pair[0].recv(1) == b"x"
    assert not watch.expired
    assert threading.active_count() <= before


def test_a_closed_connection_whose_number_was_given_away_is_not_mistaken(pair: Pair) -> None:
    mine, server = socket.socketpair()
    watch = Watch(0.1)
    watch.add(mine)
    number = mine.fileno()
    mine.close()
    other, peer = socket.socketpair()
    assert number in (other.fileno(), peer.fileno())
    deadline = time.monotonic() + 5
    while not watch.expired:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    peer.send(b"x")
    assert other.recv(1) == b"x"
    watch.close()
    for one in (server, other, peer):
        one.close()


def test_the_time_does_not_run_out_before_there_is_a_connection(pair: Pair) -> None:
    watch = Watch(0.1)
    time.sleep(0.3)
    assert not watch.expired
    watch.add(pair[0])
    assert pair[0].recv(1) == b""
    assert watch.expired
    watch.close()


def test_a_lost_connection_is_no_error() -> None:
    mine, server = socket.socketpair()
    mine.close()
    server.close()
    watch = Watch(0.1)
    watch.add(mine)
    watch.close()
