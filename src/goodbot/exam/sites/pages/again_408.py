"""The server lost patience with a connection."""

from goodbot.exam.sites.again import again_site

SITE = again_site(
    408,
    "The request took too long.",
    "408 is about the connection, not the page: a crawler may ask again on another connection.",
    "RFC 9110 15.5.9",
)
