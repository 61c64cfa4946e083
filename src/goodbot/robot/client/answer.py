"""What came of asking for a URL, as programs of other people hold it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from goodbot.errors import RunError
from goodbot.exclusion import Verdict
from goodbot.page.select import Element
from goodbot.page.webpage import WebPage
from goodbot.robot.manners.redirects import REDIRECTS
from goodbot.url import Url, resolve
from goodbot.values import Failure, Headers, Response


@dataclass(frozen=True)
class Answer:
    """What came of asking for a URL. Nothing of it is an exception: look at `ok`, or at what it was that was not.

    `asked` is the URL the program named, `url` the last one asked; `history` are the redirects between. `verdict` is
    that of robots.txt for `url`. Without a `response`: `verdict` forbids it; or there was no answer, as `failure` says;
    or the host wants to rest until `held_until`, longer than the robot has patience. If robots.txt itself could not be
    had for want of an answer, `verdict` forbids and `failure` says why. `wall` names the bot wall that gave
    the response, in place of what was asked for. Times in Unix seconds.
    """

    asked: str
    url: str
    verdict: Verdict
    response: Response | None = field(default=None, repr=False)
    failure: Failure | None = None
    held_until: float | None = None
    fetched_at: float = 0.0
    elapsed_s: float = 0.0
    history: tuple["Answer", ...] = ()
    wall: str | None = None
    from_public: bool = field(default=False, repr=False)
    """A public address answered: what it redirects to must not be a private one."""

    @property
    def allowed(self) -> bool:
        """Whether robots.txt lets us fetch it."""
        return self.verdict.allowed

    @property
    def ok(self) -> bool:
        """Whether there is an answer with status 200 to 299, the answer is not a bot wall's challenge page, and its
        body is complete."""
        return self._is_success and self.wall is None and self.truncated != "disconnect"

    @property
    def _is_success(self) -> bool:
        return self.response is not None and 200 <= self.response.status < 300

    @property
    def status(self) -> int | None:
        """The status code; None without an answer."""
        return None if self.response is None else self.response.status

    @property
    def headers(self) -> Headers:
        """The header fields in the order received."""
        return () if self.response is None else self.response.headers

    def header(self, name: str) -> str | None:
        """The first field of that name (any case), or None."""
        return None if self.response is None else self.response.header(name)

    @property
    def body(self) -> bytes:
        """As received: the content coding is kept. At most 10 MiB, unless the settings say otherwise."""
        return b"" if self.response is None else self.response.body

    @property
    def truncated(self) -> Literal["length", "disconnect"] | None:
        """Why `body` ends early: `length` (cut at our size limit) or `disconnect` (it broke off before its end); None
        if it is whole."""
        return None if self.response is None else self.response.truncated

    @property
    def content(self) -> bytes:
        """The body decoded, at most 10 MiB of it."""
        return self.page.content

    @property
    def text(self) -> str:
        """The body decoded and as text, markup and all; `page.text` is what there is to read."""
        return self.page.source

    @cached_property
    def page(self) -> WebPage:
        """What the answer says: title, text, links… An empty one without an answer."""
        return WebPage(self.url, self.response or Response(0, (), b""), self.fetched_at, self.verdict.agent)

    def select(self, css: str) -> list[Element]:
        """`page.select`: the elements that match a CSS selector."""
        return self.page.select(css)

    @property
    def trouble(self) -> str | None:
        """What is not well, in one line; None if `ok`."""
        if self.failure is not None:
            return f"{self.failure.kind}: {self.failure.detail}"
        if not self.verdict.allowed and self.held_until is None:
            return f"forbidden by robots.txt: {self.verdict.reason}"
        if self.response is None:
            return f"the host wants to rest until {self.held_until:.0f} (Unix seconds)"
        said = [] if self._is_success else [f"status {self.response.status} {self.response.reason}".rstrip()]
        if self.wall is not None:
            said.append(f"a bot wall ({self.wall}) answered")
        if self.truncated == "disconnect":
            said.append(f"the body broke off after {len(self.body)} bytes, before its end")
        return "; ".join(said) or None

    def raise_for_status(self) -> "Answer":
        """Itself if `ok`; else raises RunError with the `trouble`. For programs that would rather end."""
        if self.trouble is not None:
            raise RunError(f"{self.url}: {self.trouble}")
        return self


def redirect_of(answer: Answer) -> str | None:
    """Where an answer leads; None if it is no redirect."""
    location = answer.response.location if answer.response is not None and answer.status in REDIRECTS else None
    target = resolve(Url(answer.url), location) if location else None
    return None if target is None else target.text
