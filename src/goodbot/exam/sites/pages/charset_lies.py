"""Pages name a wrong charset, or two charsets."""

from goodbot.exam.sites.charsets import CharsetPage, charset_site

SITE = charset_site(
    "charset-lies",
    "Believe the byte order mark, then the header, then META, and skip unknown names; iso-8859-1 means windows-1252.",
    "HTML 13.2.3.2; WHATWG Encoding 4.2, 6",
    (
        CharsetPage("header-over-meta", "правда", "koi8-r", header="koi8-r", meta="<meta charset=utf-8>"),
        CharsetPage("bom-over-header", "марка", "utf-8", header="windows-1251", bom=True),
        CharsetPage("unknown-name", "имя", "cp1251", header="klingon", meta="<meta charset=windows-1251>"),
        CharsetPage("latin-1-is-1252", "5€", "cp1252", header="iso-8859-1"),
        CharsetPage("meta-utf-16", "широко", "utf-8", meta="<meta charset=utf-16>"),
        CharsetPage(
            "meta-in-comment", "тайна", "cp1251", meta="<!-- <meta charset=koi8-r> --><meta charset=windows-1251>"
        ),
    ),
)
