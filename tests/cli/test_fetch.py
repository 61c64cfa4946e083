"""`goodbot fetch` as its users have it: formats, refusals, exit statuses, bad input."""

import json
import signal
from pathlib import Path

import pytest

from goodbot.cli.fetch import exit_status
from goodbot.cli.fetch_report import front_matter, trouble_line
from goodbot.exclusion import Verdict
from goodbot.robot.client.reading import Reading
from goodbot.values import Failure
from journey.goodbot_process import ended, goodbot, start
from page.documents import made_pdf
from robot.render.rendering_rig import NEEDS_CHROMIUM
from webserver import Exchange, Handler, WebServer, answer, kept_port, resetting

PLAIN = [("Content-Type", "text/plain")]
SENTENCE = "The first clocks had no hands, and a bell told everybody in the town what time it was, day and night."
PAGE = f"""<!doctype html><html lang="en"><title>Old clocks | Clock Site</title><meta name="author" content='Ann "A" E'>
<meta property="article:published_time" content="2026-03-04T10:00:00Z"><meta name="robots" content="nosnippet">
<nav><a href="/shop">Shop</a></nav><main><h1>Old clocks</h1><p>{SENTENCE}</p><p>{SENTENCE}</p>
<p>{SENTENCE} <a href="hands">Hands</a></p><p data-nosnippet>A remark.</p></main><footer>Imprint</footer>"""
ROBOTS = b"User-agent: *\nDisallow: /closed\nContent-Signal: search=yes, ai-input=no\n"
FEED = (
    b"<rss><channel><title>News</title><link>/</link><item><title>One</title><link>/one</link></item></channel></rss>"
)


def site(more: dict[str, bytes | Handler] | None = None) -> WebServer:
    """A page, other documents, what robots.txt disallows, and what fails."""
    pages: dict[str, bytes | Handler] = {
        "/robots.txt": answer(ROBOTS, headers=PLAIN),
        "/clocks": answer(PAGE.encode()),
        "/moved": answer(status=301, headers=[("Location", "/clocks")]),
        "/to-closed": answer(status=302, headers=[("Location", "/closed")]),
        "/closed": answer(b"<p>secret"),
        "/t.txt": answer(b"plain\ttext", headers=PLAIN),
        "/doc": answer(made_pdf(["A line"]), headers=[("Content-Type", "application/pdf")]),
        "/feed": answer(FEED, headers=[("Content-Type", "application/rss+xml")]),
        "/image": answer(b"\x89PNG", headers=[("Content-Type", "image/png")]),
        "/broken": answer(b"<p>Sorry", 500),
        "/to-file": answer(status=302, headers=[("Location", "file:///etc/passwd")]),
        "/empty": answer(b""),
    }
    return WebServer(pages | (more or {}))


# ---- formats --------------------------------------------------------------------------------------------------------


async def test_a_page_as_markdown() -> None:
    async with site() as server:
        result = await goodbot("fetch", server.url("/moved"), "--allow-private")
        assert (result.status, result.err) == (0, "")
        head, _, body = result.out.removeprefix("---\n").partition("---\n")
        assert head == (
            f'url: "{server.url("/clocks")}"\n'
            'title: "Old clocks"\nauthor: "Ann \\"A\\" E"\ndate: "2026-03-04"\nlang: "en"\n'
        )
        assert body == (
            f"\n# Old clocks\n\n{SENTENCE}\n\n{SENTENCE}\n\n{SENTENCE} [Hands]({server.url('/hands')})\n\nA remark.\n"
        )
        assert server.targets == ["/robots.txt", "/moved", "/clocks"]
        agent = server.exchanges[-1].header("User-Agent")
        assert agent is not None
        assert "goodbot" in agent


async def test_a_page_as_text_and_html_and_whole() -> None:
    async with site() as server:
        url = server.url("/clocks")
        text = await goodbot("fetch", url, "--allow-private", "--as", "text")
        assert (text.status, text.out.count(SENTENCE), "Imprint" in text.out) == (0, 3, False)
        html = await goodbot("fetch", url, "--allow-private", "--as", "html")
        assert f'<a href="{server.url("/hands")}">Hands</a>' in html.out
        whole = await goodbot("fetch", url, "--allow-private", "--whole")
        assert f"[Shop]({server.url('/shop')})" in whole.out
        assert "Imprint" in whole.out


