"""Logs: one shape, and never a token, a password or a secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from bot.logs import configure
from engine.game.ports import Drawn
from tests.bot.api import TOKEN

SECRET = ("0a00", "0b00", "0c00", "0d00", "0e00", "0f00")
NONCE = "00112233445566778899aabbccddeeff"


@pytest.fixture(autouse=True)
def settings_of_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    quiet = {name: logging.getLogger(name).level for name in ("httpx", "httpcore", "telegram", "sqlalchemy", "asyncio")}
    yield
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level
    for name, before in quiet.items():
        logging.getLogger(name).setLevel(before)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(
    "said",
    [
        {"error": f"POST https://api.telegram.org/bot{TOKEN}/getMe"},
        {"token": TOKEN},
        {"deep": {"er": [{"token": TOKEN}, (f"x {TOKEN} y",)]}},
        {"secret": SECRET, "nonce": NONCE},
        {"round": {"secret": list(SECRET), "round_nonce": NONCE}},
        {"what": f"Round(secret={SECRET!r}, nonce={NONCE!r})"},
        {"what": json.dumps({"secret": SECRET, "nonce": NONCE})},
        {"drawn": Drawn(("1100",), SECRET, NONCE)},
        {"url": f"redis://user:{NONCE}@host:6379/0"},
        {f"key {TOKEN}": 1},
    ],
)
def test_no_field_carries_a_token_or_a_secret(said: dict[str, Any], *, as_json: bool) -> None:
    stream = io.StringIO()
    configure("debug", json=as_json, stream=stream)
    structlog.get_logger("t").warning("said", **said)
    logging.getLogger("t").warning("said %s", said)
    text = stream.getvalue()
    assert text.count("said") >= 2
    for hidden in (TOKEN, NONCE, SECRET[0], SECRET[5]):
        assert hidden not in text


def leak() -> None:
    refused = ValueError(f"The token `{TOKEN}` was rejected by the server.")
    raise RuntimeError(f"nonce={NONCE} of {{'secret': {SECRET!r}}}") from refused


@pytest.mark.parametrize("as_json", [True, False])
def test_no_traceback_carries_a_token_or_a_secret(*, as_json: bool) -> None:
    stream = io.StringIO()
    configure("info", json=as_json, stream=stream)
    try:
        leak()
    except RuntimeError as error:
        structlog.get_logger("t").error("failed", exc_info=error)
        logging.getLogger("t").exception("failed")
    text = stream.getvalue()
    assert text.count("RuntimeError: nonce=") == 2
    for hidden in (TOKEN, NONCE, SECRET[0], SECRET[5]):
        assert hidden not in text


def test_the_http_client_does_not_log_its_addresses() -> None:
    stream = io.StringIO()
    configure("debug", json=True, stream=stream)
    logging.getLogger("httpx").info('HTTP Request: POST https://api.telegram.org/bot%s/getMe "200 OK"', TOKEN)
    assert stream.getvalue() == ""


def test_ours_and_the_libraries_lines_have_one_shape() -> None:
    stream = io.StringIO()
    configure("INFO", json=True, stream=stream)
    with structlog.contextvars.bound_contextvars(update_id=7):
        structlog.get_logger("ours").info("taken", room="ROM1", token=12)
    structlog.get_logger("ours").debug("unseen")
    logging.getLogger("theirs").warning("slow %d", 3)
    ours, theirs = lines(stream)
    assert ours.items() >= {"event": "taken", "level": "info", "logger": "ours", "room": "ROM1", "update_id": 7}.items()
    assert ours["token"] == 12  # a fencing token is a number, and no secret
    assert theirs.items() >= {"event": "slow 3", "level": "warning", "logger": "theirs"}.items()
    assert ours.keys() - {"room", "update_id", "token"} == theirs.keys()


def test_setting_up_twice_writes_each_line_once() -> None:
    stream = io.StringIO()
    configure("info", json=True, stream=io.StringIO())
    configure("info", json=True, stream=stream)
    structlog.get_logger("t").info("once")
    assert len(lines(stream)) == 1
