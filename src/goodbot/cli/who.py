"""`goodbot who`: whose robot sends this User-Agent, what is it for, and is it really that one?"""

import asyncio
import os
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.cli.options import json_option, read_input, write_json
from goodbot.errors import InputError, RunError
from goodbot.human import counted
from goodbot.registry import (
    OBEYS,
    PURPOSES,
    TIERS,
    AddressBook,
    AddressList,
    Identity,
    Robot,
    confirm,
    day_of,
    identify,
    list_for,
    parse_ranges,
    robots,
)
from goodbot.registry.addresses import parse_address
from goodbot.registry.records import ListName, load_records
from goodbot.url import Url, parse_url

SHOWN = 10
"""Ranges shown of those that came and went; all of them in JSON."""

_COLOURS = {"verified": "green", "declared": "cyan", "impostor": "red", "unknown": "yellow"}


@click.command(name="who")
@click.argument("user_agent", required=False, metavar='["USER-AGENT"]')
@click.option("--ip", "address", metavar="A", help="The address the request came from: is it really that robot?")
@click.option("--reverse-dns", is_flag=True, help="With --ip: also ask DNS for the name of the address, and back.")
@click.option("--nameserver", metavar="A[:PORT]", help="With --reverse-dns: ask this name server, not the system's.")
@click.option("--list", "listing", is_flag=True, help="Every robot that goodbot has a record of.")
@click.option(
    "--purpose",
    type=click.Choice([*PURPOSES]),
    metavar="P",
    help="With --list: only robots for this, such as ai-training.",
)
@click.option(
    "--refresh", "source", metavar="FILE|URL", help="Take over newer address ranges, as their operator publishes them."
)
@click.option(
    "--as", "list_name", metavar="LIST", help="With --refresh: which list it is, if its name does not say so."
)
@json_option
def command(
    user_agent: str | None,
    address: str | None,
    reverse_dns: bool,
    nameserver: str | None,
    listing: bool,
    purpose: str | None,
    source: str | None,
    list_name: str | None,
    as_json: bool,
) -> int:
    """Whose robot is this, what is it for, and is it really that one?

    USER-AGENT is the whole value from a log, or only a robot's name; - reads it from standard input. Anybody can send
    any name, so the answer has four tiers:

    \b
      verified  the address is in a range its operator publishes, or reverse DNS leads to the operator and back
      declared  it says so; without --ip, or where its operator publishes no way to check, no more can be said
      impostor  the address is outside what its operator publishes, or nobody fetches under that name
      unknown   no robot known here: a browser, or a name nobody has recorded

    Ranges come with goodbot and grow old; what was taken over with --refresh (Google's and Bing's JSON, OpenAI's, plain
    lists) is kept in your data folder and used from then on. Nothing is fetched, and no name server asked, unless you
    say so.

    \b
      goodbot who "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
      goodbot who Googlebot --ip 66.249.66.1
      goodbot who YandexBot --ip 5.255.231.1 --reverse-dns
      goodbot who --list --purpose ai-training
      goodbot who --refresh https://openai.com/gptbot.json

    Exit status: 0 verified or declared, 1 impostor or unknown.
    """
    modes = [user_agent is not None, listing, source is not None]
    if sum(modes) != 1:
        raise InputError("give one of: a USER-AGENT, --list, --refresh (goodbot who --help)")
    _refuse(address and user_agent is None, "--ip goes with a USER-AGENT")
    _refuse(purpose and not listing, "--purpose goes with --list")
    _refuse(list_name and source is None, "--as goes with --refresh")
    _refuse(reverse_dns and address is None, "--reverse-dns needs --ip")
    _refuse(nameserver and not reverse_dns, "--nameserver goes with --reverse-dns")
    if listing:
        return _list(purpose, as_json)
    if source is not None:
        return _refresh(source, list_name, as_json)
    return _who(_value(user_agent or ""), address, (reverse_dns, nameserver), as_json)


def _refuse(wrong: object, text: str) -> None:
    if wrong:
        raise InputError(text)


def _value(text: str) -> str:
    return read_input("-").decode("utf-8", "replace").strip() if text == "-" else text


