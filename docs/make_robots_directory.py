"""Writes docs/robots-directory.md from the records of `goodbot.registry`; a test fails if they differ."""

from pathlib import Path

from goodbot.registry import OBEYS, PURPOSES, AddressBook, KnownRobot, robots
from goodbot.registry.robot_records import load_records

PAGE = Path(__file__).parent / "robots-directory.md"

HEAD = """# The robots directory

Generated from the records in `src/goodbot/registry/records`, one file per operator. `goodbot who NAME` shows one robot,
`goodbot who --list --json` all of them. Each fact comes from the source that its row links, which was read in the year
shown. A cell is empty if the fact could not be confirmed. If the example in a record is only a token, no full
User-Agent could be confirmed. goodbot recognizes robots without a record by the patterns of
[crawler-user-agents](https://github.com/monperrus/crawler-user-agents) (MIT).

- **token**: the robot's name in robots.txt. *(robots.txt only)*: no robot sends this name; it only controls how pages
  are used.
- **robots.txt**: *yes*: the robot obeys robots.txt, according to the linked page; *named*: it obeys rules that name it,
  but not those for `*`; *no*: it does not obey; empty: not known.
- **verified by**: how to distinguish the robot from programs that only use its name: a list of its addresses (see the
  end of this page), the domain of its reverse DNS names, or signed requests (Web Bot Auth).
"""


def page() -> str:
    """Returns the page."""
    known = robots()
    parts = [HEAD, f"{len(known)} robots of {len({robot.operator for robot in known})} operators.", ""]
    for purpose, meaning in PURPOSES.items():
        chosen = sorted((robot for robot in known if robot.purpose == purpose), key=lambda robot: robot.name.lower())
        if chosen:
            parts += [
                f"## {purpose}",
                "",
                meaning,
                "",
                "| robot | operator | token | robots.txt | verified by | source |",
            ]
            parts += ["|---|---|---|---|---|---|", *map(_row, chosen), ""]
    parts += ["## Address lists", "", "| list | operator | published at | bundled |", "|---|---|---|---|"]
    book = AddressBook()
    for listed in load_records().lists.values():
        bundled = book.get(listed.name)
        state = (
            f"{len(bundled.networks):,} ranges, as of {bundled.as_of}"
            if bundled
            else f"no; fetch it with `goodbot who update {listed.name}`"
        )
        parts.append(f"| `{listed.name}` | {listed.operator} | <{listed.url}> | {state} |")
    return "\n".join([*parts, ""])


def _row(robot: KnownRobot) -> str:
    name = f"[{robot.name}]({robot.documentation})" if robot.documentation else robot.name
    if robot.retired:
        name += f" (retired{f' in {robot.retired_since}' if robot.retired_since else ''})"
    token = f"`{robot.token}`" if robot.token else ""
    if robot.control:
        token += " (robots.txt only)"
    obeys = "" if robot.obeys == "unknown" else f"[{robot.obeys}]({robot.obeys_source})"
    source = f"[{robot.looked_up}]({robot.source})"
    return f"| {name} | {robot.operator} | {token} | {obeys} | {_checks(robot)} | {source} |"


def _checks(robot: KnownRobot) -> str:
    ways = [f"`{name}`" for name in robot.address_lists]
    ways += [f"DNS `{domain}`" for domain in robot.reverse_dns]
    if robot.signatures:
        ways.append(f"Web Bot Auth {robot.signatures}")
    return ", ".join(ways)


def main() -> None:
    """Writes the page."""
    assert set(OBEYS) == {"yes", "named", "no", "unknown"}
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
