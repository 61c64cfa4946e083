"""Reads URLs as visitors type them, also without a scheme."""

from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.url import Url
from goodbot.url_lookup import report_on
from goodbot.visitor_urls import lacks_scheme, plain_url, visitor_url


class TypedUrls:
    """Reads URLs for the crawl in a folder, running or not. Several threads may use it."""

    def __init__(self, folder: CrawlFolder, bounds: CrawlBounds) -> None:
        self._folder = folder
        self._bounds = bounds

    def read(self, text: str) -> Url:
        """Returns the URL that a visitor typed. An address without a scheme, such as search results show it, has the
        scheme under which the crawl knows it, else that of a seed with this host and port, else https. A word alone is
        an address only if the crawl knows it. Raises UrlError if it is not the URL of a page; InputError or RunError if
        the crawl's files cannot be used."""
        url = visitor_url(text)
        if not lacks_scheme(text):
            return url
        meant = url, visitor_url(text, "http")
        bounds = self._bounds.current()
        with self._folder.open_reader() as frontier:
            known = [one for one in meant if report_on(frontier, bounds.settings, one).record is not None]
        found = next((one for one in (*known, *meant) if one in known or one.origin in bounds.origins), None)
        return found or plain_url(text)
