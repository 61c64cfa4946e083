"""Real servers that write access logs: nginx, Apache and Caddy, each with the configuration of a test."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import Final

import pytest

TIMEOUT_S: Final = 60
TIME_ZONE: Final = "HERE-5:30"
"""As POSIX writes 5 hours 30 minutes east of Greenwich."""
OFFSET_S: Final = 19_800
MODULES: Final = Path("/usr/lib/apache2/modules")

NGINX_FORMATS: Final = {
    "combined": "",
    "main": """log_format main '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
        '"$http_referer" "$http_user_agent" "$http_x_forwarded_for"';""",
    "timed": """log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
        '"$http_referer" "$http_user_agent" $request_time $upstream_response_time';""",
    "named": """log_format named '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
        '"$http_referer" "$http_user_agent" "$http_x_forwarded_for" rt=$request_time uct="$upstream_connect_time" '
        'urt="$upstream_response_time"';""",
    "iso": """log_format iso '$host:$server_port $remote_addr - $remote_user [$time_iso8601] "$request" $status '
        '$body_bytes_sent "$http_referer" "$http_user_agent"';""",
    "json": """log_format json escape=json '{"time_local":"$time_local","remote_addr":"$remote_addr",'
        '"request":"$request","status":"$status","body_bytes_sent":"$body_bytes_sent",'
        '"request_time":"$request_time","http_referrer":"$http_referer","http_user_agent":"$http_user_agent",'
        '"http_x_forwarded_for":"$http_x_forwarded_for"}';""",
    "numbers": """log_format numbers escape=json '{"msec":$msec,"remote_addr":"$remote_addr",'
        '"request_method":"$request_method","request_uri":"$request_uri","server_protocol":"$server_protocol",'
        '"status":$status,"bytes_sent":$bytes_sent,"request_time":$request_time,"http_user_agent":"$http_user_agent"}';""",
}

APACHE_FORMATS: Final = {
    "common": r'"%h %l %u %t \"%r\" %>s %b"',
    "combined": r'"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""',
    "vhost_combined": r'"%v:%p %h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""',
    "combinedio": r'"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %I %O"',
    "microseconds": r'"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D"',
    "own": r'"%{usec}t|%a|%m %U%q %H|%>s|%B|%{ms}T|%{X-Forwarded-For}i|%{User-Agent}i"',
}

SIGNED_NGINX: Final = {
    "signed": """log_format signed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
        '"$http_referer" "$http_user_agent" "$http_host" "$http_signature_input" "$http_signature" '
        '"$http_signature_agent"';""",
    "signed_json": """log_format signed_json escape=json '{"time_iso8601":"$time_iso8601","remote_addr":"$remote_addr",'
        '"request":"$request","status":"$status","http_user_agent":"$http_user_agent","http_host":"$http_host",'
        '"http_signature_input":"$http_signature_input","http_signature":"$http_signature",'
        '"http_signature_agent":"$http_signature_agent"}';""",
    "combined": "",
}
SIGNED_APACHE: Final = {
    "signed": (
        r'"%h %l %u %t \"%r\" %>s %b \"%{User-Agent}i\" \"%{Host}i\" \"%{Signature-Input}i\" \"%{Signature}i\" '
        r'\"%{Signature-Agent}i\""'
    ),
}
"""Formats with the signatures of requests."""

_NGINX: Final = """
daemon off; master_process off; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {formats}
  server {{
    listen 127.0.0.1:{port}; {ipv6}
    server_name example.org;
    {logs}
    location = /old {{ return 301 /new; }}
    location = /gone {{ return 410; }}
    location / {{ return 200 "a page\\n"; }}
  }}
}}
"""

_APACHE: Final = """
ServerRoot "{folder}"
PidFile "{folder}/apache.pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/error.log"
ServerName example.org
Listen 127.0.0.1:{port}
{ipv6}
{modules}
User www-data
Group www-data
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
DocumentRoot "{documents}"
RedirectMatch 410 ^/gone
Redirect 301 /old /new
<Location "/page">
  SetHandler server-status
</Location>
{logs}
"""

_CADDY: Final = """
{{
  admin off
  auto_https off
}}
http://:{port} {{
  bind 127.0.0.1 {ipv6}
  log {{
    output file {folder}/caddy.log
  }}
  redir /old /new 301
  respond /gone 410
  respond "a page"
}}
"""


@dataclass(frozen=True, slots=True)
class LogServer:
    """A server on loopback, and the logs it writes: their names are those of the formats."""

    port: int
    logs: dict[str, Path]


def has_ipv6() -> bool:
    """Whether this machine has ::1."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@contextmanager
def nginx(folder: Path, formats: Mapping[str, str] = NGINX_FORMATS) -> Iterator[LogServer]:
    """Runs nginx, which writes a log in each of the formats."""
    port = free_port()
    logs = {name: folder / f"{name}.log" for name in formats}
    (folder / "nginx.conf").write_text(
        _NGINX.format(
            folder=folder,
            port=port,
            ipv6=f"listen [::1]:{port};" if has_ipv6() else "",
            formats="\n".join(formats.values()),
            logs="\n".join(f"access_log {path} {name};" for name, path in logs.items()),
        )
    )
    command = [program("nginx", "nginx-light"), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    with running(command, port, folder):
        yield LogServer(port, logs)


@contextmanager
def apache(folder: Path, formats: Mapping[str, str] = APACHE_FORMATS) -> Iterator[LogServer]:
    """Runs Apache, which writes a log in each of the formats."""
    port = free_port()
    logs = {name: folder / f"{name}.log" for name in formats}
    modules = ("mpm_event", "authz_core", "alias", "status")
    (folder / "apache.conf").write_text(
        _APACHE.format(
            folder=folder,
            port=port,
            ipv6=f"Listen [::1]:{port}" if has_ipv6() else "",
            documents=MODULES,
            modules="\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in modules),
            logs="\n".join(f'CustomLog "{path}" {formats[name]}' for name, path in logs.items()),
        )
    )
    command = [program("apache2", "apache2-bin"), "-D", "FOREGROUND", "-f", str(folder / "apache.conf")]
    with running(command, port, folder):
        yield LogServer(port, logs)


@contextmanager
def caddy(folder: Path) -> Iterator[LogServer]:
    """Runs Caddy, whose log is JSON."""
    port = free_port()
    ipv6 = "::1" if has_ipv6() else ""
    (folder / "Caddyfile").write_text(_CADDY.format(folder=folder, port=port, ipv6=ipv6))
    command = [program("caddy", "caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with running(command, port, folder):
        yield LogServer(port, {"json": folder / "caddy.log"})


def program(name: str, package: str) -> str:
    """Returns the path of a server program. Without it the tests fail, so that they are not forgotten."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.fail(f"these tests need {name}: apt install {package}")
    return found


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Runs a server from the time it accepts connections until the block ends."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "LANG": "C", "TZ": TIME_ZONE}
    with (
        (folder / "output.txt").open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment) as started,
    ):
        try:
            _wait_for(port, started, folder)
            yield
        finally:
            started.terminate()
            started.wait(TIMEOUT_S)


def _wait_for(port: int, started: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        assert started.poll() is None, (folder / "output.txt").read_text(errors="replace")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    pytest.fail(f"no server at port {port} after {TIMEOUT_S} s")


def free_port() -> int:
    """Returns a port of loopback on which nobody listens. It is below those that the system gives to connections, so
    that it stays free until a server is started on it."""
    while True:
        port = SystemRandom().randrange(10_000, 32_768)  # Hypothesis gives all workers the same usual numbers
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
