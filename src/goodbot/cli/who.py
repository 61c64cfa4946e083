"""`goodbot who`: shows who operates a robot, what it is for, and whether a request really came from it."""

import os
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.options import read_input
from goodbot.cli.printing import Line, joined, say, styled, width, wrapped, write_json
from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.product_token import product_token
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.interrupts import run_async
from goodbot.registry import (
    OBEYS,
    PURPOSES,
    TIERS,
    AddressBook,
    AddressList,
    KnownRobot,
    VerifiedIdentity,
    confirm,
    day_of,
    identify,
    list_for,
    parse_ranges,
    robots,
    similar_tokens,
)
from goodbot.registry.address_ranges import parse_address
from goodbot.registry.robot_records import ListName, load_records
from goodbot.url import Url, parse_url

SHOWN = 10
"""How many added and removed ranges are shown; JSON has all."""

USER_AGENT_SHOWN = 300
"""Characters shown of a User-Agent when several were given."""

MIN_TABLE = 70
"""Columns that a table of robots needs."""

Found = tuple[str, VerifiedIdentity]
"""A User-Agent, and the robot identified by it."""

_COLOURS = {"verified": "green", "declared": "cyan", "impostor": "red", "unknown": "yellow"}


@click.command(
    name="who",
    cls=Command,
    examples="""
    goodbot who "Mozilla/5.0 (compatible; GPTBot/1.3)"
    goodbot who Googlebot --ip 66.249.66.1
    goodbot who YandexBot --ip 5.255.231.1 --reverse-dns
    goodbot who --list --purpose ai-training
    goodbot who --refresh https://openai.com/gptbot.json
    """,
)
@click.argument("user_agents", nargs=-1, metavar='["USER-AGENT"...]')
@click.option(
    "--ip", "address", metavar="ADDRESS", help="IP address the request came from, to check whether it is that robot."
)
@click.option("--reverse-dns", is_flag=True, help="With --ip: also do a reverse and a forward DNS lookup.")
@click.option(
    "--nameserver", metavar="ADDRESS[:PORT]", help="With --reverse-dns: use this name server instead of the system's."
)
@click.option("--list", "listing", is_flag=True, help="List every robot that goodbot has a record of.")
@click.option(
    "--purpose",
    type=click.Choice([*PURPOSES]),
    metavar="PURPOSE",
    help="With --list: only robots for this purpose, such as ai-training.",
)
@click.option(
    "--refresh",
    "source",
    metavar="FILE|URL",
    help="Import a newer list of address ranges, as the operator publishes it.",
)
@click.option(
    "--address-list",
    "list_name",
    metavar="LIST",
    help="With --refresh: which of these lists FILE or URL is, if its name does not show it.",
)
@click.option("--as", "old_list_name", hidden=True)
def command(
    user_agents: tuple[str, ...],
    address: str | None,
    reverse_dns: bool,
    nameserver: str | None,
    listing: bool,
    purpose: str | None,
    source: str | None,
    list_name: str | None,
    old_list_name: str | None,
    as_json: bool,
) -> int:
    """Show who operates a robot, what it is for, and whether the request really came from it.

    USER-AGENT is the whole value from a log, or only a robot's name; - reads several from standard input, one per line.
    Anybody can send any name, so the answer is one of four tiers:

    \b
      verified  the address is in a range of the operator, or has one of its
                reverse DNS names
      declared  the request uses the name, and that is not verified: no --ip was
              given, the check needs --refresh or --reverse-dns, or no check
              exists
    impostor  with --ip: the address is outside those ranges, or no robot uses
                that name in requests
      unknown   no robot on record matches: a browser, or an unrecorded name

    goodbot includes the ranges of many operators, which become out of date. --refresh imports a newer list (the JSON of
    Google, Bing or OpenAI, or plain text), keeps it in your data folder and uses it from then on. Without --refresh and
    --reverse-dns nothing is sent over the network. LIST is one of ahrefs, anthropic, applebot, bingbot, ccbot,
    duckduckbot, google-agents, google-common, google-special, google-user, google-user-own, mistralai-user,
    openai-chatgpt-user, openai-gptbot, openai-searchbot, perplexity-user, perplexitybot.

    With --json: a list, one object for each USER-AGENT.

    Exit status: 0: every USER-AGENT is verified or declared, or --list or --refresh is done; 1: at least one USER-AGENT
    is an impostor or unknown; 2: bad input; 3: --refresh could not fetch or save the list.
    """
    list_name = list_name or old_list_name
    modes = [bool(user_agents), listing, source is not None]
    if sum(modes) != 1:
        raise InputError("give one of: a USER-AGENT, --list, --refresh (goodbot who --help)")
    _refuse(address and not user_agents, "--ip goes with a USER-AGENT")
    _refuse(purpose and not listing, "--purpose goes with --list")
    _refuse(list_name and source is None, "--address-list goes with --refresh")
    _refuse(reverse_dns and address is None, "--reverse-dns needs --ip")
    _refuse(nameserver and not reverse_dns, "--nameserver goes with --reverse-dns")
    if listing:
        return _list(purpose, as_json)
    if source is not None:
        return _refresh(source, list_name, as_json)
    return _who(list(_values(user_agents)), address, (reverse_dns, nameserver), as_json)


