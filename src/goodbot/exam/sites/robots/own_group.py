"""robots.txt has a group for the requesting robot, by the name in its User-Agent, and one for all robots."""

import re

from goodbot.exam.exam_values import ExamRequest, ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

_WORD = r"[^\s/();,:]{1,64}"
_CLAIMED = re.compile(rf"compatible;\s*({_WORD})")
_BROWSERS = ("mozilla", "applewebkit", "chrome", "headlesschrome", "safari", "gecko", "firefox", "version", "mobile")


def token_of(request: ExamRequest) -> str:
    """Returns the name a robot gives itself, at most 64 characters: the one after `compatible;`, else its first product
    that is not a browser, else its first product.
    """
    agent = (request.header("User-Agent") or "")[:1000]
    claimed: list[str] = _CLAIMED.findall(agent)
    products: list[str] = re.findall(rf"({_WORD})/", agent) or re.findall(_WORD, agent) or ["nobody"]
    named = (product for product in products if product.lower() not in _BROWSERS)
    return claimed[0] if claimed else next(named, products[0])


async def _robots(exchange: Exchange) -> None:
    own = token_of(exchange.request)
    await exchange.reply(robots(f"User-agent: *\nDisallow: /for-you\n\nUser-agent: {own}\nDisallow: /for-others\n"))


SITE = ExamSite(
    name="robots-own-group",
    teaches="Follow only the group that names your robot, if there is one.",
    source="RFC 9309 2.2.1",
    pages=pages(_robots, "/for-you", "/for-others"),
    expects=(DoesNotFetch(("/for-others",)), Fetches(("/", "/for-you"))),
)
