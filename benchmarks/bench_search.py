"""Measures how well searches find pages: goodbot compared with SQLite FTS5, bm25s and Tantivy.

    make bench-search DATA=folder MANUALS=folder

DATA has the Cranfield collection in ir/cranfield: questions with judged answers, measured by nDCG@10. MANUALS has
manuals of a local web, each in a folder of its name: the terms of their indexes, and the pages they name, measured by
the mean reciprocal rank (MRR) and the share of first places (S@1). Without either, that part is left out. bm25s is left
out if it is not installed. PARTS=yes also measures goodbot without each part of its ranking.
"""

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

from goodbot.index import PARTS
from search_collections import MANUALS, Collection, cranfield, manual, misspelt
from search_peers import PEERS, Search, index_goodbot, search_goodbot
from settings import Setting, UsageError, choice, installed, save, start

DEPTH = 100
CUT = 10


def _folder(text: str) -> Path | None:
    if text and not Path(text).is_dir():
        raise ValueError(text)
    return Path(text) if text else None


DATA = Setting("DATA", "", "where ir/cranfield is", "a folder", _folder)
ROOT = Setting("MANUALS", "", "where the manuals are", "a folder", _folder)
NAMES = choice("COLLECTIONS", f"cranfield,{','.join(MANUALS)}", "what is searched", ["cranfield", *MANUALS])
WITHOUT = choice("PARTS", "no", "measures without each part of the ranking, too", ["no", "yes"])


def collections() -> Iterator[Collection]:
    """Reads the collections that are there."""
    data, root = DATA.value(), ROOT.value()
    for name in NAMES.value():
        if name == "cranfield":
            if data is not None:
                yield cranfield(data)
        elif root is not None and (root / name).is_dir():
            yield manual(name, root)


def ndcg(found: list[str], relevant: dict[str, int]) -> float:
    """Returns nDCG@10 with linear gains (Järvelin and Kekäläinen 2002)."""
    gained = sum(relevant.get(one, 0) / math.log2(rank + 1) for rank, one in enumerate(found[:CUT], start=1))
    grades = sorted(relevant.values(), reverse=True)[:CUT]
    most = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
    return gained / most if most else 0.0


def reciprocal_rank(found: list[str], relevant: dict[str, int]) -> float:
    """Returns 1 / the rank of the first relevant document, 0 if none is found."""
    return next((1 / rank for rank, one in enumerate(found, start=1) if relevant.get(one, 0) > 0), 0.0)


def measure(search: Search, collection: Collection) -> dict[str, float]:
    """Returns the means of nDCG@10, reciprocal rank and first places."""
    judged = {query: grades for query, grades in collection.relevant.items() if any(grades.values())}
    runs = [(search(collection.queries[query], DEPTH), grades) for query, grades in judged.items()]
    ranks = [reciprocal_rank(found, grades) for found, grades in runs]
    return {
        "ndcg10": sum(ndcg(found, grades) for found, grades in runs) / len(runs),
        "mrr": sum(ranks) / len(ranks),
        "s1": sum(rank == 1.0 for rank in ranks) / len(ranks),
    }


def _row(name: str, measured: dict[str, float]) -> dict[str, float]:
    row = {key: round(value, 4) for key, value in measured.items()}
    print(f"  {name:<22} nDCG@10 {row['ndcg10']:.3f}  MRR {row['mrr']:.3f}  S@1 {row['s1']:.3f}", flush=True)
    return row


def main() -> int:
    """Prints a row for each program and collection, and writes all figures as JSON."""
    figures: dict[str, dict[str, dict[str, float]]] = {}
    peers = [name for name in PEERS if name != "bm25s" or installed(["bm25s"])]
    for collection in collections():
        asked = [collection] if collection.name == "cranfield" else [collection, misspelt(collection)]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            index_goodbot(collection.documents, folder / "goodbot")
            searches = {"goodbot": search_goodbot(folder / "goodbot")}
            searches |= {name: PEERS[name](collection.documents, folder) for name in peers}
            if WITHOUT.value() == ["yes"]:
                searches |= {f"without {part}": search_goodbot(folder / "goodbot", part) for part in PARTS}
            for queries in asked:
                print(f"{queries.name}: {len(queries.documents):,} documents, {len(queries.relevant)} queries")
                rows = figures.setdefault(queries.name, {})
                for name, search in searches.items():
                    rows[name] = _row(name, measure(search, queries))
    if not figures:
        raise UsageError("nothing to search: set DATA or MANUALS")
    save("search", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, [DATA, ROOT, NAMES, WITHOUT], main))
