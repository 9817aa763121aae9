"""``codemojex lanes``: plans, levers and the table of a queue, in words and in JSON."""

from __future__ import annotations

from engine.game.model import LeverSet
from engine.ids import CHAT, NOTICE, Minter
from tests.cli.lanes import Desk

NOBODY = "ROM0KHTOWnGLuC"
mint = Minter(9).mint


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
    told = desk.told("pause", "--all")
    assert (told["queue"], told["all"], told["paused"], told["since_ms"] > 0) == ("cm", True, True, True)
    assert claimed(desk) == 0
    assert "PAUSED" in desk.said("status")
    desk.poke(lambda redis: redis.flushall())
    desk.do(lambda product: product.game.operators.tell_again())
    assert "PAUSED" in desk.said("status")
    assert desk.said("resume", "--all") == "All of cm is resumed.\n"
    assert "PAUSED" not in desk.said("status")
    assert "in Redis alone" in desk.said("pause", "--all", "--queue", "cm.notify")
    assert desk.told("resume", "--all", "--queue", "cm.notify")["since_ms"] is None
    for nonsense in (("pause",), ("resume", NOBODY, "--all")):
        assert "--all" in desk.refused(*nonsense).line


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
