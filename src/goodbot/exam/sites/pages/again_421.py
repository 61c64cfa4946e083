"""The server answers 421 once: this connection does not serve the site."""

from goodbot.exam.sites.again import again_site

SITE = again_site(
    421,
    "This server does not serve that site.",
    "Retry a page after 421 on a new connection: the status is about the connection, not the page.",
    "RFC 9110 15.5.20",
)
