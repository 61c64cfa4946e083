"""Renders the templates of the pages, with the filters and names that all of them share."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from goodbot.exclusion.text.shown_text import shown
from goodbot.federate import OWN, ServicePlace
from goodbot.human import human_time
from goodbot.index import MAX_QUERY_CHARS
from goodbot.web.pages.environment import plain_environment
from goodbot.web.pages.html_text import html_text
from goodbot.web.pages.local_formats import Speaker, day_message, day_of, formats
from goodbot.web.pages.messages import Message
from goodbot.web.pages.translations import LANGUAGES, PARAMETER, Reader, load_translations, reader_of
from goodbot.web.pages.view import as_sentence, capitalised, clipped, quoted, readable_url, runs
from goodbot.web.server.static_files import static_path
from goodbot.web.site import Site

Link = Callable[..., str]
"""Makes the URL of a page of this server: `link("/search", state, page=2)`. `state` is a mapping of parameters; those
that are empty or None are left out."""
NO_STATE: Final[Mapping[str, Any]] = MappingProxyType({})


class Templates:
    """Renders the pages of `site` in the language of the reader. `has_search` shows the search box, `has_crawl` links
    to the pages about a crawl, `has_visitors` links to submissions, removals, cached copies and stories of URLs.
    `services` returns the other search services that visitors may include."""

    def __init__(
        self,
        site: Site,
        *,
        has_search: bool,
        has_crawl: bool,
        has_visitors: bool = False,
        services: Callable[[], Sequence[ServicePlace]] = tuple,
    ) -> None:
        self.site = site
        names: dict[str, Any] = {
            "site": site,
            "name": site.name,
            "has_search": has_search,
            "has_crawl": has_crawl,
            "has_copies": has_visitors,
            "has_visitors": has_visitors,
            "services": services,
            "own_index": OWN,
            "path": lambda path: f"{site.prefix}{path}",
            "static": lambda file: f"{site.prefix}{static_path(file)}",
        }
        self._environments = {language: _environment(language, names) for language in LANGUAGES}

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """Renders one page; `values` are the variables of its template."""
        reader = reader_of(request)
        html = (
            self._environments[reader.language]
            .get_template(template)
            .render(
                **values,
                link=self.link(reader),
                language=reader.language,
                chosen_language=reader.language if reader.has_chosen else "",
                switches=self._switches(request, reader),
            )
        )
        return HTMLResponse(html_text(html), status, {"Content-Language": reader.language, "Vary": "Accept-Language"})

    def said(self, reader: Reader, message: Message) -> str:
        """Writes a message in the language of a reader."""
        return str(self._environments[reader.language].filters["said"](message))

    def link(self, reader: Reader) -> Link:
        """Returns the function that makes the links of a page. They keep the language if the reader has chosen it."""
        chosen = {PARAMETER: reader.language} if reader.has_chosen else {}
        prefix = self.site.prefix

        def link(path: str, state: Mapping[str, Any] = NO_STATE, /, **parameters: Any) -> str:
            given = {
                name: value for name, value in {**state, **parameters, **chosen}.items() if value not in (None, "")
            }
            return f"{prefix}{path}?{urlencode(given)}" if given else f"{prefix}{path}"

        return link

    def _switches(self, request: Request, reader: Reader) -> list[tuple[str, str, str]]:
        """Returns code, name and URL of this page in each other language. After a POST it is the URL of its form."""
        path = request.url.path if request.method in ("GET", "HEAD") else f"/{request.url.path.split('/')[1]}"
        kept = [(name, value) for name, value in request.query_params.multi_items() if name not in (PARAMETER, "token")]
        page = f"{self.site.prefix}{path}"
        return [
            (code, name, f"{page}?{urlencode([*kept, (PARAMETER, code)])}")
            for code, name in LANGUAGES.items()
            if code != reader.language
        ]


def _environment(language: str, names: dict[str, Any]) -> Environment:
    translations = load_translations(language)
    speaker = Speaker(language, translations)
    environment = plain_environment(translations)
    environment.globals.update(names, language=language, max_query_chars=MAX_QUERY_CHARS)
    environment.filters.update(
        formats(language),
        as_sentence=as_sentence,
        capitalised=capitalised,
        clipped=clipped,
        day=lambda at: _day(at, speaker.said),
        isoday=_isoday,
        pieces=speaker.pieces,
        quoted=quoted,
        readable=readable_url,
        runs=runs,
        said=speaker.said,
        shown=shown,
        when=human_time,
    )
    return environment


def _day(at: float, said: Callable[[Message], str]) -> str:
    """Writes the day of a time in Unix seconds; empty if no calendar has it."""
    day = day_of(at)
    return said(day_message(day)) if day is not None else ""


def _isoday(at: float) -> str:
    day = day_of(at)
    return day.isoformat() if day is not None else ""
