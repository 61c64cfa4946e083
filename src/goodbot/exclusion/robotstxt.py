"""bytes → records → groups; and what they say to one robot."""

import re
from collections.abc import Iterable, Iterator, Sequence

from goodbot.exclusion.dialects import Dialect, find_dialect
from goodbot.exclusion.matching import Matcher
from goodbot.exclusion.verdict import RULE_FIELDS, Group, Record, Rule, Verdict

_BOM = "\ufeff"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MATCHERS_KEPT = 64


class RobotsTxt:
    """A robots.txt, read once; asked about any robot and URL. Nothing is compiled before it is asked for.

    An agent is a bare product token or a whole User-Agent value; a URL is absolute or a path, and is taken to
    belong to this file's origin. No question raises, whatever the texts.
    """

    __slots__ = ("_by_token", "_dialect", "_matchers", "groups", "sitemaps")

    def __init__(self, groups: tuple[Group, ...], sitemaps: list[str], dialect: Dialect) -> None:
        self.groups = groups
        """Every group in the order of the file."""
        self.sitemaps = sitemaps
        """The values of the Sitemap records, in order (RFC 9309 §2.2.4); they belong to no group."""
        self._dialect = dialect
        self._by_token: dict[str, list[Group]] | None = None
        self._matchers: dict[str, Matcher] = {}

    @classmethod
    def parse(cls, body: bytes | str, dialect: str = "rfc9309") -> "RobotsTxt":
        """Reads all of `body`: whatever the bytes, it never raises, and lines that hold no record are passed
        over.

        Linear in its size, which it does not limit (`Access` does). Raises InputError for an unknown dialect.
        """
        reading = find_dialect(dialect)
        groups, sitemaps = _read_groups(read_records(decode(body)))
        return cls(groups, sitemaps, reading)

    @property
    def dialect(self) -> str:
        """The name of the dialect the file is read in."""
        return self._dialect.name

    @property
    def rules(self) -> list[Rule]:
        """Every rule of every group, in the order of the file."""
        return [rule for group in self.groups for rule in group.rules]

    def allows(self, url: str, agent: str) -> bool:
        """Whether `agent` may fetch `url`; `matcher(agent).allows` is faster for many URLs."""
        return self.matcher(agent).allows(url)

    def verdict(self, url: str, agent: str) -> Verdict:
        """Whether `agent` may fetch `url`, and why."""
        return self.matcher(agent).verdict(url)

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between two requests that the groups of `agent` ask for (the most of several), or None."""
        return self.matcher(agent).delay_s

    def matcher(self, agent: str) -> Matcher:
        """What the file says to one robot, bound for hot loops."""
        matcher = self._matchers.get(agent)
        if matcher is None:
            if len(self._matchers) >= _MATCHERS_KEPT:
                self._matchers.clear()
            matcher = self._matchers[agent] = Matcher(agent, self._groups_for(agent), self._dialect)
        return matcher

    def _groups_for(self, agent: str) -> Sequence[Group]:
        if self._by_token is None:
            self._by_token = _groups_by_token(self.groups, self._dialect)
        return self._dialect.choose(self._by_token, self._dialect.agent_token(agent))


def decode(body: bytes | str) -> str:
    """The text of a robots.txt: UTF-8 (RFC 9309 §2.2), its byte order mark skipped; UTF-16 if it begins with
    that one's.

    Octets that are no UTF-8 come out percent-encoded, as they are compared, so that the text can always be
    shown.
    """
    if isinstance(body, str):
        try:
            body.encode()
        except UnicodeEncodeError:  # lone surrogates
            return decode(body.encode("utf-8", "surrogatepass"))
        return body.removeprefix(_BOM)
    if body.startswith(_UTF16_BOMS):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape").removeprefix(_BOM)
        return _NOT_UTF8.sub(lambda octet: f"%{ord(octet.group()) - 0xDC00:02X}", text)


def read_records(text: str) -> Iterator[Record]:
    """The lines that hold a record `field: value`, comments cut off.

    A line ends at CR, LF or CRLF and at nothing else (§2.2: other signs Python takes for line ends may stand
    in a path).
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(text.split("\n"), 1):
        if "#" in line:
            line = line.partition("#")[0]  # noqa: PLW2901
        field, colon, value = line.partition(":")
        if colon:
            yield number, field.strip(" \t").lower(), value.strip(" \t")


def _read_groups(records: Iterable[Record]) -> tuple[tuple[Group, ...], list[str]]:
    """§2.1: only a User-agent line after a rule begins a new group; a rule before the first group is
    nobody's."""
    groups: list[Group] = []
    sitemaps: list[str] = []
    first_line, agents, lines = 0, list[str](), list[Record]()
    ruled = False
    for record in records:
        number, field, value = record
        if field == "user-agent":
            if ruled:
                groups.append(Group(first_line, tuple(agents), tuple(lines)))
                agents, lines, ruled = [], [], False
            if not agents:
                first_line = number
            agents.append(value)
        elif field == "sitemap":
            if value:
                sitemaps.append(value)
        elif agents:
            lines.append(record)
            ruled = ruled or field in RULE_FIELDS
    if agents:
        groups.append(Group(first_line, tuple(agents), tuple(lines)))
    return tuple(groups), sitemaps


def _groups_by_token(groups: Iterable[Group], dialect: Dialect) -> dict[str, list[Group]]:
    by_token: dict[str, list[Group]] = {}
    for group in groups:
        for token in dict.fromkeys(map(dialect.file_token, group.agents)):
            if token:
                by_token.setdefault(token, []).append(group)
    return by_token
