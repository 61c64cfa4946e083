"""Judges what a service answered to a batch. Pure."""

from typing import Any, Final, Literal, NamedTuple

import msgspec

from goodbot.exclusion import retry_after_s
from goodbot.exclusion.text.shown_text import shown
from goodbot.page import decode_content
from goodbot.page.html import looks_like_html
from goodbot.values import REDIRECTS, Capture, Failure, Response

ANSWER_BYTES: Final = 10_000
"""How much of an answer is read."""

ANSWER_CHARS: Final = 200
"""How much of an answer's text is shown."""

Action = Literal["accepted", "try again", "refuse batch", "refuse host", "give up"]
"""What follows from an answer: the batch is accepted; the same request may succeed later; this batch, all batches of
its host, or all batches are refused."""


class Judgement(NamedTuple):
    """What an answer means, in one sentence, and what follows. `wait_s` is what Retry-After asks for."""

    action: Action
    status: int | None
    meaning: str
    answer: str = ""
    wait_s: float | None = None


_MEANINGS: Final[dict[int, tuple[Action, str]]] = {
    200: ("accepted", "accepted"),
    202: ("accepted", "accepted; the service has not checked the key yet"),
    400: ("refuse batch", "the service does not understand the request"),
    401: ("refuse host", "the service does not accept the key; see goodbot key indexnow --check"),
    403: ("refuse host", "the service does not accept the key for these URLs; see goodbot key indexnow --check"),
    404: ("give up", "there is no IndexNow service at this URL"),
    405: ("give up", "there is no IndexNow service at this URL: it takes no POST requests"),
    410: ("give up", "there is no IndexNow service at this URL any more"),
    413: ("refuse batch", "the request is longer than the service accepts"),
    422: ("refuse batch", "a URL is invalid or not of this host, or the key does not apply to it"),
    429: ("try again", "the service gets too many requests"),
    501: ("give up", "there is no IndexNow service at this URL: it takes no POST requests"),
}


def judge(capture: Capture, now: float) -> Judgement:
    """Returns what an answer means. Never raises, whatever the answer is."""
    result = capture.result
    if isinstance(result, Failure):
        action: Action = "give up" if result.lasting else "try again"
        return Judgement(action, None, f"no answer: {shown(result.detail)}")
    action, meaning = _meaning(result)
    wait_s = retry_after_s(result.headers, now) if action == "try again" else None
    return Judgement(action, result.status, meaning, answer_text(result), wait_s)


def _meaning(response: Response) -> tuple[Action, str]:
    status = response.status
    if status in _MEANINGS:
        return _MEANINGS[status]
    if status in REDIRECTS:
        place = f" to {shown(response.location)}" if response.location else ""
        return "give up", f"the service redirects{place}, which is not followed; give the right URL with --to"
    if 400 <= status < 500:
        return "refuse batch", "the service refuses the request"
    if 500 <= status < 600:
        return "try again", "the service has a problem of its own"
    return "give up", "this is not an answer of an IndexNow service"


def answer_text(response: Response) -> str:
    """Returns the text of an answer on one line, cut to `ANSWER_CHARS`: its message if it is JSON, or what it is if it
    is HTML. Never raises."""
    body = decode_content(response, ANSWER_BYTES).body
    message = _message(body)
    if message is None and looks_like_html(body):
        return "(an HTML page)"
    text = body.decode("utf-8", "replace") if message is None else message
    return shown(" ".join(text.split()), ANSWER_CHARS)


def _message(body: bytes) -> str | None:
    """Returns the `message` or `error` of a JSON object."""
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
    if not isinstance(value, dict):
        return None
    return next((text for name in ("message", "error") if isinstance(text := value.get(name), str)), None)
