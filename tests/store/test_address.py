"""Database addresses are read as people write them, and shown without secrets."""

from __future__ import annotations

import pytest

from engine.store.address import parse, shown
from engine.store.errors import DatabaseUrlUnusable

PASSWORD = "s3cr3t"  # noqa: S105 - made up, to be looked for


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg"])
def test_every_name_of_postgresql_goes_through_asyncpg(scheme: str) -> None:
    url = parse(f" {scheme}://ana:{PASSWORD}@db:5433/cm\n")
    assert url.drivername == "postgresql+asyncpg"
    assert (url.username, url.password, url.host, url.port, url.database) == ("ana", PASSWORD, "db", 5433, "cm")
    assert shown(url) == "postgresql://db:5433/cm"


@pytest.mark.parametrize("scheme", ["sqlite", "sqlite+aiosqlite"])
def test_every_name_of_sqlite_goes_through_aiosqlite(scheme: str) -> None:
    url = parse(f"{scheme}:////data/cm.db")
    assert url.drivername == "sqlite+aiosqlite"
    assert shown(url) == "/data/cm.db"


def test_sslmode_is_what_asyncpg_calls_ssl() -> None:
    url = parse(f"postgresql://ana:{PASSWORD}@db/cm?sslmode=require")
    assert url.query == {"ssl": "require"}


def test_a_socket_directory_is_shown_and_a_password_beside_it_is_not() -> None:
    url = parse(f"postgresql:///cm?host=/run/pg&user=ana&password={PASSWORD}")
    assert shown(url) == "postgresql:///run/pg/cm"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("", "cannot be read"),
        ("cm.db", "cannot be read"),
        (f"postgresql://ana:{PASSWORD}@db:{PASSWORD}/cm", "cannot be read"),
        (f"mysql://ana:{PASSWORD}@db/cm", "begins with mysql://"),
        (f"postgresql+psycopg://ana:{PASSWORD}@db/cm", "begins with postgresql"),
        (f"postgresql://ana:{PASSWORD}@db/cm?target_session_attrs={PASSWORD}", "parameter target_session_attrs"),
        ("sqlite://", "a plain SQLite file"),
        ("sqlite:///:memory:", "a plain SQLite file"),
        ("sqlite:///file:cm?mode=memory", "a plain SQLite file"),
        ("sqlite://cm.db", "a plain SQLite file"),
        ("sqlite:////data/cm.db?timeout=5", "parameters"),
    ],
)
def test_an_address_that_cannot_be_used_says_why_and_how_in_one_line(address: str, says: str) -> None:
    with pytest.raises(DatabaseUrlUnusable) as caught:
        parse(address)
    message = str(caught.value)
    assert says in message
    assert "write it as postgresql://" in message
    assert "\n" not in message
    assert PASSWORD not in message
