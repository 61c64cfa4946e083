"""Pages in KOI8-R, said so by header and by META."""

from goodbot.exam.sites.charsets import Written, charset_site, http_equiv

SITE = charset_site(
    "charset-koi8-r",
    "A page in KOI8-R is read as such, and a Russian path in it is asked for in UTF-8.",
    "RFC 1489; WHATWG URL 4.4; HTML 13.2.3",
    (
        Written("by-header", "каталог", "koi8-r", header="koi8-r"),
        Written("by-meta", "страница", "koi8-r", meta=http_equiv("koi8-r")),
    ),
)
