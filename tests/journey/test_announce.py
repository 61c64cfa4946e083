"""Announcing over real HTTP: the command line on one side, services on the other, ours among them."""

import asyncio
import json
import signal
import threading
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from time import time
from typing import Any

import pytest

from goodbot.cli import main
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.web import Rate, Site, create_app, running
from journey.goodbot_process import Ended, ended, goodbot, start
from visitors.visited_crawls import crawl, services, url_at
from web.library import SPECIMENS, Library
from webserver import Exchange, Handler, WebServer, answer, silence

KEY = "0123456789abcdef"
TEXT = [("Content-Type", "text/plain")]
KEY_FILE = answer(KEY.encode(), headers=TEXT)
XML = [("Content-Type", "application/xml")]


class Engine:
    """A service that takes reports, and gives these answers one after another, the last one again and again."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.taken: list[dict[str, Any]] = []

    async def __call__(self, exchange: Exchange) -> None:
        body = await exchange.reader.readexactly(int(exchange.header("Content-Length") or 0))
        self.taken.append(json.loads(body))
        await exchange.send(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])

    def paths(self, number: int = -1) -> list[str]:
        """The paths in a report."""
        return ["/" + text.split("/", 3)[3] for text in self.taken[number]["urlList"]]


OK = answer(b"")


def sitemap(site: WebServer, **pages: str) -> bytes:
    """A sitemap of pages and their dates."""
    rows = (f"<url><loc>{site.url('/' + path)}</loc><lastmod>{day}</lastmod></url>" for path, day in pages.items())
    return answer(f"<urlset>{''.join(rows)}</urlset>".encode(), headers=XML)


async def announce(*arguments: str | Path, folder: Path, stdin: bytes = b"") -> Ended:
    return await goodbot("announce", *arguments, "--key", KEY, "--json", folder=folder, stdin=stdin)


async def test_three_services_of_which_one_is_busy_and_one_refuses(tmp_path: Path) -> None:
    busy = Engine(answer(b"", 429, [("Retry-After", "1")]), OK)
    fine, strict = Engine(answer(b"", 202)), Engine(answer(b'{"message": "bad \\u001b URL"}', 422), OK)
    routes: dict[str, bytes | Handler] = {"/busy": busy, "/fine": fine, "/strict": strict, f"/{KEY}.txt": KEY_FILE}
    async with WebServer(routes) as site:
        site.routes["/sitemap.xml"] = sitemap(site, a="2026-11-01", b="2026-11-01")
        to = [word for name in ("busy", "fine", "strict") for word in ("--to", site.url(f"/{name}"))]
        options = ["--sitemap", site.url("/sitemap.xml"), "--changed", "--state", "state"]
        first = await announce(*options, *to, folder=tmp_path)
        assert first.status == 3
        assert first.complaint == "goodbot: 1 of 3 services did not accept all URLs"
        assert first.json["done"] is False
        rows = [
            (row["accepted"], [(b["status"], b["tries"]) for b in row["batches"]]) for row in first.json["services"]
        ]
        assert rows == [(2, [(200, 2)]), (2, [(202, 1)]), (0, [(422, 1)])]
        assert first.json["services"][2]["batches"][0]["answer"] == "bad \\x1b URL"
        assert busy.taken == fine.taken * 2 == strict.taken * 2
        assert fine.taken == [
            {
                "host": site.url("/").split("/")[2],
                "key": KEY,
                "keyLocation": site.url(f"/{KEY}.txt"),
                "urlList": [site.url("/a"), site.url("/b")],
            }
        ]
        second = await announce(*options, *to, folder=tmp_path)  # what the third refused goes to it again
        assert (second.status, [row["urls"] for row in second.json["services"]]) == (0, [0, 0, 2])
        third = await announce(*options, *to, folder=tmp_path)
        assert (third.status, [row["urls"] for row in third.json["services"]]) == (0, [0, 0, 0])
        site.routes["/sitemap.xml"] = sitemap(site, b="2026-11-02", c="2026-11-02")
        fourth = await announce(*options, *to, folder=tmp_path)
        assert (fourth.status, fourth.json["done"]) == (0, True)
        assert [engine.paths() for engine in (busy, fine, strict)] == [["/b", "/c"]] * 3


PAGES = {
    "/": answer(b'<title>Home</title><p>home <a href="/a">a</a> <a href="/b">b</a> <a href="/hidden">h</a>'),
    "/a": answer(b"<title>A</title><p>first words"),
    "/b": answer(b"<title>B</title><p>other words"),
    "/hidden": answer(b"<title>H</title><meta name=robots content=noindex><p>hidden words"),
}


async def test_the_pages_of_a_crawl_that_changed_or_are_gone(tmp_path: Path) -> None:
    engine = Engine(OK)
    async with WebServer({**PAGES, "/indexnow": engine, f"/{KEY}.txt": KEY_FILE}) as site:
        crawled = ("crawl", site.url("/"), "--into", "crawl", "--allow-private")
        options = ("--in", "crawl", "--changed", "--to", site.url("/"))
        assert (await goodbot(*crawled, folder=tmp_path)).status == 0
        assert (await announce(*options, folder=tmp_path)).status == 0
        assert engine.paths() == ["/", "/a", "/b"]
        assert (tmp_path / "crawl" / "announced.sqlite").is_file()
        again = await announce(*options, folder=tmp_path)
        assert (again.status, len(engine.taken)) == (0, 1)
        site.routes |= {"/a": answer(b"<title>A</title><p>new words"), "/b": answer(b"", 410)}
        _make_due(tmp_path / "crawl")
        renewed = await goodbot("crawl", "--into", "crawl", "--keep-fresh", "--once", folder=tmp_path)
        assert renewed.status == 0, renewed.err
        assert (await announce(*options, folder=tmp_path)).status == 0
        assert engine.paths() == ["/a", "/b"]
        assert (await announce(*options, folder=tmp_path)).json["services"][0]["batches"] == []


def _make_due(folder: Path) -> None:
    """Reports all pages as changed."""
    from goodbot.values import Discovery

    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
        urls = [record.url for record in frontier.records()]
        frontier.add([Discovery(url, 0, modified_at=time()) for url in urls])


async def test_our_own_search_service(tmp_path: Path) -> None:
    """A crawl that is served takes a report. It cannot check keys of private sites, so it takes new pages only."""
    async with WebServer({**PAGES, f"/{KEY}.txt": KEY_FILE}) as site:
        folder = tmp_path / "crawl"
        done = await goodbot("crawl", site.url("/"), "--into", folder, "--allow-private", "--max-pages", "1")
        assert done.status == 0, done.err
        process = await start("serve", "--in", folder, "--port", "0", "--json")
        assert process.stdout is not None
        service = json.loads(await process.stdout.readline())["url"]
        try:
            found = await announce(site.url("/new"), site.url("/a"), "--to", service, folder=tmp_path)
        finally:
            process.send_signal(signal.SIGINT)
            await ended(process)
        (row,) = found.json["services"]
        assert (found.status, row["url"], row["accepted"]) == (0, f"{service}indexnow", 2)
        assert row["batches"][0]["status"] == 202
        assert "2 of 2 URLs belong to this crawl" in row["batches"][0]["answer"]
        why = await goodbot("why", site.url("/new"), "--in", folder, "--json")
        assert why.json["state"] == "ready"


async def test_our_own_search_service_with_a_public_site(tmp_path: Path) -> None:
    """It fetches the key, and all pages announced are due."""
    async with WebServer({**PAGES, f"/{KEY}.txt": KEY_FILE}) as site:
        await crawl(site, tmp_path / "crawl")
        app = create_app(
            Library(SPECIMENS), Site("Search", post_rate=Rate(1000, 1000)), visitors=services(tmp_path / "crawl")
        )
        urls = [url_at(site, path).text for path in ("/a", "/new")]
        with running(app) as service:
            options = (*urls, "--to", service, "--no-check")
            found = await announce(*options, folder=tmp_path)
        (batch,) = found.json["services"][0]["batches"]
        assert (found.status, batch["status"]) == (0, 200), found
        with SqliteFrontier.open(tmp_path / "crawl" / "frontier.sqlite", revisit_until=inf) as frontier:
            due = {item.url.path for lease in frontier.lease(10, 100, time()) for item in lease.urls}
        assert due == {"/a", "/new"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_an_interruption_keeps_what_was_accepted(number: signal.Signals, tmp_path: Path) -> None:
    """The service answers to the first host, then no more."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run under nohup")
    engine = Engine(OK)

    async def hanging(exchange: Exchange) -> None:
        await (silence(exchange) if engine.taken else engine(exchange))

    async with WebServer({"/indexnow": hanging}) as site, WebServer(host="127.0.0.2") as other:
        pages = f"<urlset><url><loc>{site.url('/')}</loc></url><url><loc>{other.url('/')}</loc></url></urlset>"
        (tmp_path / "map.xml").write_text(pages)
        arguments = ("--sitemap", "map.xml", "--changed", "--state", "state", "--to", site.url("/"), "--no-check")
        forms = ("--quiet",) if number == signal.SIGINT else ("--json", "-o", "result")
        process = await start("announce", *arguments, "--key", KEY, *forms, folder=tmp_path)
        async with asyncio.timeout(60):
            await site.received(2)
        second = await announce(*arguments, folder=tmp_path)
        assert (second.status, second.complaint.partition(" is ")[0]) == (3, "goodbot: another goodbot announce")
        process.send_signal(number)
        end = await ended(process)
        accepted = f"goodbot: {site.url('/')} ({site.url('/indexnow')}): 1 of 2 URLs accepted before the interruption"
        assert (end.status, end.err.splitlines()) == (130, [accepted, "goodbot: interrupted"])
        if "--json" in forms:
            found = json.loads((tmp_path / "result").read_text())
            (row,) = found["services"]
            assert (found["done"], found["interrupted"], row["urls"], row["accepted"]) == (False, True, 2, 1)
            assert [(batch["urls"], batch["status"]) for batch in row["batches"]] == [(1, 200)]
        site.routes["/indexnow"] = engine
        again = await announce(*arguments, folder=tmp_path)
        assert (again.status, engine.taken[-1]["urlList"]) == (0, [other.url("/")])
        assert len(engine.taken) == 2


