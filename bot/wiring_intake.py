"""The composition root's other half: how updates come in, by polling or webhook, and who is told how that goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.routing import Route, Router

from bot.application import publish_menu
from bot.context import GameApplication
from bot.intake import Intake
from bot.metrics import MetricsPage, Readings
from bot.polling import PollingLease
from bot.pulse import Pulse
from bot.taking import Taking
from bot.web.ground import Ground
from bot.web.health import Health
from bot.web.registration import Registration
from bot.web.server import listening
from bot.web.webhook import WebhookEndpoint
from bot.wiring import House


@dataclass(frozen=True, slots=True)
class Web:
    """The web side of a process: its health, and where Telegram posts, if it does."""

    health: Health
    posts: WebhookEndpoint | None = None
    port: int | None = None


@asynccontextmanager
async def open_web(house: House, *, takes: bool, works: bool) -> AsyncIterator[Web]:
    """Listen where the settings say, from now on; posts are taken once ``take_updates`` runs.

    Args:
        house: whose health it is.
        takes: whether this process takes updates, and so perhaps posts.
        works: whether it works on guesses.

    Raises:
        BadSettings, TokenMissing, ListenUnusable: each says what to do.
    """
    settings = house.settings
    webhook = settings.webhook() if takes else None
    ground = Ground(house.redis, house.database)
    health = Health(ground, takes + works)
    if not settings.listen:
        yield Web(health)
        return
    queues = house.queues
    readings = Readings((queues.guesses, queues.settlements, queues.notices))
    page = MetricsPage(house.meters.registry, house.meters.queues, readings)
    posts = None if webhook is None else WebhookEndpoint(webhook)
    taken = [] if posts is None else [Route(posts.webhook.path, house.meters.posts.around(posts))]
    # No application around it: its layers for errors are ours, and cost each post a twentieth of its time.
    app = Router([*taken, *health.routes(), page.route()], redirect_slashes=False)
    ending = asyncio.Event()
    async with listening(settings.listen, app) as port:
        watching = asyncio.create_task(ground.run(ending), name="health")
        try:
            yield Web(health, posts, port)
        finally:
            ending.set()
            await asyncio.wait({watching})
            await readings.end()


async def take_updates(house: House, application: GameApplication, stop: asyncio.Event, web: Web | None = None) -> None:
    """Take updates until ``stop``: as Telegram posts them, or by polling where no webhook is set.

    One process polls at a time, while it holds the right to; the others stand by. Posts are taken by all.
    """
    taking = Taking(application, house.units, took=house.meters.updates.took)
    if web is not None and web.posts is not None:
        await _take_posts(taking, web.posts, web.health, stop)
        return
    await publish_menu(application.bot)
    pulse = Pulse()
    if web is not None:
        web.health.watch(lambda: {"poll": pulse.age_ms})
    # The embedded server has this process alone, and whoever died in it holds nothing up.
    lease = PollingLease(house.redis, pulse=pulse) if house.settings.redis_url is not None else None
    await Intake(taking, lease=lease, pulse=pulse).run(stop)


async def _take_posts(taking: Taking, posts: WebhookEndpoint, health: Health, stop: asyncio.Event) -> None:
    registration = Registration(taking.application.bot, posts.webhook)

    def vitals() -> Mapping[str, int | None]:
        # No post for an hour is no fault; posts that fail for a minute are.
        return {"posts": taking.pulse.failing_ms if registration.done and posts.is_open else None}

    health.watch(vitals)
    posts.open(taking)  # first of all: what Telegram could not post meanwhile waits
    try:
        await publish_menu(taking.application.bot)
        await registration.run(stop)
    finally:
        health.end()
        await posts.close()
