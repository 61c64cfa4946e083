"""Reports of `goodbot watch --robots --json`, made by hand."""

import json
from typing import Any, Final

GENUINE_GOOGLE: Final = "66.249.66.1"

RULE: Final = {
    "line": 12,
    "rule": "Disallow: /private/",
    "group": ["GPTBot"],
    "copy_at": 1_793_000_000.0,
    "requests": 36,
    "bytes": 12_000,
    "first": 1_793_100_000.0,
    "last": 1_793_200_000.0,
    "log_lines": [f'20.171.206.{n} - - [27/Oct/2026] "GET /private/{n} HTTP/1.1" 200 5' for n in range(1, 9)],
}


def robot(name: str, tier: str = "verified", disallowed: int | None = 0, **more: Any) -> dict[str, Any]:
    """Returns a robot as a report has it."""
    return {
        "name": name,
        "tier": tier,
        "requests": 1204,
        "bytes": 5_000_000,
        "disallowed": disallowed,
        "period": {"first": 1_793_100_000.0, "last": 1_793_200_000.0},
        "addresses": {"count": 8, "exact": True},
        "busiest_addresses": [{"address": "198.51.100.7", "requests": 9}],
        "user_agents": [{"user_agent": f"{name}/1.0", "requests": 9}],
        "evidence": [f"evidence for {name}"],
        "unknown": {"key": [1, None]},
        **more,
    }


BROKEN: Final = {"value": 0.4, "low": 0.3, "high": 0.5}
"""The share of a limit that is certainly broken."""
KEPT: Final = {"value": 0.1, "low": 0.02, "high": 0.4}
"""The share of a limit that may have been kept."""


def obedience(user_triggered: bool = False) -> dict[str, Any]:
    return {
        "agent": "GPTBot",
        "user_triggered": user_triggered,
        "judged": 1204,
        "share": {"value": 0.0299, "low": 0.021, "high": 0.042},
        "rules": [RULE],
        "crawl_delay": [{"asked_s": 10.0, "gaps": 100, "short": 40, "share": BROKEN}],
        "request_rate": [{"documents": 1, "seconds": 5, "windows": 10, "exceeded": 3, "share": BROKEN}],
        "visit_time": {"requests": 90, "outside": 40, "share": BROKEN, "log_lines": ["one line"]},
        "robots_txt": {"fetches": 0, "first": None, "before": 0},
    }


def almost_obedient() -> dict[str, Any]:
    """Returns the obedience of a robot that broke nothing for certain."""
    return {
        **obedience(),
        "rules": [],
        "crawl_delay": [{"asked_s": 10.0, "gaps": 10, "short": 1, "share": KEPT}],
        "request_rate": [{"documents": 1, "seconds": 5, "windows": 10, "exceeded": 1, "share": KEPT}],
        "visit_time": {"requests": 10, "outside": 1, "share": KEPT, "log_lines": ["one line"]},
        "nofollow": {"followed": 0, "log_lines": []},
    }


REPORT: Final[dict[str, Any]] = {
    "lines": 5000,
    "robots": [
        robot("GPTBot", disallowed=36, obedience=obedience()),
        robot("CCBot", "declared"),
        robot("ChatGPT-User", disallowed=7, obedience=obedience(user_triggered=True)),
        robot(
            "Googlebot",
            "impostor",
            disallowed=9,
            busiest_addresses=[
                {"address": address, "requests": 1}
                for address in (
                    "203.0.113.9",
                    "2001:db8::1",
                    "10.0.0.1",
                    "203.0.113.0/24",
                    "*.example.org",
                    "20.171.206.5",
                )
            ],
        ),
    ],
    "undeclared": [
        {"address": "192.0.2.1", "verdict": "certain", "members": []},
        {"address": "192.0.2.128/28", "verdict": "likely", "members": ["192.0.2.129", "192.0.2.130"]},
        {"address": "192.0.2.3", "verdict": "possible", "members": []},
    ],
    "robots_txt": {"since": 1_793_000_000.0},
}
TEXT: Final = json.dumps(REPORT)
