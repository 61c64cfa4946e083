"""`goodbot gate export`: writes the decisions of the gate as configuration for a Web server."""

from datetime import UTC, datetime
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import read_input
from goodbot.cli.own_robots import address_book, load_registry
from goodbot.cli.printing import put, say_folded, write_json
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.gate.export import FORMATS, ExportedSite, Format, exported
from goodbot.gate.policy import Policy, parse_policy, with_recorded_names
from goodbot.gate.site_rules import SiteRules, access_of_file
from goodbot.url import parse_url
from goodbot.watch.remedies import Records, Remedy


@click.command(
    name="export",
    cls=Command,
    short_help="Write the decisions of the gate as configuration for a Web server",
    inputs=("robots", "policy_file"),
    examples="""
    goodbot gate export --robots /var/www/robots.txt --format nginx
    goodbot gate export --robots https://www.example.org/ --format caddy -o robots.caddy
    goodbot gate export --robots robots.txt --policy gate.toml --format haproxy
    """,
)
@click.option(
    "--robots",
    required=True,
    metavar="FILE|URL",
    help="The robots.txt to enforce: a file, - for standard input, or the URL of a site, whose robots.txt is then "
    "fetched.",
)
@click.option(
    "--format",
    "kind",
    required=True,
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help=f"The server, or the kind of list: {', '.join(FORMATS)}.",
)
@click.option(
    "--policy",
    "policy_file",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Policy in TOML (gate.toml), as for goodbot gate. [sites] and settings of the service itself have no effect.",
)
def command(robots: str, kind: Format, policy_file: Path | None, as_json: bool) -> int:
    """Write the decisions of the gate as configuration for a Web server, which then needs no running gate.

    FORMAT is one of:

    \b
      nginx    maps and geo, with 403; limit_req for Crawl-delay and the limits
               of the policy (429). Test: nginx -t
      apache   SetEnvIf and Require, for Apache 2.4. No limits. Test:
               apachectl configtest
      caddy    maps, matchers and respond 403, for Caddy 2. No limits. Test:
               caddy validate
      traefik  routers that refuse, a file of dynamic configuration for
               Traefik 3.4. No limits, and no rules about the query
      haproxy  http-request rules, with 403; stick tables for Crawl-delay and
               the limits of the policy (429), for HAProxy 2.4. Test:
               haproxy -c -f haproxy.cfg
      cidr     a list of networks for a firewall: the published addresses of
               robots to which the whole site is closed

    The order is that of the gate: robots.txt itself is open to everyone; exceptions of the policy; impostors, which use
    the name of a robot from an address that its operator does not publish; the rules of robots.txt for the robot, the
    longest pattern first; limits. Rules of robots.txt never stop browsers.

    Robots are recognized by the name in their User-Agent. What a server cannot do is in comments at the top of the
    configuration, and on standard error: no server verifies robots by reverse DNS or by signatures, and none notices
    when robots.txt or the address lists change. Run this command again then, and every week (goodbot who update
    renews the lists), and reload the server.

    After a reload, request some URLs with curl -A NAME, and compare the answers with those of goodbot allowed.

    With --json: format, robots, text, parts (each with its place) and warnings.

    Exit status: 0: done; 2: bad input, such as a file that is no robots.txt, a policy with an error, or no address for
    the format cidr; 3: the robots.txt of a site cannot be fetched, or an address list cannot be read.
    """
    site = _site(robots, policy_file)
    export = exported(site, kind)
    warnings = (*_about_access(site), *export.warnings)
    for warning in warnings:
        say_folded(f"goodbot: {shown(warning, 1000)}", err=True)
    if as_json:
        write_json(_json(export, site, warnings))
    else:
        put(export.text.encode("utf-8", "replace"))
    return 0


def _site(robots: str, policy_file: Path | None) -> ExportedSite:
    registry, policy = load_registry(), Policy()
    if policy_file is not None:
        name = str(policy_file)
        policy = with_recorded_names(parse_policy(read_input(name), name), registry, name)
    records = Records(registry, address_book(registry), datetime.now(UTC).date())
    url = parse_url(robots)
    if url is None:
        if "://" in robots:
            raise InputError(f"not an http or https URL: {robots}")
        body = read_robots_file(robots, or_site=True)
        name = "standard input" if robots == "-" else robots
        return ExportedSite(SiteRules(access_of_file(body)), policy, records, name)
    from goodbot.one_shot import fetch_access  # noqa: PLC0415  (a robots.txt in a file needs no network)

    access = fetch_access(url)
    if access.result == "unreachable":
        raise RunError(f"{access.reason.removesuffix('.')}; nothing was written")
    return ExportedSite(SiteRules(access), policy, records, f"{url.origin}/robots.txt", url.host)


def _about_access(site: ExportedSite) -> tuple[str, ...]:
    access = site.rules.access
    if access.result == "unavailable":
        return (access.reason.removesuffix("."),)
    return () if access.rules.groups else (f"{site.source} has no rules, so it closes nothing",)


def _json(export: Remedy, site: ExportedSite, warnings: tuple[str, ...]) -> dict[str, object]:
    return {
        "format": export.kind,
        "robots": site.source,
        "text": export.text,
        "parts": [{"place": part.place, "text": part.text} for part in export.parts],
        "warnings": [*warnings],
    }
