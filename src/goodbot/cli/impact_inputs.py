"""Reads what `goodbot impact` compares and judges: two robots.txt files, and URLs of pages."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.cli.host_argument import host_key
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError, RunError
from goodbot.exclusion import Access
from goodbot.exclusion.access.access import LIMIT_BYTES
from goodbot.page.coding import unpacked
from goodbot.page.references import kind_of, reader_of, references, with_head
from goodbot.url import MAX_URL_CHARS, Url, parse_url, requested

_PIECE_BYTES: Final = 65_536
_MAX_LINE: Final = 8 * MAX_URL_CHARS


# ---- robots.txt -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A robots.txt, with what the user should know about it. `site` is its host if it was fetched."""

    name: str
    access: Access
    notes: tuple[str, ...] = ()
    site: str | None = None


def read_robots(name: str) -> RobotsFile:
    """Reads a file, standard input (`-`), or the robots.txt of the site at a URL. Raises InputError for what is no
    robots.txt, RunError if that of a site is unreachable."""
    url = parse_url(name)
    if url is not None:
        return _of_site(name, url)
    if "://" in name:
        raise InputError(f"not an http or https URL: {name}")
    body = read_robots_file(name, or_site=True)
    access = Access.from_response(200, (), body, time.time())
    called = "standard input" if name == "-" else name
    if access.result != "successful":
        raise InputError(f"{called} is the page of a bot wall ({access.wall}), not a robots.txt")
    return RobotsFile(called, access, tuple(_notes(called, access)))


def no_robots() -> RobotsFile:
    """Returns what a site without rules has."""
    return RobotsFile("", Access.from_response(200, (), b"", time.time()))


def _of_site(name: str, url: Url) -> RobotsFile:
    from goodbot.one_shot import fetch_access  # noqa: PLC0415  (a file needs no network)

    access = fetch_access(url)
    if access.result == "unreachable":
        raise RunError(f"cannot read {url.robots_txt}: {access.reason}")
    is_missing = access.result == "unavailable"
    notes = (f"{name}: {access.reason}",) if is_missing else tuple(_notes(name, access))
    return RobotsFile(name, access, notes, url.host_key)


def _notes(name: str, access: Access) -> Iterator[str]:
    if access.rules.groups:
        pass
    elif access.body.strip():
        from goodbot.check.file_kind import form_of  # noqa: PLC0415  (most files have rules)

        form = form_of(access.body)
        yield f"{name} is {form}, so it allows everything" if form else f"{name} has no group, so it allows everything"
    else:
        yield f"{name} is empty, so it allows everything"
    if access.cut_bytes:
        yield (
            f"{name}: robots read only the first {LIMIT_BYTES // 1024} KiB, so the last {access.cut_bytes:,} bytes do "
            "not count"
        )


# ---- pages ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class PagesRead:
    """What became of the URLs that were read."""

    passed_over: int = 0
    """References that are no URLs of pages."""
    other_hosts: int = 0
    """URLs of hosts to which the robots.txt does not apply."""
    repeated: int = 0
    host: str | None = None
    """The only host whose URLs count. Without one, the first host found is taken."""
    is_chosen: bool = False
    """Whether the user named the host."""
    _seen: set[int] = field(default_factory=set)

    def of_site(self, urls: Iterable[str | None]) -> Iterator[str]:
        """Yields the URLs and paths that the robots.txt applies to, each once; takes 60 bytes for each. Raises
        InputError if the user has not said which of several hosts is meant."""
        for text in urls:
            if text is None:
                self.passed_over += 1
            elif not text.startswith("/") and not self._is_of_host(Url(text)):
                self.other_hosts += 1
            elif (seen := hash(text if text.startswith("/") else Url(text).target)) in self._seen:
                self.repeated += 1
            else:
                self._seen.add(seen)
                yield text

    def _is_of_host(self, url: Url) -> bool:
        host = url.host_key
        if self.host is None:
            self.host = host
        if host != self.host and not self.is_chosen:
            raise InputError(
                f"the URLs are of several hosts ({self.host}, {host}), and a robots.txt applies to one: choose it "
                "with --host"
            )
        return host == self.host


def pages_of(host: str | None, files: Sequence[RobotsFile]) -> PagesRead:
    """Returns a reader for the pages of one host, see `host_of`."""
    chosen = host_of(host, files)
    return PagesRead(host=chosen, is_chosen=chosen is not None)


def host_of(host: str | None, files: Sequence[RobotsFile]) -> str | None:
    """Returns the host to which the files apply: that of `--host`, else the site whose robots.txt was fetched; None if
    that is not known. Raises InputError if two were fetched, and neither is chosen."""
    sites = {file.site for file in files if file.site is not None}
    if host is None and len(sites) > 1:
        raise InputError(f"the two files are of different hosts ({', '.join(sorted(sites))}): choose one with --host")
    return host_key(host) if host is not None else next(iter(sites), None)


def urls_of_file(name: str) -> Iterator[str | None]:
    """Yields the URLs and paths in a file (`-`: standard input), and None for a reference that is no URL. Raises
    InputError if the file cannot be read, or is no list of pages."""
    trouble: list[str] = []
    try:
        with ExitStack() as stack:
            if name == "-" and sys.stdin is None:
                raise InputError("standard input is closed")
            file = sys.stdin.buffer if name == "-" else stack.enter_context(Path(name).open("rb"))
            head, pieces = with_head(unpacked(iter(lambda: file.read(_PIECE_BYTES), b""), trouble.append, sys.maxsize))
            kind = kind_of(head)
            if kind in ("binary data", "robots.txt", "sitemap index"):
                hint = ": name the sitemaps in it" if kind == "sitemap index" else ""
                article = "" if kind == "binary data" else "a "
                raise InputError(f"{name} is {article}{kind}, not a list of URLs or a sitemap{hint}")
            yield from _lines(reader_of(pieces)) if kind == "list" else map(_text_of, references(kind, pieces))
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error
    if trouble:
        raise InputError(f"cannot unpack {name}: {trouble[0]}")


def _text_of(url: Url | None) -> str | None:
    return url.text if url is not None else None


def _lines(file: BinaryIO) -> Iterator[str | None]:
    """Yields what each line names; passes over empty lines and comments."""
    while line := file.readline(_MAX_LINE):
        text = line.decode("utf-8-sig", "replace").strip()
        if text and not text.startswith("#"):
            yield requested(text)


def urls_of_crawl(folder: Path) -> Iterator[str]:
    """Yields the pages of a crawl: those visited, without redirects and errors, and the URLs that it found and could
    not visit, since robots.txt disallows them. Raises InputError if there is no crawl."""
    from goodbot.crawl_folder import open_ledger  # noqa: PLC0415  (logs and lists need no crawl)

    with open_ledger(folder) as ledger:
        for record in ledger.records():
            is_page = record.status is None or record.status < 300 or record.status == 304
            if record.state == "disallowed" or (record.state == "visited" and is_page):
                yield record.url.text
