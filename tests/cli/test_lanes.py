"""``codemojex lanes``: what operators see and do, in words and in JSON."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.game.model import LeverSet
from engine.ids import CHAT, NOTICE, Minter
from tests.cli.lanes import Desk
from tests.cli.program import Done
from tests.workers.making import House

NOBODY = "ROM0KHTOWnGLuC"
mint = Minter(9).mint


@pytest.fixture
def anywhere(call: Callable[..., Done], redis_url: str, ready_database_url: str) -> Desk:
    return Desk(call, redis_url, ready_database_url)


@pytest.fixture
def desk(call: Callable[..., Done], redis_url: str, migrated_sqlite: Path, tmp_path: Path) -> Desk:
    copy = tmp_path / "ready.sqlite"
    shutil.copyfile(migrated_sqlite, copy)
    return Desk(call, redis_url, f"sqlite+aiosqlite:///{copy}")


def test_a_plan_is_made_given_changed_and_dropped(anywhere: Desk) -> None:
    room = anywhere.flooded(0)
    assert "plan set gold" in anywhere.said("plans")
    made = anywhere.told("plan", "set", "gold", "--weight", "3", "--cap", "500")
    assert made == {"plan": "gold", "weight": 3, "ceiling": None, "cap": 500, "lane_cap": None, "rooms": []}
    given = anywhere.told("plan", "give", "gold", room.id)
    assert given["rooms"][0]["in_force"] == {"weight": 3, "ceiling": 8, "cap": 500, "lane_cap": None}
    changed = anywhere.told("plan", "set", "gold", "--cap", "none", "--ceiling", "20")
    assert changed["rooms"] == [room.id]
    assert (changed["weight"], changed["cap"]) == (3, None)
    assert anywhere.told("plans") == {
        "plans": [{"plan": "gold", "weight": 3, "ceiling": 20, "cap": None, "lane_cap": None, "rooms": 1}]
    }
    assert anywhere.said("plans").splitlines()[1].split() == ["gold", "3", "20", "-", "-", "1"]
    assert f"A chat ({room.id})" in anywhere.said("plan", "show", "gold")
    assert "--yes" in anywhere.refused("plan", "drop", "gold", stdin=b"y\n").line
    assert anywhere.told("plan", "drop", "gold", "--yes")["rooms"] == [room.id]
    assert "codemojex lanes plans" in anywhere.refused("plan", "show", "gold").line
    assert anywhere.current()[0] == room


def test_rooms_are_given_a_plan_together_or_not_at_all(desk: Desk) -> None:
    rooms = [desk.flooded(0, chat=-number).id for number in (1, 2)]
    desk.told("plan", "set", "gold", "--weight", "2")
    assert NOBODY in desk.refused("plan", "give", "gold", rooms[0], NOBODY).line
    assert desk.told("plan", "show", "gold")["rooms"] == []
    desk.told("plan", "give", "gold", *rooms)
    assert [on["room"] for on in desk.told("plan", "show", "gold")["rooms"]] == sorted(rooms)
    taken = desk.told("plan", "take", rooms[0])
    assert (taken["plan"], taken["rooms"][0]["in_force"]["weight"]) == (None, 1)


def test_levers_of_a_room_go_through_its_row(anywhere: Desk) -> None:
    room = anywhere.flooded(2)
    anywhere.told("weight", room.id, "3")
    anywhere.told("limit", room.id, "2")
    capped = anywhere.told("cap", room.id, "50", "--lane", "5")
    assert (capped["title"], capped["cap"], capped["lane_cap"]) == ("A chat", 50, 5)
    assert capped["levers"]["own"] == {"weight": 3, "ceiling": 2, "cap": 50, "lane_cap": 5}
    assert anywhere.current()[0].own == LeverSet(3, 2, 50, 5)
    (row,) = anywhere.do(lambda product: product.queues.guesses.stats(1)).top
    assert (row.weight, row.ceiling, row.cap, row.lane_cap) == (3, 2, 50, 5)
    assert "In force: weight 3, ceiling 2, cap none, lane cap none." in anywhere.said("cap", room.id, "none")
    assert anywhere.current()[0].own == LeverSet(3, 2)


def test_a_room_is_held_and_paused_through_its_row(anywhere: Desk) -> None:
    room = anywhere.flooded(2)
    assert "held for 3,600,000 ms" in anywhere.said("hold", room.id, "1h")
    assert claimed(anywhere) == 0
    assert anywhere.told("hold", room.id, "none")["hold_ms"] is None
    assert anywhere.told("pause", room.id)["levers"]["paused"] is True
    assert anywhere.current()[1].deadline_ms is None
    assert claimed(anywhere) == 0
    assert anywhere.told("resume", room.id)["paused"] is False
    assert claimed(anywhere) == 1


def claimed(desk: Desk) -> int:
    return len(desk.do(lambda product: product.queues.guesses.claim(1)))


def test_levers_are_pulled_by_the_default_ceiling_that_the_workers_told(desk: Desk) -> None:
    """An operator's shell need not have the bot's settings."""
    room = desk.flooded(1)
    desk.poke(lambda redis: redis.set("codemojex:levers:told", 42))
    assert desk.told("weight", room.id, "2")["levers"]["in_force"]["ceiling"] == 42
    assert desk.do(lambda product: product.queues.guesses.stats(1)).top[0].ceiling == 42


def test_levers_of_other_queues_are_pulled_in_redis_alone(desk: Desk) -> None:
    chat = mint(CHAT)
    desk.do(lambda product: product.queues.notices.enqueue(chat, mint(NOTICE), b""))
    assert "in Redis alone" in desk.said("weight", chat, "4", "--queue", "cm.notify")
    desk.said("limit", chat, "2", "--queue", "cm.notify")
    desk.said("cap", chat, "9", "--queue", "cm.notify")
    desk.said("hold", chat, "1h", "--queue", "cm.notify")
    desk.said("pause", chat, "--queue", "cm.notify")
    (row,) = desk.do(lambda product: product.queues.notices.stats(1)).top
    assert (row.weight, row.ceiling, row.cap, row.paused, row.held_ms > 3_500_000) == (4, 2, 9, True, True)
    assert desk.told("status", "--queue", "cm.notify")["rows"][0]["state"] == "paused"
    desk.said("resume", chat, "--queue", "cm.notify")
    assert desk.told("status", "--queue", "cm.notify")["rows"][0]["state"].startswith("held")
    assert desk.told("drain", chat, "--queue", "cm.notify", "--yes")["drained"] == 1
    assert desk.told("forget", chat, "--queue", "cm.notify", "--yes")["forgotten"] == 0


def test_a_whole_queue_is_paused_and_resumed(desk: Desk) -> None:
    desk.flooded(1)
    assert desk.told("pause", "--all") == {"queue": "cm", "all": True, "paused": True}
    assert claimed(desk) == 0
    assert "PAUSED" in desk.said("status")
    desk.said("resume", "--all")
    assert claimed(desk) == 1
    for nonsense in (("pause",), ("resume", NOBODY, "--all")):
        assert "--all" in desk.refused(*nonsense).line


def test_what_deletes_asks_first_and_a_pipe_s_yes_is_none(desk: Desk) -> None:
    room = desk.flooded(3)
    for command in ("drain", "forget"):
        line = desk.refused(command, room.id, stdin=b"y\n").line
        assert "--yes" in line
        assert "A chat" in line
        assert desk.do(lambda product: product.queues.guesses.depth(room.id)) == 3
    assert "--yes" in desk.refused("audit", "--repair").line
    assert desk.told("drain", room.id, "--yes")["drained"] == 3
    desk.told("weight", room.id, "3")
    assert desk.told("forget", room.id, "--yes")["forgotten"] == 0
    assert desk.current()[0].own == LeverSet()


class Terminal(io.TextIOWrapper):
    """A person's standard input."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "deleted"), [(b"y\n", 3), (b"n\n", 0), (b"\n", 0)])
