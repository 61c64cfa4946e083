"""What the HTTP clients of other libraries ask for → what a robot is asked; its answers → what they expect."""

from collections import Counter
from collections.abc import Iterable
from threading import Lock
from typing import Final
from urllib.parse import unquote

from goodbot.robot.client.answer import Answer
from goodbot.robot.client.blocking import BlockingClient
from goodbot.robot.client.client import OWN_FIELDS, Client
from goodbot.values import Headers

METHODS: Final = ("GET", "HEAD")
_BODY_FIELDS: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
TARGETS_MOST: Final = 10_000

NO_OTHER_METHOD: Final = "a robot asks for documents, by GET or HEAD; it sends none, so not"
NO_BODY: Final = "a robot sends no body"


def blocking(robot: BlockingClient | Client) -> BlockingClient:
    """`Robot.blocking` as it is; a `Robot` gets a thread of its own."""
    return BlockingClient(robot) if isinstance(robot, Client) else robot


def asked_fields(headers: Iterable[tuple[str, str]]) -> Headers:
    """Header fields a robot can be given: those that say who asks are its own, as is the coding of a body."""
    return tuple((name, value) for name, value in headers if name.lower() not in OWN_FIELDS | {"accept-encoding"})


def answered_fields(answer: Answer, method: str) -> Headers:
    """Header fields of an answer whose body is handed over decoded; as they are, where there is none."""
    if method == "HEAD" or answer.status in (204, 304):
        return answer.headers
    kept = tuple((name, value) for name, value in answer.headers if name.lower() not in _BODY_FIELDS)
    return (*kept, ("Content-Length", str(len(answer.content))))


class Redirects:
    """Where public hosts have sent a library that follows redirects itself: it comes back for each target, which must
    not be a private address then. Remembers `TARGETS_MOST`; for several threads."""

    def __init__(self) -> None:
        self._targets: Counter[str] = Counter()
        self._lock = Lock()

    def learn(self, answer: Answer, target: str | None) -> None:
        """`answer` leads to `target`, if it is a redirect."""
        if target is not None and answer.from_public:
            name = _name(target)
            with self._lock:
                if len(self._targets) >= TARGETS_MOST:
                    del self._targets[next(iter(self._targets))]
                self._targets[name] += 1

    def take(self, url: str) -> bool:
        """Whether a public host has led to `url`, once for each time it did. However its characters are escaped."""
        name = _name(url)
        with self._lock:
            led = self._targets[name] > 0
            self._targets[name] -= 1
            if self._targets[name] <= 0:
                del self._targets[name]
            return led


def _name(url: str) -> str:
    """The same for a URL as a server wrote it and as a library wrote it anew."""
    return unquote(url, errors="replace")
