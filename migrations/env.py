"""Alembic's entry: on the connection that ``migrations.run`` gives, or on ``alembic -x url=ADDRESS ...``."""

from __future__ import annotations

import asyncio

from alembic import context
from alembic.util import CommandError
from sqlalchemy import Connection

from engine.store.database import open_database
from engine.store.dialect import SQLITE
from engine.store.tables import metadata


def run(connection: Connection) -> None:
    """Run what the command asks for, inside the transaction that ``connection`` is in."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        transactional_ddl=True,  # SQLite's is too, once the driver keeps out of it
        render_as_batch=connection.dialect.name == SQLITE,
    )
    with context.begin_transaction():
        context.run_migrations()


async def run_at(address: str) -> None:
    """Open the database at ``address`` just for this."""
    async with await open_database(address) as database, database.altering() as connection:
        await connection.run_sync(run)
        await connection.commit()


def main() -> None:
    """Find the connection."""
    if context.is_offline_mode():
        raise CommandError("SQL cannot be printed here, only run; leave out --sql")
    connection = context.config.attributes.get("connection")
    if connection is not None:
        run(connection)
        return
    address = context.get_x_argument(as_dictionary=True).get("url")
    if not isinstance(address, str):
        raise CommandError("name the database: alembic -x url=sqlite:////PATH/FILE COMMAND")
    asyncio.run(run_at(address))


main()
