"""The gate as a process of its own, and real nginx and Caddy before it, with the configurations of docs/how-to."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPConnection, HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal
from urllib.request import urlopen

from address_lists import bundled_list, write_current_lists
from programs import ROOT, blocks_of
from watch.formats.log_servers import TIMEOUT_S, free_port, program, running

Server = Literal["nginx", "caddy"]

DOCS: Final = ROOT / "docs" / "how-to"
UPSTREAM, SNIPPET, SERVER = blocks_of((DOCS / "gate-nginx.md").read_text(encoding="utf-8"), "nginx")
CADDYFILE, CADDY_EXCEPTION = blocks_of((DOCS / "gate-caddy.md").read_text(encoding="utf-8"), "caddyfile")

GOOGLEBOT: Final = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
GPTBOT: Final = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"
BINGBOT: Final = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
FIREFOX: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
FEED_READER: Final = "FreshRSS/1.24.3 (Linux; https://freshrss.org)"
CURL: Final = "curl/8.5.0"

ROBOTS_TXT: Final = """\
User-agent: *
Disallow: /private/

User-agent: GPTBot
Disallow: /shop/

User-agent: bingbot
Crawl-delay: 600

User-agent: PacedBot
Crawl-delay: 600
"""

POLICY: Final = """\
contact = "webmaster@example.org"
reverse_dns = false
proxies = ["127.0.0.1"]

[unverified]
per_minute = 0.01
burst = 3

[sites]
"open.example" = "open.txt"
"""
"""The limit is so low that no test is fast enough to see it end. `open.example` lets robots do everything."""

PAGES: Final = {
    "index.html": "the home page",
    "page": "a page",
    "private/a": "a private page",
    "shop/a": "a product",
    "robots.txt": ROBOTS_TXT,
}

_NGINX: Final = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; user root;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  large_client_header_buffers 4 64k;
  {client}
  {upstream}
  {server}
}}
"""


def address_in(list_name: str, place: int = 0) -> str:
    """An IPv4 address of a list that comes with goodbot."""
    ranges = re.findall(r"^([0-9.]+)/\d+$", bundled_list(list_name), re.MULTILINE)
    return str(ranges[place])


class RunningGate:
    """A gate on a port of its own. It can be killed, paused and started again."""

    def __init__(self, folder: Path, policy: str, rules: str) -> None:
        self.port: Final = free_port()
        self.robots: Final = folder / "robots.txt"
        self.policy: Final = folder / "gate.toml"
        self._folder: Final = folder
        self._log: Final = folder / "gate.log"
        self._started: subprocess.Popen[bytes] | None = None
        self.robots.write_text(rules)
        self.policy.write_text(policy)
        (folder / "open.txt").write_text("User-agent: *\nDisallow:\n")
        write_current_lists(folder / "data")

    def start(self) -> None:
        """Starts the gate, and waits until it is ready."""
        command = [sys.executable, "-m", "goodbot", "gate", "--json", "--robots", str(self.robots)]
        command += ["--policy", str(self.policy), "--port", str(self.port), "--log", str(self._log)]
        environment = {
            **os.environ,
            "HOME": str(self._folder),
            "XDG_CONFIG_HOME": "",
            "XDG_DATA_HOME": str(self._folder / "data"),
        }
        with (self._folder / "gate.err").open("ab") as errors:
            started = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=self._folder
            )
        self._started = started
        assert started.stdout is not None
        line = started.stdout.readline()
        assert line, (self._folder / "gate.err").read_text()
        assert json.loads(line)["url"] == f"http://127.0.0.1:{self.port}/"

    def signal(self, number: int) -> None:
        """Sends a signal."""
        assert self._started is not None
        self._started.send_signal(number)

    def end(self, *, kill: bool = False) -> None:
        """Ends the gate, if it runs."""
        started, self._started = self._started, None
        if started is not None:
            started.kill() if kill else started.terminate()
            started.communicate(timeout=TIMEOUT_S)
            assert started.returncode == (-9 if kill else 0), (self._folder / "gate.err").read_text()
        assert "Traceback" not in (self._folder / "gate.err").read_text()

    def lines(self) -> list[dict[str, Any]]:
        """The decisions that are in the log already."""
        text = self._log.read_text() if self._log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def decisions(self, path: str, count: int) -> list[dict[str, Any]]:
        """The decisions about a path, once there are `count` of them and those before them."""
        found: list[dict[str, Any]] = []

        def are_there() -> bool:
            found[:] = [line for line in self.lines() if line["uri"] == path]
            return len(found) >= count

        until(are_there)
        return found

    def metrics(self) -> str:
        """The figures for Prometheus."""
        with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=TIMEOUT_S) as answer:
            return str(answer.read().decode())


