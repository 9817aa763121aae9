"""Waiting for a condition: the only way a test waits."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

import pytest

_T = TypeVar("_T")


@overload
async def wait_until(
    predicate: Callable[[], Awaitable[_T]], description: str, timeout_ms: int = ..., poll_ms: int = ...
) -> _T: ...


@overload
async def wait_until(
    predicate: Callable[[], _T], description: str, timeout_ms: int = ..., poll_ms: int = ...
) -> _T: ...


async def wait_until(predicate: Callable[[], Any], description: str, timeout_ms: int = 10_000, poll_ms: int = 2) -> Any:
    """Ask ``predicate`` (plain or a coroutine function) until it says something true, and answer that.

    Fails the test with ``description`` after ``timeout_ms``.
    """
    deadline = time.monotonic() + timeout_ms / 1000
    while True:
        asked = predicate()
        answer = await asked if inspect.isawaitable(asked) else asked
        if answer:
            return answer
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout_ms} ms in vain until {description}; last answer {answer!r}")
        await asyncio.sleep(poll_ms / 1000)
