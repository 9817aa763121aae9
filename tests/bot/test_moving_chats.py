"""A group becomes a supergroup, whatever is under way in it and in whatever order Telegram tells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from engine.game.model import RoundState
from engine.game.request import Receipt
from tests.bot.making import ANA, BEN, group, membership, message, said, update
from tests.bot.stage import Stage, stage_on
from tests.waiting import wait_until

OLD: Final = -500
NEW: Final = -1009990001
OLD_CHAT: Final = {"id": OLD, "type": "group", "title": "A group"}
NEW_CHAT: Final = group(NEW)
SIGNS: Final = ("to", "from", "400")


def sign(which: str) -> dict[str, Any]:
    """One of the two service messages."""
    moved = {"to": (OLD_CHAT, "migrate_to_chat_id", NEW), "from": (NEW_CHAT, "migrate_from_chat_id", OLD)}
    chat, field, there = moved[which]
    made = message("", ANA, chat, **{field: there})
    del made["text"]
    return update(made)


async def a_round_with_much_under_way(redis: Redis, database_url: str) -> str:
    """A round in the old chat with one guess answered, two waiting and a page unsaid; answers a guess that misses."""
    async with stage_on(redis, database_url) as stage:
        await stage.say("/newgame fruits", ANA, OLD_CHAT)
        near_miss = await stage.near_miss(OLD)
        await stage.say(near_miss, ANA, OLD_CHAT)
        await stage.told(OLD)
    async with stage_on(redis, database_url, working=False) as stage:
        for person in (ANA, BEN):
            assert (await stage.say(near_miss, person, OLD_CHAT)).receipt is Receipt.DURABLE
        await stage.say("/help", BEN, OLD_CHAT)
    return near_miss


async def all_goes_on_in_the_new_chat(stage: Stage, near_miss: str) -> None:
    told = await stage.told(NEW)
    assert "\n".join(told).count("560 / 600") == 2
    assert any(text.startswith("❓") or "/newgame" in text for text in told)
    room = await stage.room(NEW)
    assert room is not None
    assert await stage.room(OLD) == room
    await stage.say(near_miss, BEN, NEW_CHAT)
    assert await stage.told(NEW) == ["🟢 Ben: 560 / 600 (93%)"]
    await stage.say("/newgame", BEN, NEW_CHAT)
    assert "already running" in (await stage.told(NEW))[0]
    assert (await stage.round(NEW)).number == 1
    assert await stage.guesses(NEW) == 4


@pytest.mark.case("T6")
@pytest.mark.parametrize("order", list(itertools.permutations(SIGNS)), ids="-".join)
async def test_a_group_becomes_a_supergroup_and_all_goes_on(
    redis: Redis, ready_database_url: str, order: Sequence[str]
) -> None:
    near_miss = await a_round_with_much_under_way(redis, ready_database_url)
    before = order[: order.index("400")]
    async with stage_on(redis, ready_database_url, working=False) as stage:
        for which in before:
            assert (await stage.take(sign(which))).receipt is Receipt.DURABLE
    async with stage_on(redis, ready_database_url, prepare=lambda api: api.moved.update({OLD: NEW})) as stage:
        await wait_until(lambda: stage.api.texts(NEW), "the new chat is spoken to")
        for which in order[order.index("400") + 1 :]:
            assert (await stage.take(sign(which))).receipt is Receipt.DURABLE
        await all_goes_on_in_the_new_chat(stage, near_miss)
        to_old = [call for name, call in stage.api.calls if name == "sendMessage" and call["chat_id"] == OLD]
        assert len(to_old) == (0 if before else 1)
        replies = [call for _, call in stage.api.calls if call.get("reply_parameters") and call["chat_id"] == NEW]
        assert len(replies) == 2, "only what was asked in the new chat is a reply there"


@pytest.mark.case("T6")
async def test_the_same_sign_twice_and_a_late_message_of_the_old_chat_change_nothing(
    redis: Redis, ready_database_url: str
) -> None:
    near_miss = await a_round_with_much_under_way(redis, ready_database_url)
    late = said(near_miss, BEN, OLD_CHAT)
    async with stage_on(redis, ready_database_url) as stage:
        for which in ("to", "from", "to", "from"):
            assert (await stage.take(sign(which))).receipt is Receipt.DURABLE
        await stage.told(NEW)
        stage.api.sent.clear()
        assert (await stage.take(late)).receipt is Receipt.DURABLE
        assert (await stage.take(late)).receipt is Receipt.DURABLE
        assert await stage.told(NEW) == ["🟢 Ben: 560 / 600 (93%)"]
        assert stage.api.texts(OLD) == []
        assert await stage.guesses(NEW) == 4


async def test_a_sign_that_leads_to_its_own_chat_changes_nothing(redis: Redis, ready_database_url: str) -> None:
    near_miss = await a_round_with_much_under_way(redis, ready_database_url)
    astray = message("", ANA, OLD_CHAT, migrate_to_chat_id=OLD)
    async with stage_on(redis, ready_database_url, working=False) as stage:
        assert (await stage.take(update(astray))).receipt is Receipt.DURABLE
        assert (await stage.take(sign("to"))).receipt is Receipt.DURABLE
    async with stage_on(redis, ready_database_url) as stage:
        await wait_until(lambda: stage.api.texts(NEW), "the new chat is spoken to")
        await all_goes_on_in_the_new_chat(stage, near_miss)


@pytest.mark.case("T6")
@pytest.mark.parametrize("which", ["to", "from"])
async def test_a_room_that_was_opened_in_the_new_chat_before_any_sign_gives_way(
    redis: Redis, ready_database_url: str, which: str
) -> None:
    near_miss = await a_round_with_much_under_way(redis, ready_database_url)
    async with stage_on(redis, ready_database_url, working=False) as stage:
        await stage.say(near_miss, BEN, NEW_CHAT)
        assert await stage.room(NEW) is not None
        await stage.take(sign(which))
    async with stage_on(redis, ready_database_url) as stage:
        await wait_until(lambda: any("560" in text for text in stage.api.texts(NEW)), "the guesses are answered")
        assert any("No round is running" in text for text in stage.api.texts(NEW))
        await all_goes_on_in_the_new_chat(stage, near_miss)


@pytest.mark.case("T6")
async def test_of_two_rounds_the_one_of_the_old_chat_goes_on_and_the_other_is_revealed(
    redis: Redis, ready_database_url: str
) -> None:
    near_miss = await a_round_with_much_under_way(redis, ready_database_url)
    async with stage_on(redis, ready_database_url, working=False) as stage:
        await stage.say("/newgame animals", BEN, NEW_CHAT)
        await stage.say(await stage.near_miss(NEW), BEN, NEW_CHAT)
        other = await stage.round(NEW)
        await stage.take(sign("from"))
    async with stage_on(redis, ready_database_url) as stage:

        async def is_settled() -> bool:
            async with stage.house.units.read() as work:
                round_ = await work.rounds.get(other.id)
            return round_ is not None and round_.state is RoundState.SETTLED

        await wait_until(is_settled, "the other round is settled")
        await wait_until(lambda: any(other.nonce in text for text in stage.api.texts(NEW)), "it is revealed")
        assert "\n".join(stage.api.texts(NEW)).count("560 / 600") >= 1
        assert (await stage.round(NEW)).theme == "fruits"
        await wait_until(lambda: "\n".join(stage.api.texts(NEW)).count("560 / 600") >= 4, "all guesses are answered")
        stage.api.sent.clear()
        await stage.say(near_miss, BEN, NEW_CHAT)
        assert await stage.told(NEW) == ["🟢 Ben: 560 / 600 (93%)"]
        assert stage.api.texts(OLD) == []


@pytest.mark.case("T6")
async def test_an_old_chat_that_never_played_gives_way_to_the_new_one(redis: Redis, ready_database_url: str) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits", ANA, NEW_CHAT)
        await stage.told(NEW)
        stage.api.moved[OLD] = NEW
        await stage.say("/help", BEN, OLD_CHAT)  # came late; its answer learns where the chat is
        await wait_until(lambda: stage.api.texts(NEW), "the page is shown")
        near_miss = await stage.near_miss(NEW)
        await stage.take(sign("to"))
        stage.api.sent.clear()
        await stage.say(near_miss, BEN, OLD_CHAT)
        assert await stage.told(NEW) == ["🟢 Ben: 560 / 600 (93%)"]
        assert await stage.guesses(NEW) == 1


@pytest.mark.case("T6", "T7")
async def test_a_bot_that_left_only_the_old_chat_goes_on_in_the_new_one(redis: Redis, ready_database_url: str) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits", ANA, OLD_CHAT)
        await stage.told(OLD)
        near_miss = await stage.near_miss(OLD)
        await stage.take(membership("left", OLD_CHAT))
        room = await stage.room(OLD)
        assert room is not None
        assert room.paused
        await stage.take(sign("to"))
        await stage.take(membership("kicked", OLD_CHAT))
        assert "▶️ On we go!" in (await stage.told(NEW))[0]
        await stage.say(near_miss, BEN, NEW_CHAT)
        assert await stage.told(NEW) == ["🟢 Ben: 560 / 600 (93%)"]


@pytest.mark.case("T6")
async def test_an_admin_of_the_old_chat_is_asked_after_in_the_new_one(redis: Redis, ready_database_url: str) -> None:
    async with stage_on(redis, ready_database_url) as stage:
        await stage.say("/newgame fruits", ANA, OLD_CHAT)
        await stage.told(OLD)
        stage.api.moved[OLD] = NEW
        stage.api.admins.add((NEW, ANA["id"]))
        assert (await stage.say("/pause", ANA, OLD_CHAT)).receipt is Receipt.DURABLE
        await wait_until(lambda: stage.api.texts(NEW), "the new chat is told")
        assert (await stage.told(NEW))[0].startswith("⏸️ Paused.")
