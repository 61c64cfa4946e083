"""A plain client, and a reader of links that shares nothing with goodbot's own."""

import http.client
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(self.headers["content-type"].partition("charset=")[2])


def ask(url: str, method: str = "GET", target: str | None = None, **fields: str) -> Answer:
    """The answer to one request, redirects not followed; `target` is sent as it is in place of the URL's path."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.putrequest(method, target or path, skip_accept_encoding=True)
        for name, value in fields.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read())
    finally:
        connection.close()


class PageFacts(HTMLParser):
    """What a robot of these tests sees: links, those marked nofollow, META and link elements, the language."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__()
        self.url = url
        self.links: list[str] = []
        self.nofollow_links: list[str] = []
        self.meta: dict[str, str] = {}
        self.relations: list[tuple[str, str, str]] = []
        self.language = ""
        self.title = ""
        self._stack: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._stack.append(tag)
        if tag == "html":
            self.language = given.get("lang", "")
        elif tag == "meta":
            self.meta[given.get("name", "charset")] = given.get("content", given.get("charset", ""))
        elif tag == "link":
            self.relations.append((given["rel"], given.get("hreflang", ""), given["href"]))
        elif tag == "a":
            target = urldefrag(urljoin(self.url, given["href"])).url
            (self.nofollow_links if given.get("rel") == "nofollow" else self.links).append(target)

    def handle_data(self, data: str) -> None:
        if self._stack[-1:] == ["title"] and not self.title:
            self.title = data
