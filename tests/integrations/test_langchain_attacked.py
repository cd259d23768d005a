"""What an attack on `ChatfoldMiddleware` found: each fault as the user would meet it."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip(
    "langchain.agents", reason='LangChain is not installed: pip install "chatfold[langchain]"'
)
pytest.importorskip("langchain_anthropic", reason="langchain-anthropic is not installed")
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest
from langchain.tools import tool
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from pydantic import Field, SecretStr
from validator import validate

from chatfold import Policy
from chatfold.core.summary import TAG
from chatfold.integrations.langchain import ChatfoldMiddleware

SMALL = Policy(max_tokens=700, keep_tokens=400, min_gain=0.0)
THOUGHT: str | dict[Any, Any] = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
WORDS = "and so on, as it was agreed with the warehouse last week " * 4
THREAD: Any = {"configurable": {"thread_id": "one"}}


@tool
def look(order: str) -> str:
    """Look up an order."""
    return f"{order}: {WORDS}"


class Thinker(BaseChatModel):
    """Thinks, looks an order up, thinks and answers; writes summaries."""

    seen: list[list[BaseMessage]] = Field(default_factory=list)
    prompts: int = 0

    @property
    def _llm_type(self) -> str:
        return "thinker"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._said(messages))])

    def _said(self, messages: list[BaseMessage]) -> AIMessage:
        if messages[0].type == "system":
            self.prompts += 1
            return AIMessage("The customer asks for orders.")
        self.seen.append(messages)
        number = len(self.seen)
        if isinstance(messages[-1], ToolMessage):
            return AIMessage([THOUGHT, {"type": "text", "text": f"Answer {number}. {WORDS}"}])
        call = {"name": "look", "args": {"order": "LK"}, "id": f"call-{number}"}
        return AIMessage([THOUGHT], tool_calls=[call])


def asked(number: int) -> dict[str, str]:
    return {"role": "user", "content": f"Question {number}. {WORDS}"}


def broken(messages: list[Any]) -> list[Any]:
    sent: Any = convert_to_openai_messages(messages)
    found: list[Any] = validate(sent, "openai_chat")
    return found


def test_stripped_thinking_does_not_take_its_message_out_of_the_state() -> None:
    """`replace` with `strip` has removed each AI message whose thinking was taken out."""
    model = Thinker()
    middleware = ChatfoldMiddleware(policy=SMALL, persist="replace", thinking="strip")
    agent: Any = create_agent(model, [look], middleware=[middleware], checkpointer=InMemorySaver())
    for number in range(10):
        state = agent.invoke({"messages": [asked(number)]}, THREAD)
        assert broken(state["messages"]) == []
        assert broken(model.seen[-1]) == []
        kinds = [m.type for m in state["messages"]]
        assert kinds[kinds.index("human") + 1 :].count("tool") * 2 == kinds.count("ai")
        ids = [m.id for m in state["messages"]]
        assert len({*ids}) == len(ids)
    assert model.prompts >= 2
    assert len(state["messages"]) < 30


def test_a_subclass_may_say_that_messages_are_replaced() -> None:
    """`persist` given in `super().__init__()` has been without effect."""

    class Ours(ChatfoldMiddleware):
        def __init__(self) -> None:
            super().__init__(policy=SMALL, persist="replace")

    agent: Any = create_agent(Thinker(), [look], middleware=[Ours()], checkpointer=InMemorySaver())
    for number in range(8):
        state = agent.invoke({"messages": [asked(number)]}, THREAD)
    assert len(state["messages"]) < 32
    assert Ours().name == "Ours"


def test_a_subclass_hears_that_its_hook_would_not_be_called() -> None:
    """A hook of its own after the model has been dropped without a word."""

    class Ours(ChatfoldMiddleware):
        def after_model(self, state: Any, runtime: Any) -> None:
            raise AssertionError

    Ours()
    with pytest.raises(TypeError, match=r"Ours\.after_model"):
        Ours(persist="replace")


class Plain(TypedDict):
    messages: Annotated[list[Any], lambda one, two: one + two]
    llm_input_messages: list[Any]


def test_a_node_takes_the_dicts_of_a_graph_without_add_messages() -> None:
    """The fold of a list with dicts has ended the run, with an AttributeError."""
    model = Thinker()
    graph: Any = StateGraph(Plain)
    graph.add_node("fold", ChatfoldMiddleware(policy=SMALL).node(model))
    graph.add_node("model", lambda s: {"messages": [model.invoke(s["llm_input_messages"])]})
    graph.add_edge(START, "fold")
    graph.add_edge("fold", "model")
    chat = graph.compile(checkpointer=InMemorySaver())
    said = {"role": "assistant", "content": WORDS}
    for number in range(14):
        state = chat.invoke({"messages": [said, asked(number), said, asked(number)]}, THREAD)
    assert model.prompts
    assert len(state["llm_input_messages"]) < len(state["messages"])
    assert all(isinstance(m, BaseMessage) for m in state["llm_input_messages"])


@pytest.mark.parametrize("kept", [[999], ["a"], [-1], [3, 2], [0, 0], [True]])
def test_a_fold_in_the_state_that_makes_no_sense_ends_no_turn(kept: list[Any]) -> None:
    """What is edited in a checkpoint has ended the run, with an IndexError."""
    model = Thinker()
    saver = InMemorySaver()
    agent: Any = create_agent(
        model, [look], middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=saver
    )
    for number in range(8):
        agent.invoke({"messages": [asked(number)]}, THREAD)
    digest, length, _, text = agent.get_state(THREAD).values["chatfold_fold"]
    agent.update_state(THREAD, {"chatfold_fold": [digest, length, kept, text]}, as_node="model")
    again: Any = create_agent(
        model, [look], middleware=[ChatfoldMiddleware(policy=SMALL)], checkpointer=saver
    )
    again.invoke({"messages": [asked(9)]}, THREAD)
    assert broken(model.seen[-1]) == []
    assert str(model.seen[-1]).count(f"<{TAG} ") == 1


@pytest.mark.parametrize("where", ["model", "settings", "nowhere"])
def test_what_thinking_behind_a_summary_needs_is_in_what_is_sent(where: str) -> None:
    """`ChatAnthropic` prefers its own `thinking` to the settings, so Claude has refused it all."""
    own: Any = {"type": "adaptive", "display": "summarized"}
    given: dict[str, Any] = {"thinking": own, "betas": ["mine"]}
    more = given if where == "model" else {}
    model = ChatAnthropic(model_name="claude-opus-5-5", api_key=SecretStr("test"), **more)
    messages: list[Any] = []
    for number in range(12):
        answer: list[str | dict[Any, Any]] = [
            THOUGHT,
            {"type": "text", "text": f"Answer {number}. {WORDS}"},
        ]
        messages += [HumanMessage(f"Question {number}. {WORDS}"), AIMessage(answer)]
    messages.append(HumanMessage("And now?"))
    got: list[ModelRequest[Any]] = []

    def handler(request: ModelRequest[Any]) -> Any:
        got.append(request)

    ChatfoldMiddleware(Thinker(), SMALL).wrap_model_call(
        ModelRequest(
            model=model,
            messages=messages,
            state={"messages": messages},
            model_settings=given if where == "settings" else {},
        ),
        handler,
    )
    asked_of: Any = got[0].model
    sent = asked_of._get_request_payload(got[0].messages, **got[0].model_settings)
    assert sent["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    mine = [] if where == "nowhere" else ["mine"]
    assert sent["betas"] == [*mine, "thinking-binding-controls-2026-08-01"]
    assert sent["thinking"].get("display") == (None if where == "nowhere" else "summarized")
    assert model.thinking == more.get("thinking")
    assert model.betas == more.get("betas")
    # a model that another middleware puts in its place, such as a fallback, knows none of it
    assert set(got[0].model_settings) == (set(given) if where == "settings" else set())
