"""Finds where a redirect leads, and whether a public host sent it."""

from typing import Final

from goodbot.config import Settings
from goodbot.robot.manners.politeness import is_private_peer
from goodbot.url import Url, resolve
from goodbot.values import REDIRECTS, Capture, Response

MAX_REDIRECTS: Final = 10
"""Redirects in a row before a chain counts as endless; browsers stop at 20."""


def redirect_target(capture: Capture) -> Url | None:
    """Returns the URL that the answer redirects to; None if it is no redirect or names no URL that can be fetched."""
    if not isinstance(capture.result, Response) or capture.result.status not in REDIRECTS:
        return None
    location = capture.result.location
    return resolve(capture.request.url, location) if location else None


def is_from_public(capture: Capture, settings: Settings) -> bool:
    """Returns whether a public host answered: the URLs it names must not lead to private addresses. Behind a proxy this
    cannot be known."""
    return capture.peer is not None and not settings.proxy and not is_private_peer(capture.peer)
