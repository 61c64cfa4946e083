"""Measures the CPU time of goodbot, Protego, robotspy and urllib.robotparser to parse robots.txt files and match URLs.

    make bench-exclusion CORPUS=/folder/of/robots.txt/files

There are four operations. parse: parse one file. cold: parse one file and match one URL. match: match each URL with
`allows(url, agent)` against a parsed file. cached: the same with the function that the program has for many URLs
(goodbot: `matcher(agent)`, made before the clock starts; the others have only one function). All programs match the
same URLs for the same agents, in one process, one after another. Programs that take text or lines get the files decoded
and split in advance (goodbot takes bytes). A figure is the best CPU time of several rounds. CORPUS is a folder of
`*.txt` files; without it only the two kinds of files that this program generates are measured.
"""

import gc
import random
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.robotparser import RobotFileParser

from goodbot.exclusion import RobotsTxt
from settings import corpus, installed, save, start

CORPUS = corpus("*.txt", "robots.txt files, measured beside the generated ones")

AGENTS = ("Googlebot", "GPTBot", "goodbot")
URLS_PER_FILE = 20
ROUNDS, ROUND_S, BUDGET_S = 7, 0.04, 1.5
OPERATIONS = ("parse", "cold", "match", "cached")
Answer = Callable[[str], bool]


@dataclass(frozen=True)
class Program:
    """One program, called as its documentation says."""

    name: str
    prepare: Callable[[bytes], Any]
    parse: Callable[[Any], Any]
    allows: Callable[[Any, str, str], bool]
    bind: Callable[[Any, str], Answer] | None = None

    def bound(self, parsed: Any, agent: str) -> Answer:
        """Returns the function to call in a hot loop."""
        if self.bind:
            return self.bind(parsed, agent)
        return lambda url: self.allows(parsed, url, agent)


@dataclass(frozen=True)
class Files:
    """Files of one kind, and the URLs to match against each."""

    name: str
    bodies: list[bytes]
    urls: list[list[str]]

    @property
    def lines(self) -> int:
        """Returns the number of lines in all files."""
        return sum(body.count(b"\n") + 1 for body in self.bodies)


@dataclass(frozen=True)
class Row:
    """The figures of one operation on one kind of files by one program."""

    files: str
    operation: str
    program: str
    cpu_s: float
    count: int
    ratio: float


