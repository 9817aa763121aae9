"""Ids for tests: short to write, the same in every run of one test."""

from __future__ import annotations

import itertools

from engine import ids

_numbers = itertools.count(1)


def room(number: int) -> str:
    return ids.brand(ids.ROOM, number)


def player(number: int) -> str:
    return ids.brand(ids.PLAYER, number)


def new_job() -> str:
    """A job id that no other test uses; later ones are larger."""
    return ids.brand(ids.JOB, next(_numbers))


def new_jobs(count: int) -> list[str]:
    return [new_job() for _ in range(count)]


A, B, C, D = (room(number) for number in (1, 2, 3, 4))
ANA, BEN, CAT = (player(number) for number in (1, 2, 3))
