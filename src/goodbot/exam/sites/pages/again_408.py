"""The server answers 408 once: it has waited too long on this connection."""

from goodbot.exam.sites.again import again_site

SITE = again_site(
    408,
    "The request took too long.",
    "Retry a page after 408 on a new connection: the status is about the connection, not the page.",
    "RFC 9110 15.5.9",
)
