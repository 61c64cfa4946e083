"""Writes a remedy for Apache httpd 2.4: variables that recognize requests, and `Require` that refuses them."""

from collections.abc import Sequence
from typing import Final

from goodbot.watch.remedies.comments import MADE_BY, comment, concerned, curl_test, label, sources
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.name_regex import name_regex
from goodbot.watch.remedies.targets import Network, Part, Remedy, TargetRobot, Targets, address_text

IN_ONE_LINE: Final = 50
"""Networks of one `Require`; a line of Apache's configuration has at most 16 MB, but people read it."""

_NOT_ROBOTS_TXT: Final = r"%{THE_REQUEST} !~ m#^\S+ (?:https?://[^/\s]*)?/robots\.txt(?:\?\S*)?(?:\s|$)#i"
"""By the request line as the client sent it: rewriting changes the URI, and sends requests for `/robots.txt` to the
front controller of a site."""


def apache_remedy(targets: Targets) -> Remedy:
    """Returns the configuration: 403 for every request except for robots.txt."""
    prefix = prefix_of(lambda prefix: _names(targets, prefix) + _section(targets, prefix))
    return Remedy("apache", (Part("", _head(targets) + _names(targets, prefix) + _section(targets, prefix)),))


def _head(targets: Targets) -> str:
    return comment(
        f"{MADE_BY} Refuses (403) {concerned(targets)}. robots.txt stays readable for everyone.",
        *sources(targets.impostors),
        "Put it into the configuration of the virtual host, at its end; in that of the server it is for all its "
        "virtual hosts. Where you have neither, .htaccess will do, if AllowOverride permits FileInfo and AuthConfig. "
        "It needs the modules setenvif, authz_core and authz_host. Behind a proxy, set the client's address first "
        "(mod_remoteip).",
        "It counts in addition to every other Require, but a later <If> with a Require of its own cancels it. Redirect "
        "and RewriteRule [R] of the server answer before it; requests that follow the redirect are refused.",
        "Test: apachectl configtest; after a reload:",
        curl_test(targets, "403"),
    )


def _names(targets: Targets, prefix: str) -> str:
    robots = [_variable(target, f"{prefix}_stop") for target in targets.robots]
    impostors = [_variable(target, f"{prefix}_claim_{number}") for number, target in enumerate(targets.impostors, 1)]
    return "".join((*robots, *impostors))


def _variable(target: TargetRobot, variable: str) -> str:
    lines = [
        f'SetEnvIfNoCase User-Agent "{regex}" {variable}\n'
        for pattern in target.patterns
        if (regex := name_regex(pattern))
    ]
    return f"# {label(target.name)}\n{''.join(lines)}"


def _section(targets: Targets, prefix: str) -> str:
    """`<If>` counts after all other sections. `AuthMerging And`: access that they deny stays denied."""
    rules = ["        Require all granted\n"]
    if targets.robots:
        rules.append(f"        Require not env {prefix}_stop\n")
    rules += [f"        Require not ip {line}\n" for line in _in_lines(targets.networks)]
    for number, target in enumerate(targets.impostors, 1):
        genuine = "".join(f"                Require not ip {line}\n" for line in _in_lines(target.networks))
        rules.append(
            f"        <RequireNone>\n            <RequireAll>\n                Require env {prefix}_claim_{number}\n"
            f"{genuine}            </RequireAll>\n        </RequireNone>\n"
        )
    return (
        f'<If "{_NOT_ROBOTS_TXT}">\n    AuthMerging And\n    <RequireAll>\n{"".join(rules)}    </RequireAll>\n</If>\n'
    )


def _in_lines(networks: Sequence[Network]) -> list[str]:
    texts = [address_text(network) for network in networks]
    return [" ".join(texts[place : place + IN_ONE_LINE]) for place in range(0, len(texts), IN_ONE_LINE)]
