"""Whatever is wrong at the command line is told in one line that says what to do, and shows no secret."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.embedded import EmbeddedValkey
from bot.fake_telegram import TOKEN, FakeTelegram
from engine.store.database import open_database
from migrations.run import upgrade
from tests.cli.program import Done, codemojex

WRONG_TOKEN = "4242:WRONG-token-that-opens-nothing-at-all-0"  # noqa: S105 - of no bot
PASSWORD = "hunter2"  # noqa: S105 - of no server


def refused(done: Done, code: int, *parts: str) -> None:
    """The program said one line with all of these in it, and nothing that is nobody's business."""
    assert done.code == code
    assert done.line.startswith("codemojex: ")
    for part in parts:
        assert part in done.line
    for never in ("Traceback", WRONG_TOKEN, TOKEN, PASSWORD):
        assert never not in done.err + done.out


@pytest.mark.parametrize("command", ["up", "bot", "worker"])
def test_without_a_token_it_says_where_to_get_one(call: Callable[..., Done], command: str) -> None:
    done = call(command, REDIS_URL="redis://localhost:1", DATABASE_URL="sqlite:////nowhere/x.sqlite")
    refused(done, 2, "TELEGRAM_TOKEN", "@BotFather")


def test_what_is_no_token_at_all_is_refused_before_anything_starts(tmp_path: Path, call: Callable[..., Done]) -> None:
    done = call("up", "--data-dir", tmp_path / "data", TELEGRAM_TOKEN=PASSWORD)
    refused(done, 2, "TELEGRAM_TOKEN", "@BotFather")
    assert not list(tmp_path.iterdir())


async def test_a_token_that_telegram_does_not_know_is_told_from_an_outage(tmp_path: Path) -> None:
    async with FakeTelegram().serving() as telegram:
        done = await codemojex(tmp_path, "up", TELEGRAM_TOKEN=WRONG_TOKEN, CODEMOJEX_TELEGRAM_API=telegram.url)
    refused(done, 1, "TELEGRAM_TOKEN", "@BotFather")


async def test_a_wrong_token_stops_workers_too(tmp_path: Path, redis_url: str) -> None:
    address = f"sqlite:///{tmp_path}/x.sqlite"
    assert (await codemojex(tmp_path, "migrate", DATABASE_URL=address)).code == 0
    async with FakeTelegram().serving() as telegram:
        done = await codemojex(
            tmp_path,
            "worker",
            REDIS_URL=redis_url,
            DATABASE_URL=address,
            TELEGRAM_TOKEN=WRONG_TOKEN,
            CODEMOJEX_TELEGRAM_API=telegram.url,
        )
    refused(done, 1, "TELEGRAM_TOKEN", "@BotFather")


def test_a_misspelt_setting_is_told_at_once(tmp_path: Path, call: Callable[..., Done]) -> None:
    done = call("migrate", "--data-dir", tmp_path, CODEMOJEX_ROOM_CEILNIG="3")
    assert done.code == 0
    assert done.line == (
        "codemojex: CODEMOJEX_ROOM_CEILNIG is no setting and changes nothing; did you mean CODEMOJEX_ROOM_CEILING?"
    )


async def test_a_misspelt_setting_of_a_server_is_in_its_log(tmp_path: Path) -> None:
    served = await up_with(tmp_path, REDIS_URL="redis://127.0.0.1:1", CODEMOJEX_ROOM_CEILNIG="3")
    warning, _ = served.err.splitlines()
    assert {"unknown_setting", "CODEMOJEX_ROOM_CEILNIG", "CODEMOJEX_ROOM_CEILING"} <= {*json.loads(warning).values()}


@pytest.mark.parametrize("command", ["bot", "worker"])
def test_processes_that_run_apart_must_be_told_what_they_share(call: Callable[..., Done], command: str) -> None:
    refused(call(command, TELEGRAM_TOKEN=TOKEN), 2, "REDIS_URL", "codemojex up")
    refused(call(command, TELEGRAM_TOKEN=TOKEN, REDIS_URL="redis://localhost:1"), 2, "DATABASE_URL")


async def up_with(home: Path, **environment: str) -> Done:
    return await codemojex(home, "up", TELEGRAM_TOKEN=TOKEN, **environment)


