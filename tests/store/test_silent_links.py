"""A network to PostgreSQL that swallows everything over the connections there are, or breaks what it passes on."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from bot.embedded_postgres import PostgresServer
from engine.store import pools
from engine.store.database import Database, open_database
from tests.lanes.proxy import Proxy

PATIENCE_S = 4
"""Longer than the library takes to close a silent connection (2 s)."""


async def ask(database: Database, together: asyncio.Barrier | None = None) -> None:
    async with database.reading() as connection:
        await connection.execute(text("SELECT 1"))
        if together is not None:
            await together.wait()


async def test_one_silent_connection_gives_up_all_that_are_as_old(
    postgres: PostgresServer, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "_ANSWER_TIMEOUT_S", PATIENCE_S)
    name = urlsplit(postgres_url).path.strip("/")
    async with (
        Proxy(postgres.socket_path) as proxy,
        await open_database(f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}") as database,
    ):
        together = asyncio.Barrier(2)
        await asyncio.gather(ask(database, together), ask(database, together))
        async with database.reading() as connection:
            proxy.silence()
            with pytest.raises(TimeoutError):
                await connection.execute(text("SELECT 1"))
        async with asyncio.timeout(PATIENCE_S):  # the other one, if it were still trusted, would take as long by itself
            await ask(database)


async def test_connections_that_went_silent_while_nobody_used_them_cost_one_trial_in_all(
    postgres: PostgresServer, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "_TRIAL_TIMEOUT_S", 1)
    name = urlsplit(postgres_url).path.strip("/")
    async with (
        Proxy(postgres.socket_path) as proxy,
        await open_database(f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}") as database,
    ):
        together = asyncio.Barrier(4)
        await asyncio.gather(*(ask(database, together) for _ in range(4)))
        proxy.silence()
        async with asyncio.timeout(1 + PATIENCE_S):
            await ask(database)
        for _ in range(3):
            async with asyncio.timeout(PATIENCE_S):  # each of the others, if they were still trusted
                await ask(database)


async def test_a_connection_whose_answers_make_no_sense_is_given_up_before_it_is_used(
    postgres: PostgresServer, postgres_url: str
) -> None:
    name = urlsplit(postgres_url).path.strip("/")
    async with (
        Proxy(postgres.socket_path) as proxy,
        await open_database(f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}") as database,
    ):
        await ask(database)
        proxy.babble(b"Z\x00\x00\x00\x05I")  # "ready", of a statement that was not answered
        await ask(database)
