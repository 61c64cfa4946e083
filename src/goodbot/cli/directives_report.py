"""Prints the directives of a page: what a robot may do with it, and where each directive is."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from goodbot.cli.printing import Line, Styled, joined, styled, width, wrapped
from goodbot.exclusion import Directives, Preferences, RobotsTxt, Verdict
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_duration, human_time
from goodbot.page.document import DocumentKind
from goodbot.page.extract import Extract
from goodbot.values import Headers

MIN_LAST = 24
"""Columns that the last cell of a row needs at least."""

REASONS_SHOWN = 3
"""How many directives are shown as the reason for one answer."""

_MARKS = ("nofollow", "ugc", "sponsored")


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that was read. `robots` is the robots.txt of its site, empty for a file; `closed` the verdict that
    closes the page to the agent."""

    name: str
    target: str
    kind: DocumentKind
    found: Extract
    headers: Headers
    robots: RobotsTxt
    closed: Verdict | None = None


def report_lines(read: ReadPage, agent: str, directives: Directives, preferences: Preferences) -> Iterator[Line]:
    """Yields the lines to print."""
    yield [styled(shown(read.name), bold=True)]
    if read.kind != "html":
        yield from wrapped("This is not HTML, so only its HTTP header fields apply.", "", "")
    elif read.found == Extract():
        yield ["The page is empty."]
    if read.closed is not None:
        never = f"{shown(agent)} would never see these directives, because robots.txt closes the page to it:"
        yield from wrapped(never, "", "", fg="red")
        yield from wrapped(read.closed.reason, "  ", "  ")
    yield []
    yield [f"What {shown(agent)} may do with it:"]
    yield from _aligned((_word(may), words, _reasons(directives, field)) for may, words, field in _uses(directives))
    yield []
    yield ["What its content may be used for:"]
    yield from _aligned((use, value, preferences.reasons.get(use, "")) for use, value in preferences.items())
    yield from _itself(directives)
    yield from _sources(directives)
    yield from _links(read.found)


Use = tuple[bool, str, str]
"""Whether the robot may do something, what it is, and the field of Directives that decides it."""


def _uses(directives: Directives) -> Iterator[Use]:
    yield directives.index, "index it", "index"
    if directives.index_embedded:
        yield True, "index it where another page embeds it", "index_embedded"
    yield directives.follow, "follow its links", "follow"
    yield directives.archive, "show a kept copy of it", "archive"
    most = directives.max_snippet
    if most is None or not directives.snippet:
        yield directives.snippet, "show an extract of it", "snippet"
    else:
        yield True, f"show an extract of it, {most} characters at most", "max_snippet"
    image, video = directives.max_image_preview, directives.max_video_preview
    size = f", {image} at most" if image in ("standard", "large") else ""
    yield image != "none", f"show previews of its images{size}", "max_image_preview"
    length = "" if video is None else f", {human_duration(video)} at most" if video else ", as a still image"
    yield True, f"show previews of its videos{length}", "max_video_preview"
    yield directives.translate, "offer a translation", "translate"
    yield directives.index_images, "index its images", "index_images"
    if not directives.ai:
        yield False, "train AI with it", "ai"
    if not directives.ai_images:  # that nothing forbids it here is no permission: see the preferences
        yield False, "train AI with its images", "ai_images"
    if directives.unavailable_after is not None:
        until, still = human_time(directives.unavailable_after), directives.is_available(time.time())
        yield still, f"show it until {until}" if still else f"show it after {until}", "unavailable_after"


def _word(may: bool) -> str:
    return styled("yes", fg="green") if may else styled("no", fg="red")


def _reasons(directives: Directives, field: str) -> str:
    named = [f"{shown(source.directive)} in {shown(source.origin)}" for source in directives.why(field)]
    more = [f"{len(named) - REASONS_SHOWN} more"] if len(named) > REASONS_SHOWN else []
    return ", ".join([*named[:REASONS_SHOWN], *more])


def _itself(directives: Directives) -> Iterator[Line]:
    again = directives.revisit_after_s
    said = [
        ("description", directives.description),
        ("keywords", directives.keywords),
        ("canonical URL", directives.canonical or ""),
        ("revisit after", "" if again is None else f"{again / 86400:g} days"),
        ("state of the document", directives.document_state or ""),
    ]
    if any(value for _, value in said):
        yield []
        yield ["What it says about itself:"]
        yield from _aligned((name, shown(value)) for name, value in said if value)


def _sources(directives: Directives) -> Iterator[Line]:
    yield []
    if not directives.sources:
        yield ["No directive was found."]
        return
    yield ["Where, directive, what it decides:"]
    yield from _aligned(
        (
            shown(source.origin),
            shown(source.directive),
            ", ".join(source.effects) or styled("restricts nothing", dim=True),
        )
        for source in directives.sources
    )


def _links(found: Extract) -> Iterator[Line]:
    counts = link_counts(found)
    marks = ", ".join(f"{count} {mark}" for mark, count in counts.items() if mark in _MARKS and count)
    if counts["all"]:
        yield []
        yield from wrapped(f"{counts['all']}{f', of which {marks}' if marks else ''}.", "Links: ", "")
    if hidden := hidden_chars(found):
        said = f"{hidden} of {counted(len(found.text), 'character')} of the page's text out of snippets."
        yield from wrapped(said, "data-nosnippet keeps ", "")


def _aligned(rows: Iterable[tuple[str, ...]]) -> Iterator[Line]:
    """Yields rows with the same number of cells, each column as wide as its widest cell; the last cell is folded. In a
    terminal too narrow for that, each cell gets a line of its own."""
    table = list(rows)
    widths = [max(len(click.unstyle(cell)) for cell in column) for column in zip(*table, strict=True)][:-1]
    is_narrow = sum(widths) + 2 * len(widths) + MIN_LAST > width()
    for *cells, last in table:
        if is_narrow:
            yield ["  ", cells[0]]
            for cell in filter(None, (*cells[1:], last)):
                yield from _folded(cell, "      ")
        else:
            filled = (
                joined(cell, " " * (most - len(click.unstyle(cell)))) for cell, most in zip(cells, widths, strict=True)
            )
            yield from _folded(last, joined("  ", *(joined(cell, "  ") for cell in filled)))


def _folded(cell: str, head: str) -> Iterator[Line]:
    if isinstance(cell, Styled):  # a word of ours
        yield [head, cell]
    else:
        yield from wrapped(cell, head, " " * len(click.unstyle(head)))


def hidden_chars(found: Extract) -> int:
    """How many characters `data-nosnippet` keeps out of snippets."""
    return 0 if found.shown is None else len(found.text) - len(found.shown)


def link_counts(found: Extract) -> dict[str, int]:
    """How many links there are, and how many of them have each mark."""
    rels = [" ".join(link.rel).replace(",", " ").split() for link in found.links]
    return {"all": len(rels), **{mark: sum(mark in rel for rel in rels) for mark in _MARKS}}
