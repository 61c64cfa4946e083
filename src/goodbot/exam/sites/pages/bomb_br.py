"""A small page in br decompresses to 256 MB."""

from goodbot.exam.sites.bombs import bomb_site

SITE = bomb_site("br", "RFC 7932; CWE-409")
