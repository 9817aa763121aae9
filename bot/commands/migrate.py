"""``codemojex migrate``: bring the database's schema up to date."""

from __future__ import annotations

import typer

from bot.commands.loading import loaded
from bot.commands.options import DataDir
from bot.running import Stop, run
from bot.wiring import database_address, database_at
from migrations.run import current, head, upgrade


def migrate(data_dir: DataDir = None) -> None:
    """Bring the schema of DATABASE_URL up to what this program needs; do so before a new version starts.

    Without DATABASE_URL it is the file that `up` keeps in the data directory (and migrates by itself).
    """
    settings = loaded(data_dir).on_telegram()

    async def bring_up(_: Stop) -> tuple[str | None, str]:
        async with database_at(database_address(settings), settings) as database:
            before = await current(database)
            await upgrade(database)
            return before, database.where

    before, where = run(bring_up)
    done = "was up to date" if before == head() else "is up to date now"
    typer.echo(f"The database at {where} {done}, at schema {head()}.")
