"""How fast threads hand in jobs, each waiting for its answer before the next."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.loads import PAYLOAD

_PAYLOAD = PAYLOAD.decode()


def by_threads(send: Callable[[str], object], jobs: int, threads: int) -> float:
    """Hand in ``jobs`` from so many threads; answers jobs a second."""
    each = jobs // threads

    def hand_in() -> None:
        for _ in range(each):
            send(_PAYLOAD)

    with ThreadPoolExecutor(threads) as pool:
        began = time.monotonic()
        for handed_in in [pool.submit(hand_in) for _ in range(threads)]:
            handed_in.result()
        return each * threads / (time.monotonic() - began)
