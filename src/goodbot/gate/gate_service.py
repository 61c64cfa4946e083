"""The gate as a service: answers the requests of Web servers, and has pages about itself."""

import asyncio
import logging
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from goodbot.gate.answers import Answer, answer_to
from goodbot.gate.decision import Gate
from goodbot.gate.gate_log import DecisionLog, log_line
from goodbot.gate.gate_metrics import Figure, GateMetrics
from goodbot.gate.gate_protocol import SWEEP_EVERY_S, Connections, GateProtocol
from goodbot.gate.gate_request import is_forwarded, read_request
from goodbot.gate.rate_limits import RateLimits
from goodbot.watch.addresses import AddressRanges, packed_address

BACKLOG: Final = 1024
"""Connections that the kernel holds until they are accepted."""

LINGER_S: Final = 0.5
"""How long the service waits for answers to be read when it stops."""

_TEXT: Final = "text/plain; charset=utf-8"
_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateState:
    """What a reload replaces as a whole."""

    gate: Gate
    proxies: AddressRanges
    problems: Callable[[], dict[str, str]]
    """Why each robots.txt could not be read the last time; empty text if it could."""
    figures: tuple[Figure, ...] = ()
    """More counters for /metrics."""


class GateService:
    """Answers requests by the state in force. `log`: None logs no decisions."""

    def __init__(self, state: GateState, limits: RateLimits, log: DecisionLog | None, connections: Connections) -> None:
        self.state = state
        self._limits = limits
        self._decision_log = log
        self._connections = connections
        self._metrics = GateMetrics()
        self._has_warned = False
        self.failures = 0
        """Requests for which the gate itself failed; they were let through."""

    def answer(self, method: str, target: str, fields: list[tuple[bytes, bytes]], peer: str | None) -> Answer:
        """See `Answering`."""
        if not is_forwarded(fields):
            path = target.partition("?")[0]
            if path == "/healthz":
                return Answer(200, (("Cache-Control", "no-store"),), self._health(), _TEXT)
            if path == "/metrics":
                return Answer(200, (("Cache-Control", "no-store"),), self._figures(), _METRICS)
        try:
            return self._decided(method, target, fields, peer)
        except Exception:  # noqa: BLE001  (any: a mistake of ours must not close a site)
            self.failures += 1
            _log.exception("a request was let through, because the gate failed")
            return Answer(200, (("X-Goodbot-Decision", "failed"),))

    def _decided(self, method: str, target: str, fields: list[tuple[bytes, bytes]], peer: str | None) -> Answer:
        state, began_s = self.state, time.monotonic()
        request = read_request(method, target, fields, peer, state.proxies)
        if request.client == peer and peer is not None:
            self._warn_of_strange_proxy(fields, peer)
        now = time.time()
        decision = state.gate.decide(request, now, began_s)
        answer = answer_to(request, decision, state.gate.policy)
        if self._decision_log is not None:
            status = 200 if state.gate.policy.mode == "observe" else decision.status
            self._decision_log.write(log_line(request, decision, status, now))
        self._metrics.decided(decision, time.monotonic() - began_s)
        return answer

    def _warn_of_strange_proxy(self, fields: list[tuple[bytes, bytes]], peer: str) -> None:
        packed = packed_address(peer)
        if self._has_warned or packed is None or packed in self.state.proxies:
            return
        if any(name in (b"x-forwarded-for", b"x-real-ip") for name, _ in fields):
            self._has_warned = True
            _log.warning(
                "%s sends the addresses of clients, but is not among the proxies, so the gate takes it for the client."
                " If it is your Web server, add it to proxies in gate.toml",
                peer,
            )

    def _health(self) -> str:
        problems = {place: why for place, why in self.state.problems().items() if why}
        lines = ["ok", f"mode: {self.state.gate.policy.mode}"]
        lines += [f"not readable: {place}: {why}" for place, why in problems.items()]
        return "\n".join(lines) + "\n"

    def _figures(self) -> str:
        log = self._decision_log
        counts: list[Figure] = [
            ("goodbot_gate_failures", "Requests let through because the gate failed", lambda: self.failures),
            ("goodbot_gate_log_lines_lost", "Decisions that could not be logged", lambda: log.lost if log else 0),
            ("goodbot_gate_connections_refused", "Connections beyond the limit", lambda: self._connections.refused),
            *self.state.figures,
        ]
        gauges: list[Figure] = [
            ("goodbot_gate_connections", "Open connections", lambda: len(self._connections)),
            (
                "goodbot_gate_remembered_paces",
                "Addresses, networks and robots whose pace is remembered",
                lambda: len(self._limits),
            ),
            (
                "goodbot_gate_enforcing",
                "1 in mode enforce, 0 in mode observe",
                lambda: float(self.state.gate.policy.mode == "enforce"),
            ),
        ]
        return self._metrics.text(counts, gauges, self.state.problems()).decode()


async def run(
    service: GateService,
    connections: Connections,
    listener: socket.socket,
    on_ready: Callable[[], None],
    keep_current: Callable[[], Awaitable[None]],
    stop: asyncio.Event,
) -> None:
    """Answers on `listener` until `stop` is set. `keep_current` runs beside it, and is cancelled at the end."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: GateProtocol(service, connections), sock=listener, backlog=BACKLOG)
    tasks = [loop.create_task(_sweep(connections)), loop.create_task(_kept(keep_current))]
    try:
        on_ready()
        await stop.wait()
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await connections.close(LINGER_S)


async def _sweep(connections: Connections) -> None:
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(SWEEP_EVERY_S)
        connections.sweep(loop.time())


async def _kept(keep_current: Callable[[], Awaitable[None]]) -> None:
    try:
        await keep_current()
    except Exception:
        _log.exception("the gate no longer notices changes of its files: restart it")
        raise
