"""What nginx and Caddy do while the gate is away, and while it reads its files again."""

import re
import signal
import threading
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Final, get_args

import pytest

from gate.gate_servers import (
    FIREFOX,
    GOOGLEBOT,
    POLICY,
    ROBOTS_TXT,
    GatedSite,
    Server,
    address_in,
    gated,
    running_gate,
    until,
)
from watch.formats.log_servers import TIMEOUT_S

GOOGLE: Final = address_in("google-common")

SERVERS: Final = get_args(Server)

CLOSED: Final[dict[Server, tuple[Callable[[str], str], int]]] = {
    "nginx": (lambda text: text.replace("return 204;  # let", "return 500;  # let"), 500),
    "caddy": (
        lambda text: re.sub(r"(forward_auth \S+) \S+|^\s*(?:lb_|fail_)\w+ .*", r"\1", text, flags=re.MULTILINE),
        502,
    ),
}
"""The change that a page names to refuse requests while the gate is away, and the status that clients get."""


def violate(site: GatedSite, method: str = "GET", body: bytes | None = None) -> int:
    """The status of a request that robots.txt disallows."""
    return site.ask("/app/private" if body else "/private/a", GOOGLEBOT, GOOGLE, method, body).status


@pytest.mark.parametrize("server", SERVERS)
def test_requests_pass_while_the_gate_is_away(server: Server, tmp_path: Path) -> None:
    with running_gate(tmp_path / "gate") as gate, gated(server, tmp_path, gate) as site:
        assert violate(site) == 403
        gate.end(kill=True)
        body = b"x" * 1_000_000
        assert [violate(site) for _ in range(5)] == [200] * 5
        assert [site.ask("/app/x", FIREFOX, "198.51.100.1", "POST", body).status for _ in range(3)] == [200] * 3
        assert [site.ask(f"/app/{status}", FIREFOX).status for status in (403, 404, 500)] == [403, 404, 500]
        gate.start()
        until(lambda: violate(site) == 403)
        assert [violate(site) for _ in range(5)] == [403] * 5


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_requests_pass_while_the_gate_does_not_answer(server: Server, tmp_path: Path) -> None:
    with running_gate(tmp_path / "gate") as gate, gated(server, tmp_path, gate) as site:
        assert violate(site) == 403
        gate.signal(signal.SIGSTOP)
        try:
            assert [violate(site) for _ in range(3)] == [200] * 3
            assert site.ask("/app/x", FIREFOX, "198.51.100.1", "POST", b"x" * 100_000).status == 200
        finally:
            gate.signal(signal.SIGCONT)
        until(lambda: violate(site) == 403)


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_a_gate_that_is_started_after_the_server(server: Server, tmp_path: Path) -> None:
    with running_gate(tmp_path / "gate") as gate:
        gate.end()
        with gated(server, tmp_path, gate) as site:
            assert violate(site) == 200
            gate.start()
            until(lambda: violate(site) == 403)


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_requests_are_refused_if_the_line_is_changed(server: Server, tmp_path: Path) -> None:
    change, status = CLOSED[server]
    with (
        running_gate(tmp_path / "gate") as gate,
        gated(server, tmp_path, gate, change=change) as site,
    ):
        assert (violate(site), site.ask("/page", FIREFOX).status) == (403, 200)
        gate.end()
        assert {site.ask("/page", FIREFOX).status for _ in range(5)} == {status}
        gate.start()
        until(lambda: site.ask("/page", FIREFOX).status == 200)


class Visitors:
    """Threads that ask for pages over connections of their own until the block ends; one of them posts."""

    PATHS: Final = ("/page", "/private/a", "/shop/a", "/app/posted")

    def __init__(self, site: GatedSite) -> None:
        self._site = site
        self._has_ended = threading.Event()
        self._threads = [threading.Thread(target=self._visit, args=(path,)) for path in self.PATHS]
        self.statuses: Counter[tuple[str, int]] = Counter()

    def __enter__(self) -> "Visitors":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        for thread in self._threads:
            thread.join()

    def _visit(self, path: str) -> None:
        connection = HTTPConnection("127.0.0.1", self._site.port, timeout=TIMEOUT_S)
        method, body = ("POST", b"x" * 5000) if path == "/app/posted" else ("GET", None)
        while not self._has_ended.is_set():
            connection.request(method, path, body, {"User-Agent": GOOGLEBOT, "X-Test-Client": GOOGLE})
            answer = connection.getresponse()
            answer.read()
            self.statuses[path, answer.status] += 1
        connection.close()


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_no_request_is_lost_while_the_gate_reads_its_files_again(server: Server, tmp_path: Path) -> None:
    """Every request is decided, by the old rules or by the new ones, which are in force in the end."""
    more = 0

    def is_closed(path: str) -> bool:
        nonlocal more
        more += 1
        return site.ask(path, GOOGLEBOT, GOOGLE).status == 403

    with running_gate(tmp_path / "gate") as gate, gated(server, tmp_path, gate) as site:
        with Visitors(site) as visitors:
            gate.robots.write_text(ROBOTS_TXT.replace("/private/", "/private/\nDisallow: /shop/", 1))
            until(lambda: is_closed("/shop/a"))
            gate.policy.write_text(POLICY + '\n[robots]\nGooglebot = "refuse"\n')
            until(lambda: is_closed("/page"))
            until(lambda: all(visitors.statuses[path, 403] for path in Visitors.PATHS))
        statuses = visitors.statuses
        assert set(statuses) == {
            *((path, status) for path in ("/page", "/shop/a", "/app/posted") for status in (200, 403)),
            ("/private/a", 403),
        }
        until(lambda: len(gate.lines()) >= statuses.total() + more)
        lines = gate.lines()
        assert len(lines) == statuses.total() + more > 100
        refused = sum(count for (_, status), count in statuses.items() if status == 403)
        assert sum(line["status"] == 403 for line in lines) == refused + 2


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_no_request_fails_while_the_gate_is_killed_and_started(server: Server, tmp_path: Path) -> None:
    with running_gate(tmp_path / "gate") as gate, gated(server, tmp_path, gate) as site:
        with Visitors(site) as visitors:
            for kill in (True, False):
                until(lambda: violate(site) == 403)
                gate.end(kill=kill)
                assert violate(site) == 200
                gate.start()
            until(lambda: violate(site) == 403)
        assert set(visitors.statuses) == {
            *((path, 200) for path in Visitors.PATHS),
            ("/private/a", 403),
        }