@contextmanager
def running_gate(
    folder: Path,
    policy: str = POLICY,
    rules: str = ROBOTS_TXT,
    others: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[RunningGate]:
    """Runs a gate until the block ends. `others` are files beside its policy."""
    folder.mkdir()
    for name, text in others.items():
        (folder / name).write_text(text)
    gate = RunningGate(folder, policy, rules)
    try:
        gate.start()
        yield gate
    finally:
        gate.end()


def until(condition: Callable[[], bool]) -> None:
    """Waits until another process has brought something about; fails after a minute."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@dataclass(frozen=True)
class Answered:
    """An answer to a client of the Web server."""

    status: int
    fields: HTTPMessage
    text: str


@dataclass(frozen=True)
class GatedSite:
    """A site behind the gate."""

    server: Server
    port: int
    gate: RunningGate

    def ask(
        self,
        path: str,
        agent: str,
        client: str = "",
        method: str = "GET",
        body: bytes | None = None,
        *,
        source: str = "127.0.0.1",
        fields: Mapping[str, str] = MappingProxyType({}),
    ) -> Answered:
        """Sends a request. `client` is the address from which the server takes it to come; `source` that from which it
        does come."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S, source_address=(source, 0))
        sent = {"Host": "www.example.org", **fields}
        sent |= ({"User-Agent": agent} if agent else {}) | ({"X-Test-Client": client} if client else {})
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answered(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()


class _Application(BaseHTTPRequestHandler):
    """An application behind the server: answers with the status in the path, and says what it got."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status = self.path.removeprefix("/app/")
        text = f"{self.command} {len(body)} {sha256(body).hexdigest()}".encode()
        self.send_response(int(status) if status.isdecimal() else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def application() -> Iterator[int]:
    """Runs the application; gives its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Application) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def gated(
    server: Server,
    folder: Path,
    gate: RunningGate,
    *,
    trusts_test: bool = True,
    change: Callable[[str], str] = str,
    more: str = "",
) -> Iterator[GatedSite]:
    """Runs a server with the configuration of its page. With `trusts_test` it takes the client's address from
    X-Test-Client. `change` changes the configuration of the page, `more` comes into the site."""
    for name, text in PAGES.items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(text)
    port = free_port()
    with application() as application_port:
        places = {
            "/var/www/html": f"{folder}/site",
            "127.0.0.1:8000": f"127.0.0.1:{application_port}",
            "127.0.0.1:8030": f"127.0.0.1:{gate.port}",
        }
        make = _nginx if server == "nginx" else _caddy
        command = make(folder, port, places, change, more, trusts_test=trusts_test)
        with running(command, port, folder):
            yield GatedSite(server, port, gate)


def _replaced(text: str, places: dict[str, str]) -> str:
    for of_page, here in places.items():
        assert of_page in text
        text = text.replace(of_page, here)
    return text


def _nginx(
    folder: Path, port: int, places: dict[str, str], change: Callable[[str], str], more: str, *, trusts_test: bool
) -> list[str]:
    (folder / "snippets").mkdir()
    (folder / "snippets" / "goodbot-gate.conf").write_text(change(SNIPPET))
    server = SERVER.rstrip().removesuffix("}") + more + "}"
    text = _replaced(UPSTREAM + server, {**places, "listen 80;": f"listen 127.0.0.1:{port};"})
    client = "set_real_ip_from 127.0.0.1; real_ip_header X-Test-Client;" if trusts_test else ""
    upstream, _, server = text.partition("server {\n    listen")
    config = _NGINX.format(folder=folder, client=client, upstream=upstream, server=f"server {{\n    listen{server}")
    (folder / "nginx.conf").write_text(config)
    return [program("nginx", "nginx-light"), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def _caddy(
    folder: Path, port: int, places: dict[str, str], change: Callable[[str], str], more: str, *, trusts_test: bool
) -> list[str]:
    text = _replaced(
        CADDYFILE,
        {
            **places,
            "www.example.org {": f"http://:{port} {{\nbind 127.0.0.1\n{more}",
            "127.0.0.1:8039": f"127.0.0.1:{free_port()}",
        },
    )
    if trusts_test:
        line = "header_up X-Forwarded-Uri {http.request.orig_uri}\n"
        text = _replaced(text, {line: f"{line}header_up X-Forwarded-For {{http.request.header.X-Test-Client}}\n"})
    (folder / "Caddyfile").write_text("{\nadmin off\nauto_https off\n}\n" + change(text))
    return [program("caddy", "caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
