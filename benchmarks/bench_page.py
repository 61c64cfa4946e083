"""Measures the CPU time to read a page: goodbot, with and without text, compared with lxml and selectolax.

    make bench-page CORPUS=folder-of-html-files

Without CORPUS the benchmark generates pages. Each program gets the same bytes and does the same job: it determines the
encoding, title, META, canonical URL, the distinct resolved links with their anchors, and the text without scripts and
styles. lxml and selectolax resolve links with `goodbot.url.resolve`. If one of them is not installed, it is left out.
"""

import random
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from goodbot.page import read_page
from goodbot.url import Url, resolve
from goodbot.values import Response
from settings import UsageError, corpus, installed, save, start

CORPUS = corpus("**/*.htm*", "HTML files to read instead of the generated pages")
LIMIT_BYTES = 16 << 20
MOST_PAGES = 1000
ROUNDS = 5
AT = "http://127.0.0.1:8800/"
HTML = (("Content-Type", "text/html"),)

Read = Callable[[Url, bytes], object]


def goodbot(text: bool) -> Read:
    """Reads pages with `read_page`, as a crawl with or without an index does."""
    return lambda url, body: read_page(url, Response(200, HTML, body), "goodbot", LIMIT_BYTES, text=text)


def lxml() -> Read:
    """Reads pages with lxml (libxml2)."""
    html = import_module("lxml.html")

    def read(url: Url, body: bytes) -> object:
        tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
        metas = [(meta.get("name"), meta.get("content")) for meta in tree.iter("meta")]
        head = [(link.get("rel"), link.get("href")) for link in tree.iter("link")]
        found: dict[Url, str] = {}
        for anchor in tree.iter("a"):
            if (href := anchor.get("href")) is not None and (target := resolve(url, href)) and not found.get(target):
                found[target] = " ".join(anchor.text_content().split())
        for element in tree.xpath("//script|//style|//template|//comment()"):
            if element.getparent() is not None:
                element.drop_tree()
        return tree.findtext(".//title"), metas, head, found, " ".join(" ".join(tree.itertext()).split())

    return read


def selectolax() -> Read:
    """Reads pages with selectolax (Lexbor)."""
    parser = import_module("selectolax.lexbor").LexborHTMLParser

    def read(url: Url, body: bytes) -> object:
        tree = parser(body)
        metas = [(meta.attributes.get("name"), meta.attributes.get("content")) for meta in tree.css("meta")]
        head = [(link.attributes.get("rel"), link.attributes.get("href")) for link in tree.css("link")]
        found: dict[Url, str] = {}
        for anchor in tree.css("a[href]"):
            target = resolve(url, anchor.attributes["href"] or "")
            if target and not found.get(target):
                found[target] = " ".join(anchor.text().split())
        title = tree.css_first("title")
        tree.strip_tags(["script", "style", "template"])
        text = tree.body.text(separator=" ") if tree.body else ""
        return title and title.text(), metas, head, found, " ".join(text.split())

    return read


def made(count: int) -> Iterator[tuple[Url, bytes]]:
    """Generates pages of one site. Each has the same menu of 40 links, and 30 items, some of them long, with one link
    each."""
    choose = random.Random(1)
    words = "robot crawler server page index link host path rule delay of the and to in is it".split(" ")  # noqa: SIM905
    menu = "".join(f'<li class="item"><a href="/topic/{n}/">Topic {n}</a></li>' for n in range(40))
    for number in range(count):
        items = "".join(
            f'<div class="card c-{n}"><h3><a href="../{choose.randrange(10**6)}.html#top">About {n}</a></h3>'
            f'<p><span class="date">today</span> {" ".join(choose.choices(words, k=choose.choice([20, 60])))}</p></div>'
            for n in range(30)
        )
        page = (
            f"<!doctype html><html lang=en><head><title>Page {number}</title><meta name=robots content=noarchive>"
            f"<link rel=canonical href=/p/{number}.html><script>let x = '<a href=no>';</script></head><body>"
            f"<nav><ul>{menu}</ul></nav><main>{items}</main></body></html>"
        )
        yield Url(f"{AT}p/{number}.html"), page.encode()


def read_corpus(folder: Path) -> Iterator[tuple[Url, bytes]]:
    """Reads a sample of the HTML files under `folder`."""
    files = sorted(path for path in folder.rglob("*.htm*") if path.is_file())
    random.Random(1).shuffle(files)
    for path in files[:MOST_PAGES]:
        if url := resolve(Url(AT), path.relative_to(folder).as_posix()):
            yield url, path.read_bytes()


def best_cpu_us(read: Read, pages: list[tuple[Url, bytes]]) -> float:
    """Returns CPU µs per page in the best round."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for url, body in pages:
            read(url, body)
        best = min(best, time.process_time() - began)
    return best / len(pages) * 1e6


def main() -> int:
    """Prints the table and writes it as JSON."""
    folder = CORPUS.value()
    pages = list(read_corpus(folder) if folder else made(200))
    if not pages:
        raise UsageError(f"CORPUS: the names of the files in {str(folder)!r} make no URLs; rename them")
    mean = sum(len(body) for _, body in pages) / len(pages) / 1000
    print(f"{len(pages)} pages of {mean:.0f} kB (mean), best of {ROUNDS} rounds, CPU µs per page")
    took = {name: round(best_cpu_us(read, pages)) for name, read in readers()}
    for name, us in took.items():
        print(f"{name:<24}{us:>8}{us / took['goodbot']:>8.1f} ×")
    save("page", {"pages": len(pages), "mean_kb": round(mean, 1), "cpu_us": took})
    return 0


def readers() -> Iterator[tuple[str, Read]]:
    """Yields our readers, and those of the installed peers."""
    yield "goodbot", goodbot(text=True)
    yield "goodbot, without text", goodbot(text=False)
    peers = {"selectolax": selectolax, "lxml": lxml}
    for name in installed(peers):
        yield f"{name} {version(name)}", peers[name]()


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (CORPUS,), main))
