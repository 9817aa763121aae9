"""Ending a round: its deadline, the photo finish, and a settlement that happens exactly once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.game.clock import is_astray, is_due, set_right
from engine.game.finish import is_finished
from engine.game.model import CloseReason, Room, Round, RoundState
from engine.game.notices import RoundRevealed
from engine.game.standings import rank
from engine.game.views import BOARD_LINES
from engine.game.world import World
from engine.ids import RoundId

_LOOK_AGAIN_MS: Final = 20


@dataclass(frozen=True, slots=True)
class Later:
    """The round can't be settled yet; look again after ``delay_ms``."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class Settling:
    """Moves rounds from open to closing to settled, as far as they can go now."""

    world: World

    async def settle(self, round_id: RoundId) -> Later | Round | None:
        """Take a round as far as it can go.

        Returns:
            ``Later`` where it has to wait, the round where this call settled it, None where nothing is left to do
            (it is settled, unknown, or its clock stands still).
        """
        async with self.world.units.read() as work:
            round_ = await work.rounds.get(round_id)
            room = await work.rooms.get(round_.room) if round_ else None
        if round_ is None or room is None or round_.state is RoundState.SETTLED:
            return None
        if round_.state is RoundState.OPEN:
            if round_.deadline_ms is None:
                return None
            now_ms = self.world.now_ms()
            if not is_due(round_, now_ms):
                return Later(round_.deadline_ms - now_ms)
            await self._expire(round_)
        return await self._photo_finish(round_id, room)

    async def _expire(self, seen: Round) -> None:
        horizon = await self.world.lanes.horizon()
        async with self.world.units.begin() as work:
            # A pause may have stopped the clock since it was read: with the room locked, it stands as it is.
            await work.rooms.lock(seen.room)
            round_ = await work.rounds.get(seen.id)
            if round_ is not None and is_due(round_, self.world.now_ms()):
                await work.rounds.close(round_.id, horizon, CloseReason.EXPIRED)
                await work.commit()

    async def set_right(self, seen: Round) -> None:
        """Bring the deadline of an open round back within its minutes, where the wall clock was set back."""
        async with self.world.units.begin() as work:
            await work.rooms.lock(seen.room)
            round_ = await work.rounds.get(seen.id)
            now_ms = self.world.now_ms()
            if round_ is not None and is_astray(round_, now_ms):
                await work.rounds.set_clock(
                    round_.id, deadline_ms=set_right(round_, now_ms).deadline_ms, remaining_ms=None
                )
                await work.commit()

    async def _photo_finish(self, round_id: RoundId, room: Room) -> Later | Round | None:
        # The look at the lanes comes first: a guess that is done by then has its row committed, so the transaction
        # below sees it. The other order could miss one that finished in between.
        oldest = await self.world.lanes.oldest(room.id)
        async with self.world.units.begin() as work:
            round_ = await work.rounds.get(round_id)
            if round_ is None or round_.state is not RoundState.CLOSING or round_.closing_seq is None:
                return None
            if not is_finished(round_, oldest):
                return Later(_LOOK_AGAIN_MS)
            winner = await work.guesses.winner(round_id, round_.closing_seq)
            if not await work.rounds.settle(round_id, winner, self.world.now_ms()):
                return None
            if winner is not None:
                await work.guesses.won(room.id, winner)
            reveal = RoundRevealed(
                round=round_.id,
                number=round_.number,
                theme=round_.theme,
                reason=round_.close_reason or CloseReason.EXPIRED,
                winner=winner,
                secret=round_.secret,
                nonce=round_.nonce,
                commitment=round_.commitment,
                lines=rank(await work.guesses.standings(round_id))[:BOARD_LINES],
            )
            handed = await self.world.put(work, room, reveal)
            await work.commit()
        await self.world.relay.hand_over([handed])
        return round_
