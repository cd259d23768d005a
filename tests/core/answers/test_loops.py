"""A model that went round in a loop says it once; equal lines that mean something stay."""

from __future__ import annotations

import pytest
from laws import talk
from quickest import quickest

from chatfold import ChatContext
from chatfold.core.answers.loops import without_loops

LINE = "The user asked where order LK-4820037 is and was told so."
BLOCK = "\n".join(f"Order LK-{4820000 + 37 * number} is looked after." for number in range(20))
SAID = "The user asked where the order is and was told so."
ENTRY = "- Costa Coffee, 4.95 EUR, paid by card"


@pytest.mark.parametrize(
    ("text", "once"),
    [
        (f"{LINE}\n" * 1000, f"{LINE}\n"),
        (f"{LINE}\n\n" * 100, f"{LINE}\n\n"),
        (f"{BLOCK}\n" * 30, f"{BLOCK}\n"),
        (f"{BLOCK}\n" * 3 + "And so on.", f"{BLOCK}\nAnd so on."),
        (f"First.\n{LINE} \n" + f"{LINE}\n" * 50 + "Last.", f"First.\n{LINE} \nLast."),
        (f"{BLOCK}\n" * 5 + BLOCK[:100], BLOCK),
        (f"{LINE}\n" * 50 + LINE[:20], LINE),
        ("OK\n" * 1000 + "That is all.", "OK\nThat is all."),
        (f"{LINE}\n" * 60 + f"{BLOCK}\n" * 4 + LINE, f"{LINE}\n{BLOCK}\n{LINE}"),
        (f"```\n{BLOCK}\n```\n" * 4, f"```\n{BLOCK}\n```\n"),
        (
            "Order A:\n- status: delivered\nOrder B:\n- status: delivered\n" * 50,
            "Order A:\n- status: delivered\nOrder B:\n- status: delivered\n",
        ),
        (f"```\n{LINE}\n" + f"{LINE}\n" * 90, f"```\n{LINE}\n"),
        ("订单已发货，请等待。\n" * 250, "订单已发货，请等待。\n"),
    ],
)
def test_what_is_said_over_and_over_is_said_once(text: str, once: str) -> None:
    """What stands before and behind it stays; so does a round that ends with other words."""
    assert without_loops(text).rstrip("\n") == once.rstrip("\n")


@pytest.mark.parametrize(
    "text",
    [
        "SUMMARY",
        LINE * 20,
        f"{LINE}\n{LINE}",
        f"{ENTRY}\n" * 9,
        f"{LINE}\n" * 20,
        "ERROR worker could not reach the database, it is retried\n" * 8 + "It gave up then.",
        "\n".join(f"- 2026-11-{day}: {ENTRY[2:]}" for day in range(10, 30)),
        "\n".join(f"{number}. {LINE}" for number in range(100)),
        "\n".join(f"{number}" for number in range(1000)),
        "Order A:\n- status: delivered\n" * 2 + BLOCK,
        "\n".join(f"Order {n}:\n- status: delivered\n- paid: yes" for n in range(40)),
        "\n".join(f"{LINE}\n- status: delivered of {n}" for n in range(40)),
        "| item | price |\n|---|---|\n" + "| Costa Coffee | 4.95 EUR |\n" * 40,
        f"{'-' * 80}\n" * 20 + LINE,
        "0000 0000 0000 0000\n" * 60,
        "\n" * 2000 + LINE,
        f"```yaml\n{'- {region: eu-west-1, size: m5.large}' + chr(10)}" * 1
        + "- {region: eu-west-1, size: m5.large}\n" * 40
        + "```",
        "The four files:\n" + "```\nprint(1)\n```\n" * 4 + BLOCK,
        f"{LINE}\n{BLOCK}\n{LINE}\n{BLOCK}\n{LINE}",
        f"{BLOCK}\n\n{BLOCK}",
        "Row, row, row your boat\n" * 3 + "Gently down the stream\n" + BLOCK,
        "Alice: yes\nBob: no\n" * 5 + BLOCK,
        ("x = 1\n" * 10 + "y = 2\n") * 2 + BLOCK,
    ],
)
def test_equal_lines_that_may_mean_something_stay(text: str) -> None:
    """Lists, tables, code, rules, numbers, headings, and what is said three times in short."""
    assert without_loops(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a\n" * 25_000,
        "-\n" * 25_000,
        "a\nb\n" * 12_500,
        "".join(f"{n % 7}{n % 11}x\n" for n in range(14_000)),
        "".join("a\n" * (n % 150) + "b\n" for n in range(300)),
        "".join(f"{'|' if n % 399 else 'word'}\n" for n in range(25_000)),
        "".join(f"{LINE if n % 300 else n}\n" for n in range(860)),
        "```\n" * 12_000,
        "x\n\n" * 16_000,
        ("a\n" * 60 + "b\n") * 400,
        f"{'w' * 50_000}\n{'w' * 50_000}",
    ],
)
def test_long_answers_take_no_time(text: str) -> None:
    """Whatever is in them."""
    assert quickest(lambda: without_loops(text)) < 0.5


@pytest.mark.parametrize("way", ["summarize", "apply"])
def test_a_loop_is_not_asked_about_and_does_not_fill_the_window(way: str) -> None:
    """It was far too long once, was asked for again, and stood there with its middle left out."""
    items = talk(turns=400)
    ctx = ChatContext(items)
    if way == "apply":
        outcome = ctx.apply(ctx.plan(keep_last_turns=1), f"{SAID}\n" * 300)
    else:
        outcome = ctx.summarize(lambda _: f"{SAID}\n" * 300, keep_last_turns=1)
    assert outcome.summary == SAID
    assert (outcome.llm_calls <= 1, outcome.truncated) == (True, 0)


def test_a_loop_as_long_as_its_head_gives_no_gain_as_before() -> None:
    """It says nothing of the head: the list stays."""
    items = talk()
    outcome = ChatContext(items).summarize(lambda _: f"{SAID}\n" * 3000, keep_last_turns=1)
    assert outcome.reason == "no_gain"
    assert items == talk()
