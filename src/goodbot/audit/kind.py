"""The record of a kind of finding about a site."""

from dataclasses import dataclass

from goodbot.check import Severity


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of an example site: what the server sends for `path`. `location` is the target of a redirect. The response
    takes `taken_s` seconds; its body is filled up to `size_bytes` with spaces."""

    path: str
    body: str = ""
    status: int = 200
    location: str = ""
    media_type: str = "text/html"
    taken_s: float = 0.0
    size_bytes: int = 0

    def sent_body(self, site: str) -> bytes:
        """Returns the body that the server at the origin `site` sends."""
        return self.body.replace("{site}", site).encode().ljust(self.size_bytes)


@dataclass(frozen=True, slots=True)
class AuditKind:
    """A kind of finding about a site. `message` and `fix` are templates for `str.format`; `title` is for lists.

    `affected` names the people or robots that it affects, `source` the standard or guide that it is based on. The site
    `example` has a finding of this kind, `near_miss` is similar and has none: the tests crawl both, and the docs show
    both. `note` names exceptions, in full sentences: when the severity differs, what is not reported.
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
