"""One page has META directives for the requesting crawler, another has some for a different robot.

The page names the crawler by the product token of its User-Agent, or says `robots` if there is none.
"""

from html import escape

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages
from goodbot.exam.expectations import DoesNotFetch, Fetches
from goodbot.exclusion import product_token


async def _mine(exchange: Exchange) -> None:
    name = product_token(exchange.request.header("User-Agent") or "") or "robots"
    head = f'<meta name="{escape(name)}" content="nofollow">'
    await exchange.reply(page("/only-from-mine", title="For you", head=head))


SITE = ExamSite(
    name="meta-one-robot",
    teaches="Obey META directives that name your product token, and ignore those for other robots.",
    source="Google, robots meta tag; RFC 9309 2.2.1",
    pages={
        **pages(None, "/mine", "/theirs"),
        "/mine": _mine,
        "/theirs": page("/from-theirs", title="For another", head='<meta name="otherbot" content="nofollow">'),
        "/only-from-mine": page(),
        "/from-theirs": page(),
    },
    expects=(
        Fetches(("/", "/mine", "/theirs", "/from-theirs")),
        DoesNotFetch(("/only-from-mine",), rule="directives"),
    ),
)
