"""The recipes of known crawlers: each obeys robots.txt, one request per host at a time, throttled."""

from typing import Final

from goodbot.exam.command_recipes import CURL, GOODBOT, HTTRACK, LINKCHECKER, WGET, WGET2
from goodbot.exam.library_recipes import (
    CRAWL4AI,
    CRAWLEE,
    CRAWLEE_PYTHON,
    LWP,
    SCRAPY,
    SCRAPY_WITH_GOODBOT,
    SIMPLECRAWLER,
    SPIDER,
    SUPERCRAWLER,
    TRAFILATURA,
)
from goodbot.exam.recipe import Recipe

RECIPES: Final[dict[str, Recipe]] = {
    recipe.name: recipe
    for recipe in (
        SCRAPY,
        SCRAPY_WITH_GOODBOT,
        CRAWLEE,
        CRAWLEE_PYTHON,
        CRAWL4AI,
        TRAFILATURA,
        SUPERCRAWLER,
        SIMPLECRAWLER,
        SPIDER,
        WGET,
        WGET2,
        HTTRACK,
        LINKCHECKER,
        LWP,
        CURL,
        GOODBOT,
    )
}
"""All recipes by name, goodbot's last."""
