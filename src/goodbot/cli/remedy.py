"""`goodbot remedy`: writes what stops or slows robots: configuration for servers, and a letter to the operator."""

from datetime import UTC, datetime
from pathlib import Path

import click

from goodbot.cli.command_class import Command, keep_from_output
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import read_input
from goodbot.cli.own_robots import address_book, load_registry
from goodbot.cli.printing import complain, put, say_folded, write_json
from goodbot.errors import InputError, quoted
from goodbot.exclusion.text.shown_text import shown
from goodbot.registry import KnownRobot
from goodbot.url import parse_url
from goodbot.watch.remedies import (
    BY_NAME,
    KINDS,
    Chosen,
    Facts,
    IncidentNote,
    Kind,
    Rate,
    Records,
    Remedy,
    SavedReport,
    Targets,
    anyone_runs,
    check_rate,
    choose_given,
    choose_reported,
    configuration,
    find_robot,
    has_accountable_operator,
    incidents_file,
    letter_remedy,
    parse_rate,
    parse_report,
    read_notes,
)


@click.command(
    name="remedy",
    cls=Command,
    inputs=["reports"],
    examples="""
    goodbot remedy robots --robot GPTBot --robot CCBot
    goodbot remedy nginx --robot GPTBot --rate 30/m
    goodbot remedy nginx --robot Googlebot --impostors
    goodbot remedy caddy --address 192.0.2.7 --address 203.0.113.0/24
    goodbot remedy fail2ban --report report.json --undeclared
    goodbot remedy letter --robot GPTBot --website https://example.org/
    """,
    sections={
        "Robots and addresses": ["robots", "addresses", "reports", "undeclared", "impostors"],
        "Effect": ["rate_text", "block"],
        "Letter": ["state_file", "done", "website", "sender"],
    },
)
@click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
@click.option("--robot", "robots", multiple=True, metavar="NAME", help="Stop this robot, by name. Repeatable.")
@click.option(
    "--address", "addresses", multiple=True, metavar="NETWORK", help="Stop this address or range. Repeatable."
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Stop the robots with disallowed requests, and impostors, in a report of goodbot watch --robots --json; - is "
    "standard input. With --rate: also robots that broke a Crawl-delay or Request-rate. With --robot: only these "
    "robots.",
)
@click.option(
    "--undeclared",
    is_flag=True,
    help="With --report: also addresses rated certain or likely that use no known robot's name.",
)
@click.option(
    "--impostors",
    is_flag=True,
    help="With --robot: stop requests in its name from addresses that its operator does not list, not the robot.",
)
@click.option(
    "--rate",
    "rate_text",
    metavar="N/s|N/m",
    help="Allow this rate: nginx answers 429 above it, fail2ban bans above it for a day, robots and letter ask for it.",
)
@click.option(
    "--block",
    is_flag=True,
    help="Refuse every request; with nginx, Apache and Caddy, robots.txt stays readable. This is the default.",
)
@click.option(
    "--state",
    "state_file",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Add the notes of goodbot incidents about this robot. FILE is the state of goodbot watch.",
)
@click.option("--done", metavar="SENTENCE", help="Say in the letter what you did.")
@click.option("--website", metavar="URL", help="Name your site.")
@click.option("--sender", metavar="NAME", help="Sign with this name.")
def command(
    kind: Kind,
    robots: tuple[str, ...],
    addresses: tuple[str, ...],
    reports: tuple[Path, ...],
    undeclared: bool,
    impostors: bool,
    rate_text: str | None,
    block: bool,
    state_file: Path | None,
    done: str | None,
    website: str | None,
    sender: str | None,
    as_json: bool,
) -> int:
    """Write what stops or slows robots, ready to use. Nothing is changed: you put the result where it belongs.

    KIND is one of:

    \b
      robots    a group for your robots.txt, for robots that obey
      nginx     maps, with 403, or with limit_req for --rate
      apache    SetEnvIf and Require, for Apache 2.4
      caddy     matchers and respond 403, for Caddy 2
      fail2ban  filters and jails that ban the addresses of robots
      cidr      a list of networks for a firewall: the published addresses of
                robots, and those given
      letter    a mail to the operator of one robot

    Robots are recognized by the name in their User-Agent, which anyone can change or imitate. A report's impostors are
    stopped by their addresses. If the operator publishes addresses, requests with the name from any other address are
    stopped too; the genuine robot is not, as long as the address lists are up to date (goodbot who update).

    goodbot leaves out of a report: user-triggered fetchers (they fetch what a person asks for, and need not obey
    robots.txt), local addresses, and addresses that some operator lists.

    With nginx, Apache and Caddy, robots.txt stays readable. Addresses that fail2ban bans, or that your firewall blocks
    (cidr), cannot read robots.txt either.

    A letter contains the report's figures and log lines about this robot, and no other visitors' addresses. There is
    none about programs that anyone can run, such as curl: their makers did not send the requests.

    With --json: kind, text, parts (each with its place), robots, impostors, addresses and warnings.

    Exit status: 0: done; 1: the report contains no robot or address to stop; 2: bad input, or this KIND does not help.
    """
    rate = parse_rate(rate_text) if rate_text is not None else None
    report = _one_of(reports)
    _check(kind, robots, addresses, report, undeclared, impostors, rate, block)
    if kind != "letter" and (state_file or done is not None or website is not None or sender is not None):
        raise InputError("--state, --done, --website and --sender are for a letter")
    if website is not None and parse_url(website) is None:
        raise InputError(f"--website must be an http or https URL, such as https://example.org/, not {quoted(website)}")
    if state_file is not None:
        keep_from_output([str(state_file), str(incidents_file(state_file))])
    registry = load_registry()
    records = Records(registry, address_book(registry), datetime.now(UTC).date())
    saved = parse_report(read_input(str(report)), _name_of(report)) if report is not None else None
    if kind == "letter":
        robot = _robot_of_letter(robots, saved, records)
        facts = _facts(robot, saved, state_file, done, website, sender, rate)
        _put_out(letter_remedy(robot, facts), Targets(), [robot.name], (), as_json)
        return 0
    if saved is None:
        chosen = choose_given(robots, addresses, impostors, records, by_name=kind in BY_NAME)
    else:
        chosen = choose_reported(saved, robots, undeclared, records, by_name=kind in BY_NAME, too_fast=rate is not None)
    targets = chosen.targets()
    if targets.is_empty():
        return _nothing(kind, chosen, saved, as_json)
    remedy = configuration(kind, targets, rate, registry)
    _put_out(remedy, targets, targets.names, chosen.warnings, as_json)
    return 0


