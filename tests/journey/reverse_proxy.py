"""A real nginx with the configuration that the docs give, before a real `goodbot serve`."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Final, Literal

import psutil

from programs import ROOT, blocks_of

PAGE: Final = (ROOT / "docs" / "how-to" / "run-a-search-service.md").read_text(encoding="utf-8")
SNIPPET, OWN_HOST, UNDER_PATH, UNDER_PATH_REMOVED, KEYS = blocks_of(PAGE, "nginx")
(SETTINGS,) = blocks_of(PAGE, "toml")
UNITS: Final = blocks_of(PAGE, "ini")

NGINX: Final = shutil.which("nginx") or next((path for path in ("/usr/sbin/nginx",) if Path(path).exists()), None)

Way = Literal["host of its own", "path", "path removed by nginx"]
_CONFIG: Final = """
daemon off; worker_processes 1; pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {server}
}}
"""


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: HTTPMessage


@dataclass(frozen=True)
class Service:
    """A service that visitors reach at `public_url`, by nginx on `port`; goodbot itself listens on `own_port`, and sees
    paths below `own_prefix`."""

    public_url: str
    host: str
    prefix: str
    port: int
    own_port: int
    own_prefix: str
    process: psutil.Process

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: str | None = None,
        *,
        source: str = "127.0.0.1",
        direct: bool = False,
        **headers: str,
    ) -> Answer:
        """Sends a request as a browser at the address `source` does, to nginx, or directly to goodbot. `path` is below
        the prefix; follows no redirect."""
        port, prefix = (self.own_port, self.own_prefix) if direct else (self.port, self.prefix)
        connection = HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0))
        fields = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            connection.request(method, prefix + path, body, fields)
            response = connection.getresponse()
            return Answer(response.status, response.read().decode(), response.headers)
        finally:
            connection.close()

    def post(self, path: str, body: str, source: str) -> Answer:
        """Posts a form as a page of this service does."""
        kind = "application/x-www-form-urlencoded"
        return self.ask(path, "POST", body, source=source, Content_Type=kind, Sec_Fetch_Site="same-origin")

    def connections(self) -> int:
        """Counts the connections to goodbot that are open."""
        found = self.process.net_connections("tcp")
        return sum(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == self.own_port for each in found)


@contextmanager
def served(crawl: Path, folder: Path, way: Way) -> Iterator[Service]:
    """Serves a crawl behind nginx, which is set up in one `way` of the docs. `folder` is for the files of nginx."""
    host, prefix = ("search.example.org", "") if way == "host of its own" else ("example.org", "/find")
    public_url = f"http://{host}/" if not prefix else f"https://{host}{prefix}/"
    settings = SETTINGS.replace("https://search.example.org/", public_url)
    strips = "true" if way == "path removed by nginx" else "false"
    (folder / "goodbot.toml").write_text(
        f"{settings}proxy_strips_prefix = {strips}\npage_rate = 0.1\npage_burst = 5\npost_rate = 0.1\npost_burst = 8\n"
    )
    with (
        _goodbot("serve", "--in", crawl, "--config", folder / "goodbot.toml", "--port", "0", "--json") as (
            started,
            line,
        ),
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        assert line["public_url"] == public_url
        own_port = int(str(line["url"]).rstrip("/").rpartition(":")[2])
        port = listener.getsockname()[1]
        with nginx(folder / "nginx", listener, _server(way, port, own_port)):
            own_prefix = "" if way == "path removed by nginx" else prefix
            yield Service(public_url, host, prefix, port, own_port, own_prefix, psutil.Process(started.pid))


def _server(way: Way, port: int, own_port: int) -> str:
    """Returns the server block of the docs, with the ports of this test."""
    if way == "host of its own":
        block = OWN_HOST.replace("listen 80;", f"listen 127.0.0.1:{port};").replace("listen [::]:80;", "")
    else:
        chosen = UNDER_PATH if way == "path" else UNDER_PATH_REMOVED
        block = f"server {{ listen 127.0.0.1:{port}; server_name example.org; {chosen} {KEYS} }}"
    return block.replace("127.0.0.1:8020", f"127.0.0.1:{own_port}")


@contextmanager
def _goodbot(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], Mapping[str, object]]]:
    """Runs `goodbot` until the block ends; gives the JSON that it prints first."""
    command = [sys.executable, "-W", "error", "-m", "goodbot", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        try:
            assert line, started.communicate()[1]
            yield started, json.loads(line)
        finally:
            started.terminate()
            _, log = started.communicate(timeout=60)
    assert (started.returncode, "Traceback" in log) == (0, False), log


@contextmanager
def nginx(folder: Path, listener: socket.socket, server: str) -> Iterator[None]:
    """Runs nginx with a server block until the block ends. `folder`, which does not exist yet, is for its files."""
    assert NGINX is not None
    (folder / "snippets").mkdir(parents=True)
    (folder / "snippets" / "goodbot.conf").write_text(SNIPPET)
    (folder / "nginx.conf").write_text(_CONFIG.format(folder=folder, server=server))
    command = [NGINX, "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf"), "-g", "user root;"]
    inherited = {**os.environ, "NGINX": f"{listener.fileno()};"}  # as it hands its sockets to a new version of itself
    listener.setblocking(False)
    with subprocess.Popen(command, pass_fds=(listener.fileno(),), env=inherited, stderr=subprocess.DEVNULL) as started:
        try:
            yield
        finally:
            started.terminate()
