"""Writes the decisions for Caddy 2: snippets with maps that are read from their beginning, matchers, and `respond`.

A block within the block of a site knows its matchers and maps, and may not define them again. So the site imports these
once, and the site and its blocks import `respond`.
"""

from collections.abc import Iterator
from typing import Final

from goodbot.gate.export.notation import RE2
from goodbot.gate.export.notes import Abilities, head, notes
from goodbot.gate.export.rule_lists import written_rules
from goodbot.gate.export.site import ExportedSite, address_sets
from goodbot.gate.export.visitors import NO_RULES, SiteVisitors
from goodbot.watch.addresses import LOCAL_NETWORKS
from goodbot.watch.remedies.comments import comment, label, listed
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.targets import Network, Part, Remedy, address_text

SNIPPETS: Final = "at the beginning of the Caddyfile, after the global options"
SITE: Final = "in the block of the site"
BLOCKS: Final = "in each handle, handle_path and route block of the site, as its first line"

ABILITIES: Final = Abilities("Caddy", limits=False)

_ORIGIN: Final = r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?\x23]*)?"
"""What may come before the target as the client sent it: `rewrite`, `try_files` and `handle_path` change the URI."""


def caddy_export(site: ExportedSite) -> Remedy:
    """Returns the configuration: snippets, and the lines that import them."""
    found = site.visitors(paces=ABILITIES.limits)
    prefix = prefix_of(lambda prefix: _snippets(found, prefix))
    warnings = notes(site, found, ABILITIES, RE2)
    first = head(
        site,
        found,
        ABILITIES,
        warnings,
        "Caddy sees the address of the connection: behind a proxy, set trusted_proxies, and write client_ip in place "
        "of remote_ip (Caddy 2.7 or later).",
        "redir answers before it; requests that follow the redirect are refused.",
        "Test: caddy validate; after caddy reload: curl -I -A NAME https://YOUR-SITE/PATH, and compare with goodbot "
        "allowed.",
    )
    return Remedy(
        "caddy",
        (
            Part(SNIPPETS, first + _snippets(found, prefix)),
            Part(SITE, f"import {prefix}_definitions\nimport {prefix}\n"),
            Part(BLOCKS, f"import {prefix}\n"),
        ),
        warnings,
    )


def _snippets(found: SiteVisitors, prefix: str) -> str:
    matchers = [*_matchers(found, prefix)]
    defined = "".join(
        f"    @{prefix}_{number} {{\n        not vars {{{prefix}_itself}} yes\n{conditions}    }}\n"
        for number, conditions in enumerate(matchers, 1)
    )
    stops = "".join(f"    respond @{prefix}_{number} 403\n" for number in range(1, len(matchers) + 1))
    return f"({prefix}_definitions) {{\n{_maps(found, prefix)}{defined}}}\n({prefix}) {{\n{stops}}}\n"


# ---- maps -----------------------------------------------------------------------------------------------------------


def _maps(found: SiteVisitors, prefix: str) -> str:
    every = [
        (entry, f'        # {label(listed(entry.names))}\n        "~{regex}" v{entry.visitor}\n')
        for entry, regex in found.regexes(RE2)
    ]
    words = [f'        "~{regex}" yes\n' for regex in found.words(RE2)]
    agent = "{http.request.header.User-Agent}"
    choices = [
        f"        v{number} r{visitor.rules}\n"
        for number, visitor in enumerate(found.visitors)
        if visitor.rules != NO_RULES
    ]
    rules = [
        f"        # {label(str(written.rule))}\n"
        f'        "~^r{number} {_ORIGIN}{written.regex}" {"open" if written.rule.allow else "closed"}\n'
        for number, every in enumerate(found.rule_lists)
        for written in written_rules(every, RE2)
    ]
    itself = [rf'        "~^{_ORIGIN}/(?:robots\.txt|\.well-known/acme-challenge/[A-Za-z0-9_-]+)$" yes' + "\n"]
    return "".join(
        (
            _indented("Who comes, by the User-Agent; the first expression that matches counts."),
            _map(agent, f"{prefix}_known", words, "no"),
            _map(f"{{{prefix}_known}}", f"{prefix}_agent", [f'        yes "{agent}"\n'], '""'),
            _map(agent, f"{prefix}_other", [line for entry, line in every if not entry.patterns], f"v{found.other}"),
            _map(
                f"{{{prefix}_agent}}",
                f"{prefix}_named",
                [line for entry, line in every if entry.patterns],
                f'"{{{prefix}_other}}"',
            ),
            f"    vars {prefix}_visitor {{{prefix}_named}}\n",
            _indented("Which rules of robots.txt apply, and what they close; the first one that matches counts."),
            _map(_visitor(prefix), f"{prefix}_rules", choices, "none"),
            _map(f'"{{{prefix}_rules}} {{http.request.orig_uri}}"', f"{prefix}_verdict", rules, "open"),
            _map("{http.request.orig_uri}", f"{prefix}_itself", itself, "no"),
        )
    )


def _visitor(prefix: str) -> str:
    """Returns the placeholder of a variable: Caddy would evaluate a map each time it is asked."""
    return f"{{http.vars.{prefix}_visitor}}"


def _map(source: str, name: str, lines: list[str], default: str) -> str:
    return f"    map {source} {{{name}}} {{\n{''.join(lines)}        default {default}\n    }}\n"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in comment(text).splitlines())


# ---- matchers -------------------------------------------------------------------------------------------------------


def _matchers(found: SiteVisitors, prefix: str) -> Iterator[str]:
    """Yields the conditions of each matcher; all conditions of one must hold."""
    if refused := [number for number, visitor in enumerate(found.visitors) if visitor.refused]:
        yield _is_one_of(refused, prefix)
    free = []
    for one in address_sets(found):
        for outside, local in (("public", LOCAL_NETWORKS), ("all", ())):
            some = [number for number in one.visitors if found.visitors[number].outside == outside]
            if some:
                yield f"{_is_one_of(some, prefix)}        not remote_ip {_in_line((*one.networks, *local))}\n"
        if some := [number for number in one.visitors if found.visitors[number].free_inside]:
            address = f"            remote_ip {_in_line(one.networks)}\n"
            free.append(f"        not {{\n    {_is_one_of(some, prefix)}{address}        }}\n")
    yield f"        vars {{{prefix}_verdict}} closed\n{''.join(free)}"


def _is_one_of(visitors: list[int], prefix: str) -> str:
    return f"        vars {_visitor(prefix)} {' '.join(f'v{number}' for number in visitors)}\n"


def _in_line(networks: tuple[Network, ...]) -> str:
    return " ".join(map(address_text, networks))
