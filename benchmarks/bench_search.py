"""Measures how well searches find pages: goodbot compared with SQLite FTS5, bm25s and Tantivy.

    make bench-search DATA=folder MANUALS=folder PACKAGES=folder CRAWL=folder

DATA has the Cranfield collection in ir/cranfield: questions with judged answers, for which nDCG@10 and MAP tell most.
MANUALS has manuals of a local web, each in a folder of its name: the terms of their indexes, as they are and with a
wrong letter, and the pages that they name; the mean reciprocal rank (MRR) and the share of first places (S@1) tell
most. PACKAGES has the files of Debian's packages aptitude-doc-ru, debian-faq, debian-faq-ru and debian-policy
(`dpkg -x`), the pages that the known items in DATA, ir/known_items_open.jsonl, ask for. CRAWL has a crawl of the whole
local web without the index pages of the manuals:

    goodbot crawl http://127.0.0.10:8800/ --into folder --scope all --include 'http://127.0.0.*' --allow-private \\
      --exclude '*/genindex*' --exclude '*/bookindex*' --workers 2

It is searched for terms of the manuals, and for titles of pages that are in several languages. The parts of folders
that are not given are left out, and bm25s if it is not installed. PARTS=yes also measures goodbot without each part of
its ranking.
"""

import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from goodbot.index import PARTS
from search_collections import MANUALS, Collection, cranfield, debian, manual, misspelt, translations, web
from search_peers import PEERS, Search, index_goodbot, search_goodbot
from settings import Setting, UsageError, choice, installed, save, start

DEPTH = 100


def _folder(text: str) -> Path | None:
    if text and not Path(text).is_dir():
        raise ValueError(text)
    return Path(text) if text else None


def _crawl(text: str) -> Path | None:
    if text and not (Path(text) / "index" / "meta.json").is_file():
        raise ValueError(text)
    return Path(text) if text else None


DATA = Setting("DATA", "", "where ir/cranfield is", "a folder", _folder)
ROOT = Setting("MANUALS", "", "where the manuals are", "a folder", _folder)
FILES = Setting("PACKAGES", "", "where the files of Debian's packages are", "a folder", _folder)
CRAWL = Setting("CRAWL", "", "the crawl of the whole local web", "the folder of a crawl with an index", _crawl)
COLLECTIONS = ["cranfield", "debian", *MANUALS, "web", "translations"]
NAMES = choice("COLLECTIONS", ",".join(COLLECTIONS), "what is searched", COLLECTIONS)
WITHOUT = choice("PARTS", "no", "measures without each part of the ranking, too", ["no", "yes"])


def collections() -> Iterator[Collection]:
    """Reads the collections that are there."""
    data, root, packages, crawl = DATA.value(), ROOT.value(), FILES.value(), CRAWL.value()
    for name in NAMES.value():
        match name:
            case "cranfield" if data:
                yield cranfield(data)
            case "debian" if data and packages:
                yield debian(data, packages)
            case "web" if root and crawl:
                yield web(crawl, root)
            case "translations" if crawl:
                yield translations(crawl)
            case _ if name in MANUALS and root and (root / name).is_dir():
                yield manual(name, root)


def measure(search: Search, collection: Collection) -> dict[str, float]:
    """Returns nDCG@10, MAP, MRR and the share of first places (S@1), as ir-measures computes them."""
    measures = import_module("ir_measures")
    judged = {query: grades for query, grades in collection.relevant.items() if any(grades.values())}
    run = {
        number: {
            found: float(DEPTH - rank)
            for rank, found in enumerate(
                search(collection.queries[number], DEPTH, collection.languages.get(number, ()))
            )
        }
        for number in judged
    }
    wanted = {"ndcg10": measures.nDCG @ 10, "map": measures.AP, "mrr": measures.RR, "s1": measures.Success @ 1}
    found = measures.calc_aggregate(list(wanted.values()), judged, run)
    return {name: float(found[one]) for name, one in wanted.items()}


def _row(name: str, measured: dict[str, float]) -> dict[str, float]:
    row = {key: round(value, 4) for key, value in measured.items()}
    values = f"nDCG@10 {row['ndcg10']:.3f}  MAP {row['map']:.3f}  MRR {row['mrr']:.3f}  S@1 {row['s1']:.3f}"
    print(f"  {name:<22} {values}", flush=True)
    return row


def main() -> int:
    """Prints a row for each program and collection, and writes all figures as JSON."""
    figures: dict[str, dict[str, dict[str, float]]] = {}
    peers = [name for name in PEERS if name != "bm25s" or installed(["bm25s"])]
    for collection in collections():
        asked = [collection] if collection.name not in MANUALS else [collection, misspelt(collection)]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            index = collection.index or folder / "goodbot"
            if collection.index is None:
                index_goodbot(collection.documents, index)
            searches = {"goodbot": search_goodbot(index)}
            searches |= {name: PEERS[name](collection.documents, folder) for name in peers}
            if WITHOUT.value() == ["yes"]:
                searches |= {f"without {part}": search_goodbot(index, part) for part in PARTS}
            for queries in asked:
                print(f"{queries.name}: {len(queries.documents):,} documents, {len(queries.relevant)} queries")
                rows = figures.setdefault(queries.name, {})
                for name, search in searches.items():
                    rows[name] = _row(name, measure(search, queries))
    if not figures:
        raise UsageError("nothing to search: set DATA, MANUALS or CRAWL")
    save("search", {"collections": figures})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, [DATA, ROOT, FILES, CRAWL, NAMES, WITHOUT], main))
