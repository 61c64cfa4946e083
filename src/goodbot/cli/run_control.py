"""Pauses, resumes or stops a running crawl: the common part of `goodbot pause`, `resume` and `stop`."""

from pathlib import Path
from typing import Final, Literal

from goodbot.cli.printing import say_folded, write_json
from goodbot.crawl_admin import open_control
from goodbot.human import counted, in_shell
from goodbot.live import LiveStatus
from goodbot.robot.crawl.remote_control import RemoteControl

Order = Literal["pause", "resume", "stop"]
State = Literal["running", "paused", "stopping", "stopped", "not running"]

_REACHED: Final[dict[Order, tuple[State, ...]]] = {
    "pause": ("paused",),
    "resume": ("running",),
    "stop": ("stopping", "stopped"),
}


def give_order(folder: Path, order: Order, *, as_json: bool) -> None:
    """Sends the order to the crawl in `folder`, and prints the result."""
    control = open_control(folder)
    is_running = control.send(order)
    live = control.live() if is_running else None
    state = _state(control, live) if is_running else "not running"
    if as_json:
        in_flight = live.in_flight if live is not None else 0
        write_json({"done": state in _REACHED[order], "state": state, "in_flight": in_flight})
    else:
        say_folded(_line(folder, order, state, live))


def _state(control: RemoteControl, live: LiveStatus | None) -> State:
    if live is None:
        return "stopping" if control.is_running() else "stopped"
    return live.pace


def _line(folder: Path, order: Order, state: State, live: LiveStatus | None) -> str:
    if state == "not running":
        start = f"; start it with: goodbot crawl --into {in_shell(folder)}" if order == "resume" else ""
        return f"no crawl is running in {folder}{start}"
    if live is None:
        return state
    if state == "stopping":
        return f"stopping: {_in_flight(live)}"
    if order == "pause":
        return f"paused: {_in_flight(live)}; `goodbot resume` resumes it, `goodbot stop` stops it"
    return f"running: {counted(live.to_fetch, 'URL')} to fetch"


def _in_flight(live: LiveStatus) -> str:
    return f"{live.in_flight} in flight, to finish first" if live.in_flight else "nothing is in flight"
