"""Reads that travel together: whoever asks while one read is under way shares the next.

So the cost of a transaction is shared by as many as asked meanwhile, the more the busier it is, and a lone asker waits
for nobody. Every read begins after the last of its askers asked: nothing is remembered, so nothing is stale.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

_Q = TypeVar("_Q")
_A = TypeVar("_A")

LARGEST: Final = 500
STALLED_S: Final = 1.0
MOST: Final = 3


class Convoy(Generic[_Q, _A]):
    """One read at a time; another only beside one that has been under way for suspiciously long, and few of those.

    Args:
        ask: answers many questions at once, each in its place. Raising fails them all.
        largest: most questions in one read.
        stalled_s: how long a read may hold up those behind it.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[_Q]], Awaitable[Sequence[_A]]],
        *,
        largest: int = LARGEST,
        stalled_s: float = STALLED_S,
    ) -> None:
        self._ask = ask
        self._largest = largest
        self._stalled_s = stalled_s
        self._waiting: list[tuple[_Q, asyncio.Future[_A]]] = []
        self._under_way: dict[asyncio.Task[None], float] = {}
        self._watch: asyncio.TimerHandle | None = None

    async def __call__(self, question: _Q) -> _A:
        """Answer one question. A cancelled caller disturbs no other."""
        mine: asyncio.Future[_A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, mine))
        self._set_off()
        return await mine

    def _set_off(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._waiting or len(self._under_way) >= MOST:
            return
        if self._under_way:
            stalled_at = max(self._under_way.values()) + self._stalled_s
            if loop.time() < stalled_at:
                if self._watch is None:
                    self._watch = loop.call_at(stalled_at, self._look_again)
                return
        task = loop.create_task(self._travel(), name="convoy")
        self._under_way[task] = loop.time()
        task.add_done_callback(self._arrived)

    def _look_again(self) -> None:
        self._watch = None
        self._set_off()

    def _arrived(self, task: asyncio.Task[None]) -> None:
        del self._under_way[task]
        self._set_off()

    async def _travel(self) -> None:
        await asyncio.sleep(0)  # whoever asks in this tick comes along
        waiting, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
        together = [(question, future) for question, future in waiting if not future.done()]
        if not together:
            return
        try:
            answers = await self._ask([question for question, _ in together])
        except Exception as error:  # noqa: BLE001 - each of them is told
            for _, future in together:
                if not future.done():
                    future.set_exception(_twin(error))
        except BaseException:
            for _, future in together:
                future.cancel()
            raise
        else:
            for (_, future), answer in zip(together, answers, strict=True):
                if not future.done():
                    future.set_result(answer)


def _twin(error: Exception) -> Exception:
    """An error of its own for each who waits: one that many tasks raised would mix their tracebacks."""
    try:
        twin = copy.copy(error)
    except TypeError:  # its constructor wants more than it keeps
        return error
    twin.__cause__ = error
    return twin
