"""Real servers with an export in their configuration. The client's address is that in X-Real-IP, which each server is
configured to believe."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from goodbot.gate.export import Format
from goodbot.watch.remedies.targets import Remedy
from watch.formats.log_servers import MODULES, TIMEOUT_S, free_port, program, running

_NGINX: Final = """
daemon off; master_process off; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  set_real_ip_from 127.0.0.0/8; real_ip_header X-Real-IP;
  keepalive_requests 100000;
{http}
  server {{
    listen 127.0.0.1:{port};
    root {folder};
{server}
    location / {{ try_files /page =404; }}
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
{modules}
User www-data
Group www-data
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
MaxKeepAliveRequests 0
KeepAliveTimeout 600
Timeout 600
RemoteIPHeader X-Real-IP
RemoteIPInternalProxy 127.0.0.0/8
DocumentRoot "{documents}"
<VirtualHost 127.0.0.1:{port}>
AllowEncodedSlashes On
<Location "/">
  SetHandler server-status
</Location>
{config}
</VirtualHost>
"""

_CADDY: Final = """
{{
  admin off
  auto_https off
}}
{snippet}
http://:{port} {{
  bind 127.0.0.1
  {site}
  respond "a page" 200
}}
"""

_HAPROXY: Final = """
global
  maxconn 64
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend site
  bind 127.0.0.1:{port}
  http-request set-src hdr(x-real-ip) if {{ req.hdr(x-real-ip) -m found }}
{rules}
  http-request return status 200 content-type text/plain string ok
{sections}
"""

_APACHE_MODULES: Final = ("mpm_event", "authz_core", "authz_host", "setenvif", "remoteip", "status")


@contextmanager
def _started(command: list[str], port: int, folder: Path) -> Iterator[int]:
    with running(command, port, folder):
        yield port


def nginx(folder: Path, export: Remedy) -> AbstractContextManager[int]:
    port = free_port()
    return _started(_nginx_command(folder, export, port), port, folder)


def apache(folder: Path, export: Remedy) -> AbstractContextManager[int]:
    port = free_port()
    return _started([*_apache_command(folder, export, port), "-D", "FOREGROUND"], port, folder)


def caddy(folder: Path, export: Remedy) -> AbstractContextManager[int]:
    port = free_port()
    return _started(_caddy_command("run", folder, export, port), port, folder)


def haproxy(folder: Path, export: Remedy) -> AbstractContextManager[int]:
    port = free_port()
    return _started([*_haproxy_command(folder, export, port), "-db"], port, folder)


def check(server: str, folder: Path, export: Remedy) -> None:
    """Has a server test its configuration. Fails if it does not accept it."""
    commands: dict[str, Callable[[], list[str]]] = {
        "nginx": lambda: [*_nginx_command(folder, export, 1), "-t"],
        "apache": lambda: [*_apache_command(folder, export, 1), "-t"],
        "caddy": lambda: _caddy_command("validate", folder, export, 1),
        "haproxy": lambda: [*_haproxy_command(folder, export, 1), "-c"],
    }
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": 'a"\n}', "LANG": "C"}
    found = subprocess.run(commands[server](), capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


SERVERS: Final[dict[Format, Callable[[Path, Remedy], AbstractContextManager[int]]]] = {
    "nginx": nginx,
    "apache": apache,
    "caddy": caddy,
    "haproxy": haproxy,
}


class Visits:
    """A connection to a server, for many requests."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)

    def close(self) -> None:
        self._connection.close()

    def status(self, agent: str, address: str, uri: str) -> int:
        """Sends a request and returns the status of the answer."""
        connection = self._connection
        connection.putrequest("GET", uri, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", "example.org")
        connection.putheader("X-Real-IP", address)
        connection.putheader("X-Forwarded-For", address)
        if agent:
            connection.putheader("User-Agent", agent)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        return answer.status


def _nginx_command(folder: Path, export: Remedy, port: int) -> list[str]:
    http, server = (part.text for part in export.parts)
    (folder / "page").write_text("a page")
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port, http=http, server=server))
    return [program("nginx", "nginx-light"), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def _apache_command(folder: Path, export: Remedy, port: int) -> list[str]:
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in _APACHE_MODULES)
    (folder / "apache.conf").write_text(
        _APACHE.format(folder=folder, documents=MODULES, port=port, modules=modules, config=export.text)
    )
    return [program("apache2", "apache2-bin"), "-f", str(folder / "apache.conf")]


def _caddy_command(command: str, folder: Path, export: Remedy, port: int) -> list[str]:
    """`remote_ip forwarded` is how Caddy 2.6 takes the address from X-Forwarded-For."""
    snippet, site, _ = (part.text for part in export.parts)
    snippet = snippet.replace("remote_ip ", "remote_ip forwarded ")
    (folder / "Caddyfile").write_text(_CADDY.format(port=port, snippet=snippet, site=site))
    return [program("caddy", "caddy"), command, "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def _haproxy_command(folder: Path, export: Remedy, port: int) -> list[str]:
    rules, *sections = (part.text for part in export.parts)
    (folder / "haproxy.cfg").write_text(_HAPROXY.format(port=port, rules=rules, sections="".join(sections)))
    return [program("haproxy", "haproxy"), "-f", str(folder / "haproxy.cfg")]
