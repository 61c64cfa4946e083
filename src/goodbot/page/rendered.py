"""A page as a browser has it once its scripts have run → `Page`."""

from dataclasses import dataclass

from goodbot.page.document import read_extract
from goodbot.page.found import MAX_LINKS, Reference
from goodbot.page.html import read_html
from goodbot.page.resolved import page_of
from goodbot.url import Url
from goodbot.values import Event, Page, Response


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a browser has made of a page, and how that went.

    `html` is its document, None if it is to be read as it was fetched; `wishes` are where scripts wanted to go, as
    absolute URLs. `ready_at`: when the page's host may be asked again, whom its requests have asked meanwhile; else 0.
    """

    html: str | None
    wishes: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    ready_at: float = 0.0


def read_rendered(
    url: Url, response: Response, rendered: Rendered, token: str, limit_bytes: int, *, text: bool = True
) -> Page:
    """What `rendered` says, which a browser made of the `response` at `url`. Never raises.

    What is asked of robots holds whether it was asked before the scripts ran or after: the more restrictive counts.
    Bounds and `text` as of `read_page`; where a script wanted to go is a link.
    """
    _, before, encoding = read_extract(response, limit_bytes, url=url, text=text and rendered.html is None)
    found = before
    if rendered.html is not None:
        found, encoding = read_html(rendered.html[:limit_bytes], text=text), "utf-8"
        found.metas = [*found.metas, *before.metas]
    found.links += [Reference(wish, "", ()) for wish in rendered.wishes][: max(MAX_LINKS - len(found.links), 0)]
    return page_of(url, response, token, found, encoding)
