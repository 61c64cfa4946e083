"""Copies real sites and serves the copies on loopback with its own nginx, with or without TLS, so that all programs
crawl the same pages.

wget copies the sites once from a portal on loopback (LOCALWEB) into the user's cache folder. The pages of the copies
can be padded: real pages of documentation have 30 kB, pages of the Web 100 to 240.
"""

import getpass
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import trustme

from goodbot.partitions import partition_of, share_of_partition
from settings import Setting, UsageError

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "goodbot-bench"
FOLLOWED_TAGS = "a,area,frame,iframe,meta"
WORKERS = 2
PAGE_WEIGHT = 20_000
"""The CPU time that a page takes whatever its size, as the number of bytes that could be read in it."""
LARGEST = 1_500_000
"""The maximum length of a padded page in bytes. It is less than the 2 MiB of a page that goodbot reads."""


class Traffic(NamedTuple):
    """What the server answered. `pages`: how many different URLs it answered with status 200 and HTML. `page_bytes`:
    the sum of their sizes. `protocol`: the one used most."""

    requests: int
    pages: int
    page_bytes: int
    protocol: str


@dataclass(frozen=True)
class ServedWeb:
    """Sites that are being served. `roots`: their root URLs. `authority`: the file with the certificate authority to
    trust for TLS. `log`: the log of the server."""

    roots: tuple[str, ...]
    authority: Path | None
    log: Path

    def traffic(self) -> Traffic:
        """Returns what was requested since the last call."""
        lines = self.log.read_text().splitlines()
        self.log.write_bytes(b"")
        pages: dict[str, int] = {}
        protocols: dict[str, int] = {}
        for line in lines:
            status, size, media, protocol, url = line.split("\t")
            protocols[protocol] = protocols.get(protocol, 0) + 1
            if status == "200" and media.startswith("text/html"):
                pages[url] = int(size)
        return Traffic(
            len(lines), len(pages), sum(pages.values()), max(protocols, key=protocols.__getitem__, default="")
        )


def is_loopback(url: str) -> bool:
    """Returns whether a URL has the scheme http and an address of 127.0.0.0/8."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if it is not a port
    except ValueError:
        return False
    return parts.scheme == "http" and bool(re.fullmatch(r"127\.\d+\.\d+\.\d+", parts.hostname or ""))


def _portal(text: str) -> str:
    if not is_loopback(text):
        raise ValueError(text)
    return text


LOCALWEB = Setting(
    "LOCALWEB",
    "",
    "the portal that links to the sites",
    "a URL on loopback, such as http://127.0.0.10:8800/",
    _portal,
)


def page_at(url: str, setting: str) -> bytes:
    """Returns the page at a URL of a setting. Raises UsageError if it cannot be fetched."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            page: bytes = answer.read()
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise UsageError(f"{setting}: {url!r} cannot be fetched ({reason}); start its server first") from error
    return page


def sites_of(portal: str) -> list[str]:
    """Returns the roots of the sites on loopback that the portal LOCALWEB links to. Raises UsageError if there are
    none."""
    links = re.findall(rb'href="(http://[^"]+)"', page_at(portal, LOCALWEB.name))
    sites = [link.decode() for link in links if is_loopback(link.decode())]
    if not sites:
        raise UsageError(f"LOCALWEB: {portal!r} links to no sites on loopback; give the URL of a portal")
    return sites


def fence_of(portal: str) -> str:
    """Returns the pattern of the URLs of the sites: addresses 127.0.0.* and the port of the portal."""
    sites_of(portal)
    return f"http://127.0.0.*:{urlsplit(portal).port or 80}/"


def copied(sites: Sequence[str]) -> Path:
    """Returns a folder with a copy of these sites, each in its own folder. Copies them if there is no copy yet.

    The copy has only their HTML pages and robots.txt files: goodbot would also read PDFs, which other programs only
    save.
    """
    return _cached("pages", sites, lambda folder: _copy(sites, folder))


def _copy(sites: Sequence[str], folder: Path) -> None:
    for site in sites:
        print(f"copying {site}", flush=True)
        command = ["wget", "--no-config", "-q", "-r", "-l", "inf", f"--follow-tags={FOLLOWED_TAGS}", "-P", str(folder)]
        subprocess.run([*command, site], check=False)  # wget reports missing pages as errors
    for path in folder.rglob("*"):
        if path.is_file() and not _is_page(path) and path.name != "robots.txt":
            path.unlink()


def _is_page(path: Path) -> bool:
    return path.suffix in {".html", ".htm"}


def padded(web: Path, mean: int) -> Path:
    """Returns a copy of `web` whose pages have `mean` bytes on average. Makes the copy if there is none yet.

    All pages grow by the same factor. To a page that is too short, the unchanged bodies of the next pages of its folder
    are added. So text and links are real, and the links lead to the same pages.
    """
    return _cached(f"padded-{mean}", [web.name], lambda folder: _pad(web, mean, folder))


def _pad(web: Path, mean: int, folder: Path) -> None:
    pages = [path for path in sorted(web.rglob("*")) if _is_page(path)]
    factor = mean * len(pages) / sum(path.stat().st_size for path in pages)
    by_folder: dict[Path, list[Path]] = {}
    for path in pages:
        by_folder.setdefault(path.parent, []).append(path)
    shutil.copytree(web, folder, dirs_exist_ok=True)
    for neighbours in by_folder.values():
        bodies = [_body_of(path.read_bytes()) for path in neighbours]
        for number, path in enumerate(neighbours):
            (folder / path.relative_to(web)).write_bytes(_page(path.read_bytes(), bodies, number, factor))


