"""The dialects of the 1990s, and of the book that described them. Their groups are called records."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from goodbot.exclusion.robotstxt.dialect import Dialect, Sections, no_empty_path, result_of_status
from goodbot.exclusion.robotstxt.group_choice import ALL, first_record
from goodbot.exclusion.robotstxt.grouping import in_records
from goodbot.exclusion.robotstxt.lines import read_with_blank_lines
from goodbot.exclusion.robotstxt.records import by_reading
from goodbot.exclusion.text.compared_paths import decoded, decoded_target, written_target
from goodbot.exclusion.text.patterns import Cut, Shape
from goodbot.exclusion.text.product_token import product_token, without_versions
from goodbot.exclusion.validity.freshness import WEEK_S
from goodbot.exclusion.validity.outage import closed_until_answered
from goodbot.exclusion.verdict import Group

_BEFORE_ALL_PATTERNS: Final = 2**62
"""Larger than the length of any pattern."""

_REFUSALS = frozenset({401, 403})


def _words(value: str) -> Sequence[str]:
    return [word for word in value.replace("\t", " ").split(" ") if word]


def _name_in_file(value: str) -> Sequence[str]:
    """Returns the name without its version; `*` means all robots only if it is the whole value."""
    name = without_versions(value)
    return () if name == ALL and value != ALL else (name,)


def _names_in_file(value: str) -> Sequence[str]:
    """Returns the names on a line, separated by spaces or tabs."""
    return [name for word in _words(value) for name in _name_in_file(word)]


def _is_any_field(field: str) -> bool:
    """Lines of unknown fields count as rule lines too (draft-koster-robots-00 3.3)."""
    return True


def _is_disallow(field: str) -> bool:
    """Lines of other fields are ignored, Allow lines included."""
    return field == "disallow"


def _name_in_robot(name: str, robot: str) -> bool:
    return name in robot


def _robot_in_name(name: str, robot: str) -> bool:
    return bool(robot) and robot in name


def _token(agent: str) -> str:
    return product_token(agent).lower()


def _prefix_as_written(pattern: str, allow: bool, group: Group) -> Sequence[Shape]:
    return (Shape.same(Cut.prefix(pattern)),)


def _prefix_decoded(pattern: str, allow: bool, group: Group) -> Sequence[Shape]:
    return (Shape.same(Cut.prefix(decoded(pattern))),)


# ---- A Standard for Robot Exclusion, Martijn Koster, 1994 -----------------------------------------------------------

_METHOD = "Koster 1994, the method"
_NO_TEXT = "RFC 9309 2.2.2"
"""For robots.txt itself, which this text does not mention."""

KOSTER_1994 = Dialect(
    name="1994",
    source="Koster 1994",
    sections=Sections(
        group="Koster 1994, User-agent",
        rule="Koster 1994, Disallow",
        itself=_NO_TEXT,
        read=_METHOD,
        cut="RFC 9309 2.5",
        redirected=_METHOD,
        unavailable=_METHOD,
        refused="draft-koster-robots-00 3.1",
        unreachable="draft-koster-robots-00 3.1",
    ),
    read=read_with_blank_lines,
    grouping=in_records(read_with_blank_lines, _is_disallow),
    file_values=by_reading(read_with_blank_lines),
    robot=without_versions,
    chooser=first_record(_name_in_file, _name_in_robot),
    paths=no_empty_path,
    shapes=_prefix_as_written,
    target=written_target,
    winner=lambda group: "a rule that matches",
    access_result=result_of_status,
    outage=closed_until_answered,
    groups_called="record",
    rule_fields=frozenset({"disallow"}),
    refusals=_REFUSALS,
    fresh_s=WEEK_S,
    longest_fresh_s=WEEK_S,
)

# ---- Robot Exclusion Standard Revisited, Kollar, Leavitt, Mauldin, 1996; Alikberov's grammar ------------------------

KOLLAR = replace(
    KOSTER_1994,
    name="kollar",
    source="Kollar",
    sections=replace(KOSTER_1994.sections, group="Kollar, User-Agent", rule="Kollar, Disallow"),
    chooser=first_record(_names_in_file, _name_in_robot),
    paths=_words,
)

# ---- draft-koster-robots-00, 1996 -----------------------------------------------------------------------------------

_ACCESS_1996 = "draft-koster-robots-00 3.1"

KOSTER_1996 = replace(
    KOSTER_1994,
    name="1996",
    source="draft-koster-robots-00",
    sections=Sections(
        group="draft-koster-robots-00 3.2.1",
        rule="draft-koster-robots-00 3.2.2",
        itself="draft-koster-robots-00 3.2.2",
        read=_ACCESS_1996,
        cut="RFC 9309 2.5",
        redirected=_ACCESS_1996,
        unavailable=_ACCESS_1996,
        refused=_ACCESS_1996,
        unreachable=_ACCESS_1996,
    ),
    grouping=in_records(read_with_blank_lines, _is_any_field),
    robot=_token,
    chooser=first_record(lambda value: (value.lower(),), _robot_in_name),
    shapes=_prefix_decoded,
    target=decoded_target,
    winner=lambda group: "the first rule that matches",
    rule_fields=frozenset({"allow", "disallow"}),
)

# ---- HTTP: The Definitive Guide, chapter 9.4, 2002 ------------------------------------------------------------------

_CODES = "HTTP book 9.4, response codes"

BOOK = replace(
    KOSTER_1996,
    name="book",
    source="HTTP book 9.4",
    sections=Sections(
        group="HTTP book 9.4, the User-Agent line",
        rule="HTTP book 9.4, the Disallow and Allow lines",
        itself="HTTP book 9.4, the Disallow and Allow lines",
        read=_CODES,
        cut="RFC 9309 2.5",
        redirected=_CODES,
        unavailable=_CODES,
        refused=_CODES,
        unreachable=_CODES,
    ),
    robot=without_versions,
    chooser=first_record(_name_in_file, _name_in_robot),
    paths=lambda value: (value,),  # an empty path matches everything
)

# ---- An Extended Standard for Robot Exclusion, Sean Conner, 1996 ----------------------------------------------------


def _is_version_2(group: Group) -> bool:
    """Whether the first field after User-agent is Robot-version 2.0; otherwise the record has version 1."""
    _, field, value = group.records[0]
    return field == "robot-version" and value in ("2.0", "2.0.0")


def _conner_shapes(pattern: str, allow: bool, group: Group) -> Sequence[Shape]:
    """Version 2: an exact path counts most, then the longest pattern; on a tie Disallow. Version 1: prefixes, in
    order."""
    if not _is_version_2(group):
        return _prefix_as_written(pattern, allow, group)
    octets = len(pattern) if "*" in pattern else _BEFORE_ALL_PATTERNS + len(pattern)
    return (Shape.same(Cut.whole(pattern), allow - 2 * octets),)


def _conner_allows_unmatched(groups: Sequence[Group]) -> bool:
    """A record of version 2 with Allow rules and no Disallow closes everything else."""
    # Our reading of a mail of 1996: its record has only `Allow: */index.html`, and allows nothing else.
    return not any(_is_version_2(group) and _only_allows(group) for group in groups)


def _only_allows(group: Group) -> bool:
    fields = {field for _, field, value in group.records if value or field == "disallow"}
    return "allow" in fields and "disallow" not in fields


def _conner_winner(group: Group) -> str:
    version_2 = _is_version_2(group)
    return "the exact path or else the longest pattern that matches" if version_2 else "the first rule that matches"


CONNER = replace(
    KOSTER_1996,
    name="conner",
    source="Conner 2.0",
    sections=replace(
        KOSTER_1996.sections,
        group="Conner 2.0, User-agent",
        rule="Conner 2.0, Allow and Disallow",
        itself=_NO_TEXT,
    ),
    shapes=_conner_shapes,
    target=written_target,
    winner=_conner_winner,
    allows_unmatched=_conner_allows_unmatched,
)
