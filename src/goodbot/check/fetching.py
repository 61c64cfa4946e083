"""R0: checks how the server answers for robots.txt; most of this is known only if the file was fetched."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from goodbot.check.findings import Finding, Kind
from goodbot.check.subject import HttpAnswer, Subject
from goodbot.exclusion.access.access import LIMIT_BYTES
from goodbot.exclusion.access.bot_walls import Wall, wall_of
from goodbot.exclusion.robotstxt.dialects import find_dialect
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.validity.freshness import LONGEST_FRESH_S, fresh_for_s
from goodbot.exclusion.verdict import RULE_FIELDS

_SITE: Final = "https://example.org/robots.txt"
_RULES: Final = b"User-agent: *\nDisallow: /private/\n"
_TEXT: Final = ("Content-Type", "text/plain; charset=utf-8")
_FIELDS: Final = frozenset({"user-agent", "sitemap", *RULE_FIELDS})
_MAX_REDIRECTS: Final = 5
_LONGEST_AGE_S: Final = 1e9
_PAYMENT_REQUIRED: Final = 402
_NOT_MODIFIED: Final = 304
"""This status says that a stored copy is still valid, but the request did not name one."""

_LONG = _RULES + b"# " + b"-" * LIMIT_BYTES + b"\nDisallow: /cut\n"
_LONG_COMMENT = _RULES + b"# " + b"-" * LIMIT_BYTES + b"\n"


def _answered(status: int | None, *headers: tuple[str, str], **more: object) -> Subject:
    """Returns an example: the usual file with this answer."""
    return Subject(_RULES, _SITE, HttpAnswer(status, headers or (_TEXT,), **more))  # type: ignore[arg-type]


UNREACHABLE = Kind(
    "R001",
    "robots.txt cannot be read",
    "error",
    "robots cannot read robots.txt ({how}), so they stay away from the whole site until they can",
    "{affected}",
    "make the server answer with the file, or with 404 if there is none",
    "RFC 9309 2.3.1.4; Google's page on robots.txt errors",
    _answered(503),
    _answered(200),
)
UNAVAILABLE = Kind(
    "R002",
    "robots.txt refused or missing: everything is allowed",
    "warning",
    "the server answers {status} for robots.txt, so robots may fetch every page",
    "every robot that follows RFC 9309; older robots stay away after 401 or 403, as the standards of the 1990s require",
    "serve the file with status 200; to keep robots out, write `Disallow: /` in it",
    "RFC 9309 2.3.1.3; the draft of December 1996, 3.1",
    _answered(403),
    _answered(200),
    "Reported as info for every status except 401 and 403.",
)
HTML = Kind(
    "R003",
    "HTML instead of rules",
    "error",
    "this is an HTML page, not a robots.txt: {found}",
    "every robot",
    "serve the rules as plain text at /robots.txt, or answer 404 if there are none",
    "RFC 9309 2.2, 2.3",
    Subject(b"<!DOCTYPE html>\n<title>Not found</title>\n"),
    Subject(b"# <html> is no rule\n" + _RULES),
)
MEDIA_TYPE = Kind(
    "R004",
    "wrong media type",
    "warning",
    "robots.txt is served {how}",
    "{affected}",
    "{fix}",
    "RFC 9309 2.3",
    _answered(200, ("Content-Type", "application/octet-stream")),
    _answered(200, ("Content-Type", "Text/Plain")),
)
REDIRECTS = Kind(
    "R005",
    "too many redirects, or a redirect to another site",
    "warning",
    "robots.txt {redirect}",
    "{affected}",
    "serve the file directly from /robots.txt on each host",
    "RFC 9309 2.3.1.2",
    _answered(200, redirects=("https://example.org/robots.txt", "https://elsewhere.example/robots.txt")),
    _answered(200, redirects=("http://example.org/robots.txt", "https://www.example.org/robots.txt")),
    "Reported as an error after more than five redirects or in a loop, because robots then give up.",
)
TOO_LONG = Kind(
    "R006",
    "over 500 KiB: robots ignore the rest",
    "error",
    "the file is {bytes} bytes long, but robots read only the first 512,000: they ignore {records} from here on",
    "robots that read no more than RFC 9309 requires, such as Google's and Bing's",
    "shorten the file: remove long comments and repeated rules; `goodbot format --compact` shortens most files further",
    "RFC 9309 2.5",
    Subject(_LONG),
    Subject(_LONG_COMMENT),
)
EMPTY = Kind(
    "R007",
    "no rules",
    "info",
    "the file contains no rules, so robots may fetch every page",
    "every robot",
    "if that is intended, write `User-agent: *` and `Disallow:`, or leave the file empty",
    "RFC 9309 2.2",
    Subject(b"# nothing here yet\n"),
    Subject(b"\n"),
)
CACHED = Kind(
    "R008",
    "cached too long",
    "info",
    "Cache-Control lets robots keep this file for {hours} hours, so they see changes late",
    "robots and caches that obey Cache-Control; RFC 9309 recommends at most 24 hours",
    "send `Cache-Control: max-age=86400` or less",
    "RFC 9309 2.4",
    _answered(200, _TEXT, ("Cache-Control", "max-age=604800")),
    _answered(200, _TEXT, ("Cache-Control", "max-age=86400")),
)
PLACE = Kind(
    "R009",
    "not at the root of the site",
    "error",
    "no robot requests {path}: robots read only /robots.txt, in lower case, on each host and port",
    "every robot",
    "put the file at {place}",
    "RFC 9309 2.3; A Standard for Robot Exclusion, 1994",
    Subject(_RULES, "https://example.org/shop/robots.txt"),
    Subject(_RULES, _SITE),
)

WALLED = Kind(
    "R010",
    "bot wall instead of robots.txt",
    "error",
    "a bot wall ({wall}) answers instead of robots.txt, so robots cannot read the rules",
    "every robot that does not solve challenges: some treat the whole site as allowed, others stay away from all of it",
    "exempt /robots.txt from the challenge of the bot wall",
    "RFC 9309 2.3.1; RFC 9110 15.5.4",
    _answered(403, ("Content-Type", "text/html"), ("cf-mitigated", "challenge")),
    _answered(200, _TEXT, ("cf-ray", "8f2b3c4d5e6f7-SJC")),
)

KINDS = (UNREACHABLE, UNAVAILABLE, HTML, MEDIA_TYPE, REDIRECTS, TOO_LONG, EMPTY, CACHED, PLACE, WALLED)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about the answer, and about a file that is not a robots.txt."""
    if subject.url is not None:
        yield from _place(subject.url)
    if (wall := _wall(subject)) is not None:
        yield WALLED.at(wall=wall.name)
        return
    if subject.answer is not None:
        yield from _answer(subject.answer)
        if subject.answer.status is None or not 200 <= subject.answer.status < 300:
            return
    if subject.is_html:
        yield HTML.at(found=subject.found_in_it)
        return
    if subject.answer is not None:
        yield from _headers(subject.answer)
    if coding := _undecoded(subject):
        how = f"with Content-Encoding {shown(coding)}, but it cannot be decoded or contains no rules"
        affected = "every robot: robots that find no rules treat the whole site as allowed"
        fix = "send the file without Content-Encoding, or encoded as that header says"
        yield MEDIA_TYPE.at(how=how, affected=affected, fix=fix)
    elif subject.body.strip() and not any(line.is_record for line in subject.lines):
        yield EMPTY.at()
    yield from _length(subject)