def test_a_person_is_asked_and_obeyed(desk: Desk, monkeypatch: pytest.MonkeyPatch, typed: bytes, deleted: int) -> None:
    room = desk.flooded(3)
    monkeypatch.setattr(io, "TextIOWrapper", Terminal)
    done = desk.lanes("drain", room.id, stdin=typed)
    assert done.code == (0 if deleted else 2)
    assert "3 jobs in the group" in done.err
    assert desk.do(lambda product: product.queues.guesses.depth(room.id)) == 3 - deleted


def test_one_player_s_lane_is_drained_and_one_guess_made_another_player_s(desk: Desk) -> None:
    room = desk.flooded(4)
    one, two, *_ = desk.do(lambda product: product.queues.guesses.browse(room.id, 4))
    moved = desk.told("reassign", one.id, room.id, "--lane", two.lane, "--yes")
    assert moved["outcome"] == "reassigned"
    assert desk.told("drain", room.id, "--lane", two.lane, "--yes")["drained"] == 2
    other = desk.flooded(0, chat=-7)
    (left, *_) = desk.do(lambda product: product.queues.guesses.browse(room.id, 4))
    assert "can't leave" in desk.refused("reassign", left.id, other.id, "--lane", two.lane, "--yes").line
    assert "PLR" in desk.refused("reassign", left.id, room.id, "--yes").line
    assert "--yes" in desk.refused("reassign", left.id, room.id, "--lane", two.lane).line


