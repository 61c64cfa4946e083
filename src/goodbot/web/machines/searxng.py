"""Describes the search to SearXNG: the entry of its `settings.yml` that asks this service, by the `json_engine` that
comes with SearXNG (https://docs.searxng.org/dev/engines/json_engine.html)."""

import json
import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.web.machines.own_robots_txt import MAX_AGE_S
from goodbot.web.site import Site

MEDIA_TYPE: Final = "application/yaml"
"""RFC 9512."""
SHORTCUT: Final = "gb"
TIMEOUT_S: Final = 5.0
MAX_NAME_CHARS: Final = 40
_NOT_IN_NAMES: Final = re.compile(r"[\W_]+")


class SearxngEngine:
    """Serves the entry. Its URLs are absolute, because SearXNG does not remember where it came from."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/searxng.yml", self.show),)

    def show(self, request: Request) -> Response:
        """GET /searxng.yml: the entry."""
        body = engine_yaml(self._site.name, self._site.absolute(request, ""))
        return Response(body, media_type=MEDIA_TYPE, headers={"Cache-Control": f"max-age={MAX_AGE_S}"})


def engine_yaml(name: str, base: str) -> str:
    """Returns the list `engines` with the entry of a search whose home page is `base`, without a slash at its end."""
    template = f"{_literal(base)}/api/search?q={{query}}&page={{pageno}}"
    entry: dict[str, object] = {
        "name": _engine_name(name),
        "engine": "json_engine",
        "shortcut": SHORTCUT,
        "categories": ["general", "web"],
        "search_url": template,
        "paging": True,
        "first_page_num": 1,
        "results_query": "hits",
        "url_query": "url",
        "title_query": "title",
        "content_query": "snippet",
        "suggestion_query": "suggestion",
        "no_result_for_http_status": [400],
        "enable_http": base.startswith("http:"),
        "timeout": TIMEOUT_S,
        "about": {
            "website": f"{base}/",
            "official_api_documentation": f"{base}/openapi.json",
            "use_official_api": True,
            "require_api_key": False,
            "results": "JSON",
        },
    }
    return "engines:\n" + "".join(_lines(entry, "  - ", "    "))


def _engine_name(name: str) -> str:
    """Returns a name that SearXNG accepts: in lower case and without underscores, which it refuses."""
    return _NOT_IN_NAMES.sub(" ", name.lower())[:MAX_NAME_CHARS].strip() or "goodbot"


def _literal(text: str) -> str:
    """Returns a text in which SearXNG's `str.format` finds no placeholder."""
    return text.replace("{", "{{").replace("}", "}}")


def _lines(entry: dict[str, object], first: str, rest: str) -> list[str]:
    """Writes a mapping as YAML. Scalars and lists are written as JSON, but without its escapes of characters beyond
    U+FFFF, which YAML 1.1 does not join."""
    lines: list[str] = []
    for name, value in entry.items():
        indent = rest if lines else first
        if isinstance(value, dict):
            lines += [f"{indent}{name}:\n", *_lines(value, f"{rest}  ", f"{rest}  ")]
        else:
            lines.append(f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}\n")
    return lines