def data_folder() -> Path:
    """Where refreshed address lists are kept."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "goodbot" / "addresses"


# ---- one robot ------------------------------------------------------------------------------------------------------


def _who(user_agent: str, address: str | None, dns: tuple[bool, str | None], as_json: bool) -> int:
    if not user_agent:
        raise InputError("the USER-AGENT is empty")
    if address is not None:
        try:
            parse_address(address)
        except ValueError as error:
            raise InputError(f"--ip is an IPv4 or IPv6 address, not {address!r}") from error
    identity = identify(user_agent, address, AddressBook(data_folder()))
    asked, server = dns
    if asked and address is not None:
        identity = asyncio.run(_confirmed(identity, address, server))
    if as_json:
        write_json(_json(user_agent, address, identity))
    else:
        click.echo("\n".join(_told(identity)))
    return 0 if identity.tier in ("verified", "declared") else 1


async def _confirmed(identity: Identity, address: str, server: str | None) -> Identity:
    from goodbot.asking import reverse_lookup  # noqa: PLC0415  (only who asks for it needs the network's modules)

    return await confirm(identity, address, reverse_lookup([server] if server else ()))


def _json(user_agent: str, address: str | None, identity: Identity) -> dict[str, object]:
    robot = identity.robot
    head = {"user_agent": user_agent, "address": address, "tier": identity.tier, "evidence": [*identity.evidence]}
    if robot is None:
        return {"name": None, "operator": None, "purpose": None, **head}
    return {"name": robot.name, "operator": robot.operator, "purpose": robot.purpose, **head, **_facts(robot)}


def _facts(robot: Robot) -> dict[str, object]:
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


def _told(identity: Identity) -> Iterator[str]:
    tier = click.style(identity.tier, fg=_COLOURS[identity.tier], bold=True)
    robot = identity.robot
    yield f"{robot.name if robot else 'nobody known'}: {tier}, {TIERS[identity.tier]}"
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


def _row(name: str, text: str) -> Iterator[str]:
    hanging = " " * 16 if text.startswith("- ") else " " * 14
    yield from textwrap.wrap(
        text,
        100,
        initial_indent=f"  {name:<12}",
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


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
            click.echo(f"{click.style(kind, bold=True)}: {meaning}")
            for robot in of_kind:
                click.echo(f"  {robot.name:<28} {robot.operator or '':<28} {_note(robot)}".rstrip())
    click.echo(f"{counted(len(chosen), 'robot')}; goodbot who NAME tells more of one")
    return 0


def _note(robot: Robot) -> str:
    notes = {
        "retired": robot.retired,
        "for robots.txt only": robot.control,
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
        raise InputError(f"which list is {source}? Say so with --as, one of: {names}")
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
        told = {"list": known.name, "url": known.url, "operator": known.operator, "as_of": new.as_of}
        write_json({**told, "ranges": len(new.networks), "added": added, "removed": removed, "file": str(file)})
        return 0
    was = f"; before: {len(before.networks):,}, as of {before.as_of}" if before else "; there was none before"
    click.echo(f"{known.name} of {known.operator}: {counted(len(new.networks), 'range')}, as of {new.as_of}{was}")
    for sign, changed in (("+", added), ("-", removed)):
        for network in changed[:SHOWN]:
            click.echo(f"  {sign} {network}")
        if len(changed) > SHOWN:
            click.echo(f"  {sign} {len(changed) - SHOWN:,} more")
    if not (added or removed):
        click.echo("  nothing has changed")
    click.echo(f"kept in {file}")
    return 0


def _newer(known: ListName, before: AddressList | None, body: bytes, source: str) -> AddressList:
    """The list to be used from now on. Raises InputError for one of an older day than `before`, unless it comes from
    its operator's own address: what stands there is what holds now."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    new = AddressList(known.name, known.url, min(day_of(body) or today, today), parse_ranges(body, source))
    if before is None or not new.as_of < before.as_of <= today:
        return new
    if set(new.networks) == set(before.networks):
        return before
    if source.rstrip("/") != known.url.rstrip("/"):
        raise InputError(f"{source} is of {new.as_of}, older than the list in use, of {before.as_of}: that is kept")
    return new


def _named(name: str) -> ListName:
    known = load_records().lists.get(name)
    if known is None:
        raise InputError(f"there is no list {name}, only: {', '.join(load_records().lists)}")
    return known


def _fetched(url: Url) -> bytes:
    from goodbot.asking import fetch_document  # noqa: PLC0415  (a list in a file needs no network)

    return fetch_document(url)