def _refuse(wrong: object, text: str) -> None:
    if wrong:
        raise InputError(text)


def _values(texts: Iterable[str]) -> Iterator[str]:
    """Each User-Agent; those of standard input for `-`, without empty lines. Raises InputError if one is empty,
    or there is none."""
    for text in texts:
        values = [text.strip()]
        if text == "-":
            lines = read_input("-").decode("utf-8", "replace").split("\n")
            values = [line.strip() for line in lines if line.strip()]
        _refuse(not values, "standard input holds no USER-AGENT")
        _refuse("" in values, "the USER-AGENT is empty")
        yield from values


def data_folder() -> Path:
    """Where refreshed address lists are kept."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "goodbot" / "addresses"


# ---- one robot ------------------------------------------------------------------------------------------------------


def _who(user_agents: list[str], address: str | None, dns: tuple[bool, str | None], as_json: bool) -> int:
    if address is not None:
        try:
            parse_address(address)
        except ValueError as error:
            raise InputError(f"--ip must be an IPv4 or IPv6 address, not {address!r}") from error
    book = AddressBook(data_folder())
    found = [(user_agent, identify(user_agent, address, book)) for user_agent in user_agents]
    asked, server = dns
    if asked and address is not None:
        found = run_async(partial(_confirmed, found, address, server))
    if as_json:
        write_json([_json(user_agent, address, identity) for user_agent, identity in found])
    else:
        _print(found)
    return 0 if all(identity.tier in ("verified", "declared") for _, identity in found) else 1


async def _confirmed(found: list[Found], address: str, server: str | None) -> list[Found]:
    from goodbot.one_shot import reverse_lookup  # noqa: PLC0415  (only who asks for it needs the network's modules)

    lookup = reverse_lookup([server] if server else ())
    return [(user_agent, await confirm(identity, address, lookup)) for user_agent, identity in found]


def _print(found: list[Found]) -> None:
    """Prints each identity; if there are several, below its User-Agent."""
    for number, (user_agent, identity) in enumerate(found):
        if number:
            say()
        if len(found) > 1:
            for line in wrapped(shown(user_agent, USER_AGENT_SHOWN), "", "  ", bold=True):
                say(*line)
        for line in _report_lines(user_agent, identity):
            say(*line)


def _similar(user_agent: str) -> list[str]:
    """Returns robots with a similar name, for a name that a person typed. A whole User-Agent comes from a program,
    which does not misspell names."""
    return similar_tokens(user_agent) if user_agent == product_token(user_agent) else []


def _json(user_agent: str, address: str | None, identity: VerifiedIdentity) -> dict[str, object]:
    robot = identity.robot
    head = {"user_agent": user_agent, "address": address, "tier": identity.tier, "evidence": [*identity.evidence]}
    if robot is None:
        return {"name": None, "operator": None, "purpose": None, **head, "similar": _similar(user_agent)}
    return {"name": robot.name, "operator": robot.operator, "purpose": robot.purpose, **head, **_facts(robot)}


def _facts(robot: KnownRobot) -> dict[str, object]:
    lists = load_records().lists
    return {
        "token": robot.token,
        "obeys_robots_txt": robot.obeys,
        "obeys_source": robot.obeys_source,
        "documentation": robot.documentation,
        "address_lists": [lists[name].url for name in robot.address_lists],
        "reverse_dns": [*robot.reverse_dns],
        "web_bot_auth": robot.signatures,
        "control_token": robot.control,
        "retired": robot.retired,
        "retired_since": robot.retired_since,
        "recorded": robot.recorded,
        "looked_up": robot.looked_up,
        "source": robot.source,
    }


def _report_lines(user_agent: str, identity: VerifiedIdentity) -> Iterator[Line]:
    tier = styled(identity.tier, fg=_COLOURS[identity.tier], bold=True)
    robot = identity.robot
    head = joined(f"{robot.name}: ", tier, ", ") if robot else joined(tier, ": ")
    yield from wrapped(TIERS[identity.tier], head, "  ")
    if robot is not None:
        meaning = PURPOSES[robot.purpose]
        yield from _row("operator", robot.operator or "not recorded")
        yield from _row("purpose", f"{robot.purpose}: {meaning[0].lower()}{meaning[1:]}")
        yield from _row("robots.txt", f"User-agent: {robot.token}" if robot.token else "no name there is recorded")
        if not robot.control:
            yield from _row("", OBEYS[robot.obeys])
        links = dict.fromkeys(url for url in (robot.documentation, robot.obeys_source, robot.source) if url)
        for number, url in enumerate(links):
            yield from _row("" if number else "more", url)
    yield from _row("evidence", f"- {identity.evidence[0]}")
    for said in identity.evidence[1:]:
        yield from _row("", f"- {said}")
    if robot is None and (similar := _similar(user_agent)):
        yield from _row("", f"did you mean {' or '.join(similar)}?")


def _row(name: str, text: str) -> Iterator[Line]:
    hanging = " " * 16 if text.startswith("- ") else " " * 14
    yield from wrapped(text, f"  {name:<12}", hanging)


# ---- all of them ----------------------------------------------------------------------------------------------------


def _list(purpose: str | None, as_json: bool) -> int:
    chosen = [robot for robot in robots() if purpose in (None, robot.purpose)]
    if as_json:
        write_json(
            [
                {"name": robot.name, "operator": robot.operator, "purpose": robot.purpose, **_facts(robot)}
                for robot in chosen
            ]
        )
        return 0
    for kind, meaning in PURPOSES.items():
        of_kind = [robot for robot in chosen if robot.purpose == kind]
        if of_kind:
            for line in wrapped(meaning, joined(styled(kind, bold=True), ": "), "  "):
                say(*line)
            for robot in of_kind:
                for line in _listed(robot):
                    say(*line)
    for line in wrapped(f"{counted(len(chosen), 'robot')}; goodbot who NAME says more about one", "", ""):
        say(*line)
    return 0


def _listed(robot: KnownRobot) -> Iterator[Line]:
    if width() < MIN_TABLE:
        said = (robot.operator or "operator not recorded", _note(robot))
        return wrapped(", ".join(filter(None, said)), f"  {robot.name}: ", " " * 6)
    return wrapped(f"{robot.operator or '':<28} {_note(robot)}", f"  {robot.name:<28} ", " " * 8)


def _note(robot: KnownRobot) -> str:
    notes = {
        "retired": robot.retired,
        "robots.txt control token": robot.control,
        "does not obey": robot.obeys == "no",
        "not bound by *": robot.obeys == "named",
        "can be checked": bool(robot.address_lists or robot.reverse_dns or robot.signatures),
    }
    return ", ".join(text for text, holds in notes.items() if holds)


# ---- newer ranges ---------------------------------------------------------------------------------------------------


def _refresh(source: str, list_name: str | None, as_json: bool) -> int:
    known = _named(list_name) if list_name else list_for(source)
    if known is None:
        names = ", ".join(load_records().lists)
        raise InputError(f"{source} does not show which list it is: add --address-list and one of {names}")
    url = parse_url(source)
    body = _fetched(url) if url is not None else read_input(source)
    book = AddressBook(data_folder())
    before = book.get(known.name)
    new = _newer(known, before, body, source)
    try:
        file = book.keep(new)
    except OSError as error:
        raise RunError(f"cannot write {error.filename or data_folder()}: {error.strerror}") from error
    had = set(before.networks) if before else set()
    added = [str(network) for network in new.networks if network not in had]
    removed = [str(network) for network in (before.networks if before else ()) if network not in set(new.networks)]
    if as_json:
        what = {"list": known.name, "url": known.url, "operator": known.operator, "as_of": new.as_of}
        write_json(
            {"done": True, **what, "ranges": len(new.networks), "added": added, "removed": removed, "file": str(file)}
        )
        return 0
    was = f"; before: {len(before.networks):,}, as of {before.as_of}" if before else "; there was none before"
    say(f"{known.name} of {known.operator}: {counted(len(new.networks), 'range')}, as of {new.as_of}{was}")
    for sign, changed in (("+", added), ("-", removed)):
        for network in changed[:SHOWN]:
            say(f"  {sign} {network}")
        if len(changed) > SHOWN:
            say(f"  {sign} {len(changed) - SHOWN:,} more")
    if not (added or removed):
        say("  nothing has changed")
    say(f"saved to {file}")
    return 0


def _newer(known: ListName, before: AddressList | None, body: bytes, source: str) -> AddressList:
    """Returns the list to use from now on. Raises InputError for a list older than `before`, unless it was
    downloaded from the operator's own URL, which is always current."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    new = AddressList(known.name, known.url, min(day_of(body) or today, today), parse_ranges(body, source))
    if before is None or not new.as_of < before.as_of <= today:
        return new
    if set(new.networks) == set(before.networks):
        return before
    if source.rstrip("/") != known.url.rstrip("/"):
        raise InputError(
            f"{source} has the date {new.as_of} and is older than the list in use ({before.as_of}), which is kept"
        )
    return new


def _named(name: str) -> ListName:
    known = load_records().lists.get(name)
    if known is None:
        raise InputError(f"there is no list {name!r}; the lists are {', '.join(load_records().lists)}")
    return known


def _fetched(url: Url) -> bytes:
    from goodbot.one_shot import fetch_document  # noqa: PLC0415  (a list in a file needs no network)

    return fetch_document(url)
