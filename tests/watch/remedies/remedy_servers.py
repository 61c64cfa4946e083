"""Real servers with a remedy in their configuration: nginx, Apache and Caddy. They serve a page and a robots.txt."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from goodbot.watch.remedies.targets import Remedy
from watch.formats.log_servers import MODULES, TIMEOUT_S, free_port, program, running

_NGINX: Final = """
daemon off; master_process off; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log {folder}/access.log combined;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {http}
  server {{
    listen 127.0.0.1:{port};
    root {folder}/site;
    {server}
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
CustomLog "{folder}/access.log" "%h %l %u %t \\"%r\\" %>s %b \\"%{{Referer}}i\\" \\"%{{User-Agent}}i\\""
DocumentRoot "{documents}"
<Location "/closed">
  Require all denied
</Location>
<Location "/page">
  SetHandler server-status
</Location>
RewriteEngine on
RewriteRule ^/robots.txt$ - [R=204,L]
{config}
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
  respond /robots.txt "User-agent: *" 200
  respond /page "a page" 200
}}
"""

_APACHE_MODULES: Final = ("mpm_event", "authz_core", "authz_host", "setenvif", "rewrite", "status")


@contextmanager
def nginx(folder: Path, remedy: Remedy) -> Iterator[int]:
    """Runs nginx; gives its port."""
    port = free_port()
    with running([*_nginx_command(folder, remedy, port)], port, folder):
        yield port


@contextmanager
def apache(folder: Path, remedy: Remedy) -> Iterator[int]:
    """Runs Apache; gives its port."""
    port = free_port()
    with running([*_apache_command(folder, remedy, port), "-D", "FOREGROUND"], port, folder):
        yield port


@contextmanager
def caddy(folder: Path, remedy: Remedy) -> Iterator[int]:
    """Runs Caddy; gives its port."""
    port = free_port()
    with running(_caddy_command("run", folder, remedy, port), port, folder):
        yield port


def check_nginx(folder: Path, remedy: Remedy) -> str:
    """Has nginx test its configuration; returns what it says. Fails if the test does."""
    return _checked([*_nginx_command(folder, remedy, 1), "-t"], folder)


def check_apache(folder: Path, remedy: Remedy) -> str:
    """Has Apache test its configuration, like `check_nginx`."""
    return _checked([*_apache_command(folder, remedy, 1), "-t"], folder)


def check_caddy(folder: Path, remedy: Remedy) -> str:
    """Has Caddy test its configuration, like `check_nginx`."""
    return _checked(_caddy_command("validate", folder, remedy, 1), folder)


CHECKS: Final[dict[str, Callable[[Path, Remedy], str]]] = {
    "nginx": check_nginx,
    "apache": check_apache,
    "caddy": check_caddy,
}
SERVERS: Final = {"nginx": nginx, "apache": apache, "caddy": caddy}


def status_of(port: int, address: str, agent: str, path: str = "/page", **fields: str) -> int:
    """Sends a request from an address of loopback; returns the status of the answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S, source_address=(address, 0))
    try:
        connection.request("GET", path, headers={"User-Agent": agent, **fields})
        return connection.getresponse().status
    finally:
        connection.close()


def _nginx_command(folder: Path, remedy: Remedy, port: int) -> list[str]:
    site = folder / "site"
    site.mkdir()
    (site / "page").write_text("a page")
    (site / "robots.txt").write_text("User-agent: *\nDisallow:\n")
    http, server = (part.text for part in remedy.parts)
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port, http=http, server=server))
    return [program("nginx", "nginx-light"), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def _apache_command(folder: Path, remedy: Remedy, port: int) -> list[str]:
    (folder / "site").mkdir()
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in _APACHE_MODULES)
    (folder / "apache.conf").write_text(
        _APACHE.format(folder=folder, documents=MODULES, port=port, modules=modules, config=remedy.text)
    )
    return [program("apache2", "apache2-bin"), "-f", str(folder / "apache.conf")]


def _caddy_command(command: str, folder: Path, remedy: Remedy, port: int) -> list[str]:
    snippet, site, _ = (part.text for part in remedy.parts)
    (folder / "Caddyfile").write_text(_CADDY.format(port=port, snippet=snippet, site=site))
    return [program("caddy", "caddy"), command, "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def _checked(command: list[str], folder: Path) -> str:
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": 'a"\n}', "LANG": "C"}
    found = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout + found.stderr
