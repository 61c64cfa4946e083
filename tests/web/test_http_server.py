import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.errors import GoodbotError, RunError
from goodbot.web import create_app, running, serve
from web.library import SPECIMENS, Library, Visitor, served
from webserver import kept_port

TESTS = str(Path(__file__).parents[1])

SERVE = f"""
import sys
sys.path.insert(0, {TESTS!r})
from goodbot.web import create_app, serve
from web.library import Library
serve(create_app(Library([]), "Sample"), "127.0.0.1", 0, on_ready=lambda url: print(url, flush=True))
print("ended")
"""


def test_serves_until_ctrl_c_and_prints_nothing() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        visitor = Visitor(process.stdout.readline().strip())
        assert visitor.ask("/healthz").status == 200
        assert visitor.ask("/nowhere").status == 404
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ended\n", "")


def test_the_port_is_free_again() -> None:
    app = create_app(Library([]), "Sample")
    with kept_port() as port:
        for _ in range(2):
            with running(app, port=port) as url:
                assert url == f"http://127.0.0.1:{port}/"
                assert Visitor(url).ask("/healthz").status == 200


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match=f"port {port} is in use on 127.0.0.1: choose another with --port"):
            serve(create_app(Library([]), "Sample"), "127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "line"),
    [
        ("127.0.0.1", 65536, "port 65536 does not exist"),
        ("127.0.0.1", -1, "port -1 does not exist"),
        ("192.0.2.1", 0, "192.0.2.1 is no address of this machine: choose another with --host"),
        ("a" * 80, 0, "is no address of this machine"),
    ],
)
def test_addresses_that_cannot_be_had(host: str, port: int, line: str) -> None:
    with pytest.raises(GoodbotError, match=line):
        serve(create_app(Library([]), "Sample"), host, port)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8020", 200),
        ("search.localhost", 200),
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


def test_elsewhere_any_name_is_answered() -> None:
    with running(create_app(Library(SPECIMENS), "Sample"), host="0.0.0.0") as url:
        assert url.startswith("http://localhost:")
        assert Visitor(url.replace("localhost", "127.0.0.1")).ask("/", Host="search.example").status == 200
