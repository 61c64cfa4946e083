"""Lays a few rules over a site's own robots.txt. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from goodbot.exclusion import Group, RobotsTxt
from goodbot.exclusion.text.octets import compared_pattern
from goodbot.exclusion.text.product_token import first_name
from goodbot.exclusion.verdict import FILE_FIELDS, RULE_FIELDS

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_NOT_COPIED: Final = FILE_FIELDS | RULE_FIELDS | {"crawl-delay", "robot-version"}
"""Records that are not copied as they are. With Robot-version, some robots of the 1990s would read a rule for a folder
as one for a single page."""

_MISREAD: Final = ("user", "allow", "dis", "dias", "site")
"""Google reads fields with these beginnings as if they were spelled correctly."""

_CLOSES_NOTHING: Final = (("allow", "/"), ("disallow", ""))
"""The end of the rules of a group without Disallow: robots of the 1990s see a group only if it has one. In one dialect
an empty Disallow closes everything, unless an Allow comes first."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Rules in addition to those that a site has. `agents` are product tokens, or `*`: every robot that the site's own
    file does not name. `crawl_delay` (seconds) replaces the site's Crawl-delay and Request-rate for them."""

    agents: tuple[str, ...] = ("*",)
    disallow: tuple[str, ...] = ()
    crawl_delay: float | None = None


def laid_over(base: str, overlay: Overlay) -> str:
    """Returns the text of a robots.txt with the rules of both.

    Each agent has one group, before the groups of `base`, which no longer name it. The group has the rules that `base`
    gives to the agent by RFC 9309, and one Crawl-delay. If it allows paths, the longest patterns come first: so robots
    that take the first rule that matches agree with those that take the longest one. Longer names come first, since old
    robots search for a part of a name.
    """
    if not overlay.disallow and overlay.crawl_delay is None:
        return base
    rules = RobotsTxt.parse(base)
    agents = {agent.lower(): agent for agent in overlay.agents}
    ordered = sorted(agents.values(), key=len, reverse=True)
    groups = "\n".join(_group(rules, agent, overlay) for agent in ordered)
    if not rules.groups:
        return f"{_ended(base)}\n{groups}" if base.strip() else groups
    lines = _LINE.findall(base)
    first = rules.groups[0].line - 1
    rest = "".join(_without(lines, rules.groups, agents)[first:])
    return f"{''.join(lines[:first])}{groups}" + (f"\n{rest}" if rest.strip() else "")


def _ended(text: str) -> str:
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


# ---- the group of an agent ------------------------------------------------------------------------------------------


def _group(rules: RobotsTxt, agent: str, overlay: Overlay) -> str:
    lines = [f"User-agent: {agent}"]
    lines += [f"{field.capitalize()}: {value}" for field, value in _others(rules, agent, overlay)]
    lines += [f"{field.capitalize()}: {path}".rstrip() for field, path in _rules(rules, agent, overlay)]
    delay = rules.crawl_delay(agent) if overlay.crawl_delay is None else overlay.crawl_delay
    if delay is not None:
        lines.append(f"Crawl-delay: {_decimal(delay)}")
    return "\n".join(lines) + "\n"


def _others(rules: RobotsTxt, agent: str, overlay: Overlay) -> Iterator[tuple[str, str]]:
    left_out = _NOT_COPIED if overlay.crawl_delay is None else _NOT_COPIED | {"request-rate"}
    for _, field, value in rules.matcher(agent).records():
        if field not in left_out and not field.strip().startswith(_MISREAD):
            yield field, value


def _rules(rules: RobotsTxt, agent: str, overlay: Overlay) -> list[tuple[str, str]]:
    records = rules.matcher(agent).records()
    found = [(field, value) for _, field, value in records if field in RULE_FIELDS and value]
    found += [("disallow", path) for path in overlay.disallow]
    if any(field == "allow" for field, _ in found):
        found.sort(key=lambda rule: (-len(compared_pattern(rule[1]).encoded), rule[0]))
    if not any(field == "disallow" for field, _ in found):
        found += _CLOSES_NOTHING
    return [*dict.fromkeys(found)]


def _decimal(seconds: float) -> str:
    """Writes seconds without an exponent, and whole ones without a point: robots read nothing else."""
    return f"{Decimal(str(seconds)):f}".removesuffix(".0")


# ---- what is left of the base ---------------------------------------------------------------------------------------


def _without(lines: Sequence[str], groups: Sequence[Group], agents: Mapping[str, str]) -> list[str]:
    """Returns the lines; those that are only for these agents (in lower case) are empty texts."""
    kept = list(lines)
    ends = [*(group.line for group in groups[1:]), len(lines) + 1]
    for group, end in zip(groups, ends, strict=True):
        is_chosen = [first_name(agent).lower() in agents for agent in group.agents]
        if all(is_chosen):
            kept[group.line - 1 : end - 1] = _of_all(kept[group.line - 1 : end - 1])
        elif any(is_chosen):
            for number in _of_some(group, is_chosen):
                kept[number - 1] = ""
    return kept


def _of_all(lines: Sequence[str]) -> list[str]:
    """Keeps of a group the comments, the records about the whole file, and the blank lines after them."""
    kept, is_after = [], False
    for line in lines:
        record = line.partition("#")[0].strip()
        stays = bool(line.strip()) and (not record or record.partition(":")[0].strip().lower() in FILE_FIELDS)
        is_after |= stays
        kept.append(line if stays or (is_after and not line.strip()) else "")
    return kept


def _of_some(group: Group, is_chosen: Sequence[bool]) -> Iterator[int]:
    """Yields the numbers of the lines of a group that are only for the chosen ones of its agents."""
    yield from (line for line, chosen in zip(group.lines, is_chosen, strict=True) if chosen)
    others = {run for run, chosen in zip(group.runs, is_chosen, strict=True) if not chosen}
    for run, (number, field, _) in group.records_by_run():
        if run not in others and field not in group.rule_fields | FILE_FIELDS:
            yield number


# ---- values of a plan -----------------------------------------------------------------------------------------------


def is_path(text: str) -> bool:
    """Whether a text can be the path of a rule: it begins with `/` or `*`, and has no space, `#` or invisible
    character."""
    return text.startswith(("/", "*")) and text.isprintable() and " " not in text and "#" not in text


def is_agent(text: str) -> bool:
    """Whether a text can be a product token of a group, or is `*`."""
    return text == "*" or re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", text) is not None
