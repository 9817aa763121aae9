"""Posts updates to the bot's address, as Telegram does.

At most one request is in flight for the messages of a chat, and one for the presses of a person; the next waits until
that is answered with 2xx. What is not is posted again: at once, then after pauses that double. Unlike
Telegram, it takes no call from a reply.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from bot.fake_telegram.clock import monotonic_ms, wall_ms
from bot.fake_telegram.link import Link, Reply
from bot.fake_telegram.messages import Json
from bot.fake_telegram.pending import Line, Pending, Update
from bot.fake_telegram.timing import Timing

DEFAULT_CONNECTIONS: Final = 40
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Hook:
    """Where updates are posted to."""

    url: str
    secret: str = ""
    max_connections: int = DEFAULT_CONNECTIONS


@dataclass(slots=True)
class _Queue:
    """Updates of one line; the first is in flight, or waits for its next try."""

    line: Line
    updates: deque[Update] = field(default_factory=deque)
    failures: int = 0
    next_try: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class Tally:
    """What the posting came to."""

    posts: int = 0
    confirmed: int = 0
    failed: int = 0
    dropped: int = 0
    most_in_flight: int = 0
    last_error: str = ""
    last_error_s: int = 0


class Webhook:
    """Posts for one bot; nothing happens until ``start``."""

    def __init__(self, pending: Pending, timing: Timing) -> None:
        self._pending = pending
        self._timing = timing
        self._queues: dict[Line, _Queue] = {}
        self._ready: deque[_Queue] = deque()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._carriers: list[asyncio.Task[None]] = []
        self._in_flight = 0
        self.hook: Hook | None = None
        self.tally = Tally()

    def start(self, hook: Hook) -> None:
        """Post to ``hook`` from now on, beginning with what is not confirmed yet."""
        self.hook = hook
        self.tally = Tally()
        for update in self._pending.watch(self._take):
            self._take(update)

    async def stop(self) -> None:
        """Post no more; whatever is in flight may have arrived, and is not confirmed."""
        self.hook = None
        self._pending.watch(None)
        for queue in self._queues.values():
            if queue.next_try is not None:
                queue.next_try.cancel()
        carriers, self._carriers = self._carriers, []
        for carrier in carriers:
            carrier.cancel()
        await asyncio.gather(*carriers, return_exceptions=True)
        self._queues.clear()
        self._ready.clear()
        self._idle.clear()
        self._in_flight = 0

    async def post_copies(self, update: Update, copies: int) -> list[int]:
        """Post what may have been posted before, so many times at once and past its line; answers the statuses.

        Raises:
            OSError: there is no connection, or it is gone.
            TimeoutError: no answer in time.
        """
        if self.hook is None:
            raise ConnectionRefusedError("there is no webhook")
        links = [self._link(self.hook) for _ in range(copies)]
        try:
            replies = await asyncio.gather(*(link.post(_body(update)) for link in links))
        finally:
            for link in links:
                link.close()
        return [reply.status for reply in replies]

    def waiting(self, line: Line) -> int:
        """Updates of ``line`` that are not confirmed."""
        queue = self._queues.get(line)
        return 0 if queue is None else len(queue.updates)

    def info(self) -> Json:
        """``getWebhookInfo``."""
        told: Json = {
            "url": self.hook.url if self.hook is not None else "",
            "has_custom_certificate": False,
            "pending_update_count": len(self._pending),
            "allowed_updates": sorted(self._pending.allowed),
        }
        if self.hook is not None:
            told["max_connections"] = self.hook.max_connections
            if self.tally.last_error:
                told |= {"last_error_date": self.tally.last_error_s, "last_error_message": self.tally.last_error}
        return told

    def _link(self, hook: Hook) -> Link:
        return Link(hook.url, hook.secret, self._timing.webhook_ms / 1_000)

    def _take(self, update: Update) -> None:
        queue = self._queues.get(update.line)
        if queue is not None:
            queue.updates.append(update)
            return
        queue = self._queues[update.line] = _Queue(update.line, deque((update,)))
        self._make_ready(queue)

    def _make_ready(self, queue: _Queue) -> None:
        self._ready.append(queue)
        while self._idle:
            carrier = self._idle.popleft()
            if not carrier.done():
                carrier.set_result(None)
                return
        if self.hook is not None and len(self._carriers) < self.hook.max_connections:
            self._carriers.append(asyncio.create_task(self._carry(self._link(self.hook))))

    async def _carry(self, link: Link) -> None:
        try:
            while True:
                while not self._ready:
                    called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._idle.append(called)
                    await called
                await self._post(link, self._ready.popleft())
        finally:
            link.close()

    async def _post(self, link: Link, queue: _Queue) -> None:
        update = queue.updates[0]
        self._in_flight += 1
        self.tally.posts += 1
        self.tally.most_in_flight = max(self.tally.most_in_flight, self._in_flight)
        try:
            reply = await link.post(_body(update))
        except TimeoutError:
            self._fail(queue, update, Reply(0), "Read timeout expired")
        except (OSError, ValueError) as error:
            self._fail(queue, update, Reply(0), str(error) or type(error).__name__)
        else:
            if reply.is_success:
                self.tally.confirmed += 1
                self._done(queue, update)
            else:
                self._fail(queue, update, reply, f"Wrong response from the webhook: {reply.status}")
        finally:
            self._in_flight -= 1

    def _done(self, queue: _Queue, update: Update) -> None:
        self._pending.forget(update)
        queue.updates.popleft()
        queue.failures = 0
        if queue.updates:
            self._make_ready(queue)
        else:
            del self._queues[queue.line]

    def _fail(self, queue: _Queue, update: Update, reply: Reply, why: str) -> None:
        self.tally.failed += 1
        self.tally.last_error, self.tally.last_error_s = why, wall_ms() // 1_000
        pause_ms = self._pause_ms(queue, reply)
        queue.failures += 1
        if monotonic_ms() + pause_ms > update.expires_ms:
            self.tally.dropped += 1
            self._done(queue, update)
            return
        queue.next_try = asyncio.get_running_loop().call_later(pause_ms / 1_000, self._make_ready, queue)

    def _pause_ms(self, queue: _Queue, reply: Reply) -> int:
        if reply.retry_after_s:
            return int(reply.retry_after_s * 1_000 * self._timing.webhook_retry_after_scale)
        if not queue.failures:
            return 0
        doubled = self._timing.webhook_pause_ms << min(queue.failures - 1, 16)
        return min(doubled, self._timing.webhook_most_pause_ms)


def _body(update: Update) -> bytes:
    return _JSON.encode(update.to_dict()).encode()
