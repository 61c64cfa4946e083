"""Makes the URL of a search from an OpenSearch 1.1 template (§4.2, "OpenSearch URL template syntax"). Pure."""

import re
from codecs import lookup
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote_plus

from goodbot.page.encoding import encoding_of
from goodbot.url import MAX_URL_CHARS, Url, parse_url
from goodbot.visitor_urls import has_userinfo

HITS_PER_ROUND: Final = 10
"""The hits that a service is asked for at a time. Services may send another number."""

UTF_8: Final = "UTF-8"

_PARAMETER: Final = re.compile(r"\{([^{}?]{1,100})(\??)\}")
_ORIGIN: Final = re.compile(r"https?://[^/?#{}\\]+(?=[/?])", re.IGNORECASE)
CIRCLES: Final = "it has a parameter `others`: services of goodbot that name each other would ask in circles"
_LEFT_OUT: Final = "\0"


@dataclass(frozen=True, slots=True)
class Template:
    """A template as written, without entities. `media_type` is that of the answers, empty if unknown. The first hit has
    the number `index_offset`, the first page `page_offset`. Queries are sent in `encoding`, a name from a
    description."""

    text: str
    media_type: str = ""
    index_offset: int = 1
    page_offset: int = 1
    encoding: str = UTF_8

    @property
    def has_pages(self) -> bool:
        """Whether further hits can be requested."""
        return not self._names.isdisjoint({"startIndex", "startPage"})

    @property
    def takes_all_at_once(self) -> bool:
        """Whether all hits that are wanted are requested at once, since further ones cannot be."""
        return "count" in self._names and not self.has_pages

    @property
    def _names(self) -> set[str]:
        return {name for name, _ in _PARAMETER.findall(self.text)}


@dataclass(frozen=True, slots=True)
class Question:
    """What a service is asked: ten hits for a query. `number` counts the questions about this query from 1, `received`
    the hits received before. `wanted` hits are needed in all."""

    query: str
    number: int = 1
    received: int = 0
    wanted: int = HITS_PER_ROUND


def template_fault(text: str) -> str:
    """Returns why a template cannot be used, in one clause; empty if it can be."""
    if len(text) > MAX_URL_CHARS:
        return f"it has more than {MAX_URL_CHARS} characters"
    if not _ORIGIN.match(text):
        return "it must begin with http:// or https:// and a host"
    if has_userinfo(text):
        return "it has a user name or a password"
    names = {name: bool(optional) for name, optional in _PARAMETER.findall(text.partition("#")[0])}
    if "searchTerms" not in names:
        return "it lacks {searchTerms}"
    values = _values(Template(text), Question("x"))
    if unknown := sorted(name for name, optional in names.items() if not optional and name not in values):
        return f"it needs {{{unknown[0]}}}, which no search has"
    example = _filled(Template(text), Question("x"))
    if example is None:
        return "it is not a valid URL"
    return CIRCLES if _asks_others(example) else ""


def search_url(template: Template, question: Question) -> Url | None:
    """Returns the URL of a search; None if it would be invalid or too long, if the query `.` or `..` would be a step in
    its path, or if the service, one of goodbot, would ask others in turn.

    Nothing but the query and the place in the results is sent: `language` is `*`, which means any. Optional parameters
    that have no value are left out, with their name if they are a whole field of the query.
    """
    url = _filled(template, question)
    return None if url is None or _asks_others(url) else url


def _filled(template: Template, question: Question) -> Url | None:
    values = _values(template, question)
    written = template.text.partition("#")[0].replace(_LEFT_OUT, "")
    filled = _PARAMETER.sub(lambda found: values.get(found[1], _LEFT_OUT), written)
    path, mark, query = filled.partition("?")
    if not {".", ".."}.isdisjoint(path.split("/")):
        return None
    fields = [field for field in query.split("&") if not field.endswith(f"={_LEFT_OUT}")]
    url = parse_url((path + mark + "&".join(fields)).replace(_LEFT_OUT, ""))
    origin = _ORIGIN.match(template.text)
    expected = parse_url(f"{origin[0]}/") if origin else None
    return url if url is not None and expected is not None and url.origin == expected.origin else None


def _asks_others(url: Url) -> bool:
    fields = url.target.partition("?")[2].split("&")
    return any(unquote_plus(field.partition("=")[0]) == "others" for field in fields)


def codec_of(label: str) -> str | None:
    """Returns the name of Python's codec for an encoding of queries; None if it is unknown, or not one for URLs."""
    known = encoding_of(label)
    if known is None or known.startswith("utf-16"):
        return None
    for name in (label, known):
        with suppress(LookupError):  # a name that only browsers know
            return lookup(name).name
    return None


def _encoded(query: str, label: str) -> str:
    """Returns the query percent-encoded. Characters that the encoding lacks become references, as in forms."""
    codec = codec_of(label) or "utf-8"
    return quote(query.encode(codec, "replace" if codec == "utf-8" else "xmlcharrefreplace"), safe="")


def _values(template: Template, question: Question) -> dict[str, str]:
    written = dict(_PARAMETER.findall(template.text))
    return {
        "searchTerms": _encoded(question.query, template.encoding),
        "count": str(question.wanted if template.takes_all_at_once else HITS_PER_ROUND),
        "startIndex": str(template.index_offset + question.received),
        "startPage": str(template.page_offset + question.number - 1),
        "outputEncoding": UTF_8,
        "inputEncoding": quote(template.encoding, safe=""),
        **({} if written.get("language") else {"language": "*"}),
    }
