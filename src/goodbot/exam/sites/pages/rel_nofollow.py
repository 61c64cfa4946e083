"""Single links have rel=nofollow: alone, among other words, in capitals."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import DoesNotFetch, Fetches

LINKS = """
<p><a href="/closed/1" rel="nofollow">one</a>
<p><a rel="noopener nofollow ugc" href="/closed/2">two</a>
<p><a href="/closed/3" REL=NOFOLLOW>three</a>
<p><a href="/other-words" rel="noopener nofollower">four</a>
"""

SITE = ExamSite(
    name="rel-nofollow",
    teaches="Do not follow a link with nofollow in its rel attribute; follow the other links of the page.",
    source="Google, 2005; HTML, link type nofollow",
    pages={
        **pages(None, "/open", "/other-words", start=page("/open", title="Start", text=LINKS)),
        **{f"/closed/{n}": page() for n in (1, 2, 3)},
    },
    expects=(Fetches(("/", "/open", "/other-words")), DoesNotFetch(("/closed/*",), rule="directives")),
)
