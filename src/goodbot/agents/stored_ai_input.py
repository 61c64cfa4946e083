"""Finds out from the files of crawls which of their pages may not be used as input for AI."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Final

from goodbot.agents.refusals import AI_INPUT, DISALLOWED
from goodbot.archive_values import ArchivedResponse
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder, open_archive
from goodbot.errors import DamagedError, InputError
from goodbot.exclusion import Access, Preferences, RobotsTxt
from goodbot.page import Body
from goodbot.page.document import is_read_in_process, read_extract
from goodbot.ports import Archive, CrawlReader
from goodbot.url import Url, parse_url

_NO_RULES: Final = RobotsTxt.parse(b"")


class StoredAiInput:
    """Reads the robots.txt files that the crawls in `folders` keep, and header fields and META tags of their archived
    pages, for the robot `token`. Documents imported with `goodbot index import` have no such statements. Several
    threads may use it."""

    def __init__(self, folders: Iterable[CrawlFolder], token: str) -> None:
        self._folders = tuple(folder for folder in folders if folder.is_crawl)
        self._token = token

    def withheld(self, urls: Sequence[str]) -> dict[str, str]:
        """Returns, for each of `urls` that may not be used as input for AI, the sentence that says why. Raises RunError
        if the files of a crawl cannot be used."""
        parsed = [(text, url) for text in urls if (url := parse_url(text)) is not None]
        refused: dict[str, str] = {}
        for folder in self._folders if parsed else ():
            with ExitStack() as stack:
                frontier = stack.enter_context(folder.open_reader())
                archive = _opened(folder, stack)
                for text, url in parsed:
                    reason = None if text in refused else self._refusal(frontier, archive, url)
                    refused |= {text: reason} if reason is not None else {}
        return refused

    def _refusal(self, frontier: CrawlReader, archive: Archive | None, url: Url) -> str | None:
        access = frontier.load_robots(url.origin)
        stated = self._preferences(url, access, None)
        if stated[AI_INPUT] != DISALLOWED and archive is not None:
            stated = self._preferences(url, access, _archived(frontier, archive, url))
        return stated.reasons[AI_INPUT] if stated[AI_INPUT] == DISALLOWED else None

    def _preferences(self, url: Url, access: Access | None, page: ArchivedResponse | None) -> Preferences:
        rules = _NO_RULES if access is None else access.rules
        if page is None:
            return rules.preferences(url.text, self._token)
        headers = page.response.headers
        if is_read_in_process(url, page.response):  # a PDF, which has no META tags
            return rules.preferences(url.text, self._token, headers=headers)
        _, found, _ = read_extract(Body(page.response, Settings().decoded_limit), url=url, text=False)
        return rules.preferences(url.text, self._token, headers=headers, metas=found.metas)


def _opened(folder: CrawlFolder, stack: ExitStack) -> Archive | None:
    try:
        return stack.enter_context(open_archive(folder.path))
    except InputError:  # it keeps none
        return None


def _archived(frontier: CrawlReader, archive: Archive, url: Url) -> ArchivedResponse | None:
    record = frontier.record(url)
    if record is None or record.record is None:
        return None
    try:
        archived = archive.read(record.record)
    except DamagedError:  # the archive's own commands report it
        return None
    return archived if archived.url == url else None
