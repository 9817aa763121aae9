"""Factories: things as the game makes them, each different from the last, and rows that others stand on."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.game.model import Account, Place, Player, Room, Round, RoundState, ScoredGuess, Source, Standing
from engine.game.notices import Answer, Notice
from engine.game.ports import Outgoing
from engine.ids import CHAT, JOB, NOTICE, ROUND, ChatId, JobId, Minter, NoticeId, PlayerId, RoundId, rebrand
from engine.store.work import SqlUnitOfWork, SqlUnits

_T = TypeVar("_T")
_numbers = itertools.count(1)
mint = Minter(7).mint

Work = Callable[[SqlUnitOfWork], Awaitable[_T]]


async def write(units: SqlUnits, work: Work[_T]) -> _T:
    """Do ``work`` in one unit and commit."""
    async with units.begin() as unit:
        done = await work(unit)
        await unit.commit()
    return done


async def read(units: SqlUnits, work: Work[_T]) -> _T:
    """Do ``work`` in one reading unit."""
    async with units.read() as unit:
        return await work(unit)


def a_place(**given: Any) -> Place:
    return Place(**{"chat_ref": -next(_numbers), "thread": 0, "title": "Friends", "private": False, **given})


def an_account(name: str = "Ana") -> Account:
    return Account(next(_numbers), name)


def a_source() -> Source:
    return Source(-1, next(_numbers))


def a_round(room: Room, **given: Any) -> Round:
    return Round(
        **{
            "id": RoundId(mint(ROUND)),
            "room": room.id,
            "number": next(_numbers),
            "theme": "fruits",
            "keyboard": tuple(f"{code:04}" for code in range(16)),
            "secret": tuple(f"{code:04}" for code in range(6)),
            "nonce": "00112233445566778899aabbccddeeff",
            "commitment": "ab" * 32,
            "state": RoundState.OPEN,
            "opened_ms": 1_000,
            "minutes": 10,
            "deadline_ms": 601_000,
            **given,
        }
    )


@dataclass(frozen=True, slots=True)
class Table:
    """A room with an open round and players around it."""

    room: Room
    round: Round
    players: tuple[Player, ...]

    def guess(self, total: int = 100, seq: int | None = None, player: int = 0, **given: Any) -> ScoredGuess:
        return ScoredGuess(
            **{
                "job": JobId(mint(JOB)),
                "round": self.round.id,
                "room": self.room.id,
                "player": self.players[player].id,
                "codes": self.round.secret,
                "total": total,
                "seq": next(_numbers) if seq is None else seq,
                "counted": True,
                "source": a_source(),
                "accepted_ms": 2_000,
                **given,
            }
        )


async def a_table(units: SqlUnits, players: int = 3) -> Table:
    async def work(unit: SqlUnitOfWork) -> Table:
        room = await unit.rooms.at(a_place())
        seated = [await unit.rooms.player(an_account(f"P{number}")) for number in range(players)]
        round_ = a_round(room)
        assert await unit.rounds.add(round_)
        return Table(room, round_, tuple(seated))

    return await write(units, work)


async def record(units: SqlUnits, *guesses: ScoredGuess) -> set[JobId]:
    return await write(units, lambda unit: unit.guesses.record(guesses))


async def standings(units: SqlUnits, round_: RoundId) -> list[Standing]:
    return await read(units, lambda unit: unit.guesses.standings(round_))


def an_answer(player: PlayerId, total: int = 100) -> Answer:
    return Answer(player, total, 17, counted=True)


def outgoing(chat: ChatId, notice: Notice, **given: Any) -> Outgoing:
    return Outgoing(
        **{
            "id": NoticeId(mint(NOTICE)),
            "chat": chat,
            "thread": 0,
            "notice": notice,
            "reply_to": None,
            "created_ms": 5_000,
            **given,
        }
    )


async def put(units: SqlUnits, *notices: Outgoing) -> list[NoticeId]:
    await write(units, lambda unit: unit.outbox.put(notices))
    return [notice.id for notice in notices]


def unknown_chat() -> ChatId:
    return ChatId(mint(CHAT))


def answers_of(guesses: Sequence[ScoredGuess], chat: ChatId) -> list[Outgoing]:
    """The answers as scoring writes them: with the digits of their jobs."""
    return [
        outgoing(chat, an_answer(guess.player, guess.total), id=NoticeId(rebrand(guess.job, NOTICE)))
        for guess in guesses
    ]
