"""The points in which the specifications of robots.txt differ: one field of `Dialect` for each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from goodbot.exclusion.robotstxt.group_choice import Chooser
from goodbot.exclusion.robotstxt.grouping import Grouping
from goodbot.exclusion.text.octets import Compared
from goodbot.exclusion.text.patterns import Shape
from goodbot.exclusion.validity.freshness import LONGEST_FRESH_S
from goodbot.exclusion.validity.outage import Hold, Outage
from goodbot.exclusion.verdict import RULE_FIELDS, AccessResult, Group, Record

_ITSELF = "/robots.txt"
_PAYMENT_REQUIRED = 402
_NO_FILE = frozenset({202, 304, _PAYMENT_REQUIRED, 429})


@dataclass(frozen=True, slots=True)
class Sections:
    """Names the section of the specification for each kind of answer.

    `group`: which group applies to a robot; `rule`: which rule counts; `itself`: robots.txt itself is open. The others
    say what follows if the file was read, was cut, was not found behind redirects, does not exist, is refused, or
    cannot be reached.
    """

    group: str
    rule: str
    itself: str
    read: str
    cut: str
    redirected: str
    unavailable: str
    refused: str
    unreachable: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one specification reads a robots.txt. `source` is its short name, with which its `sections` begin.

    Lines: `read` turns the bytes of a file into records, `grouping` into groups; `file_values` finds the values of a
    field of the whole file.

    Robots: `robot` turns the argument `agent` into the name that is compared, `chooser` finds the groups that apply to
    that name, `groups_called` is the specification's word for a group.

    Rules: `rule_fields` are the fields of rules. `paths` gives the patterns on one rule line. `shapes` gives the forms
    in which a pattern is compared and its precedence; if there are several, each may match. `target` gives the compared
    form of a URL. `winner` says in words which rule of a group counts. `allows_unmatched` says whether these groups
    allow a URL that none of their rules matches. `itself_open`: no rule closes robots.txt itself. `reads_timing`:
    Crawl-delay, Request-rate and Visit-time count.

    Fetching: `access_result` says what an HTTP status means, `refusals` are the statuses that disallow the whole site,
    `outage` says what is in force while robots.txt is unreachable. `fresh_s` is how long a file is used if its headers
    do not say, `longest_fresh_s` how long at most. (In all dialects a missing file is looked for again after 24 hours
    at most.)
    """

    name: str
    source: str
    sections: Sections
    read: Callable[[bytes | str], Iterable[Record]]
    grouping: Grouping
    file_values: Callable[[bytes | str, str], list[str]]
    robot: Callable[[str], str]
    chooser: Callable[[Sequence[Group]], Chooser]
    paths: Callable[[str], Sequence[str]]
    shapes: Callable[[str, bool, Group], Sequence[Shape]]
    target: Callable[[str], Compared]
    winner: Callable[[Group], str]
    access_result: Callable[[int], AccessResult]
    outage: Callable[[Outage], Hold]
    allows_unmatched: Callable[[Sequence[Group]], bool] = lambda groups: True
    groups_called: str = "group"
    rule_fields: frozenset[str] = RULE_FIELDS
    itself_open: bool = True
    reads_timing: bool = True
    refusals: frozenset[int] = frozenset()
    fresh_s: float = LONGEST_FRESH_S
    longest_fresh_s: float = LONGEST_FRESH_S

    def is_itself(self, target: Compared) -> bool:
        """Whether the target is robots.txt and this dialect keeps it open."""
        return self.itself_open and target.plain == _ITSELF


def no_empty_path(value: str) -> Sequence[str]:
    """Returns the one pattern of a rule line, or none if it is empty: such a line is no rule."""
    return (value,) if value else ()


def result_of_status(status: int) -> AccessResult:
    """Returns what a status means by RFC 9309 §2.3.1. A redirect status means that no file was found behind the
    redirects (§2.3.1.2).

    Our choice: 429 and 402 count as unreachable. By §2.3.1.3 they would allow everything, although the server asks for
    fewer requests or for money; the RFC's MAY permits being stricter. 202 is no final answer (RFC 9110 §15.3.3). A
    status outside 200–499 counts as a fault of the server. 304 brings no file (RFC 9110 §15.4.5):
    `Access.from_response` decides what a 304 means for a stored copy. The older specifications name fewer statuses and
    contradict none of this, except that some statuses disallow the whole site (`Dialect.refusals`).
    """
    if status in _NO_FILE:
        return "unreachable"
    if 200 <= status < 300:
        return "successful"
    return "unavailable" if 300 <= status < 500 else "unreachable"


def result_for_google(status: int) -> AccessResult:
    """Returns what a status means to Google: every 4xx except 429, so 402 too, means that there are no restrictions."""
    return "unavailable" if status == _PAYMENT_REQUIRED else result_of_status(status)
