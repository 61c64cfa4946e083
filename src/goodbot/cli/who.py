"""`goodbot who`: shows who operates a robot, what it is for, and whether a request really came from it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial

import click

from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.options import read_input
from goodbot.cli.own_robots import address_book, load_registry
from goodbot.cli.printing import write_json
from goodbot.cli.who_report import Found, identity_json, print_identities, print_robots, robots_json
from goodbot.cli.who_update import import_list, imported_json, print_imported, update
from goodbot.errors import InputError
from goodbot.interrupts import run_async
from goodbot.registry import PURPOSES, Registry, confirm, identify
from goodbot.registry.address_ranges import parse_address


@click.command(
    name="who",
    cls=CommandWithOthers,
    others={"update": update},  # no robot has this name, so no USER-AGENT is taken for the command
    examples="""
    goodbot who "Mozilla/5.0 (compatible; GPTBot/1.3)"
    goodbot who Googlebot --ip 66.249.66.1
    goodbot who YandexBot --ip 5.255.231.1 --reverse-dns
    goodbot who --list --purpose ai-training
    goodbot who update
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
@click.option("--list", "listing", is_flag=True, help="List every robot that has a record: goodbot's or yours.")
@click.option(
    "--purpose",
    type=click.Choice([*PURPOSES]),
    metavar="PURPOSE",
    help="With --list: only robots for this purpose, such as ai-training.",
)
@click.option("--refresh", "source", metavar="FILE|URL", hidden=True, help="The older form of who update --from.")
@click.option("--address-list", "list_name", metavar="LIST", hidden=True, help="With --refresh: which list it is.")
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
                given, the check needs `goodbot who update` or --reverse-dns, or
                no check exists
      impostor  with --ip: the address is outside those ranges, or the name is
                for robots.txt only (Google-Extended), and no robot sends it
      unknown   no robot on record matches: a browser, or an unrecorded name; or,
                with --ip, the address is outside those ranges, but they are too
                old or too new to decide

    goodbot comes with the address lists of many operators, which become out of date: more than 90 days before or after
    its date, a list does not show who is an impostor. `goodbot who update` fetches the current ones. Nothing else is
    sent over the network, except with --reverse-dns.

    Your own records come before the bundled ones: tables [[robot]] in goodbot.toml, and files such as
    ~/.config/goodbot/robots/mine.toml. A record needs name and purpose; docs/how-to/who.md lists the other fields. A
    file may also have tables [[list]] with the name and the url of an address list.

    With --json: a list, one object for each USER-AGENT. With --list, `from` is the file of your record, or bundled.

    Exit status: 0: every USER-AGENT is verified or declared, or --list is done; 1: at least one USER-AGENT is an
    impostor or unknown; 2: bad input.
    """
    list_name = list_name or old_list_name
    modes = [bool(user_agents), listing, source is not None]
    if sum(modes) != 1:
        raise InputError("give one of: a USER-AGENT, --list, update (goodbot who --help)")
    _refuse(address and not user_agents, "--ip goes with a USER-AGENT")
    _refuse(purpose and not listing, "--purpose goes with --list")
    _refuse(list_name and source is None, "--address-list goes with --refresh")
    _refuse(reverse_dns and address is None, "--reverse-dns needs --ip")
    _refuse(nameserver and not reverse_dns, "--nameserver goes with --reverse-dns")
    _refuse("update" in user_agents, "put update directly after who: goodbot who update")
    registry = load_registry()
    if listing:
        return _list(purpose, registry, as_json)
    if source is not None:
        return _refresh(source, list_name, registry, as_json)
    return _who(list(_values(user_agents)), address, (reverse_dns, nameserver), registry, as_json)


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


def _who(
    user_agents: list[str], address: str | None, dns: tuple[bool, str | None], registry: Registry, as_json: bool
) -> int:
    if address is not None:
        try:
            parse_address(address)
        except ValueError as error:
            raise InputError(f"--ip must be an IPv4 or IPv6 address, not {address!r}") from error
    book, today = address_book(registry), datetime.now(UTC).date()
    found = [(user_agent, identify(user_agent, address, book, today, registry)) for user_agent in user_agents]
    asked, server = dns
    if asked and address is not None:
        found = run_async(partial(_confirmed, found, address, server))
    if as_json:
        write_json([identity_json(user_agent, address, identity, registry) for user_agent, identity in found])
    else:
        print_identities(found, registry)
    return 0 if all(identity.tier in ("verified", "declared") for _, identity in found) else 1


async def _confirmed(found: list[Found], address: str, server: str | None) -> list[Found]:
    from goodbot.one_shot import reverse_lookup  # noqa: PLC0415  (only who asks for it needs the network's modules)

    lookup = reverse_lookup([server] if server else ())
    return [(user_agent, await confirm(identity, address, lookup)) for user_agent, identity in found]


def _list(purpose: str | None, registry: Registry, as_json: bool) -> int:
    chosen = [robot for robot in registry.robots if purpose in (None, robot.purpose)]
    if as_json:
        write_json(robots_json(chosen, registry))
    else:
        print_robots(chosen)
    return 0


def _refresh(source: str, list_name: str | None, registry: Registry, as_json: bool) -> int:
    result = import_list(source, list_name, registry)
    if as_json:
        write_json(imported_json(result))
    else:
        print_imported(result)
    return 0
