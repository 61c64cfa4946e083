"""A small page in gzip decompresses to 256 MB."""

from goodbot.exam.sites.bombs import bomb_site

SITE = bomb_site("gzip", "RFC 1952; CWE-409")
