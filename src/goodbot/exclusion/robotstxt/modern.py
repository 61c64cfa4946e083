"""The dialects of today: RFC 9309, and how Google's parser differs from it."""

from collections.abc import Sequence
from functools import lru_cache

from goodbot.exclusion.robotstxt.dialect import Dialect, Sections, no_empty_path, result_for_google, result_of_status
from goodbot.exclusion.robotstxt.group_choice import ALL, all_of_a_token
from goodbot.exclusion.robotstxt.grouping import in_groups
from goodbot.exclusion.robotstxt.lines import read_as_google, read_records
from goodbot.exclusion.robotstxt.records import by_reading
from goodbot.exclusion.robotstxt.sections import in_sections, values_in_lines
from goodbot.exclusion.text.compared_paths import directory_of_index, google_pattern, google_target
from goodbot.exclusion.text.octets import compared_pattern, compared_target
from goodbot.exclusion.text.patterns import Cut, Shape
from goodbot.exclusion.text.product_token import first_name, google_token, product_token
from goodbot.exclusion.validity.freshness import WEEK_S
from goodbot.exclusion.validity.outage import as_google, copy_while_young
from goodbot.exclusion.verdict import RULE_FIELDS, Group

_RULES = RULE_FIELDS | {"content-usage"}
"""Content-Usage is a rule in the grammar of draft-ietf-aipref-attach-05: like Allow and Disallow it ends the list of
names."""


@lru_cache(maxsize=64)
def _name_of_robot(agent: str) -> str:
    return product_token(agent).lower()


def _names_in_file(value: str) -> Sequence[str]:
    """Returns the name with which the value begins: `GPTBot, CCBot` names only GPTBot. `*` means all robots only if it
    is the whole value.

    A User-Agent value such as `Mozilla/5.0 (compatible; MyBot)` names `Mozilla` here, since it is not a robot's own
    header.
    """
    return (first_name(value).lower(),)


def _most_octets(octets: int, allow: bool) -> int:
    """Ranks as §2.2.2 says: the longest pattern first, on a tie Allow; on a further tie the first in the file, which
    changes no verdict."""
    return -2 * octets - allow


def _shapes(pattern: str, allow: bool, group: Group) -> Sequence[Shape]:
    """Returns both compared forms of §2.2.2; octets are counted in the encoded one."""
    plain, encoded = compared_pattern(pattern)
    cut = Cut.wildcards(plain)
    return (Shape(cut, cut if plain == encoded else Cut.wildcards(encoded), _most_octets(len(encoded), allow)),)


def _longest(group: Group) -> str:
    return "the longest rule that matches"


RFC9309 = Dialect(
    name="rfc9309",
    source="RFC 9309",
    sections=Sections(
        group="RFC 9309 2.2.1",
        rule="RFC 9309 2.2.2",
        itself="RFC 9309 2.2.2",
        read="RFC 9309 2.3.1.1",
        cut="RFC 9309 2.5",
        redirected="RFC 9309 2.3.1.2",
        unavailable="RFC 9309 2.3.1.3",
        refused="RFC 9309 2.3.1.3",
        unreachable="RFC 9309 2.3.1.4",
    ),
    read=read_records,
    grouping=in_sections(_RULES),
    file_values=values_in_lines,
    robot=_name_of_robot,
    chooser=all_of_a_token(_names_in_file),
    paths=no_empty_path,
    shapes=_shapes,
    target=compared_target,
    winner=_longest,
    access_result=result_of_status,
    outage=copy_while_young,
)

# ---- Google ---------------------------------------------------------------------------------------------------------


def _google_robot(agent: str) -> str:
    return google_token(product_token(agent))


def _google_names(value: str) -> Sequence[str]:
    """Returns the name; `*` means all robots also if white space follows it."""
    return (ALL,) if value == ALL or (value[:1] == ALL and value[1] in " \t\n\v\f\r") else (google_token(value),)


def _google_shapes(pattern: str, allow: bool, group: Group) -> Sequence[Shape]:
    """Returns the form of a pattern; an Allow of `…/index.htm…` gets a second one, which allows the directory itself
    and counts its own octets.

    Google's parser tries the second form only if the first does not match; if the first matches, it is longer anyway.
    """
    escaped = google_pattern(pattern)
    own = Shape.same(Cut.wildcards(escaped), _most_octets(len(escaped), allow))
    directory = directory_of_index(escaped) if allow else None
    if directory is None:
        return (own,)
    return (own, Shape.same(Cut.wildcards(directory), _most_octets(len(directory), allow)))


GOOGLE = Dialect(
    name="google",
    source="Google",
    sections=Sections(
        group="Google, user agents",
        rule="Google, precedence of rules",
        itself="RFC 9309 2.2.2",
        read="Google, HTTP status codes",
        cut="Google, file format",
        redirected="Google, HTTP status codes",
        unavailable="Google, HTTP status codes",
        refused="Google, HTTP status codes",
        unreachable="Google, HTTP status codes",
    ),
    read=read_as_google,
    grouping=in_groups(read_as_google, RULE_FIELDS),
    file_values=by_reading(read_as_google),
    robot=_google_robot,
    chooser=all_of_a_token(_google_names),
    paths=no_empty_path,
    shapes=_google_shapes,
    target=google_target,
    winner=_longest,
    access_result=result_for_google,
    outage=as_google,
    itself_open=False,
    reads_timing=False,
    longest_fresh_s=WEEK_S,
)
