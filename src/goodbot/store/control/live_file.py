"""Converts `LiveStatus` to JSON and back; the JSON may come from anyone."""

import json
import math
from typing import Any, Final, get_args

from goodbot.live import CrawlMemory, FetchError, Holding, LiveStatus, ProcessMemory, ProcessRole, RunState

_WHOLE: Final = ("pid", "pages", "bytes", "to_fetch", "in_flight", "hosts", "workers")
_FRACTION: Final = ("started_at", "at", "rate", "mean_rate")

MAX_AWAY_CHARS: Final = 1000


def format_live(live: LiveStatus) -> str:
    """Returns one JSON object on one line."""
    return json.dumps(live_json(live), allow_nan=False) + "\n"


def live_json(live: LiveStatus) -> dict[str, Any]:
    """Returns the status as `status --json` shows it too."""
    return {
        **{name: getattr(live, name) for name in (*_WHOLE, *_FRACTION, "pace", "left_s")},
        "errors": dict(live.errors),
        "troubles": [{"at": item.at, "url": item.url, "kind": item.kind, "why": item.why} for item in live.troubles],
        "memory": _memory_json(live.memory) if live.memory is not None else None,
        "store_away": live.store_away,
    }


def _memory_json(memory: CrawlMemory) -> dict[str, Any]:
    return {
        "bytes": memory.bytes,
        "peak_bytes": memory.peak_bytes,
        "processes": [
            {
                **{name: getattr(process, name) for name in ("role", "pid", "pss_bytes", "rss_bytes")},
                "holdings": {item.name: {"entries": item.entries, "bytes": item.bytes} for item in process.holdings},
            }
            for process in memory.processes
        ],
    }


def parse_live(data: bytes) -> LiveStatus | None:
    """Parses the result of `format_live`; None for anything else."""
    try:
        value = json.loads(data)
        fields: dict[str, Any] = {name: _whole(value[name]) for name in _WHOLE}
        fields |= {name: _fraction(value[name]) for name in _FRACTION}
        return LiveStatus(
            **fields,
            pace=_pace(value["pace"]),
            left_s=None if value["left_s"] is None else _fraction(value["left_s"]),
            errors=tuple((str(kind), _whole(count)) for kind, count in value["errors"].items()),
            troubles=tuple(_trouble(item) for item in value["troubles"]),
            memory=_memory(value.get("memory")),
            store_away=str(value.get("store_away", ""))[:MAX_AWAY_CHARS],
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(value)
    return value


def _fraction(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value < 1e12 or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _pace(value: object) -> RunState:
    if value not in get_args(RunState):
        raise ValueError(value)
    return value  # type: ignore[return-value]


def _trouble(value: Any) -> FetchError:
    return FetchError(_fraction(value["at"]), str(value["url"]), str(value["kind"]), str(value["why"]))


def _memory(value: Any) -> CrawlMemory | None:
    """Parses the memory of a crawl. `value` is None if an older goodbot wrote the file."""
    if value is None:
        return None
    return CrawlMemory(tuple(map(_process, value["processes"])), _size(value["peak_bytes"]))


def _process(value: Any) -> ProcessMemory:
    if value["role"] not in get_args(ProcessRole):
        raise ValueError(value)
    holdings = (
        Holding(str(name), _whole(item["entries"]), _size(item["bytes"])) for name, item in value["holdings"].items()
    )
    sizes = _size(value["pss_bytes"]), _size(value["rss_bytes"])
    return ProcessMemory(value["role"], _whole(value["pid"]), *sizes, tuple(holdings))


def _size(value: object) -> int | None:
    return None if value is None else _whole(value)
