"""`goodbot allowed` as its users have it."""

from pathlib import Path

import pytest

from journey.goodbot_process import goodbot
from webserver import WebServer, answer, kept_port

ROBOTS = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: GoodBot\nDisallow:\n"


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    """A robots.txt on disk."""
    file = tmp_path / "robots.txt"
    file.write_bytes(ROBOTS)
    return file


async def test_json(robots: Path) -> None:
    result = await goodbot(
        "allowed", robots, "--agent", "AnyBot/1.0", "/private/x", "https://e.org/private/open", "--json"
    )
    assert result.status == 1
    first, second = result.json
    assert (first["url"], first["agent"], first["dialect"]) == ("/private/x", "AnyBot/1.0", "rfc9309")
    assert (first["allowed"], first["line"], first["rule"]) == (False, 2, "Disallow: /private")
    assert first["section"] == "RFC 9309 2.2.2"
    assert first["reason"]
    assert (second["allowed"], second["line"], second["rule"]) == (True, 3, "Allow: /private/open")


async def test_what_is_no_robots_txt_is_said_once(tmp_path: Path) -> None:
    image, page = tmp_path / "robots.txt", tmp_path / "page"
    image.write_bytes(b"\x89PNG\r\n\x1a\n\0\0" + b"a line\n" * 1_000 + b"User-agent: x\n")
    page.write_bytes(b"<!doctype html>\n<title>Not found</title>\n")
    for command in (("allowed", image, "--agent", "x", "/a"), ("format", image), ("write", "--merge", image, image)):
        result = await goodbot(*command)
        assert (result.status, result.out) == (2, "")
        assert result.complaint.splitlines() == [f"goodbot: {image} is an image (PNG), not a robots.txt"]
    sentences = tmp_path / "README.md"
    sentences.write_text("# Robots\n\nThis robot is good.\n")
    assert "is plain text, not a robots.txt" in (await goodbot("format", sentences)).complaint
    assert "is an HTML page, not" in (await goodbot("allowed", page, "--agent", "x", "/a")).complaint
    checked = await goodbot("check", image, "--json")
    assert (checked.status, [(each["code"], each["severity"]) for each in checked.json]) == (1, [("R108", "error")])


async def test_yes_is_0_and_no_is_1(robots: Path) -> None:
    assert (await goodbot("allowed", robots, "--agent", "GoodBot", "/private/x")).status == 0
    assert (await goodbot("allowed", robots, "--agent", "OtherBot", "/", "/private/x")).status == 1


@pytest.mark.parametrize(
    "url", ["private/x", "", "mailto:me@e.org", "ftp://e.org/private", "https://", "http://[::1/x"]
)
async def test_what_is_no_url_is_no_question(robots: Path, url: str) -> None:
    """No rule would match it, and so it would be allowed."""
    result = await goodbot("allowed", robots, "--agent", "x", "/private", url)
    assert (result.status, result.out) == (2, "")
    assert result.complaint == f"goodbot: neither an http or https URL nor a path that begins with /: {url!r}"


OTHERWISE = ["/a/../private", "https://e.org/a/../private", "https://e.org\\private", "/a/%2e%2e/pri\tvate#x"]


async def test_a_url_is_asked_about_as_robots_request_it(robots: Path) -> None:
    """Dot segments, backslashes and tabs never reach a server: rules for the path as typed would say nothing."""
    result = await goodbot("allowed", robots, "--agent", "x", "--json", "/private", *OTHERWISE)
    assert [verdict["allowed"] for verdict in result.json] == [False] * 5
    assert [verdict["url"] for verdict in result.json] == ["/private", *OTHERWISE]
    assert [verdict["requested_as"] for verdict in result.json] == [
        *("/private", "/private", "https://e.org/private", "https://e.org/private", "/private")
    ]
    shown = await goodbot("allowed", robots, "--agent", "x", "/a/../private", "/private", "https://e.org")
    assert shown.out.splitlines()[::2] == [
        *("disallowed /a/../private  (requested as /private)", "disallowed /private", "allowed    https://e.org")
    ]


async def test_a_url_that_is_too_long(robots: Path) -> None:
    result = await goodbot("allowed", robots, "--agent", "x", "/" + "a" * 8192)
    assert (result.status, result.complaint) == (
        2,
        "goodbot: a URL may have at most 8,192 characters; this one has 8,193",
    )


@pytest.mark.parametrize("site", ["ftp://e.org/", "https://", "file:///robots.txt"])
async def test_what_is_no_site(site: str) -> None:
    result = await goodbot("allowed", site, "--agent", "x", "/private")
    assert (result.status, result.complaint) == (2, f"goodbot: not an http or https URL: {site}")


async def test_standard_input() -> None:
    result = await goodbot("allowed", "-", "--agent", "x", "/private", stdin=ROBOTS)
    assert result.status == 1
    assert "line 2" in result.out
    assert "\x1b" not in result.out


async def test_of_a_site() -> None:
    async with WebServer({"/robots.txt": answer(ROBOTS, headers=[("Content-Type", "text/plain")])}) as server:
        for site in (server.origin, server.url("/robots.txt"), server.url("/any/page")):
            result = await goodbot("allowed", site, "--agent", "x", server.url("/private"), "/open", "--json")
            assert result.status == 1
            assert [verdict["allowed"] for verdict in result.json] == [False, True]
        dotted = await goodbot("allowed", server.origin, "--agent", "x", "/open/../private", "/open")
        first, _, second, _ = dotted.out.splitlines()
        assert (first, second) == (
            *(f"disallowed /open/../private  (requested as {server.url('/private')})", "allowed    /open"),
        )
        assert set(server.targets) == {"/robots.txt"}
        foreign = await goodbot("allowed", server.origin, "--agent", "x", "https://other.example/")
    assert foreign.status == 2
    assert "other.example" in foreign.complaint


async def test_of_a_site_without_an_answer() -> None:
    with kept_port() as port:
        result = await goodbot("allowed", f"http://127.0.0.1:{port}", "--agent", "x", "/", "--json")
    assert result.status == 1
    assert (result.json[0]["access"], result.json[0]["section"]) == ("unreachable", "RFC 9309 2.3.1.4")
