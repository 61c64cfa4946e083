"""Plans of studies, and logs of robots in them."""

from datetime import UTC, datetime

from goodbot.errors import InputError
from goodbot.watch.study.plan import StudyPlan, parse_plan
from watch.labelled_log import address_of

START = int(datetime(2026, 9, 7, tzinfo=UTC).timestamp())
DAY = 86_400
HEAD = 'start = 2026-09-07\nurl = "https://www.example.org"\n'
PHASES = """
[[phase]]
name = "open"
[[phase]]
name = "delay"
crawl_delay = 10
[[phase]]
name = "closed"
disallow = ["/folder/"]
"""

FILES = {
    "own.txt": b"# ours\nUser-agent: *\nDisallow: /private/\n",
    "latin.txt": b"# \xe9\nUser-agent: *\n",
    "page.html": b"<!doctype html><title>x</title>",
}

AGENTS = {
    "GPTBot": "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)",
    "CCBot": "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "ChatGPT-User": "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
    "SemrushBot": "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
}
IN_THE_LOG = ("GPTBot", "CCBot", "SemrushBot")
ADDRESSES = {robot: address_of(robot) or "192.0.2.1" for robot in AGENTS}


def read(name: str) -> bytes:
    """Reads one of `FILES`."""
    if name not in FILES:
        raise InputError(f"cannot read {name}: No such file or directory")
    return FILES[name]


def plan_of(text: str) -> StudyPlan:
    """Returns the plan with this text."""
    return parse_plan(text.encode(), "plan.toml", read)


def line(at: float, path: str, robot: str) -> str:
    """Returns a line of a log."""
    when = datetime.fromtimestamp(at, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'{ADDRESSES[robot]} - - [{when}] "GET {path} HTTP/1.1" 200 100 "-" "{AGENTS[robot]}"\n'


def study_log() -> str:
    """Returns a log of three weeks: GPTBot obeys, SemrushBot does not, CCBot never wants the folder. GPTBot fetches
    every 5 s, and every 12 s if asked; the others every 5 s always."""
    lines = []
    for week in range(3):
        for day in range(7):
            for robot in IN_THE_LOG:
                at = START + (7 * week + day) * DAY + 3600.0
                lines.append((at, line(at, "/robots.txt", robot)))
                for number in range(40):
                    at += 12 if robot == "GPTBot" and week == 1 else 5
                    wants = robot != "CCBot" and number % 4 == 0 and (robot != "GPTBot" or week != 2 or day == 0)
                    path = f"/folder/{number}" if wants else f"/page/{number}"
                    lines.append((at, line(at, path, robot)))
    return "".join(text for _, text in sorted(lines))
