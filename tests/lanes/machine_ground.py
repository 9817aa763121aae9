"""What all verbs of the state machine stand on: the lanes, the model beside them, and when the two agree."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import ClassVar, TypeVar

from hypothesis.stateful import RuleBasedStateMachine
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from engine.lanes import Job, Lanes
from tests.lanes.agreeing import agree, agree_on
from tests.lanes.machine_steps import MAX_ATTEMPTS, NAMES
from tests.lanes.model import Model
from tests.lanes.oracle import Oracle
from tests.lanes.state import State

_T = TypeVar("_T")


class Ground(RuleBasedStateMachine):
    """``url`` must name a server of the test's own."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        self._redis = Redis.from_url(self.url, retry=Retry(NoBackoff(), 0))
        self._oracle = Oracle(self.url)
        self._lanes = Lanes(self._redis, "cm", max_attempts=MAX_ATTEMPTS)
        self._impatient = Lanes(self._redis, "cm", max_attempts=1)
        self._model = Model(MAX_ATTEMPTS)
        self._state = State()
        self._claimed: list[tuple[Job, int]] = []
        """Every lease ever given, oldest first, with its number in the model."""
        self._steps = 0

    def teardown(self) -> None:
        self._run(self._redis.aclose())
        self._run(self._oracle.close())
        self._loop.close()

    def _run(self, work: Awaitable[_T]) -> _T:
        return self._loop.run_until_complete(asyncio.ensure_future(work, loop=self._loop))

    def _agree(self) -> None:
        self._steps += 1
        self._state = self._run(self._oracle.check())
        agree(self._state, self._model, {lease: job.token for job, lease in self._claimed})
        # The state tells that of all groups; each in its turn says so itself.
        self._run(agree_on(list(NAMES.values())[self._steps % 3], self._state, self._lanes, self._model))
