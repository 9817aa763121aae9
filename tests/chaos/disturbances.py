"""What befalls a ground once in each round of chaos. The seed decides what, to whom, and when."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from tests.chaos.ground import VICTIMS, WORKERS, Ground
from tests.chaos.rooms import Said
from tests.soak.crew import ROOT

_PACKAGES: Final = ("bot", "engine", "migrations")
_COPIES: Final = 3
_POSTED_AGAIN: Final = 40


class Kind(StrEnum):
    """What a leg of chaos is made of."""

    KILL = "kill"
    STOP = "stop"
    CUT = "cut"
    VERSIONS = "versions"
    TWICE = "twice"


@dataclass(frozen=True, slots=True)
class Scale:
    """How long things last: SIGSTOPs, outages of a link, and the moments at which they begin; in seconds."""

    stop_s: float
    outage_s: float
    latest_s: float


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One thing that befalls, ``at_s`` after the round's begin. ``link``: what it cuts, if it does."""

    name: str
    at_s: float
    strike: Callable[[list[Said]], Awaitable[None]]
    kills: bool = False
    link: str = ""


def choose(kind: Kind, ground: Ground, chance: random.Random, scale: Scale) -> Disturbance:
    """Decide.

    Args:
        kind: of what.
        ground: whom it befalls.
        chance: decides.
        scale: how long it lasts.
    """
    at_s = chance.random() * scale.latest_s
    match kind:
        case Kind.KILL:
            victim, down_s = chance.choice(VICTIMS), chance.random() * 0.5
            return Disturbance(f"kill {victim}", at_s, lambda _: ground.kill(victim, down_s), victim in WORKERS)
        case Kind.STOP:
            victim = chance.choice(VICTIMS)
            return Disturbance(f"stop {victim}", at_s, lambda _: ground.stop(victim, scale.stop_s))
        case Kind.CUT:
            return _cut(ground, chance, at_s, scale)
        case Kind.VERSIONS:
            worker = chance.choice(WORKERS)
            return Disturbance(f"roll {worker}", at_s, lambda _: _roll(ground, worker))
        case Kind.TWICE:
            # Not before something was said.
            name, at_s = f"{_COPIES} posts at once", max(at_s, scale.latest_s / 4)
            return Disturbance(name, at_s, lambda said: _post_again(ground, chance, said))


def _cut(ground: Ground, chance: random.Random, at_s: float, scale: Scale) -> Disturbance:
    link = chance.choice(sorted(ground.links))
    way = chance.choice(("reset", "hang up", "silence", "deafen", "refuse", "darken"))
    proxy = ground.links[link]

    async def strike(_: list[Said]) -> None:
        match way:
            case "reset":
                proxy.reset()
            case "hang up":
                proxy.hang_up()
            case "silence":
                proxy.silence()
            case "deafen":
                proxy.deafen()
            case "refuse":
                proxy.refuse()
                await asyncio.sleep(scale.outage_s)
                await proxy.listen()
            case _:
                proxy.darken(dark=True)
                await asyncio.sleep(scale.outage_s)
                proxy.darken(dark=False)
        if link == "redis":
            ground.redis_missed_at_s = time.monotonic()

    return Disturbance(f"{way} {link}", at_s, strike, link=link)


async def _roll(ground: Ground, worker: str) -> None:
    """Replace a worker as an upgrade does, beside one of another version; and let the server forget every script."""
    process = ground.processes[worker]
    await process.end()
    process.start_again()
    async with Redis.from_url(ground.valkey.url) as redis:
        await redis.script_flush()


async def _post_again(ground: Ground, chance: random.Random, said: list[Said]) -> None:
    """Post guesses again, each several times at once, whether or not their first posts were answered."""
    among = chance.sample(said, min(len(said), _POSTED_AGAIN))
    posts = (ground.telegram.post_again(guess.message, _COPIES) for guess in among)
    for answer in await asyncio.gather(*posts, return_exceptions=True):
        if isinstance(answer, BaseException):
            raise answer
        if not set(answer) <= {200, 503}:
            raise AssertionError(f"a post that came again was answered {answer}")


def other_version(folder: Path) -> Path:
    """A copy of our code whose scripts have other hashes: all that can be told of a version that is not there.

    It shows that two builds share queues whose scripts differ by their SHA1. It cannot show that what an older release
    wrote is read: for that, name a checkout of that release with ``--other``.
    """
    for package in _PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    scripts = [*folder.glob("engine/lanes/lua/*.lua"), *folder.glob("bot/budget/*.lua")]
    for script in scripts:
        with script.open("a", encoding="utf-8") as text:
            text.write("-- Of another version.\n")
    return folder
