"""What `goodbot pause`, `resume` and `stop` have in common."""

from pathlib import Path
from typing import Literal

from goodbot.cli.printing import say
from goodbot.crawl_admin import open_control
from goodbot.human import counted
from goodbot.live import LiveStatus
from goodbot.robot.crawl.remote_control import RemoteControl


def tell(folder: Path, kind: Literal["pause", "resume", "stop"]) -> None:
    """Has the crawl in `folder` do it, and says what came of it."""
    desk = open_control(folder)
    if not desk.tell(kind):
        say(f"no crawl is running in {folder}" + _instead(kind, folder))
        return
    say(_what_came(desk, kind))


def _instead(kind: str, folder: Path) -> str:
    return f"; start it with: goodbot crawl --into {folder}" if kind == "resume" else ""


def _what_came(desk: RemoteControl, kind: str) -> str:
    live = desk.live()
    if live is None:
        return "stopping" if desk.is_running() else "stopped"
    if live.pace == "stopping":
        return f"stopping: {_in_flight(live)}"
    if kind == "pause":
        return f"paused: {_in_flight(live)}; `goodbot resume` resumes it, `goodbot stop` stops it"
    return f"running: {counted(live.to_fetch, 'URL')} to fetch"


def _in_flight(live: LiveStatus) -> str:
    return f"{live.in_flight} in flight, to finish first" if live.in_flight else "nothing is in flight"
