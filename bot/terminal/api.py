"""The Bot API of the terminal's chat: the methods the bot calls, answered as Telegram answers them.

It lives in the process: ``ChatRequest`` takes the place of the library's HTTP client, and nothing else differs.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from telegram.request import BaseRequest, RequestData

from bot.entities import BadMarkup, units
from bot.terminal.chat import GroupChat, account
from bot.terminal.markup import Span, plain, read_html

TOKEN: Final = "1:terminal"  # noqa: S105 - opens nothing: there is no server behind it
BOT_USERNAME: Final = "codemojex_bot"
_LONGEST_TEXT: Final = 4096
_MOST_UPDATES: Final = 100

_Parameters = Mapping[str, Any]


class Refused(Exception):  # noqa: N818 - reads as what happened
    """The call is refused, with Telegram's code and words."""

    def __init__(self, description: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        self.status = status
        self.description = f"{status.phrase}: {description}" if description else status.phrase
        super().__init__(self.description)


class ChatApi:
    """Answers calls about one chat."""

    def __init__(self, chat: GroupChat) -> None:
        self._chat = chat
        self._methods: dict[str, Callable[[_Parameters], Awaitable[Any]]] = {
            "getMe": self._get_me,
            "getUpdates": self._get_updates,
            "sendMessage": self._send_message,
            "getChatMember": self._get_chat_member,
            "deleteWebhook": _true,
            "setMyCommands": _true,
        }

    async def call(self, method: str, parameters: _Parameters) -> tuple[int, dict[str, Any]]:
        """Call ``method``; answers the HTTP status and the body."""
        try:
            result = await self._methods.get(method, _not_found)(parameters)
        except Refused as refused:
            body = {"ok": False, "error_code": refused.status.value, "description": refused.description}
            return refused.status.value, body
        return HTTPStatus.OK.value, {"ok": True, "result": result}

    async def _get_me(self, _: _Parameters) -> dict[str, Any]:
        return {
            **account(self._chat.bot, is_bot=True),
            "username": BOT_USERNAME,
            "can_join_groups": True,
            "can_read_all_group_messages": True,
            "supports_inline_queries": False,
        }

    async def _get_updates(self, parameters: _Parameters) -> list[dict[str, Any]]:
        limit = min(max(int(parameters.get("limit", _MOST_UPDATES)), 1), _MOST_UPDATES)
        return await self._chat.updates.get(
            int(parameters.get("offset", 0)), limit, float(parameters.get("timeout", 0))
        )

    async def _send_message(self, parameters: _Parameters) -> dict[str, Any]:
        self._require_chat(parameters)
        if parameters.get("message_thread_id"):
            raise Refused("message thread not found")
        spans = _read(parameters)
        reply_to = (parameters.get("reply_parameters") or {}).get("message_id")
        message_id = self._chat.say(spans, reply_to)
        return {**self._chat.message(message_id, self._chat.bot, by_bot=True), "text": plain(spans)}

    async def _get_chat_member(self, parameters: _Parameters) -> dict[str, Any]:
        self._require_chat(parameters)
        account_ref = int(parameters["user_id"])
        if account_ref == self._chat.admin.account_ref:
            return self._owner()
        user = {"id": account_ref, "is_bot": account_ref == self._chat.bot.account_ref, "first_name": "member"}
        return {"status": "member", "user": user}

    def _owner(self) -> dict[str, Any]:
        return {"status": "creator", "user": account(self._chat.admin), "is_anonymous": False}

    def _require_chat(self, parameters: _Parameters) -> None:
        if str(parameters.get("chat_id")) != str(self._chat.ref):
            # A chat that an earlier run in this directory showed: out of reach today, so its messages are kept for it.
            raise Refused("this terminal shows another chat", HTTPStatus.SERVICE_UNAVAILABLE)


async def _not_found(_: _Parameters) -> None:
    raise Refused("", HTTPStatus.NOT_FOUND)


async def _true(_: _Parameters) -> bool:
    return True


def _read(parameters: _Parameters) -> tuple[Span, ...]:
    text = str(parameters.get("text", ""))
    mode = parameters.get("parse_mode")
    if mode not in {None, "", "HTML"}:
        raise Refused(f"unsupported parse_mode {mode}")
    try:
        spans = read_html(text) if mode == "HTML" else (Span(text),)
    except BadMarkup as error:
        raise Refused(f"can't parse entities: {error}") from None
    shown = plain(spans)
    if not shown.strip():
        raise Refused("message text is empty")
    if units(shown) > _LONGEST_TEXT:
        raise Refused("message is too long")
    return spans


class ChatRequest(BaseRequest):
    """Carries the library's calls to a ``ChatApi`` instead of over the network."""

    def __init__(self, api: ChatApi) -> None:
        self._api = api

    @property
    def read_timeout(self) -> float | None:
        """None: nothing in the process times out."""
        return None

    async def initialize(self) -> None:
        """Nothing to open."""

    async def shutdown(self) -> None:
        """Nothing to close."""

    async def do_request(  # noqa: PLR0917 - the port's
        self,
        url: str,
        method: str,  # noqa: ARG002 - the port's: always POST
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002 - the port's, as the next three
        write_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002
    ) -> tuple[int, bytes]:
        """Answer one call; its method is the last part of ``url``."""
        parameters = request_data.parameters if request_data is not None else {}
        status, body = await self._api.call(url.rpartition("/")[2], parameters)
        return status, json.dumps(body).encode()