async def test_json_has_everything() -> None:
    async with site() as server:
        result = await goodbot("fetch", server.url("/moved"), server.url("/closed"), "--allow-private", "--json")
        assert (result.status, len(result.err.splitlines())) == (1, 1)
        page, closed = result.json
        assert (page["url"], page["final_url"], page["status"]) == (server.url("/moved"), server.url("/clocks"), 200)
        assert (page["title"], page["author"], page["date"], page["lang"]) == (
            "Old clocks",
            'Ann "A" E',
            "2026-03-04",
            "en",
        )
        assert [link["url"] for link in page["links"]] == [server.url("/shop"), server.url("/hands")]
        assert (page["directives"]["snippet"], page["directives"]["index"]) == (False, True)
        assert page["preferences"] == {"search": "allowed", "ai-input": "disallowed", "ai-train": "unknown"}
        assert (page["verdict"]["allowed"], page["trouble"]) == (True, None)
        assert (closed["text"], closed["markdown"], closed["status"]) == ("", "", None)
        assert (closed["verdict"]["line"], closed["verdict"]["rule"]) == (2, "Disallow: /closed")
        assert closed["directives"] is None  # nothing is known about the page
        same = await goodbot("fetch", server.url("/moved"), server.url("/closed"), "--allow-private", "--as", "json")
        assert same.json == result.json


async def test_other_documents() -> None:
    async with site() as server:
        urls = [server.url(target) for target in ("/t.txt", "/doc", "/feed")]
        result = await goodbot("fetch", *urls, "--allow-private")
        assert (result.status, result.err) == (0, "")
        assert result.out == (
            f'---\nurl: "{urls[0]}"\n---\n\n```text\nplain\ttext\n```\n\n---\nurl: "{urls[1]}"\n---\n\nA line\n\n'
            f'---\nurl: "{urls[2]}"\ntitle: "News"\n---\n\n'
            f"# [News]({server.url('/')})\n\n- [One]({server.url('/one')})\n"
        )
        text = await goodbot("fetch", urls[0], urls[1], "--allow-private", "--as", "text")
        assert text.out == f"==> {urls[0]} <==\nplain\ttext\n\n==> {urls[1]} <==\nA line\n"
        html = await goodbot("fetch", urls[0], urls[2], "--allow-private", "--as", "html")
        assert html.out.startswith(f'<!-- {urls[0]} -->\n<pre><code class="language-text">plain\ttext\n</code></pre>\n')


async def test_output_goes_to_a_file(tmp_path: Path) -> None:
    async with site() as server:
        file = tmp_path / "page.md"
        arguments = ("--allow-private", "-o", file)
        assert (await goodbot("fetch", server.url("/clocks"), server.url("/closed"), *arguments)).status == 1
        assert SENTENCE in file.read_text()
        for target, status in (("/broken", 3), ("/closed", 1)):
            assert (await goodbot("fetch", server.url(target), *arguments)).status == status
            assert SENTENCE in file.read_text()  # it keeps what it had


@pytest.mark.parametrize("form", [("--json",), ("--as", "json")])
@pytest.mark.parametrize(("target", "status"), [("/broken", 3), ("/closed", 1)])
async def test_json_in_a_file_says_why_nothing_was_read(
    form: tuple[str, ...], target: str, status: int, tmp_path: Path
) -> None:
    file = tmp_path / "pages.json"
    file.write_text("old")
    async with site() as server:
        result = await goodbot("fetch", server.url(target), "--allow-private", *form, "-o", file)
        assert (result.status, result.out) == (status, "")
        (reading,) = json.loads(file.read_text())
        assert (reading["url"], reading["text"]) == (server.url(target), "")
        assert reading["trouble"]
        wrong = await goodbot("fetch", "ftp://example.org/", *form, "-o", file)
        assert (wrong.status, len(json.loads(file.read_text()))) == (2, 1)


# ---- refusals and failures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["/closed", "/to-closed"])
async def test_a_disallowed_page_names_the_rule(target: str) -> None:
    async with site() as server:
        result = await goodbot("fetch", server.url(target), "--allow-private")
        assert (result.status, result.out) == (1, "")
        led = f" (to which {server.url(target)} redirects)" if target == "/to-closed" else ""
        begin = f"goodbot: not fetched: {server.url('/closed')}{led}: robots.txt disallows it for goodbot: "
        assert result.complaint.startswith(f"{begin}Disallow: /closed (line 2)")
        assert "/closed" not in server.targets


