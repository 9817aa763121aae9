"""Gathers what tasks ask for in one tick of the event loop into one call, and gives each its own answer.

Whoever asks first leads: it lets the tick pass, and takes along what others asked for meanwhile. A lone one pays a tick
of an idle loop, and no task.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

_Q = TypeVar("_Q")
_A = TypeVar("_A")


class Gathering(Generic[_Q, _A]):
    """One point where tasks gather.

    Args:
        ask: takes many questions at once and answers each, in order, with what it is or the error it ran into. Raising
            fails them all.
    """

    def __init__(self, ask: Callable[[Sequence[_Q]], Awaitable[Sequence[_A | Exception]]]) -> None:
        self._ask = ask
        self._waiting: list[tuple[_Q, asyncio.Future[_A]]] | None = None
        self._under_way: set[asyncio.Task[None]] = set()

    async def __call__(self, question: _Q) -> _A:
        """Answer one question. A cancelled caller disturbs no other; what it asked may be done all the same."""
        mine: asyncio.Future[_A] = asyncio.get_running_loop().create_future()
        if self._waiting is not None:
            self._waiting.append((question, mine))
            return await mine
        self._waiting = together = [(question, mine)]
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            del together[0]
            raise
        finally:
            self._waiting = None
            if len(together) > 1 or (together and together[0][1] is not mine):
                self._start(together)
        if len(together) == 1:
            return _value((await self._ask([question]))[0])
        return await mine

    def _start(self, together: list[tuple[_Q, asyncio.Future[_A]]]) -> None:
        # A task of its own: whoever leads may be cancelled, and the others must have their answers.
        task = asyncio.get_running_loop().create_task(self._answer(together))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _answer(self, together: list[tuple[_Q, asyncio.Future[_A]]]) -> None:
        together = [(question, future) for question, future in together if not future.done()]
        answers: Sequence[_A | Exception]
        try:
            answers = await self._ask([question for question, _ in together])
        except Exception as error:  # noqa: BLE001 - each of them is told
            answers = [_twin(error) for _ in together]
        except BaseException:
            for _, future in together:
                future.cancel()
            raise
        for (_, future), answer in zip(together, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def _value(answer: _A | Exception) -> _A:
    if isinstance(answer, Exception):
        raise answer
    return answer


def _twin(error: Exception) -> Exception:
    """An error of its own for each who waits: one that many tasks raised would mix their tracebacks."""
    try:
        twin = copy.copy(error)
    except TypeError:  # its constructor wants more than it keeps
        return error
    twin.__cause__ = error
    return twin
