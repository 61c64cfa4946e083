"""`goodbot check` as its users have it."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from journey.goodbot_process import Ended, ended, goodbot, start
from webserver import Exchange, WebServer, answer, kept_port

GOOD = b"User-agent: *\nDisallow: /private/\n\nSitemap: https://example.org/sitemap.xml\n"
BAD = b"User-agent: *\nDisalow: /private/\n"
WARNED = b"User-agent: *\nNoindex: /private/\nDisallow: /tmp/\n"
NOINDEX = b"<!DOCTYPE html>\n<title>Old</title>\n<meta name='robots' content='noindex'>\n"
TEXT = [("Content-Type", "text/plain")]


def codes(result: Ended) -> list[str]:
    return [finding["code"] for finding in result.json]


async def test_people(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(BAD)
    result = await goodbot("check", "robots.txt", folder=tmp_path)
    assert (result.status, result.err) == (1, "")
    assert "robots.txt:2:1: error R203 unknown or misspelt field" in result.out
    assert "     2 | Disalow: /private/\n       | ^^^^^^^\n" in result.out
    assert "fix:      did you mean `Disallow`?" in result.out
    assert result.out.endswith("1 error, 1 warning, 1 info in robots.txt\n")
    assert "\x1b" not in result.out


async def test_programs(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(BAD)
    result = await goodbot("check", "robots.txt", "--json", folder=tmp_path)
    again = await goodbot("check", "robots.txt", "--format", "json", folder=tmp_path)
    assert result.out == again.out
    keys = {"file", "line", "column", "code", "severity", "message", "fix"}
    assert all(keys <= finding.keys() for finding in result.json)
    first = next(finding for finding in result.json if finding["code"] == "R203")
    assert (first["file"], first["line"], first["column"], first["severity"]) == ("robots.txt", 2, 1, "error")
    sarif = (await goodbot("check", "robots.txt", "--format", "sarif", folder=tmp_path)).json
    assert sarif["version"] == "2.1.0"
    github = await goodbot("check", "robots.txt", "--format", "github", folder=tmp_path)
    assert "::error file=robots.txt,line=2,col=1,endColumn=8,title=R203 unknown or misspelt field::" in github.out
    assert github.status == 1


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        (GOOD, (), 0),
        (GOOD, ("--fail-on", "warning"), 0),
        (WARNED, (), 0),
        (WARNED, ("--fail-on", "warning"), 1),
        (WARNED, ("--fail-on", "warning", "--ignore", "R602"), 0),
        (WARNED, ("--fail-on", "warning", "--ignore", "r6"), 0),
        (WARNED + b"# goodbot: ignore-file R602\n", ("--fail-on", "warning"), 0),
        (BAD, (), 1),
        (BAD, ("--quiet",), 1),
        (BAD, ("--ignore", "R2"), 0),
        (b"", (), 0),
        (b"\x00" * 1000, (), 1),
        (NOINDEX, (), 1),
        (NOINDEX, ("--as", "page"), 0),
    ],
)
async def test_the_exit_status(body: bytes, options: tuple[str, ...], status: int) -> None:
    result = await goodbot("check", "-", *options, stdin=body)
    assert result.status == status
    assert result.err == ""


async def test_quiet() -> None:
    everything = await goodbot("check", "-", "--json", stdin=WARNED)
    assert codes(everything) == ["R608", "R602"]
    assert codes(await goodbot("check", "-", "--json", "-q", stdin=WARNED)) == ["R602"]
    quiet = await goodbot("check", "-", "-q", "--fail-on", "info", stdin=b"User-agent: *\nDisallow: /a\n")
    assert (quiet.status, quiet.out) == (1, "0 errors, 0 warnings, 1 info (not shown) in -\n")


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.txt",), "cannot read missing.txt: No such file"),
        ((".",), "cannot read .: Is a directory"),
        (("",), "the name of an input is empty: give a FILE, a URL, or -"),
        (("ftp://example.org/robots.txt",), "not an http or https URL"),
        (("-", "--ignore", "R999"), "there is no code R999"),
        (("-", "--ignore", ""), "there is no code ''"),
        (("-", "--format", "xml"), "'xml' is not one of"),
        (("-", "--fail-on", "never"), "'never' is not one of"),
        (("-", "--url", "nowhere"), "--url must be an http or https URL"),
        (("-", "--url", "https://e.org/", "--url", "https://e.org/"), "--url goes with a FILE"),
        (("-", "--robots", "missing.txt"), "cannot read missing.txt"),
        (("-", "--header", "x"), "--header must be"),
        (("-", "--fix", "--json"), "--fix - writes"),
        (("-", "--config", "missing.toml"), "cannot read missing.toml"),
        ((), "Missing argument"),
    ],
)
async def test_bad_input_is_one_line(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = await goodbot("check", *arguments, folder=tmp_path, stdin=GOOD)
    assert result.status == 2
    assert said in result.complaint


async def test_the_other_inputs_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(BAD)
    (tmp_path / "b.txt").write_bytes(GOOD)
    result = await goodbot("check", "a.txt", "missing.txt", "b.txt", "a.txt", "--json", folder=tmp_path)
    assert result.status == 2
    assert "cannot read missing.txt" in result.complaint
    assert [finding["file"] for finding in result.json if finding["code"] == "R203"] == ["a.txt"]


async def test_standard_input_closed() -> None:
    shell = ("sh", "-c", '"$0" -W error -m goodbot check - <&-', sys.executable)
    result = await ended(await asyncio.create_subprocess_exec(*shell, stdin=PIPE, stdout=PIPE, stderr=PIPE))
    assert result.status == 2
    assert "standard input is closed" in result.complaint


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(bytes(range(256)) * 40_000, marks=pytest.mark.long),
        pytest.param(b"User-agent: *\n" + b"Disallow: /a\n" * 700_000, marks=pytest.mark.long),
        b"User-agent: *\nDisallow: /" + b"y" * 10_000_000,
    ],
    ids=["binary", "lines", "one line"],
)
async def test_ten_megabytes(body: bytes) -> None:
    result = await goodbot("check", "-", stdin=body)
    assert result.status in (0, 1)
    assert result.err == ""
    assert len(result.out) < 100_000


# ---- mending --------------------------------------------------------------------------------------------------------


async def test_fix(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(b"User-agent : *\r\nDisallow: /a\r\nDisalow: /b\r\n")
    result = await goodbot("check", "--fix", "robots.txt", folder=tmp_path)
    assert file.read_bytes() == b"User-agent: *\r\nDisallow: /a\r\nDisalow: /b\r\n"
    assert "-User-agent : *␍\n+User-agent: *␍\n" in result.out
    assert "R202" not in result.out
    assert result.status == 1
    again = await goodbot("check", "--fix", "robots.txt", "--ignore", "R203", folder=tmp_path)
    assert "+++" not in again.out
    assert again.status == 0


async def test_fix_standard_input() -> None:
    result = await goodbot("check", "--fix", "-", stdin=b"User-agent : *\nDisallow: /a\n")
    assert result.out == "User-agent: *\nDisallow: /a\n"
    assert "+User-agent: *" in result.err
    assert "0 errors, 0 warnings, 1 info in -" in result.err


async def test_fix_leaves_pages_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_bytes(NOINDEX)
    result = await goodbot("check", "--fix", "a.html", "--json", folder=tmp_path)
    assert (result.status, result.json) == (0, [])
    assert "a.html is unchanged" in result.complaint
    assert file.read_bytes() == NOINDEX


async def test_fix_cannot_write(tmp_path: Path) -> None:
    """What is no file of its own, such as a pipe, is not written."""
    result = await goodbot("check", "--fix", "--json", "/dev/stdin", stdin=b"User-agent : *\nDisallow: /a\n")
    assert result.status == 3
    assert "cannot write /dev/stdin" in result.err


# ---- settings -------------------------------------------------------------------------------------------------------


async def test_settings(tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text('delay = 2.0\n[check]\nignore = ["R602"]\nfail_on = "info"\n')
    result = await goodbot("check", "-", "--json", folder=tmp_path, stdin=WARNED)
    assert (result.status, codes(result)) == (1, ["R608"])
    option = await goodbot("check", "-", "--json", "--ignore", "R608", folder=tmp_path, stdin=WARNED)
    assert (option.status, codes(option)) == (0, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[check]\nignored = ["R602"]\n', "unknown setting 'ignored' of [check]"),
        ('[chek]\nignore = ["R602"]\n', "unknown setting 'chek'"),
        ('ignore = ["R602"]\n', "unknown setting 'ignore'"),
        ('[check]\nignore = "R602"\n', "ignore must be a list"),
        ('[check]\nignore = ["R9"]\n', "there is no code R9"),
        ('[check]\nfail_on = "never"\n', "fail_on must be one of"),
        ("check = 1\n", "[check] must be a table"),
        ("check = \n", "is not TOML"),
    ],
)
async def test_wrong_settings(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text(text)
    result = await goodbot("check", "-", folder=tmp_path, stdin=GOOD)
    assert result.status == 2
    assert said in result.complaint


# ---- pages ----------------------------------------------------------------------------------------------------------


async def test_a_robots_txt_and_a_page_together(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /old/\nSitemap: https://example.org/s.xml\n")
    (tmp_path / "a.html").write_bytes(NOINDEX)
    place = ("--url", "https://example.org/old/a.html")
    result = await goodbot("check", "robots.txt", "a.html", *place, "--json", folder=tmp_path)
    found = [(each["file"], each["code"], each["line"], each["column"]) for each in result.json]
    assert ("robots.txt", "R507", 2, 1) in found
    assert ("a.html", "R705", 3, 1) in found
    only = await goodbot("check", "a.html", "--robots", "robots.txt", *place, "--json", folder=tmp_path)
    assert codes(only) == ["R705"]
    elsewhere = await goodbot(
        "check", "robots.txt", "a.html", "--url", "https://example.org/a", "--json", folder=tmp_path
    )
    assert codes(elsewhere) == [code for _, code, _, _ in found if code not in ("R507", "R705")]


async def test_header_fields_of_a_page() -> None:
    page = b"<!DOCTYPE html>\n<meta name=robots content=index>\n"
    result = await goodbot("check", "-", "--as", "page", "--header", "X-Robots-Tag: noindex", "--json", stdin=page)
    assert codes(result) == ["R706"]


# ---- URLs -----------------------------------------------------------------------------------------------------------


async def test_a_site() -> None:
    routes = {
        "/robots.txt": answer(BAD, headers=[("Content-Type", "text/html"), ("Cache-Control", "max-age=999999")]),
        "/a/robots.txt": answer(GOOD, headers=TEXT),
        "/page": answer(NOINDEX),
    }
    async with WebServer(routes) as server:
        site = await goodbot("check", server.url("/"), "--json", "-q")
        folder = await goodbot("check", server.url("/a/robots.txt"), "--json", "-q")
        page = await goodbot("check", server.url("/page"), "--json")
        as_robots = await goodbot("check", server.url("/page"), "--as", "robots", "--json", "-q")
    assert (site.status, codes(site)) == (1, ["R004", "R207", "R203"])
    assert {finding["file"] for finding in site.json} == {server.url("/")}
    assert (folder.status, codes(folder)) == (1, ["R009"])
    assert (page.status, codes(page)) == (0, [])
    assert codes(as_robots) == ["R003", "R009"]


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (answer(b"", 503), ["R001"]),
        (answer(b"", 402), ["R001"]),
        (answer(b"", 304), ["R001"]),
        (answer(b"", 403), ["R002"]),
        (answer(b"", 301, [("Location", "/robots.txt")]), ["R005"]),
        (answer(b"", 302, [("Location", "/b"), ("Retry-After", "9999")]), ["R005"]),
        (None, ["R001"]),
    ],
    ids=["503", "402", "304", "403", "to itself", "there and back", "no answer"],
)
async def test_answers_that_are_one_finding(route: bytes | None, expected: list[str]) -> None:
    async def hangs_up(exchange: Exchange) -> None:
        await exchange.reset()

    back = answer(b"", 302, [("Location", "/robots.txt")])
    async with WebServer({"/robots.txt": route or hangs_up, "/b": back}) as server:
        result = await goodbot("check", server.url("/"), "--json")
    assert codes(result) == expected
    assert result.err == ""


async def test_a_closed_page_is_never_fetched() -> None:
    asked: list[str] = []

    async def page(exchange: Exchange) -> None:
        asked.append(exchange.target)
        await exchange.send(answer(NOINDEX))

    async with WebServer(
        {"/robots.txt": answer(b"User-agent: *\nDisallow: /old/\n", headers=TEXT), "/old/a": page}
    ) as server:
        result = await goodbot("check", server.url("/old/a"), "--json")
    assert (result.status, result.json, asked) == (1, [], [])
    assert "is closed to goodbot, so it was not fetched" in result.complaint


async def test_sitemaps_are_asked_for_when_wanted() -> None:
    asked: list[str] = []

    async def sitemap(exchange: Exchange) -> None:
        asked.append(exchange.target)
        await exchange.send(answer(b"", 404))

    async def robots(exchange: Exchange) -> None:
        lines = [
            "User-agent: *",
            "Disallow: /closed",
            *(f"Sitemap: {server.url(path)}" for path in ("/map.xml", "/closed")),
        ]
        await exchange.send(answer("\n".join(lines).encode(), headers=TEXT))

    async with WebServer({"/robots.txt": robots, "/map.xml": sitemap}) as server:
        without = await goodbot("check", server.url("/"), "--json", "-q")
        assert (codes(without), asked) == (["R605"], [])
        result = await goodbot("check", server.url("/"), "--json", "-q", "--sitemaps")
    assert asked == ["/map.xml"]
    assert [(each["code"], each["line"]) for each in result.json] == [("R605", 3), ("R605", 4)]


async def test_no_server() -> None:
    with kept_port() as port:
        result = await goodbot("check", f"http://127.0.0.1:{port}/page")
        robots = await goodbot("check", f"http://127.0.0.1:{port}/robots.txt", "--json")
    assert result.status == 3
    assert result.complaint
    assert (robots.status, codes(robots)) == (1, ["R001"])


async def test_the_reader_has_gone() -> None:
    """`| head` changes no exit status."""
    process = await start("check", "-", "--format", "github")
    assert process.stdout is not None
    process.stdout._transport.close()  # type: ignore[attr-defined]
    result = await ended(process, b"User-agent: *\n" + b"Disalow: /a\n" * 5_000)
    assert result.status == 1
    assert "Traceback" not in result.err