async def test_a_redis_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = await up_with(tmp_path, REDIS_URL=f"redis://:{PASSWORD}@127.0.0.1:1/0")
    refused(done, 1, "127.0.0.1:1", "REDIS_URL", "connection refused")


async def test_a_redis_that_has_no_such_name_is_named(tmp_path: Path) -> None:
    refused(await up_with(tmp_path, REDIS_URL="redis://redis.invalid"), 1, "redis.invalid:6379", "REDIS_URL")


async def test_a_wrong_password_of_redis_is_told_from_an_outage(tmp_path: Path, valkey: EmbeddedValkey) -> None:
    done = await up_with(tmp_path, REDIS_URL=f"unix://nobody:{PASSWORD}@{valkey.socket_path}")
    refused(done, 1, "password", "REDIS_URL")


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("REDIS_URL", f"http://:{PASSWORD}@h", "redis://"),
        ("REDIS_URL", f"redis://:{PASSWORD}@h:99999", "redis://"),
        ("DATABASE_URL", f"mysql://u:{PASSWORD}@h/x", "postgresql://"),
        ("DATABASE_URL", PASSWORD, "postgresql://"),
    ],
)
def test_what_is_no_address_is_refused_without_being_shown(
    call: Callable[..., Done], name: str, value: str, remedy: str
) -> None:
    refused(call("up", TELEGRAM_TOKEN=TOKEN, **{name: value}), 2, name, remedy)


