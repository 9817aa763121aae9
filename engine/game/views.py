"""What people ask to see. Reading changes nothing, so a repeated question is answered again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.game.clock import remaining_ms
from engine.game.model import Place, Round, RoundState, Standing
from engine.game.notices import Board, Notice, Page, PageShown, Profile, Refusal, Refused
from engine.game.request import Receipt, Request
from engine.game.standings import rank
from engine.game.world import World
from engine.ids import RoomId

BOARD_LINES: Final = 10


@dataclass(frozen=True, slots=True)
class Views:
    """The board, a player's own record, and the fixed pages."""

    world: World

    async def page(self, request: Request, page: Page) -> Receipt:
        """Show a fixed page."""
        return await self._show(request, PageShown(page))

    async def board(self, request: Request) -> Receipt:
        """Show the standings of the room's newest round."""
        room, round_, standings = await self._newest(request.place)
        if room is None or round_ is None:
            return await self.world.refuse(request, Refused(Refusal.NO_ROUND))
        lines = rank(standings)
        board = Board(
            number=round_.number,
            theme=round_.theme,
            keyboard=round_.keyboard,
            state=round_.state,
            paused=round_.state is RoundState.OPEN and round_.deadline_ms is None,
            remaining_ms=remaining_ms(round_, self.world.now_ms()),
            lines=lines[:BOARD_LINES],
            players_total=len(lines),
            guesses_total=sum(line.guesses for line in lines),
        )
        return await self._show(request, board)

    async def me(self, request: Request) -> Receipt:
        """Show the asker's own record."""
        if request.account is None:
            return await self.world.refuse(request, Refused(Refusal.ANONYMOUS))
        room, _, standings = await self._newest(request.place)
        async with self.world.units.begin() as work:
            player = await work.rooms.player(request.account)
            membership = await work.guesses.membership(room, player.id) if room is not None else None
            await work.commit()
        lines = rank(standings)
        profile = Profile(
            player=player.id,
            line=next((line for line in lines if line.player == player.id), None),
            players_total=len(lines),
            room_guesses=membership.guesses if membership else 0,
            room_best_total=membership.best_total if membership else 0,
            room_wins=membership.wins if membership else 0,
        )
        return await self._show(request, profile)

    async def _newest(self, place: Place) -> tuple[RoomId | None, Round | None, list[Standing]]:
        async with self.world.units.read() as work:
            room = await work.rooms.find(place)
            round_ = await work.rounds.newest(room.id) if room else None
            standings = await work.guesses.standings(round_.id) if round_ else []
        return room.id if room else None, round_, standings

    async def _show(self, request: Request, notice: Notice) -> Receipt:
        await self.world.reply(request, notice)
        return Receipt.DURABLE
