"""Reads the answers of search services: the JSON of `/api/search`, Atom, RSS 0.9x to 2.0, all as OpenSearch extends
them. Pure: any bytes give a value, in linear time; texts become plain, and only http and https links stay."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from goodbot.federate.plain_text import one_line, plain
from goodbot.page.encoding import decode_text
from goodbot.page.entries import FORMS, Entries, EntryFields, local_name, resolved
from goodbot.page.markup import Markup, MarkupTag
from goodbot.page.sitemap import parse_list_date
from goodbot.search_values import Hit
from goodbot.url import MAX_URL_CHARS, Url, is_private_host, parse_url

MAX_HITS: Final = 100
"""The limit for the hits of one answer; the rest is not read."""
MAX_TITLE_CHARS: Final = 300
MAX_SNIPPET_CHARS: Final = 1_000
MAX_TOTAL: Final = 10**12
UNREADABLE: Final = "its answer has no search results that can be read"
ENDS_EARLY: Final = "its answer ends too early, or is damaged"

_TOTAL: Final = re.compile(r"totalResults(?:\s[^<>]{0,200})?>\s{0,20}([0-9]{1,12})\s{0,20}<")
_TOTAL_CHARS: Final = 20_000
"""How far the number of all results is searched for."""
_LANGUAGE: Final = re.compile(r"([A-Za-z]{2})(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9.+-]{1,60}")
_MAX_TIME: Final = 253_402_300_799.0
"""The last second of the year 9999."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of an answer in their order, each page once; `ranks` are their places in the list that was sent, from 1.
    `listed` counts the entries of the list that were read, also those that are no hits. `total` is how many there are,
    as stated. `is_cut`: the answer ends too early, so the list had more. `fault` says in one clause why the answer
    cannot be read."""

    hits: tuple[Hit, ...] = ()
    ranks: tuple[int, ...] = ()
    listed: int = 0
    total: int | None = None
    is_cut: bool = False
    fault: str = ""


def read_answer(body: bytes, content_type: str, base: Url, *, is_public: bool) -> Answer:
    """Reads an answer from the URL `base`. `is_public`: it came from a public address, so links to private ones are
    left out. Never raises."""
    text, _ = decode_text(body, content_type or None, html=False)
    start = text[:1_000].lstrip()[:1]
    if start == "{":
        return _of_json(text, is_public=is_public)
    return _of_feed(text, base, is_public=is_public) if start == "<" else Answer(fault=UNREADABLE)


def _answer(entries: Iterable[Hit | None], *, is_public: bool) -> Answer:
    """Returns the first `MAX_HITS` different pages. None is an entry that is no hit."""
    found, ranks, listed = dict[str, Hit](), list[int](), 0
    for hit in entries:
        listed += 1
        if hit is None or hit.url in found or (is_public and is_private_host(Url(hit.url).host)):
            continue
        found[hit.url] = hit
        ranks.append(listed)
        if len(found) == MAX_HITS:
            break
    return Answer(tuple(found.values()), tuple(ranks), listed)


# ---- Atom and RSS ---------------------------------------------------------------------------------------------------


def _of_feed(text: str, base: Url, *, is_public: bool) -> Answer:
    tags = Markup().tags([text])
    root = next((tag for tag in tags if not tag.closing), None)
    form = FORMS.get(local_name(root.name)) if root is not None else None
    if root is None or form is None or form.kind != "feed":
        return Answer(fault=UNREADABLE)
    found = _TOTAL.search(text[:_TOTAL_CHARS])
    watched = _Watched(tags, root)
    entries = (entry for entry in Entries(form, root, base).read(watched) if not entry.is_head)
    answer = _answer(map(_of_entry, entries), is_public=is_public)
    if not answer.hits and not watched.has_end:
        return Answer(fault=ENDS_EARLY)
    is_cut = len(answer.hits) < MAX_HITS and not watched.has_end
    return replace(answer, total=int(found[1]) if found else None, is_cut=is_cut)


class _Watched:
    """The tags after the root. Afterwards `has_end` says whether the root was closed."""

    def __init__(self, tags: Iterator[MarkupTag], root: MarkupTag) -> None:
        self._tags = tags
        self._name = root.name
        self.has_end = root.is_empty

    def __iter__(self) -> Iterator[MarkupTag]:
        return self

    def __next__(self) -> MarkupTag:
        tag = next(self._tags)
        self.has_end = self.has_end or (tag.closing and tag.name == self._name)
        return tag


def _of_entry(entry: EntryFields) -> Hit | None:
    values = entry.values
    url = resolved(entry.base, values.get("url") or values.get("guid"))
    if url is None:
        return None
    return Hit(
        id=url.text,
        url=url.text,
        title=plain(values.get("title", ""), MAX_TITLE_CHARS),
        snippet=plain(values.get("summary") or values.get("content", ""), MAX_SNIPPET_CHARS),
        score=0.0,
        modified_at=_time(parse_list_date(values.get("modified") or values.get("published") or "")),
    )


# ---- goodbot's JSON -------------------------------------------------------------------------------------------------


def _of_json(text: str, *, is_public: bool) -> Answer:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Answer(fault=UNREADABLE)
    listed = value.get("hits")
    if not isinstance(listed, list):
        return Answer(fault=UNREADABLE)
    entries = (_of_object(item) if isinstance(item, dict) else None for item in listed)
    total = value.get("total")
    is_count = isinstance(total, int) and not isinstance(total, bool) and 0 <= total <= MAX_TOTAL
    return replace(_answer(entries, is_public=is_public), total=total if is_count else None)


def _of_object(item: dict[str, Any]) -> Hit | None:
    written = _text(item, "url")
    url = parse_url(written) if len(written) <= MAX_URL_CHARS else None
    if url is None:
        return None
    whole = _text(item, "snippet")
    snippet = one_line(whole, MAX_SNIPPET_CHARS)
    language, media_type = _LANGUAGE.fullmatch(_text(item, "language")), _text(item, "type").lower()
    return Hit(
        id=url.text,
        url=url.text,
        title=one_line(_text(item, "title"), MAX_TITLE_CHARS),
        snippet=snippet,
        score=0.0,
        highlights=tuple(_spans(item.get("highlights"), len(snippet))) if snippet == whole else (),
        language=language[1].lower() if language else "",
        fetched_at=_time(item.get("fetched_at")) or 0.0,
        modified_at=_time(item.get("modified_at")),
        size_bytes=int(_time(item.get("size_bytes")) or 0),
        media_type=media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
    )


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _time(value: object) -> float | None:
    """Returns a positive number within the range of times; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value <= _MAX_TIME else None  # type: ignore[operator, arg-type]


def _spans(value: object, length: int) -> Iterator[tuple[int, int]]:
    """Yields the valid ranges of a list of pairs, at most 100."""
    for pair in value[:100] if isinstance(value, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(type(place) is int for place in pair):
            start, end = pair
            if 0 <= start < end <= length:
                yield start, end
