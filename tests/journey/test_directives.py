"""`goodbot directives` as its users have it, and what a page's directives do to a crawl and its search."""

from dataclasses import fields
from pathlib import Path

import pytest

from goodbot.exclusion import Directives
from journey.goodbot_process import goodbot
from webserver import WebServer, answer, kept_port

PAGE = """<!doctype html><title>Report</title>
<meta name="robots" content="noarchive, max-snippet:50, noodp"><meta name="OtherBot" content="noindex">
<meta name="description" content="Of robots"><meta name="revisit-after" content="10 days">
<p>Text, <span data-nosnippet>kept out</span> of it.
<a href="a" rel="nofollow ugc">a</a> <a href="b" rel="sponsored,me">b</a> <a href="c">c</a>
"""
ROBOTS = b"""User-agent: *
Disallow: /closed
Content-Signal: search=yes, ai-train=no

User-agent: OtherBot
Disallow: /report
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A page on disk."""
    file = tmp_path / "report.html"
    file.write_text(PAGE)
    return file


def site() -> WebServer:
    """A page, what its robots.txt closes, and ways there."""
    return WebServer(
        {
            "/robots.txt": answer(ROBOTS, headers=[("Content-Type", "text/plain")]),
            "/report": answer(PAGE.encode(), headers=[("Content-Type", "text/html"), ("X-Robots-Tag", "nofollow")]),
            "/doc.pdf": answer(b"%PDF\0", headers=[("Content-Type", "application/pdf"), ("X-Robots-Tag", "noindex")]),
            "/moved": answer(status=301, headers=[("Location", "/report")]),
            "/to-closed": answer(status=302, headers=[("Location", "/closed")]),
            "/nowhere": answer(status=302, headers=[("Location", "mailto:x@example.org")]),
            "/round": answer(status=302, headers=[("Location", "/round")]),
            "/closed": answer(b"<p>x"),
            "/empty": answer(b""),
        }
    )


# ---- a file ---------------------------------------------------------------------------------------------------------


async def test_json_has_every_field(report: Path) -> None:
    result = await goodbot("directives", report, "--json")
    found = result.json
    assert (result.status, result.err) == (0, "")
    assert {field.name for field in fields(Directives)} <= set(found)
    assert (found["url"], found["agent"], found["dialect"], found["kind"]) == (
        str(report),
        "goodbot",
        "modern",
        "html",
    )
    assert (found["index"], found["archive"], found["snippet"], found["max_snippet"]) == (True, False, True, 50)
    assert (found["description"], found["revisit_after_s"]) == ("Of robots", 864000.0)
    assert {"directive": "noarchive", "origin": "META robots", "effects": ["archive"]} in found["sources"]
    assert found["links"] == {"all": 3, "nofollow": 1, "ugc": 1, "sponsored": 1}
    assert found["preferences"] == {"search": "unknown", "ai-input": "unknown", "ai-train": "unknown"}
    assert (found["hidden_chars"], found["closed_to_agent"]) == (9, None)


async def test_for_another_agent(report: Path) -> None:
    result = await goodbot("directives", report, "--json", "--agent", "Mozilla/5.0 (compatible; OtherBot/2.0)")
    assert result.json["index"] is False
    assert {"directive": "noindex", "origin": "META otherbot", "effects": ["index"]} in result.json["sources"]


async def test_what_the_server_would_send(report: Path) -> None:
    headers = ("--header", "X-Robots-Tag: noindex", "--header", "x-robots-tag:otherbot: nofollow")
    modern = (await goodbot("directives", report, "--json", *headers)).json
    assert (modern["index"], modern["follow"]) == (False, True)
    assert modern["sources"][-1] == {"directive": "noindex", "origin": "X-Robots-Tag", "effects": ["index"]}
    kollar = (await goodbot("directives", report, "--json", *headers, "--dialect", "kollar")).json
    assert (kollar["index"], kollar["dialect"]) == (True, "kollar")


