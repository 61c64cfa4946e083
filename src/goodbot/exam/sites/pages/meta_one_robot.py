"""META for one robot: one page names the crawler that asks, another names some other robot.

The crawler is called by the product token of its own User-Agent; one that gives none is spoken to as all robots are.
"""

from html import escape

from goodbot.exam.exam_values import ExamSite, Exchange, page, pages
from goodbot.exam.expectations import Finds, Never
from goodbot.exclusion import product_token


async def _mine(exchange: Exchange) -> None:
    name = product_token(exchange.asked.header("User-Agent") or "") or "robots"
    head = f'<meta name="{escape(name)}" content="nofollow">'
    await exchange.reply(page("/only-from-mine", title="For you", head=head))


SITE = ExamSite(
    name="meta-one-robot",
    teaches="META directives that name the crawler's own product token are for it, those for another robot are not.",
    source="Google, robots meta tag; RFC 9309 2.2.1",
    pages={
        **pages(None, "/mine", "/theirs"),
        "/mine": _mine,
        "/theirs": page("/from-theirs", title="For another", head='<meta name="otherbot" content="nofollow">'),
        "/only-from-mine": page(),
        "/from-theirs": page(),
    },
    expects=(
        Finds(("/", "/mine", "/theirs", "/from-theirs")),
        Never(("/only-from-mine",), rule="directives"),
    ),
)
