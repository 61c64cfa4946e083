"""The record of a kind of finding about a site."""

from dataclasses import dataclass

from goodbot.check import Severity


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of an example site: what the server answers at `path`. `location` is the target of a redirect."""

    path: str
    body: str = ""
    status: int = 200
    location: str = ""
    media_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class AuditKind:
    """A kind of finding about a site. `message` and `fix` are templates for `str.format`; `title` is for lists.

    `affected` names the people or robots that it affects, `source` the text that it follows from. The site `example`
    has a finding of this kind, `near_miss` is similar and has none: the tests crawl both, and the docs show both.
    `note` says in sentences when the severity is another one, or what is not reported.
    """

    code: str
    title: str
    severity: Severity
    message: str
    affected: str
    fix: str
    source: str
    example: tuple[SitePage, ...]
    near_miss: tuple[SitePage, ...]
    note: str = ""
