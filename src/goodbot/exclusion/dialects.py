"""The dialects of robots.txt: one record each.

A dialect says which group speaks to a robot, what a pattern means, which of several rules counts, and what
the status of the answer means. Everything else (lines, records, groups) is read alike for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from goodbot.errors import InputError
from goodbot.exclusion.agents import product_token
from goodbot.exclusion.octets import Compared, compared_pattern, compared_target
from goodbot.exclusion.verdict import AccessResult, Group

GroupsByToken = Mapping[str, Sequence[Group]]
"""The groups of a file under each token they name, in the order of the file."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one text reads a robots.txt.

    `agent_token` is the argument `agent`, `file_token` the value of a User-agent line, as they are compared
    (empty: names nobody). `choose` gives the groups that speak to a token. `pattern` and `target` give what
    is compared; `precedence` gives, for the octets of a pattern, whether it allows, and its line, a key that
    is lowest for the rule that counts. `winner` says this in words. `access_result` is what an HTTP status
    means.
    """

    name: str
    source: str
    agent_token: Callable[[str], str]
    file_token: Callable[[str], str]
    choose: Callable[[GroupsByToken, str], Sequence[Group]]
    pattern: Callable[[str], Compared]
    target: Callable[[str], Compared]
    precedence: Callable[[int, bool, int], tuple[int, ...]]
    winner: str
    access_result: Callable[[int], AccessResult]


def find_dialect(name: str) -> Dialect:
    """The record of that name. Raises InputError, naming the known ones."""
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise InputError(f"unknown dialect of robots.txt {name!r}: known are {', '.join(DIALECTS)}")
    return dialect


# ---- RFC 9309 -------------------------------------------------------------------------------------------------------


def _name_of_robot(agent: str) -> str:
    return product_token(agent).lower()


def _name_in_file(value: str) -> str:
    """As of an agent. `*` stands for all robots only when it stands alone."""
    name = _name_of_robot(value)
    return "" if name == "*" and value != "*" else name


def _own_groups_or_all(groups: GroupsByToken, token: str) -> Sequence[Group]:
    """§2.2.1: all groups of the token together, else all of `*`, else none."""
    return groups.get(token) or groups.get("*") or ()


def _most_octets(octets: int, allow: bool, line: int) -> tuple[int, ...]:
    """§2.2.2: the longest; of equals Allow; of those the first in the file (which changes no verdict)."""
    return (-octets, not allow, line)


def _result_of_status(status: int) -> AccessResult:
    """§2.3.1. A redirect given here was followed as far as it is followed, so that no file was found
    (§2.3.1.2).

    Our choice: 429 counts as unreachable. By §2.3.1.3 it would open the site, where the server asks for fewer
    requests; the RFC's MAY permits to be stricter. A status outside 200–499 is taken for a fault of the
    server.
    """
    if 200 <= status < 300:
        return "successful"
    if 300 <= status < 500 and status != 429:
        return "unavailable"
    return "unreachable"


DIALECTS: dict[str, Dialect] = {
    "rfc9309": Dialect(
        name="rfc9309",
        source="RFC 9309",
        agent_token=_name_of_robot,
        file_token=_name_in_file,
        choose=_own_groups_or_all,
        pattern=compared_pattern,
        target=compared_target,
        precedence=_most_octets,
        winner="the longest rule that matches",
        access_result=_result_of_status,
    )
}
