"""Who may post, how much and how slowly: whatever is no post of Telegram's leaves no trace but a status."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
import structlog

from bot.pace import Pace
from bot.taking import Outcome, Taking
from bot.web import connections
from bot.web.places import derived_secret
from bot.web.webhook import LARGEST, WebhookEndpoint
from tests.bot.api import TOKEN
from tests.bot.hall import Hall, nothing
from tests.bot.making import said
from tests.bot.posting import HEADERS, SECRET, WEBHOOK, porch
from tests.bot.stage import Stage
from tests.bot.test_webhook import aside
from tests.waiting import wait_until

HEAD = "POST /telegram HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
FORGED = {"X_Telegram_Bot_Api_Secret_Token": "forged-secret"}
SIGNED = f"{HEAD}X-Telegram-Bot-Api-Secret-Token: {SECRET}\r\n"


@pytest.mark.parametrize("secret", ["", "wrong", SECRET + "x", SECRET[:-1], SECRET.upper(), f"{SECRET}, {SECRET}"])
async def test_a_forged_post_is_refused_with_no_hint(idle: Stage, secret: str) -> None:
    hall = Hall(idle, nothing)
    hall.listen()
    async with porch(idle) as telegram:
        answer = await telegram.post(said("forged"), X_Telegram_Bot_Api_Secret_Token=secret)
    assert (answer.status_code, answer.content) == (403, b"")
    assert hall.seen == []
    assert await aside(idle) == []


async def test_the_secret_in_a_second_header_beside_a_wrong_one_is_refused(idle: Stage) -> None:
    body = json.dumps(said("x")).encode()
    for pair in (("wrong", SECRET), (SECRET, "wrong")):
        lines = "".join(f"X-Telegram-Bot-Api-Secret-Token: {secret}\r\n" for secret in pair)
        async with porch(idle) as telegram:
            answer = await telegram.raw(f"{HEAD}{lines}Content-Length: {len(body)}\r\n\r\n".encode(), body)
        assert answer.startswith(b"HTTP/1.1 403")


async def test_a_forged_body_is_not_even_read(idle: Stage) -> None:
    """The answer is there, and the connection closed, while the body has hardly begun."""
    async with porch(idle) as telegram:
        head = f"{HEAD}Content-Length: {LARGEST}\r\n\r\n".encode()
        answer = await asyncio.wait_for(telegram.raw(head, b"{", whole=False), 5)
    assert answer.startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_only_posts_are_posts(idle: Stage, method: str) -> None:
    async with porch(idle) as telegram:
        answer = await telegram.client.request(method, "/telegram", headers=HEADERS)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ["/", "/telegram/", "/telegram/x", f"/{TOKEN}", "/telegram%2f", "//telegram"])
async def test_no_other_path_is_answered(idle: Stage, path: str) -> None:
    async with porch(idle) as telegram:
        answer = await telegram.client.post(path, json=said("x"), headers=HEADERS)
    assert answer.status_code == 404


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_what_is_not_said_to_be_json_is_refused(idle: Stage, kind: str) -> None:
    async with porch(idle) as telegram:
        assert (await telegram.post(said("x"), Content_Type=kind)).status_code == 415
        assert (await telegram.post(said("x"), Content_Type="application/json; charset=utf-8")).status_code == 200


async def test_a_body_that_says_it_is_huge_is_refused_unread_and_given_up_in_the_end(idle: Stage) -> None:
    head = f"{SIGNED}Content-Length: {LARGEST + 1}\r\n\r\n".encode()
    begun = b'{"update_id": 1, ' + b" " * 5_000
    async with porch(idle, Pace(attempts=3)) as telegram:
        answers = [await asyncio.wait_for(telegram.raw(head, begun, whole=False), 5) for _ in range(3)]
    assert [answer[9:12] for answer in answers] == [b"413", b"413", b"200"]
    (kept,) = await aside(idle)
    assert kept.body.startswith('{"update_id": 1, ')
    assert len(kept.body) < 5_000


async def test_a_body_that_grows_is_cut_off_where_it_is_too_much(idle: Stage) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    async with porch(idle) as telegram:
        head = f"{SIGNED}Transfer-Encoding: chunked\r\n\r\n".encode()
        answer = await telegram.raw(head, *([chunk] * (LARGEST // 0x10000 + 1)), whole=False)
    assert answer.startswith(b"HTTP/1.1 413")


async def test_the_largest_body_is_taken(idle: Stage) -> None:
    hall = Hall(idle, nothing)
    hall.listen()
    body = json.dumps(said("large")).encode()
    async with porch(idle) as telegram:
        assert (await telegram.post(body + b" " * (LARGEST - len(body)))).status_code == 200
    assert hall.done == ["large"]


async def test_a_body_that_does_not_come_is_given_up(idle: Stage) -> None:
    async with porch(idle, Pace(body_ms=100)) as telegram:
        began = time.monotonic()
        answer = await telegram.raw(f"{SIGNED}Content-Length: 100\r\n\r\n".encode(), b"{", whole=False)
        assert answer.startswith(b"HTTP/1.1 408")
        assert time.monotonic() - began < 5
        assert (await telegram.post(said("another"))).status_code == 200
    assert await aside(idle) == []


@pytest.mark.parametrize("lines", ["Connection: Upgrade\r\n", "Connection: keep-alive\r\nConnection: upgrade\r\n"])
async def test_a_post_that_asks_for_another_protocol_is_not_taken_for_an_empty_one(idle: Stage, lines: str) -> None:
    body = json.dumps(said("whole")).encode()
    head = f"{SIGNED}{lines}Upgrade: h2c\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with porch(idle) as telegram:
        answer = await asyncio.wait_for(telegram.raw(head, body, whole=False), 5)
    assert answer.startswith(b"HTTP/1.1 400")
    assert await aside(idle) == []


async def test_whoever_hangs_up_in_the_middle_leaves_nothing(idle: Stage) -> None:
    hall = Hall(idle, nothing)
    hall.listen()
    body = json.dumps(said("half")).encode()
    async with porch(idle) as telegram:
        await telegram.raw(f"{SIGNED}Content-Length: {len(body)}\r\n\r\n".encode(), body[:-2])
        assert (await telegram.post(said("whole"))).status_code == 200
    assert hall.done == ["whole"]
    assert await aside(idle) == []


async def test_whoever_never_ends_a_head_is_hung_up_on(idle: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.1)
    async with porch(idle) as telegram:
        for begun in (b"", b"POST /telegram HTTP/1.1\r\nX: "):
            assert await asyncio.wait_for(telegram.raw(begun, whole=False), 5) == b""
        endless = b"POST /telegram HTTP/1.1\r\n" + b"X: " + b"x" * (connections.LARGEST_HEAD + 10)
        monkeypatch.setattr(connections, "HEAD_S", 60)
        assert await asyncio.wait_for(telegram.raw(endless, whole=False), 5) == b""
        assert (await telegram.post(said("another"))).status_code == 200


async def test_a_second_head_on_a_kept_connection_has_its_time_too(
    idle: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.2)
    body = json.dumps(said("first")).encode()
    first = f"{SIGNED}Content-Length: {len(body)}\r\n\r\n".encode() + body
    async with porch(idle) as telegram:
        answer = await asyncio.wait_for(telegram.raw(first, b"POST /tele", whole=False), 5)
    assert answer.count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize(
    ("rest", "drop"),
    [("Content-Length: 1000000\r\n\r\n", b"x"), ("Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n")],
)
async def test_whoever_goes_on_sending_what_was_answered_already_is_hung_up_on(
    idle: Stage, monkeypatch: pytest.MonkeyPatch, rest: str, drop: bytes
) -> None:
    """Each byte would keep the connection for ever, and a thousand of those are all there are."""
    monkeypatch.setattr(connections, "HEAD_S", 0.2)
    async with porch(idle) as telegram:
        reader, writer = await asyncio.open_connection("127.0.0.1", telegram.port)
        writer.write(f"GET /nothing HTTP/1.1\r\nHost: x\r\n{rest}".encode())
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 404")

        def dripped() -> bool:
            writer.write(drop)
            return writer.transport.is_closing() or reader.at_eof()

        await wait_until(dripped, "the bot hangs up")
        writer.close()


async def test_posts_before_the_bot_is_ready_are_asked_to_come_again(idle: Stage) -> None:
    async with porch(idle) as telegram:
        await telegram.endpoint.close()
        assert (await telegram.post(said("early"))).status_code == 503
        assert (await telegram.post(said("early"), **FORGED)).status_code == 403
        telegram.endpoint.open(telegram.taking)
        assert (await telegram.post(said("now"))).status_code == 200


async def test_no_log_and_no_view_has_the_secret_or_the_token(idle: Stage) -> None:
    async def behave(_: str) -> None:
        raise LookupError(SECRET)

    Hall(idle, behave).listen()
    with structlog.testing.capture_logs() as logs:
        async with porch(idle, Pace(attempts=1)) as telegram:
            await telegram.post(said("fails"))
            await telegram.post(said("forged"), **FORGED)
            await telegram.post(b"no json")
    assert logs
    told = [{**line, "exc_info": None} for line in logs]  # the traceback's text is a handler's own
    shown = repr((told, WEBHOOK, WebhookEndpoint(WEBHOOK), await aside(idle)))
    assert SECRET not in shown
    assert "forged-secret" not in shown
    assert TOKEN not in shown


def test_a_derived_secret_is_one_that_telegram_takes_and_does_not_tell_the_token() -> None:
    secret = derived_secret(TOKEN)
    assert secret == derived_secret(TOKEN)
    assert secret != derived_secret(TOKEN + "x")
    assert len(secret) == 64
    assert set(secret) <= set("0123456789abcdef")
    assert TOKEN.partition(":")[2] not in secret


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return False

    monkeypatch.setattr("hmac.compare_digest", compare)
    answers: list[int] = []

    async def send(message: object) -> None:
        if isinstance(message, dict) and "status" in message:
            answers.append(message["status"])

    async def receive() -> dict[str, object]:
        raise AssertionError("nothing of the body is read")

    scope = {"method": "POST", "headers": [(b"x-telegram-bot-api-secret-token", SECRET.encode())]}
    asyncio.run(WebhookEndpoint(WEBHOOK)(scope, receive, send))
    assert answers == [403]
    assert compared == [(SECRET.encode(), SECRET.encode())]


class Broken(Taking):
    """Has a bug where none is expected."""

    async def take(self, raw: dict[str, Any]) -> Outcome:
        raise RuntimeError(raw)


async def test_an_error_of_our_own_is_no_receipt(idle: Stage) -> None:
    async with porch(idle) as telegram:
        telegram.endpoint.open(Broken(idle.application, idle.house.units))
        assert (await telegram.post(said("x"))).status_code == 503
