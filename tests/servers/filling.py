"""Servers that can't write any more, without a disk that is really full: for as long as a block lasts."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from redis.asyncio import Redis

from bot.embedded import EmbeddedValkey, server_binary
from bot.embedded_postgres import PostgresServer
from engine.store.database import Database


def unkilled_binary(folder: Path) -> Path:
    """A server that is told of a file that may not grow, as of a full disk, and not killed for it."""
    script = folder / "valkey-server"
    script.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec '{server_binary()}' \"$@\"\n")
    script.chmod(0o700)
    return script


@contextmanager
def full_disk(server: EmbeddedValkey) -> Iterator[None]:
    """No file of the server grows: each write to its append-only file fails."""
    pid = server.pid
    assert pid is not None
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        if server.pid == pid:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@asynccontextmanager
async def out_of_memory(redis: Redis) -> AsyncIterator[None]:
    await redis.config_set("maxmemory", 1)
    try:
        yield
    finally:
        await redis.config_set("maxmemory", 0)


@contextmanager
def read_only(postgres: PostgresServer, name: str) -> Iterator[None]:
    """As after a failover to a server that is still a standby."""
    _set(postgres, name, "ALTER DATABASE {} SET default_transaction_read_only = on")
    try:
        yield
    finally:
        _set(postgres, name, "ALTER DATABASE {} RESET default_transaction_read_only")


def _set(postgres: PostgresServer, name: str, statement: str) -> None:
    postgres.sql(statement.format(f'"{name}"'))
    postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - our own name


@asynccontextmanager
async def refusing(postgres: PostgresServer, name: str, code: str) -> AsyncIterator[None]:
    """The server refuses each notice with this SQLSTATE, such as that of a full disk.

    The statements wait for transactions that are open in this very process, so it must go on meanwhile.
    """
    body = f"BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END"
    function = f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
    trigger = "CREATE TRIGGER refuse BEFORE INSERT ON outbox EXECUTE FUNCTION refuse()"
    for statement in (function, trigger):
        await asyncio.to_thread(postgres.sql, statement, name)
    try:
        yield
    finally:
        await asyncio.to_thread(postgres.sql, "DROP TRIGGER refuse ON outbox", name)


@asynccontextmanager
async def full_file(database: Database) -> AsyncIterator[None]:
    """The SQLite file may not grow."""
    await _pragma(database, "max_page_count = 1")  # never less than it has
    try:
        yield
    finally:
        await _pragma(database, "max_page_count = 1000000")


@asynccontextmanager
async def locked_file(database: Database, path: str) -> AsyncIterator[None]:
    """Another program holds the SQLite file; ours waits for it but a moment."""
    await _pragma(database, "busy_timeout = 20")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def _pragma(database: Database, pragma: str) -> None:
    async with database.writing() as connection:  # there is one such connection
        await connection.exec_driver_sql(f"PRAGMA {pragma}")