def _check(
    kind: Kind,
    robots: tuple[str, ...],
    addresses: tuple[str, ...],
    report: Path | None,
    undeclared: bool,
    impostors: bool,
    rate: Rate | None,
    block: bool,
) -> None:
    """Raises InputError for options that do not fit together."""
    if not (robots or addresses or report):
        raise InputError("say what to stop: --robot NAME, --address NETWORK or --report FILE")
    if block and rate is not None:
        raise InputError("--block refuses requests and --rate limits them: give one of the two")
    if report is not None and (addresses or impostors):
        raise InputError("--address and --impostors do not go with --report, which has addresses and impostors")
    if undeclared and report is None:
        raise InputError("--undeclared needs --report")
    if impostors and not robots:
        raise InputError("--impostors needs --robot")
    if kind == "letter" and (addresses or impostors or undeclared):
        raise InputError("a letter goes to the operator of a robot: give --robot, or --report without --undeclared")
    check_rate(kind, rate)


def _one_of(reports: tuple[Path, ...]) -> Path | None:
    """Returns the report; None without one. Raises InputError for several."""
    if len(reports) > 1:
        raise InputError(
            "--report can be given once; for several logs, make one report of all: goodbot watch LOG LOG …"
        )
    return reports[0] if reports else None


def _name_of(report: Path) -> str:
    return "standard input" if str(report) == "-" else str(report)


