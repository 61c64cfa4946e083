"""The benchmarks of whole crawls: what they serve, what they count, and that they run."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

import dns.message
import dns.query
import dns.rcode
import pytest

import crawl_web
from bench_broad_web import Asked, Plan, count_early, judge, server
from broad_server import Site, kind_of
from crawl_comparison import crawl
from crawl_measure import Cost, Limit, measure
from crawl_programs import goodbot
from crawl_web import addresses, is_loopback, padded, served
from goodbot.partitions import partition_of, share_of_partition
from programs import ROOT

PLAN = Plan(hosts=40, minutes=0.1, workers=2, concurrency=8, page_kb=10.0)
INTERRUPTED = """
import pathlib, time
try:
    pathlib.Path("begun").touch()
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""
FAST = Cost(wall_s=6.0, cpu_s=1.0, peak_mb=50.0)


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """Two sites, of three pages and of one."""
    pages = {
        "a/index.html": '<html><body><a href="b.html">b</a><a href="no.html">-</a></body></html>',
        "a/b.html": '<html><body class="x"><a href="c.html">c</a>' + "<p>words</p>" * 100 + "</body></html>",
        "a/c.html": "<html><body><p>the end</p></body></html>",
        "z/index.html": "<p>no body element",
    }
    for name, text in pages.items():
        (tmp_path / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "web" / name).write_text(text)
    return tmp_path / "web"


def test_padded_pages_have_the_mean_size_and_the_content_of_their_neighbours(
    web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_web, "CACHE", tmp_path / "cache")
    folder = padded(web, 4000)
    pages = sorted(folder.rglob("*.html"))
    assert 3000 < sum(page.stat().st_size for page in pages) / len(pages) < 5000
    grown = (folder / "a" / "b.html").read_text()
    assert grown.startswith('<html><body class="x"><a href="c.html">c</a>')
    assert '<div><a href="b.html">b</a>' in grown
    assert grown.endswith("</div></body></html>")
    assert padded(web, 4000) == folder


def test_two_workers_get_about_the_same_number_of_bytes(web: Path) -> None:
    hosts = addresses(sorted(web.iterdir()))
    assert {share_of_partition(partition_of(host), 2) for host in hosts} == {0, 1}


def test_only_portals_on_loopback_are_accepted() -> None:
    assert is_loopback("http://127.0.0.10:8800/")
    assert not any(map(is_loopback, ("http://example.org/", "https://127.0.0.1/", "http://127.0.0.1.example/", "")))


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
@pytest.mark.parametrize(("http", "protocol"), [("plain", "HTTP/1.1"), ("1.1", "HTTP/1.1"), ("2", "HTTP/2.0")])
def test_the_server_counts_the_pages_of_a_crawl(web: Path, http: str, protocol: str) -> None:
    with served(web, http) as sites:
        run = crawl("goodbot", goodbot("--no-index"), sites, http)
    assert (run.pages, run.requests, run.protocol) == (4, 7, protocol)  # no.html and two robots.txt are missing
    assert run.page_bytes == sum(path.stat().st_size for path in web.rglob("*.html"))
    assert run.cpu_s > 0


def test_a_program_is_interrupted_when_its_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(INTERRUPTED)
    sampled: list[int] = []
    limit = Limit(0.1, (tmp_path / "begun").exists)
    command = [sys.executable, "program.py"]
    output, cost = measure(command, tmp_path, sampled=sampled.append, sample_s=0.05, limit=limit)
    assert output == "interrupted\n"
    assert cost.peak_mb > 1
    assert sampled


@pytest.mark.long
def test_the_broad_web_answers_by_name(tmp_path: Path) -> None:
    named = next(host for host in range(40) if kind_of(host) == "honest")
    nameless = next(host for host in range(1000) if kind_of(host) == "nameless")
    with server(PLAN, tmp_path) as web:
        with urllib.request.urlopen(web.portal) as answer:
            assert answer.read().count(b"<a href") == 40
        request = urllib.request.Request(web.portal, headers={"Host": f"h{named}.broad.test"})
        with urllib.request.urlopen(request) as answer:
            assert answer.read().count(b"<a href") == 75
        address, _, port = web.names.rpartition(":")
        answers = {
            host: dns.query.udp(dns.message.make_query(f"h{host}.broad.test", "A"), address, 5, int(port))
            for host in (named, nameless)
        }
    assert answers[named].answer[0][0].to_text().startswith("127.0.2.")
    assert answers[nameless].rcode() == dns.rcode.NXDOMAIN
    assert [line.split("\t")[3:5] for line in web.log.read_text().splitlines()] == [["portal", "200"], ["page", "200"]]


def test_the_broad_web_is_the_same_each_time() -> None:
    first, second = (Site(1000, 10_000, 80) for _ in range(2))
    answers = [first.answer("h7.broad.test", f"/p/{page}") for page in range(200)]
    assert answers == [second.answer("h7.broad.test", f"/p/{page}") for page in range(200)]
    assert {answer.status for answer in answers} == {200, 301, 404, 500}


def test_the_share_is_what_the_requests_in_flight_allow() -> None:
    """Four of eight requests are always in flight, for 0.1 s each: half of the rate that is allowed."""
    asked = [
        Asked(began, began + 0.1, f"h{slot}.{step}", "page", 200, 100)
        for slot in range(4)
        for step, began in enumerate(number / 10 for number in range(70))
    ]
    figures = judge("a program", replace(PLAN, hosts=1000), asked, FAST, [10_000_000] * 8)
    assert figures.in_flight == pytest.approx(4, rel=0.05)
    assert figures.allowed_per_s == pytest.approx(80, rel=0.05)
    assert figures.share == pytest.approx(0.5, rel=0.05)
    assert judge("a program", PLAN, asked, FAST, []).allowed_per_s < 40  # one a second each
    assert figures.quarters_mb == (10.0, 10.0, 10.0, 10.0)


def test_requests_within_the_delay_are_counted() -> None:
    asked = [Asked(at, at + 0.5, "h1", "page", 200, 1) for at in (0.0, 1.6, 3.0)]
    assert count_early(asked) == 1


@pytest.mark.long
def test_a_small_broad_crawl(tmp_path: Path) -> None:
    small = {"HOSTS": "40", "MINUTES": "0.2", "CONCURRENCY": "8", "PROGRAMS": "goodbot", "RESULTS": str(tmp_path)}
    bench = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "bench_broad_web.py"], env={**os.environ, **small}, check=False
    )
    assert bench.returncode == 0
    runs = json.loads((tmp_path / "broad_web.json").read_text())["runs"]
    assert [run["program"] for run in runs] == ["goodbot --no-index", "goodbot"]
    assert all(run["hosts_seen"] and not run["early"] and not run["needless"] for run in runs)
