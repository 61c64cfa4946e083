"""The pages for visitors in a real browser, and copies of hostile pages in it."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from web.browser import audit, chromium, shared_tab
from web.library import Visitor
from web.trap_server import Trap, trap
from web.visitor_desks import HOST, Desk, copy, url, visited

PATHS = {
    "submit": "/submit",
    "submitted": f"/submit?url={HOST}/new",
    "not submitted": "/submit?url=ftp://x",
    "why": "/why",
    "found": f"/why?url={HOST}",
    "not found": f"/why?url={HOST}/hidden",
    "unknown": f"/why?url={HOST}/{'long' * 60}",
    "not a URL": "/why?url=ftp://x",
    "removal": "/removal",
    "removal of a page": f"/removal?url={HOST}/{'long' * 60}",
    "removal of a site": f"/removal?url={HOST}&scope=site",
    "copy": f"/cached?url={HOST}",
    "text": f"/cached?url={HOST}/text.pdf",
    "no copy": f"/cached?url={HOST}/none",
}
SMALL_TARGETS = """[...document.querySelectorAll("main :is(button, input:not([type=hidden]), li > a:only-child)")]
    .map((each) => [each.outerHTML, (each.closest("label") ?? each).getBoundingClientRect()])
    .filter(([, box]) => box.width < 24 || box.height < 24)"""
"""Finds controls and links on lines of their own that are smaller than 24 by 24 pixels (WCAG 2.2 §2.5.8)."""
LOOKS = [
    (320, "dark", "ru"),
    pytest.param(320, "light", "en", marks=pytest.mark.long),
    pytest.param(1280, "dark", "en", marks=pytest.mark.long),
    pytest.param(1280, "light", "ru", marks=pytest.mark.long),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with visited() as visitor:
        yield visitor


@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_axe_finds_nothing(
    browser: Browser, visitor: Visitor, width: int, scheme: Literal["light", "dark"], language: str
) -> None:
    with shared_tab(
        browser, base_url=visitor.base, viewport={"width": width, "height": 800}, color_scheme=scheme, locale=language
    ) as tab:
        for name, path in PATHS.items():
            tab.goto(path)
            report = audit(tab)
            assert report.violations == [], name
            assert tab.evaluate(SMALL_TARGETS) == [], name
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert tab.evaluate("document.documentElement.lang") == language


@pytest.mark.long
def test_without_scripts(browser: Browser) -> None:
    with (
        visited(Desk(proof="removed")) as visitor,
        shared_tab(browser, base_url=visitor.base, java_script_enabled=False) as tab,
    ):
        tab.goto("/submit")
        _fill(tab, "URL of the page", f"{HOST}/fresh", "Submit")
        expect(tab.get_by_role("heading", level=1)).to_have_text("This page waits for its first visit")
        tab.get_by_role("link", name="See what has happened to this page").click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("This page waits for a visit")
        _fill(tab, "URL of the page", HOST, "Show")
        tab.get_by_role("link", name="Remove this page").click()
        tab.get_by_role("button", name="Check and remove the page").click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("Removed from the search")


def test_a_removal_of_a_site_by_keyboard(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base) as tab:
        tab.goto("/removal")
        tab.get_by_label("URL of the page").focus()
        tab.keyboard.type(f"{HOST}/a")
        tab.keyboard.press("Tab")
        tab.keyboard.press("ArrowRight")
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("button", name="Check and remove the site")).to_be_visible()
        assert tab.url.endswith(f"/removal?url={HOST}%2Fa&scope=site")


@pytest.mark.long
def test_the_policy_blocks_nothing_of_ours(browser: Browser, visitor: Visitor) -> None:
    complaints: list[str] = []
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        for name, path in PATHS.items():
            if name not in ("not submitted", "not a URL", "no copy"):  # the browser reports statuses too
                tab.goto(path)
        tab.goto(PATHS["copy"])
        expect(tab.frame_locator("iframe").get_by_role("heading")).to_have_text("Robots at home")
    assert complaints == []


def _fill(tab: Page, label: str, text: str, button: str) -> None:
    tab.get_by_label(label).fill(text)
    tab.get_by_role("button", name=button, exact=True).click()


# ---- hostile copies -------------------------------------------------------------------------------------------------

HOSTILE = """<html><head>
<meta http-equiv=refresh content="0;url=TRAP/refresh"><meta http-equiv=x-dns-prefetch-control content=on>
<base href="TRAP/base/" target=_self>
<link rel=stylesheet href="TRAP/style.css"><link rel=preload as=image href="TRAP/preload.png">
<link rel=prefetch href="TRAP/prefetch"><link rel=prerender href="TRAP/prerender"><LINK rel=preconnect href="TRAP">
<link/rel="&#112;reconnect" crossorigin href="TRAP"><link rel=dns-prefetch href="TRAP"><link rel=icon href="TRAP/icon">
<link rel=manifest href="TRAP/manifest"><link rel=modulepreload href="TRAP/module.js">
<style>@import url(TRAP/import.css); body { background: url(TRAP/background.png) }
@font-face { font-family: x; src: url(TRAP/font) } h1 { font-family: x } h1::after { content: url(TRAP/after) }</style>
<script>document.title = "ran"; fetch("TRAP/fetch"); top.location = "TRAP/top"</script><script src="TRAP/s.js"></script>
<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["TRAP/speculation"]}]}</script></head>
<body onload="location = 'TRAP/onload'"><h1 onmouseover="fetch('TRAP/over')">Hostile</h1>
<p><a id=normal href="TRAP/normal">a link</a> <a id=blank target=_blank href="TRAP/blank">another window</a>
<a id=script href="javascript:top.location='TRAP/script'">a script</a>
<a id=data href="data:text/html,<script>location='TRAP/data'</script>">data</a></p>
<form action="TRAP/form"><input name=a autofocus onfocus="fetch('TRAP/focus')"><button id=button>Send</button>
<input type=image src="TRAP/input"></form>
<img src="TRAP/image" srcset="TRAP/image2 2x" onerror="fetch('TRAP/error')">
<picture><source srcset="TRAP/source"><img></picture>
<svg><image href="TRAP/svg"/><use href="TRAP/use.svg#a"/><script>fetch("TRAP/svgscript")</script>
<foreignObject><iframe src="TRAP/foreign"></iframe></foreignObject></svg>
<object data="TRAP/object"></object><object type=text/html data="TRAP/object2"></object><embed src="TRAP/embed">
<iframe src="TRAP/frame"></iframe><IFRAME/src="TRAP/frame2"></IFRAME><iframe srcdoc="<iframe src=TRAP/inner></iframe>">
</iframe><video src="TRAP/video" poster="TRAP/poster" autoplay></video><audio src="TRAP/audio" autoplay></audio>
<table background="TRAP/table"><tr><td style="background-image: url(TRAP/cell)">x</td></tr></table>
<div><template shadowrootmode=open><link rel=stylesheet href="TRAP/shadow.css"><img src="TRAP/shadow"></template></div>
<details open ontoggle="fetch('TRAP/toggle')"><summary>x</summary></details></body></html>"""
FRAMES = "<frameset><frame src='TRAP/one'><FRAME\tsrc='TRAP/two'></frameset>"
DOCUMENTS = {"page": HOSTILE, "frameset": FRAMES}
COPIES = [
    ("/cached", "page", True),
    ("/cached/document", "frameset", True),
    *(
        pytest.param(place, name, scripts, marks=pytest.mark.long)
        for place, name, scripts in (
            ("/cached", "page", False),
            ("/cached", "frameset", True),
            ("/cached", "frameset", False),
            ("/cached/document", "page", True),
            ("/cached/document", "page", False),
            ("/cached/document", "frameset", False),
        )
    ),
]
"""In which page the copy is, what it is, and whether the browser runs scripts."""
CLICKS = [
    ("/cached", "normal"),
    ("/cached", "script"),
    ("/cached/document", "blank"),
    ("/cached/document", "button"),
    *(
        pytest.param(place, target, marks=pytest.mark.long)
        for place, target in (
            ("/cached", "blank"),
            ("/cached", "data"),
            ("/cached", "button"),
            ("/cached/document", "normal"),
            ("/cached/document", "script"),
            ("/cached/document", "data"),
        )
    ),
]


@pytest.fixture
def trapped() -> Iterator[Trap]:
    with trap() as server:
        yield server


def _archived(html: str, server: Trap) -> Desk:
    return Desk(archived={url("/").text: copy("/", html=html.replace("TRAP", server.url))})


def _open(tab: Page, place: str) -> None:
    """Opens the page with a copy, or the copy alone, as a browser does that does not say what a request is for."""
    if place == "/cached/document":
        tab.context.route(f"**{place}?*", lambda route: route.fulfill(response=route.fetch(headers={"Accept": "*/*"})))
    tab.goto(f"{place}?url={HOST}", wait_until="load")


@pytest.mark.long
@pytest.mark.parametrize(("place", "name", "scripts"), COPIES)
def test_a_hostile_copy_connects_to_no_server(
    browser: Browser, trapped: Trap, place: str, name: str, scripts: bool
) -> None:
    """Nothing marks the end of what a page might do, so the test waits for a moment after the page has loaded."""
    with (
        visited(_archived(DOCUMENTS[name], trapped)) as visitor,
        browser.new_context(base_url=visitor.base, java_script_enabled=scripts) as context,
    ):
        tab = context.new_page()
        _open(tab, place)
        tab.wait_for_timeout(1500)
        assert tab.url == f"{visitor.base}{place[1:]}?url={HOST}"
        assert tab.title() in ("Copy of A <i>page</i> – Sample library", "")
        assert (trapped.connections, trapped.requests) == (0, [])
        assert context.cookies() == []


@pytest.mark.long
@pytest.mark.parametrize(("place", "target"), CLICKS)
def test_clicks_in_a_copy(browser: Browser, trapped: Trap, place: str, target: str) -> None:
    """A link opens the page itself in the whole window, or in a new one if it says so. Nothing else happens."""
    html = re.sub(r"<base[^>]*>", "", HOSTILE)
    with (
        visited(_archived(html, trapped)) as visitor,
        browser.new_context(base_url=visitor.base, viewport={"width": 1000, "height": 1500}) as context,
    ):
        tab = context.new_page()
        _open(tab, place)
        here = tab.url
        frame = tab.frames[1] if place == "/cached" else tab.main_frame
        box = frame.locator(f"#{target}").bounding_box()
        assert box is not None
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if target == "normal":
            tab.mouse.click(*middle)
            tab.wait_for_url(f"{trapped.url}/normal")
        elif target == "blank":
            with context.expect_page() as opened:
                tab.mouse.click(*middle)
            opened.value.wait_for_url(f"{trapped.url}/blank")
            assert opened.value.evaluate("window.opener") is None
            assert tab.url == here
        else:
            tab.mouse.click(*middle)
            tab.wait_for_timeout(500)
            assert (tab.url, len(context.pages), trapped.requests) == (here, 1, [])
        assert [referer for referer in trapped.referers if trapped.url not in referer] == []


def test_another_site_cannot_frame_a_copy(browser: Browser, visitor: Visitor, trapped: Trap) -> None:
    trapped.body = f'<iframe src="{visitor.base}cached/document?url={HOST}"></iframe>'
    with shared_tab(browser) as tab:
        with tab.expect_console_message(lambda message: "frame-ancestors" in message.text):
            tab.goto(trapped.url)
        expect(tab.frame_locator("iframe").get_by_text("Robots at home")).to_have_count(0)
