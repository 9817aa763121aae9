"""The short version of `make chaos`: a few rounds of each kind, on a ground of their own each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.chaos.disturbances import Kind, other_version
from tests.chaos.ground import Plan
from tests.chaos.playing import SHORT, leg

SEED = "test 400"
"""Kills PostgreSQL, a worker, the bot and Valkey; and where it does not kill, it stops a worker and hangs up on SQL."""


async def breaches_of(kinds: Sequence[Kind], plan: Plan, home: Path) -> list[str]:
    """Play a round of each, and stop where something is wrong."""
    async with leg(SEED, SHORT, plan, home) as playing:
        for number, kind in enumerate(kinds):
            played = await playing.play(number, kind)
            assert played.guesses > 60
            if played.breaches:
                return played.breaches
    return []


@pytest.mark.timeout(400)
async def test_nothing_is_lost_or_counted_twice_where_processes_and_servers_are_killed(tmp_path: Path) -> None:
    plan = Plan(webhook=True, lease_ms=3_000)
    assert await breaches_of([Kind.KILL] * 4, plan, tmp_path) == []


@pytest.mark.timeout(400)
async def test_nothing_is_lost_or_counted_twice_where_they_stop_are_cut_off_replaced_or_told_twice(
    tmp_path: Path,
) -> None:
    plan = Plan(webhook=True, lease_ms=6_000, other=other_version(tmp_path / "other"))
    assert await breaches_of([Kind.TWICE, Kind.STOP, Kind.VERSIONS, Kind.CUT], plan, tmp_path) == []
