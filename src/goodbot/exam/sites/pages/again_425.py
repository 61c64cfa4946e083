"""Too early, says the server."""

from goodbot.exam.sites.again import again_site

SITE = again_site(
    425,
    "Too early to answer that.",
    "425 means that the same request may be answered a little later: a crawler may ask again.",
    "RFC 8470 5.2",
)
