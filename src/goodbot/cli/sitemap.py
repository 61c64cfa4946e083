"""`goodbot sitemap`: writes sitemaps from a crawl."""

from pathlib import Path
from typing import Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.host_argument import known_host
from goodbot.cli.options import in_option
from goodbot.cli.printing import say, say_folded, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.site_sitemaps import Reason, WrittenSitemaps, write_sitemaps
from goodbot.url import Url, parse_url

_REASONS: Final[dict[Reason, str]] = {
    "noindex": "ask not to be indexed",
    "canonical": "name another canonical URL",
    "disallowed": "are disallowed for search engines by robots.txt",
    "copy": "are copies of other pages",
    "type": "are neither HTML nor PDF",
    "long": "have a URL that is too long for a sitemap",
}


@click.command(
    name="sitemap",
    cls=Command,
    output=False,
    examples="""
    goodbot sitemap --in crawl -o sitemap.xml
    goodbot sitemap --in crawl --host example.org -o sitemap.xml.gz
    goodbot sitemap --in crawl -o maps/sitemap.xml --base https://example.org/maps/
    """,
)
@in_option
@click.option(
    "-o",
    "--output",
    "file",
    required=True,
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="The sitemap; compressed if its name ends in .gz.",
)
@click.option(
    "--host",
    metavar="HOST",
    help="List only this host: HOST, HOST:PORT, or a URL with scheme and port.",
)
@click.option(
    "--base",
    metavar="URL",
    help="URL of the folder with the sitemaps, for a sitemap index. [default: the root of the host]",
)
def command(folder: Path, file: Path, host: str | None, base: str | None, as_json: bool) -> int:
    """Write sitemaps from the crawl in DIR. Nothing is fetched.

    Lists the visited HTML pages and PDFs that search engines may index: robots.txt allows them for Googlebot and
    Bingbot, they have no noindex and no other canonical URL, and they are not copies of other pages. Each has its last
    change (Last-Modified, else when the crawl last found the page changed) and its translations. The URLs are those of
    the crawl, so crawl the site at its public address. A sitemap covers one host, with one scheme and port. If the
    crawl has several, choose one with --host (example.org, example.org:8443 or https://example.org:8443).

    One file holds at most 50,000 URLs and 50 MB. If there are more, FILE is a sitemap index, and the sitemaps are
    beside it: sitemap-1.xml, sitemap-2.xml and so on. The index uses --base as the URL of their folder; without an
    index, --base has no effect.

    Exit status: 0: written; 1: there is no page to list, and nothing is written; 2: bad input: no crawl in DIR, a crawl
    without an archive, several hosts without --host, an unknown host or port, or the folder of FILE does not exist; 3:
    the archive is damaged, or the disk is full.
    """
    if str(file) == "-":
        raise InputError("a sitemap may need several files, so it cannot go to standard output: name a file")
    key, origin = (None, "") if host is None else known_host(folder, host)
    with ProgressLine(lambda count: f"{count:,.0f} pages") as progress:
        written = write_sitemaps(folder, file, key, _base(base), progress.report, origin=origin)
    if as_json:
        write_json(
            {
                "done": bool(written.files),
                "files": [str(each) for each in written.files],
                "urls": written.urls,
                "left_out": {reason: written.left_out[reason] for reason in _REASONS},
            }
        )
    else:
        _report(written)
    _warn(written, has_base=base is not None)
    return 0 if written.files else 1


def _base(text: str | None) -> Url | None:
    if text is None:
        return None
    url = parse_url(text)
    if url is None or "?" in url.text:
        raise InputError(f"--base must be the http or https URL of a folder, not {text!r}")
    return url if url.text.endswith("/") else Url(f"{url.text}/")


def _report(written: WrittenSitemaps) -> None:
    if written.files:
        index, *sitemaps = written.files
        parts = f", an index of {counted(len(sitemaps), 'sitemap')}" if sitemaps else ""
        say(f"{index}{parts}: {counted(written.urls, 'URL')} of {written.origin}")
    else:
        say("there is no page to list: nothing is written")
    left = [f"{written.left_out[reason]:,} {why}" for reason, why in _REASONS.items() if written.left_out[reason]]
    if left:
        say_folded(f"left out: {', '.join(left)}")


def _warn(written: WrittenSitemaps, *, has_base: bool) -> None:
    if has_base and len(written.files) == 1:
        message = "--base has no effect: one file is enough, so there is no index; URLs of pages are those of the crawl"
        say_folded(f"goodbot: {message}", err=True)
    if written.other_origins:
        pages = counted(written.other_origins, "page")
        message = f"left out {pages} of the same host, with a scheme or port other than those of {written.origin}"
        say_folded(f"goodbot: {message}; choose them with --host and their scheme and port", err=True)
    if written.unfinished:
        left = f"{counted(written.unfinished, 'URL')} {'is' if written.unfinished == 1 else 'are'} still to be fetched"
        message = f"the crawl is not finished: {left}, so pages may be missing from the sitemap"
        say_folded(f"goodbot: {message}", err=True)
