"""Holds the result of fetching a URL, as programs get it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from goodbot.errors import RunError, quoted
from goodbot.exclusion import Verdict
from goodbot.exclusion.validity.freshness import retry_after_s
from goodbot.human import human_time
from goodbot.page.select import Element
from goodbot.page.webpage import WebPage
from goodbot.url import Url, resolve
from goodbot.values import OWN_REFUSALS, REDIRECTS, Failure, Headers, Response


@dataclass(frozen=True)
class Answer:
    """The result of fetching a URL. No result raises an exception: check `ok`, then the other attributes for the
    reason.

    `asked` is the URL that the program gave, `url` the one after redirects, `history` the redirects in between.
    `verdict` is that of robots.txt for `url`. There is no `response` if `verdict` disallows `url`, if the server did
    not answer (`failure` says why), or if the robot would wait too long: the host may not be requested before
    `held_until`. If robots.txt is unreachable, `verdict` disallows `url` and `failure` says why. `wall` names the bot
    wall that answered in place of the page. Times are Unix seconds.
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
    """Whether a public address answered: then a redirect to a private address is refused."""

    @property
    def allowed(self) -> bool:
        """Whether robots.txt allows fetching `url`."""
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
        """Returns the value of the first field of that name (in any case), or None."""
        return None if self.response is None else self.response.header(name)

    @property
    def body(self) -> bytes:
        """The body as received, with its content coding. At most 10 MiB, unless the settings say otherwise."""
        return b"" if self.response is None else self.response.body

    @property
    def truncated(self) -> Literal["length", "disconnect"] | None:
        """Why `body` is incomplete: `length` (cut at the size limit of the settings) or `disconnect` (the connection
        ended before the body did). None if it is complete."""
        return None if self.response is None else self.response.truncated

    @property
    def content(self) -> bytes:
        """The body without its content coding, at most 10 MiB."""
        return self.page.content

    @property
    def text(self) -> str:
        """The decoded body as text, with its markup. `page.text` has the text that readers see."""
        return self.page.source

    @cached_property
    def page(self) -> WebPage:
        """The page of the answer: title, text, links… An empty page without an answer."""
        return WebPage(self.url, self.response or Response(0, (), b""), self.fetched_at, self.verdict.agent)

    def select(self, css: str) -> list[Element]:
        """Returns the elements that match a CSS selector (`page.select`)."""
        return self.page.select(css)

    @property
    def trouble(self) -> str | None:
        """What went wrong, in one line; None if `ok`."""
        if self.failure is not None:
            is_robots = not self.verdict.allowed and self.failure.kind not in OWN_REFUSALS
            return f"{'robots.txt is unreachable: ' if is_robots else ''}{self.failure.kind}: {self.failure.detail}"
        if not self.verdict.allowed and self.held_until is None:
            return f"disallowed by robots.txt: {self.verdict.reason}"
        if self.response is None:
            return f"the host may not be requested before {self.held_until:.0f} (Unix seconds)"
        problems = [] if self._is_success else [f"status {self.response.status} {self.response.reason}".rstrip()]
        if self.status in (429, 503):
            answered_at = self.fetched_at + self.elapsed_s
            if wait_s := retry_after_s(self.headers, answered_at):
                problems[0] += f", which asks for no request before {human_time(answered_at + wait_s)}"
        if self.status in REDIRECTS and self.response.location:
            problems[0] += f", a redirect to {quoted(self.response.location)}"
        if self.wall is not None:
            problems.append(f"a bot wall ({self.wall}) answered")
        if self.truncated == "disconnect":
            problems.append(f"the body broke off after {len(self.body)} bytes, before its end")
        return "; ".join(problems) or None

    def raise_for_status(self) -> "Answer":
        """Returns itself if `ok`, else raises RunError with the text of `trouble`."""
        if self.trouble is not None:
            raise RunError(f"{self.url}: {self.trouble}")
        return self


def redirect_of(answer: Answer) -> str | None:
    """Returns the target of a redirect; None if the answer is not a redirect."""
    location = answer.response.location if answer.response is not None and answer.status in REDIRECTS else None
    target = resolve(Url(answer.url), location) if location else None
    return None if target is None else target.text
