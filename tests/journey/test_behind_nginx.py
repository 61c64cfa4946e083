"""`goodbot serve` behind a real nginx, with the settings and the configuration of docs/how-to/run-a-search-service.md:
on a host of its own, and under a path of another host, which nginx removes or not."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit
from xml.etree import ElementTree as ET

import pytest

from goodbot.announce.batches import MAX_BODY_BYTES
from goodbot.demo import DemoWeb
from goodbot.web.search.search_query import MAX_PAGE
from journey.reverse_proxy import NGINX, UNITS, Service, Way, served

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

WAYS: list[Way] = ["host of its own", "path", "path removed by nginx"]
ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl of the sample web."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    with DemoWeb() as web:
        seeds = [site.url for site in web.sites]
        command = [sys.executable, "-m", "goodbot", "crawl", *seeds, "--into", str(folder), "--allow-private"]
        subprocess.run(command, check=True, capture_output=True)
        yield folder


@pytest.fixture(scope="module", params=WAYS)
def service(request: pytest.FixtureRequest, crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(crawl, tmp_path_factory.mktemp("served"), request.param) as started:
        yield started


def links_of(html: str) -> list[str]:
    """Returns the URLs that a page links to, loads and posts forms to, as they are written."""
    return [unescape(url) for url in re.findall(r'\s(?:href|src|action|formaction)="([^"]*)"', html)]


def base_of(html: str) -> str:
    """Returns the URL that links are relative to, if the page names one: copies from the archive do."""
    found = re.search(r'<base href="([^"]*)"', html)
    return unescape(found[1]) if found else ""


@pytest.mark.long
def test_every_link_of_every_page_stays_below_the_prefix(service: Service) -> None:
    """Follows all links, redirects and targets of forms from the home page and from a page of results."""
    seen: dict[str, int] = {}
    waiting = ["/", "/search?q=robot"]
    while waiting and len(seen) < 150:
        path = waiting.pop(0)
        if path in seen:
            continue
        answer = service.ask(path)
        seen[path] = answer.status
        is_page = answer.headers.get_content_type() == "text/html"
        found = links_of(answer.text) if is_page else []
        base = base_of(answer.text) or service.public_url.rstrip("/") + path
        for url in (*found, *([answer.headers["Location"]] if answer.headers["Location"] else [])):
            target = urlsplit(urljoin(base, url))
            if target.netloc != service.host:
                assert target.scheme in ("http", "https", "mailto", "data"), url
                continue
            assert target.path.startswith(f"{service.prefix}/"), (path, url)
            asked = target.path.removeprefix(service.prefix) + (f"?{target.query}" if target.query else "")
            waiting.append(asked)
    assert {"/check", "/search?q=robot&page=2"} <= set(seen)
    assert any(path.startswith("/static/style.css") for path in seen)
    broken = {path: status for path, status in seen.items() if status not in (200, 303)}
    assert {path for path, status in broken.items() if status not in (403, 405)} == set()
    assert {path.partition("?")[0] for path, status in broken.items() if status == 403} <= {"/crawl", "/crawl/login"}


def test_redirects_stay_below_the_prefix(service: Service) -> None:
    far = service.ask(f"/search?q=robot&page={MAX_PAGE}")
    assert (far.status, far.headers["Location"].partition("?")[0]) == (303, f"{service.prefix}/search")
    if service.prefix:
        bare = service.ask("")
        assert (bare.status, urlsplit(bare.headers["Location"]).path) == (301, "/find/")
    assert service.ask("/check/").status == 404  # Starlette's own redirect would leave the prefix


def test_a_form_is_posted(service: Service) -> None:
    answer = service.post("/check", "robots=User-agent%3A+*%0ADisalow%3A+%2Fx", source="127.0.0.20")
    assert (answer.status, "Disalow" in answer.text) == (200, True)


def test_a_form_of_another_site_changes_nothing(service: Service, crawl: Path) -> None:
    """A browser without Sec-Fetch-Site sends the origin, which is compared with the host that nginx passes on."""
    form = f"token={(crawl / 'token').read_text().strip()}"
    kind = "application/x-www-form-urlencoded"
    own = service.public_url.removesuffix(f"{service.prefix}/")
    for origin, status in ((own, 303), ("https://elsewhere.example", 403)):
        answer = service.ask("/crawl/login", "POST", form, Content_Type=kind, Origin=origin)
        assert (answer.status, answer.headers["Set-Cookie"] is None) == (status, status != 303)


def test_the_operator_logs_in_and_the_cookie_is_for_this_service(service: Service, crawl: Path) -> None:
    token = (crawl / "token").read_text().strip()
    answer = service.ask(f"/crawl?token={token}")
    assert (answer.status, answer.headers["Location"]) == (303, f"{service.prefix}/crawl")
    cookie = answer.headers["Set-Cookie"]
    assert f"; Path={service.prefix}/crawl" in cookie.replace("path=", "Path=")
    assert ("; Secure" in cookie) == service.public_url.startswith("https:")
    shown = service.ask("/crawl", Cookie=cookie.partition(";")[0])
    assert (shown.status, token in shown.text) == (200, True)


def test_only_the_operator_reaches_the_pages_of_the_operator(service: Service) -> None:
    for path in ("/metrics", "/crawl", "/crawl/hosts", "/crawl?token=x"):
        assert service.ask(path, source="127.0.0.21").status == 403
        assert "nginx" in service.ask(path, source="127.0.0.21").text
    twice = [f"{service.prefix}{path}" for path in ("/metrics", "/crawl")] if service.prefix else []
    odd = [
        "//metrics",
        "/./metrics",
        "/x/../metrics",
        "/%6Detrics",
        "/%2Fmetrics",
        "/metrics/",
        "/METRICS",
        "/metrics%3F",
    ]
    for path in (*twice, *[f"{service.prefix}{path}" for path in twice], *odd):  # none evades the rule of nginx
        answer = service.ask(path, source="127.0.0.21")
        assert answer.status in (403, 404), path
        assert "goodbot_index_documents" not in answer.text
    assert "goodbot_index_documents" in service.ask("/metrics").text
    assert service.ask("/", source="127.0.0.21").status == 200


def test_files_for_programs_have_absolute_urls(service: Service) -> None:
    public = service.public_url
    description = ET.fromstring(service.ask("/opensearch.xml").text)
    templates = [url.attrib["template"] for url in description.iter(f"{OPENSEARCH}Url")]
    assert f"{public}search?q={{searchTerms}}" in {template.partition("&")[0] for template in templates}
    assert all(template.startswith(public) for template in templates)
    feed = ET.fromstring(service.ask("/search.atom?q=robot").text)
    links = {link.attrib["rel"]: link.attrib["href"] for link in feed.findall(f"{ATOM}link")}
    assert {"self", "alternate", "next"} <= set(links)
    assert all(url.startswith(public) for url in links.values())
    assert f"Sitemap: {public}sitemap.xml" in service.ask("/robots.txt").text
    sitemap = ET.fromstring(service.ask("/sitemap.xml").text)
    locations = [each.text or "" for each in sitemap.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert public in locations
    assert all(url.startswith(public) for url in locations)


def test_the_language_is_switched_and_kept(service: Service) -> None:
    english = service.ask("/search?q=robot", Accept_Language="en")
    (russian,) = [url for url in links_of(english.text) if "hl=ru" in url]
    page = service.ask(russian.removeprefix(service.prefix), Accept_Language="en")
    assert '<html lang="ru"' in page.text
    internal = [url for url in links_of(page.text) if url.startswith("/") and "/static/" not in url]
    assert internal
    assert all(url.startswith(f"{service.prefix}/") for url in internal)
    assert sum("hl=ru" in url for url in internal) >= 3


# ---- long requests --------------------------------------------------------------------------------------------------


def test_a_long_query_passes_where_nginx_is_told_so(service: Service) -> None:
    """A request line of 12 kB; on the other host, the page does not set `large_client_header_buffers`."""
    answer = service.ask(f"/api/search?q={quote('жук ' * 600)}")
    assert answer.status == (414 if service.prefix else 200)
    assert ("nginx" in answer.text) == bool(service.prefix)


def test_the_longest_report_by_indexnow_reaches_goodbot(service: Service) -> None:
    report = '{"host": "unknown.example", "key": "0123456789abcdef", "urlList": ["https://unknown.example/"]}'
    taken = service.ask("/indexnow", "POST", report.ljust(MAX_BODY_BYTES), source="127.0.0.41")
    assert (taken.status, "error" in json.loads(taken.text)) == (403, True)
    refused = service.ask("/indexnow", "POST", report.ljust(MAX_BODY_BYTES + 1), source="127.0.0.41")
    assert (refused.status, "nginx" in refused.text) == (413, True)


# ---- who the client is ----------------------------------------------------------------------------------------------


def submitted(service: Service, source: str, *, direct: bool = False, **headers: str) -> int:
    """Sends a request that counts against the limit for changes, and returns the status."""
    return service.ask("/api/submit", "POST", "[]", source=source, direct=direct, **headers).status


def test_each_client_of_nginx_has_its_own_limit(service: Service) -> None:
    statuses = [submitted(service, "127.0.0.31") for _ in range(9)]
    assert (statuses.count(429), statuses[-1]) == (1, 429)
    assert submitted(service, "127.0.0.32") != 429
    assert submitted(service, "127.0.0.31", X_Forwarded_For="198.51.100.1") == 429


def test_x_forwarded_for_from_elsewhere_is_ignored(service: Service) -> None:
    statuses = [
        submitted(service, "127.0.0.33", direct=True, X_Forwarded_For=f"198.51.100.{number}") for number in range(9)
    ]
    assert (statuses.count(429), statuses[-1]) == (1, 429)


def test_pages_are_limited_by_the_address_that_the_proxy_names(service: Service) -> None:
    def statuses(client: str, count: int) -> list[int]:
        return [service.ask("/about", direct=True, X_Forwarded_For=client).status for _ in range(count)]

    assert [status == 429 for status in statuses("198.51.100.7", 6)] == [False] * 5 + [True]
    assert 429 not in statuses("198.51.100.8", 1)
    assert 429 in statuses("203.0.113.9, 198.51.100.7", 1)
    assert 429 not in statuses("127.0.0.1", 9)


# ---- slow clients ---------------------------------------------------------------------------------------------------


def until(condition: bool, began: float) -> bool:
    """Whether a condition that another process brings about is there; waits a little if not, and a minute at most."""
    assert condition or time.monotonic() - began < 60
    time.sleep(0 if condition else 0.05)
    return condition


def test_slow_clients_do_not_reach_goodbot(service: Service) -> None:
    """More clients than goodbot has connections send half a form each: nginx keeps them."""
    head = f"POST {service.prefix}/check HTTP/1.1\r\nHost: {service.host}\r\nContent-Length: 100\r\n"
    kind = "Content-Type: application/x-www-form-urlencoded\r\n\r\nrobots="
    with ExitStack() as stack:
        for _ in range(300):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            client.sendall((head + kind).encode())
        for _ in range(20):
            assert service.ask("/healthz").status == 200
        began = time.monotonic()
        while not until(service.connections() == 0, began):
            pass


@pytest.mark.long
def test_clients_that_do_not_read_do_not_hold_goodbot(service: Service) -> None:
    """More of them than goodbot has connections ask for a page of results each."""
    request = f"GET {service.prefix}/search?q=robot HTTP/1.1\r\nHost: {service.host}\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(300):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.connect(("127.0.0.1", service.port))
            client.sendall(request.encode())
        assert service.ask("/").status == 200
        began = time.monotonic()
        while not until(service.connections() == 0, began):
            pass


# ---- the units of systemd -------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("number", range(len(UNITS)))
def test_systemd_understands_the_units(number: int, tmp_path: Path) -> None:
    unit = UNITS[number].replace("/opt/goodbot/bin/goodbot", "/bin/sh").replace("User=goodbot", "User=root")
    file = tmp_path / f"goodbot-{number}.service"
    file.write_text(unit)
    verified = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    rated = ["systemd-analyze", "security", "--offline=yes", "--threshold=25", str(file)]
    assert subprocess.run(rated, capture_output=True, check=False).returncode == 0  # 2.5 of 10 at most
