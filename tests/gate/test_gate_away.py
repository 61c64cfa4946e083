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


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_no_request_is_lost_while_the_gate_reads_its_files_again(server: Server, tmp_path: Path) -> None:
    """Every request is decided, by the old rules or by the new ones, which are in force in the end."""
    statuses: Counter[tuple[str, int]] = Counter()
    has_ended = threading.Event()

    def visit(path: str) -> None:
        connection = HTTPConnection("127.0.0.1", site.port, timeout=TIMEOUT_S)
        while not has_ended.is_set():
            connection.request("GET", path, headers={"User-Agent": GOOGLEBOT, "X-Test-Client": GOOGLE})
            answer = connection.getresponse()
            answer.read()
            statuses[path, answer.status] += 1
        connection.close()

    def is_closed(path: str) -> bool:
        return site.ask(path, GOOGLEBOT, GOOGLE).status == 403

    with running_gate(tmp_path / "gate") as gate, gated(server, tmp_path, gate) as site:
        visitors = [threading.Thread(target=visit, args=(path,)) for path in ("/page", "/private/a", "/shop/a")]
        for visitor in visitors:
            visitor.start()
        try:
            gate.robots.write_text(ROBOTS_TXT.replace("/private/", "/private/\nDisallow: /shop/", 1))
            until(lambda: is_closed("/shop/a"))
            gate.policy.write_text(POLICY + '\n[robots]\nGooglebot = "refuse"\n')
            until(lambda: is_closed("/page"))
        finally:
            has_ended.set()
            for visitor in visitors:
                visitor.join()
        asked = sum(statuses.values())
        lines = [line for line in gate.decisions("/private/a", statuses["/private/a", 403]) if line["status"] == 403]
        assert len(lines) == statuses["/private/a", 403]
        assert set(statuses) == {
            *(("/page", status) for status in (200, 403)),
            *(("/shop/a", status) for status in (200, 403)),
            ("/private/a", 403),
        }
        assert asked > 100
