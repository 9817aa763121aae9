"""Every query of a hot path finds its rows by an index, and there is no index that none of them uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from sqlalchemy import Engine, event, inspect, text

from engine.game.model import CloseReason, Switch
from engine.ids import NOTICE, NoticeId
from engine.store.aside import Failure
from engine.store.database import Database
from engine.store.dialect import SQLITE
from engine.store.work import SqlUnitOfWork, SqlUnits
from tests.store.making import Table, a_place, a_source, a_table, an_account, mint

Ask = Callable[[SqlUnitOfWork, Table], Awaitable[object]]

QUERIES: Final[dict[str, tuple[Ask, set[str]]]] = {
    "find": (lambda unit, _: unit.rooms.find(a_place()), {"uq_chats_chat_ref", "uq_rooms_chat_thread"}),
    "rooms": (lambda unit, table: unit.rooms.many([table.room.id]), {"pk_rooms", "pk_chats"}),
    "titles": (lambda unit, table: unit.rooms.titles([table.room.id]), {"pk_rooms", "pk_chats"}),
    "plan": (lambda unit, _: unit.plans.get("gold"), {"pk_plans"}),
    "rooms on a plan": (lambda unit, _: unit.plans.on("gold"), {"ix_rooms_plan"}),
    "switch": (lambda unit, _: unit.plans.on_since_ms(Switch.PAUSE_ALL), {"pk_switches"}),
    "room": (lambda unit, table: unit.rooms.get(table.room.id), {"pk_rooms", "pk_chats"}),
    "player": (lambda unit, _: unit.rooms.player(an_account()), {"uq_players_account_ref"}),
    "running": (lambda unit, table: unit.rounds.running(table.room.id), {"uq_rounds_room_unsettled"}),
    "newest": (lambda unit, table: unit.rounds.newest(table.room.id), {"uq_rounds_room_number"}),
    "next number": (lambda unit, table: unit.rounds.next_number(table.room.id), {"uq_rounds_room_number"}),
    "many": (lambda unit, table: unit.rounds.many([table.round.id]), {"pk_rounds"}),
    "unsettled": (lambda unit, _: unit.rounds.unsettled(5), {"uq_rounds_room_unsettled"}),
    "close": (lambda unit, table: unit.rounds.close(table.round.id, 5, CloseReason.CRACKED), {"pk_rounds"}),
    "taken": (lambda unit, _: unit.guesses.taken(a_source()), {"uq_guesses_chat_ref_message_ref"}),
    "lock": (lambda unit, table: unit.rooms.lock(table.room.id), {"pk_rooms", "pk_chats"}),
    "standings": (lambda unit, table: unit.guesses.standings(table.round.id), {"pk_standings"}),
    "winner": (lambda unit, table: unit.guesses.winner(table.round.id, 5), {"pk_standings"}),
    "membership": (
        lambda unit, table: unit.guesses.membership(table.room.id, table.players[0].id),
        {"pk_memberships"},
    ),
    "failed": (lambda unit, _: unit.aside.failed(Failure("1", "message", "E", "{}", 5), 1), {"pk_aside"}),
    "aside": (lambda unit, _: unit.aside.newest(10), {"ix_aside_last_ms"}),
    "waiting": (lambda unit, _: unit.outbox.waiting([NoticeId(mint(NOTICE))]), {"pk_outbox"}),
    "load": (lambda unit, _: unit.outbox.load([NoticeId(mint(NOTICE))]), {"pk_outbox"}),
    "sent": (lambda unit, _: unit.outbox.sent([NoticeId(mint(NOTICE))], 5), {"pk_outbox"}),
    "prune outbox": (lambda unit, _: unit.outbox.prune(5, 10), {"pk_outbox"}),
    "prune inbox": (lambda unit, _: unit.inbox.prune(5, 10), {"ix_inbox_taken_ms", "pk_inbox"}),
    "drop all": (lambda unit, table: unit.outbox.drop_all(table.room.chat, 0, "gone", 5), {"ix_outbox_unsent"}),
    "rooms of a chat": (lambda unit, table: unit.chats.rooms(table.room.chat), {"uq_rooms_chat_thread"}),
    "chat": (lambda unit, _: unit.chats.lock(5), {"uq_chats_chat_ref"}),
    "unsent": (lambda unit, _: unit.outbox.unsent(10, 5), {"ix_outbox_unsent"}),
}
# Not asked for by a query but held true by an index.
ONLY_UNIQUE: Final = {"pk_guesses", "pk_players"}


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_finds_its_rows_by_an_index(database: Database, units: SqlUnits, query: str) -> None:
    ask, indexes = QUERIES[query]
    table = await a_table(units)
    with _statements() as statements:
        async with units.begin() as unit:
            await ask(unit, table)
    await _all_by_an_index(database, statements, indexes)


async def test_a_scene_is_found_by_indexes(database: Database, units: SqlUnits) -> None:
    indexes = {"uq_chats_chat_ref", "uq_rooms_chat_thread", "uq_rounds_room_unsettled", "uq_players_account_ref"}
    with _statements() as statements:
        await units.scene(a_place(), an_account())
    await _all_by_an_index(database, statements, indexes)


async def _all_by_an_index(database: Database, statements: list[tuple[str, Any]], indexes: set[str]) -> None:
    plans = [await _plan(database, *statement) for statement in statements]
    used = "\n".join(plans)
    if database.dialect == SQLITE:
        # SQLite names the indexes behind its keys by number.
        # Through a partial index, of the few rows that are open or owed; or all of an index, in its order.
        for few in (
            "rounds USING INDEX uq_rounds_room_unsettled",
            "outbox USING INDEX ix_outbox_unsent",
            "aside USING INDEX ix_aside_last_ms",
        ):
            used = used.replace(f"SCAN {few}", few)
        assert "SCAN" not in used
        indexes = {index for index in indexes if index.startswith("ix_") or index.endswith("_unsettled")}
    else:
        assert "Seq Scan" not in used
    assert {index for index in indexes if index not in used} == set()


async def test_there_is_no_index_that_no_query_uses(database: Database) -> None:
    used = set[str]().union(*(indexes for _, indexes in QUERIES.values()), ONLY_UNIQUE)

    def names(connection: Any) -> set[str | None]:
        look = inspect(connection)
        found: set[str | None] = set()
        for table in set(look.get_table_names()) - {"alembic_version"}:
            found |= {index["name"] for index in look.get_indexes(table)}
            found |= {unique["name"] for unique in look.get_unique_constraints(table)}
            found.add(look.get_pk_constraint(table)["name"])
        return found

    async with database.reading() as connection:
        assert await connection.run_sync(names) == used


@contextmanager
def _statements() -> Iterator[list[tuple[str, Any]]]:
    """What is sent meanwhile, with its parameters; not what begins a transaction."""
    sent: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:  # noqa: FBT001 - SQLAlchemy's signature
        if not statement.startswith("BEGIN"):
            sent.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def _plan(database: Database, statement: str, parameters: Any) -> str:
    async with database.writing() as connection:
        if database.dialect == SQLITE:
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        else:
            # The tables are small: say that reading them whole is not wanted, as it will not be once they are big.
            await connection.execute(text("SET LOCAL enable_seqscan = off"))
            rows = await connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)
        return "\n".join(str(row[-1]) for row in rows)
