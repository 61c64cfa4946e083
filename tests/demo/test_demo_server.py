"""The server of the sample web, over real connections."""

import gzip
import http.client
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from demo.asking import ask
from demo.expected import EXPECTED
from goodbot.demo import DemoWeb
from goodbot.errors import RunError
from goodbot.web.server.connections import ConnectionLimit
from webserver import kept_port


def _port(url: str) -> int:
    return urlsplit(url).port or 0


def test_three_sites_on_loopback(web: DemoWeb) -> None:
    assert [site.name for site in web.sites] == ["hardware", "antiques", "handbook"]
    assert len({_port(site.url) for site in web.sites}) == 3
    for site in web.sites:
        assert urlsplit(site.url).hostname == "127.0.0.1"
        with urlopen(site.url) as response:
            assert site.title in response.read().decode()


def test_fields_of_an_answer(bases: dict[str, str]) -> None:
    answer = ask(bases["hardware"] + "/hours")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["last-modified"] == "Mon, 28 Sep 2026 09:00:00 GMT"
    assert parsedate_to_datetime(answer.headers["date"])
    assert ask(bases["hardware"] + "/price-list").headers["x-robots-tag"] == "noarchive"


def test_head_is_get_without_body(bases: dict[str, str]) -> None:
    for target in ("/", "/nowhere", "/specials/acetylene-torches"):
        get, head = ask(bases["hardware"] + target), ask(bases["hardware"] + target, "HEAD")
        assert head.body == b""
        assert head.status == get.status
        assert {**head.headers, "date": ""} == {**get.headers, "date": ""}


