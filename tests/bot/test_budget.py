"""Telegram's budget: one for all processes, by the server's clock, and kept to alone where Redis is away."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis
from telegram.error import RetryAfter

from bot.application import build_bot
from bot.budget import Limits, Permit, SharedBudget, Wait
from bot.budget.alone import LocalBudget
from bot.budget.limiter import Limiter
from tests.bot.api import BOT_ID, TOKEN, FakeApi, flood
from tests.bot.making import GROUP
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")

OTHER = -1009


def shared(redis: Redis, **limits: int) -> SharedBudget:
    return SharedBudget(redis, BOT_ID, Limits(**limits))


def unlimited(**given: int) -> dict[str, int]:
    return {"calls_a_second": 0, "private_gap_ms": 0, "group_gap_ms": 0, "group_calls_a_minute": 0, **given}


async def granted(budget: SharedBudget, chat: int, tries: int) -> int:
    asked = await asyncio.gather(*(budget.take(chat) for _ in range(tries)))
    return sum(isinstance(answer, Permit) for answer in asked)


async def test_a_chat_is_called_once_and_then_rests_for_all_processes(redis: Redis) -> None:
    here, there = shared(redis), shared(redis)
    assert await here.take(GROUP) == Permit(3_000)
    wait = await there.take(GROUP)
    assert isinstance(wait, Wait)
    assert 2_000 < wait.wait_ms <= 3_100
    assert not wait.everyone
    assert await there.take(11) == Permit(1_000)
    assert await here.take(OTHER) == Permit(3_000)


async def test_all_processes_together_make_so_many_calls_a_second(redis: Redis) -> None:
    budgets = [shared(redis, **unlimited(calls_a_second=30)) for _ in range(4)]
    counts = await asyncio.gather(*(granted(budget, 100 + at, 20) for at, budget in enumerate(budgets)))
    assert sum(counts) == 30
    wait = await budgets[0].take(1)
    assert isinstance(wait, Wait)
    assert wait.everyone
    assert wait.wait_ms <= 1_100


async def test_a_group_gets_so_many_calls_a_minute_and_a_person_is_not_bound_by_that(redis: Redis) -> None:
    budget = shared(redis, **unlimited(group_calls_a_minute=20))
    assert await granted(budget, GROUP, 30) == 20
    assert await granted(budget, 11, 30) == 30
    wait = await budget.take(GROUP)
    assert isinstance(wait, Wait)
    assert 50_000 < wait.wait_ms <= 60_100


async def test_a_hold_binds_one_chat_or_everybody_and_is_never_shortened(redis: Redis) -> None:
    here, there = shared(redis, **unlimited()), shared(redis, **unlimited())
    await here.hold(GROUP, 60_000)
    await there.hold(GROUP, 1_000)
    wait = await there.take(GROUP)
    assert isinstance(wait, Wait)
    assert wait.wait_ms > 50_000
    assert not wait.everyone
    assert await there.take(OTHER) == Permit(0)
    await here.hold(None, 60_000)
    wait = await there.take(OTHER)
    assert isinstance(wait, Wait)
    assert wait.everyone
    assert isinstance(await there.take(None), Wait)


async def test_a_hold_lasts_exactly_as_long_as_was_asked(redis: Redis) -> None:
    budget = shared(redis, **unlimited())

    async def now_ms() -> int:
        seconds, microseconds = await redis.time()
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    began_ms = await now_ms()
    await budget.hold(GROUP, 300)

    async def is_free() -> bool:
        return isinstance(await budget.take(GROUP), Permit)

    await wait_until(is_free, "the hold ends", poll_ms=1)
    assert 300 <= await now_ms() - began_ms < 400


async def test_what_nobody_sees_costs_nothing_and_is_bound_by_holds_alone(redis: Redis) -> None:
    budget = shared(redis)
    for _ in range(50):
        assert isinstance(await budget.take(GROUP, counted=False), Permit)
    assert await budget.take(GROUP) == Permit(3_000)
    assert isinstance(await budget.take(GROUP, counted=False), Permit)
    await budget.hold(GROUP, 60_000)
    assert isinstance(await budget.take(GROUP, counted=False), Wait)


async def test_bots_on_one_server_have_budgets_of_their_own(redis: Redis) -> None:
    assert isinstance(await SharedBudget(redis, 1, Limits()).take(GROUP), Permit)
    assert isinstance(await SharedBudget(redis, 2, Limits()).take(GROUP), Permit)


async def test_every_key_of_it_expires_and_is_in_one_slot(redis: Redis) -> None:
    budget = shared(redis)
    for chat in (GROUP, OTHER, 11):
        await budget.take(chat)
        await budget.hold(chat, 5_000)
    await budget.hold(None, 5_000)
    keys = [key async for key in redis.scan_iter("*")]
    assert len(keys) == 8
    assert {key.partition(b"{")[2].partition(b"}")[0] for key in keys} == {f"budget:{BOT_ID}".encode()}
    for key in keys:
        assert 0 < await redis.pttl(key) <= 60_100


async def test_a_server_clock_that_was_put_back_stops_nobody(redis: Redis) -> None:
    budget = shared(redis)
    ahead_ms = 4_000_000_000_000
    await redis.rpush(f"codemojex:{{budget:{BOT_ID}}}:calls:{GROUP}", ahead_ms)
    await redis.set(f"codemojex:{{budget:{BOT_ID}}}:hold:{OTHER}", 1_000, px=86_400_000)
    assert isinstance(await budget.take(GROUP), Permit)
    wait = await budget.take(OTHER)
    assert isinstance(wait, Wait)
    assert wait.wait_ms <= 1_000
    assert await redis.pttl(f"codemojex:{{budget:{BOT_ID}}}:hold:{OTHER}") <= 1_000


async def test_a_script_that_the_server_forgot_is_sent_again(redis: Redis) -> None:
    budget = shared(redis)
    assert isinstance(await budget.take(11), Permit)
    await redis.script_flush()
    assert isinstance(await budget.take(12), Permit)
    await budget.hold(12, 1_000)
    assert isinstance(await budget.take(12), Wait)


@pytest.fixture
def away() -> Redis:
    """A client of a server that isn't there."""
    return Redis.from_url("redis://127.0.0.1:1", decode_responses=False)


