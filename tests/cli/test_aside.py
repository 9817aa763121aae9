"""``codemojex aside``: what was set aside is listed without what people said, shown, and dropped on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.store.aside import Failure
from tests.cli.lanes import Desk
from tests.cli.program import Done
from tests.workers.making import House

BODY = '{"update_id": 7, "message": {"text": "what people said"}}'


@pytest.fixture
def desk(call: Callable[..., Done], redis_url: str, ready_database_url: str) -> Desk:
    return Desk(call, redis_url, ready_database_url)


def keep(desk: Desk, *names: str, body: str = BODY) -> None:
    async def keeping(product: House) -> None:
        for at_ms, name in enumerate(names, 1_000):
            async with product.units.begin() as work:
                await work.aside.failed(Failure(name, "message", "LookupError", body, at_ms), 1)
                await work.commit()

    desk.do(keeping)


def called(desk: Desk, *arguments: str) -> Done:
    address = desk.database_url.replace("+aiosqlite", "").replace("+asyncpg", "")
    return desk.call("aside", *arguments, REDIS_URL=desk.redis_url, DATABASE_URL=address)


def told(desk: Desk, *arguments: str) -> Any:
    done = called(desk, *arguments, "--json")
    assert (done.code, done.err) == (0, ""), done
    return json.loads(done.out)


def test_they_are_listed_newest_first_and_without_what_people_said(desk: Desk) -> None:
    assert called(desk).out == "No update is set aside.\n"
    keep(desk, "7", "8", "9")
    assert told(desk) == {
        "aside": 3,
        "updates": [
            {
                "name": name,
                "kind": "message",
                "error": "LookupError",
                "attempts": 1,
                "first_ms": at_ms,
                "last_ms": at_ms,
                "aside_ms": at_ms,
            }
            for name, at_ms in (("9", 1_002), ("8", 1_001), ("7", 1_000))
        ],
    }
    said = called(desk, "--limit", "2").out
    assert [line.split()[0] for line in said.splitlines()] == ["name", "9", "8", "3"]
    assert "1970-01-01 00:00:01 UTC" in said
    assert "what people said" not in said


def test_one_is_shown_as_it_came(desk: Desk) -> None:
    keep(desk, "7")
    assert json.loads(called(desk, "show", "7").out) == json.loads(BODY)
    missing = called(desk, "show", "8")
    assert missing.code == 1
    assert "nothing was set aside as 8" in missing.line


def test_one_that_was_made_to_write_over_a_terminal_is_shown_without_harm(desk: Desk) -> None:
    keep(desk, "7", body='{"x\x1b[2J\x9b2J\u202e":\n\t"\r🍎"')
    assert called(desk, "show", "7").out == '{"x\\u001b[2J\\u009b2J\\u202e":\n\t"\\r🍎"\n'


def test_they_are_dropped_one_or_all_and_only_on_purpose(desk: Desk) -> None:
    keep(desk, "7", "8", "9")
    assert "--yes" in called(desk, "drop", "7").line
    assert told(desk, "drop", "7", "--yes") == {"dropped": 1}
    assert called(desk, "drop", "7", "--yes").code == 1
    for wrong in ((), ("8", "--all")):
        refused = called(desk, "drop", *wrong, "--yes")
        assert (refused.code, "--all" in refused.line) == (2, True)
    assert called(desk, "drop", "--all", "--yes").out == "2 updates deleted.\n"
    assert told(desk)["aside"] == 0
