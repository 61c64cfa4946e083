"""Pages are in Shift_JIS, where the second byte of a character may equal a backslash."""

from goodbot.exam.sites.charsets import CharsetPage, charset_site, http_equiv

SITE = charset_site(
    "charset-shift-jis",
    "Decode Shift_JIS pages: a second byte that equals a backslash is part of a character, not a backslash.",
    "WHATWG Encoding 12.3; WHATWG URL 4.4; HTML 13.2.3",
    (
        CharsetPage("by-header", "表示", "shift_jis", header="Shift_JIS"),
        CharsetPage("by-meta", "ソフト", "shift_jis", meta=http_equiv("Shift_JIS")),
        CharsetPage("by-other-name", "機能", "cp932", meta="<meta charset='x-sjis'>"),
    ),
)
