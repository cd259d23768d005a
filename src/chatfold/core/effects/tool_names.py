"""Whether a tool changes things, as the words of its name suggest.

Not here: what a call is given, and what the caller says (`of_calls`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Literal, TypeAlias

from chatfold.core.by_hash import by_hash
from chatfold.core.effects.name_pairs import DEEDS, of_change_as_thing, of_noted, reads_but_for
from chatfold.core.effects.shell_programs import PROGRAMS
from chatfold.core.word_sets import word_set

__all__ = [
    "LONGEST",
    "Effect",
    "effect_of_name",
    "effect_of_words",
    "heaviest",
    "is_for_sql",
    "is_gateway",
    "is_request",
    "is_shell",
    "program_of",
]

Effect: TypeAlias = Literal["read", "write", "unknown"]
"""Whether a call changes something outside the conversation; `unknown` where nothing hints."""

_BY_WEIGHT: tuple[Effect, ...] = ("write", "unknown", "read")


_READS = word_set(
    "analyze assert browse calc calculate calculator can check classify compare compute convert "
    "count describe detect diagnose diff discover enumerate estimate evaluate examine explain "
    "explore extract fetch filter find geocode get glob grep has head identify inspect is list "
    "load locate lookup ls measure monitor ocr open parse peek ping poll predict preview profile "
    "query quote read recall recommend resolve retrieve scan scrape screenshot search see select "
    "show simulate stat suggest summarize tail test think trace traceroute track transcribe "
    "translate validate verify view wait watch whoami whois"
)
_WRITES = word_set(
    "accept acknowledge activate add adjust allocate append apply approve archive assign attach "
    "authorize backfill ban block cancel change charge clear click clone close commit complete "
    "configure confirm connect copy create deactivate debit decline decrement delete deliver "
    "demote deny deploy destroy detach disable disconnect dismiss dispatch donate downgrade drag "
    "drop edit enable enqueue enroll escalate exchange expire finalize fix fork forward freeze "
    "generate grant hire import increment init initialize insert install invite issue kick kill "
    "launch lock login logout make mark merge migrate mkdir modify move mute notify offboard "
    "onboard overwrite patch pay pin place press promote provision publish purchase purge push put "
    "quarantine reactivate rebook reboot redeem refill refuel refund register reject release "
    "relocate remediate remove rename renew reorder repair replace replenish replicate reply rerun "
    "reschedule reseat reship reserve reset restart restore resume return revert revoke rewrite "
    "rollback rotate save schedule sell send set ship sign start stop store submit subscribe "
    "suspend swap sync terminate toggle transfer trigger type unban unblock unfollow uninstall "
    "unlock unmute unpause unpin unsubscribe untag update upgrade upload upsert wire withdraw "
    "write"
)
# Names are in the language of those who wrote the tool: German, French, Spanish, Italian or
# Portuguese, without accents, as names are. Most have infinitives; in German and Italian many say
# what to do.
_READS_ELSEWHERE = word_set(
    "abfragen abrufen afficher anzeigen auflisten berechne berechnen buscar calcola calcolare "
    "calcular calculer cerca cercare checar chercher comparar comparer comprobar confrontare "
    "consultar consultare consulter controlla controllare cotar cotizar elenca elencare encontrar "
    "ermitteln exibir finden hole holen leer leggere leggi ler lesen lire listar lister mostra "
    "mostrar mostrare nachschlagen obtener obtenir obter ottenere pesquisar procurar pruefe "
    "pruefen prufe prufen rechercher recuperare recuperer revisar suche suchen trouver trova "
    "trovare validar valider ver vergleichen verifica verificar verificare verifier visualizar "
    "visualizzare zeige"
)
_WRITES_ELSEWHERE = word_set(
    "absagen abschliessen acheter acquistare activar activer actualiser actualizar adicionar "
    "aendern agendar aggiorna aggiornare aggiungere aggiungi agregar ajouter aktivieren "
    "aktualisieren alterar anadir andern anlegen annuler annulla annullare apagar approuver "
    "approvare aprobar aprovar asignar assegnare ativar atribuir attivare attribuer atualizar "
    "autoriser autorizar autorizzare avviare bestaetigen bestatigen bestelle bestellen bezahlen "
    "bloccare bloquear bloquer borrar buche buchen cadastrar cambiar cambiare cancelar cancella "
    "cancellare cerrar changer chiudere cloturer cobrar completar completare comprar comprare "
    "concluir confermare confirmar confirmer crea crear creare creer criar deaktivieren debloquer "
    "deletar deplacer desactivar desactiver desativar desbloquear devolver disattivare ecrire "
    "einreichen eintragen elimina eliminar eliminare emitir enregistrer entsperren enviar envoyer "
    "erstatten erstelle erstellen escalar escrever escribir excluir fechar fermer finalizar "
    "freigeben generar generare generer gerar guardar hinzufuegen hinzufugen hochladen iniciar "
    "inoltrare invia inviare kuendigen kundigen loeschen loschen mandar marcar modificar "
    "modificare modifier notificar notificare notifier ordinare pagar pagare payer planifier "
    "prenota prenotare programar programmare pubblicare publicar publier reactivar reagendar "
    "rechazar reembolsar refuser registrar registrare rejeitar rembourser renouveler renovar "
    "renvoyer reprogramar reservar reserver reservieren restituire revocar richiedere rifiutare "
    "rimborsare rinnovare salvar salvare sauvegarder sbloccare schicken schliessen schreiben "
    "scrivere sende senden solicitar soumettre speichern sperren spostare stellen storniere "
    "stornieren supprimer transferer transferir trasferire trocar uberweisen ueberweisen umbuchen "
    "veranlassen vereinbaren verschicken verschieben vincular zuweisen"
)
# Changes that are things as well, so that they may be what is looked at: `view_issue`.
_CHANGES_AS_THINGS = word_set(
    "archive block change charge clone commit copy deploy drop exchange forward grant hire import "
    "insert install invite issue kill launch lock login logout merge move patch pay pin place "
    "press purchase push refund register release repair reply reset restart restore return "
    "rollback schedule ship sign store swap sync transfer trigger type update upgrade upload wire "
    "write"
)
# What reads and is a thing as well, so that a name may go on with what is done to it. With the
# first it does whenever it ends in a change: `quote_accept`; with the others not where that is a
# thing, too.
_MOSTLY_THINGS = word_set("profile quote")
_ALSO_THINGS = word_set("filter list monitor query scan view watch")
_HELD = word_set("pause silence snooze void")  # what is done to such a thing: `monitor_pause`
_TRIALS = word_set("check preview search test trace track")  # `test_send` may do it or only try
_ALL_READS = _READS | _READS_ELSEWHERE
_ALL_WRITES = _WRITES | _WRITES_ELSEWHERE
# What may be a thing as well as a deed: `order_pizza` changes things, `order_status` does not.
_EITHER = word_set(
    "answer bid bill book booking call capture checkin checkout comment control dm do download "
    "draft drain export file fill follow handoff handover hold log mail message note order park "
    "pause play post print process record report request respond retry scale silence sms snapshot "
    "snooze tag text ticket tip trade tweet void vote"
)
_THINGS_TO_READ = word_set(
    "availability balance content contents count data detail details docs documentation forecast "
    "help history id ids info information items listing price prices result results rows "
    "schema state statistics stats status summary time usage version weather"
)
# To open, to recall or to select these is to look at them; a ticket, an account or a seat it may
# make or take, a wire or a message call back.
_OPENABLE = word_set("open recall select")
_OPENED = word_set(
    "all browser column columns contents data database db detail details directory doc docs "
    "document documents fact facts file files folder history image info information knowledge "
    "link memories memory page pages pdf photo query record records result results row rows sql "
    "state stats status summary tab table url urls video web webpage website window"
)
# Words of those that read, and the things with which they are deeds: a lead becomes a customer, a
# truck is filled, while a unit is only worked out, and a file read.
_DEEDS_WITH: Mapping[str, frozenset[str]] = {
    "convert": word_set(
        "cart crypto deal draft estimate lead mile opportunity point prospect quotation quote "
        "reward trial"
    ),
    "load": word_set(
        "car card cargo container dishwasher freight lorry money pallet ship shipment trailer "
        "truck van vehicle vessel wagon wallet"
    ),
    "resolve": word_set(
        "alert bug case chat comment complaint conflict conversation dispute incident issue "
        "problem task thread ticket freshdesk intercom opsgenie pagerduty sentry zendesk"
    ),
    "track": word_set("calorie event expense habit hours meal medication mood symptom workout"),
}
# Behind these, though, a name that ends in them is of looking one up: `dns_resolve`.
_RESOLVED_TO_READ = word_set(
    "address dependency dns domain email entity handle host hostname id import ip library link "
    "module name package path redirect reference symbol uri url user username"
)
# Logs that are looked at; of others a tool may be there to write: `habit_log`.
_WRITTEN_BY_MACHINES = word_set(
    "access airflow api app application audit build call chat ci cloudwatch commit console "
    "container crash deploy deployment dns docker git job kernel kubernetes pipeline pod query "
    "request security server service system task trace worker workflow"
)
_LOGGED = word_set("booking call message order sms ticket trade")
_JOINS = word_set("and e et o oder or ou then und y")
_GOES_ON = word_set("and then und")
# What is done to what was read, and changes nothing.
_WORKED_OUT = word_set(
    "cache chunk decode default extract fail filter format group join normalize none parse raise "
    "rank render sort split tokenize validate"
)
_INTO = word_set("into to")
_BETWEEN = word_set("at by for from in into of on or to where with")
_PHRASES = re.compile(
    r"^(?:badge|clock|punch)_(?:in|out)(?!_(?:event|history|list|log|record|report|status|time)s?\b)"
    r"|(?<![a-z])(?:check_in|check_out|fill_in|find_and_replace|hand_off|hand_over|log_in|log_out|"
    r"opt_in|opt_out|run_migrations?|search_and_replace|sign_in|sign_out|sign_up|str_replace|top_up"
    r"|turn_(?:on|off|up|down)"
    r"|resolve_(?:alert|bug|case|comment|complaint|conflict|dispute|incident|issue|problem|task|"
    r"thread|ticket)s?)(?![a-z])"
)
# What is looked up, though its first word alone would be a deed: `release_notes`. In front of it a
# deed still is one: `publish_release_notes`, `set_exchange_rate`.
_COMPOUNDS = re.compile(
    r"(?<![a-z])(?:exchange_rates?|release_notes?|(?:return|refund|exchange)_(?:policy|policies)"
    r"|browser_(?:console_messages|network_requests|snapshot)|git_log|nearest_store|stock_levels?|store_(?:hours|locations?)|seat_maps?)"
    r"(?![a-z])"
)
# A rehearsal changes nothing, whatever it rehearses: `dry_run_migration`. To switch it on does, and
# what comes behind it, or is no rehearsal.
_REHEARSAL = re.compile(r"(?<![a-z])(?:dry_run|dryrun)(?![a-z])")
_NO_REHEARSAL = word_set(
    "after apply archive clear commit delete disable enable no off on promote remove set skip "
    "toggle without"
)
# Built-in tools of providers whose names say nothing, or the wrong thing.
_KNOWN: Mapping[str, Effect] = {
    "apply_patch": "write",
    "code_execution": "unknown",
    "code_interpreter": "unknown",
    "computer": "unknown",
    "file_search": "read",
    "google_maps": "read",
    "google_search": "read",
    "image_generation": "write",
    "url_context": "read",
    "web_fetch": "read",
    "web_search": "read",
}
# What a tool is called that runs the commands of a shell: at least one of these words, and none but
# these and those behind them.
_SHELLS = word_set("bash cmd command commands exec powershell pwsh sh shell ssh terminal zsh")
_AROUND_SHELLS = word_set("code container execute execution in line local remote run tool")
_AROUND_PROGRAMS = _SHELLS | _AROUND_SHELLS | {"cli"}
# The same for one that makes requests of any method.
_REQUESTS = word_set("api curl endpoint http https request requests rest url")
_AROUND_REQUESTS = word_set("call client do execute fetch invoke make perform run send tool web")
# The same for one that calls one of many tools, which it is told: `call_tool`, `use_mcp_tool`.
_TOOLS = word_set("function mcp tool tools")
_AROUND_TOOLS = word_set(
    "call composio do dynamic exec execute external gateway invoke multi perform remote run use"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
LONGEST = 200  # characters of a name that are looked at


def heaviest(effects: Collection[Effect | None]) -> Effect | None:
    """Return the effect of several things together: a change outdoes a doubt, a doubt a look.

    None where none of them says anything.
    """
    return next((effect for effect in _BY_WEIGHT if effect in effects), None)


@by_hash(512)
def effect_of_name(name: str) -> Effect:
    """Return what the words of a name suggest; those behind the last `__`, `.` or `/` count."""
    known = _KNOWN.get(name.lower())
    if known is not None:
        return known
    parts = [_words_of(part) for part in _parts(name)]
    for place in range(len(parts) - 1, -1, -1):
        before = parts[place - 1] if place else []
        effect = _by_words(parts[place], before)
        if effect is not None:
            return effect
    return "unknown"


def _parts(name: str) -> list[str]:
    """Return a name parted where it says what it belongs to: `crm.create`, `mcp__shell__run`."""
    return re.split(r"__|[./:]", name[-LONGEST:])


def _words_of(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


@by_hash(512)
def is_shell(name: str) -> bool:
    """Return whether a tool runs the commands of a shell, as its name says.

    So may an argument be named that is such a command: `command_line`.
    """
    return _is_made_of(name, _SHELLS, _AROUND_SHELLS)


@by_hash(512)
def program_of(name: str) -> str | None:
    """Return the program whose subcommands a tool runs, as its name says: `kubectl`, `run_git`."""
    words = [word for word in _words_of(_parts(name)[-1]) if word not in _AROUND_PROGRAMS]
    return words[0] if len(words) == 1 and words[0] in PROGRAMS else None


@by_hash(512)
def is_request(name: str) -> bool:
    """Return whether a tool makes requests of which the method says what they do."""
    return _is_made_of(name, _REQUESTS, _AROUND_REQUESTS)


@by_hash(512)
def is_gateway(name: str) -> bool:
    """Return whether a tool calls the tool that it is told, as its name says."""
    return _is_made_of(name, _TOOLS, _AROUND_TOOLS)


@by_hash(512)
def is_for_sql(name: str) -> bool:
    """Return whether a tool takes statements of SQL, as its name says."""
    words = _words_of(_parts(name)[-1])
    return any(word.endswith("sql") or word == "sqlite" for word in words)


def _is_made_of(name: str, some: frozenset[str], others: frozenset[str]) -> bool:
    words = {word for word in _words_of(_parts(name)[-1]) if not word.isdigit()}
    return not words.isdisjoint(some) and words <= some | others


def effect_of_words(text: str, of: str = "") -> Effect | None:
    """Return what a few words suggest, in any style, None where nothing does.

    Args:
        text: The words.
        of: The name of what they belong to.
    """
    return _by_words(_words_of(text), _words_of(of))


def _by_words(words: list[str], before: list[str]) -> Effect | None:
    """Return what the words of a name suggest, None where nothing does.

    Args:
        words: The words, in small letters.
        before: Those of what the name belongs to, as `tickets` in `tickets.open`.
    """
    name = "_".join(words)
    rehearsal = _REHEARSAL.search(name)
    if rehearsal and _NO_REHEARSAL.isdisjoint(name[: rehearsal.start()].split("_")[-2:]):
        return "read"
    if _PHRASES.search(name):
        return "write"
    words = _COMPOUNDS.sub("information", name).split("_")
    for place, word in enumerate(words):
        if word in _ALL_WRITES:
            return _of_change(words[place:], before=words[:place])
        if word in _ALL_READS:
            behind = words[place + 1 :]
            if _goes_on_to_write(behind):
                return "write"
            if _goes_on_somehow(behind) or reads_but_for(words[:place], word, behind):
                return "unknown"
            done = _done_to(word, behind)
            return done or _of_reading(word, [*before, *words[:place]], behind)
    if any(word in _THINGS_TO_READ for word in words):
        return of_noted(words) or "read"
    if any(word in _EITHER for word in words):
        return _of_log(words) or "write"
    return _of_log(words)


def _of_change(words: list[str], before: list[str]) -> Effect:
    """Return what a name does from a word for a change on, which may be a thing: `issue_read`."""
    if words == ["schedule"] and before:  # of a train, or what is done to a job
        return "unknown"
    if not (_JOINS | _EITHER | DEEDS).isdisjoint(before[-1:]):  # `erase_purchase_history`
        return "write"
    return of_change_as_thing(words, _ALL_WRITES | _JOINS | _BETWEEN) or "write"


def _done_to(word: str, behind: list[str]) -> Effect | None:
    """Return what a name does that goes on from a word that reads to a change, None for a look.

    A noun may stand first and the verb last: `quote_accept`, `list_delete`.
    """
    last = behind[-1] if behind else ""
    if last not in _ALL_WRITES | _HELD or not _BETWEEN.isdisjoint(behind):
        return None
    is_thing = last in _CHANGES_AS_THINGS
    if word in _MOSTLY_THINGS or (word in _ALSO_THINGS and not is_thing):
        return "write"
    if word in _ALSO_THINGS:
        return "unknown" if last == "update" else None
    return "unknown" if word in _TRIALS and not is_thing else None


def _of_log(words: list[str]) -> Effect | None:
    """Return what a name does that ends in `log` behind what is logged, None for another name."""
    *logged, last = words
    if not logged or last not in ("log", "logs") or any(w in _EITHER - _LOGGED for w in logged):
        return None
    return "read" if logged[-1].removesuffix("s") in _WRITTEN_BY_MACHINES else "unknown"


def _of_reading(word: str, before: list[str], behind: list[str]) -> Effect:
    """Return what a word that reads suggests with what it is done to, by the words around it."""
    thing = _thing(before, behind)
    deeds = _DEEDS_WITH.get(word)
    if deeds is not None and (thing in deeds or thing.removesuffix("s") in deeds):
        return "write"
    if word == "load":
        return "read" if _INTO.isdisjoint(behind) else "unknown"
    if word == "resolve" and before and not behind:
        return "read" if thing.removesuffix("s") in _RESOLVED_TO_READ | {"dn"} else "unknown"
    return "unknown" if word in _OPENABLE and thing and thing not in _OPENED else "read"


def _thing(before: list[str], behind: list[str]) -> str:
    """Return what something is done to, by the words around that, "" where none says so."""
    upto = next((place for place, word in enumerate(behind) if word in _BETWEEN), len(behind))
    things = behind[:upto] or before
    return things[-1] if things else ""


def _goes_on_to_write(words: list[str]) -> bool:
    """Return whether a name such as `get_or_create` or `search_and_book` ends in a change."""
    return any(
        before in _JOINS and (word in _ALL_WRITES or word in _EITHER)
        for before, word in pairwise(words)
    )


def _goes_on_somehow(words: list[str]) -> bool:
    """Return whether a name such as `scan_and_purify` ends in what nobody can tell."""
    if len(words) < 2 or words[0] not in _GOES_ON:
        return False
    return words[1] not in _ALL_READS | _THINGS_TO_READ | _WORKED_OUT
