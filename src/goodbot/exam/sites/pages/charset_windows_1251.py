"""Pages are in windows-1251, named by a header, by META, or by an alias."""

from goodbot.exam.sites.charsets import CharsetPage, charset_site

SITE = charset_site(
    "charset-windows-1251",
    "Decode windows-1251 pages under any of its names, and request Russian paths as percent-encoded UTF-8.",
    "WHATWG Encoding 4.2; WHATWG URL 4.4; HTML 13.2.3",
    (
        CharsetPage("by-header", "поиск", "cp1251", header="Windows-1251"),
        CharsetPage("by-meta", "роботы", "cp1251", meta="<meta charset=windows-1251>"),
        CharsetPage("by-other-name", "ёлка", "cp1251", header='"cp1251"'),
    ),
)