def test_a_guess_in_flight_is_not_moved_and_the_exit_code_says_so(desk: Desk) -> None:
    room = desk.flooded(2)
    (job,) = desk.do(lambda product: product.queues.guesses.claim(1))
    (other,) = desk.do(lambda product: product.queues.guesses.browse(room.id, 1))
    done = desk.lanes("reassign", job.id, room.id, "--lane", other.lane, "--yes", "--json")
    assert (done.code, json.loads(done.out)["outcome"]) == (1, "not_pending")
    assert "in flight" in desk.refused("reassign", job.id, room.id, "--lane", other.lane, "--yes").line


def test_dead_jobs_are_listed_and_redriven(desk: Desk) -> None:
    room = desk.flooded(2)
    assert "No job is dead" in desk.said("dead")
    first, second = desk.do(bury)
    said = desk.said("dead")
    assert first in said
    assert second in said
    assert "the score is odd" in said
    assert "\x1b" not in said
    told = desk.told("dead", room.id, "--limit", "1")
    assert (told["dead"], len(told["jobs"])) == (2, 1)
    assert told["jobs"][0]["title"] == "A chat"
    assert told["jobs"][0]["error"].startswith("\x1b[2Jthe score")
    assert "payload" not in told["jobs"][0]
    assert desk.told("redrive", "--job", second)["redriven"] == 1
    assert desk.told("redrive", room.id)["redriven"] == 1
    assert desk.do(lambda product: product.queues.guesses.depth(room.id)) == 2


async def bury(product: House) -> list[str]:
    """Let everything that waits fail until it is given up."""
    guesses, buried = product.queues.guesses, set()
    while jobs := await guesses.claim(10):
        for job in jobs:
            await guesses.retry(job, "\x1b[2Jthe score is odd", 0)
        buried |= {job.id for job in jobs}
    return sorted(buried)


def test_lapsed_leases_are_ended_for_one_group_or_all(desk: Desk) -> None:
    room = desk.flooded(3)
    desk.do(lambda product: product.queues.guesses.claim(3, lease_ms=1))
    assert desk.told("reap", room.id, "--limit", "1")["reaped"] == 1
    assert "2 lapsed leases ended" in desk.said("reap")
    assert desk.do(lambda product: product.queues.guesses.depth(room.id)) == 3


def test_an_audit_finds_drift_fails_and_mends_it_when_told(desk: Desk) -> None:
    room = desk.flooded(3)
    assert desk.told("audit")["clean"] is True
    desk.poke(lambda redis: redis.hset("emq:{cm}:gdepth", room.id, "9"))
    found = desk.lanes("audit", "--json")
    assert (found.code, found.err) == (1, "")
    assert [drift["what"] for drift in json.loads(found.out)["drift"]] == ["depth"]
    said = desk.refused("audit")
    assert "depth" in said.out
    assert "--repair" in said.line
    assert desk.told("audit", "--repair", "--yes")["repaired"] is True
    assert desk.told("audit")["clean"] is True