def _place(url: str) -> Iterator[Finding]:
    parts = urlsplit(url)
    if parts.path != "/robots.txt":
        yield PLACE.at(path=shown(parts.path or "/"), place=shown(f"{parts.scheme}://{parts.netloc}/robots.txt"))


def _wall(subject: Subject) -> Wall | None:
    """Returns the bot wall that answered, or whose challenge page was saved as a robots.txt."""
    answer = subject.answer or HttpAnswer()
    return None if answer.status is None else wall_of(answer.status, answer.headers, subject.body)


def _answer(answer: HttpAnswer) -> Iterator[Finding]:
    status = answer.status
    google = "Google stops crawling for 12 hours, then uses its last good copy for up to 30 days"
    affected = f"every robot that follows RFC 9309; {google}"
    if status is None:
        yield UNREACHABLE.at(how=shown(answer.failure or "no answer"), affected=affected)
    elif status == _PAYMENT_REQUIRED:
        affected = "robots that treat 402 as unreachable, as goodbot does; others treat the whole site as allowed"
        yield UNREACHABLE.at(how=f"status {status}", affected=affected)
    elif status == _NOT_MODIFIED or find_dialect("rfc9309").access_result(status) == "unreachable":
        yield UNREACHABLE.at(how=f"status {status}", affected=affected)
    elif not (200 <= status < 300 or _is_unfollowed_redirect(answer)):
        yield UNAVAILABLE.at(status=status, severity="warning" if status in (401, 403) else "info")
    yield from _redirects(answer.redirects)


