"""Fetches descriptions and answers from search services, within limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from goodbot.exclusion import retry_after_s
from goodbot.exclusion.text.shown_text import shown
from goodbot.federate.answers import ENDS_EARLY
from goodbot.federate.sources import is_same_service
from goodbot.page.coding import decode_content
from goodbot.ports import Transport
from goodbot.url import Url, is_private_address, resolve
from goodbot.values import REDIRECTS, Capture, Failure, Request, Response

MAX_ANSWER_BYTES: Final = 2 * 1024 * 1024
"""The limit for a description or an answer, decoded."""
MAX_REDIRECTS: Final = 3
WAIT_S: Final = 60.0
MAX_WAIT_S: Final = 3600.0
"""A longer `Retry-After` is cut."""

Permit = Callable[[Url], Request]
"""Makes the request to a service that the user named."""


@dataclass(frozen=True, slots=True)
class Document:
    """A complete answer with status 200. `is_public`: it came from a public address."""

    url: Url
    body: bytes
    content_type: str
    is_public: bool


class Trouble(NamedTuple):
    """Why there is no document or no answer, in one clause. `wait_s`: how long the service asks to wait. `is_lasting`:
    what is there is not a search service. `is_ours`: the reason is a limit of ours, so the service has not failed."""

    why: str
    wait_s: float = 0.0
    is_lasting: bool = False
    is_ours: bool = False


async def fetch(transport: Transport, permit: Permit, url: Url, *, public_only: bool = False) -> Document | Trouble:
    """Fetches a document. Follows up to `MAX_REDIRECTS` redirects that stay with the service (`is_same_service`), none
    of them from a public to a private address."""
    for _ in range(MAX_REDIRECTS + 1):
        capture = await transport.send(replace(permit(url), public_only=public_only))
        answer = capture.result
        if isinstance(answer, Failure):
            return Trouble(f"no answer: {answer.detail}")
        public_only = public_only or _is_public(capture)
        if answer.status not in REDIRECTS or answer.location is None:
            return _document(url, capture, answer, is_public=public_only)
        target = resolve(url, answer.location)
        if target is None or not is_same_service(url, target):
            return Trouble(f"it redirects to another site: {shown(answer.location)}")
        url = target
    return Trouble("it redirects too often")


def _is_public(capture: Capture) -> bool:
    return capture.peer is not None and not is_private_address(capture.peer)


def _document(url: Url, capture: Capture, answer: Response, *, is_public: bool) -> Document | Trouble:
    if answer.status in (429, 503):
        return Trouble(f"it asks to wait (status {answer.status})", wait_s=_wait_s(capture, answer))
    if answer.status != 200:
        return Trouble(f"it answers with status {answer.status}")
    decoded = decode_content(answer, MAX_ANSWER_BYTES + 1)
    if answer.truncated == "length" or len(decoded.body) > MAX_ANSWER_BYTES:
        return Trouble(f"its answer is longer than {MAX_ANSWER_BYTES // 1024} KiB")
    if decoded.error is not None or not decoded.complete:
        return Trouble(ENDS_EARLY)
    return Document(url, decoded.body, answer.header("content-type") or "", is_public)


def _wait_s(capture: Capture, answer: Response) -> float:
    """Returns the seconds of `Retry-After`; a minute if it is missing or invalid."""
    asked_s = retry_after_s(answer.headers, capture.fetched_at + capture.elapsed_s)
    return WAIT_S if asked_s is None else min(asked_s, MAX_WAIT_S)
