"""Refusals in words, errors of servers, calls and empty forms in place of a summary."""

from __future__ import annotations

import time
from typing import Any

import pytest
from laws import same_objects, talk

from chatfold import ChatContext
from chatfold.core.answers.no_summary import is_error_text, is_refusal, says_no_change, says_nothing
from chatfold.core.answers.thoughts import is_calls_alone
from chatfold.errors import (
    EmptySummaryError,
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
)

AZURE = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management "
    "policy."
)
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
    "Please provide the conversation you would like me to summarize.",
    "Please provide the conversation you'd like summarized.",
    "Could you please share the conversation so that I can summarize it?",
    "Could you please share the chat history? Once you do, I'll summarize it.",
    "Sure! Please share the conversation.",
    "I'd be happy to help! Please paste the text you want me to summarize.",
    "I'm sorry, but I don't see any conversation to summarize. Please provide it.",
    "It looks like you haven't provided any conversation to summarize.",
    "There is no conversation to summarize.",
    "No messages to summarize.",
    "Nothing to summarize.",
    "No conversation was provided.",
    "There is no conversation here.",
    "I don't see any chat history above. Could you please paste it?",
    "You have not shared the conversation.",
    AZURE,
    (
        f"{AZURE} Please modify your prompt and retry. To learn more about our content filtering "
        "policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766"
    ),
    "Output blocked by content filtering policy",
    "I'm ready to summarize. Please provide the conversation.",
    "I need the conversation to summarize it.",
    "I don't have access to the conversation. Please paste it here.",
    "It seems that the conversation is empty. Please provide the conversation.",
    "Of course! Please provide the conversation you'd like me to summarize, and I'll do so.",
    "There's nothing to summarize.",
    "No conversation history available to summarize.",
    "What would you like me to summarize?",
    "I cannot write the record of this conversation.",
    "I can't write this record.",
    "I'm unable to provide a record of the conversation.",
    "I can't help with summarizing this conversation.",
    "I cannot summarize this conversation because it contains sensitive personal information.",
    "Sorry, I can't create a summary of this conversation as it appears to violate my guidelines.",
    "I cannot write this record. Please try another conversation.",
    "I won't write this record, as it involves instructions that could cause harm.",
    "As an AI language model, I must decline to write this record.",
    "I\u2019m sorry, I can\u2019t produce the conversation summary of this chat.",
]
UNCHANGED = [
    "No changes to the record.",
    "The previous record still holds.",
    "(No changes to the record.)",
    "There are no changes to the summary.",
    "The previous summary remains valid.",
    "The earlier record still stands as it is.",
    "The existing record is unchanged.",
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
    "Error generating summary: Connection timed out",
    "Error generating summary: boom",
    (
        "Error generating summary: Error code: 400 - {'error': {'message': 'messages: roles must "
        "alternate between \"user\" and \"assistant\"', 'type': 'invalid_request_error'}}"
    ),
    "An error occurred while generating the summary: 'choices'",
    "Failed to generate summary",
    "Failed to generate summary. Please try again.",
    "Error summarizing conversation: boom",
    "Error: Failed to generate summary",
    "Unable to generate summary at this time.",
    "The summary could not be generated due to an error.",
    "Failed to generate response: timeout",
    "Error processing request.",
    "[Error: timeout]",
    "503 UNAVAILABLE. {'error': {'code': 503, 'message': 'The model is overloaded.'}}",
    f"Error code: 401 - {{'error': {{'message': 'Incorrect API key. {'x' * 200}'}}}}",
    "You exceeded your current quota, please check your plan and billing details.",
    "The server is overloaded. Please try again later.",
    "We're currently experiencing high demand. Please try again later.",
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000.",
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/.",
    "Sorry, need more steps to process this request.",
    "I was unable to create a summary of the conversation.",
    "Summary generation failed: timeout",
    "Summarization failed.",
    "Sorry, I encountered an error while generating the summary.",
    "Sorry, there was a problem with your request. Please try again later.",
    "An error occurred while processing your request.",
    "An unexpected error occurred.",
    "Oops! Something went wrong. Please try again.",
    "The server had an error while processing your request. Sorry about that!",
    "The model is overloaded. Please try again later.",
    "That model is currently overloaded with other requests. You can retry your request.",
    "The service is currently unavailable. Please try again later.",
    "The model `gpt-9` does not exist or you do not have access to it.",
    "[ERROR] model overloaded",
    "Model not found",
    "Internal error",
    "Rate limit exceeded, please retry",
    "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000.",
    "Max retries exceeded with url: /v1/chat/completions",
    "HTTPSConnectionPool(host='api.x.com', port=443): Max retries exceeded with url: /v1/chat",
    "Agent stopped due to iteration limit or time limit.",
    "Agent stopped due to max iterations.",
    "<!DOCTYPE html>\n<html lang=en><title>Error</title>" + "<p>x</p>" * 2000,
]
CALLS = [
    '{"name": "refund", "arguments": {"order": "LK-1001"}}',
    '{"name": "refund", "arguments": "{\\"order\\": \\"LK-1001\\"}"}',
    '```json\n{"name": "refund", "arguments": {}}\n```',
    '[{"name": "refund", "parameters": {}}]',
    '{"tool": "refund", "args": {}}\n{"tool": "refund", "args": {}}',
    '{"type": "function", "function": {"name": "refund", "arguments": ""}}',
    '{"tool_calls": [{"id": "x", "function": {"name": "refund", "arguments": "{}"}}]}',
    '{"role": "assistant", "content": null, "tool_calls": [{"name": "a", "arguments": {}}]}',
    '{"tool_uses": [{"recipient_name": "functions.a", "parameters": {}}]}',
    '{"type": "tool_use", "id": "t1", "name": "refund", "input": {"order": "LK-1"}}',
    '{"functionCall": {"name": "refund", "args": {}}}',
    '<invoke name="refund"><parameter name="x">1</parameter></invoke>',
    '<invoke name="refund"></antml:invoke>',
    'functions.refund({"order": "LK-1001"})',
    'functions.refund({"why": "late :) \\" (twice)"});\nfunctions.look()',
    '```tool_code\nprint(default_api.refund(order="LK-1"))\n```',
    'refund({"order": "LK-1"})',
    '{"action": "refund", "action_input": {"order": "LK-1"}}',
    "\u273fFUNCTION\u273f: refund\n\u273fARGS\u273f: {}",
]
NOTHING = [
    *("- N/A", "Summary: N/A", "**Summary:** None.", "## Summary:\n", "No summary available."),
    *("Summary unavailable", '{"summary": ""}', '{"summary": null}', '{"text": " N/A "}'),
    '{"response": {"summary": []}}',
]
SUMMARIES = [
    # One word may be anybody's; none of them is a summary that a model would write.
    *(
        "{}",
        "[]",
        "null",
        "None.",
        "N/A",
        "(empty)",
        "NaN",
        '""',
        "Error",
        "Timeout",
        "content_filter",
    ),
    *("short", "summary", "ok", "x", ".", "1", "Done.", "A summary.", "Summary", "text", "s"),
    *("...", "\u2026", "-", "---"),  # as stand-ins for a model answer in tests
    *("The user asked for nothing yet.", "Refund done.", "Nothing was decided.", "No answer yet."),
    *("No", "None of the orders has arrived.", "- Orders asked: LK-1000", "0", "false", "\u2705"),
    *("No content was deleted.", "No messages yet.", "N/A was the answer.", "Nothing is open."),
    "The user got 'Connection timed out' and asked to retry.",
    "An error occurred while processing order LK-1; it was retried.",
    "An error occurred while processing the refund.",
    "An error occurred while processing your request, the page said, and the user asked why.",
    "An error occurred, retry worked.",
    "The model is overloaded at peak times, the user said",
    "The model is overloaded, the assistant told the user, and LK-1 was looked up later.",
    "The model is currently unavailable.",  # of a shoe
    "The service is currently unavailable.",
    "The server is down.",
    "The service is unavailable. Please call Ana.",
    "The API is currently unavailable; the lookup is open.",
    "The engine is overloaded because of the trailer.",
    "This model's maximum context length is 8192 tokens.",
    "Incorrect API key provided: the .env had an old one.",
    "Failed to create the summary table in PostgreSQL.",
    "Unable to generate summary statistics for May.",
    "The summary is empty because the report failed.",
    "Summary: the user wants a refund.",
    "Could not complete the request.",  # for a visa
    "Failed to get a response from the hotel.",
    "The API returned an error.",
    "An error occurred in checkout.",
    "Not available.",
    "No summary of the report was sent.",
    "Response blocked by the firewall.",
    "Please provide the conversation language: German.",
    "You have not shared the conversation link.",
    "Model not found in stock: the user takes the blue one.",
    "Error generating summary: the user's report stops at 40 %, and the user wants it mended.",
    "Error generating summary: asked for the log; pending.",
    "Error generating summary in report.py comes from a missing key.",
    "Failed to generate summary reports for LK-1.",
    "Failed to generate summary: fixed by Ana.",
    "Failed to create a summary: no access to the sheet, Ana grants it tomorrow.",
    "503 units {'error': 3}",
    "An internal error occurred in the billing job.",
    "There was an error in the request: wrong id.",
    "I need the chat transcript of May.",
    "Null Island was visited.",
    "...and then they left",
    "Summarization failed in the nightly job, and was started again.",
    "Unable to create a summary of LK-1001.",
    "There was a problem with the parcel. Please see LK-1.",
    "[ERROR] lines of the log come from the pool; it was made larger.",
    "Error in line 40.",
    "Timeout of the pool was raised.",
    "Rate limit reached for the free plan; the user pays now.",
    "Max retries exceeded in the upload job.",
    "The agent stopped due to the iteration limit of 5, which the user raised.",
    "The response was filtered by date.",
    "The output is blocked by the filter of the pump.",
    "The request was rejected due to the return policy.",
    "The prompt was flagged by the content filter, so the user wrote another.",
    "Please provide the invoice of May, the user asked.",
    "Please share the conversation with Ana, the user said.",
    "Could you please share the document? was asked; the user will.",
    "No chat here.",
    "I can't find the conversation.",  # with a colleague
    "There is no chat yet.",
    "Failed to generate summary - an index is to be made.",
    "There is no conversation with the bank in the files.",
    "No transcript was provided by the court.",
    "You haven't provided any address, the assistant said.",
    "I don't see any conversation to summarize, said the bot, and the user left.",
    '{"goal": "find orders", "orders": ["LK-1001"]}',
    '{"summary": "Refund done."}',
    '{"open": [], "done": []}',
    '{"orders": 0}',
    '{"name": "Ana", "arguments": ["for", "against"]}',
    '{"name": "Ana", "input": {"order": "LK-1"}}',
    '{"name": "Trip to Rome", "parameters": {"days": 3}}',
    '{"name": "refund", "arguments": {}, "result": "done"}',
    '{"name": "refund", "arguments": "for the order"}',
    '{"content": "Refund done.", "tool_calls": [{"name": "refund", "arguments": {}}]}',
    '{"tool_calls": []}',
    '{"action": "Final Answer", "action_input": "The user wants a refund."}',
    'refund({"order": "LK-1"}) failed (twice)',
    "refund(LK-1)",
    '{"tool_calls": 3}',
    '[{"name": "refund", "arguments": {}}, {"note": "done"}]',
    '{"name": "refund", "arguments": {}} was called.',
    'The assistant called {"name": "refund", "arguments": {}}.',
    'functions.refund({"order": "LK-1"}) was called, and it failed (twice)',
    '<invoke name="refund"></invoke> was written as text.',
    "<invoke>",
    "```\nAll was done.\n```",
    '"All was done."',
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
    "They talked about orders.",
    # Of records that are not this one, of what somebody else cannot write, and what goes on.
    "The agent cannot write the record of the meeting without Kim.",
    "I (the assistant) was unable to provide the customer's record",
    "No changes to the record of order 17 were made; refund RF-1 was issued.",
    "No changes to the record of order A were made.",
    "I cannot write the record.",
    "I can't create this record.",
    "I cannot create the DNS record.",
    "I can't provide the medical record.",
    "We cannot provide a record of the conversation with the bank.",
    "I cannot write the record of this conversation until Ana agrees.",
    "The user cannot write the record of this conversation.",
    "I can't write this record to the table.",
    "I can't write this record because the table is locked.",
    "I cannot summarize the conversation as it was deleted by Ana.",
    "I cannot summarize this conversation because it contains order LK-1, which was refunded.",
    "I cannot summarize this conversation because it is about a divorce; she wants a refund.",
    "I'm unable to provide a record of the conversation, so the user was sent to the desk.",
    "The record was not changed.",
    "No changes to the records.",
    "No changes to the record in the database were made.",
    "No changes to the database record.",
    "No changes to the record: it stays at two lines.",
    "No changes to the summary page of the report.",
    "No changes were made.",
    "The previous record holds the address of Ana.",
    "The previous record still holds the wrong address.",
    "The previous record of 9.58 s still stands.",
    "The record still holds.",
    "The previous summary is valid for the user's order; the refund is open.",
    "The earlier record is current until May.",
    "The previous owner still holds the title.",
    "The prior summary stands in the report.",
    "No updates to the record label were announced.",
    "No updates to the record player.",
    "There are no changes to the record layer of TLS.",
    "The existing summary applies to the old plan.",
    "The record of the conversation was sent to Ana.",
    "A record of the conversation cannot be written, the assistant said.",
    "We can't make a record of the song until May.",
    "I will not write the summary of the book.",
    "I can't help with summarizing the report.",
    "I can't summarize this report because it is empty.",
    "I cannot provide a summary of the conversation with Kim.",
    "Unable to write the record: disk full.",
    "The assistant was unable to summarize this conversation because it contains code.",
    "I cannot write the record of this conversation. The user wants a refund.",
    "Previous record: still holds.",
    "The record still stands at 9 minutes.",
    "No changes to the record. The user wants a refund.",
    "The previous record still holds. Refund RF-1 was issued.",
    "I can't write this record. The parcel arrived.",
    "I cannot summarize this conversation because it has been moved to Ana's desk.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_in_words_is_none(text: str) -> None:
    assert is_refusal(text)
    assert is_refusal(f"\n{text}\n")


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_of_a_server_is_none(text: str) -> None:
    assert is_error_text(text)
    assert not is_refusal(text)


@pytest.mark.parametrize("text", CALLS)
def test_a_call_that_is_written_as_text_is_none(text: str) -> None:
    assert is_calls_alone(text)
    assert not says_nothing(text)


@pytest.mark.parametrize("text", NOTHING)
def test_a_word_or_sign_for_nothing_is_none(text: str) -> None:
    assert says_nothing(text)
    assert not is_calls_alone(text)


@pytest.mark.parametrize("text", SUMMARIES)
def test_a_summary_of_refusals_errors_and_calls_is_one(text: str) -> None:
    assert not is_refusal(text)
    assert not is_error_text(text)
    assert not is_calls_alone(text)
    assert not says_nothing(text) or not text
    assert not says_no_change(text)


@pytest.mark.parametrize("text", [*REFUSALS, *ERRORS, *CALLS, *NOTHING])
def test_what_goes_on_in_another_line_is_a_summary(text: str) -> None:
    """Whatever it begins with: a page, a body and a call are the whole of what they are in."""
    said = f"The assistant first wrote:\n{text}\nThen the user took the blue one."
    assert not is_refusal(said)
    assert not is_error_text(said)
    assert not is_calls_alone(said)
    assert not says_nothing(said)


@pytest.mark.parametrize(
    "piece",
    [
        *("...", "-", "{", "[", "{}", '{"a":', "[{", '"', '\\"', "```\n", "functions.a(", "- "),
        *('functions.a("', "functions.a()", '<invoke name="', "sure! ", "sorry, ", "please ", "("),
        *("Error generating summary: ", "an error occurred ", "no conversation ", "none ", "# "),
        *('{"tool_calls":[', '{"summary":', "\u273fFUNCTION\u273f", "response blocked by ", " "),
    ],
)
def test_what_a_model_repeats_until_it_is_stopped_takes_no_time(piece: str) -> None:
    """Some seconds would do; what is read again from each place takes minutes."""
    text = piece * (100_000 // len(piece))
    start = time.perf_counter()
    for said in (text, f"{text}x", f"functions.a({text}", f"```\n{text}```", f'{{"a": {text}'):
        for reads in (is_refusal, is_error_text, is_calls_alone, says_nothing):
            reads(said)
    assert time.perf_counter() - start < 5


def test_what_is_nested_deeper_than_can_be_read_is_left_as_it_is() -> None:
    """Where the reader of JSON just gets through, whoever walks over its values does not."""
    for depth in range(0, 1500, 5):
        calls = "[" * depth + '{"name": "refund", "arguments": {}}' + "]" * depth
        nothing = '{"summary":' * (depth + 1) + '""' + "}" * (depth + 1)
        assert is_calls_alone(calls) is (depth < 100) or 100 <= depth < 1000
        assert says_nothing(nothing) is (depth < 100) or 100 <= depth < 1000


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (REFUSALS[0], RefusedSummaryError),
        ("Please provide the conversation to summarize.", RefusedSummaryError),
        (ERRORS[0], SummarizerError),
        (ERRORS[-2], SummarizerError),
        ("Error generating summary: Connection timed out", SummarizerError),
        (CALLS[0], NoAnswerError),
        ("No summary available.", EmptySummaryError),
        ('{"summary": ""}', EmptySummaryError),
    ],
)
def test_law_4_neither_takes_the_place_of_a_head(text: str, error: type[SummaryError]) -> None:
    """The list stays as it is, the next summarizer is asked, and what was spent is told."""
    items = talk(6)
    before = list(items)
    ctx: ChatContext[Any] = ChatContext(items)
    with pytest.raises(SummaryError) as caught:
        ctx.summarize(lambda _: text, keep_last_turns=1)
    assert type(caught.value) is error
    assert caught.value.llm_calls == 1
    assert same_objects(items, before)
    outcome = ctx.summarize([lambda _: text, lambda _: "what was said"], keep_last_turns=1)
    assert outcome.changed
    assert outcome.llm_calls == 2


@pytest.mark.parametrize("text", UNCHANGED)
def test_an_answer_that_nothing_has_changed_keeps_the_earlier_words(text: str) -> None:
    """They are what the model was asked to bring up to date; the record has what came since."""
    items = talk(6)
    ctx: ChatContext[Any] = ChatContext(items)
    ctx.summarize(lambda _: "The user wants the blue one.", keep_last_turns=1)
    items += talk(3)
    outcome = ctx.summarize(lambda _: text, keep_last_turns=1)
    assert outcome.changed
    assert outcome.llm_calls == 1
    assert "The user wants the blue one." in outcome.summary
    assert text not in outcome.summary
    items += talk(3)
    plan = ctx.plan(keep_last_turns=1)
    assert "The user wants the blue one." in ctx.apply(plan, text).summary


@pytest.mark.parametrize("text", UNCHANGED)
def test_a_first_summary_may_say_that_a_record_has_not_changed(text: str) -> None:
    """A patient's, say: there is none of ours yet, so the words speak of the conversation's."""
    ctx: ChatContext[Any] = ChatContext(talk(6))
    outcome = ctx.summarize(lambda _: text, keep_last_turns=1)
    assert (outcome.llm_calls, text in outcome.summary) == (1, True)
