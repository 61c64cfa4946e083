"""`goodbot remember` as its users have it: real answers of a site, and what changed between them."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from goodbot.exclusion import LIMIT_BYTES
from goodbot.url import Url
from goodbot.watch.history.copies import INDEX, History, RobotsCopy, open_histories
from goodbot.watch.history.site_names import site_name
from journey.goodbot_process import Ended, ended, goodbot, start
from webserver import WebServer, answer, kept_port

OLD = b"User-agent: *\nDisallow: /private/\n"
NEW = OLD + b"\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /private/\nDisallow: /blog/\nCrawl-delay: 5\n"
HTML = b"<!doctype html><title>Home</title><p>Welcome"
TEXT = (("Content-Type", "text/plain"), ("Server", "test"))


def plain(body: bytes, status: int = 200) -> bytes:
    return answer(body, status, TEXT)


@pytest.fixture
async def site() -> AsyncIterator[WebServer]:
    async with WebServer({"/robots.txt": plain(OLD)}) as server:
        yield server


async def remember(site: WebServer, folder: Path, *options: str | Path) -> Ended:
    return await goodbot("remember", site.url("/"), "--into", folder, *options)


async def test_a_change_is_reported_as_verdicts_for_robots(site: WebServer, tmp_path: Path) -> None:
    first = await remember(site, tmp_path)
    assert (first.status, first.err) == (0, "")
    assert first.out == f"{site.url('/robots.txt')}: first copy. It has 34 bytes and 1 group.\n"
    second = await remember(site, tmp_path)
    assert (second.status, len(second.out.splitlines())) == (0, 1)
    assert "as on 20" in second.out
    site.routes["/robots.txt"] = plain(b"# comment\n" + OLD)
    comment = await remember(site, tmp_path)
    assert comment.status == 0
    assert ", but no verdict differs. It has" in comment.out
    site.routes["/robots.txt"] = plain(NEW)
    changed = await remember(site, tmp_path)
    assert (changed.status, changed.err) == (1, "")
    assert changed.out.splitlines()[1:] == [
        "  closed for GPTBot and CCBot: /blog/ (line 7: Disallow: /blog/)",
        "  asked of GPTBot and CCBot: Crawl-delay 5 s (before: none)",
    ]
    site.routes["/robots.txt"] = plain(OLD)
    assert "  no longer asked of GPTBot and CCBot: Crawl-delay 5 s\n" in (await remember(site, tmp_path)).out
    site.routes["/robots.txt"] = plain(NEW)
    await remember(site, tmp_path)
    site.routes["/robots.txt"] = plain(OLD)
    (back,) = (await remember(site, tmp_path, "--json")).json
    assert (back["changed"], back["first"], back["copies"], back["closed"]) == (True, False, 7, [])
    (opened,) = back["opened"]
    assert (opened["robots"], opened["except"], opened["paths"][0]) == (["GPTBot", "CCBot"], [], "/blog/")
    assert (opened["rule"], opened["line"], opened["rule_is_gone"]) == ("Disallow: /blog/", 7, True)
    (history,) = open_histories(tmp_path).values()
    copies = history.copies()
    assert [copy.body for copy in copies] == [OLD, OLD, b"# comment\n" + OLD, NEW, OLD, NEW, OLD]
    assert ("Server", "test") in copies[0].headers
    assert len([*history.folder.glob("*.txt")]) == 3


BODIES = [
    ("missing", plain(b"gone", 404), 1, "There is no robots.txt (404), so everything is allowed."),
    ("html", answer(HTML), 1, "A Web page answers in place of robots.txt"),
    ("error", plain(b"", 503), 3, "so the last good copy applies"),
    ("too many", plain(b"", 429), 3, "so the last good copy applies"),
    ("refused", plain(b"", 403), 1, "is unavailable (status 403), so everything is allowed"),
    ("wall", answer(HTML, 403, [("cf-mitigated", "challenge"), ("Content-Type", "text/html")]), 3, "Cloudflare"),
    ("redirect", answer(b"", 301, [("Location", "/other.txt")]), 0, "after a redirect to"),
    ("long", plain(OLD + b"#" * LIMIT_BYTES + b"\nDisallow: /x\n"), 0, "longer than 500 KiB"),
    ("empty", plain(b""), 1, "It has 0 bytes and 0 groups."),
]


@pytest.mark.parametrize(("route", "status", "said"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])
async def test_any_answer_is_remembered(route: bytes, status: int, said: str, site: WebServer, tmp_path: Path) -> None:
    await remember(site, tmp_path)
    site.routes |= {"/robots.txt": route, "/other.txt": plain(OLD)}
    result = await remember(site, tmp_path, "--json")
    (found,) = result.json
    assert (result.status, result.err) == (status, "")
    text = await remember(site, tmp_path)
    assert said in f"{text.out} {found['reason']}"
    (history,) = open_histories(tmp_path).values()
    assert (len(history.copies()), history.damage) == (3, [])


DAY = 86_400.0
OUTAGES = [
    ("no copy", None, 0.0, "everything is disallowed"),
    ("good copy", 200, 29 * DAY, "the last good copy applies"),
    ("old copy", 200, 31 * DAY, "older than 30 days"),
    ("missing before", 404, DAY, "everything is disallowed"),
]


@pytest.mark.parametrize(("status", "age_s", "said"), [case[1:] for case in OUTAGES], ids=[case[0] for case in OUTAGES])
async def test_an_outage_changes_no_verdict(
    status: int | None, age_s: float, said: str, site: WebServer, tmp_path: Path
) -> None:
    if status is not None:
        body = OLD if status == 200 else b""
        copy = RobotsCopy(site.url("/robots.txt"), time.time() - age_s, status, None, (), body)
        History(tmp_path / site_name(Url(site.url("/")))).add(copy)
    page = ("--page", site.url("/page"))
    site.routes |= {"/robots.txt": plain(b"", 503), "/page": answer(b"x")}
    result = await remember(site, tmp_path)
    assert result.status == 3
    assert " ".join(result.out.split()).endswith(
        "/robots.txt: could not be fetched: its server answered 503. Robots with a good copy go on with it; robots "
        "without one fetch nothing until it answers."
    )
    (found,) = (await remember(site, tmp_path, *page, "--json")).json
    assert (found["changed"], found["opened"], found["closed"], found["timing"]) == (False, [], [], [])
    assert said in found["reason"]
    site.routes["/robots.txt"] = plain(OLD if status == 200 else b"", status or 200)
    again = await remember(site, tmp_path, *page, "--format", "line")
    assert (again.status, again.out.split(" - ")[0]) == (0, "OK")


async def test_after_an_outage_the_last_answer_is_compared(site: WebServer, tmp_path: Path) -> None:
    page = ("--page", site.url("/page"))
    site.routes["/page"] = answer(b"x")
    outage = plain(b"", 503)
    loop = answer(b"", 301, [("Location", "/robots.txt")])
    for route, status, said in (
        (outage, 3, "/page: could not be fetched: robots.txt is unreachable (its server answered 503)"),
        (loop, 0, "first answer. No robots.txt was found after following its redirects"),
        (outage, 3, "could not be fetched: its server answered 503. Robots with"),
        (loop, 0, "answers again; as on 20"),
        (outage, 3, "could not be fetched"),
        (outage, 3, "could not be fetched"),
        (plain(OLD), 1, "answers again; changed since 20"),
        (outage, 3, "could not be fetched: its server answered 503"),
        (plain(b"# c\n" + OLD), 0, "but no verdict differs"),
    ):
        site.routes["/robots.txt"] = route
        result = await remember(site, tmp_path, *page)
        assert (result.status, said in result.out) == (status, True), (said, result.out)
    site.routes["/robots.txt"] = outage
    await remember(site, tmp_path)
    site.routes["/robots.txt"] = plain(b"", 404)
    (found,) = (await remember(site, tmp_path, "--json")).json
    (opened,) = found["opened"]
    assert (opened["paths"][0], opened["rule"], opened["reason"]) == ("/private/", "Disallow: /private/", None)


async def test_several_sites_and_no_answer(site: WebServer, tmp_path: Path) -> None:
    with kept_port() as port:
        down = f"http://127.0.0.1:{port}/"
        urls = [site.url("/"), site.url("/robots.txt"), site.url("/deep/page"), down]
        result = await goodbot("remember", *urls, "--into", tmp_path, "--json")
        text = await goodbot("remember", down, "--into", tmp_path)
        line = await goodbot("remember", down, "--into", tmp_path, "--format", "line")
    up, failed = result.json
    assert (result.status, up["status"], failed["status"]) == (3, 200, None)
    assert "connection refused" in failed["failure"]
    assert "/robots.txt: could not be fetched: connection refused" in text.out
    assert line.out.startswith(f"UNKNOWN - {down}robots.txt: could not be fetched: connection refused")
    assert site.targets == ["/robots.txt"]
    assert {*open_histories(tmp_path)} == {site_name(Url(down)), site_name(Url(site.url("/")))}


async def test_one_line_for_monitoring(site: WebServer, tmp_path: Path) -> None:
    line = ("--format", "line")
    found = [await remember(site, tmp_path, *line)]
    for route in (plain(NEW), plain(b"", 503)):
        site.routes["/robots.txt"] = route
        found.append(await remember(site, tmp_path, *line))
    assert [(each.status, each.out.split(" - ")[0]) for each in found] == [(0, "OK"), (1, "WARNING"), (3, "UNKNOWN")]
    text, figures = found[1].out.split(" | ")
    assert text.endswith("closed: /blog/ for GPTBot and CCBot; other delays, rates or times of visit")
    assert figures == "closed=1 opened=0 timing=1 pages=0\n"
    assert all(len(each.out.splitlines()) == 1 for each in found)
    (tmp_path / "own.txt").write_bytes(b"User-agent: *\nCrawl-delay: 1\n")
    site.routes["/robots.txt"] = plain(NEW)
    with_file = await remember(site, tmp_path, *line, "--file", tmp_path / "own.txt")
    assert (with_file.status, "verdicts differ from the file" in with_file.out) == (1, True)
    assert with_file.out.endswith("closed=0 opened=0 timing=0 pages=0 file_closed=3 file_opened=0 file_timing=2\n")


# ---- --file ---------------------------------------------------------------------------------------------------------

FILES = [
    ("same", OLD, OLD, 0, "every verdict is the same", (0, 0)),
    ("prepended", OLD, b"User-agent: GPTBot\nDisallow: /\n\n" + OLD, 1, "with 3 lines before it", (3, 0)),
    ("comment before", OLD, b"# CDN\n" + OLD, 0, "with 1 line before it", (1, 0)),
    ("after", OLD, OLD + b"Disallow: /x\n", 1, "with 1 line after it", (0, 1)),
    ("another", OLD, b"User-agent: *\nDisallow: /\n", 1, "does not send", (None, None)),
    ("line ends", OLD, OLD.replace(b"\n", b"\r\n"), 0, "The site sends", (0, 0)),
]


@pytest.mark.parametrize(
    ("own", "sent", "status", "said", "lines"), [case[1:] for case in FILES], ids=[case[0] for case in FILES]
)
async def test_compared_with_a_file(
    own: bytes, sent: bytes, status: int, said: str, lines: tuple[object, object], site: WebServer, tmp_path: Path
) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(own)
    site.routes["/robots.txt"] = plain(sent)
    text = await remember(site, tmp_path / "a", "--file", file)
    assert text.status == status
    assert said in text.out
    (found,) = (await remember(site, tmp_path / "b", "--file", file, "--json")).json
    assert (found["same_as_file"], found["changed"]) == (status == 0, status == 1)
    assert (found["file"]["lines_before"], found["file"]["lines_after"]) == lines
    assert bool(found["file"]["closed"]) == (status == 1)


async def test_differences_from_a_file_name_both_sides(site: WebServer, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes(b"User-agent: *\nDisallow: /other/\nCrawl-delay: 9\n\nUser-agent: a\n")
    site.routes["/robots.txt"] = plain(b"User-agent: *\nDisallow: /images/\n\nUser-agent: a\nCrawl-delay: 5\n")
    result = await goodbot("remember", site.url("/"), "--into", "history", "--file", "mine.txt", folder=tmp_path)
    assert result.out.splitlines()[1:] == [
        "  The site does not send mine.txt as it is; verdicts differ:",
        "  closed on the site, open in mine.txt, for all others: /images/ (site, line 2: Disallow: /images/)",
        "  open on the site, closed in mine.txt, for all others: /other/ (mine.txt, line 2: Disallow: /other/)",
        "  asked of all others: none on the site, Crawl-delay 9 s in mine.txt",
        "  asked of a: Crawl-delay 5 s on the site, none in mine.txt",
    ]


NO_FILE = [
    ("missing", plain(b"", 404), "The site has no robots.txt; verdicts differ:"),
    ("html", answer(HTML), "The site sends a Web page in place of mine.txt; verdicts differ:"),
]


@pytest.mark.parametrize(("route", "said"), [case[1:] for case in NO_FILE], ids=[case[0] for case in NO_FILE])
async def test_a_site_without_a_robots_txt_differs_from_a_file(
    route: bytes, said: str, site: WebServer, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_bytes(OLD)
    site.routes["/robots.txt"] = route
    result = await goodbot("remember", site.url("/"), "--into", "history", "--file", "mine.txt", folder=tmp_path)
    rule = "/private/ (mine.txt, line 2: Disallow: /private/)"
    lines = [f"  {said}", f"  open on the site, closed in mine.txt, for every robot: {rule}"]
    assert (result.status, result.out.splitlines()[1:]) == (1, lines)


# ---- --page ---------------------------------------------------------------------------------------------------------


async def test_page_directives(site: WebServer, tmp_path: Path) -> None:
    page, html = site.url("/page"), ("Content-Type", "text/html")
    site.routes["/page"] = answer(b"<title>x</title><meta name=robots content=noarchive>", 200, [html])
    options = ("--page", page, "--page", site.url("/private/x"))
    first = await remember(site, tmp_path, *options)
    assert first.status == 0
    assert "not fetched, because robots.txt disallows it" in first.out
    assert "/page: first copy: status 200\n" in first.out
    assert site.targets == ["/robots.txt", "/page"]
    again = await remember(site, tmp_path, *options)
    assert (again.status, "/page: as before: status 200\n" in again.out) == (0, True)
    body = b"<meta name=robots content=noarchive><meta name=Googlebot content=nosnippet>"
    site.routes["/page"] = answer(body, 200, [html, ("X-Robots-Tag", "noindex")])
    changed = await remember(site, tmp_path, *options, "--json")
    assert changed.status == 1
    found, closed = changed.json[0]["pages"]
    assert (found["changed"], found["status"], closed["changed"]) == (True, 200, False)
    assert "Disallow: /private/" in closed["disallowed"]
    effects = [(each["robot"], each["effect"], each["before"], each["after"]) for each in found["effects"]]
    assert effects[0] == ("*", "index", True, False)
    assert ("Googlebot", "snippet", True, False) in effects
    assert "X-Robots-Tag: noindex" in found["directives"]
    site.routes["/page"] = answer(b"", 410)
    gone = await remember(site, tmp_path, *options)
    assert (gone.status, "status 410 (before: status 200)" in gone.out) == (1, True)
    site.routes["/page"] = answer(b"", 200, [html])
    back = await remember(site, tmp_path, *options)
    assert (back.status, "status 200 (before: status 410); its directives changed" in back.out) == (1, True)
    assert "for every robot: index is allowed, was not allowed" in back.out


# ---- --every --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
async def test_every_reports_changes_until_it_is_interrupted(
    site: WebServer, tmp_path: Path, number: signal.Signals
) -> None:
    process = await start("remember", site.url("/"), "--into", tmp_path, "--every", "1s")
    assert process.stdout is not None
    assert "first copy" in (await process.stdout.readline()).decode()
    site.routes["/robots.txt"] = plain(NEW)
    async with asyncio.timeout(60):
        assert "changed since" in (await process.stdout.readline()).decode()
        assert "closed for GPTBot" in (await process.stdout.readline()).decode()
    process.send_signal(number)
    end = await ended(process)
    assert (end.status, end.err) == (130, "goodbot: interrupted\n")


# ---- the folder -----------------------------------------------------------------------------------------------------


async def test_damage_and_wrong_dates_are_messages(site: WebServer, tmp_path: Path) -> None:
    history = History(tmp_path / site_name(Url(site.url("/"))))
    history.add(RobotsCopy(site.url("/robots.txt"), 32e9, 200, None, (), OLD))
    with (history.folder / INDEX).open("ab") as file:
        file.write(b'rubbish\n{"at": 17')
    result = await remember(site, tmp_path)
    assert result.status == 0
    assert "line 1 of copies.jsonl: its date is in the future" in result.err
    assert "line 2 of copies.jsonl cannot be read" in result.err
    assert [copy.body for copy in history.copies()] == [OLD, OLD]


async def test_a_folder_that_cannot_be_written(site: WebServer, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    folder = tmp_path if os.geteuid() else Path("/proc/none")  # root may write in any other folder
    result = await remember(site, folder)
    tmp_path.chmod(0o700)
    assert (result.status, result.out) == (3, "")
    assert "cannot make the folder" in result.complaint


BAD = [
    (("nonsense",), "not an http or https URL: nonsense"),
    (("example.org",), "give the whole URL: https://example.org/"),
    (("ftp://example.org/",), "not an http or https URL"),
    (("",), "not an http or https URL"),
    (("https://a.example/", "--into", "file"), "a file is in the way"),
    (("https://a.example/", "--page", "https://b.example/"), "belongs to none of the sites; add https://b.example/"),
    (("https://a.example/", "--page", "b"), "not an http or https URL: b"),
    (("https://a.example/", "--every", "6"), "--every must be a time"),
    (
        ("https://a.example/", "--every", "2s"),
        "--every must be a time from 60s to 365d, such as 30min, 6h or 1d, not '2s'",
    ),
    (("https://a.example/", "--every", "366d"), "--every must be a time from 60s to 365d"),
    (("https://a.example/", "--every", "999999d"), "--every must be a time from 60s to 365d"),
    (("https://a.example/", "--every", "99999999d"), "--every must be a time from 60s to 365d"),
    (("https://a.example/", "-o", "history/a.example/copies.jsonl"), "--output is one of the inputs"),
    (("https://a.example/", "-o", "history/a.example/pages.jsonl"), "--output is one of the inputs"),
    (("https://a.example/", "-o", "history/a.example/a.txt"), "--output is one of the inputs"),
    (("https://a.example/", "--every", "6h", "-o", "out"), "--output"),
    (("https://a.example/", "--file", "none.txt"), "cannot read none.txt"),
    (("https://a.example/", "https://b.example/", "--file", "file"), "--file belongs to one site"),
    (("https://a.example/", "--format", "line", "--json"), "--json means --format json"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(case[0]) for case in BAD])
async def test_bad_input(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "history" / "a.example").mkdir(parents=True)
    (tmp_path / "history" / "a.example" / "a.txt").write_bytes(OLD)
    into = () if "--into" in arguments else ("--into", "history")
    result = await goodbot("remember", *arguments, *into, folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert said in result.complaint


async def test_the_index_is_plain_json(site: WebServer, tmp_path: Path) -> None:
    await remember(site, tmp_path)
    (index,) = tmp_path.glob(f"*/{INDEX}")
    (line,) = index.read_text().splitlines()
    found = json.loads(line)
    assert [*found] == ["at", "url", "status", "failure", "headers", "digest", "redirects"]
    assert (index.parent / f"{found['digest']}.txt").read_bytes() == OLD
