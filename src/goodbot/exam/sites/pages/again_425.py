"""The server answers 425 (Too Early) once."""

from goodbot.exam.sites.again import again_site

SITE = again_site(
    425,
    "Too early to answer that.",
    "Retry a page after 425 (Too Early): the server may answer the same request a little later.",
    "RFC 8470 5.2",
)