async def test_an_interruption_before_anything_is_sent(tmp_path: Path) -> None:
    async with WebServer({"/s.xml": silence}) as site:
        arguments = ("--sitemap", site.url("/s.xml"), "--to", site.url("/"), "--key", KEY, "--json")
        process = await start("announce", *arguments, folder=tmp_path)
        async with asyncio.timeout(60):
            await site.received(1)
        process.send_signal(signal.SIGTERM)
        end = await ended(process)
        assert (end.status, end.complaint) == (130, "goodbot: interrupted")
        assert end.json == {"done": False, "interrupted": True, "services": []}


async def test_an_index_with_a_bad_sitemap(tmp_path: Path) -> None:
    """What can be read is announced; what cannot stays as the state file has it."""
    engine = Engine(OK)
    async with WebServer({"/indexnow": engine, f"/{KEY}.txt": KEY_FILE}) as site:
        old, new = sitemap(site, a="2026-11-01", b="2026-11-01"), sitemap(site, b="2026-11-05", c="2026-11-05")
        parts = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>" for path in ("/1.xml", "/2.xml"))
        index = answer(f"<sitemapindex>{parts}</sitemapindex>".encode(), headers=XML)
        site.routes |= {"/i.xml": index, "/1.xml": old, "/2.xml": new}
        options = ("--sitemap", site.url("/i.xml"), "--changed", "--state", "state", "--to", site.url("/"))
        assert (await announce(*options, folder=tmp_path)).status == 0
        site.routes |= {"/1.xml": sitemap(site, a="2026-11-06", b="2026-11-01"), "/2.xml": answer(b"", 500)}
        some = await announce(*options, folder=tmp_path)
        why = f"the sitemap {site.url('/2.xml')} answers with status 500"
        assert (some.status, some.json["done"]) == (3, False)
        assert some.json["unread"] == [{"sitemap": site.url("/2.xml"), "why": why}]
        end = f"1 sitemap could not be read, or not completely: {site.url('/2.xml')}"
        assert some.err.splitlines() == [f"left out: {why}", f"goodbot: {end}"]
        site.routes["/2.xml"] = sitemap(site, b="2026-11-05", c="2026-11-06")
        assert (await announce(*options, folder=tmp_path)).status == 0
        assert [engine.paths(number) for number in range(3)] == [["/a", "/b", "/c"], ["/a"], ["/c"]]
        site.routes |= {"/1.xml": answer(b"", 404), "/2.xml": answer(b"", 404)}
        none = await announce(*options, folder=tmp_path)
        assert (none.status, none.out, len(none.err.splitlines())) == (3, "", 3)
        assert "goodbot: there is no URL to announce: 2 sitemaps could not be read, or not completely: " in none.err


