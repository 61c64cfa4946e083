"""The connection leads to a server that does not know the site."""

from goodbot.exam.sites.again import again_site

SITE = again_site(
    421,
    "This server does not serve that site.",
    "421 is about the connection, not the page: a crawler may ask again on another connection.",
    "RFC 9110 15.5.20",
)
