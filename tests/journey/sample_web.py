"""A small site that answers as example.org, by http and https, to whoever comes through its proxy."""

import asyncio
import re
import ssl
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import trustme

from listening import Listening
from webserver import NOT_FOUND, Exchange, WebServer, answer

_PLAIN = [("Content-Type", "text/plain")]
PAGES = {
    "/robots.txt": answer(
        b"User-agent: *\nDisallow: /private\nSitemap: https://example.org/sitemap.xml\n", headers=_PLAIN
    ),
    "/": answer(b'<title>Clocks</title><h1>Old clocks</h1><p>Opening hours</p><a href="/care">care</a>'),
    "/care": answer(b'<title>Care</title><h2>Care</h2><a href="/private/x">x</a><a href="/docs/">docs</a>'),
    "/docs/": answer(b"<title>Docs</title><p>Crawl delay and other words"),
    "/report": answer(b"<title>Report</title><meta name=robots content=noarchive><p>x"),
    "/news.html": answer(b"<title>News</title><p>x"),
    "/sitemap.xml": answer(
        b"<urlset><url><loc>https://example.org/news.html</loc></url></urlset>", headers=[("Content-Type", "text/xml")]
    ),
}


async def _site(exchange: Exchange) -> None:
    await exchange.send(PAGES.get(re.sub(r"^https?://[^/]+", "", exchange.target), NOT_FOUND))


class Proxy(Listening):
    """Leads to the sample site, whatever name is asked for; `certificate` is what it shows."""

    def __init__(self, certificate: trustme.LeafCert) -> None:
        super().__init__(None)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        self._sites = {False: WebServer(fallback=_site), True: WebServer(fallback=_site, tls=context)}
        self._stack = AsyncExitStack()

    @property
    def site(self) -> str:
        """The same site without a proxy."""
        return self._sites[False].origin

    async def __aenter__(self) -> Self:
        for site in self._sites.values():
            await self._stack.enter_async_context(site)
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        await self._stack.aclose()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            tunnel = head.startswith(b"CONNECT ")
            site_reader, site_writer = await asyncio.open_connection("127.0.0.1", self._sites[tunnel].port)
            if tunnel:
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                site_writer.write(head)
            try:
                await asyncio.gather(_pump(reader, site_writer), _pump(site_reader, writer))
            finally:
                site_writer.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left
        finally:
            writer.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
    sink.close()
