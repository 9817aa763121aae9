"""The connection to Redis or Valkey: opened once, looked at before it is trusted.

A command is never sent twice by itself: a script whose reply came late has run, and running it again is another
matter for whoever called it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError

from bot.errors import RedisUnusable

EVICTION_MAY_LOSE_JOBS: Final = "eviction_may_lose_jobs"
TOO_FEW_REPLICAS: Final = "too_few_replicas"
_OLDEST: Final = (7,)
_CONNECT_TIMEOUT_S: Final = 5
# Longer than a worker parks, so that silence means a broken connection.
_ANSWER_TIMEOUT_S: Final = 10

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_redis(address: str) -> AsyncIterator[Redis]:
    """A client of the server at ``address``, which answers bytes; closed at the end.

    Args:
        address: ``redis://``, ``rediss://`` or ``unix://``.

    Raises:
        RedisUnusable: it is not there, refuses us, is too old, or is a replica.
    """
    where = shown(address)
    try:
        client = Redis.from_url(
            address,
            decode_responses=False,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=_ANSWER_TIMEOUT_S,
            socket_connect_timeout=_CONNECT_TIMEOUT_S,
            client_name="codemojex",
        )
    except (ValueError, RedisError):
        raise RedisUnusable("REDIS_URL can't be read; write it as redis://[:PASSWORD@]HOST:6379/0") from None
    pool = client.connection_pool
    pool.connection_class = _told_of_closed_links(pool.connection_class)
    async with client:
        await _look_at(client, where)
        yield client


def _told_of_closed_links(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    """``kind`` of connection, where a link that broke unnoticed is a ``ConnectionError`` on every event loop.

    uvloop raises a RuntimeError, which redis-py passes on; whoever is prepared for a Redis that is away is not for it.
    """

    class Told(kind):  # type: ignore[misc,valid-type] # whichever the address asks for
        async def send_packed_command(self, command: Any, check_health: bool = True) -> None:  # noqa: FBT001, FBT002 - the library's
            try:
                await super().send_packed_command(command, check_health)
            except RuntimeError as error:
                raise RedisConnectionError(f"the connection is closed ({error})") from error

    return Told


async def count_replicas(client: Redis, wanted: int, setting: str) -> None:
    """Warn where fewer replicas are connected than the ``setting`` asks for: no guess is received until they are."""
    connected = int((await client.info("replication")).get("connected_slaves", 0)) if wanted else 0
    if connected < wanted:
        remedy = f"connect {wanted - connected} more to it, or lower {setting}: no guess counts as received until then"
        _log.warning(TOO_FEW_REPLICAS, setting=setting, wanted=wanted, connected=connected, remedy=remedy)


def shown(address: str) -> str:
    """The address for people: no user, no password, no parameters."""
    parts = urlsplit(address)
    if parts.scheme == "unix":
        return parts.path
    try:
        return f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
    except ValueError:
        return parts.hostname or "localhost"


async def _look_at(client: Redis, where: str) -> None:
    try:
        told: Mapping[str, Any] = {**await client.info("server"), **await client.info("replication")}
        memory: Mapping[str, Any] = await client.info("memory")
    except (AuthenticationError, AuthorizationError):
        raise RedisUnusable(
            f"Redis at {where} refuses the user or password; correct them in REDIS_URL "
            "(redis://[USER]:PASSWORD@HOST:PORT/DB)"
        ) from None
    except NoPermissionError:
        raise RedisUnusable(f"Redis at {where} forbids this user INFO; allow it every command (+@all ~*)") from None
    except BusyLoadingError:
        raise RedisUnusable(f"Redis at {where} is still loading its data; try again when it is done") from None
    except ResponseError as error:
        raise RedisUnusable(f"Redis at {where} refuses us ({_why(error)}); correct REDIS_URL") from None
    except (RedisError, OSError) as error:
        raise RedisUnusable(f"cannot reach Redis at {where} ({_why(error)}); start it, or correct REDIS_URL") from None
    _require_fit(told, where)
    if memory.get("maxmemory_policy", "noeviction") != "noeviction":
        _log.warning(EVICTION_MAY_LOSE_JOBS, maxmemory_policy=str(memory["maxmemory_policy"]), wanted="noeviction")


def _require_fit(told: Mapping[str, Any], where: str) -> None:
    version = str(told.get("redis_version", ""))
    if "valkey_version" not in told and _numbers(version) < _OLDEST:
        raise RedisUnusable(
            f"Redis {version or '(unknown)'} at {where} is too old; upgrade it to 7 or newer, or to Valkey"
        )
    if told.get("role") == "slave":
        raise RedisUnusable(f"Redis at {where} is a replica and can't be written; point REDIS_URL at its primary")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _why(error: BaseException) -> str:
    """The operating system's words where there are some, else the driver's; never an address with a password."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TimeoutError):
            return f"no answer within {_ANSWER_TIMEOUT_S} s"
        if isinstance(cause, OSError) and (cause.errno or cause.strerror):
            refused = isinstance(cause, ConnectionRefusedError)
            return "connection refused" if refused else str(cause.strerror).lower()
        if isinstance(cause, OSError) and "Connect call failed" in str(cause):  # more than one address was tried
            return "connection refused"
        cause = cause.__cause__ or cause.__context__
    return " ".join(str(error).split()) or type(error).__name__
