"""What a dialect of robots.txt is: the questions in which the texts differ, one field each."""

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
    """Where the text says it: which group applies to a robot, which rule counts, that robots.txt itself is open; and
    what follows from a file that was read, was cut, led to redirects only, is not there, is refused, cannot be reached.
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
    """How one text reads a robots.txt. `source` is its short name, which begins each of its `sections`.

    Lines: `read` gives the records of the bytes, `grouping` the groups of the records.
    Robots: `robot` turns the argument `agent` into the name that is compared, `chooser` finds the groups that apply to
    it, `groups_called` is what the text calls a group.
    Rules: `rule_fields` are the fields that are rules, `paths` the patterns on one such line, `shapes` what a pattern
    is compared as and how much it counts, given whether it allows and its group (several: each may match), `target`
    the same of a URL; `winner` says in words which rule counts in a group; `allows_unmatched` is whether groups open a
    URL that no rule of theirs matches. `itself_open`: robots.txt itself is open whatever the rules. `reads_timing`:
    Crawl-delay, Request-rate and Visit-time are obeyed.
    Fetching: `access_result` is what an HTTP status means, `refusals` are the statuses that close the site,
    `outage` says what holds while robots.txt is unreachable. `fresh_s` is how long a file is used whose headers do not
    say, `longest_fresh_s` how long at most (what is not there, 404 and its like: 24 hours at most in all of them).
    """

    name: str
    source: str
    sections: Sections
    read: Callable[[bytes | str], Iterable[Record]]
    grouping: Grouping
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
        """Whether the target is robots.txt, which no rule closes."""
        return self.itself_open and target.plain == _ITSELF


def no_empty_path(value: str) -> Sequence[str]:
    """The one pattern of a rule line; an empty one is no rule."""
    return (value,) if value else ()


def result_of_status(status: int) -> AccessResult:
    """RFC 9309 §2.3.1. A redirect given here was followed as far as it is followed, so that no file was found
    (§2.3.1.2).

    Our choice: 429 and 402 count as unreachable. By §2.3.1.3 they would open the site, where the server asks for fewer
    requests or for money; the RFC's MAY permits being stricter. 202 is no final answer (RFC 9110 §15.3.3). A status
    outside 200–499 is taken for a fault of the server. 304 brings no file (RFC 9110 §15.4.5): `Access.from_response`
    decides what a 304 means for a stored copy. The other texts name fewer statuses and say nothing else of them;
    `Dialect.refusals` lists those that close the site.
    """
    if status in _NO_FILE:
        return "unreachable"
    if 200 <= status < 300:
        return "successful"
    return "unavailable" if 300 <= status < 500 else "unreachable"


def result_for_google(status: int) -> AccessResult:
    """Google, HTTP status codes: every 4xx but 429 means that there are no restrictions, 402 too."""
    return "unavailable" if status == _PAYMENT_REQUIRED else result_of_status(status)
