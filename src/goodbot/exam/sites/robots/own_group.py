"""A group for whoever asks, and another for all robots. The file is written for the name in the User-Agent."""

import re

from goodbot.exam.exam_values import ExamRequest, ExamSite, Exchange, pages, robots
from goodbot.exam.expectations import Finds, Never

_WORD = r"[^\s/();,:]{1,64}"
_CLAIMED = re.compile(rf"compatible;\s*({_WORD})")
_BROWSERS = ("mozilla", "applewebkit", "chrome", "headlesschrome", "safari", "gecko", "firefox", "version", "mobile")


def token_of(asked: ExamRequest) -> str:
    """The name a robot gives itself: what follows `compatible;`, else its first product that is no browser.

    Who gives no other name is called by the first product all the same. At most 64 characters.
    """
    agent = (asked.header("User-Agent") or "")[:1000]
    claimed: list[str] = _CLAIMED.findall(agent)
    products: list[str] = re.findall(rf"({_WORD})/", agent) or re.findall(_WORD, agent) or ["nobody"]
    named = (product for product in products if product.lower() not in _BROWSERS)
    return claimed[0] if claimed else next(named, products[0])


async def _robots(exchange: Exchange) -> None:
    own = token_of(exchange.asked)
    await exchange.reply(robots(f"User-agent: *\nDisallow: /for-you\n\nUser-agent: {own}\nDisallow: /for-others\n"))


SITE = ExamSite(
    name="robots-own-group",
    teaches="A robot that is named follows its own group, and that group alone.",
    source="RFC 9309 2.2.1",
    pages=pages(_robots, "/for-you", "/for-others"),
    expects=(Never(("/for-others",)), Finds(("/", "/for-you"))),
)
