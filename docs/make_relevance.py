"""Writes the tables of docs/relevance.md from a run of `make bench-search PARTS=yes`.

python docs/make_relevance.py benchmarks/results/search.json
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


def tables(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """Returns the tables of programs and of parts."""
    collections = list(figures)
    lines = ["| program | " + " | ".join(collections) + " |", "|---|" + "---:|" * len(collections)]
    for program, name in PEERS.items():
        row = (f"{figures[one][program][measure_of(one)]:.3f}" for one in collections)
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    lines += ["", "| part | what it does | " + " | ".join(collections) + " |", "|---|---|" + "---:|" * len(collections)]
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
    return "\n".join(lines)


def main() -> int:
    """Replaces the tables."""
    figures = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(
        f"{before}{BEGIN}\n{tables(figures['collections'])}\n{END}{after}",
        encoding="utf-8",
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
