"""The Bot API over HTTP: reads calls, lets faults strike, answers as Telegram does."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

from bot.fake_telegram.calls import Call
from bot.fake_telegram.clock import monotonic_ms
from bot.fake_telegram.desk import Desk
from bot.fake_telegram.errors import Refused
from bot.fake_telegram.faults import Answer, Fault, Moment, Reset, Slow, Stall
from bot.fake_telegram.judge import Wrong
from bot.fake_telegram.messages import Json
from bot.fake_telegram.methods import METHODS

_AT_ONCE: Final = struct.pack("ii", 1, 0)
_LONGEST_BODY: Final = 1 << 20
_FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_CUT: Final = 0


class BotApiServer:
    """Answers whoever has the token.

    Args:
        desk: what the methods work with.
        token: the bot's.
    """

    def __init__(self, desk: Desk, token: str) -> None:
        self._desk = desk
        self._token = token

    def application(self) -> web.Application:
        """Its routes."""
        application = web.Application(client_max_size=_LONGEST_BODY)
        application.router.add_route("*", "/bot{token}/{method}", self._handle)
        return application

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        at_ms = monotonic_ms()
        try:
            parameters = await _parameters(request)
        except (ValueError, UnicodeDecodeError):
            return _answer(400, "Bad Request: can't parse request body")
        call = Call(request.match_info["method"], parameters, at_ms)
        if request.match_info["token"] != self._token:
            self._desk.judge.note(Wrong.BAD_TOKEN, call, "nobody has it")
            self._desk.ledger.answered(call, 401, "Unauthorized")
            return _answer(401, "Unauthorized")
        return await self._under_faults(call, request)

    async def _under_faults(self, call: Call, request: web.Request) -> web.StreamResponse:
        fault = self._desk.faults.strike(call)
        match fault:
            case None:
                return await self._called(call)
            case Answer():
                return self._refuse(call, fault)
            case Slow():
                await asyncio.sleep(fault.by_ms / 1_000)
                return await self._called(call)
            case Stall() | Reset():
                return await self._cut(call, request, fault)

    def _refuse(self, call: Call, fault: Answer) -> web.Response:
        chat_id = call.chat_id
        chat = self._desk.world.chats.get(chat_id) if chat_id is not None else None
        parameters: Json | None = None
        if fault.retry_after_s is not None:
            parameters = {"retry_after": fault.retry_after_s}
            if chat is not None:
                self._desk.budget.halt(chat, monotonic_ms(), fault.retry_after_s)
        self._desk.ledger.answered(call, fault.status, fault.description)
        if fault.as_html:
            return web.Response(status=fault.status, text=f"<h1>{fault.description}</h1>", content_type="text/html")
        return _answer(fault.status, fault.description, parameters)

    async def _cut(self, call: Call, request: web.Request, fault: Fault) -> web.StreamResponse:
        if isinstance(fault, Stall | Reset) and fault.moment is Moment.AFTER:
            await self._called(call)
        else:
            self._desk.ledger.answered(call, _CUT, "cut off before it was read")
        if isinstance(fault, Stall):
            await asyncio.sleep(fault.for_ms / 1_000)
        _reset(request)
        return web.Response(status=500)  # nobody is there to read it

    async def _called(self, call: Call) -> web.Response:
        method = METHODS.get(call.method.lower())
        try:
            if method is None:
                self._desk.judge.note(Wrong.UNKNOWN_METHOD, call, call.method)
                raise Refused(404, "Not Found: method not found")  # noqa: TRY301 - answered as every refusal is
            result = await method(self._desk, call)
        except Refused as refused:
            self._desk.ledger.answered(call, refused.status, refused.description)
            return _answer(refused.status, refused.description, refused.parameters)
        self._desk.ledger.answered(call, 200)
        return web.json_response({"ok": True, "result": result}, dumps=_dumps)


async def _parameters(request: web.Request) -> Mapping[str, Any]:
    found: dict[str, Any] = dict(request.query)
    if not request.can_read_body:
        return found
    if request.content_type == "application/json":
        told = json.loads(await request.read())
        if not isinstance(told, dict):
            raise ValueError("no object")
        return found | told
    if request.content_type in _FORMS:
        return found | dict(await request.post())
    return found


def _answer(status: int, description: str, parameters: Json | None = None) -> web.Response:
    body: Json = {"ok": False, "error_code": status, "description": description}
    return web.json_response(
        body if parameters is None else {**body, "parameters": parameters}, status=status, dumps=_dumps
    )


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _reset(request: web.Request) -> None:
    """End the connection as a peer does that is gone: with RST, not FIN."""
    transport = request.transport
    if transport is None:
        return
    peer = transport.get_extra_info("socket")
    if peer is not None:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()
