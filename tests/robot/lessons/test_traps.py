"""Tests what is learned from pages, from the first page to the lesson."""

from collections.abc import Iterable
from datetime import date, timedelta
from hashlib import sha1

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.config import Settings
from goodbot.lesson_values import Lesson
from goodbot.page import read_page
from goodbot.robot.lessons.site_knowledge import PageJudgement, SiteKnowledge
from goodbot.robot.lessons.traps import VisitedPage
from goodbot.url import Url, parse_url
from goodbot.values import Discovery, LeasedUrl, Response

HOST = "http://example.org"
NOW = 1_793_000_000.0  # October 2026


def url(text: str) -> Url:
    """A URL, of this host if it names none."""
    parsed = parse_url(text if "://" in text else HOST + text)
    assert parsed is not None
    return parsed


class Robot:
    """One process, to which pages are shown one after another."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.experience = SiteKnowledge(settings or Settings(), lambda url, depth: "forbidden" not in url.text)
        self.known: set[Url] = set()
        self.lessons: list[Lesson] = []

    def shows(
        self, address: str, text: str = "", title: str = "title", links: Iterable[str] = (), head: str = ""
    ) -> PageJudgement:
        """A page that was fetched."""
        anchors = "".join(f'<p><a href="{link}">{link}</a>' for link in links)
        body = f"<html><head><title>{title}</title>{head}</head><body>{text}{anchors}</body></html>".encode()
        response = Response(200, (("Content-Type", "text/html; charset=utf-8"),), body)
        page = read_page(url(address), response, "goodbot", 1 << 20)
        news = [link.url for link in page.links if link.url not in self.known]
        self.known.update(news)
        found = tuple(Discovery(new, 1, page.url) for new in news)
        judged = self.experience.visited(VisitedPage(page, response, found, NOW), 1, follows=True)
        if judged == PageJudgement():
            judged = PageJudgement(
                copy=self.experience.same(page, response, sha1(body, usedforsecurity=False).hexdigest())
            )
        self.lessons += self.experience.news()
        return judged

    def refuses(self, address: str) -> str | None:
        """Why a link is not followed."""
        refusal = self.experience.refuse(url(address))
        return refusal.reason if refusal else None

    @property
    def taught(self) -> list[tuple[str, str]]:
        """Kind and subject of each lesson."""
        return [(lesson.kind, lesson.about.partition(" ")[2].removeprefix(HOST)) for lesson in self.lessons]


def test_a_folder_that_says_the_same_for_ever_is_closed() -> None:
    robot = Robot()
    for number in range(60):
        robot.shows(f"/gone/{number}", "Nothing to be seen.", links=[f"/gone/{number + 1}"])
    assert robot.taught == [("family", "/gone/0")]
    assert robot.refuses("/gone/99")
    assert robot.refuses("/gone/story") is None
    assert robot.refuses("/gone/deeper/99") is None
    assert robot.refuses("/other") is None


def test_what_is_numbered_closes_nothing_else_of_its_folder() -> None:
    robot = Robot()
    for number in range(60):
        robot.shows(f"/a/tag-{number}", "Nothing to be seen.", links=[f"/a/tag-{number + 1}"])
        robot.shows(f"/a/story-about-{chr(97 + number % 26)}", f"{number} stories. " * 40, f"Story {number}")
    assert robot.taught == [("family", "/a/tag-0")]


def test_ever_new_folders_that_say_the_same_are_closed_above() -> None:
    robot = Robot()
    for number in range(130):
        robot.shows(f"/deep/{number}/{number}/x", "Nothing to be seen.", links=[f"/deep/{number + 1}/"])
    assert robot.taught == [("family", "/deep/**")]


def test_lists_of_links_to_new_pages_stay_open() -> None:
    robot = Robot()
    for number in range(200):
        robot.shows(f"/list/{number}", "All we have.", links=[f"/thing/{number}-{n}" for n in range(5)])
    assert robot.lessons == []


def test_pages_that_send_their_reader_elsewhere_are_no_evidence() -> None:
    robot = Robot()
    for number in range(200):
        head = f'<meta http-equiv=refresh content="0; url=/new/{number % 3}">'
        robot.shows(f"/old/{number}", "This page has moved.", head=head)
    assert robot.lessons == []


def test_a_run_of_empty_pages_closes_no_folder_that_has_others() -> None:
    robot = Robot()
    for number in range(300):
        robot.shows(f"/doc/{number // 50}/{number}", "", f"About {'abcdefghij'[number % 10]} {'x' * number}")
    for number in range(130):
        robot.shows(f"/doc/{number}/more/{number}", "Nothing to be seen.")
    assert robot.lessons == []


def test_documents_without_text_stay_open() -> None:
    robot = Robot()
    for number in range(200):
        robot.shows(f"/app/{number}", "")
    assert robot.lessons == []


def test_a_calendar_without_events_is_closed_a_year_away() -> None:
    robot = Robot()
    for number in range(40):
        year, month = divmod(2026 * 12 + number, 12)
        address = f"/calendar?month={year}-{month + 1:02d}"
        if robot.refuses(address):
            break
        robot.shows(address, "Nothing happens.", links=["/calendar"])
    assert number == 24
    assert [kind for kind, _ in robot.taught] == ["calendar"]
    assert robot.refuses("/calendar?month=2026-06") is None
    assert "a trap: an endless calendar" in str(robot.refuses("/calendar?month=2099-01"))


def test_a_calendar_is_closed_in_both_directions() -> None:
    robot, asked = Robot(), 0
    for step in (1, -1):
        for number in range(200):
            year, month = divmod(2026 * 12 + step * number, 12)
            if robot.refuses(f"/calendar?month={year}-{month + 1:02d}") is None:
                robot.shows(f"/calendar?month={year}-{month + 1:02d}", "Nothing.")
                asked += 1
    assert asked < 100


@pytest.mark.parametrize("step", [1, -1], ids=["forwards", "backwards"])
@pytest.mark.parametrize("address", ["/calendar?year=%Y&month=%m", "/calendar/%Y/%m/", "/day/%Y-%m-%d"])
def test_a_calendar_whose_pages_say_their_own_date_is_closed(address: str, step: int) -> None:
    robot, day, asked = Robot(), date(2026, 11, 1), 0
    is_days = "%d" in address
    while robot.refuses(day.strftime(address)) is None and asked < 1000:
        beyond = day + timedelta(days=step) if is_days else date(day.year, day.month, 15) + timedelta(days=30 * step)
        beyond = beyond if is_days else beyond.replace(day=1)
        name = day.strftime("%A, %d %B %Y" if is_days else "%B %Y")
        robot.shows(day.strftime(address), f"Events: none on {name}.", name, links=[beyond.strftime(address)])
        day, asked = beyond, asked + 1
    assert asked < 500
    assert "a trap: an endless calendar" in str(robot.refuses(day.strftime(address)))


@pytest.mark.parametrize("address", ["/calendar?month=%Y%m", "/calendar/%B-%Y"])
def test_months_whose_names_are_their_only_news_are_closed_whatever_their_address(address: str) -> None:
    robot, grid = Robot(), " ".join(f"Day{number}" for number in range(60))
    for number in range(100):
        month = date(2026 + number // 12, number % 12 + 1, 1)
        if robot.refuses(month.strftime(address)):
            break
        robot.shows(month.strftime(address), f"Calendar of {month:%B %Y}: {grid}", f"{month:%B %Y}")
    assert number < 80


@pytest.mark.parametrize(
    "texts",
    [
        [f"{12 + n % 17} {n * 7 % 31} {n} degrees." for n in range(400)],
        ["" for _ in range(400)],
    ],
    ids=["numbers", "nothing said"],
)
def test_an_archive_of_days_without_words_is_no_calendar(texts: list[str]) -> None:
    robot = Robot()
    for number, text in enumerate(texts):
        robot.shows(f"/weather/{date(2024, 6, 1) - timedelta(days=number)}", text and f"Weather: {text}", "Weather")
    assert robot.lessons == []


def test_months_that_lead_to_pages_of_their_own_are_no_calendar() -> None:
    robot = Robot()
    for number in range(400):
        month = date(2026 - number // 12, 12 - number % 12, 1)
        robot.shows(f"{month:/%Y/%m/}", "Archive.", f"{month:%B %Y}", links=[f"/post{number}", f"{month:/%Y/}"])
    assert robot.lessons == []


def test_a_blog_of_many_years_is_no_calendar() -> None:
    robot = Robot()
    for number in range(400):
        year, month = divmod(1990 * 12 + number, 12)
        robot.shows(
            f"/{year}/{month + 1:02d}/",
            f"What was written in month {number}.",
            links=[f"/{year}/{month + 1}/p{number}"],
        )
    assert robot.lessons == []


def test_a_session_id_is_learned_and_its_page_asked_for_without_it() -> None:
    robot = Robot()
    for number in range(60):
        here, there = number % 8, (number + 1) % 8
        robot.shows(
            f"/page/{here}?sid={number}", f"All about {here}.", f"Page {here}", [f"/page/{there}?sid={number + 1}"]
        )
    assert robot.taught == [("parameter", "sid")]
    assert robot.experience.cleaned(url("/page/3?sid=99&x=1")) == url("/page/3?x=1")
    refusal = robot.experience.refuse_leased(LeasedUrl(url("/page/3?sid=99"), 1))
    assert refusal is not None
    assert refusal.instead == url("/page/3")
    assert robot.experience.refuse_leased(LeasedUrl(url("/page/3?sid=99"), 0)) is None
    assert robot.experience.refuse_leased(LeasedUrl(url("/page/3?sid=99"), 1, hops=1)) is None


def test_pages_of_a_list_are_no_sessions() -> None:
    robot = Robot()
    for number in range(40):
        for path in ("/news", "/shop"):
            robot.shows(
                f"{path}?page={number}", "Our list.", links=[f"{path}?item={number}", f"{path}?page={number + 1}"]
            )
    assert robot.lessons == []


def test_sorry_pages_are_soft_404() -> None:
    robot = Robot()
    found = [
        robot.shows(f"/{folder}/x{n}", f"Sorry, /{folder}/x{n} was not found.", "Not found").soft_404
        for n, folder in enumerate("abcdef")
    ]
    assert found[:3] == [None] * 3
    assert found[3] == "soft 404: status 200, but the same error text as 3 other pages, such as /a/x0"


def test_a_page_about_404_is_none() -> None:
    robot = Robot()
    assert all(robot.shows(f"/{n}/x", f"Status {n}: 404 means not found.").soft_404 is None for n in range(10))


def test_a_mirror_is_left_for_what_it_mirrors() -> None:
    robot = Robot()
    for number in range(3):
        robot.shows(
            f"http://m.example.org/{number}", f"All about {number}", head=f'<link rel=canonical href="{HOST}/{number}">'
        )
    assert [(lesson.kind, lesson.about) for lesson in robot.lessons] == [("mirror", f"http://m.example.org {HOST}")]
    refusal = robot.experience.refuse(url("http://m.example.org/9?x"))
    assert refusal is not None
    assert refusal.instead == url("/9?x")


def test_a_canonical_that_may_not_be_asked_for_changes_nothing() -> None:
    robot = Robot()
    for number in range(9):
        head = f'<link rel=canonical href="http://c.example/forbidden/{number}">'
        assert robot.shows(f"/forbidden/{number}", f"All about {number}", head=head) == PageJudgement()
    assert robot.lessons == []


def test_what_is_switched_off_is_neither_seen_nor_learned() -> None:
    robot = Robot(Settings(traps=False, duplicates=False, clean_urls=False))
    for number in range(60):
        judged = robot.shows(f"/gone/{number}", "Not found.", head='<link rel=canonical href="/">')
        assert judged == PageJudgement()
    assert robot.lessons == []
    assert robot.refuses("/a/b/a/b/a/b/a/b/") is None
    assert robot.experience.cleaned(url("/a?utm_source=x")) == url("/a?utm_source=x")


def test_what_another_process_has_learned_is_in_force_here() -> None:
    one, other = Robot(), Robot()
    for number in range(60):
        one.shows(f"/gone/{number}", "Nothing to be seen.")
    other.experience.take(one.lessons)
    assert other.refuses("/gone/99") == one.refuses("/gone/99") is not None


@given(
    st.lists(
        st.tuples(st.text(alphabet="/?&=ab12-", max_size=20), st.text(max_size=40), st.text(max_size=8)), max_size=30
    )
)
@settings(deadline=None)
def test_no_pages_make_it_raise(pages: list[tuple[str, str, str]]) -> None:
    robot = Robot()
    for address, text, title in pages:
        robot.shows(f"/{address}", text, title, [f"/{address}{text[:5]}"])
        robot.refuses(f"/{address}")
