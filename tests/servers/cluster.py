"""A real cluster on loopback: three primaries, and a replica of the first."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from redis import Redis as BlockingRedis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bot.embedded import EmbeddedValkey

SLOTS: Final = 16_384
PRIMARIES: Final = 3


class Cluster:
    """Starts on entry, and is gone on exit.

    Attributes:
        nodes: the servers: three primaries with a third of the slots each, then the replica.
        ports: where they listen, in the same order.
    """

    def __init__(self, data_dir: Path) -> None:
        self.ports = _free_ports(2 * (PRIMARIES + 1))
        self._bus_ports = [self.ports.pop() for _ in range(PRIMARIES + 1)]
        self.nodes = [
            EmbeddedValkey(data_dir / str(port), options=_options(port, bus))
            for port, bus in zip(self.ports, self._bus_ports, strict=True)
        ]

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for node in self.nodes:
                node.start()
                stack.callback(node.stop)
            self._introduce()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def client(self) -> RedisCluster:
        """A client that answers bytes and finds the nodes by itself."""
        start = [ClusterNode("127.0.0.1", port) for port in self.ports]
        return RedisCluster(startup_nodes=start, retry=Retry(NoBackoff(), 0))

    def ask(self, node: int, *command: str | int) -> Any:
        """Run an operator's command on one node, and block."""
        with BlockingRedis(port=self.ports[node], decode_responses=True) as admin:
            return admin.execute_command(*command)

    def id_of(self, node: int) -> str:
        """The node's name in the cluster."""
        return str(self.ask(node, "CLUSTER", "MYID"))

    def node_of(self, slot: int) -> int:
        """Which primary has the slot from the start."""
        return slot * PRIMARIES // SLOTS

    def wait(self, command: str, text: str, among: Iterable[int] | None = None) -> None:
        """Block until each node (or each of ``among``) answers ``CLUSTER command`` with ``text`` in it."""
        deadline_s = time.monotonic() + 20
        waiting = set(range(len(self.nodes)) if among is None else among)
        while waiting:
            waiting = {node for node in waiting if text not in str(self.ask(node, "CLUSTER", command))}
            if waiting and time.monotonic() > deadline_s:
                raise RuntimeError(f"nodes {sorted(waiting)} never said {text!r} in CLUSTER {command}")
            time.sleep(0.01)

    def _introduce(self) -> None:
        for number in range(PRIMARIES):
            # The slots s with s * PRIMARIES // SLOTS == number.
            first, last = -(-number * SLOTS // PRIMARIES), -(-(number + 1) * SLOTS // PRIMARIES) - 1
            self.ask(number, "CLUSTER", "ADDSLOTSRANGE", first, last)
            self.ask(number, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for port, bus in list(zip(self.ports, self._bus_ports, strict=True))[1:]:
            self.ask(0, "CLUSTER", "MEET", "127.0.0.1", port, bus)
        self.wait("INFO", f"cluster_known_nodes:{PRIMARIES + 1}")
        self.ask(PRIMARIES, "CLUSTER", "REPLICATE", self.id_of(0))
        self.wait("INFO", "cluster_state:ok")
        self.wait("NODES", "slave")


def _options(port: int, bus_port: int) -> dict[str, str]:
    return {
        "port": str(port),
        "bind": "127.0.0.1",
        "cluster-enabled": "yes",
        "cluster-port": str(bus_port),
        "cluster-node-timeout": "2000",
        "appendonly": "no",
        "repl-diskless-sync-delay": "0",
    }


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
