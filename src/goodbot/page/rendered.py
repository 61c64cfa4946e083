"""Reads a page that a browser has rendered, after its scripts have run, into a `Page`."""

from dataclasses import dataclass

from goodbot.page.body import Body
from goodbot.page.document import read_extract
from goodbot.page.extract import MAX_LINKS, Reference
from goodbot.page.html import read_html
from goodbot.page.page_building import page_of
from goodbot.url import Url
from goodbot.values import Event, Page


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of rendering a page in a browser.

    `html` is the document of the browser, or None if the fetched document should be read. `navigations` are the
    absolute URLs that scripts tried to navigate to. `ready_at` is when the page's host may get its next request,
    because the page itself sent requests to it; else 0. `unfinished` says why rendering ended early; it is empty if it
    did not.
    """

    html: str | None
    navigations: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    ready_at: float = 0.0
    unfinished: str = ""


def read_rendered(url: Url, body: Body, rendered: Rendered, token: str, *, text: bool = True) -> Page:
    """Reads `rendered`, the browser's result for the response at `url`, whose body is `body`. Never raises.

    Directives for robots count whether they were there before the scripts ran or after: the more restrictive wins.
    Limits and `text` work as in `read_page`. Script navigations are recorded as links.
    """
    _, before, encoding = read_extract(body, url=url, text=text and rendered.html is None)
    found = before
    if rendered.html is not None:
        found, encoding = read_html(rendered.html[: body.limit_bytes], text=text), "utf-8"
        found.metas = [*found.metas, *before.metas]
    found.links += [Reference(target, "", ()) for target in rendered.navigations][
        : max(MAX_LINKS - len(found.links), 0)
    ]
    return page_of(url, body.response, token, found, encoding)