def text_of(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace")


def parse_with_urllib(lines: list[str]) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(lines)
    return parser


def programs() -> list[Program]:
    """Returns the programs that are installed, goodbot first."""
    peers = {"protego": protego, "robotspy": robotspy}
    return [
        Program(
            "goodbot",
            lambda body: body,
            RobotsTxt.parse,
            lambda parsed, url, agent: parsed.allows(url, agent),
            lambda parsed, agent: parsed.matcher(agent).allows,
        ),
        *(peers[name]() for name in installed(peers)),
        Program(
            "urllib.robotparser",
            lambda body: text_of(body).splitlines(),
            parse_with_urllib,
            lambda parsed, url, agent: parsed.can_fetch(agent, url),
        ),
    ]


def protego() -> Program:
    parse = import_module("protego").Protego.parse
    name = f"Protego {version('protego')}"
    return Program(name, text_of, parse, lambda parsed, url, agent: parsed.can_fetch(url, agent))


def robotspy() -> Program:
    parse = import_module("robots").RobotsParser.from_string
    name = f"robotspy {version('robotspy')}"
    return Program(name, text_of, parse, lambda parsed, url, agent: parsed.can_fetch(agent, url))


# Files and URLs


def made_file(seed: int, lines: int) -> bytes:
    """Makes a file like those of large sites: some robots disallowed, then one group of rules for all others."""
    choose = random.Random(seed)
    words = ["shop", "search", "cart", "user", "api", "print", "tag", "archive", "login", "news", "item", "media"]
    text = ["# made by bench_exclusion"]
    for name in ("GPTBot", "CCBot", "AhrefsBot", "SemrushBot", "Bytespider"):
        text += [f"User-agent: {name}", "Disallow: /", ""]
    text += ["User-agent: *", "Crawl-delay: 1"]
    while len(text) < lines - 1:
        path = "/" + "/".join(f"{choose.choice(words)}{choose.randrange(1000)}" for _ in range(choose.randrange(1, 5)))
        path += choose.choice(["", "/", "/", ".html", "?id="])
        path = choose.choice([path] * 8 + [f"/*{path}", f"{path}*.pdf$"])
        text.append(f"{'Allow' if choose.random() < 0.15 else 'Disallow'}: {path}")
    return "\n".join([*text, "Sitemap: https://example.com/sitemap.xml"]).encode()


def urls_of(body: bytes, seed: int) -> list[str]:
    """Makes URLs: half from the file's own rules, half like those of a site's pages."""
    choose = random.Random(seed)
    found = re.findall(rb"(?im)^[ \t]*(?:dis)?allow[ \t]*:[ \t]*(/[^\s#]*)", body)
    own = [path.decode("ascii", "ignore").replace("*", "x").rstrip("$") for path in found] or ["/"]
    urls = []
    for number in range(URLS_PER_FILE):
        path = choose.choice(own)
        path += choose.choice(["", "x", "/a.html", "&page=2" if "?" in path else "?page=2"])
        page = f"/{choose.choice(['news', 'shop', 'blog', 'docs'])}/{choose.randrange(10**6)}/a-title-of-a-page.html"
        urls.append("https://www.example.com" + (page if number % 2 else path))
    return urls


def kinds(folder: Path | None) -> list[Files]:
    """Returns the corpus if given, 100 files of 60 lines, and one file of 500 kB."""
    small, large = [made_file(seed, 60) for seed in range(100)], [made_file(0, 15_800)]
    found = [("60 lines", small), ("500 kB", large)]
    if folder:
        bodies = [path.read_bytes() for path in sorted(folder.glob("*.txt")) if path.is_file()]
        found.insert(0, ("corpus", bodies))
    return [Files(name, bodies, [urls_of(body, seed) for seed, body in enumerate(bodies)]) for name, bodies in found]


# Operations


def work(program: Program, files: Files, operation: str) -> tuple[Callable[[], None], int]:
    """Prepares one operation. Returns a function that runs it, and how many operations one call of it makes."""
    inputs = [program.prepare(body) for body in files.bodies]
    if operation == "parse":
        return lambda: parse_all(program, inputs), len(inputs)
    if operation == "cold":
        return lambda: parse_and_match(program, inputs, files.urls), len(inputs)
    parsed = [program.parse(text) for text in inputs]
    count = len(AGENTS) * sum(map(len, files.urls))
    if operation == "match":
        return lambda: match_all(program, parsed, files.urls), count
    bound = [
        (program.bound(file, agent), urls) for file, urls in zip(parsed, files.urls, strict=True) for agent in AGENTS
    ]
    return lambda: match_bound(bound), count


def parse_all(program: Program, inputs: list[Any]) -> None:
    parse = program.parse
    for text in inputs:
        parse(text)


def parse_and_match(program: Program, inputs: list[Any], urls: list[list[str]]) -> None:
    parse, allows, agent = program.parse, program.allows, AGENTS[0]
    for text, (url, *_) in zip(inputs, urls, strict=True):
        allows(parse(text), url, agent)


def match_all(program: Program, parsed: list[Any], urls: list[list[str]]) -> None:
    allows = program.allows
    for file, file_urls in zip(parsed, urls, strict=True):
        for agent in AGENTS:
            for url in file_urls:
                allows(file, url, agent)


def match_bound(bound: list[tuple[Answer, list[str]]]) -> None:
    for allows, urls in bound:
        for url in urls:
            allows(url)


def best_cpu_s(run: Callable[[], None]) -> float:
    """Returns the CPU seconds of one run: the least of several rounds within a time limit."""
    gc.collect()
    gc.disable()
    first = cpu_s_of(run, 1)
    times, loops, began = [first], max(1, int(ROUND_S / max(first, 1e-7))), time.process_time()
    while len(times) <= ROUNDS and time.process_time() - began < BUDGET_S:
        times.append(cpu_s_of(run, loops))
    gc.enable()
    return min(times)


def cpu_s_of(run: Callable[[], None], loops: int) -> float:
    began = time.process_time()
    for _ in range(loops):
        run()
    return (time.process_time() - began) / loops


def measure(files: Files, operation: str, all_programs: list[Program]) -> list[Row]:
    """Returns a row for each program, with the ratio of its time to goodbot's."""
    rows: list[Row] = []
    for program in all_programs:
        run, count = work(program, files, operation)
        cpu_s = best_cpu_s(run)
        ratio = cpu_s / rows[0].cpu_s if rows else 1.0
        rows.append(Row(files.name, operation, program.name, cpu_s, count, ratio))
    return rows


def line_of(rows: list[Row]) -> str:
    """Returns a line: CPU seconds of goodbot and of each peer, and how many times faster goodbot is."""
    ours, *peers = rows
    cells = [
        f"{ours.files:<9} {ours.operation:<7} {ours.count:>7} {1e6 * ours.cpu_s / ours.count:>9.2f} {ours.cpu_s:>9.4f}"
    ]
    return " ".join([*cells, *(f"{peer.cpu_s:>9.4f} {peer.ratio:>7.2f}x" for peer in peers)])


def main() -> int:
    """Prints the table and writes it as JSON."""
    folder = CORPUS.value()
    if not folder:
        print("No CORPUS given: only generated files are measured.")
    measured, all_programs = kinds(folder), programs()
    peers = all_programs[1:]
    print(f"{'':<37}{'CPU s':>7}" + "".join(f" {peer.name:>18}" for peer in peers))
    print(f"{'files':<9} {'what':<7} {'count':>7} {'us each':>9} {'goodbot':>9}", end="")
    print(f" {'CPU s':>9} {'speed-up':>8}" * len(peers))
    rows: list[Row] = []
    for files in measured:
        for operation in OPERATIONS:
            rows += (measured_rows := measure(files, operation, all_programs))
            print(line_of(measured_rows), flush=True)
    described = [
        {"name": f.name, "files": len(f.bodies), "lines": f.lines, "bytes": sum(map(len, f.bodies))} for f in measured
    ]
    for kind in described:
        print(f"{kind['name']}: {kind['files']} files, {kind['lines']} lines, {kind['bytes']} bytes")
    save("exclusion", {"files": described, "rows": [asdict(row) for row in rows]})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (CORPUS,), main))
