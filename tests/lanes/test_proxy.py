"""The proxy that links are broken with does what it says, whatever its connections are up to."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from bot.embedded import EmbeddedValkey
from tests.lanes.proxy import Proxy


async def test_connections_that_end_by_themselves_do_not_keep_others_from_being_reset(valkey: EmbeddedValkey) -> None:
    async with Proxy(valkey.socket_path) as proxy:
        ending, lasting = [await asyncio.open_connection("127.0.0.1", proxy.port) for _ in range(2)]
        for _, writer in (ending, lasting):
            writer.write(b"PING\r\n")
        for reader, _ in (ending, lasting):
            assert await reader.readline() == b"+PONG\r\n"
        for passed in list(proxy._writers):
            if passed.get_extra_info("peername") == ending[1].get_extra_info("sockname"):
                passed.close()
        for _ in range(5):
            await asyncio.sleep(0)  # the moments in which the one has no socket any more, and is not forgotten yet
            proxy.reset()
        with pytest.raises(ConnectionResetError):
            await lasting[0].read()
        for _, writer in (ending, lasting):
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
