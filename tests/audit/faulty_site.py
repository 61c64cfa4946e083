"""A site with every fault that the audit finds, each once, and a site without any."""

import asyncio
import threading

from webserver import Exchange, Route, WebServer, answer

XML = [("Content-Type", "application/xml")]
TEXT = [("Content-Type", "text/plain")]


def html(title: str, body: str, *, lang: str = ' lang="en"', head: str = "") -> bytes:
    return answer(
        f"<!doctype html>\n<html{lang}><head><title>{title}</title>{head}</head>\n<body>{body}</body>".encode()
    )


def redirect(target: str, status: int = 301) -> bytes:
    return answer(b"", status, [("Location", target)])


async def slowly(exchange: Exchange) -> None:
    await asyncio.sleep(0.4)
    await exchange.send(html("Slow", "<p>late"))


HOME = """<p>é <a href="/gone">Prices <b>2026</b></a>
<a href="/moved">Moved</a> <a href="/for-now">For now</a> <a href="/chain">Chain</a>
<a href="/loop">Loop</a> <a href="/lost">Lost</a> <a href="/fails">Fails</a>
<a href="/a">A</a> <a href="/b">B</a> <a href="/one">1</a> <a href="/two">2</a> <a href="/closed">C</a>
<a href="/slow">Slow</a> <a href="/heavy">Heavy</a> <a href="/plain">P</a> <a href="/odd">O</a>
<a href="/untitled">U</a> <a href="/quiet">Q</a> <a href="/en">En</a> <a href="/de">De</a> <a href="/copy">Copy</a>"""

LISTED = ("/", "/gone", "/moved", "/closed", "/quiet", "/copy", "/fails", "/orphan", "/one", "/two", "/slow", "/heavy")


def faulty(site: str) -> dict[str, Route]:
    entries = "".join(f"<url><loc>{site}{path}</loc></url>\n" for path in LISTED)
    canonical = '<link rel="canonical" href="{}">'
    return {
        "/robots.txt": answer(
            f"User-agent: Googlebot\nDisallow: /closed\n\nSitemap: {site}/s.xml\nSitemap: /none.xml\n".encode(),
            headers=TEXT,
        ),
        "/s.xml": answer(f"<urlset>\n{entries}</urlset>".encode(), headers=XML),
        "/": html("Home", HOME),
        "/moved": redirect("/one"),
        "/for-now": redirect("/two", 302),
        "/chain": redirect("/moved"),
        "/loop": redirect("/loop-2", 302),
        "/loop-2": redirect("/loop", 302),
        "/lost": redirect("/gone"),
        "/fails": answer(b"", 500),
        "/a": html("A", "<p>a", head=canonical.format("/b")),
        "/b": html("B", "<p>b", head=canonical.format("/a")),
        "/copy": html("Copy", "<p>copy", head=canonical.format("/quiet")),
        "/one": html("Same title", '<p>1 <a href="/gone">again</a>'),
        "/two": html("Same title", "<p>2"),
        "/closed": html("Closed", "<p>closed", head='<meta name="robots" content="noindex">'),
        "/quiet": html("Quiet", "<p>quiet", head='<meta name="robots" content="noindex">'),
        "/slow": slowly,
        "/heavy": html("Heavy", f"<p>{'word ' * 1000}"),
        "/plain": html("Plain", "<p>plain", lang=""),
        "/odd": html("Odd", "<p>odd", lang=' lang="en_US"'),
        "/untitled": html("", "<p>untitled"),
        "/en": html("English", "<p>e", head='<link rel="alternate" hreflang="de" href="/de">'),
        "/de": html("Deutsch", "<p>d", lang=' lang="de"'),
        "/orphan": html("Orphan", "<p>alone"),
    }


LIMITS = ("--slow", "0.3", "--heavy", "2k")
"""Options with which its slow and heavy pages are found."""

SOUND: dict[str, Route] = {
    "/": html("Home", '<a href="/a">A</a> <a href="/b?utm_source=x">B</a> <a href="https://other.example/">o</a>'),
    "/a": html("A", '<a href="/">Home</a> <a href="#x">x</a>', head='<link rel="canonical" href="/a">'),
    "/b": html("B", '<a href="/">Home</a> <a href="mailto:a@example.org">m</a>', lang=' lang="pt-BR"'),
}


class ThreadedServer:
    """A server in a thread of its own, for fixtures of a whole module."""

    def __enter__(self) -> WebServer:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = WebServer()
        asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop).result()
        return self._server

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.__aexit__(None, None, None), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
