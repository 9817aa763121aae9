"""A guess is a row once, and standings and memberships say what the rows say, whoever writes them at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from engine.game.model import Membership, ScoredGuess, Standing
from engine.game.scoring import WINNING_TOTAL
from engine.store.errors import RowRefused
from engine.store.work import SqlUnits
from tests.store.making import Table, a_table, answers_of, read, record, standings, write


async def test_recorded_guesses_are_new_and_their_messages_are_taken(units: SqlUnits) -> None:
    table = await a_table(units)
    first, second, never = table.guess(), table.guess(player=1), table.guess()
    assert await record(units, first, second) == {first.job, second.job}
    assert await read(units, lambda unit: unit.guesses.taken(second.source))
    assert not await read(units, lambda unit: unit.guesses.taken(never.source))
    assert await record(units) == set()


async def test_a_guess_counts_once_by_its_job(units: SqlUnits) -> None:
    table = await a_table(units)
    guess, other = table.guess(total=200, seq=9), table.guess(total=100, seq=10)
    await record(units, guess)
    assert await record(units, guess, other) == {other.job}
    assert await standings(units, table.round.id) == [Standing(guess.player, 200, 9, 2)]


async def test_a_guess_counts_once_by_its_source(units: SqlUnits) -> None:
    table = await a_table(units)
    guess = table.guess(total=200, seq=9)
    copy = table.guess(total=300, seq=11, source=guess.source)
    await record(units, guess)
    assert await record(units, copy) == set()
    assert await standings(units, table.round.id) == [Standing(guess.player, 200, 9, 1)]


async def test_copies_inside_one_batch_count_once(units: SqlUnits) -> None:
    table = await a_table(units)
    guess = table.guess(total=200, seq=9)
    copy = table.guess(total=300, seq=11, source=guess.source)
    assert await record(units, copy, guess, guess, copy) == {guess.job}
    assert await standings(units, table.round.id) == [Standing(guess.player, 200, 9, 1)]


async def test_copies_that_race_count_once(units: SqlUnits, neighbour: SqlUnits) -> None:
    """Whole batches of them, in any order: nobody waits in a circle."""
    table = await a_table(units, players=10)
    guesses = [table.guess(total=20 * (number % 31), player=number % 10) for number in range(100)]
    copies = [replace(table.guess(), source=guess.source, total=guess.total) for guess in guesses[::3]]

    async def worker(seed: int, through: SqlUnits) -> set[str]:
        batch = [*guesses, *copies]
        random.Random(seed).shuffle(batch)  # noqa: S311 - an order, no key
        return {str(job) for start in range(0, len(batch), 50) for job in await record(through, *batch[start:][:50])}

    new = await asyncio.gather(*(worker(seed, through) for seed, through in enumerate((units, neighbour) * 4)))
    assert sum(len(jobs) for jobs in new) == len(guesses)
    lines = await standings(units, table.round.id)
    assert sum(line.guesses for line in lines) == len(guesses)


async def test_a_guess_that_does_not_count_is_kept_but_ranks_nobody(units: SqlUnits) -> None:
    table = await a_table(units)
    late = table.guess(total=WINNING_TOTAL, seq=1, counted=False)
    assert await record(units, late) == {late.job}
    assert await standings(units, table.round.id) == []
    async with units.read() as unit:
        assert await unit.guesses.membership(table.room.id, late.player) is None
        assert await unit.guesses.winner(table.round.id, 99) is None


async def test_standings_rank_by_best_total_then_by_the_seq_that_reached_it(units: SqlUnits) -> None:
    table = await a_table(units, players=4)
    await record(
        units,
        table.guess(total=400, seq=30, player=0),
        table.guess(total=400, seq=20, player=1),
        table.guess(total=560, seq=40, player=2),
        table.guess(total=80, seq=10, player=3),
    )
    ids = [player.id for player in table.players]
    assert await standings(units, table.round.id) == [
        Standing(ids[2], 560, 40, 1),
        Standing(ids[1], 400, 20, 1),
        Standing(ids[0], 400, 30, 1),
        Standing(ids[3], 80, 10, 1),
    ]


@pytest.mark.parametrize("batched", [True, False], ids=["one batch", "one by one"])
@pytest.mark.parametrize("seed", range(3))
async def test_standings_and_memberships_follow_from_the_rows(units: SqlUnits, *, batched: bool, seed: int) -> None:
    """In whatever order the guesses arrive, also with totals that are reached twice."""
    dice = random.Random(seed)  # noqa: S311 - dice, no key
    tables = [await a_table(units), await a_table(units)]
    guesses = [
        dice.choice(tables).guess(
            total=dice.choice([0, 20, 40]), seq=seq, player=dice.randrange(3), counted=dice.random() < 0.8
        )
        for seq in range(40)
    ]
    dice.shuffle(guesses)
    for batch in [guesses] if batched else [[guess] for guess in guesses]:
        await record(units, *batch)
    for table in tables:
        assert await standings(units, table.round.id) == _standings(table, guesses)
        for player in table.players:
            counted = [guess for guess in guesses if guess.counted and guess.player == player.id]
            expected = Membership(player.id, len(counted), max(guess.total for guess in counted), 0)
            async with units.read() as unit:
                assert await unit.guesses.membership(table.room.id, player.id) == expected


async def test_workers_at_once_add_up(units: SqlUnits, neighbour: SqlUnits) -> None:
    """Their batches touch the same players of the same rounds: no update is lost, nobody waits in a circle."""
    tables = [await a_table(units, players=5) for _ in range(2)]
    guesses = [tables[seq % 2].guess(total=20 * (seq * 7 % 31), seq=seq, player=seq % 5) for seq in range(400)]
    batches = [guesses[start::16] for start in range(16)]
    await asyncio.gather(
        *(record(through, *batch) for batch, through in zip(batches, (units, neighbour) * 8, strict=True))
    )
    for table in tables:
        assert await standings(units, table.round.id) == _standings(table, guesses)


async def test_the_winner_is_the_crack_with_the_smallest_seq_up_to_the_end(units: SqlUnits) -> None:
    table = await a_table(units)
    ids = [player.id for player in table.players]
    await record(
        units,
        table.guess(total=580, seq=10, player=0),
        table.guess(total=WINNING_TOTAL, seq=50, player=1),
        table.guess(total=WINNING_TOTAL, seq=45, player=2),
        table.guess(total=WINNING_TOTAL, seq=60, player=0),
    )
    async with units.read() as unit:
        assert await unit.guesses.winner(table.round.id, 44) is None
        assert await unit.guesses.winner(table.round.id, 45) == ids[2]
        assert await unit.guesses.winner(table.round.id, 1_000) == ids[2]


async def test_nobody_has_won_where_nobody_cracked_it(units: SqlUnits) -> None:
    table = await a_table(units)
    await record(units, table.guess(total=580, seq=1))
    assert await read(units, lambda unit: unit.guesses.winner(table.round.id, 10)) is None


async def test_wins_are_counted_beside_guesses(units: SqlUnits) -> None:
    table = await a_table(units)
    guess = table.guess(total=WINNING_TOTAL)
    await record(units, guess)
    for wins in (1, 2):
        await write(units, lambda unit: unit.guesses.won(table.room.id, guess.player))
        membership = await read(units, lambda unit: unit.guesses.membership(table.room.id, guess.player))
        assert membership == Membership(guess.player, 1, WINNING_TOTAL, wins)


async def test_one_impossible_guess_refuses_its_batch(units: SqlUnits) -> None:
    """So that whoever sent it can find it by halves."""
    table = await a_table(units)
    with pytest.raises(RowRefused, match="total_possible"):
        await record(units, table.guess(), table.guess(total=601))
    with pytest.raises(RowRefused):
        await record(units, table.guess(), table.guess(codes=("two words",) * 6))
    with pytest.raises(RowRefused):
        await record(units, table.guess(), table.guess(seq=2**63))
    assert await standings(units, table.round.id) == []


async def test_a_batch_of_thousands_goes_in(units: SqlUnits) -> None:
    """More values than one statement of either database takes as parameters."""
    table = await a_table(units)
    guesses = [table.guess(seq=seq) for seq in range(4_000)]
    notices = answers_of(guesses, table.room.chat)
    async with units.begin() as unit:
        assert len(await unit.guesses.record(guesses)) == len(guesses)
        await unit.outbox.put(notices)
        await unit.commit()
    assert (await standings(units, table.round.id))[0].guesses == len(guesses)
    waiting = await read(units, lambda unit: unit.outbox.waiting([notice.id for notice in notices]))
    assert len(waiting) == len(notices)


def _standings(table: Table, guesses: Iterable[ScoredGuess]) -> list[Standing]:
    """The standings as the rules have them, from the guesses alone."""
    lines = []
    for player in table.players:
        own = [
            guess for guess in guesses if guess.counted and guess.player == player.id and guess.round == table.round.id
        ]
        if own:
            best = min(own, key=lambda guess: (-guess.total, guess.seq))
            lines.append(Standing(player.id, best.total, best.seq, len(own)))
    return sorted(lines, key=lambda line: (-line.best_total, line.best_seq))
