"""What `ChatfoldMiddleware.forget` drops of a thread that it has folded."""

from __future__ import annotations

import random
from string import ascii_lowercase
from typing import Any

import pytest

pytest.importorskip(
    "langchain.agents", reason='LangChain is not installed: pip install "chatfold[langchain]"'
)

from heap import holds
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from chatfold import Policy, Prompt
from chatfold.integrations.langchain import ChatfoldMiddleware
from chatfold.stores import MemoryStore

SMALL = Policy(max_tokens=400, keep_tokens=150, min_gain=0.0)
WORDS = "and so on, as it was agreed with the warehouse last week " * 7


class Model(BaseChatModel):
    """A chat model that answers, and holds nothing of what it was sent."""

    model: str = "test-1"

    @property
    def _llm_type(self) -> str:
        return "test"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("It is on its way."))])


class Writer:
    """Summarizes with the mark of the conversation."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, prompt: Prompt) -> str:
        self.asked += 1
        return f"zq{prompt.user.partition('zq')[2][:8]} asked the desk."


def unheard() -> str:
    """Return a word that nothing else in this process holds."""
    return "zq" + "".join(random.choices(ascii_lowercase, k=8))


def talk(agent: Any, mark: str, thread: str) -> None:
    """Have a thread folded."""
    for number in range(8):
        said = HumanMessage(f"{mark} asks {number}: {WORDS}")
        agent.invoke({"messages": [said]}, {"configurable": {"thread_id": thread}})


@pytest.mark.parametrize("persist", ["view", "replace"])
@pytest.mark.parametrize("stored", [False, True])
def test_a_thread_is_forgotten_for_all_models_and_no_other_thread_is(
    persist: Any, stored: bool
) -> None:
    joe, kim, saver, writer = unheard(), unheard(), InMemorySaver(), Writer()
    store = MemoryStore() if stored else None
    fold = ChatfoldMiddleware(writer, SMALL, persist=persist, store=store)
    for model in (Model(), Model(model="test-2")):
        agent = create_agent(model, middleware=[fold], checkpointer=saver)
        talk(agent, joe, "joe")
        talk(agent, kim, "kim")
    assert holds(fold, joe)
    saver.delete_thread("joe")
    fold.forget("joe")
    if store is not None:
        assert store.erase("joe") > 0
    assert not holds(fold, joe)
    assert holds(fold, kim)


def test_what_a_thread_has_in_an_agent_that_is_a_part_of_another_graph_is_forgotten_too() -> None:
    """It has a name of its own there: the store's key says the node."""
    joe, joes, saver, store = unheard(), unheard(), InMemorySaver(), MemoryStore()
    fold = ChatfoldMiddleware(Writer(), SMALL, store=store)
    graph = StateGraph(MessagesState)
    graph.add_node("desk", create_agent(Model(), middleware=[fold]))
    graph.add_edge(START, "desk")
    whole = graph.compile(checkpointer=saver)
    talk(whole, joe, "joe")
    talk(whole, joes, "joe-2")
    assert holds(fold, joe)
    fold.forget("joe")
    assert store.erase("joe") == 0
    assert store.erase("joe/desk") > 0
    assert not holds(fold, joe)
    assert holds(fold, joes)


@pytest.mark.parametrize("key", ["tenant", lambda config: "tenant"])
def test_a_conversation_that_key_names_is_forgotten_by_that_name(key: Any) -> None:
    mark = unheard()
    fold = ChatfoldMiddleware(Writer(), SMALL, key=key)
    agent = create_agent(Model(), middleware=[fold], checkpointer=InMemorySaver())
    talk(agent, mark, "joe")
    fold.forget("joe")
    assert holds(fold, mark)
    fold.forget("tenant")
    assert not holds(fold, mark)


def test_a_key_of_the_users_own_names_that_conversation_alone() -> None:
    """One like it, behind which the name of a node stands, is another one."""
    joe, fold = unheard(), ChatfoldMiddleware(Writer(), SMALL, key=lambda _: "joe/desk")
    graph = StateGraph(MessagesState)
    graph.add_node("desk", create_agent(Model(), middleware=[fold]))
    graph.add_edge(START, "desk")
    talk(graph.compile(checkpointer=InMemorySaver()), joe, "one")
    fold.forget("joe")
    assert holds(fold, joe)
    fold.forget("joe/desk")
    assert not holds(fold, joe)


def test_a_thread_may_be_named_by_a_number() -> None:
    """LangGraph takes any id, and writes it as a text."""
    mark, folds = unheard(), ChatfoldMiddleware(Writer(), policy=SMALL)
    agent = create_agent(Model(), [], middleware=[folds], checkpointer=InMemorySaver())
    talk(agent, mark, "7")
    assert holds(folds, mark)
    folds.forget(7)  # type: ignore[arg-type]
    assert not holds(folds, mark)
