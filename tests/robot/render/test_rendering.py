"""Pages in a real Chromium: their DOM, what they may request, and that all requests go through the robot."""

import asyncio
import json

import psutil
import pytest

from goodbot.errors import InputError
from goodbot.robot.render.chromium import Chromium, open_chromium
from robot.render.rendering_rig import (
    CHROMIUM,
    JSON,
    NEEDS_CHROMIUM,
    SCRIPT,
    TEXT,
    rig,
    scripted,
    story,
)
from webserver import Exchange, Route, WebServer, answer

pytestmark = NEEDS_CHROMIUM

# ---- what pages are made into ---------------------------------------------------------------------------------------


async def test_text_and_links_that_only_scripts_bring_are_found() -> None:
    app = """fetch("/api/list").then(answer => answer.json()).then(list => {
        document.title = "Animals";
        document.querySelector("main").innerHTML = list.map(x => `<a href="/animal/${x}">the ${x}</a>`).join(" ");
    })"""
    routes: dict[str, Route] = {
        "/": answer(b"<!doctype html><title>shell</title><main></main><script src=/app.js></script>"),
        "/app.js": answer(app.encode(), headers=SCRIPT),
        "/api/list": answer(json.dumps(["zebra", "gnu"]).encode(), headers=JSON),
    }
    async with rig(routes) as made:
        page, rendered = await made.render()
        assert page.title == "Animals"
        assert page.text == "the zebra the gnu"
        assert [link.url.path for link in page.links] == ["/animal/zebra", "/animal/gnu"]
        assert made.server.targets == ["/robots.txt", "/", "/app.js", "/api/list"]
        assert [capture.request.url.path for capture, _ in made.kept] == ["/app.js", "/api/list"]
        assert "2 requests, 2 answered" in story(rendered)
        assert rendered.ready_at > 0


@pytest.mark.long
async def test_a_script_of_many_pages_is_requested_once() -> None:
    page = answer(b"<p>text</p><script src=/app.js></script>")
    routes: dict[str, Route] = {
        "/1": page,
        "/2": page,
        "/app.js": answer(b"document.body.append(' and more')", headers=SCRIPT),
    }
    async with rig(routes) as made:
        first, _ = await made.render("/1")
        second, _ = await made.render("/2")
        assert (first.text, second.text) == ("text\nand more", "text\nand more")
        assert made.server.targets.count("/app.js") == 1


async def test_a_request_that_robots_txt_forbids_is_refused_and_named_with_its_line() -> None:
    script = """fetch("/private/api").then(() => document.title = "got it", () => document.title = "forbidden")"""
    routes: dict[str, Route] = {
        "/robots.txt": answer(b"User-agent: *\nDisallow: /private/\n", headers=TEXT),
        "/": scripted(script),
    }
    async with rig(routes) as made:
        page, rendered = await made.render()
        assert page.title == "forbidden"
        assert made.server.targets == ["/robots.txt", "/"]
        forbidden = rendered.events[0]
        assert (forbidden.step, forbidden.decision, forbidden.line) == ("permission", "disallowed", 2)
        assert f"{made.server.origin}/private/api" in forbidden.reason


async def test_the_robots_txt_of_each_origin_decides() -> None:
    async with WebServer({"/robots.txt": answer(b"User-agent: *\nDisallow: /\n", headers=TEXT)}) as other:
        script = (
            f"document.head.append(Object.assign(document.createElement('script'), {{src: '{other.url('/x.js')}'}}))"
        )
        async with rig({"/": scripted(script)}) as made:
            _, rendered = await made.render()
            assert other.targets == ["/robots.txt"]
            assert other.url("/x.js") in rendered.events[0].reason


REFUSED = [
    ("an image", "document.body.append(Object.assign(new Image(), {src: '/no'}))", ""),
    ("a beacon", "navigator.sendBeacon('/no', 'x')", "ping"),
    ("a POST", "fetch('/no', {method: 'POST', body: 'x'}).catch(() => 0)", "not a GET"),
    ("a prefetch", "document.head.insertAdjacentHTML('beforeend', '<link rel=prefetch href=/no>')", ""),
    ("a sound", "new Audio('/no').play().catch(() => 0)", "media"),
    ("events", "new EventSource('/no')", "eventsource"),
    ("a font", "new FontFace('f', 'url(/no)').load().catch(() => 0)", "font"),
]


