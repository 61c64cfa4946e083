"""The messages that docs/database.md quotes under "When something goes wrong"."""

import re
from pathlib import Path
from typing import Final

PAGE: Final = (Path(__file__).parents[2] / "docs" / "database.md").read_text(encoding="utf-8")
_SECTION: Final = PAGE.partition("## When something goes wrong")[2].partition("\n## ")[0]
QUOTES: Final = tuple(quote for quote in re.findall("`([^`]+)`", _SECTION) if len(quote.split()) > 3)


def quotes_in(line: str) -> list[str]:
    """Returns the quotes that are in a line of output; `…` in a quote is any text."""
    return [quote for quote in QUOTES if re.search(".+".join(map(re.escape, quote.split("…"))), line)]
