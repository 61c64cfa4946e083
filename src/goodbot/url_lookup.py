"""Looks a URL up in the frontier of a crawl, by the name under which the crawl requests it."""

from pathlib import Path

from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.ports import CrawlReader
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.url import Url
from goodbot.visitor_values import UrlReport


def look_up(path: Path, url: Url) -> UrlReport:
    """Returns what the crawl in `path` knows about `url`, or else about the URL it would request for a link to `url`.
    Raises InputError if there is no crawl."""
    folder = CrawlFolder(path)
    folder.check()
    with folder.open_reader() as frontier:
        return report_on(frontier, folder.settings_before(), url)


def report_on(frontier: CrawlReader, settings: Settings, url: Url) -> UrlReport:
    """Does the same as `look_up` in an open frontier, for a crawl with `settings`."""
    knowledge = SiteKnowledge(settings, lambda url, depth: True)
    knowledge.take(frontier.load_lessons([url.host_key]))
    lesson = knowledge.lesson_about(url)
    record = frontier.record(url)
    if record is not None:
        return UrlReport(url, record, lesson, _trap(knowledge, url))
    access = frontier.load_robots(url.origin)
    if access is not None:
        knowledge.take_clean_params(url.origin, access.rules.clean_params)
    cleaned = knowledge.cleaned(url)
    record = frontier.record(cleaned) if cleaned != url else None
    return UrlReport(cleaned, record, lesson, _trap(knowledge, cleaned))


def _trap(knowledge: SiteKnowledge, url: Url) -> str:
    refusal = knowledge.refuse(url)
    return refusal.reason if refusal is not None else ""
