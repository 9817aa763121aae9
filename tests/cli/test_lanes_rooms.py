"""``codemojex lanes rooms``: a room is found by its chat's title, also where nothing happens in it."""

from __future__ import annotations

import pytest

from engine.game.model import Place, Room
from tests.cli.lanes import Desk
from tests.workers.making import House


def made(desk: Desk, *titles: str) -> list[Room]:
    """Rooms of chats with these titles, in which nobody ever said anything."""

    async def making(product: House) -> list[Room]:
        async with product.units.begin() as work:
            rooms = [
                await work.rooms.at(Place(-number, 7 * number, title, private=False))
                for number, title in enumerate(titles)
            ]
            await work.rooms.pause(rooms[0].id, paused=True)
            await work.commit()
        return rooms

    return desk.do(making)


def test_a_room_where_nothing_happens_is_found_by_a_part_of_its_chats_title(desk: Desk) -> None:
    quiet, topic, other = made(desk, "The Quiet Ones", "quiet 100% \x1b[2J", "Loud")
    desk.told("plan", "set", "gold", "--weight", "2")
    desk.told("plan", "give", "gold", quiet.id)
    found = desk.told("rooms", "QUIET")["rooms"]
    assert found == [
        {"id": topic.id, "title": "quiet 100% \x1b[2J", "thread": 7, "plan": None, "paused": False},
        {"id": quiet.id, "title": "The Quiet Ones", "thread": 0, "plan": "gold", "paused": True},
    ]
    assert [room["id"] for room in desk.told("rooms")["rooms"]] == [other.id, topic.id, quiet.id]
    assert [room["id"] for room in desk.told("rooms", "0%")["rooms"]] == [topic.id], "it is no pattern"
    head, *lines = desk.said("rooms", "quiet").splitlines()
    assert head.split() == ["room", "plan", "chat"]
    assert [line.split() for line in lines] == [
        [topic.id, "-", "quiet", "100%", "[2J", "(topic", "7)"],
        [quiet.id, "gold", "paused", "The", "Quiet", "Ones"],
    ]
    assert "without TEXT" in desk.said("rooms", "nobody's")


@pytest.mark.parametrize(
    ("arguments", "like", "see"),
    [
        (("limit", "The Quiet Ones", "2"), "ROM0KHTOWnGLuC", "codemojex lanes rooms"),
        (("hold", "x", "5m", "--queue", "cm.notify"), "CHT0KHTOWnGLuC", "codemojex lanes status --queue cm.notify"),
        (("redrive", "--job", "x"), "JOB0KHTOWnGLuC", "codemojex lanes dead"),
        (("drain", "ROM0KHTOWnGLuC", "--lane", "x", "--yes"), "PLR0KHTOWnGLuC", "codemojex lanes status"),
    ],
)
def test_what_is_no_id_is_refused_with_one_to_go_by_and_where_to_find_it(
    desk: Desk, arguments: tuple[str, ...], like: str, see: str
) -> None:
    refused = desk.refused(*arguments)
    assert refused.code == 2
    assert refused.line.endswith(f"; write one like {like}: see `{see}`")


def test_no_more_than_fifty_are_listed_and_it_says_so(desk: Desk) -> None:
    made(desk, *(f"Chat {number}" for number in range(60)))
    assert len(desk.told("rooms", "chat")["rooms"]) == 50
    assert "say more of the title" in desk.said("rooms", "chat").splitlines()[-1]