async def test_without_redis_a_process_keeps_to_the_limits_alone(away: Redis) -> None:
    budget = shared(away)
    assert await budget.take(GROUP) == Permit(3_000)
    assert isinstance(await budget.take(GROUP), Wait)
    assert await budget.take(11) == Permit(1_000)
    await budget.hold(12, 60_000)
    assert isinstance(await budget.take(12), Wait)
    counts = [isinstance(await budget.take(100 + at), Permit) for at in range(40)]
    assert sum(counts) == 28


async def test_what_redis_was_not_told_of_holds_also_when_it_is_back(redis: Redis, away: Redis) -> None:
    alone = LocalBudget(Limits())
    await SharedBudget(away, BOT_ID, Limits(), alone).hold(GROUP, 60_000)
    assert isinstance(await SharedBudget(redis, BOT_ID, Limits(), alone).take(GROUP), Wait)


def test_alone_a_group_gets_its_minute_and_old_chats_are_forgotten() -> None:
    now_ms = 0
    alone = LocalBudget(Limits(**unlimited(group_calls_a_minute=20)), lambda: now_ms)
    assert [isinstance(alone.take(GROUP), Permit) for _ in range(21)] == [True] * 20 + [False]
    now_ms = 60_200
    assert isinstance(alone.take(GROUP), Permit)
    for chat in range(1, 20_001):
        now_ms += 1
        alone.take(chat)
        alone.hold(chat, 1)
    assert len(alone._chats) <= 10_000
    assert len(alone._holds) <= 10_000


class Calls:
    """What a limiter lets through: ``answers`` are played first."""

    def __init__(self, *answers: Exception) -> None:
        self.answers = list(answers)
        self.count = 0

    async def __call__(self) -> bool:
        self.count += 1
        if self.answers:
            raise self.answers.pop(0)
        return True


async def through(limiter: Limiter, calls: Calls, endpoint: str, permit: Permit | None = None, **data: Any) -> object:
    return await limiter.process_request(calls, (), {}, endpoint, data, permit)


async def test_a_call_waits_for_its_turn_and_gives_up_where_that_is_far(redis: Redis) -> None:
    calls = Calls()
    limiter = Limiter(shared(redis, **unlimited(private_gap_ms=50)), patience_ms=1_000)
    for _ in range(3):
        assert await through(limiter, calls, "sendMessage", chat_id=11)
    patient = Limiter(shared(redis), patience_ms=1_000)
    await through(patient, calls, "sendMessage", chat_id=GROUP)
    with pytest.raises(RetryAfter) as refused:
        await through(patient, calls, "editMessageText", chat_id=str(GROUP))
    assert 2 <= refused.value._retry_after.total_seconds() <= 3.1
    assert calls.count == 4


async def test_what_has_its_permit_or_is_free_goes_through_at_once(redis: Redis) -> None:
    calls = Calls()
    limiter = Limiter(shared(redis), patience_ms=0)
    for endpoint in ("sendMessage", "getChatMember", "getMe", "answerCallbackQuery", "setWebhook"):
        permit = Permit() if endpoint == "sendMessage" else None
        for _ in range(3):
            await through(limiter, calls, endpoint, permit, **({"chat_id": GROUP} if "C" in endpoint else {}))
    assert calls.count == 15


@pytest.mark.parametrize(
    ("endpoint", "data", "held", "free"),
    [
        ("sendMessage", {"chat_id": GROUP}, [GROUP], [OTHER, 11, None]),
        ("getChatMember", {"chat_id": GROUP}, [GROUP], [OTHER, 11, None]),
        ("setMyCommands", {}, [GROUP, OTHER, 11, None], []),
        ("getMe", {}, [], [GROUP, OTHER, None]),
        ("answerCallbackQuery", {"callback_query_id": "1"}, [], [GROUP, OTHER, None]),
    ],
)
async def test_a_429_holds_whom_it_concerns_for_all_processes(
    redis: Redis, endpoint: str, data: dict[str, Any], held: list[int | None], free: list[int | None]
) -> None:
    calls = Calls(RetryAfter(60))
    with pytest.raises(RetryAfter):
        await through(Limiter(shared(redis, **unlimited())), calls, endpoint, **data)
    there = shared(redis, **unlimited())
    for chat in held:
        assert isinstance(await there.take(chat), Wait)
    for chat in free:
        assert isinstance(await there.take(chat), Permit)


async def test_the_bots_own_calls_are_on_its_budget(redis: Redis) -> None:
    api = FakeApi()
    bot = build_bot(TOKEN, budget=shared(redis), request=api, get_updates_request=api)
    await bot.send_message(GROUP, "hello")
    assert isinstance(await shared(redis).take(GROUP), Wait)
    api.faults["sendMessage"].append(flood(30))
    with pytest.raises(RetryAfter):
        await bot.send_message(11, "hello")
    wait = await shared(redis).take(11)
    assert isinstance(wait, Wait)
    assert 20_000 < wait.wait_ms <= 30_000
