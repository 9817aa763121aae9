"""Database addresses: what people write, made into what SQLAlchemy opens, and shown without secrets."""

from __future__ import annotations

from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from engine.store.errors import DatabaseUrlUnusable

_DRIVERS: Final = {
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
}
# What asyncpg takes of an address; ``sslmode`` is what everyone else calls its ``ssl``.
_PARAMETERS: Final = frozenset({"host", "port", "user", "password", "database", "ssl", "sslmode", "passfile"})


def parse(address: str) -> URL:
    """Read an address.

    Raises:
        DatabaseUrlUnusable: it is none, names another kind of database, or SQLite without a file.
    """
    try:
        url = make_url(address.strip())
    except (ArgumentError, ValueError):
        # The parser's own words may quote a piece of the password.
        raise DatabaseUrlUnusable("cannot be read") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise DatabaseUrlUnusable(f"begins with {url.drivername}://, which is not supported")
    url = url.set(drivername=driver)
    return _sqlite(url) if driver.startswith("sqlite") else _postgresql(url)


def address_of(path: str) -> str:
    """The address of the SQLite file at ``path``, whatever signs its name has."""
    return "sqlite:///" + path.replace("%", "%25").replace("?", "%3F")


def shown(url: URL) -> str:
    """The address for people: no user's password, no parameter but the directory of a unix socket."""
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    host = url.host or url.query.get("host", "localhost")
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{host}{port}/{url.database or ''}"


def _sqlite(url: URL) -> URL:
    if url.host or not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise DatabaseUrlUnusable("must name a plain SQLite file (in memory nothing outlives the connection)")
    if url.query:
        raise DatabaseUrlUnusable("must not carry parameters after the SQLite file")
    return url


def _postgresql(url: URL) -> URL:
    foreign = sorted(set(url.query) - _PARAMETERS)
    if foreign:
        raise DatabaseUrlUnusable(f"has the parameter {foreign[0]}, which is not supported")
    if "sslmode" in url.query:
        return url.difference_update_query(["sslmode"]).update_query_dict({"ssl": url.query["sslmode"]})
    return url
