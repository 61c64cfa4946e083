"""A plain crawler as a step of a script: breadth first over the links of each page, robots.txt and Retry-After kept."""

import html
import re
from collections import deque
from collections.abc import Awaitable, Callable
from urllib.parse import urljoin, urlsplit

from exam.scripted import Driver
from goodbot.exclusion import RobotsTxt

_LINK = re.compile(rb'<a href="([^"]*)"|<loc>([^<]*)</loc>')
_PLAIN = re.compile(r"/[\w/?&=;-]*", re.ASCII)
"""Needs no joining: nearly all."""
_SITEMAP = re.compile(rb"(?im)^sitemap:\s*(\S+)")


def breadth_first(
    most_pages: int | None = None, *, tries: int = 3, sitemaps: bool = False
) -> Callable[[Driver], Awaitable[None]]:
    """Asks for each target once, if it is answered with 429 or 503 up to `tries` times, and for `most_pages` in all.

    `sitemaps`: follows what sitemaps name, too.
    """

    async def crawl(driver: Driver) -> None:
        robots = await driver.get("/robots.txt")
        status, _, body = _parts(robots)
        rules = RobotsTxt.parse(body if status == 200 else b"")
        home = driver.web.origin(driver.site)
        queue = deque(["/"])
        if sitemaps:
            queue.extend(_own(home, home, _SITEMAP.findall(body)))
        known = set(queue)
        asked = 0
        while queue and (most_pages is None or asked < most_pages):
            target = queue.popleft()
            if not rules.allows(home + target, "ScriptBot"):
                continue
            asked += 1
            for link in await _links(driver, home, target, tries):
                if link not in known:
                    known.add(link)
                    queue.append(link)

    return crawl


async def _links(driver: Driver, home: str, target: str, tries: int) -> list[str]:
    for _ in range(tries):
        status, fields, body = _parts(await driver.get(target))
        if status not in (429, 503):
            break
        driver.clock.advance(float(fields.get(b"retry-after", b"1")))
    if b"location" in fields:
        return _own(home, home + target, [fields[b"location"]])
    if status != 200:
        return []
    return _own(home, home + target, [found[0] or found[1] for found in _LINK.findall(body)])


def _parts(answer: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = (line.partition(b": ") for line in head.split(b"\r\n")[1:])
    return int(head[9:12] or b"0"), {name.lower(): value for name, _, value in lines}, body


def _own(home: str, base: str, references: list[bytes]) -> list[str]:
    """Targets on the same origin."""
    targets = []
    for reference in dict.fromkeys(references):
        text = html.unescape(reference.decode())
        if _PLAIN.fullmatch(text):
            targets.append(text)
            continue
        url = urlsplit(urljoin(base, text))
        if f"{url.scheme}://{url.netloc}" == home:
            targets.append(url._replace(scheme="", netloc="", fragment="").geturl())
    return targets