@pytest.mark.parametrize(
    ("target", "status", "expected"),
    [
        ("/ru", 301, "/ru/"),
        ("/drafts", 301, "/drafts/"),
        ("/ru/nothing", 404, "Такой страницы нет"),
        ("/nothing", 404, "No such page"),
        ("/runaway", 404, "No such page"),
    ],
)
def test_paths_without_a_page(bases: dict[str, str], target: str, status: int, expected: str) -> None:
    answer = ask(bases["handbook"] + target)
    assert answer.status == status
    assert expected in (answer.headers["location"] if status == 301 else answer.body.decode())


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_but_get_and_head(bases: dict[str, str], method: str) -> None:
    answer = ask(bases["hardware"] + "/", method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_an_unknown_method(bases: dict[str, str]) -> None:
    assert ask(bases["hardware"] + "/", "BREW").status == 405


@pytest.mark.parametrize("accepted", ["gzip", "br;q=1, GZIP;q=0.5", "gzip, deflate, br, zstd"])
def test_gzip_for_those_who_take_it(bases: dict[str, str], accepted: str) -> None:
    url = bases["handbook"] + "/groups"
    plain, packed = ask(url), ask(url, Accept_Encoding=accepted)
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert len(packed.body) == int(packed.headers["content-length"]) < len(plain.body)
    assert gzip.decompress(packed.body) == plain.body


@pytest.mark.parametrize("accepted", ["identity", "br", "gzip;q=0", "gzip; q=0.0", "xgzip", ""])
def test_no_gzip_for_others(bases: dict[str, str], accepted: str) -> None:
    assert "content-encoding" not in ask(bases["handbook"] + "/groups", Accept_Encoding=accepted).headers


def test_some_answers_are_never_packed(bases: dict[str, str]) -> None:
    visited = [bases[found.site] + found.target for found in EXPECTED if found.state == "visited"]
    codings = {ask(url, Accept_Encoding="gzip").headers.get("content-encoding") for url in visited}
    assert codings == {None, "gzip"}


SINCE = [
    ("Mon, 28 Sep 2026 09:00:00 GMT", 304),
    ("Tue, 29 Sep 2026 09:00:00 GMT", 304),
    ("Mon, 28 Sep 2026 08:59:59 GMT", 200),
    ("yesterday", 200),
    ("Mon, 28 Sep 2026 09:00:00 -0000", 200),
]


@pytest.mark.parametrize(("since", "status"), SINCE)
def test_if_modified_since(bases: dict[str, str], since: str, status: int) -> None:
    answer = ask(bases["hardware"] + "/hours", If_Modified_Since=since)
    assert answer.status == status
    assert bool(answer.body) == (status == 200)


ODD_TARGETS = [
    "/../../server.py",
    "/..%2f..%2fserver.py",
    "/tools/../../../pages.py",
    "//etc/passwd",
    "/etc/passwd",
    "/_layout.html",
    "/_style.css",
    "/index.html",
    "/%00",
    "/hours/",
]


@pytest.mark.parametrize("target", ODD_TARGETS)
def test_nothing_but_the_pages_is_reachable(bases: dict[str, str], target: str) -> None:
    answer = ask(bases["hardware"], target=target)
    assert answer.status == 404
    assert "Not on our shelves" in answer.text


@pytest.mark.parametrize("target", ["..", "*", "hours"])
def test_what_is_neither_a_path_nor_a_url(bases: dict[str, str], target: str) -> None:
    """RFC 9112 §3.2: `*` is for OPTIONS only."""
    assert ask(bases["hardware"], target=target).status == 400


def test_a_url_of_another_site_as_target(bases: dict[str, str]) -> None:
    """The client names that site in Host, too."""
    assert ask(bases["hardware"], target="http://other.example/hours").status == 400


def test_a_whole_url_as_target(bases: dict[str, str]) -> None:
    """RFC 9112 §3.2.2."""
    assert ask(bases["hardware"], target=bases["hardware"] + "/hours?x=1").status == 200


def test_many_at_once(bases: dict[str, str]) -> None:
    urls = [bases[found.site] + found.target for found in EXPECTED if found.state == "visited"] * 3
    alone = {url: ask(url).body for url in set(urls)}
    with ThreadPoolExecutor(16) as pool:
        assert all(alone[url] == answer.body for url, answer in zip(urls, pool.map(ask, urls), strict=True))


def test_one_connection_for_many_requests(bases: dict[str, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", _port(bases["antiques"]), timeout=60)
    for target in ("/", "/nowhere", "/clocks/care"):
        connection.request("GET", target)
        connection.getresponse().read()
    first = connection.sock
    connection.request("GET", "/about")
    assert connection.getresponse().read()
    assert connection.sock is first
    connection.close()


def closed_by(connection: socket.socket, drip: bytes = b"a") -> bool:
    """Whether the server closes a connection on which bytes come now and then; waits for half a minute."""
    connection.settimeout(0.05)
    for _ in range(600):
        try:
            if connection.recv(4096) == b"":  # else the 408 that comes before the end
                return True
        except TimeoutError:
            pass
        except ConnectionResetError:
            return True
        with suppress(OSError):
            connection.sendall(drip)
    return False


@pytest.mark.parametrize("begun", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_a_head_that_comes_slowly_ends_its_connection(begun: bytes) -> None:
    whole = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with DemoWeb(limit=ConnectionLimit(16, 0.5)) as web:
        address = ("127.0.0.1", _port(web.sites[0].url))
        with socket.create_connection(address) as kept, socket.create_connection(address) as slow:
            for connection in (kept, slow):
                connection.sendall(whole)
                assert answer_on(connection) == 200
            slow.sendall(begun)
            assert closed_by(slow)
            with socket.create_connection(address) as new:
                new.sendall(begun)
                assert closed_by(new)
            kept.sendall(whole)  # what waits for its next request has more time
            assert answer_on(kept) == 200


def answer_on(connection: socket.socket) -> int:
    """The status of an answer, read to its end."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


def test_stops_cleanly_with_clients_still_there() -> None:
    threads = set(threading.enumerate())
    with ExitStack() as clients:
        ports = [clients.enter_context(kept_port()) for _ in range(3)]
        with DemoWeb(ports) as web:
            assert [_port(site.url) for site in web.sites] == ports
            idle = clients.enter_context(closing(http.client.HTTPConnection("127.0.0.1", ports[0], timeout=60)))
            idle.request("GET", "/")
            idle.getresponse().read()
            half = clients.enter_context(socket.create_connection(("127.0.0.1", ports[1])))
            half.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert set(threading.enumerate()) <= threads
        assert idle.sock.recv(1) == b""
        for port in ports:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port))
        with DemoWeb(ports) as again:
            assert [_port(site.url) for site in again.sites] == ports
            assert ask(again.sites[0].url).status == 200


def test_a_taken_port_is_one_clear_line(bases: dict[str, str]) -> None:
    taken = _port(bases["hardware"])
    threads = set(threading.enumerate())
    with pytest.raises(RunError, match=f"port {taken}"), DemoWeb((0, taken, 0)):
        pass
    assert set(threading.enumerate()) <= threads


def test_as_many_ports_as_sites() -> None:
    with pytest.raises(ValueError, match="3 sites"):
        DemoWeb((0,))
