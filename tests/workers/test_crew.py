"""The whole crew on real servers: a round from its opening to its reveal, an outage, a stop."""

from __future__ import annotations

from redis.asyncio import Redis

from engine.game.notices import Page, PageShown, RoundRevealed
from engine.game.ports import Outgoing
from engine.ids import NOTICE, NoticeId
from engine.workers.sweep import Sweep
from tests.waiting import wait_until
from tests.workers.making import House, Recorder, wrong
from tests.workers.working import at_work, quiet


async def test_a_round_is_played_from_its_opening_to_its_reveal(product: House) -> None:
    messenger = Recorder()
    async with at_work(product, messenger):
        _, round_ = await product.open()
        await product.guess(wrong(round_), "Ben")
        await product.guess(round_.secret, "Ana")
        await quiet(product)
    kinds = [notice.kind for notice in messenger.notices]
    assert sorted(kinds) == ["answer", "answer", "round_opened", "round_revealed"]
    (reveal,) = [item for said in messenger.said for item in said if isinstance(item.notice, RoundRevealed)]
    assert isinstance(reveal.notice, RoundRevealed)
    assert reveal.notice.winner is not None
    assert reveal.names[reveal.notice.winner] == "Ana"


async def test_a_round_ends_at_its_deadline_by_itself(product: House) -> None:
    messenger = Recorder()
    async with at_work(product, messenger):
        await product.open(minutes=1)
        product.clock.ahead_ms = 60_001
        await wait_until(lambda: "round_revealed" in [n.kind for n in messenger.notices], "the sweep found it")


async def test_a_notice_that_never_reached_its_lane_is_said_after_all(product: House) -> None:
    room, _ = await product.open()
    lost = Outgoing(NoticeId(product.world.mint(NOTICE)), room.chat, 0, PageShown(Page.RULES), None, 0)
    async with product.units.begin() as work:
        await work.outbox.put([lost])
        await work.commit()
    messenger = Recorder()
    async with at_work(product, messenger):
        await wait_until(lambda: "page_shown" in [n.kind for n in messenger.notices], "the sweep handed it over")


async def test_a_redis_that_forgot_its_levers_hears_them_again_at_the_start(product: House, redis: Redis) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await product.game.levers.pause(product.request())
    await product.queues.guesses.resume((await product.current())[0].id)
    async with at_work(product, Recorder()):
        key = f"emq:{{{product.queues.guesses.queue}}}:paused"
        room = (await product.current())[0].id
        await wait_until(lambda: redis.sismember(key, room), "the room is paused in the lanes again")


async def test_a_paused_rooms_guesses_wait_for_the_resume(product: House) -> None:
    messenger = Recorder()
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await product.game.levers.pause(product.request())
    async with at_work(product, messenger):
        await quiet(product)
        assert "answer" not in [notice.kind for notice in messenger.notices]
        await product.game.levers.resume(product.request())
        await quiet(product)
        assert "answer" in [notice.kind for notice in messenger.notices]


async def test_a_limit_reaches_the_lanes(product: House) -> None:
    _, round_ = await product.open()
    await product.game.levers.limit(product.request(), 2)
    for number in range(4):
        await product.guess(wrong(round_), f"P{number}")
    assert len(await product.queues.guesses.claim(10)) == 2


async def test_a_chat_with_many_unsent_notices_hides_nobody_elses_from_the_sweep(product: House) -> None:
    busy, _ = await product.open()
    quiet_room, _ = await product.open(chat=-200)
    lost = [
        Outgoing(NoticeId(product.world.mint(NOTICE)), room.chat, 0, PageShown(Page.HELP), None, 0)
        for room in [busy] * 2_500 + [quiet_room]
    ]
    async with product.units.begin() as work:
        await work.outbox.put(lost)
        await work.commit()
    sweep = Sweep(product.world, every_ms=1)
    for _ in range(3):
        await sweep.once(grace_ms=1)
    assert await product.queues.notices.job(lost[-1].id) is not None