def test_a_repair_tells_the_levers_that_were_lost_again(desk: Desk) -> None:
    room = desk.flooded(1)
    desk.told("weight", room.id, "3")
    desk.poke(lambda redis: redis.set("emq:{cm}:gweight", "nonsense"))
    assert "mended" in desk.said("audit", "--repair", "--yes")
    assert desk.do(lambda product: product.queues.guesses.stats(1)).top[0].weight == 3


def test_status_shows_who_waits_who_is_served_and_by_what_share(desk: Desk) -> None:
    heavy, light = desk.flooded(12, chat=-1), desk.flooded(12, chat=-2)
    desk.told("weight", heavy.id, "3")
    desk.do(lambda product: product.queues.guesses.claim(8))
    told = desk.told("status")
    assert (told["waiting"], told["in_flight"], told["groups"]) == (16, 8, 2)
    rows = {row["group"]: row for row in told["rows"]}
    assert (rows[heavy.id]["share"], rows[light.id]["share"]) == (0.75, 0.25)
    assert (rows[heavy.id]["due"], rows[light.id]["due"]) == (0.75, 0.25)
    assert (rows[heavy.id]["waiting"], rows[heavy.id]["in_flight"], rows[heavy.id]["ceiling"]) == (6, 6, 8)
    assert rows[light.id]["state"] == "in turn"
    said = desk.said("status", "--once", "--top", "1")
    assert "A chat" in said
    assert "2/8" in said
    assert "and 1 more group" in said


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("weight", NOBODY, "3"), "no room is called"),
        (("pause", NOBODY), "no room is called"),
        (("hold", NOBODY, "3s"), "no room is called"),
        (("drain", NOBODY, "--yes"), "no room is called"),
        (("forget", NOBODY, "--yes"), "no room is called"),
        (("plan", "give", "gold", NOBODY), "no room is called"),
        (("plan", "drop", "gold", "--yes"), "no plan is called"),
        (("plan", "set", "Gold"), "a-z"),
        (("reassign", "JOB0KHTOWnGLuC", NOBODY, "--lane", "PLR0KHTOWnGLuC", "--yes"), "no room is called"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(desk: Desk, arguments: tuple[str, ...], part: str) -> None:
    done = desk.refused(*arguments)
    assert (done.code, done.out) == (1, "")
    assert part in done.line


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("weight", "nonsense", "3"), "GROUP must be a ROM id"),
        (("weight", "CHT0KHTOWnGLuC", "3"), "GROUP must be a ROM id"),
        (("weight", NOBODY, "3", "--queue", "cm.notify"), "GROUP must be a CHT id"),
        (("weight", NOBODY, "0"), "none nor a whole number from 1"),
        (("weight", NOBODY, "1000000001"), "none nor a whole number from 1"),
        (("limit", NOBODY, "3.5"), "none nor a whole number from 1"),
        (("cap", NOBODY, "3", "--lane", "x"), "none nor a whole number from 1"),
        (("hold", NOBODY, "5"), "none nor a time"),
        (("hold", NOBODY, "367d"), "none nor a time"),
        (("drain", NOBODY, "--lane", "x", "--yes"), "--lane must be a PLR id"),
        (("redrive", "--job", "x"), "job_id must be a JOB id"),
        (("reap", "--limit", "0"), "--limit"),
        (("plan", "give", "gold", "x"), "ROOM must be a ROM id"),
        (("status", "--queue", "cm.other"), "--queue"),
        (("status", "--top", "0"), "--top"),
        (("nonsense",), "nonsense"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(desk: Desk, arguments: tuple[str, ...], part: str) -> None:
    done = desk.refused(*arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.line


def test_redis_without_a_database_says_which_one_it_misses(
    tmp_path: Path, call: Callable[..., Done], redis_url: str
) -> None:
    done = call("lanes", "status", "--data-dir", tmp_path / "data", REDIS_URL=redis_url)
    assert done.code == 2
    assert "DATABASE_URL" in done.line
    assert not list(tmp_path.iterdir())


def test_a_database_that_was_never_migrated_is_left_alone(
    call: Callable[..., Done], redis_url: str, sqlite_url: str
) -> None:
    done = call("lanes", "plans", REDIS_URL=redis_url, DATABASE_URL=sqlite_url.replace("+aiosqlite", ""))
    assert done.code == 1
    assert "codemojex migrate" in done.line
