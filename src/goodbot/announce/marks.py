"""Orders the marks of a page that several sources list. Pure."""

from typing import Final

from goodbot.announce.announce_values import GONE

_LASTMOD: Final = "lastmod "
_WRITTEN: Final = "written "


def lastmod_mark(modified_at: float | None, written: str = "") -> str:
    """Returns the mark of a page by the `lastmod` of a sitemap, in Unix seconds; if that cannot be read, by what is
    `written` there."""
    if modified_at is not None:
        return f"{_LASTMOD}{modified_at:.3f}".removesuffix(".000")
    return f"{_WRITTEN}{written}" if written else ""


def supersedes(mark: str, other: str) -> bool:
    """Whether `mark` counts if two sources give a page these marks, in any order: a newer `lastmod` before an older
    one, a `lastmod` before one that cannot be read, this before the text of a crawled page, this before none, and each
    before `GONE`."""
    return _order(mark) > _order(other)


def may_be_outdated(mark: str, accepted: str) -> bool:
    """Whether a source that was not read may list the page with the mark that was accepted: it has a `lastmod`, and
    `mark` does not supersede it. That a page is gone is known from a crawl, which is always read."""
    return accepted.startswith(_LASTMOD) and mark != GONE and supersedes(accepted, mark)


def _order(mark: str) -> tuple[int, float, str]:
    if mark.startswith(_LASTMOD):
        return 4, float(mark.removeprefix(_LASTMOD)), ""
    if mark.startswith(_WRITTEN):
        return 3, 0.0, mark
    return {"": 1, GONE: 0}.get(mark, 2), 0.0, ""