@asynccontextmanager
async def old_redis(info: str) -> AsyncIterator[str]:
    """Something that answers as a Redis server with this INFO would; answers its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while header := await reader.readline():
            words = []
            for _ in range(int(header[1:])):
                length = int((await reader.readline())[1:])
                words.append((await reader.readexactly(length + 2))[:-2])
            if words[0].upper() == b"INFO":
                writer.write(f"${len(info)}\r\n{info}\r\n".encode())
            elif words[0].upper() == b"HELLO":
                writer.write(
                    b"-ERR unknown command\r\n" if info.startswith("redis_version:5") else b"%1\r\n+proto\r\n:3\r\n"
                )
            else:
                writer.write(b"+OK\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_redis_before_7_is_too_old(tmp_path: Path) -> None:
    async with old_redis("redis_version:6.2.14\r\nrole:master\r\n") as url:
        refused(await up_with(tmp_path, REDIS_URL=url), 1, "6.2.14", "too old", "upgrade")


async def test_a_replica_is_not_written_to(tmp_path: Path) -> None:
    async with old_redis("redis_version:7.2.4\r\nrole:slave\r\n") as url:
        refused(await up_with(tmp_path, REDIS_URL=url), 1, "replica", "primary")


async def test_a_database_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = await up_with(tmp_path, DATABASE_URL=f"postgresql://user:{PASSWORD}@127.0.0.1:1/codemojex")
    refused(done, 1, "127.0.0.1:1", "DATABASE_URL")


async def test_a_user_that_the_database_does_not_know_is_told(tmp_path: Path, postgres_url: str) -> None:
    done = await up_with(tmp_path, DATABASE_URL=postgres_url.replace("postgres@", f"nobody:{PASSWORD}@"))
    refused(done, 1, "DATABASE_URL")


@pytest.mark.parametrize("command", ["bot", "worker"])
async def test_bots_and_workers_do_not_migrate_they_ask_for_it(
    tmp_path: Path, command: str, redis_url: str, sqlite_url: str
) -> None:
    done = await codemojex(tmp_path, command, TELEGRAM_TOKEN=TOKEN, REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
    refused(done, 1, "codemojex migrate")


@pytest.mark.parametrize("command", ["up", "migrate"])
async def test_a_schema_from_the_future_is_left_alone(
    tmp_path: Path, command: str, redis_url: str, sqlite_url: str
) -> None:
    async with await open_database(sqlite_url) as database:
        await upgrade(database)
    with sqlite3.connect(sqlite_url.partition("///")[2]) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'future'")
    connection.close()
    done = await codemojex(tmp_path, command, TELEGRAM_TOKEN=TOKEN, REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
    refused(done, 1, "future", "version of the program")


async def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "script" / "data"
    (tmp_path / "script").write_text("Ana: hi")
    done = await codemojex(tmp_path, "play", "--script", "script", "--data-dir", folder)
    refused(done, 1, str(folder), "--data-dir")


async def test_a_data_directory_in_use_is_named_with_who_uses_it(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path / ".data"):
        done = await codemojex(tmp_path, "play", "--script", "-", stdin="Ana: hi")
    refused(done, 1, ".data", "in use", "--data-dir")


def test_a_script_that_is_not_there_is_named(call: Callable[..., Done]) -> None:
    refused(call("play", "--script", "/nowhere/script"), 2, "/nowhere/script", "NAME: TEXT")


@pytest.mark.parametrize("line", ["no colon here", ": no name", "Ana:", "Ana:   ", "\x00", "A" * 65 + ": hi"])
def test_a_line_that_is_no_message_is_numbered_before_anything_starts(
    tmp_path: Path, call: Callable[..., Done], line: str
) -> None:
    script = f"# first\n\nAna: hi\n{line}\n".encode()
    done = call("play", "--script", "-", "--data-dir", tmp_path / "data", stdin=script)
    refused(done, 2, "line 4 of standard input")
    assert not list(tmp_path.iterdir())


def test_a_line_longer_than_telegram_takes_is_numbered(call: Callable[..., Done]) -> None:
    refused(call("play", "--script", "-", stdin=b"Ana: " + b"x" * 4097), 2, "line 1 of standard input", "4096")


def test_a_script_in_another_encoding_is_refused_by_line(tmp_path: Path, call: Callable[..., Done]) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"Ana: hi\nJos\xe9: hola\n")
    refused(call("play", "--script", script), 2, f"line 2 of {script}", "UTF-8")


def test_a_script_without_a_message_is_refused(call: Callable[..., Done]) -> None:
    refused(call("play", "--script", "-", stdin=b"\n# nothing\n"), 2, "no message")


def test_replicas_of_the_embedded_server_are_refused_before_it_starts(
    tmp_path: Path, call: Callable[..., Done]
) -> None:
    done = call("up", "--data-dir", tmp_path / "data", TELEGRAM_TOKEN=TOKEN, CODEMOJEX_REDIS_REPLICAS="1")
    refused(done, 2, "CODEMOJEX_REDIS_REPLICAS=1", "REDIS_URL")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["play", "--seed", "x"], "--seed"),
        (["play", "--pace", "-1"], "--pace"),
        (["play", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
        (["up", "extra"], "extra"),
        (["up", "--seed", "1"], "--seed"),
        (["bot", "--show-secret"], "--show-secret"),
    ],
)
def test_a_wrong_call_points_to_the_help(call: Callable[..., Done], arguments: list[str], part: str) -> None:
    refused(call(*arguments), 2, part, "--help")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CODEMOJEX_ROOM_CEILING", "0"),
        ("CODEMOJEX_ROOM_CEILING", "eight"),
        ("CODEMOJEX_LOG_LEVEL", "loud"),
        ("CODEMOJEX_LEASE_MS", "1"),
        ("CODEMOJEX_TELEGRAM_API", "telegram"),
    ],
)
def test_a_wrong_value_in_the_environment_is_named_and_shown(call: Callable[..., Done], name: str, value: str) -> None:
    refused(call("play", "--script", "-", stdin=b"Ana: hi", **{name: value}), 2, f"{name}={value}")


def test_a_fault_of_the_program_s_own_is_told_without_a_traceback(
    call: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.commands.version.installed", lambda _: PASSWORD[99])
    refused(call("version"), 1, "IndexError in test_errors.py", "report")


def test_without_a_command_it_shows_the_help(call: Callable[..., Done]) -> None:
    done = call()
    assert done.code == 2
    assert "Commands:" in done.err


async def test_a_redis_that_evicts_is_warned_of(tmp_path: Path, redis: Redis, redis_url: str, sqlite_url: str) -> None:
    await redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        done = await codemojex(tmp_path, "bot", TELEGRAM_TOKEN=TOKEN, REDIS_URL=redis_url, DATABASE_URL=sqlite_url)
    finally:
        await redis.config_set("maxmemory-policy", "noeviction")
    assert "eviction_may_lose_jobs" in done.err
    assert "codemojex migrate" in done.err.splitlines()[-1]
