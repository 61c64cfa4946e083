"""Pages in windows-1251, said so by header, by META and by one of its other names."""

from goodbot.exam.sites.charsets import Written, charset_site

SITE = charset_site(
    "charset-windows-1251",
    "A page in windows-1251, by any of its names, is read as such, and a Russian path in it is asked for in UTF-8.",
    "WHATWG Encoding 4.2; WHATWG URL 4.4; HTML 13.2.3",
    (
        Written("by-header", "поиск", "cp1251", header="Windows-1251"),
        Written("by-meta", "роботы", "cp1251", meta="<meta charset=windows-1251>"),
        Written("by-other-name", "ёлка", "cp1251", header='"cp1251"'),
    ),
)
