"""A small page in zstd decompresses to 256 MB."""

from goodbot.exam.sites.bombs import bomb_site

SITE = bomb_site("zstd", "RFC 8878; RFC 9659; CWE-409")
