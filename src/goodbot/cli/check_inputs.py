"""Reads the inputs of `goodbot check`, and completes them: URLs for files, the robots.txt of pages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from goodbot.check import HttpAnswer, Subject
from goodbot.check.subject import PageFile
from goodbot.cli.options import read_input
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.exclusion import Verdict
from goodbot.url import Url, parse_url

As = Literal["robots", "page"]
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CheckInput:
    """One input. `file`: where it was read, None for a URL."""

    name: str
    subject: Subject
    file: str | None = None


class ClosedError(RunError):
    """robots.txt closes the page to goodbot, so it is not checked, and the answer is no."""

    exit_status = 1


class CheckInputs:
    """Reads inputs one by one; keeps an error of one, and reads the others all the same."""

    def __init__(self, kind: As | None, headers: Headers, *, sitemaps: bool) -> None:
        self._kind = kind
        self._headers = headers
        self._sitemaps = sitemaps
        self.given: list[CheckInput] = []
        self.errors: list[GoodbotError] = []

    def read(self, names: Sequence[str]) -> None:
        """Every input once."""
        for name in dict.fromkeys(names):
            try:
                self.given.append(self._read(name))
            except GoodbotError as error:
                self.errors.append(error)

    def _read(self, name: str) -> CheckInput:
        if not name:
            raise InputError("the name of an input is empty: give a FILE, a URL, or - for standard input")
        url = parse_url(name)
        if url is not None:
            return CheckInput(name, self._robots_at(url) if self._is_robots_url(url) else _page_at(url))
        if "://" in name:
            raise InputError(f"not an http or https URL: {name}")
        is_page = self._kind == "page" or (self._kind is None and name.lower().endswith((".htm", ".html")))
        answer = HttpAnswer(200, self._headers) if is_page and self._headers else None
        return CheckInput(name, Subject(read_input(name, or_site=True), answer=answer, is_page=is_page), name)

    def _is_robots_url(self, url: Url) -> bool:
        path = urlsplit(url.text).path
        return self._kind == "robots" or (self._kind is None and (path in ("", "/") or path.endswith("robots.txt")))

    def _robots_at(self, url: Url) -> Subject:
        from goodbot.one_shot import fetch_robots_txt, missing_sitemaps  # noqa: PLC0415  (a file needs no network)

        target = url.robots_txt if urlsplit(url.text).path in ("", "/") else url
        fetched = fetch_robots_txt(target)
        answer = HttpAnswer(fetched.status, tuple(fetched.headers), fetched.redirects, fetched.failure)
        subject = Subject(fetched.body, target.text, answer)
        if self._sitemaps and subject.is_read:
            subject = replace(subject, sitemaps_missing=missing_sitemaps(target, subject.parsed.sitemaps))
        return subject

    # ---- who belongs to whom ----

    def place(self, urls: Sequence[str]) -> None:
        """Gives the files their URLs: the pages in their order; without pages, the one robots.txt."""
        parsed = [_url(text) for text in urls]
        files = [number for number, each in enumerate(self.given) if each.file is not None]
        pages = [number for number in files if self.given[number].subject.is_page]
        robots = [number for number in files if number not in pages]
        if len(parsed) > len(pages or robots[:1]):
            raise InputError("--url goes with a FILE: as many as there are pages, or one for a robots.txt")
        for number, url in zip(pages or robots, parsed, strict=False):
            lies = url if pages or urlsplit(url.text).path != "/" else url.robots_txt
            self._put(number, url=lies.text)
        if pages and parsed and len(robots) == 1:
            self._put(robots[0], url=parsed[0].robots_txt.text)

    def join(self, robots: bytes | None) -> None:
        """Gives each page its site's robots.txt (`robots`, if given, else the only one here), and each robots.txt the
        pages of its site."""
        rules = [each.subject for each in self.given if not each.subject.is_page and each.subject.is_read]
        own = robots if robots is not None else rules[0].body if len(rules) == 1 else None
        pages = [each.subject for each in self.given if each.subject.is_page and each.subject.url]
        for number, each in enumerate(self.given):
            subject = each.subject
            if not subject.is_page:
                self._put(number, pages=[_page_file(page) for page in pages if _are_neighbours(subject, page)])
            elif robots is not None or subject.robots is None:
                apart = robots is None and len(rules) == 1 and not _are_neighbours(rules[0], subject)
                self._put(number, robots=None if apart else own)

    def _put(self, number: int, **known: object) -> None:
        each = self.given[number]
        self.given[number] = replace(each, subject=replace(each.subject, **known))  # type: ignore[arg-type]


def _url(text: str) -> Url:
    url = parse_url(text)
    if url is None:
        raise InputError(f"--url must be an http or https URL, not {text!r}")
    return url


def _page_file(page: Subject) -> PageFile:
    return PageFile(page.url or "", page.body, page.answer.headers if page.answer else ())


def _are_neighbours(robots: Subject, page: Subject) -> bool:
    """Whether they are of one origin, or the URL of one of them is unknown."""
    one, other = parse_url(robots.url or ""), parse_url(page.url or "")
    return one is None or other is None or one.origin == other.origin


def read_robots(name: str) -> bytes:
    """A robots.txt that is applied to the pages but not checked: FILE or URL."""
    url = parse_url(name)
    if url is None:
        return read_robots_file(name, or_site=True)
    from goodbot.one_shot import fetch_access  # noqa: PLC0415  (a file needs no network)

    return fetch_access(url).body


def _page_at(url: Url) -> Subject:
    from goodbot.config import Settings  # noqa: PLC0415
    from goodbot.one_shot import answered_page, fetch_page  # noqa: PLC0415  (a file needs no network)
    from goodbot.page.coding import decode_content  # noqa: PLC0415

    visit = fetch_page(url)
    if visit.capture is None:
        raise _closed(url, visit.url, visit.verdict, unreachable=visit.access.result == "unreachable")
    response = answered_page(visit.url, visit.capture)
    robots = visit.access.body if visit.access.result == "successful" else None
    body = decode_content(response, Settings().decoded_limit).body
    return Subject(body, visit.url.text, HttpAnswer(response.status, response.headers), is_page=True, robots=robots)


def _closed(asked: Url, url: Url, verdict: Verdict, *, unreachable: bool) -> RunError:
    if unreachable:
        return RunError(f"cannot read {url}: {verdict.reason}")
    name = str(url) if url == asked else f"{asked} leads to {url}, which"
    return ClosedError(f"{name} is closed to {verdict.agent}, so it was not fetched: {verdict.reason}")


def is_file(name: str) -> bool:
    """Whether it can be written again."""
    return name != "-" and Path(name).is_file()
