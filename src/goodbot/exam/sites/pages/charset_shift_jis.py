"""Pages in Shift_JIS, whose characters may hold the byte of a backslash."""

from goodbot.exam.sites.charsets import Written, charset_site, http_equiv

SITE = charset_site(
    "charset-shift-jis",
    "A page in Shift_JIS is read as such: the second byte of a character may be that of a backslash, and is none.",
    "WHATWG Encoding 12.3; WHATWG URL 4.4; HTML 13.2.3",
    (
        Written("by-header", "表示", "shift_jis", header="Shift_JIS"),
        Written("by-meta", "ソフト", "shift_jis", meta=http_equiv("Shift_JIS")),
        Written("by-other-name", "機能", "cp932", meta="<meta charset='x-sjis'>"),
    ),
)
