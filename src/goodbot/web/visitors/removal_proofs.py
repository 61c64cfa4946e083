"""Judges what proves that the owner of a site wants a page removed from the search. Sends no requests."""

import hmac
from typing import Final, Literal

from goodbot.exclusion import Directives, Verdict
from goodbot.page import decode_content, read_page
from goodbot.page.document import is_read_in_process
from goodbot.url import Url, resolve
from goodbot.values import Response
from goodbot.web.public_sites import BODY_BYTES, VisitedDocument

TOKEN_FILE: Final = "goodbot-removal-{token}.txt"
TOKEN_FILE_BYTES: Final = 1000

_GONE: Final = (404, 410)


def token_file_url(url: Url, token: str) -> Url:
    """Returns where the owner of the site of `url` puts the file with this token."""
    return Url(f"{url.origin}/{TOKEN_FILE.format(token=token)}")


def disallowed(verdict: Verdict) -> str:
    """Returns the proof that robots.txt forbids the page; empty if there is none. An unreachable robots.txt is none."""
    is_outage = verdict.access == "unreachable"
    return "" if verdict.allowed or is_outage else f"robots.txt of the site forbids it: {verdict.reason}"


def says_no(url: Url, response: Response, token: str, now: float) -> str:
    """Returns the proof in the answer of the page itself, for the robot named `token`: it is gone, has moved, or asks
    not to be indexed. Empty if there is none. Never raises."""
    if response.status in _GONE:
        return f"its server answers with status {response.status}"
    if 300 <= response.status < 400:
        target = resolve(url, response.location) if response.location else None
        return f"its server redirects it to {target}" if target is not None and target != url else ""
    directives = _directives(url, response, token)
    effect: Literal["index", "unavailable_after"] = "index" if not directives.index else "unavailable_after"
    if directives.index and directives.is_available(now):
        return ""
    sources = ", ".join(f"{source.directive} in {source.origin}" for source in directives.why(effect))
    return f"the page asks not to be shown: {sources}"


def _directives(url: Url, response: Response, token: str) -> Directives:
    """Returns the directives in the header, and in the page if no process is needed to read it."""
    if not 200 <= response.status < 300 or is_read_in_process(url, response):
        return Directives.parse((), response.headers, token)
    return read_page(url, response, token, BODY_BYTES, text=False).directives


def has_token(document: VisitedDocument, token: str) -> bool:
    """Returns whether a document is the file with this token: a text, no page, that has nothing else."""
    response = document.response
    return response is not None and response.status == 200 and hmac.compare_digest(_text(response), token.encode())


def _text(response: Response) -> bytes:
    """Returns the content without spaces around it; nothing if it is too long."""
    content = decode_content(response, TOKEN_FILE_BYTES + 1).body
    return content.removeprefix(b"\xef\xbb\xbf").strip() if len(content) <= TOKEN_FILE_BYTES else b""
