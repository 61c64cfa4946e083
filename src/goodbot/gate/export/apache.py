"""Writes the decisions for Apache httpd 2.4: variables that say who comes and what is closed, and `Require`.

A variable that is set again has the later value. So all lists are written from their end to their beginning: what
counts most comes last.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from goodbot.gate.export.notation import REQUEST_LINE
from goodbot.gate.export.notes import Abilities, head, notes
from goodbot.gate.export.rule_lists import written_rules
from goodbot.gate.export.site import ExportedSite, address_sets, in_lines
from goodbot.gate.export.visitors import OUTSIDE, SiteVisitors
from goodbot.watch.addresses import LOCAL_NETWORKS
from goodbot.watch.remedies.comments import comment, label, listed
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.targets import Part, Remedy

ABILITIES: Final = Abilities("Apache", limits=False, last_counts=True)

_TARGET: Final = r"^\S+ (?:[A-Za-z][A-Za-z0-9+.\-]*://[^/\s?]*)?"
"""What comes before the target in the request line as the client sent it: rewriting changes the URI."""

_NOT_OPEN: Final = (
    rf"%{{THE_REQUEST}} !~ m#{_TARGET}/(?:robots\.txt|\.well-known/acme-challenge/[A-Za-z0-9_-]+)(?:\s|$)#"
)


def apache_export(site: ExportedSite) -> Remedy:
    """Returns the configuration, for a virtual host."""
    found = site.visitors(paces=ABILITIES.limits)
    prefix = prefix_of(lambda prefix: _configuration(found, prefix))
    warnings = notes(site, found, ABILITIES, REQUEST_LINE)
    first = head(
        site,
        found,
        ABILITIES,
        warnings,
        "Put it into the configuration of the virtual host, at its end. It needs the modules setenvif, authz_core and "
        "authz_host. Behind a proxy, set the client's address first (mod_remoteip).",
        "It counts in addition to every other Require, but a later <If> with a Require of its own cancels it. Redirect "
        "and RewriteRule [R] of the server answer before it; requests that follow the redirect are refused.",
        "Test: apachectl configtest; after a reload: curl -I -A NAME https://YOUR-SITE/PATH, and compare with goodbot "
        "allowed.",
    )
    return Remedy("apache", (Part("", first + _configuration(found, prefix)),), warnings)


def _configuration(found: SiteVisitors, prefix: str) -> str:
    return _visitors(found, prefix) + _closed(found, prefix) + _section(found, prefix)


def _visitors(found: SiteVisitors, prefix: str) -> str:
    lines = [comment("Who comes, by the User-Agent; the last expression that matches counts.")]
    lines.append(f'SetEnvIfNoCase User-Agent "^" {prefix}_visitor={found.other}\n')
    for entry, regex in reversed([*found.regexes(REQUEST_LINE)]):
        lines.append(f"# {label(listed(entry.names))}\n")
        lines.append(f'SetEnvIfNoCase User-Agent "{regex}" {prefix}_visitor={entry.visitor}\n')
    return "".join(lines)


def _is_one_of(visitors: Iterable[int], prefix: str) -> str:
    """Asks for the variable alone: SetEnvIf would also read a header field of that name."""
    return f"reqenv('{prefix}_visitor') =~ m#^(?:{'|'.join(map(str, visitors))})$#"


def _closed(found: SiteVisitors, prefix: str) -> str:
    lines = [comment("What robots.txt closes; the last rule that matches counts.")]
    for number, rules in enumerate(found.rule_lists):
        visitors = [place for place, visitor in enumerate(found.visitors) if visitor.rules == number]
        for written in reversed(written_rules(rules, REQUEST_LINE)):
            variable = f"!{prefix}_closed" if written.rule.allow else f"{prefix}_closed"
            lines.append(
                f"# {label(str(written.rule))}\n"
                f'SetEnvIfExpr "{_is_one_of(visitors, prefix)} && %{{THE_REQUEST}} =~ m#{_TARGET}{written.regex}#" '
                f"{variable}\n"
            )
    lines.append(comment("Whom the policy refuses, and whose addresses count."))
    lines += [
        f'SetEnvIfExpr "{_is_one_of(visitors, prefix)}" {variable}\n'
        for variable, visitors in _variables(found, prefix)
    ]
    return "".join(lines)


def _variables(found: SiteVisitors, prefix: str) -> Iterator[tuple[str, list[int]]]:
    """Yields variables, since `Require env` only asks whether one is set, with the visitors for which each is."""
    every = [*enumerate(found.visitors)]
    if refused := [number for number, visitor in every if visitor.refused]:
        yield f"{prefix}_stop", refused
    for one in address_sets(found):
        for outside in OUTSIDE:
            if some := [number for number in one.visitors if found.visitors[number].outside == outside]:
                yield f"{prefix}_{outside}_{one.number}", some
        if some := [number for number in one.visitors if found.visitors[number].free_inside]:
            yield f"{prefix}_free_{one.number}", some


def _section(found: SiteVisitors, prefix: str) -> str:
    """`<If>` counts after all other sections. `AuthMerging And`: access that they deny stays denied."""
    variables = {name for name, _ in _variables(found, prefix)}
    stops = f"        Require not env {prefix}_stop\n" if f"{prefix}_stop" in variables else ""
    free = ""
    for one in address_sets(found):
        for outside, known in (("public", (*one.networks, *LOCAL_NETWORKS)), ("all", one.networks)):
            if (name := f"{prefix}_{outside}_{one.number}") in variables:
                stops += _refusal(name, "".join(f"                Require not ip {line}\n" for line in in_lines(known)))
        if (name := f"{prefix}_free_{one.number}") in variables:
            ips = "".join(f"                            Require ip {line}\n" for line in in_lines(one.networks))
            free += (
                f"                    <RequireAll>\n                        Require env {name}\n"
                f"                        <RequireAny>\n{ips}                        </RequireAny>\n"
                "                    </RequireAll>\n"
            )
    if free:
        free = f"                <RequireNone>\n{free}                </RequireNone>\n"
    rules = f"        Require all granted\n{stops}{_refusal(f'{prefix}_closed', free)}"
    return (
        comment("What follows; robots.txt itself is open to everyone.")
        + f'<If "{_NOT_OPEN}">\n    AuthMerging And\n    <RequireAll>\n{rules}    </RequireAll>\n</If>\n'
    )


def _refusal(variable: str, unless: str) -> str:
    """Refuses requests for which a variable is set, except those for which all lines of `unless` fail."""
    return (
        f"        <RequireNone>\n            <RequireAll>\n                Require env {variable}\n{unless}"
        "            </RequireAll>\n        </RequireNone>\n"
    )
