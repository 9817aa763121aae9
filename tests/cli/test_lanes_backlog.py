"""``codemojex lanes`` on what waits, what is dead and what drifted; what deletes asks first."""

from __future__ import annotations

import io
import json

import pytest

from engine.game.model import LeverSet
from tests.cli.lanes import Desk
from tests.workers.making import House


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
    gone = desk.lanes("redrive", "--job", second, "--json")
    assert (gone.code, json.loads(gone.out)["redriven"]) == (1, 0)
    assert "not among the dead" in desk.refused("redrive", "--job", second).line
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
