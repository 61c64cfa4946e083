"""Renders the templates of the pages, with the filters and names that all of them share."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from goodbot.exclusion.text.shown_text import shown
from goodbot.human import human_bytes, human_time
from goodbot.index import MAX_QUERY_CHARS
from goodbot.web.view import capitalised, clipped, duration, human_number, human_seconds, quoted


class Templates:
    """Renders pages titled `name`. `has_search` shows the search box, `has_crawl` the link to the crawl page."""

    def __init__(self, name: str, *, has_search: bool, has_crawl: bool) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            name=name,
            has_search=has_search,
            has_crawl=has_crawl,
            max_query_chars=MAX_QUERY_CHARS,
            page_url=page_url,
        )
        self._templates.filters.update(
            capitalised=capitalised,
            clipped=clipped,
            duration=duration,
            number=human_number,
            quoted=quoted,
            seconds=human_seconds,
            shown=shown,
            size=human_bytes,
            when=human_time,
        )

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """Renders one page; `values` are the variables of its template."""
        return HTMLResponse(self._templates.get_template(template).render(values), status)


def page_url(query: str, page: int) -> str:
    """Returns the URL of one page of results."""
    return "/search?" + urlencode({"q": query} if page == 1 else {"q": query, "page": page})
