"""Writes the tables of docs/relevance.md: that of programs from a run of `make bench-search`, that of the parts of the
ranking from one with PARTS=yes, which may be the same.

python docs/make_relevance.py benchmarks/results/search.json benchmarks/results/search_parts.json
"""

import json
import sys
from pathlib import Path
from typing import Final

from goodbot.index import PARTS

PAGE: Final = Path(__file__).parent / "relevance.md"
BEGIN: Final = "<!-- tables: begin -->"
END: Final = "<!-- tables: end -->"
PEERS: Final = {
    "goodbot": "goodbot",
    "bm25s": "bm25s",
    "sqlite-fts5": "SQLite FTS5",
    "tantivy-1": "Tantivy, one field",
    "tantivy-2": "Tantivy, two fields",
}


def measure_of(collection: str) -> str:
    """Returns the measure that tells most of a collection."""
    return "ndcg10" if collection == "cranfield" else "mrr"


Figures = dict[str, dict[str, dict[str, float]]]
"""Collection, then program, then measure."""


def programs_table(figures: Figures) -> list[str]:
    """Returns the table of programs."""
    collections = list(figures)
    lines = ["| program | " + " | ".join(collections) + " |", "|---|" + "---:|" * len(collections)]
    for program, name in PEERS.items():
        row = (f"{figures[one][program][measure_of(one)]:.3f}" for one in collections)
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    return lines


def parts_table(figures: Figures) -> list[str]:
    """Returns the table of parts."""
    collections = list(figures)
    lines = ["| part | what it does | " + " | ".join(collections) + " |", "|---|---|" + "---:|" * len(collections)]
    for part, about in PARTS.items():
        gains = (
            figures[one]["goodbot"][measure_of(one)] - figures[one][f"without {part}"][measure_of(one)]
            for one in collections
        )
        lines.append(
            f"| `{part}` | {about} | "
            + " | ".join(f"{gain:+.3f}".replace("+0.000", "0").replace("-0.000", "0") for gain in gains)
            + " |"
        )
    return lines


def main() -> int:
    """Replaces the tables."""
    programs, parts = (json.loads(Path(name).read_text(encoding="utf-8"))["collections"] for name in sys.argv[1:])
    tables = "\n".join([*programs_table(programs), "", *parts_table(parts)])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
