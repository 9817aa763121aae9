"""Delivery: one chat's notices in one message, in order, marked and cooled; a refusal loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
import structlog
from redis.asyncio import Redis

from bot.embedded_postgres import PostgresServer
from engine.game.notices import Answer, Page, PageShown
from engine.game.ports import OutboxItem, Outgoing
from engine.ids import NOTICE, NoticeId
from engine.lanes import Job
from engine.workers.crew import Crew, CrewSettings
from engine.workers.ports import Delivered, Told, TryLater, Unreachable
from engine.workers.speaker import SpeakWorker
from tests.waiting import wait_until
from tests.workers.making import House, Recorder, house, wrong


def speaker(product: House, messenger: Recorder) -> SpeakWorker:
    return SpeakWorker(product.queues.notices, product.units, product.game.chats, messenger, product.world.now_ms)


async def speak(product: House, messenger: Recorder, count: int = 50) -> list[Job]:
    jobs = await product.queues.notices.claim_group(count)
    await speaker(product, messenger).handle(jobs)
    return jobs


async def some_answers(product: House, count: int) -> None:
    _, round_ = await product.open()
    for number in range(count):
        await product.guess(wrong(round_), f"P{number}")
    await product.score()


async def test_a_chats_notices_are_said_together_in_order(product: House) -> None:
    await some_answers(product, 5)
    messenger = Recorder()
    await speak(product, messenger)
    (said,) = messenger.said
    assert [item.id for item in said] == sorted(item.id for item in said)
    assert [item.notice.kind for item in said] == ["round_opened"] + ["answer"] * 5
    assert set(said[1].names.values()) == {"P0"}
    assert await product.unsent() == []
    assert await product.queues.notices.claim_group(10) == []


async def test_what_did_not_fit_stays_in_order_and_is_said_next(product: House) -> None:
    await some_answers(product, 5)
    messenger = Recorder(outcomes=[Told(2, 0), Told(3, 0)])
    for _ in range(3):
        await speak(product, messenger)
    assert [len(said) for said in messenger.said] == [2, 3, 1]
    ids = [item.id for said in messenger.said for item in said]
    assert ids == sorted(ids)


async def test_a_chat_cools_down_before_it_is_spoken_to_again(product: House) -> None:
    await some_answers(product, 2)
    messenger = Recorder(outcomes=[Told(1, 150)])
    await speak(product, messenger)
    assert await product.queues.notices.claim_group(10) == []
    await wait_until(lambda: speak(product, messenger), "the chat's turn after it cooled down")
    assert [len(said) for said in messenger.said] == [1, 2]


@pytest.mark.case("T13")
async def test_a_refusal_with_a_delay_loses_nothing_and_keeps_the_order(product: House) -> None:
    await some_answers(product, 3)
    messenger = Recorder(outcomes=[TryLater(100, "too many requests")])
    await speak(product, messenger)
    assert messenger.said == []
    assert len(await product.unsent()) == 4
    assert await product.queues.notices.claim_group(10) == []
    await wait_until(lambda: speak(product, messenger), "the notices' second try")
    assert [item.notice.kind for item in messenger.said[0]] == ["round_opened"] + ["answer"] * 3


async def test_a_chat_that_is_gone_loses_its_notices_and_nobody_elses(product: House) -> None:
    await some_answers(product, 2)
    await product.open(chat=-200)
    messenger = Recorder(outcomes=[Unreachable("kicked")])
    await speak(product, messenger)
    assert await product.unsent() != []
    await speak(product, messenger)
    assert [item.chat_ref for item in messenger.said[0]] == [-200]
    assert await product.unsent() == []


async def test_a_notice_that_cannot_be_put_into_words_hurts_only_itself(product: House) -> None:
    await some_answers(product, 2)
    bug = RuntimeError("a bug")
    messenger = Recorder(outcomes=[bug, bug])
    await speak(product, messenger)
    await speak(product, messenger)
    assert [item.notice.kind for item in messenger.said[0]] == ["answer"] * 2
    assert await product.unsent() == []


async def test_a_notice_that_was_said_before_is_not_said_again(product: House) -> None:
    await some_answers(product, 1)
    messenger = Recorder()
    jobs = await speak(product, messenger)
    await product.world.relay.hand_over([(NoticeId(job.id), (await product.current())[0].chat) for job in jobs])
    assert await speak(product, messenger) != []
    assert len(messenger.said) == 1


async def test_topics_of_one_chat_are_spoken_to_apart(product: House) -> None:
    room, _ = await product.open()
    pages = [
        Outgoing(NoticeId(product.world.mint(NOTICE)), room.chat, thread, PageShown(Page.HELP), None, 0)
        for thread in (0, 0, 7)
    ]
    async with product.units.begin() as work:
        await work.outbox.put(pages)
        await work.commit()
    await product.world.relay.hand_over([(page.id, page.chat) for page in pages])
    messenger = Recorder()
    await speak(product, messenger)
    await speak(product, messenger)
    assert [[item.thread for item in said] for said in messenger.said] == [[0, 0, 0], [7]]


async def test_two_workers_never_speak_for_one_chat_at_once(product: House) -> None:
    await some_answers(product, 20)
    messenger = Recorder()
    claims = await asyncio.gather(*(product.queues.notices.claim_group(3) for _ in range(4)))
    assert [len(claim) for claim in sorted(claims, key=len)] == [0, 0, 0, 3]
    for claim in claims:
        if claim:
            await speaker(product, messenger).handle(claim)
    assert len(messenger.said) == 1


async def test_an_answer_whose_sender_died_before_marking_it_is_said_by_the_next(product: House) -> None:
    await some_answers(product, 1)
    jobs = await product.queues.notices.claim_group(10, lease_ms=1)
    assert len(jobs) == 2
    messenger = Recorder()
    await wait_until(lambda: speak(product, messenger), "the lapsed notices")
    assert [type(notice) for notice in messenger.notices].count(Answer) == 1


async def test_notices_stay_leased_for_as_long_as_saying_them_takes(product: House, redis: Redis) -> None:
    await some_answers(product, 1)
    lease_ms = 1_500

    async def now_ms() -> int:
        seconds, microseconds = await redis.time()
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    class Slow(Recorder):
        async def say(self, items: Sequence[OutboxItem]) -> Delivered:
            began_ms = await now_ms()

            async def overdue() -> bool:
                return await now_ms() > began_ms + 3 * lease_ms

            await wait_until(overdue, "the first lease is long over")
            assert await product.queues.notices.reap(10) == 0
            return await super().say(items)

    messenger = Slow()
    crew = Crew(product.world, product.queues, messenger, CrewSettings(lease_ms=lease_ms))
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(crew.run(stop))
        await wait_until(lambda: messenger.said, "all is said")
        stop.set()
    assert [len(said) for said in messenger.said] == [2]
    assert await product.queues.notices.claim_group(10) == []


async def test_what_was_said_is_not_said_again_where_sql_refuses_to_have_it_marked(
    redis: Redis, postgres: PostgresServer, migrated_postgres: str
) -> None:
    name = postgres.create(template=migrated_postgres)
    forbid = "BEGIN RAISE 'permission denied for table outbox' USING ERRCODE = 'insufficient_privilege'; END"
    postgres.sql(f"CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS $${forbid}$$", name)
    postgres.sql("CREATE TRIGGER forbidden BEFORE UPDATE ON outbox EXECUTE FUNCTION forbid()", name)
    async with house(redis, postgres.url(name)) as product:
        await some_answers(product, 1)
        messenger = Recorder()
        with structlog.testing.capture_logs() as logs:
            speaking = asyncio.create_task(speak(product, messenger))
            await wait_until(lambda: speaking.done() or logs, "it could not be marked")
            postgres.sql("DROP TRIGGER forbidden ON outbox", name)
            await speaking
        assert len(messenger.said) == 1
        assert await product.unsent() == []
    postgres.drop(name)
