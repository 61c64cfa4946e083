"""The statuses of answers to URLs that visitors type, the same for pages and for programs."""

from goodbot.errors import UnusableUrlError, UrlError


def url_status(error: UrlError) -> int:
    """Returns 400 for a text that is not a URL, and 404 for a URL that no server can have, as for any other that is not
    known."""
    return 404 if isinstance(error, UnusableUrlError) else 400
