"""Pages that say the wrong thing about their charset, or two things."""

from goodbot.exam.sites.charsets import Written, charset_site

SITE = charset_site(
    "charset-lies",
    "Byte order mark beats header, header beats META, an unknown name says nothing, and iso-8859-1 is windows-1252.",
    "HTML 13.2.3.2; WHATWG Encoding 4.2, 6",
    (
        Written("header-over-meta", "правда", "koi8-r", header="koi8-r", meta="<meta charset=utf-8>"),
        Written("bom-over-header", "марка", "utf-8", header="windows-1251", bom=True),
        Written("unknown-name", "имя", "cp1251", header="klingon", meta="<meta charset=windows-1251>"),
        Written("latin-1-is-1252", "5€", "cp1252", header="iso-8859-1"),
        Written("meta-utf-16", "широко", "utf-8", meta="<meta charset=utf-16>"),
        Written("meta-in-comment", "тайна", "cp1251", meta="<!-- <meta charset=koi8-r> --><meta charset=windows-1251>"),
    ),
)