@pytest.mark.parametrize(
    ("targets", "status", "complaint"),
    [
        (["/broken"], 3, "status 500"),
        (["/image"], 3, "goodbot does not read image/png"),
        (["/broken", "/clocks"], 1, "status 500"),
        (["/to-file"], 3, "status 302 Found, a redirect to 'file:///etc/passwd'"),
        (["/empty"], 3, "/empty: it has no text; its scripts may write it (render it: --render, or render=True)"),
        (["/image", "/closed"], 3, "image/png"),
        (["/closed", "/closed"], 1, "Disallow: /closed"),
    ],
)
async def test_exit_statuses(targets: list[str], status: int, complaint: str) -> None:
    async with site() as server:
        result = await goodbot("fetch", *map(server.url, targets), "--allow-private")
        assert result.status == status
        assert complaint in result.err


async def test_a_server_that_does_not_answer_is_a_failure() -> None:
    with kept_port() as port:
        result = await goodbot("fetch", f"http://127.0.0.1:{port}/", "--allow-private")
    assert (result.status, result.out) == (3, "")
    assert "connection refused" in result.complaint


async def test_an_unreachable_robots_txt_is_a_failure() -> None:
    async with site({"/robots.txt": answer(b"", 503)}) as server:
        result = await goodbot("fetch", server.url("/clocks"), "--allow-private")
        assert (result.status, result.out) == (3, "")
        assert result.complaint.startswith(f"goodbot: not fetched: {server.url('/clocks')}: ")
        assert "503" in result.complaint
        assert "forbidden" not in result.complaint


async def test_a_robots_txt_without_an_answer_is_named() -> None:
    async with site({"/robots.txt": resetting()}) as server:
        result = await goodbot("fetch", server.url("/clocks"), "--allow-private")
        assert (result.status, result.out) == (3, "")
        assert result.complaint.startswith(f"goodbot: cannot read {server.url('/clocks')}: robots.txt is unreachable: ")
        assert set(server.targets) == {"/robots.txt"}


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_named_with_a_time(status: int) -> None:
    busy = answer(b"", status, [("Retry-After", "Fri, 31 Dec 2100 23:59:59 GMT")])
    async with site({"/busy": busy}) as server:
        result = await goodbot("fetch", server.url("/busy"), "--allow-private")
        assert result.status == 3
        assert f"status {status} " in result.complaint
        assert ", which asks for no request before 2100-12-31 23:59:59 UTC" in result.complaint


async def test_what_was_not_read_of_a_page_is_a_message() -> None:
    async with site({"/long": answer((PAGE + "<p>word</p>" * 200_000).encode())}) as server:
        for form in ("text", "markdown"):
            result = await goodbot("fetch", server.url("/long"), "--allow-private", "--as", form)
            assert (result.status, SENTENCE in result.out) == (0, True)
            assert "only the first 2.1 MB were read" in result.err
        assert (await goodbot("fetch", server.url("/long"), "--allow-private", "-q")).err == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["ftp://example.org/"], "not an http or https URL: 'ftp://example.org/'"),
        (["example.org"], "did you mean https://example.org/ ?"),
        (["example.org/a"], "did you mean https://example.org/a ?"),
        ([""], "not an http or https URL: ''"),
        (["https://example.org/"], "--contact"),
        (["https://example.org/", "--contact", "nobody"], "--contact"),
        (["http://127.0.0.1:1/"], "add --allow-private"),
        (["http://127.0.0.1:1/", "--allow-private", "--agent", "a b"], "--agent"),
        (["http://127.0.0.1:1/", "--allow-private", "--as", "pdf"], "--as"),
        (
            ["http://127.0.0.1:1/", "--as", "text", "--json"],
            "--json means --as json: leave out --json or --as text",
        ),
        (["http://127.0.0.1:1/", "--allow-private", "--ca-file", "missing.pem"], "missing.pem"),
        (["http://127.0.0.1:1/"] * 10_001, "goodbot crawl --seeds"),
        ([], "URL"),
    ],
)
async def test_bad_input_is_one_line(arguments: list[str], complaint: str) -> None:
    result = await goodbot("fetch", *arguments)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.complaint


async def test_one_public_url_without_a_contact_and_nothing_is_fetched() -> None:
    async with site() as server:
        result = await goodbot("fetch", server.url("/clocks"), "https://example.org/", "--allow-private")
        assert (result.status, server.targets) == (2, [])


