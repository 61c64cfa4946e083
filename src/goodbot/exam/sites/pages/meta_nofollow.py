"""META nofollow for all robots."""

from goodbot.exam.expectations import Finds, Never
from goodbot.exam.values import Site, page, pages

SITE = Site(
    name="meta-nofollow",
    teaches="Links of a page with META robots nofollow are not followed, links of others are.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/closed"),
        "/closed": page("/only-from-closed", head='<meta name="robots" content="nofollow">'),
        "/only-from-closed": page(),
    },
    expects=(Finds(("/", "/open", "/closed")), Never(("/only-from-closed",), rule="directives")),
)
