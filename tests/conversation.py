"""The conversation in a prompt, read back by two XML parsers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Any, NamedTuple

from lxml import etree

from chatfold import ChatContext, Prompt
from chatfold.core.xml import decode

__all__ = ["HEAD", "LAST_TURN", "Element", "elements", "elements_named", "prompt_of"]

LONG = "many words that are worth folding away. " * 40
HEAD = ({"role": "user", "content": "go {{ x }}"}, {"role": "assistant", "content": LONG})
LAST_TURN = ({"role": "user", "content": "and now?"}, {"role": "assistant", "content": "ok"})


class Element(NamedTuple):
    """An element of the conversation, decoded."""

    tag: str
    attributes: dict[str, str]
    text: str
    inner: tuple[Element, ...] = ()


def elements(prompt: str) -> list[Element]:
    """Return the children of the one `<conversation>`, as two parsers read them."""
    assert prompt.count("<conversation") == prompt.count("</conversation") == 1
    end = "</conversation>"
    xml = prompt[prompt.index("<conversation>") : prompt.index(end) + len(end)]
    root = ElementTree.fromstring(xml)
    assert tree(root) == tree(etree.fromstring(xml))
    assert root.attrib == {}
    assert not decode(root.text or "").strip()
    assert all(not (child.tail or "").strip() for child in root)
    return [element(child) for child in root]


def tree(node: Any) -> tuple[Any, ...]:
    return (node.tag, dict(node.attrib), node.text, node.tail, [tree(child) for child in node])


def element(node: ElementTree.Element) -> Element:
    attributes = {key: decode(value) for key, value in node.attrib.items()}
    inner = tuple(element(child) for child in node)
    return Element(node.tag, attributes, decode("".join(node.itertext())), inner)


def prompt_of(items: Sequence[Any], shape: str, **options: Any) -> Prompt:
    """Return the prompt for all of `items` but the last turn."""
    plan = ChatContext(list(items), shape=shape).plan(keep_last_turns=1, **options)
    assert plan.prompt is not None, plan.reason
    return plan.prompt


def elements_named(prompt: Prompt, tag: str) -> list[Element]:
    return [found for found in elements(prompt.user) if found.tag == tag]
