"""Pages are in KOI8-R, and a header or META says so."""

from goodbot.exam.sites.charsets import CharsetPage, charset_site, http_equiv

SITE = charset_site(
    "charset-koi8-r",
    "Decode KOI8-R pages, and request the Russian paths in them as percent-encoded UTF-8.",
    "RFC 1489; WHATWG URL 4.4; HTML 13.2.3",
    (
        CharsetPage("by-header", "каталог", "koi8-r", header="koi8-r"),
        CharsetPage("by-meta", "страница", "koi8-r", meta=http_equiv("koi8-r")),
    ),
)
