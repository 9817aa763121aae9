"""Long polls: offsets, patience, and one caller at a time."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

from bot.fake_telegram import NO_LIMITS, Chat, FakeTelegram, Timing, User
from tests.fake_telegram.calling import Caller, calling
from tests.waiting import wait_until


async def test_an_offset_confirms_what_is_before_it(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    for number in range(3):
        telegram.crowd.say(ana, room, str(number))
    first, second, third = [update["update_id"] for update in await call.updates()]
    assert (second, third) == (first + 1, first + 2)
    assert len(await call.updates()) == 3
    assert [update["message"]["text"] for update in await call.updates(third)] == ["2"]
    assert len(telegram.pending) == 1
    assert await call.updates(third + 1) == []
    await telegram.pending.emptied()


async def test_a_poll_answers_at_most_a_hundred(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    for number in range(130):
        telegram.crowd.say(ana, room, str(number))
    assert len(await call.updates()) == len(await call.updates(limit=1_000)) == 100
    assert len(await call.updates(limit=7)) == 7


async def test_a_negative_offset_keeps_so_many_from_the_end(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User
) -> None:
    for number in range(5):
        telegram.crowd.say(ana, room, str(number))
    assert [update["message"]["text"] for update in await call.updates(-2)] == ["3", "4"]
    assert len(await call.updates()) == 2


async def test_a_poll_waits_for_the_first_update(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    polling = asyncio.create_task(call.updates(timeout_s=20))
    await asyncio.wait({polling}, timeout=0.1)
    assert not polling.done()
    telegram.crowd.say(ana, room, "at last")
    assert [update["message"]["text"] for update in await polling] == ["at last"]


async def test_a_poll_in_vain_ends_when_it_wanted_to(call: Caller) -> None:
    began = time.monotonic()
    assert await call.updates(timeout_s=1) == []
    assert 0.9 < time.monotonic() - began < 10


async def test_a_second_poll_ends_the_first_one(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    older = asyncio.create_task(call("getUpdates", timeout=20))
    await asyncio.wait({older}, timeout=0.1)
    newer = asyncio.create_task(call("getUpdates", timeout=20))
    refused = await older
    assert refused.status == 409
    assert refused.why.startswith("Conflict: terminated by other getUpdates request")
    telegram.crowd.say(ana, room, "for the newer")
    assert len((await newer).result) == 1


async def test_only_the_kinds_that_were_asked_for_are_told(
    telegram: FakeTelegram, call: Caller, room: Chat, ana: User, ben: User
) -> None:
    telegram.membership.promote(ben, room, ana)
    assert await call.updates(allowed_updates=["chat_member", "edited_message"]) == []
    telegram.membership.demote(ben, room, ana)
    telegram.crowd.edit(telegram.crowd.say(ana, room, "not told"), "told")
    member, edited = await call.updates()
    assert member["chat_member"]["new_chat_member"]["status"] == "member"
    assert edited["edited_message"]["text"] == "told"
    await call.updates(edited["update_id"] + 1, allowed_updates=[])
    telegram.crowd.say(ana, room, "told again")
    assert len(await call.updates()) == 1


async def test_an_update_that_is_too_old_is_offered_no_more() -> None:
    timing = Timing(update_ms=0, same_offset_ms=0)
    async with FakeTelegram(limits=NO_LIMITS, timing=timing).serving() as telegram, calling(telegram) as call:
        room = telegram.world.supergroup("Room", telegram.world.user("Ana"))
        telegram.crowd.say(telegram.world.user("Ben"), room, "late")
        assert await call.updates() == []
        assert not len(telegram.pending)


async def test_whoever_asks_for_the_same_again_is_slowed_down() -> None:
    async with FakeTelegram(timing=Timing(same_offset_ms=700)).serving() as telegram, calling(telegram) as call:
        began = time.monotonic()
        await call.updates(5)
        assert time.monotonic() - began < 0.6
        await call.updates(5)
        assert time.monotonic() - began > 0.6


async def test_ids_of_updates_can_begin_anew(telegram: FakeTelegram, call: Caller, room: Chat, ana: User) -> None:
    telegram.crowd.say(ana, room, "before")
    telegram.pending.skip_ids(to=900_000_000)
    telegram.crowd.say(ana, room, "after")
    assert (await call.updates())[-1]["update_id"] == 900_000_000


async def test_a_poll_that_waits_as_the_server_ends_does_not_hold_it_up() -> None:
    async with AsyncExitStack() as clients:
        async with FakeTelegram().serving() as telegram:
            call = await clients.enter_async_context(calling(telegram))
            polling = asyncio.create_task(call("getUpdates", timeout=20))
            await wait_until(lambda: telegram.desk.polling._running is not None, "it polls")
            began = time.monotonic()
        assert time.monotonic() - began < 5
        assert (await polling).status == 409
