"""Writes a remedy for Caddy 2: a snippet with matchers, and one with `respond`, that sites import.

A block within the block of a site knows its matchers, and may not define them again. So the site imports the matchers
once, and the site and its blocks import `respond`.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from goodbot.watch.remedies.comments import MADE_BY, comment, concerned, curl_test, label, sources
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.name_regex import re2_name_regex
from goodbot.watch.remedies.targets import Network, Part, Remedy, TargetRobot, Targets, address_text

SNIPPETS: Final = "at the beginning of the Caddyfile, after the global options"
SITE: Final = "in the block of the site"
BLOCKS: Final = "in each handle, handle_path and route block of the site, as its first line"

_NOT_ROBOTS_TXT: Final = "        not vars {http.request.orig_uri.path} /robots.txt\n"
"""By the path as the client sent it: `rewrite`, `try_files` and `handle_path` change it."""


def caddy_remedy(targets: Targets) -> Remedy:
    """Returns the configuration: 403 for every request except for robots.txt."""
    matchers = [*_matchers(targets)]
    prefix = prefix_of(lambda prefix: _snippets(matchers, prefix))
    return Remedy(
        "caddy",
        (
            Part(SNIPPETS, _head(targets) + _snippets(matchers, prefix)),
            Part(SITE, f"import {prefix}_matchers\nimport {prefix}\n"),
            Part(BLOCKS, f"import {prefix}\n"),
        ),
    )


def _snippets(matchers: list[str], prefix: str) -> str:
    names = [f"@{prefix}_{number}" for number in range(1, len(matchers) + 1)]
    defined = "".join(
        f"    {name} {{\n{_NOT_ROBOTS_TXT}{conditions}    }}\n"
        for name, conditions in zip(names, matchers, strict=True)
    )
    stops = "".join(f"    respond {name} 403\n" for name in names)
    return f"({prefix}_matchers) {{\n{defined}}}\n({prefix}) {{\n{stops}}}\n"


def _head(targets: Targets) -> str:
    return comment(
        f"{MADE_BY} Refuses (403) {concerned(targets)}. robots.txt stays readable for everyone.",
        *sources(targets.impostors),
        "Caddy sees the address of the connection: behind a proxy, rules for addresses match the proxy.",
        "redir answers before it; requests that follow the redirect are refused.",
        "Test: caddy validate; after caddy reload:",
        curl_test(targets, "403"),
    )


def _matchers(targets: Targets) -> Iterator[str]:
    """Yields the conditions of each matcher; all conditions of one must hold."""
    for target in targets.robots:
        yield from _named(target)
    for target in targets.impostors:
        genuine = f"        not remote_ip {_in_line(target.networks)}\n"
        yield from (named + genuine for named in _named(target))
    if targets.networks:
        yield f"        remote_ip {_in_line(targets.networks)}\n"


def _named(target: TargetRobot) -> Iterator[str]:
    for pattern in target.patterns:
        if regex := re2_name_regex(pattern):
            yield f'        # {label(target.name)}\n        header_regexp User-Agent "{regex}"\n'


def _in_line(networks: Iterable[Network]) -> str:
    return " ".join(map(address_text, networks))
