"""``up``, ``bot`` and ``worker`` tell Prometheus what they did."""

from __future__ import annotations

from pathlib import Path

import httpx

from bot.fake_telegram import TOKEN
from tests.cli.program import Running, codemojex, started
from tests.cli.test_serve_webhook import PostingHall, port_of
from tests.metrics.scraping import Scrape, scrape
from tests.waiting import wait_until


async def scraped(running: Running) -> Scrape:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{await port_of(running)}", timeout=30) as client:
        return await scrape(client)


async def test_up_tells_of_a_guess_from_its_post_to_its_answer(tmp_path: Path) -> None:
    async with PostingHall().open() as hall, started(tmp_path, "up", **hall.hooked()) as running:
        hall.door.ports = [await port_of(running)]
        await running.said("ready")
        await hall.play_a_guess()
        async with httpx.AsyncClient() as stranger:
            assert (await stranger.post(hall.door.url, json={})).status_code == 403
        await wait_until(lambda: _said(running), "what was said is counted")
        told, secret = await scraped(running), hall.secret
    counted = {
        "codemojex_guesses_total": {"outcome": "accepted"},
        "codemojex_jobs_claimed_total": {"queue": "cm"},
        "codemojex_job_wait_seconds_count": {"queue": "cm"},
        "codemojex_posts_total": {"status": "403"},
        "codemojex_telegram_calls_total": {"method": "setWebhook", "outcome": "ok"},
    }
    assert {name: told.of(name, **labels) for name, labels in counted.items()} == dict.fromkeys(counted, 1)
    assert told.of("codemojex_posts_total", status="200") == told.of("codemojex_updates_total", outcome="received") == 2
    assert told.of("codemojex_post_seconds_count") == 3
    assert told.of("codemojex_telegram_budget_asks_total", answer="granted") == 3, "two messages and the menu"
    assert {queue["queue"] for queue, up in told.series("codemojex_queue_up") if up} == {"cm", "cm.settle", "cm.notify"}
    assert {queue["queue"] for queue, _ in told.series("codemojex_claim_age_seconds")} == {
        "cm",
        "cm.settle",
        "cm.notify",
    }
    assert sum(told.groups("codemojex_group_served_recently_jobs").values()) == 1
    for private in (TOKEN, secret, "Over HTTP", "Ben", "redis://", "sqlite"):
        assert private not in told.text


async def _said(running: Running) -> bool:
    return (await scraped(running)).of("codemojex_messages_total", outcome="said") == 2


async def test_a_bot_tells_of_the_queues_and_a_worker_of_what_it_does_to_them(
    tmp_path: Path, redis_url: str, sqlite_url: str
) -> None:
    async with PostingHall().open() as hall:
        shared = hall.environment(REDIS_URL=redis_url, DATABASE_URL=sqlite_url, CODEMOJEX_LISTEN="127.0.0.1:0")
        assert (await codemojex(tmp_path, "migrate", **shared)).code == 0
        async with started(tmp_path, "worker", **shared) as worker, started(tmp_path, "bot", **shared) as bot:
            await hall.play_a_guess()
            on_bot, on_worker = await scraped(bot), await scraped(worker)
    assert on_bot.of("codemojex_guesses_total", outcome="accepted") == 1
    assert on_worker.of("codemojex_guesses_total", outcome="accepted") == 0
    assert on_bot.series("codemojex_jobs_claimed_total") == []
    assert on_worker.of("codemojex_jobs_claimed_total", queue="cm") == 1
    for told in (on_bot, on_worker):
        assert told.of("codemojex_queue_granted_total", queue="cm") == 1
        assert (told.of("process_resident_memory_bytes") or 0) > 1_000_000
