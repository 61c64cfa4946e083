"""Tests that what a process learns about sites stays bounded, however many pages and hosts it visits."""

from goodbot.config import Settings
from goodbot.exclusion import Directives
from goodbot.lru import share_of
from goodbot.robot.lessons.copies import MAX_DIGESTS
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.lessons.traps import VisitedPage
from goodbot.robot.lessons.url_families import MAX_FAMILIES
from goodbot.url import Url
from goodbot.values import Page, Response

PROCESSES = 8
OPEN = Directives.parse((), (), "goodbot")
RESPONSE = Response(200, (("content-type", "text/html"),), b"a page")


def visit(knowledge: SiteKnowledge, number: int) -> None:
    """A page with bytes of its own, in a folder of its own."""
    page = Page(Url(f"http://host{number % 1000}.example/{number}/folder/page{number}"), OPEN, title="a page")
    knowledge.visited(VisitedPage(page, RESPONSE, (), 1e9), 3, follows=True)
    knowledge.same(page, RESPONSE, f"sha1:{number:032}")


def test_what_is_learned_about_sites_is_bounded() -> None:
    knowledge = SiteKnowledge(Settings(), lambda url, depth: True, PROCESSES)
    pages, families = share_of(MAX_DIGESTS, PROCESSES), share_of(MAX_FAMILIES, PROCESSES)
    for number in range(pages + 100):
        visit(knowledge, number)
    held = {holding.name: holding.entries for holding in knowledge.holdings()}
    assert held.keys() == {"compared_pages", "url_families"}
    assert pages * 3 // 4 < held["compared_pages"] <= pages
    assert families * 3 // 4 < held["url_families"] <= families
