"""The levers in force: the plan's, then what is set for the room alone, then the chat's own limit below the ceiling."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.game.model import LeverSet, Plan, Room
from engine.ids import ChatId, RoomId

DEFAULT = 8
ROOM = Room(
    id=RoomId("ROM0KHTOWnGLuC"),
    chat=ChatId("CHT0KHTOWnGLuC"),
    chat_ref=-1,
    thread=0,
    private=False,
    paused=False,
    plan=None,
    own=LeverSet(),
    chat_limit=None,
    held_until_ms=None,
)
GOLD = Plan("gold", LeverSet(weight=4, ceiling=20, cap=500, lane_cap=50))


def test_without_a_plan_a_room_has_the_default_ceiling_and_a_weight_of_one() -> None:
    assert ROOM.in_force(DEFAULT) == LeverSet(weight=1, ceiling=DEFAULT)


def test_a_plan_gives_all_that_it_says() -> None:
    assert replace(ROOM, plan=GOLD).in_force(DEFAULT) == GOLD.levers


def test_a_plan_that_says_nothing_changes_nothing() -> None:
    assert replace(ROOM, plan=Plan("empty", LeverSet())).in_force(DEFAULT) == ROOM.in_force(DEFAULT)


@pytest.mark.parametrize("lever", ["weight", "ceiling", "cap", "lane_cap"])
def test_what_is_set_for_the_room_alone_wins_over_its_plan(lever: str) -> None:
    room = replace(ROOM, plan=GOLD, own=replace(LeverSet(), **{lever: 3}))
    assert room.in_force(DEFAULT) == replace(GOLD.levers, **{lever: 3})


@pytest.mark.parametrize(("limit", "ceiling"), [(None, 20), (1, 1), (19, 19), (20, 20), (21, 20), (1_000, 20)])
def test_a_chat_s_limit_only_ever_lowers_the_ceiling(limit: int | None, ceiling: int) -> None:
    room = replace(ROOM, plan=GOLD, chat_limit=limit)
    assert room.in_force(DEFAULT) == replace(GOLD.levers, ceiling=ceiling)
    assert room.allowed(DEFAULT) == 20


def test_a_chat_s_limit_lowers_the_default_too() -> None:
    assert replace(ROOM, chat_limit=2).in_force(DEFAULT).ceiling == 2
    assert replace(ROOM, chat_limit=DEFAULT + 1).in_force(DEFAULT).ceiling == DEFAULT
