"""A Bot API inside the process: it keeps what was sent, knows who is an admin, and fails as it is told to.

It takes the place of the library's HTTP client through the library's own port; everything above it is real.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from telegram.request import BaseRequest, RequestData

BOT_ID = 4242
BOT_NAME = "codemojex_test_bot"
TOKEN = f"{BOT_ID}:TEST-token-that-opens-nothing-at-all-00"


@dataclass(frozen=True)
class Sent:
    """A message as the bot sent it. ``at_ms`` is monotonic."""

    chat: int
    text: str
    thread: int | None
    reply_to: int | None
    parameters: Mapping[str, Any]
    at_ms: int = field(default_factory=lambda: time.monotonic_ns() // 1_000_000)


@dataclass(frozen=True)
class Refusal:
    """An answer that is no success."""

    status: int
    description: str
    parameters: Mapping[str, Any] | None = None


Fault = Exception | Refusal


def flood(seconds: int) -> Refusal:
    return Refusal(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})


class FakeApi(BaseRequest):
    """Answers the methods that the bot calls.

    ``faults`` of a method are played first, one a call; ``late`` ones come after the method did its work. Chats may be
    ``moved`` or the bot ``kicked`` from them, topics ``closed``. A test feeds updates with ``feed``.
    """

    def __init__(self, *, reads_all: bool = True) -> None:
        self.reads_all = reads_all
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.sent: list[Sent] = []
        self.history: list[str] = []
        self.admins: set[tuple[int, int]] = set()
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.late: dict[str, deque[Fault]] = defaultdict(deque)
        self.deleted: set[int] = set()
        self.moved: dict[int, int] = {}
        self.kicked: set[int] = set()
        self.closed: set[tuple[int, int]] = set()
        self.updates: deque[dict[str, Any]] = deque()
        self.offsets: list[int] = []
        self.webhook: dict[str, Any] = {}
        self._news = asyncio.Event()

    @property
    def read_timeout(self) -> float | None:
        return None

    async def initialize(self) -> None:
        pass

    async def shutdown(self) -> None:
        pass

    async def do_request(  # noqa: PLR0917 - the port's signature
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        del method, read_timeout, write_timeout, connect_timeout, pool_timeout
        name = url.rpartition("/")[2]
        parameters: Mapping[str, Any] = request_data.parameters if request_data else {}
        self.calls.append((name, parameters))
        fault = self.faults[name].popleft() if self.faults[name] else None
        fault = fault or self._of_the_chat(parameters)
        if fault is not None:
            return _failed(fault)
        result = await getattr(self, f"_{name}")(parameters)
        if self.late[name]:
            return _failed(self.late[name].popleft())
        return 200, json.dumps({"ok": True, "result": result}).encode()

    def _of_the_chat(self, parameters: Mapping[str, Any]) -> Refusal | None:
        chat = int(parameters.get("chat_id", 0))
        if chat in self.moved:
            upgraded = "Bad Request: group chat was upgraded to a supergroup chat"
            return Refusal(400, upgraded, {"migrate_to_chat_id": self.moved[chat]})
        if chat in self.kicked:
            return Refusal(403, "Forbidden: bot was kicked from the supergroup chat")
        if (chat, parameters.get("message_thread_id", 0)) in self.closed:
            return Refusal(400, "Bad Request: TOPIC_CLOSED")
        return None

    def feed(self, *updates: dict[str, Any]) -> None:
        self.updates.extend(updates)
        self._news.set()

    def count(self, method: str) -> int:
        return sum(1 for name, _ in self.calls if name == method)

    def texts(self, chat: int) -> list[str]:
        return [sent.text for sent in self.sent if sent.chat == chat]

    async def _getMe(self, _: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802 - named as the method is
        return {
            "id": BOT_ID,
            "is_bot": True,
            "first_name": "Codemojex",
            "username": BOT_NAME,
            "can_read_all_group_messages": self.reads_all,
        }

    async def _sendMessage(self, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        chat = int(parameters["chat_id"])
        reply = parameters.get("reply_parameters")
        if reply and reply["message_id"] in self.deleted and not reply.get("allow_sending_without_reply"):
            raise AssertionError("Telegram would answer: message to be replied not found")
        self.history.append(parameters["text"])
        self.sent.append(
            Sent(
                chat,
                parameters["text"],
                parameters.get("message_thread_id"),
                reply["message_id"] if reply else None,
                parameters,
            )
        )
        return {
            "message_id": 1_000_000 + len(self.sent),
            "date": 1_700_000_000,
            "chat": {"id": chat, "type": "supergroup", "title": "?"},
            "text": parameters["text"],
        }

    async def _getChatMember(self, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        user = {"id": int(parameters["user_id"]), "is_bot": False, "first_name": "?"}
        if (int(parameters["chat_id"]), user["id"]) in self.admins:
            return {"status": "creator", "user": user, "is_anonymous": False}
        return {"status": "member", "user": user}

    async def _getUpdates(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:  # noqa: N802
        offset = int(parameters.get("offset", 0))
        self.offsets.append(offset)
        if self.updates and offset > self.updates[-1]["update_id"] + 11:
            offset = 0  # an offset far ahead of all there is: Telegram takes it for none
        while self.updates and self.updates[0]["update_id"] < offset:
            self.updates.popleft()
        if not self.updates and parameters.get("timeout"):
            self._news.clear()
            await self._news.wait()
        return list(self.updates)[:100]

    async def _deleteWebhook(self, _: Mapping[str, Any]) -> bool:  # noqa: N802
        self.webhook = {}
        return True

    async def _setWebhook(self, parameters: Mapping[str, Any]) -> bool:  # noqa: N802
        self.webhook = dict(parameters)
        return True

    async def _getWebhookInfo(self, _: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {
            "url": self.webhook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": 1,
            "last_error_date": 1_700_000_000,
            "last_error_message": "Wrong response from the webhook: 503 Service Unavailable",
        }

    async def _setMyCommands(self, _: Mapping[str, Any]) -> bool:  # noqa: N802
        return True


def _failed(fault: Fault) -> tuple[int, bytes]:
    if isinstance(fault, Exception):
        raise fault
    body = {"ok": False, "error_code": fault.status, "description": fault.description}
    return fault.status, json.dumps({**body, "parameters": fault.parameters}).encode()
