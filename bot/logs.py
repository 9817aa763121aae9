"""Structured logs, set up once: JSON lines for programs, coloured lines for people, never a token or a secret.

Every line goes through ``redact`` last, also those of libraries, whatever made it: a field, an error's text, a
traceback. Event names are constants (``bot.events``, ``engine.workers.events``); ids and counts are fields.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from typing import Final, TextIO

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

_REDACTED: Final = "[redacted]"
_HIDDEN_FIELDS: Final = re.compile(r"secret|nonce|token|password", re.IGNORECASE)
_A_VALUE: Final = r"""\([^)]*\)?|\[[^]]*\]?|"[^"]*"?|'[^']*'?|[^\s,)]+"""
_HIDDEN_TEXT: Final = (
    (re.compile(r"\d+:[\w-]{30,}"), _REDACTED),
    (re.compile(r"(?<=://)([^/@\s:]*):[^@\s]*@"), rf"\1:{_REDACTED}@"),
    (re.compile(rf"""(\b\w*(?:secret|nonce)\w*["']?\s*[=:]\s*)({_A_VALUE})""", re.IGNORECASE), rf"\1{_REDACTED}"),
)
"""Bot tokens, passwords in addresses, and secrets inside the text of values and errors."""
_QUIET: Final = ("httpx", "httpcore", "telegram", "aiosqlite", "sqlalchemy", "alembic", "asyncio", "uvicorn")
"""Libraries that say too much below WARNING; httpx says the token in every address."""


def configure(level: str, *, json: bool, stream: TextIO = sys.stderr) -> None:
    """Set up structlog and the standard library's logging, in place of whatever was set up before.

    Args:
        level: the lowest level that is written, as ``logging`` names it, in any case.
        json: a JSON object a line; else lines for people.
        stream: where lines go.
    """
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*before, structlog.stdlib.PositionalArgumentsFormatter()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                redact,
                _renderer(stream, json=json),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Take tokens, passwords, secrets and nonces out of every field, at any depth."""
    return {redacted(name): _field(name, value) for name, value in event.items()}


def _field(name: object, value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value  # a fencing token is a number, and no secret
    if isinstance(name, str) and _HIDDEN_FIELDS.search(name):
        return _REDACTED
    if isinstance(value, Mapping):
        return {redacted(str(key)): _field(key, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_field(None, inner) for inner in value]
    return redacted(value if isinstance(value, str) else repr(value))


def redacted(text: str) -> str:
    """``text`` without the bot tokens, passwords and secrets that can be told by their looks."""
    for pattern, instead in _HIDDEN_TEXT:
        text = pattern.sub(instead, text)
    return text


def _renderer(stream: TextIO, *, json: bool) -> Processor:
    if json:
        return structlog.processors.JSONRenderer(ensure_ascii=False, sort_keys=True)
    # The traceback is formatted (and redacted) before, so nothing here may format it again.
    return structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)
