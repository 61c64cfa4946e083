"""Real robots.txt files: the fast matcher against the naive one, and against Google's own parser where it is installed.

    PYTHONPATH=src:tests python -m exclusion.corpus_compare CORPUS [--dialect D]... [--files N] [--agents A,B,C]

For people, not a test: CORPUS is a folder of robots.txt files (`*.txt`). Each is asked about URLs made from its own
patterns, under each agent, in each dialect. Google's parser is the C++ one, in the package `jwm.robotstxt` (installed,
or in a folder named with --google). Exit status 1 if the fast and the naive matcher differ, or `google` and Google do
(but for /robots.txt itself, which the dialect always allows and Google's parser treats like any other path).
"""

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from zlib import crc32

from exclusion.robotstxt.naive import google_groups, google_token, naive_allows, path_of, token_of
from goodbot.exclusion import DIALECTS, RobotsTxt

URLS_PER_FILE = 20
ROBOTS_ITSELF = "/robots.txt is always allowed"
LINES = "how lines are read"
PATHS = "how paths are compared"
FAILING = {f"google against Google's parser: {kind}" for kind in (LINES, PATHS)}
Ask = Callable[[bytes, str, str], bool]


def patterns_of(body: bytes) -> list[str]:
    """The paths of the file's rules, in any spelling of the field."""
    found = re.findall(rb"(?i)^[ \t]*(?:dis|al)[a-z]*[ \t]*:?[ \t]*([/*][^\r\n#]*)", body, re.MULTILINE)
    return [path.decode("utf-8", "replace").strip() for path in dict.fromkeys(found)]


def forms(path: str, choose: random.Random) -> Iterator[str]:
    """A path that the pattern matches exactly, and its neighbours."""
    exact = path.replace("*", choose.choice(["", "x", "a/b"])).removesuffix("$")
    exact = exact if exact.startswith("/") else "/" + exact
    signs = [at for at in range(1, len(exact)) if exact[at].isascii() and exact[at].isalnum()]
    at = choose.choice(signs) if signs else 0
    yield exact
    yield exact + "x"
    yield exact[:-1] or "/"
    yield f"{exact[:at]}%{ord(exact[at]):02X}{exact[at + 1 :]}" if at else exact
    yield exact.replace("/", "%2f").replace("%2f", "/", 1)
    yield exact + choose.choice(["?", "?a=b", "?u=https://h/&x=*", "#top", "%20", "%E9"])
    yield path if path.startswith("/") else "/" + path
    yield exact.swapcase()
    yield exact.rpartition("/")[0] + "/"


def urls_for(body: bytes, name: str) -> list[str]:
    """Twenty different URLs, always the same for one file."""
    choose = random.Random(crc32(name.encode()))
    patterns = patterns_of(body) or ["/", "/index.html"]
    found = dict.fromkeys(["/", "/robots.txt", "/index.html"])
    for _ in range(40):
        for form in forms(choose.choice(patterns), choose):
            if choose.random() < 0.4:
                found[form] = None
    rest = [path for path in found if path not in ("/", "/robots.txt")]
    return ["http://example.com" + path for path in ["/", "/robots.txt", *rest][:URLS_PER_FILE]]


def google_parser(folder: str | None) -> Ask | None:
    """Google's own parser, if it is there. Its URLs are to be encoded already; its agent is a token."""
    if folder:
        sys.path.append(folder)
    try:
        matcher = import_module("jwm.robotstxt.googlebot").RobotsMatcher()
    except ImportError:
        return None

    def ask(body: bytes, url: str, agent: str) -> bool:
        token = google_token(token_of(agent)).decode()
        return bool(matcher.AllowedByRobots(body, (token,), url.encode("utf-8", "surrogatepass")))

    return ask


def class_of(body: bytes, url: str, agent: str, theirs: bool) -> str:
    """Where a verdict leaves Google: a URL of its own, the reading of lines, or the comparison of paths."""
    if path_of(url) == b"/robots.txt":
        return ROBOTS_ITSELF
    token = google_token(token_of(agent)).decode()
    if naive_allows(as_google_reads(body), url, token, "rfc9309") is theirs:
        return LINES
    return PATHS


def as_google_reads(body: bytes) -> bytes:
    """The lines that Google's parser takes from the file, in the RFC's spelling."""
    lines = []
    for group in google_groups(body):
        names = [b"*" if re.match(rb"\*(\s|$)", name) else google_token(name) for name in group.names]
        lines += [b"User-agent: " + name for name in names]
        lines += [name + b": " + value for name, value in group.lines]
    return b"\n".join(lines)


@dataclass
class Tally:
    """What was asked and what differed, by kind."""

    asked: Counter[str] = field(default_factory=Counter)
    differences: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def note(self, kind: str, case: str, ours: bool, theirs: bool) -> None:
        """Counts one comparison and keeps it if it differs."""
        self.asked[kind.partition(":")[0]] += 1
        if ours is not theirs:
            self.differences[kind].append(f"{case}: {ours}, not {theirs}")


def compare_file(path: Path, options: argparse.Namespace, ask_google: Ask | None, tally: Tally) -> None:
    """Every URL of one file under every agent and dialect."""
    body = path.read_bytes()
    urls = urls_for(body, path.name)
    for dialect in options.dialect or DIALECTS:
        robots = RobotsTxt.parse(body, dialect)
        for agent in options.agents.split(","):
            matcher = robots.matcher(agent)
            for url in urls:
                ours, case = matcher.allows(url), f"{path.name} {url} {agent}"
                tally.note(f"{dialect}, fast against naive", case, ours, naive_allows(body, url, agent, dialect))
                if ask_google and dialect in ("google", "rfc9309"):
                    theirs = ask_google(body, url, agent)
                    kind = f": {class_of(body, url, agent, theirs)}" if ours is not theirs else ""
                    tally.note(f"{dialect} against Google's parser{kind}", case, ours, theirs)


def main() -> int:
    """Prints the counts and the first differences of each kind."""
    options = parse_options()
    ask_google = google_parser(options.google)
    tally = Tally()
    for path in sorted(options.corpus.glob("*.txt"))[: options.files]:
        compare_file(path, options, ask_google, tally)
    report = [] if ask_google else ["Google's parser is not installed: not compared with it"]
    report += [f"{count:>8} asked  {kind}" for kind, count in tally.asked.items()]
    for kind, cases in tally.differences.items():
        report += [f"{len(cases):>8} differ {kind}", *(f"           {case}" for case in cases[: options.show])]
    sys.stdout.writelines(line + "\n" for line in report)
    return int(any(kind in FAILING or "naive" in kind for kind in tally.differences))


def parse_options() -> argparse.Namespace:
    """The command line."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("corpus", type=Path)
    options.add_argument("--dialect", action="append", choices=list(DIALECTS))
    options.add_argument("--files", type=int, help="only the first N files")
    options.add_argument("--agents", default="Googlebot,GPTBot,goodbot")
    options.add_argument("--google", metavar="FOLDER", help="where Google's parser lies, if it is not installed")
    options.add_argument("--show", type=int, default=10, help="how many differences of a kind are shown")
    return options.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
