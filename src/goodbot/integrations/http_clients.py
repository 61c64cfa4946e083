"""Converts requests of other HTTP libraries into calls of a robot, and its answers back."""

from collections import Counter
from collections.abc import Iterable
from threading import Lock
from typing import Final
from urllib.parse import unquote

from goodbot.robot.client.answer import Answer
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import Client
from goodbot.robot.client.given_arguments import OWN_FIELDS
from goodbot.values import Headers

METHODS: Final = ("GET", "HEAD")
_BODY_FIELDS: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
MAX_TARGETS: Final = 10_000
"""How many redirect targets are remembered."""

NO_OTHER_METHOD: Final = "a robot sends only GET and HEAD requests, not"
NO_BODY: Final = "a robot sends no request body"


def blocking(robot: BlockingClient | Client) -> BlockingClient:
    """Returns a blocking client as it is; starts a thread for a `Robot`."""
    return BlockingClient(robot) if isinstance(robot, Client) else robot


def request_fields(headers: Iterable[tuple[str, str]]) -> Headers:
    """Returns the header fields that a program may set. A robot sets those that say who it is and Accept-Encoding
    itself."""
    return tuple((name, value) for name, value in headers if name.lower() not in OWN_FIELDS | {"accept-encoding"})


def response_fields(answer: Answer, method: str) -> Headers:
    """Returns the header fields of an answer for its decoded body, or unchanged if there is no body."""
    if method == "HEAD" or answer.status in (204, 304):
        return answer.headers
    kept = tuple((name, value) for name, value in answer.headers if name.lower() not in _BODY_FIELDS)
    return (*kept, ("Content-Length", str(len(answer.content))))


class Redirects:
    """Remembers the redirect targets that public hosts named, for a library that follows redirects itself and requests
    each target from the robot: such a target must not be a private address. Remembers `MAX_TARGETS` targets;
    thread-safe."""

    def __init__(self) -> None:
        self._targets: Counter[str] = Counter()
        self._lock = Lock()

    def learn(self, answer: Answer, target: str | None) -> None:
        """Records that `answer` redirects to `target` (None: it is no redirect)."""
        if target is not None and answer.from_public:
            name = _name(target)
            with self._lock:
                if len(self._targets) >= MAX_TARGETS:
                    del self._targets[next(iter(self._targets))]
                self._targets[name] += 1

    def take(self, url: str) -> bool:
        """Whether a public host redirected to `url`: true once for each time it did. The percent-encoding of `url` does
        not matter."""
        name = _name(url)
        with self._lock:
            was_target = self._targets[name] > 0
            self._targets[name] -= 1
            if self._targets[name] <= 0:
                del self._targets[name]
            return was_target


def _name(url: str) -> str:
    """Returns the same text for a URL as the server wrote it and as the library rewrote it."""
    return unquote(url, errors="replace")
