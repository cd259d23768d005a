"""Refusals in words, and errors of servers, that come in place of a summary."""

from __future__ import annotations

from typing import Any

import pytest
from laws import same_objects, talk

from chatfold import ChatContext
from chatfold.core.no_summary import is_error_text, is_refusal
from chatfold.errors import RefusedSummaryError, SummarizerError

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I\u2019m sorry, but I can\u2019t assist with that request.",
    "Sorry, I cannot comply with this request. Please consult a professional.",
    "I cannot help with that.",
    "I'm unable to summarize this conversation.",
    "Sorry, I'm unable to process this conversation.",
    "I apologize, but I am not able to summarize this content.",
    "As an AI language model, I cannot provide a summary of this.",
    "Unfortunately, I can't continue.",
    "We are sorry, we are unable to complete your request.",
    "Es tut mir leid, aber dabei kann ich dir nicht helfen.",
    "Tut mir leid, ich kann diese Anfrage nicht bearbeiten.",
    "Je suis d\u00e9sol\u00e9, mais je ne peux pas vous aider.",
    "Lo siento, pero no puedo ayudar con eso.",
    "Desculpe, mas n\u00e3o posso ajudar com isso.",
    "Mi dispiace, ma non posso aiutarti.",
]
ERRORS = [
    "Error: 500 Internal Server Error",
    "500 Internal Server Error",
    "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
    "HTTP 503: Service Unavailable",
    "HTTP/1.1 502 Bad Gateway",
    "Bad Gateway",
    "Too Many Requests",
    "Rate limit exceeded. Please try again in 20 s.",
    "error: overloaded",
    "API error: 529 overloaded",
    "Error: request timed out",
    "upstream connect error or disconnect/reset before headers. reset reason: overflow",
    "no healthy upstream",
    "openai.RateLimitError: Error code: 429",
    "APIConnectionError: Connection error.",
    "APITimeoutError('Request timed out.')",
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: x',
    '{"error":{"message":"overloaded","type":"overloaded_error"}}',
    '{"type":"error","error":{"type":"api_error","message":"x"},"request_id":"req_1"}',
    '{"error": "model not found", "status": 404}',
    '{"errors": ["quota"], "timestamp": "2026-11-28T10:00:00Z", "path": "/v1/chat"}',
    "<html><body>502 Bad Gateway</body></html>",
    "<!DOCTYPE html>\n<html lang=en><title>Error</title>" + "<p>x</p>" * 2000,
]
SUMMARIES = [
    "I'm sorry, but I can't process the refund of order 4711, the assistant said.",
    "Sorry about the delay was said; the parcel comes on Tuesday.",
    "The assistant cannot help with refunds; the user was sent to the desk.",
    "Unfortunately, the flight was cancelled; the user wants the next one.",
    "Unfortunately, we cannot complete the booking until the customer sends her passport.",
    "Lo siento, no puedo: as\u00ed respondi\u00f3 el asistente a la clienta.",
    "I can't help but notice that the user asks for the same again.",
    "I cannot continue until Ana confirms the address. The payment is done.",
    "I'm sorry, but I can't help with that. The user then asked for a refund, and got it.",
    "Internal error (INC-4711) in billing traced to a null tax id; fix deployed; Ana to confirm.",
    "Bad request (missing currency) was fixed in the client.",
    "Error 500 or timeouts came from the pool; fixed.",
    "TimeoutError: the user's script stops at line 40.",
    "ConnectionError: the user asks why the database refuses.",
    "Traceback (most recent call last): the user pasted one of a KeyError, which was mended.",
    '{"title": "Order of Ana", "status": "open", "details": "wants a refund", "errors": []}',
    '{"status": "in progress", "message": "User wants X", "error": null}',
    "<html><body><p>Ana wants a refund.</p></body></html>",
    "I can't process refunds myself; the user was sent to the desk.",
    "No puedo comer gluten, dice la clienta.",
    "Error: 500 Internal Server Error on checkout since noon. The user wants it taken back.",
    "Error handling of the parser was rewritten.",
    "Errors: none so far.",
    "Not found: the invoice of May. The user will look for it.",
    "Bad Gateway errors come from the proxy; its pool was too small.",
    "KeyError: 'id' in orders.py; the user wants it mended.",
    '{"order": "4711", "error": "none", "state": "sent"}',
    '{"errors": 3, "files": ["a.py"]}',
    '{"id": "c1", "title": "Trip", "details": ["fly to Rome"], "errors": ["booking failed"]}',
    '{"order": 1, "message": "The user wants a refund."}',
    "Connection errors were seen since noon, and the pool was made larger.",
    "The request timed out twice, then the refund went through.",
    "Timeouts were raised to 30 s.",
    "404 pages of the shop were listed.",
    "500 units were ordered.",
    "La cliente ne mange pas de viande.",
    "No puede pagar con tarjeta; paga en efectivo.",
    "I can help with the order 4711.",
    "We will not share the address, as the user asked on 2026-11-02.",
    "{not json",
    "[1, 2]",
    "",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_in_words_is_none(text: str) -> None:
    assert is_refusal(text)
    assert is_refusal(f"\n{text}\n")


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_of_a_server_is_none(text: str) -> None:
    assert is_error_text(text)
    assert not is_refusal(text)


@pytest.mark.parametrize("text", SUMMARIES)
def test_a_summary_of_refusals_and_errors_is_one(text: str) -> None:
    assert not is_refusal(text)
    assert not is_error_text(text)


@pytest.mark.parametrize("text", [REFUSALS[0], ERRORS[0], ERRORS[-2]])
def test_law_4_neither_takes_the_place_of_a_head(text: str) -> None:
    """The list stays as it is, the next summarizer is asked, and what was spent is told."""
    items = talk(6)
    before = list(items)
    ctx: ChatContext[Any] = ChatContext(items)
    error = RefusedSummaryError if text in REFUSALS else SummarizerError
    with pytest.raises(error) as caught:
        ctx.summarize(lambda _: text, keep_last_turns=1)
    assert caught.value.llm_calls == 1
    assert same_objects(items, before)
    outcome = ctx.summarize([lambda _: text, lambda _: "what was said"], keep_last_turns=1)
    assert outcome.changed
    assert outcome.llm_calls == 2
