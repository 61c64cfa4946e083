"""A parsed robots.txt: answers for any robot, in any dialect."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from sys import getsizeof

from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.robotstxt.dialects import DIALECTS, find_dialect
from goodbot.exclusion.robotstxt.first_matching import RuleScan
from goodbot.exclusion.robotstxt.group_choice import Choice, Chooser
from goodbot.exclusion.robotstxt.lines import BLANK_LINE
from goodbot.exclusion.robotstxt.matching import Compiled, Matcher
from goodbot.exclusion.robotstxt.records import content_signals, parse_clean_param, values_of
from goodbot.exclusion.robotstxt.timing import RequestRate, Timing, Window, asked_delay_s
from goodbot.exclusion.uses.preferences import Preferences
from goodbot.exclusion.uses.statements import read_preferences
from goodbot.exclusion.uses.tdm import TdmRules
from goodbot.exclusion.verdict import AccessResult, Group, Record, Rule, Verdict

_MATCHERS_KEPT = 64
_VALUE_BYTES = 16
"""What a value in a list takes besides its text."""
_SCANS = 3
"""How many questions are answered by scanning the rules before any are compiled."""


class RobotsTxt:
    """A robots.txt, parsed once, that answers for any robot and URL. Rules are compiled only when they are needed.

    An agent is a bare product token or a whole User-Agent value. A URL is absolute or a path; it is assumed to belong
    to this file's origin. No method raises for the text of an agent or a URL.
    """

    __slots__ = (
        "_allows",
        "_body",
        "_chooser",
        "_compiled",
        "_dialect",
        "_file_values",
        "_held_bytes",
        "_matchers",
        "_others",
        "_scans",
        "groups",
    )

    def __init__(self, body: bytes | str, dialect: Dialect) -> None:
        self.groups = dialect.grouping(body)
        """Every group (in the dialects of the 1990s: record) in the order of the file."""
        self._body = body
        self._dialect = dialect
        self._chooser: Chooser | None = None
        self._matchers: dict[str, Matcher] = {}
        self._allows: dict[str, Callable[[str], bool]] = {}
        self._compiled: dict[tuple[int, ...], Compiled] = {}
        self._scans = 0
        self._others: dict[str, RobotsTxt] = {}
        self._held_bytes = 0
        self._file_values: dict[str, list[str]] = {}

    @classmethod
    def parse(cls, body: bytes | str, dialect: str = "rfc9309") -> "RobotsTxt":
        """Parses all of `body`. Never raises on content; skips lines without a record.

        Linear in the size of `body`, which it does not limit (`Access` does). Raises InputError for an unknown dialect.
        """
        return cls(body, find_dialect(dialect))

    @property
    def dialect(self) -> str:
        """The name of the dialect the file is read in."""
        return self._dialect.name

    @property
    def records(self) -> list[Record]:
        """Every record as this dialect reads it, in order, read anew from the kept bytes."""
        return [record for record in self._dialect.read(self._body) if record[1] != BLANK_LINE]

    @property
    def rules(self) -> list[Rule]:
        """Every rule of every group, in the order of the file."""
        return [rule for group in self.groups for rule in group.rules]

    def allows(self, url: str, agent: str) -> bool:
        """Whether `agent` may fetch `url`; `matcher(agent).allows` is faster for many URLs."""
        allows = self._allows.get(agent)
        if allows is None:
            if self._scans < _SCANS:
                self._scans += 1
                return RuleScan(self._choose(agent).groups, self._dialect).allows(url)
            allows = self._allows[agent] = self.matcher(agent).allows
        return allows(url)

    def verdict(
        self, url: str, agent: str, access: AccessResult = "successful", valid_until: float | None = None
    ) -> Verdict:
        """Whether `agent` may fetch `url`, and why. The verdict gets `access` and `valid_until` as they are."""
        matcher = self._matchers.get(agent)
        if matcher is None:
            if self._scans < _SCANS:
                self._scans += 1
                choice = self._choose(agent)
                matcher = Matcher(agent, choice, self._dialect, RuleScan(choice.groups, self._dialect))
            else:
                matcher = self.matcher(agent)
        return matcher.verdict(url, access, valid_until)

    def answers(self, questions: Sequence[tuple[str, str]]) -> list[bool]:
        """Returns what `allows` would, for each pair of URL and agent. Compiles only the rules that may match one of
        the URLs: for a few hundred questions to a long file this is several times faster. Keeps nothing."""
        choices = [self._choose(agent).groups for _, agent in questions]
        by_groups: dict[tuple[int, ...], list[int]] = {}
        for place, groups in enumerate(choices):
            by_groups.setdefault(tuple(map(id, groups)), []).append(place)
        answers = [True] * len(questions)
        for places in by_groups.values():
            urls = [questions[place][0] for place in places]
            allows = Compiled.near_any(choices[places[0]], self._dialect, urls).allows
            for place, url in zip(places, urls, strict=True):
                answers[place] = allows(url)
        return answers

    @property
    def weight_bytes(self) -> int:
        """An estimate, rather too high than too low, of the memory this object takes now, with the body: up to 50 times
        the bytes of the body. It grows with the questions asked."""
        if not self._held_bytes:
            values = sum([_VALUE_BYTES + getsizeof(value) for some in self._file_values.values() for value in some])
            self._held_bytes = values + _held_bytes(self._body, self.groups)
        others = sum(other.weight_bytes for other in self._others.values())
        return self._held_bytes + others + sum(compiled.weight_bytes for compiled in self._compiled.values())

    def compare(self, url: str, agent: str) -> dict[str, Verdict]:
        """Returns the verdict of every dialect, by its name. Each dialect parses the kept bytes once, when first
        needed."""
        return {name: self.in_dialect(name).verdict(url, agent) for name in DIALECTS}

    def in_dialect(self, name: str) -> "RobotsTxt":
        """Returns the same bytes, parsed once in another dialect. Raises InputError for an unknown dialect."""
        if name == self.dialect:
            return self
        if name not in self._others:
            self._others[name] = RobotsTxt.parse(self._body, name)
        return self._others[name]

    # ---- Timing

    def timing(self, agent: str) -> Timing:
        """Returns when `agent` may visit the site, and how often: `timing(agent).at(now)` answers for one instant.

        Each call computes it anew, so keep the result. Only records directly below the agent's own name count, whereas
        rules apply to all names of a group. A robot with groups of its own inherits nothing from `*`. Dialect `google`
        ignores these records.
        """
        return Timing.of(self._choose(agent).other_records()) if self._dialect.reads_timing else Timing()

    def crawl_delay(self, agent: str) -> float | None:
        """Returns the seconds that `agent` must leave between two requests (the longest of several Crawl-delays), or
        None; see `timing`."""
        return asked_delay_s(self._choose(agent).other_records()) if self._dialect.reads_timing else None

    def request_rates(self, agent: str) -> list[RequestRate]:
        """Returns every valid Request-rate: documents, seconds, and the window of minutes UTC or None."""
        return list(self.timing(agent).rates)

    def visit_times(self, agent: str) -> list[Window]:
        """Returns every valid Visit-time: first and last minute of the UTC day, 0–1439."""
        return list(self.timing(agent).windows)

    # ---- Other records directly below a robot's names

    def comments(self, agent: str) -> list[str]:
        """Returns the values of the Comment records, meant for the author or user of the robot (Conner 2.0)."""
        return values_of(self._choose(agent).other_records(), "comment")

    def robot_version(self, agent: str) -> str | None:
        """Returns the first Robot-version, as written (Conner 2.0); its effect on rules depends on the dialect."""
        return next(iter(values_of(self._choose(agent).other_records(), "robot-version")), None)

    def noindex(self, agent: str) -> list[str]:
        """Returns the path patterns of the Noindex records. No robot obeys them any more (Google stopped in 2019)."""
        return values_of(self._choose(agent).other_records(), "noindex")

    def content_signals(self, agent: str) -> dict[str, str]:
        """Returns the Content-Signal values: `{"search": "yes", "ai-train": "no"}`, in lower case, unknown keys
        included. Of equal keys the last counts, but no later value overrides a `no` to search, ai-input or ai-train.
        """
        return content_signals(values_of(self._choose(agent).other_records(), "content-signal"))

    # ---- Uses of the content

    def preferences(
        self,
        url: str,
        agent: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        metas: Iterable[tuple[str, str]] = (),
        tdm: TdmRules | None = None,
    ) -> Preferences:
        """Returns what the content of `url` may be used for, according to this file, the answer's `headers`, the page's
        `metas` and the site's `tdm`.

        Reads Content-Usage and Content-Signal (in the file and as header fields), noai, TDM reservations and RSL
        licenses; all statements on a use count together. `headers` and `metas` are (name, value) pairs. Never raises
        on content; linear.
        """
        records, allows = self._choose(agent).records(), partial(self.allows, agent=agent)
        return read_preferences(url, agent, records, allows, self.licenses, headers, metas, tdm)

    # ---- Records of the whole file

    @property
    def sitemaps(self) -> list[str]:
        """The values of the Sitemap records, in order (RFC 9309 §2.2.4); they belong to no group."""
        return list(self._of_the_file("sitemap"))

    @property
    def licenses(self) -> list[str]:
        """The values of the License records (RSL 1.0), as written, in order."""
        return list(self._of_the_file("license"))

    @property
    def host(self) -> str | None:
        """The first Host, as written: the main one of several mirrors (Yandex, until 2018)."""
        return next(iter(self._of_the_file("host")), None)

    @property
    def clean_params(self) -> list[tuple[tuple[str, ...], str]]:
        """Clean-param (Yandex): names of parameters that do not change a page, and the path prefix or ""."""
        read = map(parse_clean_param, self._of_the_file("clean-param"))
        return [clean for clean in read if clean is not None]

    # ---- One robot

    def matcher(self, agent: str) -> Matcher:
        """Returns the matcher of one robot, for many URLs; it is kept for the next call."""
        matcher = self._matchers.get(agent)
        if matcher is None:
            if len(self._matchers) >= _MATCHERS_KEPT:
                self._matchers.clear()
                self._allows.clear()
                self._compiled.clear()
            choice = self._choose(agent)
            matcher = self._matchers[agent] = Matcher(agent, choice, self._dialect, self._compile(choice.groups))
        return matcher

    def _of_the_file(self, field: str) -> list[str]:
        """Returns the values of a field of the whole file. The first call for a field searches the file."""
        values = self._file_values.get(field)
        if values is None:
            self._held_bytes = 0
            values = self._file_values[field] = self._dialect.file_values(self._body, field)
        return values

    def _choose(self, agent: str) -> Choice:
        self._held_bytes = 0  # the groups may now be read
        if self._chooser is None:
            self._chooser = self._dialect.chooser(self.groups)
        return self._chooser(self._dialect.robot(agent))

    def _compile(self, groups: Sequence[Group]) -> Compiled:
        """Compiles the rules of these groups once; robots to which the same groups apply share them."""
        which = tuple(map(id, groups))
        compiled = self._compiled.get(which)
        if compiled is None:
            compiled = self._compiled[which] = Compiled.of(groups, self._dialect)
        return compiled


def _held_bytes(body: bytes | str, groups: Sequence[Group]) -> int:
    """Returns an estimate of the memory of the body, its groups, and those of their records that have been read.
    Measured with tracemalloc: a group takes 450 bytes, and the name of a robot up to 290 in addition to its text. The
    groups hold a second text, in UTF-8, unless the body is bytes with LF line ends: then they share the body. A
    character of a str takes 1 to 4 bytes in memory, and as many in UTF-8."""
    agents = sum(len(group.agents) for group in groups)
    records = sum(group.held_bytes for group in groups)
    texts = 2 * len(body) if isinstance(body, bytes) else 5 * len(body)
    return 1024 + texts + 450 * len(groups) + 290 * agents + records
