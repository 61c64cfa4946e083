"""The address lists that come with goodbot, dated today: a list shows impostors for 90 days only, tests must pass
later too."""

import re
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import goodbot

_DATE = re.compile(r"^# \d{4}-\d\d-\d\d$", re.MULTILINE)


def bundled_list(name: str) -> str:
    """Returns the text of a list."""
    return (files(goodbot) / "registry" / "ranges" / f"{name}.txt").read_text(encoding="utf-8")


def write_current_lists(data: Path) -> Path:
    """Writes all lists into a folder of data (`XDG_DATA_HOME`), as `goodbot who update` does. Returns the folder."""
    lists = data / "goodbot" / "addresses"
    lists.mkdir(parents=True)
    today = f"# {datetime.now(UTC).date().isoformat()}"
    for file in (files(goodbot) / "registry" / "ranges").iterdir():
        if file.name.endswith(".txt"):
            (lists / file.name).write_text(_DATE.sub(today, file.read_text(encoding="utf-8"), count=1))
    return data