def _is_unfollowed_redirect(answer: HttpAnswer) -> bool:
    """Returns whether the last answer is a redirect that robots no longer follow; R005 reports it."""
    return answer.status in (301, 302, 303, 307, 308) and (
        len(answer.redirects) - 1 > _MAX_REDIRECTS or len(set(answer.redirects)) < len(answer.redirects)
    )


def _redirects(redirects: tuple[str, ...]) -> Iterator[Finding]:
    count = len(redirects) - 1
    if len(set(redirects)) < len(redirects):
        affected = "every robot: none can read the file, so all treat the whole site as allowed"
        yield REDIRECTS.at(
            redirect=f"redirects in a loop, back to {shown(redirects[-1])}", affected=affected, severity="error"
        )
        return
    if count > _MAX_REDIRECTS:
        affected = "robots that give up after five redirects, as RFC 9309 permits: they treat the whole site as allowed"
        yield REDIRECTS.at(redirect=f"redirects {count} times", affected=affected, severity="error")
        return
    hosts = [_without_www(urlsplit(url).hostname or "") for url in redirects]
    foreign = next((host for host in hosts[1:] if host != hosts[0]), None)
    if foreign is not None:
        affected = f"robots that follow the redirect: they apply the rules of {shown(foreign)} to {shown(hosts[0])}"
        yield REDIRECTS.at(redirect=f"redirects to another site, {shown(foreign)}", affected=affected)


def _without_www(host: str) -> str:
    return host.removeprefix("www.")


def _headers(answer: HttpAnswer) -> Iterator[Finding]:
    stated = next((value for name, value in answer.headers if name.lower() == "content-type"), "")
    media_type = stated.partition(";")[0].strip().lower()
    if media_type != "text/plain":
        affected = "robots and proxies that check the media type; most robots read the file anyway"
        fix = "send `Content-Type: text/plain; charset=utf-8`"
        how = f"as {shown(media_type)}, not as text/plain" if media_type else "without a Content-Type"
        yield MEDIA_TYPE.at(how=how, affected=affected, fix=fix)
    seconds = fresh_for_s(answer.headers, 0.0, default_s=0.0, longest_s=_LONGEST_AGE_S)
    if seconds > LONGEST_FRESH_S:
        yield CACHED.at(hours=f"{seconds / 3600:,.0f}")


def _undecoded(subject: Subject) -> str:
    """Returns the content coding of an answer in which no record is found; empty if there are records or no coding."""
    if subject.answer is None or any(line.field in _FIELDS for line in subject.lines):
        return ""
    stated = (value for name, value in subject.answer.headers if name.lower() == "content-encoding")
    return next((value.strip() for value in stated if value.strip().lower() not in ("", "identity")), "")


def _length(subject: Subject) -> Iterator[Finding]:
    if len(subject.body) <= LIMIT_BYTES:
        return
    first = subject.body.count(b"\n", 0, LIMIT_BYTES) + 1
    lost = [line for line in subject.lines[first:] if line.field in _FIELDS]
    if lost:
        records = f"{len(lost):,} records" if len(lost) > 1 else "one record"
        yield TOO_LONG.at(lost[0].number, bytes=f"{len(subject.body):,}", records=records)
