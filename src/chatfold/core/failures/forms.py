"""The forms in which widely used interfaces say that a call failed, beside fields of any tool.

They are known by their keys together, and only of tools that do not merely look: what these find
may be another's failure. Not here: fields that say so by themselves (`fields`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias, cast

from chatfold.core.call_json import key_of
from chatfold.core.effects import reads_by_name
from chatfold.core.effects.tool_names import effect_of_name, is_request
from chatfold.core.failures.bulk import all_failed
from chatfold.core.failures.codes import BESIDE, EMPTY, is_error_code
from chatfold.core.failures.of_input import COMPLAINTS, OF_INPUT
from chatfold.core.failures.reasons import read, text_of, told_in
from chatfold.core.failures.states import is_bad, made_id, says_done, texts_of
from chatfold.core.failures.successes import tells_a_deed, words_in
from chatfold.core.failures.words import (
    first_line,
    is_for,
    is_participle,
    is_status_text,
    words_of_name,
)
from chatfold.core.word_sets import word_set

__all__ = ["reason_in_form", "status_in_text"]

_Fields: TypeAlias = dict[str, Any]
_Given: TypeAlias = Callable[[], Iterable[Any]]

_TRUTHS = ("success", "ok", "succeeded", "successful")
# Tools that tell, or set, what has failed.
_TELLING = COMPLAINTS | word_set(
    "alert archive cancel delete flag mark notify record save set store tag update"
)

# --- lists ----------------------------------------------------------------------------------------

# Objects of errors alone, as of Salesforce, or results of which each says that it failed.
_LISTS = ("results", "items", "data", "responses", "records")


def reason_in_form(result: Any, name: str, given: _Given) -> str | None:
    """Return why a call failed, None where its result has no form that says so.

    Args:
        result: A JSON object or array.
        name: The name of the call's tool.
        given: Returns the values that the call was given.
    """
    if reads_by_name(name, "function", {}):
        return None
    if isinstance(result, list):
        return _of_all(cast(list[Any], result), name, given)
    fields = cast(_Fields, result)
    if says_done(fields, name) or any(fields.get(key) is True for key in _TRUTHS):
        return None
    reasons = (rule(fields, name, given) for rule in _RULES)
    return next(filter(None, reasons), None) or all_failed(fields)


def _of_all(results: list[Any], name: str, given: _Given) -> str | None:
    """Return why all of some results failed, None where one of them did not."""
    words = words_of_name(name)
    if not results or not COMPLAINTS.isdisjoint(words):
        return None
    tells = effect_of_name(name) == "write" and _TELLING.isdisjoint(words)
    tells = tells and False not in given()  # else it may repeat them
    known = {*map(str, given())} if tells else set[str]()
    for each in results:
        fields = cast(_Fields, each) if isinstance(each, dict) else {}
        is_error = is_error_code(fields.get("errorCode")) and fields.get("message") not in EMPTY
        if is_error and not made_id(fields, ()):
            continue
        if not (tells and any(fields.get(key) is False for key in _TRUTHS)):
            return None
        told = {str(value) for value in fields.values() if value not in EMPTY}
        about = not told or not told.isdisjoint(known) or fields.get("error") not in EMPTY
        if not about or (told_in(fields) is None and not told <= known):
            return None  # it may be what was made: the answers of a quiz
    return next(filter(None, map(told_in, results)), "failed")


def _wrapped(fields: _Fields, name: str, given: _Given) -> str | None:
    """Return why all results failed that are all that there is."""
    told = [key for key, value in fields.items() if value not in EMPTY]
    if len(told) != 1 or told[0] not in _LISTS:
        return None
    inner = fields[told[0]]
    if isinstance(inner, dict):
        inner = [*cast(_Fields, inner).values()]
    return _of_all(cast(list[Any], inner), name, given) if isinstance(inner, list) else None


_GIVES_RISE = word_set("create later request")  # what is to be signed is not signed yet
# Lists with one answer for each thing; others hold what failed alone.
_EACH = re.compile(r"deliveries|documents|entries|messages|pages|recipients")
_ERROR_TEXT = re.compile(r"error(?:[_-](?:description|message|text))?")


def _each(fields: _Fields, name: str, given: _Given) -> str | None:
    """Each of the answers says that it failed, as of Vonage: `error-text`, or `sent: false`.

    Beside them may stand how many there are, and nothing else.
    """
    words = words_of_name(name)
    if effect_of_name(name) != "write" or not {*COMPLAINTS, "alert"}.isdisjoint(words):
        return None
    told = {key_of((key,)): value for key, value in fields.items() if value not in EMPTY}
    lists = [key for key, value in told.items() if isinstance(value, list)]
    if len(lists) != 1 or not (_EACH.fullmatch(lists[0]) or lists[0] in _LISTS):
        return None
    each = cast(list[Any], told.pop(lists[0]))
    if any(str(value) != str(len(each)) for value in told.values()):
        return None
    values = [*given()]
    if True in values or False in values or _GIVES_RISE.intersection(words):  # a rehearsal, a draft
        return None
    known = {*map(str, values)}
    reasons = [_told_of(cast(_Fields, one), words, known) for one in each if isinstance(one, dict)]
    return next(filter(None, reasons), None) if len(reasons) == len(each) and all(reasons) else None


_SETS = word_set("flip mark put set switch toggle turn")
_NO_ERROR = re.compile(r"(?i)\W*|0+|n/?a|no[ _]errors?\.?|ok|success(?:ful)?\.?")


def _told_of(one: _Fields, words: Sequence[str], known: set[str]) -> str | None:
    """Return what an answer says of its failure, None where it made something, or says nothing."""
    told = [read(v) for k, v in one.items() if _ERROR_TEXT.fullmatch(key_of((k,)))]
    texts = [v for v in told if v not in EMPTY and not _NO_ERROR.fullmatch(str(v))]
    # What sets a thing, or does one thing or the other, says by this what it has become.
    verbs = [w for w in words if w in _SETS or effect_of_name(w) == "write"]
    verb = words[0] if verbs == words[:1] and words[0] not in _SETS else ""
    denied = [k for k, v in one.items() if v is False and verb and is_participle(k, verb)]
    if made_id(one, known) or not (texts or denied) or not known.isdisjoint(map(str, texts)):
        return None
    if not texts and not all(v in EMPTY or str(v) in known for v in one.values()):
        return told_in(one)
    return text_of(texts[0]) if texts else f"{denied[0]}: false"


# --- objects --------------------------------------------------------------------------------------

_PAYS = word_set(
    "charge checkout debit donate donation intent invoice pay payment payout purchase refund "
    "transaction transfer withdraw withdrawal"
)
_GOES_ON = word_set(
    "active canceled cancelled complete completed paid pending processing succeeded"
)
_ERRORS = ("failure_code", "failureCode")
_LAST_ERRORS = ("last_payment_error", "lastPaymentError")
_UNPAID = ("requires_payment_method", "requires_source", "failed")


def _payment(fields: _Fields, name: str, given: _Given) -> str | None:
    """As Stripe says so of a charge, and of an intent to pay, which both have an id."""
    state = fields.get("status")
    keys = (*_ERRORS, *(_LAST_ERRORS if state is None or state in _UNPAID else ()))
    error = next(filter(None, map(fields.get, keys)), None)
    if error is None or read(error) in EMPTY or fields.get("paid") is True:
        return None
    words = words_of_name(name)
    if _PAYS.isdisjoint(words) or not _TELLING.isdisjoint(words):
        return None
    if (isinstance(state, str) and state.lower() in _GOES_ON) or error in given():
        return None
    inner = cast(_Fields, error) if isinstance(error, dict) else {"error": error}
    return told_in(inner) or str(inner.get("code") or told_in(fields) or "failed")


_CHARGES = word_set("capture charge checkout confirm pay purchase")
_BEGINS = word_set("begin create initiate open setup start")
_MOVES_MONEY = word_set("payout remit transfer wire withdraw withdrawal")
_STILL_UNPAID = ("requires_payment_method", "requires_source")


def _unpaid(fields: _Fields, name: str, _: _Given) -> str | None:
    """As Stripe says that a card was declined, and banks that money came back.

    An intent that was only made waits for its payment method in the same words
    (https://stripe.com/docs/payments/paymentintents/lifecycle, read 2026-11-29).
    """
    state, words = str(fields.get("status")).lower(), words_of_name(name)
    if state in _STILL_UNPAID:
        bad = not _CHARGES.isdisjoint(words) and _BEGINS.isdisjoint(words)
    else:
        bad = state == "returned" and not _MOVES_MONEY.isdisjoint(words)
    if not bad or not {"return", "reverse", *_TELLING}.isdisjoint(words):
        return None
    codes = filter(None, map(fields.get, _ERRORS))
    return told_in(fields) or f"status {state}{f', {code}' if (code := next(codes, None)) else ''}"


def _messages(fields: _Fields, name: str, given: _Given) -> str | None:
    """As Jira says so: a list of texts, which a form that is made may be given too."""
    texts = fields.get("errorMessages")
    if not isinstance(texts, list) or not texts:
        return None
    told, known = {*map(str, cast(list[Any], texts))}, {*texts_of(given)}
    made = made_id(fields, known) or any(fields.get(key) for key in ("key", "self", "url"))
    return text_of(texts) if told.isdisjoint(known) and not made else None


_DEEP = 3  # levels: `data`, the name of the mutation, what it returns


def _is_made(fields: _Fields, known: Collection[str]) -> bool:
    """Return whether what stands beside errors is new: it has not the id that a call was given."""
    return bool(fields) and not any(str(value) in known for value in fields.values())


def _mutation(fields: _Fields, name: str, given: _Given) -> str | None:
    """As Shopify says so: `userErrors` of a mutation that has made nothing beside them."""
    for _ in range(_DEEP):
        errors = next((v for k, v in fields.items() if k.endswith(("userErrors", "UserErrors"))), 0)
        if isinstance(errors, list) and errors:
            known = {*texts_of(given)}
            beside = [cast(_Fields, value) for value in fields.values() if isinstance(value, dict)]
            if made_id(fields, known) or any(_is_made(each, known) for each in beside):
                return None
            first = cast(list[Any], errors)[0]
            said = told_in(cast(_Fields, first)) if isinstance(first, dict) else None
            return said or text_of(errors)
        inner = fields.get("data") or (next(iter(fields.values())) if len(fields) == 1 else None)
        if not isinstance(inner, dict):
            return None
        fields = cast(_Fields, inner)
    return None


# A constant that names an error, as of PayPal.
_CONSTANT = re.compile(
    r"(?=[A-Z]+_)(?:[A-Z]{1,20}_){0,4}?(?:CONFLICT|DECLINED|DENIED|ERROR|EXCEEDED|FAILED|FAILURE"
    r"|FORBIDDEN|UNAUTHORIZED"
    r"|NOT_(?:ALLOWED|AUTHORIZED|AVAILABLE|ELIGIBLE|FOUND|PERMITTED|SUPPORTED|VALID)"
    r"|(?:INSUFFICIENT|INVALID|UNPROCESSABLE)(?:_[A-Z]{1,20}){1,4})"
)
_TRACES = frozenset(("correlation_id", "debug_id", "request_id", "requestId", "trace_id"))
_TOLD = ("message", "detail", "details", "msg", "reason")
_OF_ERRORS = frozenset(("code", "status", "title", *_TOLD))
_OF_TEXTS = word_set("alert code rule template translation type")  # named by constants, too


def _constant(fields: _Fields, name: str, given: _Given) -> str | None:
    """What is made may be named by a constant too; an error has a trace, or a list of details."""
    is_traced = isinstance(fields.get("details"), list) or not _TRACES.isdisjoint(fields)
    alone = fields.keys() <= _OF_ERRORS and _OF_TEXTS.isdisjoint(words_of_name(name))
    keys = ("code", *(("name",) if is_traced else ())) if is_traced or alone else ()
    texts = (fields.get(key) for key in keys)
    constant = next((t for t in texts if isinstance(t, str) and _CONSTANT.fullmatch(t)), None)
    told = [fields[key] for key in _TOLD if fields.get(key)]
    if constant is None or not told:
        return None
    known = {*texts_of(given)}
    made = made_id({key: fields[key] for key in fields if key not in _TRACES}, known)
    deeds = (isinstance(text, str) and tells_a_deed(words_in(text), name) for text in told)
    return None if constant in known or made or any(deeds) else told_in(fields)


_CODES = ("status", "statusCode", "status_code")
_OF_ANSWERS = frozenset((*_CODES, *BESIDE, "headers", "error", "statusText", "reason"))


def _request(fields: _Fields, name: str, given: _Given) -> str | None:
    """A bare status of HTTP tells nothing of other tools: it may be an amount."""
    code = next((fields[key] for key in _CODES if key in fields), None)
    if type(code) is not int or not 400 <= code <= 599 or not _makes_requests(name):
        return None
    if not fields.keys() <= _OF_ANSWERS:
        return None
    return None if str(code) in map(str, given()) else told_in(fields) or f"status {code}"


_STATE_OF = re.compile(r"([a-z]{2,30})_?(?:status|state)", re.IGNORECASE)
_CARRY_OUT = word_set("initiate issue make process retry send")
_DECIDES = word_set("make process")  # such a tool may have done so where it says no
_DECISIONS = word_set("declined denied refused rejected")


def _own_state(fields: _Fields, name: str, given: _Given) -> str | None:
    """The state of what a tool is for: `refund_status` of `refund_order` and of `issue_refund`."""
    states = [(key, value) for key, value in fields.items() if isinstance(value, str)]
    named = [(_STATE_OF.fullmatch(key), key, value) for key, value in states]
    if not any(found for found, *_ in named):
        return None
    words = words_of_name(re.split(r"__|[./:]", name)[-1])
    own = {word for word in words[:1] if effect_of_name(word) == "write"}
    own.update(words[-1:] if not _CARRY_OUT.isdisjoint(words[:1]) else ())
    decided = _DECISIONS if not _DECIDES.isdisjoint(words[:1]) else frozenset[str]()
    for found, key, value in named:
        state = value.lower()
        if not found or found[1].lower() not in own or state in decided:
            continue
        if is_bad(state, fields, name, given):
            return told_in(fields) or f"{key}: {value}"
    return None


_AT_ONCE = ("executed", "performed")
_LATER = word_set(
    "add bid create draft enqueue order place plan prepare queue register request schedule submit "
    "trade"
)


def _not_carried_out(fields: _Fields, name: str, given: _Given) -> str | None:
    """That it was not carried out is all that is told of what would have been at once."""
    told = [key for key, value in fields.items() if value not in (None, "", [], {})]
    if len(told) != 1 or told[0] not in _AT_ONCE or fields[told[0]] is not False:
        return None
    if effect_of_name(name) != "write" or not (_LATER | _TELLING).isdisjoint(words_of_name(name)):
        return None
    return None if False in given() else f"{told[0]}: false"


_OF_CALLS = ("applied", "performed")  # not what may become of a thing later: `approved`
_TOLD_BESIDE = ("message", "msg", "detail", "note")
_STILL = word_set(
    "already awaiting later next pending queue queued review scheduled soon until upcoming "
    "waiting when will"
)


_KEEPS = word_set("bookmark create draft plan save")  # what is applied later, by another call


def _denied(fields: _Fields, name: str, given: _Given) -> str | None:
    """That it was not applied, and words beside that which promise nothing: `locked`."""
    denied = next((key for key in _OF_CALLS if fields.get(key) is False), None)
    told = next((fields[key] for key in _TOLD_BESIDE if isinstance(fields.get(key), str)), "")
    if denied is None or not told.strip() or False in given() or told in given():
        return None
    words = words_in(told)
    if not _STILL.isdisjoint(words) or tells_a_deed(words, name):
        return None
    states = {str(fields.get(key)).lower() for key in ("status", "state", "result", "outcome")}
    if any(is_for(state, name) for state in states) or not _KEEPS.isdisjoint(words_of_name(name)):
        return None
    is_report = not {*COMPLAINTS, "alert", "note"}.isdisjoint(words_of_name(name))
    return None if is_report or made_id(fields, {*map(str, given())}) else told


_GRANTS = word_set("accept admit allow approve authorise authorize grant permit")
_DECIDED = ("decision", "verdict", "ruling", "determination")


def _decided(fields: _Fields, name: str, given: _Given) -> str | None:
    """What was to be granted was decided otherwise; what only puts it to a decision has done so."""
    state = next((s for key in _DECIDED if isinstance(s := fields.get(key), str)), "")
    if state.lower() not in _DECISIONS or _GRANTS.isdisjoint(words_of_name(name)):
        return None
    told = {word for text in (name, *texts_of(given)) for word in words_of_name(text)}
    if any(state.lower() == word or is_participle(state.lower(), word) for word in told):
        return None
    return told_in(fields) or state


_VERDICTS = word_set("inspection locale measurement quality record report test")


def _not_ok(fields: _Fields, name: str, given: _Given) -> str | None:
    """A result that is not OK; it may be Norwegian crowns where they are asked for or looked up."""
    key = next((key for key in ("result", "outcome") if fields.get(key) in ("NOK", "nok")), None)
    if key is None or "currency" in (*words_of_name(name), *fields):
        return None
    if effect_of_name(name) != "write" and len(fields) == 1:
        return None
    if any("nok" in text.lower() for text in texts_of(given)):
        return None
    if made_id(fields, {*map(str, given())}) or not _VERDICTS.isdisjoint(words_of_name(name)):
        return None
    return told_in(fields) or f"{key}: {fields[key]}"


_RULES = (
    _payment,
    _unpaid,
    _messages,
    _mutation,
    _constant,
    *OF_INPUT,
    _request,
    _own_state,
    _not_carried_out,
    _denied,
    _decided,
    _not_ok,
    _each,
    _wrapped,
)

# --- texts ----------------------------------------------------------------------------------------

_STATUS = re.compile(r"\W{0,4}status(?: code)?[:=] ?([45]\d\d[^\n]{0,40})(?=\n|$)", re.IGNORECASE)
_HTTP = word_set("http https curl")


def status_in_text(text: str, name: str) -> str | None:
    """Return the line by which what makes requests says that one failed: `Status: 401`."""
    found = _STATUS.match(text)
    if found is None or not is_status_text(found[1].strip()) or not _makes_requests(name):
        return None
    return first_line(text)


def _makes_requests(name: str) -> bool:
    return is_request(name) or not _HTTP.isdisjoint(words_of_name(name))
