"""Everything a chaos is played on: a Telegram, servers of its own, the product's processes, and links that break."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg

from bot.embedded import EmbeddedValkey
from bot.embedded_postgres import PostgresServer
from bot.fake_telegram import TOKEN, FakeTelegram, Slow, Timing
from bot.flood.servers import free_port
from tests.chaos.processes import Process, family, signal_all
from tests.cli.program import PROGRAM
from tests.lanes.proxy import Proxy

BOT: Final = "bot"
WORKERS: Final = ("worker 1", "worker 2")
VALKEY: Final = "Valkey"
POSTGRES: Final = "PostgreSQL"
VICTIMS: Final = (BOT, *WORKERS, VALKEY, POSTGRES)
CEILING: Final = 4
"""Of every room: so low that it binds."""
COOLDOWN_MS: Final = 1_000
"""Between two messages to a chat; for a few rounds, before a chat has had its twenty of a minute."""
_DATABASE: Final = "chaos"
_START_S: Final = 60.0
_LOOK_S: Final = 0.02
_SEND_MS: Final = 60
"""How long Telegram takes for a message, so that a kill meets some that are under way."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a ground is like.

    ``webhook``: the bot takes posts, else it polls. ``other``: the code of another version, that of the second worker.
    """

    webhook: bool
    lease_ms: int
    other: Path | None = None
    cooldown_ms: int = COOLDOWN_MS


class Ground:
    """Made by `opened`; all of it ends with that.

    Attributes:
        telegram: the chats, and what they showed.
        links: proxies by what they lead to: ``redis``, ``sql``, ``api``, and ``hook`` where there is a webhook.
        processes: the product's, by name.
        worker_kills: how many workers were killed so far.
        redis_missed_at_s: when Redis was last out of reach of somebody (monotonic).
    """

    def __init__(self, plan: Plan, home: Path) -> None:
        self.plan = plan
        self.home = home
        self.telegram = FakeTelegram(timing=Timing(webhook_ms=2_500, webhook_pause_ms=100, webhook_most_pause_ms=800))
        self.valkey = EmbeddedValkey(home / "data")
        self.postgres = PostgresServer(durable=True)
        self.links: dict[str, Proxy] = {}
        self.processes: dict[str, Process] = {}
        self.worker_kills = 0
        self.redis_missed_at_s = 0.0
        self._bot_port = free_port()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Ground]:
        """Start everything, and end it."""
        async with AsyncExitStack() as stack:
            stack.enter_context(self.postgres)
            self.postgres.create(name=_DATABASE)
            stack.enter_context(self.valkey)
            await stack.enter_async_context(self.telegram.serving())
            self.telegram.faults.plan(Slow(_SEND_MS), "sendMessage", times=None)
            await self._open_links(stack)
            stack.push_async_callback(self._end)
            self._migrate()
            for name in (BOT, *WORKERS):
                command = [BOT] if name == BOT else ["worker"]
                self.processes[name] = Process(name, self.home, command, self._environment(name))
                self.processes[name].start(self.plan.other if name == WORKERS[1] else None)
            for process in self.processes.values():
                await self._ready(process)
            yield self

    async def _open_links(self, stack: AsyncExitStack) -> None:
        leads: dict[str, Path | int] = {
            "redis": self.valkey.socket_path,
            "sql": self.postgres.socket_path,
            "api": int(self.telegram.url.rpartition(":")[2]),
        }
        if self.plan.webhook:
            leads["hook"] = self._bot_port
        for name, server in leads.items():
            self.links[name] = await stack.enter_async_context(Proxy(server))

    def _environment(self, name: str) -> dict[str, str]:
        common = {
            "REDIS_URL": f"redis://127.0.0.1:{self.links['redis'].port}/0",
            "DATABASE_URL": f"postgresql://postgres@127.0.0.1:{self.links['sql'].port}/{_DATABASE}",
            "TELEGRAM_TOKEN": TOKEN,
            "CODEMOJEX_TELEGRAM_API": f"http://127.0.0.1:{self.links['api'].port}",
            "CODEMOJEX_GROUP_COOLDOWN_MS": str(self.plan.cooldown_ms),
            "CODEMOJEX_ROOM_CEILING": str(CEILING),
            "CODEMOJEX_LEASE_MS": str(self.plan.lease_ms),
        }
        if name == BOT and self.plan.webhook:
            common["CODEMOJEX_WEBHOOK_URL"] = f"http://127.0.0.1:{self.links['hook'].port}/telegram"
            common["CODEMOJEX_LISTEN"] = f"127.0.0.1:{self._bot_port}"
        return common

    def _migrate(self) -> None:
        done = subprocess.run(  # noqa: S603 - our own command
            [PROGRAM, "migrate"],
            env={"PATH": os.defpath, "DATABASE_URL": self.postgres.url(_DATABASE), "TELEGRAM_TOKEN": TOKEN},
            cwd=self.home,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"`codemojex migrate` failed: {done.stdout} {done.stderr}")

    async def _ready(self, process: Process) -> None:
        async with asyncio.timeout(_START_S):
            await until(lambda: process.pid is None or process.ready)
        if process.pid is None:
            raise RuntimeError(f"{process.name} did not start; see {process.log}")

    async def _end(self) -> None:
        for process in self.processes.values():
            if process.pid is not None:
                signal_all([process.pid], signal.SIGCONT)
        await asyncio.gather(*(process.end() for process in self.processes.values()))

    def supervise(self) -> None:
        """Start those again that ended since a server was away as they started: they say so, and leave it to others."""
        for process in self.processes.values():
            if process.pid is None and not process.ready:
                process.start_again()

    def pids(self, name: str) -> list[int]:
        """The processes of a victim that run."""
        if name == VALKEY:
            return [self.valkey.pid] if self.valkey.pid is not None else []
        pid = self.postgres.pid if name == POSTGRES else self.processes[name].pid
        return [] if pid is None else family(pid)

    async def kill(self, name: str, down_s: float) -> None:
        """Kill a victim, and start it again on what it left, so much later."""
        if name == VALKEY:
            signal_all(self.pids(name), signal.SIGKILL)
        elif name == POSTGRES:
            self.postgres.kill()
        else:
            self.worker_kills += name in WORKERS
            self.processes[name].kill()
        await asyncio.sleep(down_s)
        if name == VALKEY:
            self.valkey.stop()
            self.valkey.start()
            self.links["redis"].server = self.valkey.socket_path
            self.redis_missed_at_s = time.monotonic()
        elif name == POSTGRES:
            self.postgres.spawn()
            await asyncio.to_thread(self.postgres.await_answer)
        else:
            self.processes[name].start_again()

    async def stop(self, name: str, for_s: float) -> None:
        """Stop a victim with all its processes, and let it go on so much later."""
        pids = self.pids(name)
        signal_all(pids, signal.SIGSTOP)
        try:
            await asyncio.sleep(for_s)
        finally:
            signal_all(pids, signal.SIGCONT)
            if name == VALKEY:
                self.redis_missed_at_s = time.monotonic()

    async def rows(self, query: str, *values: Any) -> list[asyncpg.Record]:
        """What SQL answers, past all links."""
        connection = await asyncpg.connect(
            host=str(self.postgres.socket_path.parent), user="postgres", database=_DATABASE, timeout=10
        )
        try:
            return await connection.fetch(query, *values, timeout=30)
        finally:
            await connection.close(timeout=5)

    def keep(self, folder: Path) -> None:
        """Copy what the processes logged."""
        folder.mkdir(parents=True, exist_ok=True)
        for log in self.home.glob("*.log"):
            shutil.copy(log, folder)


async def until(predicate: Callable[[], bool]) -> None:
    """Return once it holds; whoever waits says for how long."""
    while not predicate():  # noqa: ASYNC110 - other processes set no event of ours
        await asyncio.sleep(_LOOK_S)