async def test_ctrl_c_ends_it() -> None:
    async def silence(exchange: Exchange) -> None:
        await exchange.client_left()

    async with site({"/slow": silence}) as server:
        process = await start("fetch", server.url("/slow"), "--allow-private")
        await server.received(2)
        process.send_signal(signal.SIGINT)
        result = await ended(process)
        assert (result.status, result.out) == (130, "")
        assert "Traceback" not in result.err


async def test_results_come_in_the_order_of_the_urls() -> None:
    async with site() as server:
        urls = [server.url(f"/clocks?{number}") for number in (3, 1, 2)]
        result = await goodbot("fetch", *urls, "--allow-private", "--json")
        assert [reading["url"] for reading in result.json] == urls
        assert server.targets.count("/robots.txt") == 1


@pytest.mark.long
async def test_a_host_that_asks_for_a_long_delay_is_named_once() -> None:
    robots = answer(b"User-agent: *\nCrawl-delay: 3\n", headers=PLAIN)
    async with site({"/robots.txt": robots}) as server:
        result = await goodbot("fetch", server.url("/clocks"), server.url("/t.txt"), "--allow-private")
        assert result.status == 0
        assert result.err == "goodbot: waiting, because 127.0.0.1 asks for 3 s between requests\n"


async def test_text_from_outside_does_not_steer_a_terminal() -> None:
    evil = "<title>a\x1b]0;b\x07</title><p>c\x9b31m\x00d<p>e\u202ef"
    async with site({"/evil": answer(evil.encode())}) as server:
        for form in ("markdown", "text", "html"):
            result = await goodbot("fetch", server.url("/evil"), "--allow-private", "--as", form)
            assert not {"\x1b", "\x07", "\x9b", "\x00"} & set(result.out)


# ---- the report -----------------------------------------------------------------------------------------------------

OPEN = Verdict(True, None, None, "It is open.", "RFC 9309 2.2.2", agent="goodbot")
CLOSED = Verdict(False, 2, "Disallow: /", "Disallow: / (line 2) matches.", "RFC 9309 2.2.2", agent="goodbot")
HELD = Reading("u", "u", OPEN, held_until=0.0, trouble="the host may not be requested before 0 (Unix seconds)")
READ = Reading("u", "u", OPEN, 200, text="t", markdown="t")
FAILED = Reading("u", "u", OPEN, failure=Failure("dns", "no such host"), trouble="dns: no such host")
REFUSED = Reading("u", "u", CLOSED, trouble="disallowed by robots.txt")


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([READ], 0),
        ([READ, READ], 0),
        ([REFUSED], 1),
        ([FAILED], 3),
        ([HELD], 3),
        ([REFUSED, FAILED], 3),
        ([READ, FAILED], 1),
        ([READ, REFUSED], 1),
    ],
)
def test_the_exit_status_of_several(readings: list[Reading], expected: int) -> None:
    assert exit_status(readings) == expected


def test_a_host_that_must_be_left_alone_is_named_with_a_time() -> None:
    line = trouble_line(HELD)
    assert line is not None
    assert line.startswith("not fetched: u: its host may not be requested before 1970-01-01")


def test_front_matter_is_json_in_yaml() -> None:
    title = 'a: "b" \\ # c\n---\nurl: d'
    rows = front_matter(Reading("u", "v", OPEN, title=title)).splitlines()
    assert rows[0] == rows[-1] == "---"
    assert {name: json.loads(value) for name, _, value in (row.partition(": ") for row in rows[1:-1])} == {
        "url": "v",
        "title": title,
    }


# ---- rendering ------------------------------------------------------------------------------------------------------


@pytest.mark.long
@NEEDS_CHROMIUM
async def test_scripts_run_with_render() -> None:
    page = (
        b"<title>Before</title><main><p id=p>empty</p></main><script>fetch('/data').then(r => r.text()).then(t => "
        b"{ document.title = 'After'; document.getElementById('p').textContent = t })</script>"
    )
    data = answer(SENTENCE.encode() * 4, headers=PLAIN)
    async with site({"/app": answer(page), "/data": data}) as server:
        plain = await goodbot("fetch", server.url("/app"), "--allow-private", "--json")
        assert (plain.json[0]["title"], plain.json[0]["text"]) == ("Before", "empty")
        rendered = await goodbot("fetch", server.url("/app"), "--allow-private", "--render", "--json")
        assert (rendered.status, rendered.err) == (0, "")
        assert rendered.json[0]["title"] == "After"
        assert SENTENCE in rendered.json[0]["text"]
        assert "/data" in server.targets
        assert server.targets.count("/robots.txt") == 2  # once for each command
