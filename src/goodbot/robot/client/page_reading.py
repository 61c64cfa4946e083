"""Reads the answer to a request into a `Reading`."""

import re
from collections.abc import Iterable
from typing import Final

from goodbot.config import Settings
from goodbot.errors import quoted
from goodbot.exclusion import Access, Directives, Preferences, RobotsTxt
from goodbot.human import human_bytes
from goodbot.page.main_content import MainContent, read_main_content
from goodbot.page.rendered import Rendered
from goodbot.robot.client.answer import Answer
from goodbot.robot.client.reading import Reading
from goodbot.url import Url
from goodbot.values import Headers

PARTIAL: Final = 206
_RANGE: Final = re.compile(r"bytes\s+([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})", re.IGNORECASE)
_NO_RULES = RobotsTxt.parse(b"")


def read_answer(
    answer: Answer,
    access: Access | None,
    settings: Settings,
    *,
    whole: bool = False,
    rendered: Rendered | None = None,
) -> Reading:
    """Reads an answer. `access` is the robots.txt of its origin, None if it is not known. Takes up to seconds of CPU
    time for a PDF. Never raises."""
    if answer.response is None or not answer.ok:
        return _reading(answer, access, None)
    content = read_main_content(
        Url(answer.url),
        answer.response,
        answer.verdict.agent,
        whole=whole,
        rendered=rendered,
        limit_bytes=settings.decoded_limit,
        document_bytes=settings.document_limit,
    )
    return _reading(answer, access, content)


def _reading(answer: Answer, access: Access | None, content: MainContent | None) -> Reading:
    metas = () if content is None else content.metas
    known = Reading(
        answer.asked,
        answer.url,
        answer.verdict,
        answer.status,
        preferences=_preferences(answer, access, answer.headers, metas),
        type="" if answer.response is None else answer.response.media_type,
        trouble=answer.trouble,
        failure=answer.failure,
        held_until=answer.held_until,
        wall=answer.wall,
        directives=Directives.parse((), answer.headers, answer.verdict.agent),
    )
    return known if content is None else known.with_content(content, _cut(answer))


def _preferences(
    answer: Answer, access: Access | None, headers: Headers, metas: Iterable[tuple[str, str]]
) -> Preferences:
    rules = _NO_RULES if access is None else access.rules
    return rules.preferences(answer.url, answer.verdict.agent, headers=headers, metas=metas)


def _cut(answer: Answer) -> str:
    """Says that only a part of the document was fetched, if so."""
    if answer.truncated == "length":
        return f"only the first {human_bytes(len(answer.body))} were fetched"
    stated = answer.header("content-range") or ""
    if answer.status != PARTIAL or (
        (found := _RANGE.fullmatch(stated.strip())) and _is_whole(*map(int, found.groups()))
    ):
        return ""
    named = f"Content-Range {quoted(stated)}" if stated else "no Content-Range"
    return f"the server sent only a part of it (status {PARTIAL}, {named})"


def _is_whole(first: int, last: int, size: int) -> bool:
    return first == 0 and last + 1 == size
