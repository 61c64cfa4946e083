"""Holds what a program gets when it reads a URL: the content of the document, and what its robot may do with it."""

from dataclasses import asdict, dataclass, field, replace

from goodbot.exclusion import Directives, Preferences, Verdict
from goodbot.page.main_content import MainContent
from goodbot.values import Failure, Link


@dataclass(frozen=True)
class Reading:
    """The result of reading a URL. Failures are not exceptions: check `ok`, then `trouble` for the reason.

    `url` is the URL that the program gave, `final_url` the one after redirects (not requested if `verdict` disallows
    it), `verdict` that of robots.txt for `final_url`. `text`, `markdown` and `html` are the main content, or everything
    (`whole`). They are empty if `verdict` disallows the URL, or the document could not be fetched or read. `title` is
    empty, and `author`, `date` (ISO 8601) and `lang` (BCP 47) are None, if the document does not state them. `links`
    are all links of the page, absolute, each once. `directives` are the page's rules for robots (noindex and so on).
    `preferences` say what its content may be used for: "search", "ai-input" and "ai-train" → "allowed", "disallowed" or
    "unknown"; its `reasons` say why. `type` is the media type. `status` is that of the response; `failure` says why
    there is none. `held_until` is the time before which the host may not be requested (Unix seconds). `wall` names the
    bot wall that answered in place of the page. `unread` says which part of the document was not read, and why; without
    any text, `trouble` says the same.
    """

    url: str
    final_url: str
    verdict: Verdict
    status: int | None = None
    title: str = ""
    author: str | None = None
    date: str | None = None
    lang: str | None = None
    text: str = field(default="", repr=False)
    markdown: str = field(default="", repr=False)
    html: str = field(default="", repr=False)
    links: tuple[Link, ...] = field(default=(), repr=False)
    directives: Directives = field(default_factory=Directives, repr=False)
    preferences: Preferences = field(default_factory=Preferences)
    type: str = ""
    trouble: str | None = None
    failure: Failure | None = None
    held_until: float | None = None
    wall: str | None = None
    unread: str = ""

    @property
    def ok(self) -> bool:
        """Whether the document was fetched completely, with a status of 200 to 299, is not a bot wall's page, and has
        text."""
        return self.trouble is None

    @property
    def allowed(self) -> bool:
        """Whether robots.txt allows fetching `final_url`."""
        return self.verdict.allowed

    @property
    def is_disallowed(self) -> bool:
        """Whether a robots.txt that was read disallows `final_url`."""
        return not self.verdict.allowed and self.verdict.access != "unreachable" and self.held_until is None

    def with_content(self, content: MainContent, cut: str = "") -> "Reading":
        """Returns this reading with the content of its document. `cut`: why only a part of it was fetched."""
        has_text = bool(content.text or content.markdown.strip())
        return replace(
            self,
            title=content.title,
            author=content.author,
            date=content.date,
            lang=content.language,
            text=content.text,
            markdown=content.markdown,
            html=content.html,
            links=content.page.links or tuple(Link(entry.url, entry.title) for entry in content.page.listed),
            directives=content.page.directives,
            unread="; ".join(filter(None, (content.unread, cut))),
            trouble=self.trouble if has_text else content.unread or "it has no text",
        )

    def as_json(self) -> dict[str, object]:
        """Returns the reading as `goodbot fetch --json` prints it."""
        verdict = self.verdict
        return {
            "url": self.url,
            "final_url": self.final_url,
            "status": self.status,
            "type": self.type,
            "title": self.title,
            "author": self.author,
            "date": self.date,
            "lang": self.lang,
            "text": self.text,
            "markdown": self.markdown,
            "links": [{"url": link.url.text, "anchor": link.anchor, "rel": list(link.rel)} for link in self.links],
            "directives": None if self.status is None else asdict(self.directives),
            "preferences": dict(self.preferences),
            "verdict": {
                "allowed": verdict.allowed,
                "line": verdict.line,
                "rule": verdict.rule,
                "reason": verdict.reason,
                "section": verdict.section,
                "access": verdict.access,
                "agent": verdict.agent,
            },
            "trouble": self.trouble,
            "failure": None if self.failure is None else self.failure.kind,
            "held_until": self.held_until,
            "wall": self.wall,
            "unread": self.unread,
        }
