"""Whether a tool changes things: as told, else by its name, its kind and its command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.calls import ToolCallRecord
from chatfold.core.effects import effect_of, effect_of_call
from chatfold.core.shell_commands import effect_of_command
from chatfold.core.views import CallKind

WRITES = str.split(
    "create_rma createRma CreateRMA crm.rma-create mcp__github__create_issue add_item sendEmail "
    "update-user delete_file refund_order order_pizza book_flight cancel_reservation pay_invoice "
    "transfer_to_human_agents write_file edit_file apply_patch get_or_create_user search_and_book "
    "check_in_passenger checkout_cart gmail_send_message stripe.refund str_replace set_status "
    "modify_pending_order_items return_delivered_order_items toggle_roaming send_message "
    "fs/write_file reboot_device make_payment post_comment"
)
READS = str.split(
    "get_order getOrder GetOrder list_orders read_file search_flights lookupOrder find_user "
    "check_warranty fetch_page view_image grep order_status booking_details email_search "
    "mcp__github__get_issue web_search file_search google_search calculate think weather_forecast "
    "get_transfer list_cancellations validate_address can_send_mms repo.read search_removed_items "
    "payment_history"
)
UNKNOWN = ("foo", "bar", "python", "code_interpreter", "x", "", "工具", "computer", "run")


@pytest.mark.parametrize("name", WRITES)
def test_a_name_that_says_change_is_guessed_to_write(name: str) -> None:
    assert effect_of(name, {}) == ("write", True)


@pytest.mark.parametrize("name", READS)
def test_a_name_that_says_look_is_guessed_to_read(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_without_a_hint_is_unknown(name: str) -> None:
    assert effect_of(name, {}) == ("unknown", True)


def test_what_the_caller_says_is_no_guess() -> None:
    """It holds for the exact name, and stands above everything that could be guessed."""
    told: Any = {"create_rma": "read", "bash": "write"}
    assert effect_of("create_rma", told) == ("read", False)
    assert effect_of("create_RMA", told) == ("write", True)
    assert effect_of_call(call("bash", command="ls"), told) == ("write", False)
    assert effect_of(None, told) == ("unknown", True)


COMMANDS = {
    "read": (
        "ls -la",
        "cd /repo && grep -rn 'rm -rf' src | head -20",
        "git status",
        "git -C sub log --oneline 2>/dev/null",
        "cat a.txt 2>&1 | sort",
        "FOO=1 timeout 5 cat x",
        "find . -name '*.py' | xargs grep foo",
        "pip list",
        'echo "a > b; rm x"',
        "sed -n 1,20p file",
        "/usr/bin/ls",
        "kubectl get pods",
        "python -m pytest -q",
        "# only a remark",
    ),
    "write": (
        "rm -rf build",
        "mv a b",
        "git commit -m 'x'",
        "git push",
        "pip install -e .",
        "echo hi > file",
        "cat <<'EOF' >> notes.md\nhello\nEOF",
        "ls && rm x",
        "sed -i s/a/b/ file",
        "find . -name '*.pyc' -delete",
        "sudo systemctl restart nginx",
        "curl -X POST https://example.com",
        "grep foo x | tee out.txt",
        "npm install",
        "docker run image",
        "true;rm x",
    ),
    "unknown": ("python run.py", "./script.sh", "", "   ", "git frobnicate", "ls; ./run"),
}


@pytest.mark.parametrize(
    ("effect", "command"), [(e, c) for e, commands in COMMANDS.items() for c in commands]
)
def test_a_shell_command_is_judged_by_each_command_in_it(effect: str, command: str) -> None:
    assert effect_of_command(command) == effect


def test_a_command_that_is_too_long_to_read_is_not_taken_for_harmless() -> None:
    assert effect_of_command("ls\n" * 5000) == "unknown"
    assert effect_of_command("rm x\n" + "ls\n" * 5000) == "write"


def call(name: str | None, kind: CallKind = "function", **arguments: Any) -> ToolCallRecord:
    raw = json.dumps(arguments)
    return ToolCallRecord("c", name, raw, "ok", "completed", 0, 1, kind=kind)


def test_the_command_of_a_shell_decides() -> None:
    """However the tool is called and however the command is given."""
    assert effect_of_call(call("bash", command="git status"), {}) == ("read", True)
    assert effect_of_call(call("bash", command="git push"), {}) == ("write", True)
    assert effect_of_call(call("run_command", cmd="make"), {}) == ("unknown", True)
    assert effect_of_call(call("shell", "shell", commands=["ls", "rm x"]), {}) == ("write", True)
    assert effect_of_call(call("x", "local_shell", command=["ls", "-l"]), {}) == ("read", True)
    assert effect_of_call(call("exec", command=["bash", "-lc", "rm x"]), {}) == ("write", True)
    assert effect_of_call(call("bash", restart=True), {}) == ("unknown", True)
    raw = ToolCallRecord("c", "bash", "rm x", "", "completed", 0, 1, kind="custom")
    assert effect_of_call(raw, {}) == ("write", True)
    assert effect_of_call(ToolCallRecord("c", "sh", "[1]", "", "completed", 0, 1), {}) == (
        "unknown",
        True,
    )


def test_the_argument_that_switches_a_tool_decides() -> None:
    """Text editors, memories and computers do several things under one name."""
    assert effect_of_call(call("str_replace_editor", command="view", path="a"), {})[0] == "read"
    assert effect_of_call(call("str_replace_editor", command="create", path="a"), {})[0] == "write"
    assert effect_of_call(call("str_replace_editor", path="a"), {})[0] == "write"
    assert effect_of_call(call("memory_20250818", command="delete"), {})[0] == "write"
    assert effect_of_call(call("memory", command="view"), {})[0] == "read"
    assert effect_of_call(call("computer", "computer", action="screenshot"), {})[0] == "read"
    assert effect_of_call(call("tickets", action="close"), {})[0] == "write"
    assert effect_of_call(call("get_file", mode="write"), {})[0] == "read"


def test_the_kind_of_a_call_decides_where_it_says_enough() -> None:
    assert effect_of_call(call("x", "apply_patch"), {}) == ("write", True)
    assert effect_of_call(call("get_agent", "handoff"), {}) == ("write", True)
    assert effect_of_call(call(None, "tool_search"), {}) == ("read", True)
    assert effect_of_call(call(None), {}) == ("unknown", True)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_name_and_any_command_has_an_effect(name: str, command: str) -> None:
    assert effect_of(name, {})[0] in ("read", "write", "unknown")
    assert effect_of_command(command) in ("read", "write", "unknown")