def _body_of(page: bytes) -> bytes:
    """Returns the part of a page between <body …> and </body>."""
    begin = re.search(rb"<body[^>]*>", page, re.IGNORECASE)
    end = page.lower().rfind(b"</body")
    return page[begin.end() if begin else 0 : end if end >= 0 else len(page)]


def _page(page: bytes, bodies: Sequence[bytes], number: int, factor: float) -> bytes:
    """Returns `page`, the page with this number, made longer by `factor` with the bodies of the next pages, in turn.

    A body is added only if this brings the page closer to its wanted size.
    """
    lacking = min(round(len(page) * factor), LARGEST) - len(page)
    turn = [*bodies[number + 1 :], *bodies[: number + 1]]
    added: list[bytes] = []
    while fitting := [body for body in turn if 0 < len(body) < 2 * lacking]:
        for body in fitting:
            if len(body) < 2 * lacking:
                added.append(b"\n<div>%s</div>" % body)
                lacking -= len(body)
    end = page.lower().rfind(b"</body")
    end = end if end >= 0 else len(page)
    return page[:end] + b"".join(added) + page[end:]


def _cached(name: str, key: Sequence[str], make: Callable[[Path], None]) -> Path:
    """Returns a folder of the cache. `make` fills it the first time, under another name until it is complete."""
    digest = blake2b("\n".join(key).encode(), digest_size=6).hexdigest()
    folder = CACHE / f"{name}-{digest}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        begun = Path(tempfile.mkdtemp(dir=CACHE, prefix="begun-"))
        try:
            make(begun)
            begun.rename(folder)
        except BaseException:
            shutil.rmtree(begun)
            raise
    return folder


def addresses(sites: Sequence[Path]) -> list[str]:
    """Returns a loopback address for each site, chosen so that goodbot's two workers have about the same work.

    Each host belongs to one worker. With thousands of hosts each worker gets about half; but with fifteen one worker
    may get two thirds, and the other core would be idle at the end of the crawl.
    """
    weights = {
        site: sum(path.stat().st_size + PAGE_WEIGHT for path in site.rglob("*") if path.is_file()) for site in sites
    }
    loads = [0] * WORKERS
    free = [f"127.0.1.{number}" for number in range(1, 250)]
    chosen: dict[Path, str] = {}
    for site in sorted(sites, key=weights.__getitem__, reverse=True):
        worker = loads.index(min(loads))
        chosen[site] = next(address for address in free if share_of_partition(partition_of(address), WORKERS) == worker)
        free.remove(chosen[site])
        loads[worker] += weights[site]
    return [chosen[site] for site in sites]


@contextmanager
def served(web: Path, http: str) -> Iterator[ServedWeb]:
    """Serves the sites of a folder while the block runs. `http`: "plain" (HTTP/1.1 without TLS), "1.1" (HTTP/1.1 over
    TLS 1.3) or "2" (HTTP/2 over TLS 1.3)."""
    sites = sorted(path for path in web.iterdir() if path.is_dir())
    hosts = addresses(sites)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = _free_port(hosts[0])
        authority = None if http == "plain" else _make_certificates(folder, hosts)
        listen = {"plain": f"{port}", "1.1": f"{port} ssl", "2": f"{port} ssl http2"}[http]
        (folder / "nginx.conf").write_text(_configuration(folder, dict(zip(hosts, sites, strict=True)), listen))
        nginx = subprocess.Popen(["nginx", "-p", name, "-c", f"{name}/nginx.conf", "-e", f"{name}/errors"])
        try:
            _wait_for(hosts[0], port)
            scheme = "http" if http == "plain" else "https"
            yield ServedWeb(tuple(f"{scheme}://{host}:{port}/" for host in hosts), authority, folder / "log")
        finally:
            nginx.terminate()
            nginx.wait()


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_for(host: str, port: int) -> None:
    until = time.monotonic() + 10.0
    while True:
        try:
            socket.create_connection((host, port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _make_certificates(folder: Path, hosts: Sequence[str]) -> Path:
    """Makes a certificate authority and a certificate for the hosts. Returns the file of the authority."""
    authority = trustme.CA()
    certificate = authority.issue_cert(*hosts)
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(folder / "certificate.pem", append=True)
    authority.cert_pem.write_to_path(folder / "authority.pem")
    return folder / "authority.pem"


def _configuration(folder: Path, sites: dict[str, Path], listen: str) -> str:
    certificates = "ssl_certificate certificate.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3;"
    servers = "\n".join(
        f"server {{ listen {host}:{listen}; root '{site}'; location / {{ index index.html; }} }}"
        for host, site in sites.items()
    )
    places = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
    return f"""
daemon off; worker_processes 1; pid {folder}/pid; {user}
events {{ worker_connections 4096; }}
http {{
{places}
types {{ text/html html htm; text/plain txt; text/css css; application/xml xml; application/pdf pdf; }}
sendfile on; tcp_nopush on; keepalive_requests 100000; open_file_cache max=10000;
log_format counted '$status\\t$body_bytes_sent\\t$sent_http_content_type\\t$server_protocol\\t$server_addr$request_uri';
access_log {folder}/log counted;
{certificates if "ssl" in listen else ""}
{servers}
}}
"""
