"""Reads what a page says about itself: its title, its author and the day of its publication."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, Final

import turbohtml
from turbohtml.extract import DateExtraction, dates

MAX_AUTHOR_CHARS: Final = 200
MAX_AUTHORS: Final = 20
_AUTHORS: Final = "[itemprop=author], a[rel~=author]"
_MAX_NODES: Final = 2_000
_DATES: Final = DateExtraction(original=True, extensive_search=False, max_date=date.max)
"""Only dates that the page states in its markup, or in its canonical URL; not those in its text."""
_NUMBERS: Final = re.compile(r"(?<![0-9])([0-9]{1,2})[/-]([0-9]{1,2})[/-][0-9]{2,4}", re.ASCII)
_MAX_DATE_CHARS: Final = 100
_ARTICLE_TYPES: Final = re.compile(r"article|posting|webpage|review|report|recipe|howto|book|course", re.IGNORECASE)


def title_of(tree: turbohtml.Document, stated: str) -> str:
    """Returns the title of the content. `stated` is that of TITLE, which often has the name of the site too: then a
    heading that is part of it, or the title for social networks, is better."""
    for heading in tree.select("h1")[:10]:
        text = _folded(heading.text)
        if len(text) >= 3 and text.lower() in stated.lower():
            return text
    shared = _meta(tree, "og:title")
    return shared if shared and shared != _meta(tree, "og:site_name") else stated


def date_of(tree: turbohtml.Document, html: str) -> str | None:
    """Returns the day of publication (ISO 8601) that a page states; None if it may be another day, as `03/04/2026`."""
    found = dates(html, _DATES)
    return None if found is None or _is_ambiguous(found.date, tree, html) else found.date


def _is_ambiguous(day: str, tree: turbohtml.Document, html: str) -> bool:
    """Whether a page states a day only in numbers of which the first may be the month or the day."""
    year, month, number = day.split("-")
    if month == number or int(number) > 12 or any(f"{year}{gap}{month}{gap}{number}" in html for gap in ("-", "/", "")):
        return False
    stated = [str(meta.attrs.get("content") or "") for meta in tree.select("meta[content]")[:_MAX_NODES]]
    stated += [str(time.attrs.get("datetime") or time.text) for time in tree.select("time")[:_MAX_NODES]]
    known = {int(month), int(number)}
    return any(
        {int(one), int(two)} == known for text in stated for one, two in _NUMBERS.findall(text[:_MAX_DATE_CHARS])
    )


def author_of(tree: turbohtml.Document) -> str | None:
    """Returns the names of the authors, joined by commas: from the page's JSON-LD (schema.org), else META, else marked
    elements. None if the page names none."""
    marked = [(found.select_one("[itemprop=name]") or found).text for found in tree.select(_AUTHORS)[:1]]
    for candidate in (", ".join(_linked_authors(tree)), _meta(tree, "author"), *marked):
        text = _folded(candidate)
        if text and "://" not in text:
            return text[:MAX_AUTHOR_CHARS]
    return None


def _meta(tree: turbohtml.Document, name: str) -> str:
    for meta in tree.select(f'meta[property="{name}"], meta[name="{name}"]')[:1]:
        return _folded(str(meta.attrs.get("content") or ""))
    return ""


def _linked_authors(tree: turbohtml.Document) -> list[str]:
    names: dict[str, None] = {}
    for item in _objects(tree.json_ld()):
        if _ARTICLE_TYPES.search(str(item.get("@type"))[:MAX_AUTHOR_CHARS]):
            names |= dict.fromkeys(_names(item.get("author")))
            if names:
                break
    return list(names)[:MAX_AUTHORS]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the objects of JSON-LD that may describe the page, at most `_MAX_NODES`."""
    todo = [value]
    for _ in range(_MAX_NODES):
        if not todo:
            return
        item = todo.pop(0)
        if isinstance(item, list):
            todo += item[:_MAX_NODES]
        elif isinstance(item, dict):
            yield item
            todo += [item[key] for key in ("@graph", "mainEntity") if key in item]


def _names(author: Any) -> Iterator[str]:
    for item in author if isinstance(author, list) else [author]:
        name = item.get("name") if isinstance(item, dict) else item
        if isinstance(name, str) and name.strip() and "://" not in name:
            yield _folded(name)[:MAX_AUTHOR_CHARS]


def _folded(text: str) -> str:
    return " ".join(text.split())