def _nothing(kind: Kind, chosen: Chosen, saved: SavedReport | None, as_json: bool) -> int:
    """Says that there is nothing to stop. For names that the user gave, that is an error; for a report, an answer."""
    if saved is None:
        raise InputError("; ".join(chosen.warnings))
    for warning in chosen.warnings:
        say_folded(f"goodbot: {warning}", err=True)
    if as_json:
        write_json(_json(Remedy(kind, ()), Targets(), [], chosen.warnings))
    else:
        complain("the report contains no robot or address to stop: nothing to do")
    return 1


# ---- the letter -----------------------------------------------------------------------------------------------------


def _robot_of_letter(names: tuple[str, ...], saved: SavedReport | None, records: Records) -> KnownRobot:
    """Returns the one robot whose operator gets the letter. Raises InputError if it is not one."""
    if names:
        found = {robot.name: robot for name in names for robot in (find_robot(name, records.registry),)}
    else:
        found = {
            target.name: target.robot
            for target in (choose_reported(saved, (), False, records, too_fast=True).targets().robots if saved else ())
        }
    if not found:
        raise InputError("the report contains no robot that broke your rules; choose one with --robot")
    accountable = [robot for robot in found.values() if has_accountable_operator(robot)]
    if not accountable:
        raise anyone_runs(found)
    choice = [*found.values()] if names else accountable
    if len(choice) == 1:
        return choice[0]
    listed = ", ".join(robot.name for robot in choice)
    raise InputError(f"a letter goes to one operator; choose one robot with --robot: {listed}")


def _facts(
    robot: KnownRobot,
    saved: SavedReport | None,
    state_file: Path | None,
    done: str | None,
    website: str | None,
    sender: str | None,
    rate: Rate | None,
) -> Facts:
    reported = [one for one in saved.robots if one.name == robot.name and one.tier != "impostor"] if saved else []
    if saved is not None and not reported:
        raise InputError(f"the report has no requests of {robot.name} itself")
    dated = saved is not None and saved.robots_txt is not None and saved.robots_txt.since is not None
    return Facts(tuple(reported), dated, _notes(robot, state_file), done, website, sender, rate)


def _notes(robot: KnownRobot, state_file: Path | None) -> tuple[IncidentNote, ...]:
    if state_file is None:
        return ()
    file = incidents_file(state_file)
    notes, damaged = read_notes(file)
    if damaged:
        complain(f"{file}: {damaged} damaged lines are left out")
    own = tuple(note for note in notes if note.robot.lower() == robot.name.lower() and note.tier != "impostor")
    if not own:
        say_folded(f"goodbot: {file} has no notes about {robot.name}", err=True)
    return own


# ---- what is printed ------------------------------------------------------------------------------------------------


def _put_out(remedy: Remedy, targets: Targets, names: list[str], chosen: tuple[str, ...], as_json: bool) -> None:
    warnings = (*chosen, *remedy.warnings)
    for warning in warnings:
        say_folded(f"goodbot: {shown(warning, 500)}", err=True)
    if as_json:
        write_json(_json(remedy, targets, names, warnings))
    else:
        put(remedy.text.encode("utf-8", "replace"))


def _json(remedy: Remedy, targets: Targets, names: list[str], warnings: tuple[str, ...]) -> dict[str, object]:
    return {
        "kind": remedy.kind,
        "text": remedy.text,
        "parts": [{"place": part.place, "text": part.text} for part in remedy.parts],
        "robots": names,
        "impostors": [target.name for target in targets.impostors],
        "addresses": [str(network) for network in targets.networks],
        "warnings": [*warnings],
    }
