"""A random walk through all verbs, beside the model: after each step both agree on everything."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from engine.lanes import Admission, Job, Lanes, QueueFull, Submission
from tests.lanes.model import NEVER_MS, Model
from tests.lanes.naming import ANA, BEN, CAT, A, B, C, D, new_job
from tests.lanes.oracle import Oracle
from tests.lanes.state import State
from tests.lanes.steps import past
from tests.lanes.watching import WatchedRedis

GROUPS, LANES = (A, B, C, D), (ANA, BEN, CAT, None)
WALKS, STEPS = 8, 120
MAX_ATTEMPTS = 3


class Walk:
    """The lanes and the model, taking the same steps."""

    def __init__(self, redis: Redis, oracle: Oracle, seed: int) -> None:
        self._redis = redis
        self._oracle = oracle
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self._lanes = Lanes(redis, "cm", max_attempts=MAX_ATTEMPTS)
        self._model = Model(MAX_ATTEMPTS)
        self._claimed: list[tuple[Job, int]] = []
        """Every lease ever given, with its number in the model; old ones are tried again."""
        self._messages = 0
        self.trail: list[str] = []
        self._verbs: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (12, self.enqueue),
            (4, self.enqueue_many),
            (12, self.claim),
            (4, self.claim_group),
            (6, self.complete),
            (5, self.exchange),
            (4, self.release),
            (5, self.retry),
            (3, self.extend),
            (2, self.reap),
            (2, self.promote),
            (2, self.limit),
            (2, self.pause),
            (5, self.resume),
            (1, self.weight),
            (3, self.hold),
            (2, self.cap),
            (3, self.reassign),
            (1, self.drain),
            (1, self.forget),
            (1, self.reap_group),
            (2, self.redrive),
            (1, self.pause_all),
            (3, self.resume_all),
            (1, self.audit),
        ]

    async def step(self) -> None:
        weights, verbs = zip(*self._verbs, strict=True)
        (verb,) = self._chance.choices(verbs, weights)
        await verb()
        await self._agree(await self._settled())

    def _say(self, words: str) -> None:
        self.trail.append(words)

    async def _settled(self) -> State:
        """Wait until whatever is to be over soon is over."""
        state = await self._oracle.look()
        soon = state.now_us // 1000 + NEVER_MS // 2
        times = [entry.score for entry in (*state.leases, *state.schedule)] + list(state.held.values())
        latest = max((at for at in times if at < soon), default=0)
        if latest * 1000 >= state.now_us:
            await past(self._redis, latest)
        return state

    async def _agree(self, state: State) -> None:
        model = self._model
        ring = list(model.ring)
        assert state.ring == ring, self.trail[-1]
        assert state.inner == {name: list(group.turn) for name, group in model.groups.items() if group.turn}
        assert {place: [job for job, _ in jobs] for place, jobs in state.waiting.items()} == {
            (name, lane): [job.id for job in jobs]
            for name, group in model.groups.items()
            for lane, jobs in group.lanes.items()
        }
        places = {"leased": state.leases, "scheduled": state.schedule, "dead": state.dead}
        for where, entries in places.items():
            assert {entry.job for entry in entries} == {job.id for job in model.jobs.values() if job.where == where}
        assert state.taken == {name for name, group in model.groups.items() if group.taken}
        assert state.held.keys() == {name for name, group in model.groups.items() if group.held}
        group = self._chance.choice(GROUPS)
        known = model.groups.get(group)
        assert await self._lanes.depth(group) == (known.depth if known else 0)
        alive = [job for job in model.jobs.values() if job.group == group and job.where != "dead"]
        oldest = await self._lanes.oldest(group)
        assert (oldest is None) == (not alive)
        if alive:
            seqs = {entry.job: entry.seq for entry in (*state.leases, *state.schedule)}
            seqs.update(pair for jobs in state.waiting.values() for pair in jobs)
            assert oldest == seqs[min(alive, key=lambda job: job.seq).id]

    # Steps

    def _group(self) -> str:
        return self._chance.choice(GROUPS)

    def _time_ms(self) -> int:
        return self._chance.choice((1, NEVER_MS))

    def _submission(self) -> Submission:
        chance = self._chance
        known = chance.random() < 0.15 and self._model.jobs
        job_id = chance.choice(list(self._model.jobs)) if known else new_job()
        dedup = None
        if chance.random() < 0.3:
            self._messages += chance.randrange(2)
            dedup = f"message {self._messages}"
        delay_ms = self._time_ms() if chance.random() < 0.2 else 0
        weight = chance.randrange(1, 4) if chance.random() < 0.2 else None
        lane = chance.choice(LANES)
        return Submission(self._group(), job_id, b"", lane=lane, delay_ms=delay_ms, dedup=dedup, weight=weight)

    def _admit(self, job: Submission) -> str:
        assert job.dedup is None or isinstance(job.dedup, str)
        lane = job.lane or job.group
        return self._model.enqueue(
            job.group, job.job_id, lane, delay_ms=job.delay_ms, dedup=job.dedup, weight=job.weight
        )

    async def enqueue(self) -> None:
        job = self._submission()
        self._say(f"enqueue {job}")
        try:
            answer = await self._lanes.enqueue(
                job.group, job.job_id, job.payload, job.lane, job.delay_ms, job.dedup, weight=job.weight
            )
        except QueueFull:
            answer = Admission.full
        assert answer == self._admit(job)

    async def enqueue_many(self) -> None:
        jobs = [self._submission() for _ in range(self._chance.randrange(6))]
        self._say(f"enqueue_many {jobs}")
        answers = await self._lanes.enqueue_many(jobs)
        assert answers == [self._admit(job) for job in jobs]

    async def _due(self) -> tuple[list[str], list[str], list[str]]:
        """What housekeeping will find, in the server's order: due jobs, groups whose hold is over, lapsed leases."""
        state = await self._oracle.look()
        now_ms = state.now_us // 1000
        return (
            [entry.job for entry in state.schedule if entry.score <= now_ms],
            [group for group, until_ms in state.held.items() if until_ms <= now_ms],
            [entry.job for entry in state.leases if entry.score <= now_ms],
        )

    async def claim(self) -> None:
        count, lease_ms, due = self._chance.randrange(1, 6), self._time_ms(), await self._due()
        self._say(f"claim {count} for {lease_ms}")
        served = await self._lanes.claim(count, lease_ms)
        expected = self._model.claim(count, *due, soon=lease_ms != NEVER_MS)
        self._note(served, [(job.id, job.group, job.lane, job.attempts, job.lease) for job in expected])

    async def claim_group(self) -> None:
        count, lease_ms, due = self._chance.randrange(1, 6), self._time_ms(), await self._due()
        self._say(f"claim_group {count} for {lease_ms}")
        served = await self._lanes.claim_group(count, lease_ms)
        expected = self._model.claim_group(count, *due, soon=lease_ms != NEVER_MS)
        self._note(served, [(job.id, job.group, job.lane, job.attempts, job.lease) for job in expected])

    def _note(self, served: list[Job], expected: list[tuple[str, str, str, int, int]]) -> None:
        assert [(job.id, job.group, job.lane, job.attempts) for job in served] == [job[:4] for job in expected]
        newest = max((job.token for job, _ in self._claimed), default=0)
        tokens = [job.token for job in served]
        assert tokens == sorted(set(tokens))
        assert not tokens or tokens[0] > newest
        self._claimed += [(job, lease) for job, (*_, lease) in zip(served, expected, strict=True)]

    def _some(self) -> tuple[list[Job], list[tuple[str, int]]]:
        """A few leases, live ones more often than old ones."""
        live = {(job.id, job.lease) for job in self._model.jobs.values() if job.where == "leased"}
        pool = [pair for pair in self._claimed if (pair[0].id, pair[1]) in live or self._chance.random() < 0.03]
        picked = self._chance.sample(pool, min(len(pool), self._chance.randrange(1, 5)))
        if picked and self._chance.random() < 0.1:
            picked.append(picked[0])
        return [job for job, _ in picked], [(job.id, lease) for job, lease in picked]

    async def complete(self) -> None:
        jobs, leases = self._some()
        (cooldown_ms,) = self._chance.choices((0, 1, NEVER_MS), (10, 10, 1))
        self._say(f"complete {leases} cooling {cooldown_ms}")
        answers = await self._lanes.complete(jobs, cooldown_ms)
        assert answers == self._model.complete(leases, cooldown_ms)

    async def exchange(self) -> None:
        jobs, leases = self._some()
        count, lease_ms, (due, over, lapsed) = self._chance.randrange(1, 6), self._time_ms(), await self._due()
        self._say(f"exchange {leases} for {count} for {lease_ms}")
        answers, served = await self._lanes.exchange(jobs, count, lease_ms)
        assert answers == self._model.complete(leases, 0)
        lapsed = [job for job in lapsed if job in self._model.jobs]
        expected = self._model.claim(count, due, over, lapsed, soon=lease_ms != NEVER_MS)
        self._note(served, [(job.id, job.group, job.lane, job.attempts, job.lease) for job in expected])

    async def release(self) -> None:
        jobs, leases = self._some()
        self._say(f"release {leases}")
        answers = await self._lanes.release(jobs)
        assert answers == self._model.release(leases)

    async def extend(self) -> None:
        jobs, leases = self._some()
        lease_ms = self._time_ms()
        self._say(f"extend {leases} for {lease_ms}")
        answers = await self._lanes.extend(jobs, lease_ms)
        assert answers == self._model.extend(leases, soon=lease_ms != NEVER_MS)

    async def retry(self) -> None:
        jobs, leases = self._some()
        if not jobs:
            return
        delay_ms = self._chance.choice((0, 0, 1, NEVER_MS))
        self._say(f"retry {leases[0]} after {delay_ms}")
        answer = await self._lanes.retry(jobs[0], "broken", delay_ms)
        assert answer == self._model.retry(*leases[0], delay_ms)

    async def reap(self) -> None:
        limit, (_, _, lapsed) = self._chance.randrange(1, 5), await self._due()
        self._say(f"reap {limit}")
        assert await self._lanes.reap(limit) == len(lapsed[:limit])
        self._model.reap(lapsed[:limit])

    async def promote(self) -> None:
        limit, (due, _, _) = self._chance.randrange(1, 5), await self._due()
        self._say(f"promote {limit}")
        assert await self._lanes.promote(limit) == len(due[:limit])
        self._model.promote(due[:limit])

    async def limit(self) -> None:
        group, ceiling = self._group(), self._chance.choice((1, 2, 3, None))
        self._say(f"limit {group} {ceiling}")
        await self._lanes.limit(group, ceiling)
        self._model.group(group).ceiling = ceiling
        self._model.refresh(group)

    async def pause(self) -> None:
        group = self._group()
        self._say(f"pause {group}")
        await self._lanes.pause(group)
        self._model.group(group).paused = True
        self._model.refresh(group)

    async def resume(self) -> None:
        group = self._group()
        self._say(f"resume {group}")
        await self._lanes.resume(group)
        self._model.group(group).paused = False
        self._model.refresh(group)

    async def weight(self) -> None:
        group, weight = self._group(), self._chance.choice((1, 2, 3, None))
        self._say(f"weight {group} {weight}")
        await self._lanes.weight(group, weight)
        self._model.group(group).weight = weight

    async def hold(self) -> None:
        group, hold_ms = self._group(), self._chance.choices((None, 1, NEVER_MS), (8, 4, 1))[0]
        self._say(f"hold {group} {hold_ms}")
        await self._lanes.hold(group, hold_ms)
        self._model.group(group).held = "" if hold_ms is None else "never" if hold_ms == NEVER_MS else "soon"
        self._model.refresh(group)

    async def cap(self) -> None:
        group, depth, lane_depth = self._group(), *self._chance.choices((2, 4, None), (1, 2, 3), k=2)
        self._say(f"cap {group} {depth} {lane_depth}")
        await self._lanes.cap(group, depth, lane_depth)
        its = self._model.group(group)
        its.cap, its.lane_cap = depth, lane_depth

    def _job(self) -> str:
        known = list(self._model.jobs)
        return self._chance.choice(known) if known and self._chance.random() < 0.9 else new_job()

    async def reassign(self) -> None:
        job_id, group, lane = self._job(), self._group(), self._chance.choice(LANES)
        self._say(f"reassign {job_id} to {group} {lane}")
        answer = await self._lanes.reassign(job_id, group, lane)
        assert answer == self._model.reassign(job_id, group, lane or group)

    async def drain(self) -> None:
        group, lane = self._group(), self._chance.choice(LANES)
        self._say(f"drain {group} {lane}")
        assert await self._lanes.drain(group, lane) == self._model.drain(group, lane)

    async def forget(self) -> None:
        group = self._group()
        self._say(f"forget {group}")
        assert await self._lanes.forget(group) == self._model.forget(group)

    async def reap_group(self) -> None:
        group, limit, (_, _, lapsed) = self._group(), self._chance.randrange(1, 4), await self._due()
        mine = [job for job in lapsed if self._model.jobs[job].group == group]
        mine = sorted(mine, key=lambda job: self._model.jobs[job].seq)[:limit]
        self._say(f"reap_group {group} {limit}")
        assert await self._lanes.reap_group(group, limit) == len(mine)
        self._model.reap(mine)

    async def redrive(self) -> None:
        dead = sorted((job for job in self._model.jobs.values() if job.where == "dead"), key=lambda job: job.seq)
        if self._chance.random() < 0.5:
            job_id = self._chance.choice(dead).id if dead else self._job()
            self._say(f"redrive {job_id}")
            answer = await self._lanes.redrive(job_id=job_id)
            assert answer == self._model.redrive([job for job in dead if job.id == job_id])
        else:
            group = self._group()
            self._say(f"redrive {group}")
            answer = await self._lanes.redrive(group)
            assert answer == self._model.redrive([job for job in dead if job.group == group])

    async def pause_all(self) -> None:
        self._say("pause_all")
        await self._lanes.pause_all()
        self._model.paused = True

    async def resume_all(self) -> None:
        self._say("resume_all")
        await self._lanes.resume_all()
        self._model.paused = False

    async def audit(self) -> None:
        self._say("audit")
        assert (await self._lanes.audit(repair=self._chance.random() < 0.5)).drift == ()


@pytest.mark.parametrize("walk", range(WALKS))
async def test_lanes_and_model_agree_after_every_step(redis: WatchedRedis, oracle: Oracle, walk: int) -> None:
    seed = random.randrange(1 << 32)  # noqa: S311 - the run's own seed decides, and a failure tells this one
    walker = Walk(redis, oracle, seed)
    try:
        for _ in range(STEPS):
            await walker.step()
    except BaseException as error:
        trail = "\n".join(walker.trail[-40:])
        error.add_note(f"walk {walk}, seed {seed}, {len(walker.trail)} steps; the last ones:\n{trail}")
        raise
