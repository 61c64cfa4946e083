"""A good and a bad driver for every site about robots.txt."""

from exam.scripted import Driver, Script, Step, gets, until


async def _loses_patience(driver: Driver) -> None:
    """Asks for robots.txt and leaves without an answer."""
    asked = len(driver.web.requests[driver.site.name])
    _, writer = await driver.connect()
    writer.write(b"GET /robots.txt HTTP/1.1\r\nHost: x\r\n\r\n")
    await until(lambda: len(driver.web.requests[driver.site.name]) > asked)
    writer.close()
    await writer.wait_closed()
    await until(lambda: not driver.web.busy)


def _robots_then(*targets: str) -> list[Step]:
    return gets("/robots.txt", *targets)


def _script(good: tuple[str, ...], bad: tuple[str, ...], reason: str) -> Script:
    """Both ask for robots.txt first."""
    return Script(_robots_then(*good), _robots_then(*bad), reason)


_HOPS = [f"/hop-{number}" for number in range(1, 7)]

SCRIPTS: dict[str, Script] = {
    # ---- what became of robots.txt ----
    "robots-401": Script(
        gets("/robots.txt", "/", "/a", "/b"), gets("/", "/robots.txt"), "fetched / before robots.txt was answered"
    ),
    "robots-403": Script(
        gets("/robots.txt", "/", "/a", "/b"), gets("/", "/robots.txt"), "fetched / before robots.txt was answered"
    ),
    "robots-404": _script(("/", "/a", "/b"), ("/", "/a"), "did not fetch /b"),
    "robots-429": Script(
        good=[*gets("/robots.txt"), "wait 2", *gets("/robots.txt", "/", "/a")],
        bad=gets("/robots.txt", "/robots.txt", "/", "/a"),
        reason="sent the next request after 0.0 s",
    ),
    "robots-500": _script(("/robots.txt",), ("/",), "fetched /"),
    "robots-503-then-back": Script(
        good=[*gets("/robots.txt"), "wait 2", *gets("/robots.txt", "/", "/a")],
        bad=[*gets("/robots.txt"), "wait 2", *gets("/", "/robots.txt", "/a")],
        reason="fetched / before robots.txt was answered with 200",
    ),
    "robots-never-answers": Script(
        good=[_loses_patience, "wait 60", _loses_patience],
        bad=[_loses_patience, *gets("/")],
        reason="fetched /",
    ),
    "robots-closes-connection": _script(("/robots.txt",), ("/",), "fetched /"),
    "robots-slow": Script(
        good=gets("/robots.txt", "/", "/a"),
        bad=gets("/", "/robots.txt", "/a"),
        reason="fetched / before robots.txt was answered; fetched / before robots.txt was answered with 200",
    ),
    "robots-redirects-five": _script((*_HOPS[:5], "/", "/a"), ("/", "/a", "/private"), "fetched /private"),
    "robots-redirects-six": _script((*_HOPS[:5], "/", "/a", "/b"), (*_HOPS,), "did not fetch /, /a, /b"),
    "robots-redirects-endless": _script(
        (*_HOPS, "/", "/a", "/b"),
        (*(f"/hop-{number}" for number in range(1, 402)), "/", "/a", "/b"),
        "401 requests",
    ),
    "robots-redirect-elsewhere": _script(
        ("rules:/common/robots.txt", "/", "/a"), ("/", "/a", "/private"), "fetched /private"
    ),
    "robots-each-origin": Script(
        good=gets("/robots.txt", "/", "/house", "other:/robots.txt", "other:/garden"),
        bad=gets("/robots.txt", "/", "/house", "other:/garden", "other:/house"),
        reason="fetched /garden before robots.txt was answered (other origin); fetched /house (other",
    ),
    # ---- how the file is written ----
    "robots-html-instead": _script(("/", "/a", "/b"), ("/",), "did not fetch /a, /b"),
    "robots-html-around-rules": _script(("/", "/a"), ("/", "/a", "/private"), "fetched /private"),
    "robots-bom": _script(("/", "/a"), ("/", "/a", "/private"), "fetched /private"),
    "robots-cr-only": _script(("/", "/a"), ("/", "/a", "/secret"), "fetched /secret"),
    "robots-comments-and-blanks": _script(("/", "/a"), ("/", "/a", "/secret"), "fetched /secret"),
    "robots-blank-lines": _script(("/", "/a"), ("/", "/a", "/private"), "fetched /private"),
    "robots-case-of-names": _script(("/", "/private/open"), ("/", "/private"), "fetched /private"),
    "robots-large-rule-before-limit": _script(("/", "/a"), ("/", "/a", "/private"), "fetched /private"),
    "robots-large-rule-after-limit": _script(("/", "/a", "/late", "/b"), (), "did not fetch /, /a, /b"),
    # ---- whose rules ----
    "robots-groups-merged": _script(("/", "/other"), ("/", "/other", "/second"), "fetched /second"),
    "robots-own-group": _script(("/", "/for-you"), ("/", "/for-others"), "fetched /for-others"),
    "robots-own-group-any-case": _script(("/", "/for-you"), ("/", "/for-others"), "fetched /for-others"),
    "robots-own-group-longer-name": _script(("/", "/open"), ("/", "/private"), "fetched /private"),
    "robots-rule-of-nobody": _script(("/", "/a"), (), "did not fetch /, /a"),
    "robots-other-records": _script(("/", "/a"), ("/", "/a", "/private"), "fetched /private"),
    # ---- which rule ----
    "robots-longest-match": _script(
        ("/", "/shop/open/hours", "/docs/intro"),
        ("/", "/docs/intro", "/docs/closed/draft"),
        "fetched /docs/closed/draft; did not fetch /shop/open/hours",
    ),
    "robots-tie": _script(("/", "/same/page"), ("/",), "did not fetch /same/page"),
    "robots-wildcard": _script(("/", "/private", "/list?page=1"), ("/", "/list?sort=up"), "fetched /list?sort=up"),
    "robots-end-of-match": _script(
        ("/", "/ending", "/end/more", "/paper.pdf?as=page"),
        ("/", "/ending", "/end/more", "/paper.pdf?as=page", "/paper.pdf"),
        "fetched /paper.pdf",
    ),
    "robots-case-of-paths": _script(("/", "/private"), ("/",), "did not fetch /private"),
    "robots-escaped-specials": _script(
        ("/", "/file-with-a-b.html", "/price-9"),
        ("/", "/file-with-a-b.html", "/price-9", "/file-with-a-*.html"),
        "fetched /file-with-a-*.html",
    ),
    "robots-escapes-unreserved": _script(
        ("/", "/joe/paper", "/foo/bar/ba"),
        ("/", "/joe/paper", "/foo/bar/ba", "/%7Eann/draft"),
        "fetched /%7Eann/draft",
    ),
    "robots-escapes-slash": _script(("/", "/a/b", "/c%2Fd"), ("/", "/a%2Fb", "/c%2Fd"), "fetched /a%2Fb"),
    "robots-escapes-non-ascii": _script(
        ("/", "/raw/open", "/escaped/open"),
        ("/", "/raw/open", "/escaped/open", "/escaped/%e3%83%84"),
        "fetched /escaped/%e3%83%84",
    ),
    "robots-disallow-all": _script((), ("/",), "fetched /"),
    "robots-disallow-nothing": _script(("/", "/a", "/b"), (), "did not fetch /, /a, /b"),
    # ---- when ----
    "robots-crawl-delay": Script(
        good=[*gets("/robots.txt", "/"), "wait 2", "GET /a", "wait 2", "GET /b", "wait 2", "GET /c"],
        bad=[*gets("/robots.txt", "/"), "wait 2", "GET /a", "wait 1", "GET /b", "wait 2", "GET /c"],
        reason="its shortest wait was 1.0 s",
    ),
    "robots-request-rate": Script(
        good=[*gets("/robots.txt", "/"), "wait 3", "GET /a", "wait 3", "GET /b"],
        bad=gets("/", "/robots.txt", "/a", "/b"),
        reason="fetched / before robots.txt was answered",
    ),
    "robots-visit-time": Script(
        good=[*gets("/robots.txt"), "wait 80", *gets("/", "/a", "/b")],
        bad=gets("/robots.txt", "/", "/a"),
        reason="did not fetch /b",
    ),
    "robots-changed": Script(
        good=[*gets("/robots.txt", "/"), *gets(*(f"/page-{number}" for number in range(1, 9))), *gets("/robots.txt")],
        bad=[*gets("/robots.txt", "/"), *gets(*(f"/page-{number}" for number in range(1, 8))), *gets("/late")],
        reason="did not fetch /page-8",
    ),
}

EXTRAS: dict[str, tuple[list[Step], str]] = {
    "robots-401": (gets("/robots.txt", "/", "/a"), "fetched /, /a and not /b"),
    "robots-403": (gets("/robots.txt", "/b"), "fetched /b and not /, /a"),
    "robots-429": (
        [*gets("/robots.txt"), "wait 2", *gets("/", "/a")],
        "fetched / before robots.txt was answered with 200",
    ),
    "robots-request-rate": (gets("/robots.txt", "/", "/a", "/b"), "its shortest wait was 0.0 s"),
    "robots-visit-time": (gets("/robots.txt", "/", "/a", "/b"), "fetched / outside the hours of Visit-time"),
    "robots-changed": (
        gets("/robots.txt", "/", *(f"/page-{number}" for number in range(1, 9)), "/late"),
        "fetched /late",
    ),
}
"""Drivers that do what no default asks for: they pass, and get less."""
