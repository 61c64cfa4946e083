"""Recognises challenge pages that bot walls send instead of pages."""

from goodbot.exclusion.access.bot_walls import LOOKED_AT_BYTES, Wall, wall_of
from goodbot.page import decode_content
from goodbot.values import Capture, Response


def wall_of_answer(capture: Capture) -> Wall | None:
    """Returns the wall that answered instead of the requested page; None if no known wall did. Decodes only the
    beginning of the body, and only of HTML."""
    response = capture.result
    if not isinstance(response, Response):
        return None
    wall = wall_of(response.status, response.headers, b"")
    if wall is not None or not response.body or (response.media_type and "html" not in response.media_type):
        return wall
    return wall_of(response.status, response.headers, decode_content(response, LOOKED_AT_BYTES).body)