async def test_for_people(report: Path) -> None:
    result = await goodbot("directives", report, "--header", "X-Robots-Tag: noindex, noai")
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert result.status == 0
    assert lines[0] == str(report)
    assert "no index it noindex in X-Robots-Tag" in lines
    assert "yes follow its links" in lines
    assert "yes show an extract of it, 50 characters at most max-snippet:50 in META robots" in lines
    assert "META robots noarchive archive" in lines
    assert "META robots noodp restricts nothing" in lines
    assert "description Of robots" in lines
    assert "Links: 3, of which 1 nofollow, 1 ugc, 1 sponsored." in lines
    assert "data-nosnippet keeps 9 of 27 characters of the page's text out of snippets." in lines
    assert any(line.startswith("ai-train disallowed noai (") for line in lines)
    assert "\x1b" not in result.out


async def test_standard_input() -> None:
    result = await goodbot("directives", "-", "--json", stdin=b"<META NAME=ROBOTS CONTENT=NONE>")
    assert (result.json["index"], result.json["follow"]) == (False, False)


async def test_strangers_signs_do_not_reach_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    file.write_text("<meta name=description content='\x1b[2J'><meta name=url content='/\x1b]0;x\x07'>")
    result = await goodbot("directives", file)
    assert result.status == 0
    assert "\x1b" not in result.out
    assert "\x07" not in result.out


@pytest.mark.parametrize("body", [b"", b"<p>no directive", b"\xff\xfe<\0p\0>\0x\0", "<p>текст".encode("koi8-r")])
async def test_a_page_that_asks_nothing(tmp_path: Path, body: bytes) -> None:
    file = tmp_path / "x.html"
    file.write_bytes(body)
    result = await goodbot("directives", file, "--json")
    assert result.json["index"] is True
    assert result.json["sources"] == []
    told = await goodbot("directives", file)
    assert "No directive was found." in told.out
    assert ("The page is empty." in told.out) == (body == b"")


async def test_what_is_no_html_has_only_header_fields(tmp_path: Path) -> None:
    file = tmp_path / "doc.pdf"
    file.write_bytes(b"%PDF\0<meta name=robots content=nofollow>")
    result = await goodbot("directives", file, "--json", "--header", "X-Robots-Tag: noindex")
    assert (result.json["kind"], result.json["index"], result.json["follow"]) == ("other", False, True)


BAD = [
    ("no file", ["nowhere.html"], "cannot read nowhere.html: No such file"),
    ("a host", ["example.org"], "give the whole URL: https://example.org/"),
    ("a folder", ["."], "Is a directory"),
    ("another scheme", ["ftp://example.org/"], "not an http or https URL"),
    ("binary", ["photo.html"], "not HTML"),
    ("no agent", ["photo.html", "--agent", " "], "--agent"),
    ("no field", ["photo.html", "--header", "noindex"], "--header"),
    ("no dialect", ["photo.html", "--dialect", "google"], "--dialect"),
    ("a field for a URL", ["http://127.0.0.1:9/", "--header", "a: b"], "--header"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), BAD, ids=[case[0] for case in BAD])