# ---- one process, one server ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site() -> Iterator[WebServer]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = WebServer({f"/{KEY}.txt": KEY_FILE, "/ok": Engine(OK), "/html": answer(b"<!doctype html><p>x")})
    server.routes |= {
        "/moved": answer(b"", 302, [("Location", "https://other.example/")]),
        "/keys/some.txt": KEY_FILE,
        "/to-key": answer(b"", 301, [("Location", f"/{KEY}.txt")]),
        "/refuse": Engine(answer(b"<!doctype html>no", 403)),
    }
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    yield server
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(site: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command with `{site}` in a folder with files; returns status, output and messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{KEY}.txt").write_text(KEY)
    (tmp_path / "urls.txt").write_text(f"{site.url('/a')}\n{site.url('/b')} # new\n{site.url('/a')}\n")
    (tmp_path / "bad.txt").write_text("https://example.org/\n/a\n")
    (tmp_path / "page.html").write_text("<!doctype html><p>x")
    (tmp_path / "empty.xml").write_text("<urlset></urlset>")
    (tmp_path / "index.xml").write_text(
        f"<sitemapindex><sitemap><loc>{site.url('/s.xml')}</loc></sitemap></sitemapindex>"
    )
    site.routes["/s.xml"] = sitemap(site, a="2026-11-01", b="2026-11-01")
    lines = f"{site.url('/a')}\n{site.url('/b')}\n"
    (tmp_path / "urls-only.txt").write_text(lines)
    site.routes["/sitemap.txt"] = answer(lines.encode(), headers=TEXT)
    site.routes["/html.xml"] = answer(b"<!doctype html><p>x", headers=XML)

    def run(typed: str) -> tuple[int, str, str]:
        status = main(typed.format(site=site.url("/").rstrip("/"), key=KEY).split())
        out, err = capfd.readouterr()
        return status, out, err

    return run


GOOD = [
    "announce {site}/a {site}/b --to {site}/ok",
    "announce --urls urls.txt --to {site}/ok",
    "announce --sitemap index.xml --to {site}/ok --key {key}.txt",
    "announce --sitemap urls-only.txt --to {site}/ok",
    "announce --sitemap {site}/sitemap.txt --to {site}/ok",
    "announce {site}/keys/a {site}/keys/b --to {site}/ok --key-location {site}/keys/some.txt",
]


@pytest.mark.parametrize("typed", GOOD)
def test_accepted(typed: str, run: Run, site: WebServer) -> None:
    status, out, err = run(typed)
    url = site.url("/ok")
    assert (status, err) == (0, "")
    assert out == f"{url}: 2 of 2 URLs accepted\n  {url.split('/')[2]}, 2 URLs: status 200: accepted\n"


def test_a_rehearsal_sends_nothing(run: Run, site: WebServer) -> None:
    before = len(site.exchanges)
    status, out, err = run("announce --urls urls.txt --to {site}/ok --dry-run")
    assert (status, err, len(site.exchanges)) == (0, "", before)
    assert out.splitlines() == [
        f"{site.url('/ok')} would get 2 URLs of 1 host, in 1 request:",
        f"  {site.url('/a')}",
        f"  {site.url('/b')}",
    ]
    status, out, _ = run("announce --urls urls.txt --to {site}/ok --dry-run --json")
    found = json.loads(out)
    (batch,) = found["services"][0]["batches"]
    assert (status, found["done"], batch["urls"]) == (0, False, 2)
    assert batch["url_list"] == [site.url("/a"), site.url("/b")]


def test_the_urls_of_a_rehearsal_are_with_their_batches(run: Run) -> None:
    urls = "https://b.example/1 https://a.example/1 https://b.example/2"
    status, out, _ = run(f"announce {urls} --to bing --to https://search.example/ --dry-run --json")
    services = json.loads(out)["services"]
    batches = [[(batch["host"], batch["url_list"]) for batch in service["batches"]] for service in services]
    a, b = ["https://a.example/1"], ["https://b.example/1", "https://b.example/2"]
    assert (status, batches) == (0, [[("a.example", a), ("b.example", b)]] * 2)


OUTPUT_IS_INPUT = [
    "announce {site}/a --to {site}/ok --key {key}.txt -o {key}.txt",
    "announce {site}/a --to {site}/ok -o {key}.txt",
    "announce --sitemap {site}/s.xml --changed --state state --to {site}/ok -o state",
    "announce --sitemap {site}/s.xml --changed --state state --to {site}/ok -o ./state-journal",
    "announce --sitemap {site}/s.xml --changed --state state --to {site}/ok -o state-wal",
    "announce --sitemap {site}/s.xml --changed --state state --to {site}/ok -o state-shm",
]


@pytest.mark.parametrize("typed", OUTPUT_IS_INPUT)
def test_the_output_replaces_no_input(typed: str, run: Run) -> None:
    status, out, err = run(typed)
    assert (status, out) == (2, "")
    assert "--output is one of the inputs" in err
    assert Path(f"{KEY}.txt").read_text() == KEY


def test_what_is_left_out_of_sitemaps(run: Run, site: WebServer) -> None:
    other = "http://127.0.0.1:9/x"
    invalid = "left out 1 entry of {} without a valid http or https URL\n"
    private = "left out 1 {} named by {}: one server must not name private addresses of another\n"
    good, bad = f"<url><loc>{site.url('/a')}</loc></url>", "<url><loc>javascript:1</loc></url>"
    Path("some.xml").write_text(f"<urlset>{good}{bad}<url><loc>{other}")
    site.routes["/some.xml"] = answer(
        f"<urlset>{good}{bad}<url><loc>{other}</loc></url></urlset>".encode(), headers=XML
    )
    site.routes["/index.xml"] = answer(
        f"<sitemapindex><sitemap><loc>{other}</loc></sitemap></sitemapindex>".encode(), headers=XML
    )
    cut = "only a part of {} was read: it ends too early\n"
    url, index = site.url("/some.xml"), site.url("/index.xml")
    partly = "goodbot: 1 sitemap could not be read, or not completely: some.xml\n"
    for name, notes, end in (
        ("some.xml", (cut + invalid).format("some.xml", "some.xml") + partly, 3),
        (url, invalid.format(url) + private.format("URL", url), 0),
    ):
        for rehearses in ("", " --dry-run"):
            status, out, err = run(f"announce --sitemap {name} --to {{site}}/ok{rehearses}")
            assert (status, len(out.splitlines()), err) == (end, 2, notes)
    status, out, err = run("announce --sitemap {site}/index.xml --to {site}/ok")
    none = "goodbot: there is no URL to announce: all that was found is left out\n"
    assert (status, out, err) == (2, "", private.format("sitemap", index) + none)


def test_well_known_services_share(run: Run) -> None:
    status, out, err = run("announce https://example.org/ --to bing --to yandex --dry-run")
    assert (status, len(out.splitlines())) == (0, 4)
    assert err == "bing and yandex pass announcements on to each other: one of them is enough\n"


BAD = [
    ("announce --to bing", "give URLs, a list of them"),
    ("announce /a --to bing", "not a whole http or https URL: /a"),
    ("announce http:///x --to bing", "not a whole http or https URL: http:///x"),
    ("announce https://example.org/ --to http:///x", "there is no service 'http:///x'"),
    ("announce --sitemap http:me:secret@127.0.0.1/s.xml --to bing", "here: write http://127.0.0.1/s.xml"),
    ("announce --sitemap http:///s.xml --to bing", "cannot read http:///s.xml: No such file"),
    ("announce example.org/a --to bing", "did you mean https://example.org/a?"),
    ("announce https://example.org/ --to bingo", "there is no service 'bingo'; did you mean bing?"),
    ("announce https://example.org/ --to search.example", "give the URL of a service, or one of indexnow, amazon"),
    ("announce https://example.org/", "Missing option '--to'"),
    ("announce {site}/a --to bing", "the address is private"),
    ("announce {site}/a --to {site}/ok --key short", "neither a key nor a file: short"),
    ("announce {site}/a --to {site}/ok --key urls.txt", "there is no key in the file urls.txt"),
    ("announce {site}/a --to {site}/ok --key-location {site}/", "must be the URL of a file"),
    ("announce {site}/a --to {site}/ok --key-location {site}/k.txt?x", "without a query"),
    ("announce {site}/a --to {site}/ok --key-location https://x.example/k.txt", "on another host than the URLs"),
    ("announce {site}/a --to {site}/ok --key-location {site}/keys/some.txt", "is not in /keys/"),
    ("announce --urls none.txt --to {site}/ok", "cannot read none.txt: No such file"),
    ("announce --urls bad.txt --to {site}/ok", "bad.txt, line 2: not a whole"),
    ("announce --urls index.xml --to {site}/ok", "give sitemaps with --sitemap"),
    ("announce --sitemap page.html --to {site}/ok", "page.html is not a sitemap"),
    ("announce --sitemap {site}/html --to {site}/ok", "/html is not a sitemap: it is an HTML page"),
    ("announce --sitemap {site}/html.xml --to {site}/ok", "/html.xml is not a sitemap: it is an HTML page"),
    ("announce --sitemap http://me:secret@127.0.0.1:9/ --to {site}/ok", "a user name or a password"),
    ("announce https://me:secret@example.org/x --to {site}/ok", "a password cannot be used here: write https://exa"),
    ("announce {site}/a --to http://me:secret@127.0.0.1:9/", "here: write http://127.0.0.1:9/"),
    (
        "announce --sitemap {site}/s.xml --changed --state /dev/null --to {site}/ok",
        "/dev/null is not a file that can keep the state",
    ),
    ("announce --in none --to {site}/ok", "no such folder: none"),
    ("announce --in none --changed --to {site}/ok", "no such folder: none"),
    ("announce {site}/a --changed --state state --to {site}/ok", "--changed needs a sitemap"),
    ("announce --sitemap {site}/s.xml --changed --to {site}/ok", "--state announced.sqlite"),
    ("announce {site}/a --state state --to {site}/ok", "--state belongs to --changed"),
    ("announce --sitemap {site}/s.xml --changed --state urls.txt --to {site}/ok", "not a state file"),
    ("key indexnow", "there is a key already"),
    ("key indexnow --into none", "no such folder: none"),
    ("key indexnow {site}/", "belongs to --check"),
    ("key indexnow --check", "needs the URL of a site"),
    ("key indexnow --check https://me:secret@example.org/", "here: write https://example.org/"),
    ("key indexnow --check example.org", "not a whole http or https URL"),
    ("key indexnow --check {site}/ --into .", "leave it out with --check"),
]


@pytest.mark.parametrize(("typed", "message"), BAD, ids=[typed for typed, _ in BAD])
def test_bad_input(typed: str, message: str, run: Run, site: WebServer) -> None:
    status, out, err = run(typed)
    assert (status, out, len(err.splitlines())) == (2, "", 1), (status, out, err)
    assert message in err


def test_a_sitemap_that_lists_nothing_is_nothing_to_announce(run: Run) -> None:
    status, out, err = run("announce --sitemap empty.xml --to {site}/ok")
    assert (status, err) == (0, "")
    assert out.endswith(": nothing to announce\n")


FAILING = [
    ("announce {site}/a --to {site}/moved", "redirects to https://other.example/, which is not followed", True),
    ("announce {site}/a --to {site}/none", "there is no IndexNow service at this URL", True),
    ("announce {site}/a --to {site}/refuse", "it says: (an HTML page)", True),
    ("announce {site}/a --to {site}/ok --key abcdefgh", "nothing was sent, since the key is not served: http", False),
    ("announce {site}/a --to {site}/ok --key abcdefgh", "/abcdefgh.txt answers with status 404; --no-check", False),
    ("announce http://127.0.0.1:9/a --to {site}/ok", "since there is no answer to the check of the key: cannot", False),
    ("announce --sitemap {site}/none.xml --to {site}/ok", "/none.xml answers with status 404", False),
]


@pytest.mark.parametrize(("typed", "message", "is_sent"), FAILING, ids=[f"{case[0]}: {case[1]}" for case in FAILING])
def test_failures(typed: str, message: str, is_sent: bool, run: Run) -> None:
    status, out, err = run(typed)
    assert (status, len(err.splitlines())) == (3, 1), err
    assert message in (out if is_sent else err)
    assert is_sent or not out


CHECKS = [
    ("key indexnow --check {site}/", 0, "has the key"),
    ("key indexnow --check {site}/keys/some.txt {key}", 0, "has the key"),
    ("key indexnow --check {site}/ abcdefgh", 1, "does not have the key abcdefgh: it answers with status 404"),
    ("key indexnow --check {site}/html", 1, "found an HTML page"),
    ("key indexnow --check {site}/to-key", 1, f"it answers with a redirect to /{KEY}.txt (status 301)"),
    (
        "key indexnow --check http://127.0.0.1:9/",
        1,
        f"cannot check http://127.0.0.1:9/{KEY}.txt: no answer: connection refused",
    ),
]


@pytest.mark.parametrize(("typed", "status", "message"), CHECKS, ids=[case[0] for case in CHECKS])
def test_checks_of_keys(typed: str, status: int, message: str, run: Run) -> None:
    found = run(typed)
    assert (found[0], found[2]) == (status, "")
    assert message in found[1]


def test_the_choice_between_two_key_files(run: Run, site: WebServer) -> None:
    Path("other-key.txt").write_text("other-key")
    chosen = "there are 2 key files in the working folder; choose one: "
    for typed, how in (
        ("announce {site}/a --to {site}/ok", "--key"),
        ("key indexnow --check {site}/", f"goodbot key indexnow --check {site.url('/')}"),
    ):
        assert run(typed) == (2, "", f"goodbot: {chosen}{how} {KEY}.txt\n")
    assert run(f"key indexnow --check {{site}}/ {KEY}.txt")[0] == 0
