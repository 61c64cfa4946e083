import json
import logging
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.errors import GoodbotError, RunError
from goodbot.web import Site, create_app, running, serve
from goodbot.web.server.log_throttle import LINES_PER_MINUTE
from web.library import SPECIMENS, Library, Visitor, served
from webserver import kept_port

TESTS = str(Path(__file__).parents[1])

SERVE = f"""
import sys
sys.path.insert(0, {TESTS!r})
from goodbot.web import Site, create_app, serve
from web.library import Library
serve(create_app(Library([]), Site("Sample")), "127.0.0.1", 0, on_ready=lambda url: print(url, flush=True))
print("ended")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serves_until_a_signal_and_prints_nothing(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        visitor = Visitor(process.stdout.readline().strip())
        assert visitor.ask("/healthz").status == 200
        assert visitor.ask("/nowhere").status == 404
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ended\n", "")


def test_a_server_under_nohup_survives_its_terminal() -> None:
    nohup = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{SERVE}"
    with subprocess.Popen([sys.executable, "-c", nohup], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        visitor = Visitor(process.stdout.readline().strip())
        process.send_signal(signal.SIGHUP)
        assert visitor.ask("/healthz").status == 200
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60)[0] == "ended\n"


def test_the_port_is_free_again() -> None:
    app = create_app(Library([]), Site("Sample"))
    with kept_port() as port:
        for _ in range(2):
            with running(app, port=port) as url:
                assert url == f"http://127.0.0.1:{port}/"
                assert Visitor(url).ask("/healthz").status == 200


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match=f"port {port} is in use on 127.0.0.1: choose another with --port"):
            serve(create_app(Library([]), Site("Sample")), "127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "line"),
    [
        ("127.0.0.1", 65536, "port 65536 does not exist"),
        ("127.0.0.1", -1, "port -1 does not exist"),
        ("192.0.2.1", 0, "192.0.2.1 is not an address of this machine: choose another with --listen"),
        ("a" * 80, 0, "is not an address of this machine"),
    ],
)
def test_addresses_that_cannot_be_listened_on(host: str, port: int, line: str) -> None:
    with pytest.raises(GoodbotError, match=line):
        serve(create_app(Library([]), Site("Sample")), host, port)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8020", 200),
        ("search.localhost", 200),
        ("localhost.:8020", 200),
        ("localhost..", 400),
        ("127.0.0.1:1", 200),
        ("[::1]:8020", 200),
        ("rebound.example", 400),
        ("127.0.0.1.rebound.example:8020", 400),
        ("localhost@rebound.example", 400),
    ],
)
def test_on_loopback_only_names_of_this_machine_are_answered(host: str, status: int) -> None:
    with served(Library(SPECIMENS)) as visitor:
        assert visitor.ask("/api/search?q=robot", Host=host).status == status


def test_without_a_crawl_only_the_checker_is_served() -> None:
    with running(create_app(None, Site("Sample"))) as url:
        visitor = Visitor(url)
        assert visitor.ask("/check").status == 200
        front = visitor.ask("/")
        assert (front.status, 'href="/check"' in front.text, 'role="search"' in front.text) == (200, True, False)
        for path in ("/search?q=robot", "/search", "/api/search?q=robot"):
            answer = visitor.ask(path)
            assert answer.status == 404
            assert "goodbot serve --in DIR" in answer.text
        assert visitor.ask("/crawl").status == 404
        assert json.loads(visitor.ask("/healthz").text) == {"ok": True, "documents": 0}
        assert "goodbot_index_documents 0.0" in visitor.ask("/metrics").text


def test_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "goodbot.web")
    library = Library(SPECIMENS)
    with running(create_app(library, Site("Sample"))) as url:
        Visitor(url).ask("/search?q=secret+words")
        library.trouble = ZeroDivisionError("a fault")
        Visitor(url).ask("/healthz")
    lines = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "goodbot.web"]
    assert lines[0] == ("INFO", f"serving on {url}")
    assert lines[1][1].startswith("GET /search: status 200 after ")
    assert lines[2] == ("ERROR", "GET /healthz failed with status 500")
    assert lines[-1] == ("INFO", f"stopped serving on {url}")
    assert "secret" not in caplog.text
    assert caplog.text.count("Traceback") == caplog.text.count("ZeroDivisionError: a fault") == 1


def test_debug_lines_are_not_throttled(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "goodbot.web")
    with running(create_app(Library([]), Site("Sample"))) as url:
        for _ in range(LINES_PER_MINUTE + 5):
            Visitor(url).ask("/robots.txt")
    assert caplog.text.count("GET /robots.txt: status 200") == LINES_PER_MINUTE + 5


def test_elsewhere_any_name_is_answered() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample")), host="0.0.0.0") as url:
        assert url.startswith("http://localhost:")
        assert Visitor(url.replace("localhost", "127.0.0.1")).ask("/", Host="search.example").status == 200