async def test_bad_input(tmp_path: Path, name: str, arguments: list[str], said: str) -> None:
    (tmp_path / "photo.html").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    result = await goodbot("directives", *arguments, folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert said in result.complaint


# ---- a URL ----------------------------------------------------------------------------------------------------------


async def test_a_url() -> None:
    async with site() as server:
        result = await goodbot("directives", server.url("/report"), "--json")
        assert server.targets == ["/robots.txt", "/report"]
    found = result.json
    assert (result.status, found["url"]) == (0, server.url("/report"))
    assert (found["archive"], found["follow"], found["closed_to_agent"]) == (False, False, None)
    assert found["preferences"]["ai-train"] == "disallowed"
    assert found["preferences"]["search"] == "allowed"


async def test_a_url_closed_to_the_agent_asked_about() -> None:
    async with site() as server:
        result = await goodbot("directives", server.url("/report"), "--json", "--agent", "OtherBot")
        told = await goodbot("directives", server.url("/report"), "--agent", "OtherBot")
    assert result.status == 0
    assert result.json["closed_to_agent"] == {"line": 6, "rule": "Disallow: /report"}
    assert "OtherBot would never see these directives" in told.out
    assert "line 6" in told.out


async def test_a_url_closed_to_goodbot_is_not_fetched() -> None:
    async with site() as server:
        result = await goodbot("directives", server.url("/closed"), "--json", "--agent", "OtherBot")
        assert server.targets == ["/robots.txt"]
    assert result.status == 1
    assert result.json["closed_to_goodbot"] == {"line": 2, "rule": "Disallow: /closed"}
    assert "closed to goodbot" in result.complaint
    assert "line 2" in result.complaint


async def test_a_redirect_is_followed_with_a_verdict_of_its_own() -> None:
    async with site() as server, site() as other:
        server.routes["/away"] = answer(status=307, headers=[("Location", other.url("/to-closed"))])
        moved = await goodbot("directives", server.url("/moved"), "--json")
        assert moved.json["url"] == server.url("/report")
        server.exchanges.clear()
        away = await goodbot("directives", server.url("/away"))
        assert server.targets == ["/robots.txt", "/away"]
        assert other.targets == ["/robots.txt", "/to-closed"]
    assert away.status == 1
    assert f"{server.url('/away')} leads to {other.url('/closed')}, which is closed" in away.complaint


async def test_at_most_ten_redirects() -> None:
    async with site() as server:
        result = await goodbot("directives", server.url("/round"))
        assert server.targets == ["/robots.txt", *["/round"] * 11]
        for number in range(10):
            server.routes[f"/{number}"] = answer(status=302, headers=[("Location", f"/{number + 1}")])
        server.routes["/10"] = answer(PAGE.encode())
        tenth = await goodbot("directives", server.url("/0"), "--json")
    assert result.status == 3
    assert "redirects" in result.complaint
    assert tenth.json["url"] == server.url("/10")


async def test_other_answers() -> None:
    async with site() as server:
        nowhere = await goodbot("directives", server.url("/nowhere"))
        missing = await goodbot("directives", server.url("/missing"))
        document = await goodbot("directives", server.url("/doc.pdf"), "--json")
        empty = await goodbot("directives", server.url("/empty"))
        told = await goodbot("directives", server.url("/doc.pdf"))
    assert (nowhere.status, missing.status) == (3, 3)
    assert "redirects" in nowhere.complaint
    assert "404" in missing.complaint
    assert (document.json["index"], document.json["kind"]) == (False, "pdf")
    assert "only its HTTP header fields" in told.out
    assert "The page is empty." in empty.out


async def test_a_robots_txt_in_trouble_and_no_server() -> None:
    async with WebServer({"/robots.txt": answer(status=503), "/": answer(b"<p>x")}) as server:
        trouble = await goodbot("directives", server.url())
        assert server.targets == ["/robots.txt"]
    with kept_port() as port:
        silent = await goodbot("directives", f"http://127.0.0.1:{port}/")
    assert (trouble.status, silent.status) == (3, 3)
    assert "503" in trouble.complaint
    assert "connection refused" in silent.complaint


# ---- a crawl --------------------------------------------------------------------------------------------------------


async def test_a_page_is_found_by_a_text_it_does_not_want_shown(tmp_path: Path) -> None:
    secret = b"<title>Page</title><p>Of robots and a zeppelin.</p>"
    async with WebServer(
        {
            "/": answer(b"<title>Home</title><a href=a>a</a><a href=b>b</a><a href=c rel='nofollow'>c</a>"),
            "/a": answer(b"<meta name=robots content=nosnippet><meta name=description content=told>" + secret),
            "/b": answer(b"<p>The airship <span data-nosnippet>is a zeppelin that</span> flies.</p>"),
            "/c": answer(b"<p>zeppelin"),
        }
    ) as server:
        crawled = await goodbot("crawl", server.url(), "--into", tmp_path / "crawl", "--allow-private")
        assert crawled.status == 0
        assert "/c" not in server.targets
    found = await goodbot("search", "zeppelin", "--in", tmp_path / "crawl", "--json")
    assert {hit["url"]: hit["snippet"] for hit in found.json["hits"]} == {
        server.url("/a"): "",
        server.url("/b"): "The airship flies.",
    }
    told = await goodbot("search", "zeppelin", "--in", tmp_path / "crawl")
    assert "Of robots" not in told.out
    assert "is a zeppelin" not in told.out
