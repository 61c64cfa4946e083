"""Real servers with several sites, each with a host name of its own: what else a configuration may contain."""

import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from watch.formats.log_servers import MODULES, has_ipv6, program, running

_NGINX: Final = """
daemon off; master_process off; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen {listen} {as_ipv6}; return 404; }}
  {common}
  {sites}
}}
"""
_NGINX_SITE: Final = "server {{ listen {listen}; server_name {name}; root {root}; {block} }}\n"

_APACHE: Final = """
ServerRoot "{folder}"
PidFile "{folder}/apache.pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/error.log"
ServerName example.org
Listen {port}
{modules}
User www-data
Group www-data
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
{common}
{sites}
"""
_APACHE_MODULES: Final = ("mpm_event", "authz_core", "authz_host", "setenvif", "rewrite", "alias")
_APACHE_SITE: Final = """
<VirtualHost *:{port}>
  ServerName {name}
  DocumentRoot "{root}"
  <Directory "{root}">
    AllowOverride FileInfo AuthConfig
    Require all granted
  </Directory>
  {block}
</VirtualHost>
"""

_CADDY: Final = """
{{
  admin off
  auto_https off
}}
{common}
{sites}
"""
_CADDY_SITE: Final = """
http://{name}:{port} {{
  root * {root}
  {block}
}}
"""


@contextmanager
def nginx_sites(folder: Path, common: str, blocks: Mapping[str, str]) -> Iterator[int]:
    """Runs nginx with a site for each block, named as in `blocks`; gives their port. `common` belongs in the http
    block."""
    port = _free_port()
    sites = _sites(folder, blocks, _NGINX_SITE, port)
    as_ipv6 = "ipv6only=off" if has_ipv6() else ""
    config = _NGINX.format(folder=folder, listen=_listen(port), as_ipv6=as_ipv6, common=common, sites=sites)
    (folder / "nginx.conf").write_text(config)
    command = [program("nginx", "nginx-light"), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    with running(command, port, folder):
        yield port


@contextmanager
def apache_sites(common: str, blocks: Mapping[str, str], htaccess: Mapping[str, str]) -> Iterator[int]:
    """Runs Apache likewise; `common` belongs to the server. `htaccess`: the .htaccess of sites. Its folder is one that
    Apache's user can read."""
    with tempfile.TemporaryDirectory(prefix="goodbot-apache-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        port = _free_port()
        sites = _sites(folder, blocks, _APACHE_SITE, port)
        for site, text in htaccess.items():
            (folder / site / ".htaccess").write_text(text)
        modules = "\n".join(f"LoadModule {one}_module {MODULES}/mod_{one}.so" for one in _APACHE_MODULES)
        config = _APACHE.format(folder=folder, port=port, modules=modules, common=common, sites=sites)
        (folder / "apache.conf").write_text(config)
        command = [program("apache2", "apache2-bin"), "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]
        with running(command, port, folder):
            yield port


@contextmanager
def caddy_sites(folder: Path, common: str, blocks: Mapping[str, str]) -> Iterator[int]:
    """Runs Caddy likewise; `common` belongs at the beginning of the Caddyfile."""
    port = _free_port()
    sites = _sites(folder, blocks, _CADDY_SITE, port)
    (folder / "Caddyfile").write_text(_CADDY.format(common=common, sites=sites))
    command = [program("caddy", "caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with running(command, port, folder):
        yield port


def _sites(folder: Path, blocks: Mapping[str, str], template: str, port: int) -> str:
    """Makes the folder of each site, with a page; returns the configuration of all."""
    for name in blocks:
        (folder / name).mkdir()
        for page in ("page", "front", "index.html"):
            (folder / name / page).write_text(f"{page}\n")
    return "".join(
        template.format(name=name, port=port, listen=_listen(port), root=folder / name, block=block)
        for name, block in blocks.items()
    )


def _listen(port: int) -> str:
    return f"[::]:{port}" if has_ipv6() else f"{port}"


def _free_port() -> int:
    """Returns a port on which nobody listens, at any address: a server that sees IPv4 as IPv6 listens on all."""
    with socket.create_server(("", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
