"""Who obeyed? A real nginx serves a site whose robots.txt changes half-way; goodbot's robot, a rude script and an
impostor crawl it; `goodbot remember` keeps the copies, and `goodbot watch` judges nginx's own log."""

import asyncio
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

import pytest

from journey.goodbot_process import Ended, goodbot
from watch.formats.log_servers import free_port, program, running

FIRST: Final = b"""\
User-agent: *
Disallow: /private/
"""
SECOND: Final = b"""\
# the second version
User-agent: *
Disallow: /private/
Disallow: /new/
"""

PAGES: Final = ("index", "a", "b", "new/1", "new/2", "private/1", "private/2")

GOOGLEBOT: Final = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
BROWSER: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"

IMPOSTOR_ADDRESS: Final = "203.0.113.66"
SCRIPT_ADDRESS: Final = "198.51.100.7"
BROWSER_ADDRESS: Final = "198.51.100.99"

_NGINX: Final = """
daemon off; master_process off; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;
  log_format combined_too '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    '"$http_referer" "$http_user_agent"';
  server {{
    listen 127.0.0.1:{port};
    root {folder}/site;
    index index.html;
    default_type text/html;
    access_log {folder}/access.log combined_too;
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Visited:
    """The site after all visits: its log, and the copies of its robots.txt."""

    log: Path
    history: Path
    remembered: list[int]
    """The exit statuses of `goodbot remember`."""


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Visited:
    folder = tmp_path_factory.mktemp("site")
    site, port = folder / "site", free_port()
    for page in PAGES:
        (site / page).parent.mkdir(parents=True, exist_ok=True)
        links = "".join(f'<a href="/{other}.html">{other}</a> ' for other in PAGES)
        (site / f"{page}.html").write_text(f"<title>{page}</title><p>The page {page}.</p>{links}")
    (site / "robots.txt").write_bytes(FIRST)
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port))
    command = [program("nginx", "nginx-light"), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    url, history = f"http://127.0.0.1:{port}/", folder / "history"
    with running(command, port, folder):
        statuses = [run("remember", url, "--into", history).status]
        assert run("crawl", url, "--into", folder / "crawl", "--allow-private").status == 0
        visit(port, ["/private/1.html", "/a.html"], "rude-script/1.0", SCRIPT_ADDRESS)
        visit(port, ["/private/1.html"], GOOGLEBOT, IMPOSTOR_ADDRESS)
        time.sleep(1.1)  # the log has whole seconds
        (site / "robots.txt").write_bytes(SECOND)
        statuses.append(run("remember", url, "--into", history).status)
        visit(port, ["/new/1.html", "/b.html"], "CCBot/2.0 (https://commoncrawl.org/faq/)", "192.0.2.10")
        visit(port, ["/private/2.html", "/new/1.html"], "rude-script/1.0", SCRIPT_ADDRESS)
        visit(port, ["/private/1.html", "/new/2.html"], "Wget/1.21", SCRIPT_ADDRESS)
        visit(port, ["/private/2.html"], BROWSER, BROWSER_ADDRESS)
    return Visited(folder / "access.log", history, statuses)


def run(*arguments: str | Path) -> Ended:
    return asyncio.run(goodbot(*arguments))


def visit(port: int, paths: list[str], agent: str, address: str) -> None:
    for path in paths:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"User-Agent": agent, "X-Test-Address": address})
        assert connection.getresponse().read()
        connection.close()


@pytest.fixture(scope="module")
def report(visited: Visited) -> Any:
    ended = run("watch", visited.log, "--robots", visited.history, "--json")
    assert ended.status == 0, ended.err
    return ended.json


def robot(report: Any, name: str) -> Any:
    (found,) = (one for one in report["robots"] if one["name"] == name)
    return found


def test_remember_noticed_the_change(visited: Visited) -> None:
    assert visited.remembered == [0, 1]


def test_goodbot_is_cleared(report: Any) -> None:
    found = robot(report, "goodbot")
    assert (found["disallowed"], found["obedience"]["obeyed"]) == (0, "yes")
    assert found["obedience"]["judged"] >= 4  # the pages that the first version leaves open
    assert found["obedience"]["robots_txt"]["fetches"] >= 1


def test_the_rude_script_is_convicted_with_the_right_lines(report: Any) -> None:
    (found,) = (one for one in report["disobedient"] if one["user_agent"] == "rude-script/1.0")
    assert (found["address"], found["disallowed"], found["requests"]) == (SCRIPT_ADDRESS, 2, 4)
    evidence = [(one["rule"], one["line"], one["log_line"].split('"')[1]) for one in found["disallowed_requests"]]
    assert evidence == [
        ("Disallow: /private/", 2, "GET /private/1.html HTTP/1.1"),
        ("Disallow: /private/", 3, "GET /private/2.html HTTP/1.1"),
    ]


def test_a_rude_robot_with_a_record_is_convicted_too(report: Any, visited: Visited) -> None:
    found = robot(report, "Wget")
    assert (found["disallowed"], found["obedience"]["grace"]) == (1, 1)
    (rule,) = found["obedience"]["rules"]
    assert (rule["rule"], rule["line"], rule["requests"]) == ("Disallow: /private/", 3, 1)
    assert rule["log_lines"][0] in visited.log.read_text()


def test_the_impostor_is_unmasked(report: Any) -> None:
    found = robot(report, "Googlebot")
    assert (found["tier"], found["disallowed"]) == ("impostor", 1)
    assert [one["address"] for one in found["busiest_addresses"]] == [IMPOSTOR_ADDRESS]


def test_nobody_is_blamed_within_a_day_after_the_change(report: Any) -> None:
    found = robot(report, "CCBot")
    assert (found["disallowed"], found["obedience"]["grace"], found["obedience"]["obeyed"]) == (0, 1, "yes")


def test_a_person_is_not_listed(report: Any) -> None:
    listed = {one["address"] for one in (*report["disobedient"], *report["undeclared"])}
    assert listed == {SCRIPT_ADDRESS}


async def test_as_people_read_it(visited: Visited) -> None:
    text = " ".join((await goodbot("watch", visited.log, "--robots", visited.history)).out.split())
    assert "2 versions since" in text
    assert "Wget (declared): 1 of 2 requests disallowed, 50.0 % (" in text
    assert "- Disallow: /private/ (line 3), version of " in text
    assert "198.51.100.7: 2 of 4 requests, as rude-script/1.0" in text
    assert "as Googlebot: 1 request from 203.0.113.66 (1)" in text


BAD = [
    (["--robots", "missing.txt"], "cannot read missing.txt"),
    (["--robots", "page.html"], "page.html is an HTML page, not a robots.txt"),
    (["--robots", "empty"], "empty has no copies of a robots.txt; goodbot remember URL --into empty makes them"),
    (["--robots", "two"], "two has 2 sites; name one of them: two/a.example, two/b.example"),
]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "access.log").write_text("")
    (tmp_path / "page.html").write_text("<!doctype html><title>x</title>")
    (tmp_path / "empty").mkdir()
    for site in ("a.example", "b.example"):
        (tmp_path / "two" / site).mkdir(parents=True)
        (tmp_path / "two" / site / "copies.jsonl").write_text("")
    return tmp_path


@pytest.mark.parametrize(("options", "message"), BAD, ids=[options[1] for options, _ in BAD])
async def test_bad_input(options: list[str], message: str, inputs: Path) -> None:
    ended = await goodbot("watch", "access.log", *options, folder=inputs)
    assert ended.status == 2
    assert message in ended.complaint


async def test_a_state_belongs_to_its_rules(inputs: Path) -> None:
    (inputs / "robots.txt").write_text("User-agent: *\nDisallow: /a\n")
    command = ["watch", "access.log", "--state", "s", "--robots", "robots.txt", "--json"]
    assert (await goodbot(*command, folder=inputs)).status == 0
    (inputs / "access.log").write_text(
        '192.0.2.1 - - [15/Sep/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 1 "-" "CCBot/2.0"\n'
    )
    for _ in range(2):
        assert (await goodbot(*command, folder=inputs)).json["robots"][0]["disallowed"] == 1
    (inputs / "robots.txt").write_text("User-agent: *\nDisallow: /b\n")
    ended = await goodbot(*command, folder=inputs)
    assert ended.status == 2
    assert "s was made with --robots " in ended.complaint