@pytest.mark.long
@pytest.mark.parametrize(("script", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_not_fetched(script: str, reason: str) -> None:
    async with rig({"/": scripted(script)}) as made:
        _, rendered = await made.render()
        assert made.server.targets == ["/robots.txt", "/"]
        assert reason in story(rendered)


@pytest.mark.long
async def test_where_a_script_wants_to_go_is_a_link_and_the_tab_stays() -> None:
    async with rig({"/": scripted("location = '/next?page=2'", body="still here")}) as made:
        page, _ = await made.render()
        assert page.text == "still here"
        assert [link.url.target for link in page.links] == ["/next?page=2"]
        assert made.server.targets == ["/robots.txt", "/"]


META = "<meta name=robots content={}>"
ROBOTS = [
    ("before and after", META.format("noindex"), "", False, True),
    ("before only", META.format("noindex"), "document.querySelector('meta').remove()", False, True),
    (
        "after only",
        "",
        "document.head.insertAdjacentHTML('beforeend', '<meta name=robots content=nofollow>')",
        True,
        False,
    ),
    (
        "changed",
        META.format("noindex"),
        "document.querySelector('meta').content = 'nofollow'",
        False,
        False,
    ),
    ("neither", "", "0", True, True),
]


@pytest.mark.long
@pytest.mark.parametrize(("head", "script", "index", "follow"), [row[1:] for row in ROBOTS], ids=[r[0] for r in ROBOTS])
async def test_the_more_restrictive_directive_of_a_page_applies(
    head: str, script: str, index: bool, follow: bool
) -> None:
    async with rig({"/": scripted(script, head=head)}) as made:
        page, _ = await made.render()
        assert (page.directives.index, page.directives.follow) == (index, follow)


async def test_pages_without_anything_to_run_are_not_rendered() -> None:
    routes: dict[str, Route] = {
        "/": answer(b"<p>plain words</p>"),
        "/text": answer(b"<script>", headers=TEXT),
        "/404": answer(b"<script>0</script>", 404),
    }
    async with rig(routes) as made:
        for target in routes:
            assert await made.renderer.render(await made.fetch(target)) is None


async def test_pages_of_a_type_the_crawl_does_not_want_are_not_rendered() -> None:
    async with rig({"/": scripted("0")}, types=("text/plain",)) as made:
        assert await made.renderer.render(await made.fetch()) is None


# ---- what pages may not do ------------------------------------------------------------------------------------------

UNENDING_S = 10.0
"""For what never ends; a page is there long before, also on a busy machine."""
UNENDING = [
    ("a loop", "document.title = 'before'; while (true) {}"),
    ("a loop of timers", "document.title = 'before'; setInterval(() => { while (true) {} }, 0)"),
    ("alerts", "document.title = 'before'; while (true) alert('still here')"),
    ("a loop that listens", "document.title = 'before'; addEventListener('load', () => { while (true) {} })"),
    ("promises", "document.title = 'before'; (function f() { Promise.resolve().then(f) })()"),
    ("words", "document.title = 'before'; for (;;) console.log('x'.repeat(1e6))"),
]


@pytest.mark.long
@pytest.mark.parametrize("script", [row[1] for row in UNENDING], ids=[row[0] for row in UNENDING])
async def test_what_never_ends_is_ended_and_what_was_made_until_then_is_read(script: str) -> None:
    async with rig({"/": scripted(script)}, render_time=UNENDING_S) as made:
        page, rendered = await made.render()
        assert page.title == "before"
        assert "when its time was over" in story(rendered)
        assert rendered.unfinished.startswith("its scripts were still at work after ")
        assert await made.after() == "well"
        async with asyncio.timeout(60):
            while busy_tabs(made.browser):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.1)


def busy_tabs(browser: Chromium) -> list[int]:
    """Processes of the browser that still work."""
    assert browser._running is not None
    busy = []
    for process in psutil.Process(browser._running.pid).children(recursive=True):
        try:
            if process.cpu_percent(0.2) > 50:
                busy.append(process.pid)
        except psutil.NoSuchProcess:
            pass  # it has ended since
    return busy


FLOODS = [
    ("requests", "for (let n = 0; n < 5000; n++) fetch('/' + n).catch(() => 0)"),
    ("requests without end", "for (let n = 0; ; n++) fetch('/' + n, {method: 'POST'}).catch(() => 0)"),
    ("frames", "for (let n = 0; n < 3000; n++) document.body.append(document.createElement('iframe'))"),
    ("windows", "for (let n = 0; n < 3000; n++) window.open('/' + n)"),
    (
        "downloads",
        "const a = Object.assign(document.createElement('a'), {href: 'data:,', download: 'x'}); while (true) a.click()",
    ),
    ("sockets", "for (let n = 0; n < 2000; n++) new WebSocket('ws://127.0.0.1/' + n)"),
    ("history", "for (let n = 0; n < 5000; n++) history.pushState({}, '', '/' + n)"),
    ("reloads", "location.reload(); setInterval(() => location.reload(), 1)"),
]


@pytest.mark.long
@pytest.mark.parametrize("script", [row[1] for row in FLOODS], ids=[row[0] for row in FLOODS])
async def test_floods_are_bounded(script: str) -> None:
    """Nothing here hangs on how far the page has come when it is stopped."""
    routes: dict[str, Route] = {"/": scripted(script, body="text")}
    async with rig(routes, patience_s=5.0, render_time=3.0, render_requests=5) as made:
        page, _ = await made.render()
        assert page.text.startswith("text")
        assert len(made.server.targets) <= 2 + 5
        assert await made.after() == "well"


HOGS = [
    ("words", "let held = ['word']; for (;;) held = held.concat(held)", "as it came"),
    ("buffers", "const held = []; for (;;) held.push(new Uint8Array(1e8).fill(1))", "rendered"),
]


@pytest.mark.long
@pytest.mark.parametrize(("script", "read"), [row[1:] for row in HOGS], ids=[row[0] for row in HOGS])
async def test_a_page_that_fills_the_memory_loses_its_tab_or_gets_no_more(script: str, read: str) -> None:
    """More buffers are refused, and the page goes on without; other memory is the end of the tab."""
    async with rig({"/": scripted(script, body="text")}) as made:
        page, rendered = await made.render()
        assert (page.title, page.text) == ("as it came", "text")
        assert rendered.events[-1].decision == read
        assert await made.after() == "well"


@pytest.mark.long
async def test_a_document_too_long_is_cut() -> None:
    script = "document.body.append('word '.repeat(2e6))"
    async with rig({"/": scripted(script)}) as made:
        _, rendered = await made.render()
        assert rendered.html is not None
        assert len(rendered.html) == 2 * 1024 * 1024
        assert "longer than the part that is read" in story(rendered)


@pytest.mark.long
async def test_a_killed_browser_is_restarted(caplog: pytest.LogCaptureFixture) -> None:
    asks = "const x = new XMLHttpRequest(); x.open('GET', '/asked', false); x.send(); while (true) {}"
    async with rig({"/": scripted("document.title = 'well'"), "/slow": scripted(asks)}) as made:
        assert made.browser._running is not None
        killing = psutil.Process(made.browser._running.pid)

        async def kill(exchange: Exchange) -> None:
            killing.kill()
            await exchange.send(answer())

        made.server.routes["/asked"] = kill
        lost, rendered = await made.render("/slow")
        assert lost.title == "as it came"
        assert "tab was lost" in story(rendered)
        page, rendered = await made.render()
        assert page.title == "well", story(rendered)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "the rendering browser ended" in caplog.text


@pytest.mark.long
async def test_a_browser_whose_end_is_not_yet_noticed_is_replaced() -> None:
    async with rig({"/": scripted("document.title = 'well'")}) as made:
        capture = await made.fetch()
        assert made.browser._running is not None
        psutil.Process(made.browser._running.pid).kill()
        rendered = await made.renderer.render(capture)
        assert rendered is not None
        assert rendered.html is not None, story(rendered)
        assert "<title>well</title>" in rendered.html


async def test_nothing_of_a_browser_is_left() -> None:
    browser = await open_chromium(str(CHROMIUM), "goodbot/1")
    assert browser._running is not None
    family = [psutil.Process(browser._running.pid)]
    family += family[0].children(recursive=True)
    await browser.close()
    _, alive = psutil.wait_procs(family, timeout=0)
    async with asyncio.timeout(60):
        while any(map(works, alive)):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.1)


def works(process: psutil.Process) -> bool:
    """Whether it has not ended; in a container it may then wait for ever to be buried."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def test_a_missing_browser_is_reported_in_one_line() -> None:
    with pytest.raises(InputError, match="no browser can be run at /nowhere/chromium"):
        await open_chromium("/nowhere/chromium", "goodbot/1")
    with pytest.raises(InputError, match="Chromium does not start"):
        await open_chromium("/bin/false", "goodbot/1")
