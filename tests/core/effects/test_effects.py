"""Whether a tool changes things: as told, else by its name, its kind and its command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.call_words import CallWords
from chatfold.core.calls import ToolCallRecord
from chatfold.core.effects import effect_of, effect_of_call, effect_of_tool
from chatfold.core.effects.given import effect_of_arguments, may_say
from chatfold.core.effects.shell_commands import effect_of_command
from chatfold.core.entries import Entry, Field
from chatfold.core.recording.actions import actions_of
from chatfold.core.views import CallKind

WRITES = str.split(
    "create_rma createRma CreateRMA crm.rma-create mcp__github__create_issue add_item sendEmail "
    "update-user delete_file refund_order order_pizza book_flight cancel_reservation pay_invoice "
    "transfer_to_human_agents write_file edit_file apply_patch get_or_create_user search_and_book "
    "check_in_passenger checkout_cart gmail_send_message stripe.refund str_replace set_status "
    "modify_pending_order_items return_delivered_order_items toggle_roaming send_message "
    "fs/write_file reboot_device make_payment post_comment resolve_ticket resolveIncident "
    "desk.resolve_disputes run_migration convert_lead convertLeads convert_quote_to_order "
    "leads.convert load_truck load_trucks load_gift_card truck_load track_expense "
    "publish_release_notes set_exchange_rate exchange_item update_return_policy policies.refund "
    "rebook_flight dismiss_alert acknowledgeAlert snooze_reminder demote_user downgrade_plan "
    "pause_subscription unpause_job void_transaction turn_on_light turnOff rerun_build retry_job "
    "tag_contact scale_service print_label play_song hold_funds capture_payment"
)
READS = str.split(
    "get_order getOrder GetOrder list_orders read_file search_flights lookupOrder find_user "
    "check_warranty fetch_page view_image grep order_status booking_details email_search "
    "mcp__github__get_issue web_search file_search google_search calculate think weather_forecast "
    "get_transfer list_cancellations validate_address can_send_mms repo.read search_removed_items "
    "payment_history resolve_library_id resolve_path resolve_hostname list_resolved_tickets "
    "convert_currency convert_units convert_file convert load_file load_data load_truck_details "
    "load_card_history load track_order track_package track_truck list_leads exchange_rates "
    "exchangeRate release_notes refund_policy return_policies forex.exchange_rate git_log "
    "geocode_address nearest_store store_hours stock_level seat_map tag_search retry_count "
    "capture_screenshot hold_status list_tags get_turn print_details"
)
UNKNOWN = ("foo", "bar", "python", "code_interpreter", "x", "", "工具", "computer", "run")
# To open or select one of these may be to make or to take it.
MADE_OR_TAKEN = str.split(
    "open_ticket openTicket open_issue open_account open_the_dispute select_seat select_a_plan "
    "select_seat_by_id tickets.open ticket_open crm.open_ticket search__open_ticket "
    "browser_select_option recall_wire recall_message mail.recall"
)
OPENED_TO_READ = str.split(
    "open browser.open open_file open_url open_in_browser open_ticket_details select select_rows "
    "select_from_db select_all get_open_tickets list_open_issues recall recall_memory "
    "memory.recall recall_search_results"
)


@pytest.mark.parametrize("name", WRITES)
def test_a_name_that_says_change_is_guessed_to_write(name: str) -> None:
    assert effect_of(name, {}) == ("write", True)


@pytest.mark.parametrize("name", READS)
def test_a_name_that_says_look_is_guessed_to_read(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_without_a_hint_is_unknown(name: str) -> None:
    assert effect_of(name, {}) == ("unknown", True)


@pytest.mark.parametrize("name", MADE_OR_TAKEN)
def test_to_open_or_select_what_can_be_made_or_taken_is_unknown(name: str) -> None:
    assert effect_of(name, {}) == ("unknown", True)


@pytest.mark.parametrize("name", OPENED_TO_READ)
def test_to_open_or_select_what_can_be_looked_at_is_a_read(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


# The noun may stand first and the verb last.
DONE_TO_A_THING = str.split(
    "quote_accept quoteAccept profile_update monitor_delete list_delete view_create query_save "
    "scan_start pagerduty_resolve pagerduty.resolve ticket_resolve resolve_conversation "
    "conversations_resolve opsgenie_resolve_alert mark_as_read mark_message_read copy_list "
    "refund_and_get issue_get_or_create analyze_and_fix scan_file_and_quarantine fork_repository"
)
A_THING_LOOKED_AT = str.split(
    "issue_read issueGet refund_retrieve pull_request_review_read view_issue check_update "
    "search_archive list_orders_to_cancel query_exchange dns_resolve hostname_resolve "
    "resolve_short_id airflow_log airflow_logs build_log call_log chat_log browser_snapshot "
    "get_users_and_groups find_user_id_by_name_and_zip search_by_name_or_id "
    "list_and_get search_and_summarize whois transcribe_call"
)
DONE_OR_LOOKED_AT = str.split(
    "test_send check_delete list_update view_update widget_resolve scan_and_purify "
    "inspectThenWrap load_data_to_bigquery habit_log workouts_log"
)
REHEARSED = str.split("dry_run_migration dryRunDeploy deploy_dry_run helm_dry_run_upgrade")


@pytest.mark.parametrize("name", [*DONE_TO_A_THING, "log_call", "post_log", "add_log"])
def test_a_name_that_ends_in_what_is_done_is_guessed_to_write(name: str) -> None:
    assert effect_of(name, {}) == ("write", True)


@pytest.mark.parametrize("name", A_THING_LOOKED_AT)
def test_a_name_that_ends_in_how_it_is_looked_at_is_guessed_to_read(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


@pytest.mark.parametrize("name", DONE_OR_LOOKED_AT)
def test_a_name_that_may_mean_either_is_unknown(name: str) -> None:
    """A change that is told as a look would never be told as done."""
    assert effect_of(name, {}) == ("unknown", True)


@pytest.mark.parametrize("name", REHEARSED)
def test_a_rehearsal_changes_nothing(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


@pytest.mark.parametrize("name", ["set_dry_run", "toggleDryRun", "enable_dry_run"])
def test_to_switch_rehearsals_on_changes_something(name: str) -> None:
    assert effect_of(name, {})[0] != "read"


WRITES_ELSEWHERE = (
    *("erstelleTicket", "bestellung_stornieren", "termin_buchen", "adresse_aendern"),
    *(
        "ersatz_anlegen",
        "erstattung_veranlassen",
        "konto_sperren",
        "antrag_stellen",
        "suchen_und_buchen",
    ),
    *("creer_commande", "envoyer_facture", "annuler_reservation", "rembourser_client"),
    *("crear_ticket", "enviar_correo", "agendar_cita", "crearPedido", "buscar_o_crear_cliente"),
    *("prenotare_tavolo", "inviare_email", "annullare_ordine", "creaTicket"),
    *("criar_pedido", "cancelar_assinatura", "emitir_nota_fiscal", "cadastrar_cliente"),
)
READS_ELSEWHERE = (
    *("bestellung_suchen", "kundendaten_abrufen", "sucheBestellung", "termine_auflisten"),
    *("consulter_solde", "rechercher_commande", "lister_messages", "obtenirFacture"),
    *("consultar_reserva", "buscar_cliente", "obtener_pedido", "ver_estado", "buscarTicket"),
    *("cercare_ordine", "verificare_disponibilita", "mostra_ordine", "calcola_prezzo"),
    *("pesquisar_produtos", "obter_fatura", "listar_notas", "calcular_frete", "ler_mensagem"),
)


@pytest.mark.parametrize(
    ("name", "effect"),
    [*((n, "write") for n in WRITES_ELSEWHERE), *((n, "read") for n in READS_ELSEWHERE)],
)
def test_names_in_other_languages_say_the_same(name: str, effect: str) -> None:
    """German, French, Spanish, Italian and Portuguese, with English words between."""
    assert effect_of(name, {}) == (effect, True)


def test_what_the_caller_says_is_no_guess() -> None:
    """It holds for the exact name, and stands above everything that could be guessed."""
    told: Any = {"create_rma": "read", "bash": "write"}
    assert effect_of("create_rma", told) == ("read", False)
    assert effect_of("create_RMA", told) == ("write", True)
    assert effect_of_call(call("bash", command="ls"), told) == ("write", False)
    assert effect_of(None, told) == ("unknown", True)


@pytest.mark.parametrize("name", ["lookup.execute", "web_search.run", "status.handle"])
def test_where_a_tool_lives_says_nothing_of_what_it_does(name: str) -> None:
    """A name with dots may be one or the other: what may be a write is not lost."""
    assert effect_of(name, {}) == ("unknown", True)


def test_what_a_name_ends_in_is_told_of_another_tool_unless_that_is_a_write() -> None:
    assert effect_of("admin.delete_user", {"delete_user": "read"}) == ("write", True)
    assert effect_of("my.crm.sync", {"sync": "write"}) == ("write", False)
    assert effect_of("my.crm.sync", {"my.crm.sync": "read"}) == ("read", False)


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


def call(name: str | None, kind: CallKind = "function", /, **arguments: Any) -> ToolCallRecord:
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


@pytest.mark.parametrize(
    "name",
    [
        *("Bash", "bash_20250124", "bash_code_execution", "container.exec", "developer__shell"),
        *("exec_command", "executeCommand", "execute_bash", "mcp__ssh__exec", "RunCommand"),
        *("run_bash_command", "run_in_terminal", "run_shell", "run_terminal_cmd", "ssh_exec"),
    ],
)
def test_a_shell_is_known_by_the_words_of_its_name(name: str) -> None:
    assert effect_of_call(call(name, command="ls -la"), {}) == ("read", True)
    assert effect_of_call(call(name, command_line="rm -r build"), {}) == ("write", True)
    assert effect_of_call(call(name, CommandLine="git log && git push"), {}) == ("write", True)


@pytest.mark.parametrize("name", ["execute_code", "list_commands", "run", "terminal_info"])
def test_what_is_only_called_like_a_shell_is_none(name: str) -> None:
    read = effect_of_call(call(name, cmd="ls -la"), {})
    assert effect_of_call(call(name, cmd="rm -r build"), {}) == read


@pytest.mark.parametrize(
    ("name", "arguments", "effect"),
    [
        ("kubectl", {"args": "get pods -n web"}, "read"),
        ("kubectl", {"args": "delete pod web-7", "namespace": "web"}, "write"),
        ("kubectl", {"command": "kubectl get pods", "timeout": 20}, "read"),
        ("run_kubectl", {"command": "scale", "args": ["deploy/web", "--replicas=3"]}, "write"),
        ("mcp__vcs__git", {"subcommand": "status", "cwd": "app"}, "read"),
        ("git_command", {"command": "log", "args": ["--oneline"]}, "read"),
        ("git", {"command": "branch", "args": ["-d", "old"]}, "write"),
        ("git", {"command": "branch", "delete": True, "of": "old"}, "unknown"),
        ("git", {"command": "push", "force": True}, "write"),
        ("git", {"operation": "delete"}, "write"),
        ("aws_cli", {"command": "ec2 describe-instances"}, "read"),
        ("docker", {"args": ["rm", "web"]}, "write"),
        ("terraform", {"args": "plan"}, "read"),
        ("terraform", {}, "unknown"),
        ("git_kubectl", {"args": "get pods"}, "unknown"),
        ("kubectl", {"args": ["delete", "-c", "get"]}, "write"),
        ("kubectl", {"commands": ["get pods", "delete pod web-1"]}, "write"),
        ("git", {"commands": ["git status", "git log"]}, "read"),
        ("git", {"args": ["log", "--grep", "a > b"]}, "read"),
        ("task", {"command": "complete"}, "write"),
    ],
)
def test_a_tool_that_is_called_like_a_program_does_what_its_line_says(
    name: str, arguments: dict[str, Any], effect: str
) -> None:
    assert effect_of_call(call(name, **arguments), {}) == (effect, True)


READ_OF_MANY = {"name": "get_order", "arguments": {"order": "LK-1"}}


@pytest.mark.parametrize(
    ("name", "arguments", "effect"),
    [
        ("call_tool", READ_OF_MANY, "read"),
        ("callTool", {"name": "create_rma", "arguments": '{"order": "LK-1"}'}, "write"),
        ("use_mcp_tool", {"server_name": "crm", "tool_name": "list_leads"}, "read"),
        ("mcp__gateway__execute_tool", {"toolSlug": "GMAIL_SEND_EMAIL"}, "write"),
        ("mcp-exec", {"name": "crm.get_lead", "arguments": {}}, "read"),
        ("invoke_function", {"function": {"name": "find_user", "arguments": {}}}, "read"),
        ("execute_tool", {"tool": "query_db", "arguments": {"sql": "delete from t"}}, "write"),
        ("execute_tool", {"tool": "query_db", "arguments": {"sql": "select 1"}}, "read"),
        ("exec_tool", {"tool_name": "get_order"}, "read"),
        ("exec_tool", {"command": "rm x"}, "write"),  # a shell
        ("COMPOSIO_MULTI_EXECUTE_TOOL", {"tools": [READ_OF_MANY, READ_OF_MANY]}, "read"),
        ("COMPOSIO_MULTI_EXECUTE_TOOL", {"tools": [READ_OF_MANY, {"tool": "pay"}]}, "write"),
        ("call_tool", {"name": "call_tool", "arguments": READ_OF_MANY}, "write"),
        ("call_tool", {"order": "LK-1"}, "write"),
        ("execute_tool", {"name": "foo"}, "unknown"),
        ("call_customer", {"name": "get_order"}, "write"),
        ("run_mcp_server", {"name": "fetch"}, "unknown"),
    ],
)
def test_a_gateway_does_what_the_tool_does_that_it_is_told_to_call(
    name: str, arguments: dict[str, Any], effect: str
) -> None:
    assert effect_of_call(call(name, **arguments), {}) == (effect, True)
    assert effect_of(name, {}, arguments)[0] == effect or name == "exec_tool"


def test_what_the_caller_says_of_a_tool_holds_behind_a_gateway() -> None:
    through = call("call_tool", name="sync", arguments={})
    assert effect_of_call(through, {"sync": "read"}) == ("read", False)
    assert effect_of_call(through, {"call_tool": "write", "sync": "read"}) == ("write", False)
    assert effect_of("call_tool", {"sync": "read"}, [{"name": "sync"}]) == ("read", False)


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
    assert effect_of_call(call("tickets", action="open"), {})[0] == "unknown"


def test_the_kind_of_a_call_decides_where_it_says_enough() -> None:
    assert effect_of_call(call("x", "apply_patch"), {}) == ("write", True)
    assert effect_of_call(call("get_agent", "handoff"), {}) == ("write", True)
    assert effect_of_call(call(None, "tool_search"), {}) == ("read", True)
    assert effect_of_call(call(None), {}) == ("unknown", True)


# What is given to a tool whose name says that it reads.
GIVEN: dict[str, tuple[dict[str, Any], ...]] = {
    "write": (
        {"method": "POST", "url": "https://api.x.com/orders"},
        {"url": "https://x.com/1", "options": {"httpMethod": "delete"}},
        {"requests": [{"method": "GET"}, {"method": "PATCH"}]},
        {"sql": "DELETE FROM users WHERE id=5512"},
        {"sql": "GRANT admin TO bob"},
        {"query": "delete from users where id=5512"},
        {"query": "-- gone\nUPDATE users SET name='x'"},
        {"query": "/* gone */ update only users as u set name='x'"},
        {"q": "WITH gone AS (SELECT 1) DELETE FROM users"},
        {"q": "with gone as (delete from users returning *) select * from gone"},
        {"query": "SELECT 1; drop table users"},
        {"query": "BEGIN; INSERT INTO users VALUES (1); COMMIT"},
        {"query": "create or replace view v as select 1"},
        {"query": "truncate users"},
        {"query": "merge into a using b on a.id = b.id"},
        {"query": "REPLACE INTO a VALUES (1)"},
        {"query": "ALTER TABLE a ADD b int"},
        {"query": "mutation { pay(id: 1) { id } }"},
        {"statements": ["select 1", "insert into a values (1)"]},
    ),
    "unknown": (
        {"sql": "CALL pay(1)"},
        {"query": "explain analyze delete from users"},
        {"sql": "SELECT " + "1, " * 2000 + "1"},
        {"sql": "EXEC pay", "limit": 3},
    ),
    "read": (
        {"sql": "SELECT 'DELETE FROM users'"},
        {"sql": "-- DELETE FROM users\nselect updated from users;"},
        {"sql": ""},
        {"sql": "WITH a AS (SELECT 1) SELECT * FROM a"},
        {"method": "GET"},
        {"method": "email", "note": "post"},
        {"query": "update my address"},
        {"query": "replace the filter; delete the old one"},
        {"query": "create a ticket", "limit": 3},
        {"query": "grant access to John"},
    ),
}


@pytest.mark.parametrize(
    ("effect", "arguments"), [(e, given) for e, all_ in GIVEN.items() for given in all_]
)
@pytest.mark.parametrize("name", ["fetch", "query", "get_rows", "mcp__db__read_query"])
def test_a_method_or_a_statement_decides_whatever_the_name_says(
    name: str, effect: str, arguments: dict[str, Any]
) -> None:
    """Where the caller says nothing, and without a word for the tool as a whole."""
    assert effect_of_call(call(name, **arguments), {}) == (effect, True)
    assert effect_of_call(call(name, **arguments), {name: "read"}) == ("read", False)
    assert effect_of(name, {}, arguments) == (effect, True)
    assert effect_of_tool(name, "function", {}) is None


def test_a_statement_that_is_the_whole_of_what_a_tool_is_given_counts() -> None:
    raw = ToolCallRecord("c", "query", "DELETE FROM users", "", "completed", 0, 1, kind="custom")
    assert effect_of_call(raw, {}) == ("write", True)
    other = ToolCallRecord("c", "foo", "select it", "", "completed", 0, 1, kind="custom")
    assert effect_of_call(other, {}) == ("unknown", True)
    escaped = r'{"q": "\u0044\u0045LETE FROM users"}'
    hidden = ToolCallRecord("c", "query", escaped, "", "completed", 0, 1)
    assert effect_of_call(hidden, {}) == ("write", True)


@pytest.mark.parametrize(("method", "count"), [("POST", 1), ("GET", 0)])
def test_what_an_earlier_open_call_was_given_decides_once_it_is_answered(
    method: str, count: int
) -> None:
    given = (Field("options.method", method), Field("url", "https://x.com/1"))
    words = CallWords([ToolCallRecord("c", None, "", "ok", "completed", None, 0)])
    waits = [Entry("fetch", given, call="c")]
    found = actions_of(words, [0], {}, earlier=waits, listed=1, room=1000)
    assert [entry.arguments for entry in found.done] == [given] * count


@pytest.mark.parametrize("name", ["run_sql", "executeSQL", "mcp__warehouse__sql", "mysql_exec"])
@pytest.mark.parametrize(
    ("query", "effect"),
    [
        ("SELECT sum(price) FROM sales WHERE updated_at > '2027-01-01'", "read"),
        ("-- by month\nwith m as (select 1) select * from m", "read"),
        ("SHOW TABLES", "read"),
        ("INSERT INTO sales SELECT * FROM old", "write"),
        ("CREATE TABLE a AS SELECT 1", "write"),
        ("SELECT 1; DELETE FROM sales", "write"),
        ("CALL close_month()", "unknown"),
        ("monthly.sql", "unknown"),
    ],
)
def test_a_tool_for_sql_does_what_its_statement_does(name: str, query: str, effect: str) -> None:
    given = {"query": query, "database": "main"}
    assert effect_of_call(call(name, **given), {}) == (effect, True)
    assert effect_of(name, {}, given) == (effect, True)


LOOKS = [
    ("api_call", {"method": "get", "url": "x"}),
    ("bigquery", {"query": "select count(*) from x"}),
    ("execute_sql", {"query": "SELECT 1"}),
    ("execute_sql", {"query": "select now() as t;"}),
    ("execute_sql", {"sql": "explain select 1"}),
    ("execute_sql", {"statement": "SHOW TABLES; SELECT a FROM t WHERE b = 2"}),
    ("graphql", {"query": "{ me { id } }"}),
    ("graphql", {"query": "query Orders($n: Int) { orders(first: $n) { id } }"}),
    ("http_request", {"method": "GET", "url": "x"}),
    ("send_request", {"method": "HEAD", "url": "x"}),
]
NO_LOOKS = [
    ("ask_agent", {"query": "select a seat from the front row, and hold it"}),
    ("ask_agent", {"task": "Show me what is left, then take it"}),
    ("create_report", {"sql": "select * from x"}),
    ("create_webhook", {"method": "GET", "url": "x"}),
    ("execute_sql", {"query": "select * from x; call pay(3)"}),
    ("execute_sql", {"query": "SELECT 1", "then": "DELETE FROM t"}),
    ("execute_sql", {"sql": "select 1;" + " " * 4000 + "drop table t"}),
    ("warehouse", {"query": "select * from x;" + " " * 4000 + "drop table t"}),
    ("graphql", {"query": "mutation { pay }"}),
    ("graphql", {"query": "query A { a } mutation B { pay }"}),
    ("http_request", {"method": "POST", "url": "x"}),
    ("mongo", {"query": "{ name: 1 }"}),
]


@pytest.mark.parametrize(("name", "arguments"), LOOKS)
def test_what_only_looks_is_a_read_where_the_name_says_nothing(
    name: str, arguments: dict[str, Any]
) -> None:
    assert effect_of_call(call(name, **arguments), {}) == ("read", True)
    assert effect_of(name, {}, arguments) == ("read", True)


@pytest.mark.parametrize(("name", "arguments"), NO_LOOKS)
def test_what_may_change_things_is_no_look(name: str, arguments: dict[str, Any]) -> None:
    assert effect_of_call(call(name, **arguments), {})[0] in ("write", "unknown")
    assert effect_of(name, {}, arguments)[0] in ("write", "unknown")


def test_a_tool_alone_decides_only_where_no_argument_can_change_what_it_does() -> None:
    assert effect_of_tool("web_search", "function", {}) == ("read", True)
    assert effect_of_tool("x", "tool_search", {}) == ("read", True)
    assert effect_of_tool("get_order", "function", {"get_order": "read"}) == ("read", False)
    assert effect_of_tool("create_rma", "function", {}) == ("write", True)
    for name in ("get_order", "fetch", "bash", "memory", "foo", None):
        assert effect_of_tool(name, "function", {}) is None


STATEMENTS = st.sampled_from(
    [text for given in GIVEN.values() for fields in given for text in map(str, fields.values())]
)


@given(
    st.dictionaries(
        st.sampled_from(["sql", "method", "query", "x"]), STATEMENTS | st.text() | st.none()
    ),
    st.booleans(),
)
def test_a_quick_look_at_arguments_misses_nothing_by_which_a_look_is_none(
    arguments: dict[str, Any], ascii_: bool
) -> None:
    if effect_of_arguments(arguments) not in (None, "read"):
        assert may_say(json.dumps(arguments, ensure_ascii=ascii_))


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_name_and_any_command_has_an_effect(name: str, command: str) -> None:
    assert effect_of(name, {})[0] in ("read", "write", "unknown")
    assert effect_of_command(command) in ("read", "write", "unknown")


@pytest.mark.parametrize(
    "name",
    [
        *("update_message_read", "update_status_to_read", "archive_read", "trigger_fetch"),
        *("weight_log", "visit_log", "incident_log", "hours_log"),
        *("deploy_without_dry_run", "turn_off_dry_run", "commit_dry_run", "execute_after_dry_run"),
    ],
)
def test_a_name_that_ends_as_one_that_reads_does_may_change_things(name: str) -> None:
    assert effect_of(name, {})[0] != "read"


@pytest.mark.parametrize(
    "name",
    [
        *("monitor_deploy", "filter_type", "get_e_invoice", "getOAuthToken", "get_y_axis"),
        *("get_or_none", "find_or_fail", "fetch_and_render", "load_and_split"),
        *("ip_resolve", "urls_resolve", "user_resolve", "airflow_logs", "migrate_dry_run"),
    ],
)
def test_a_name_that_goes_on_behind_what_reads_may_only_read(name: str) -> None:
    assert effect_of(name, {})[0] == "read"


# Two words of a name say together what neither says alone.
@pytest.mark.parametrize(
    "name",
    str.split(
        "transfer_status transferStatus bank_transfer_status payments.refund_status charge_status "
        "deploy_status import_status lock_status merge_status return_status issue_count "
        "install_count transfer_history commit_history login_history refund_eligibility "
        "upgrade_options deploy_logs login_log issue_list commit_search type_check issue_read "
        "list_homes_for_rent list_items health_check dns_check scan_network log_history "
        "record_count record_history post_history"
    ),
)
def test_what_is_told_of_a_change_is_looked_at(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


@pytest.mark.parametrize(
    "name",
    str.split(
        "update_status change_status publish_status reset_count clear_history archive_logs "
        "forward_summary merge_list share_and_transfer_status deploy_and_update_status "
        "issue_update_status grant_eligibility block_availability issue_check transfer_to_status "
        "repair_interrupted_tool_history log_time record_result clock_in punch_out monitor_pause "
        "quote_void jobs.schedule schedule_meeting erase_purchase_history override_lock_status "
        "wipe_login_log void_refund_status truncate_deploy_logs prune_commit_history"
    ),
)
def test_what_a_change_is_made_to_is_not_looked_at(name: str) -> None:
    assert effect_of(name, {}) == ("write", True)


@pytest.mark.parametrize(
    "name", str.split("get_clock_in_times get_clock_in clock_in_status list_badge_in_events")
)
def test_what_somebody_did_is_looked_at_where_the_name_asks_for_it(name: str) -> None:
    assert effect_of(name, {}) == ("read", True)


@pytest.mark.parametrize(
    "name",
    str.split(
        "sync_status push_status grant_status import_stats restore_history release_summary "
        "ship_logs transfer_chat_history lock_user_status void_check bind_quote abort_scan "
        "rebuild_list flush_query_cache extend_watch mail_check book_test scan_in_pallet "
        "list_item_for_sale list_for_sale fee_schedule post_status log_data"
    ),
)
def test_two_words_of_which_each_may_be_the_deed_leave_it_open(name: str) -> None:
    assert effect_of(name, {}) == ("unknown", True)
