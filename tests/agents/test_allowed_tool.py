"""The tools `allowed` and `why` without a crawl: what robots.txt says."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.fake_pages import TOKEN, FakePages, carried_out_or_refused, rules
from agents.test_arguments import JSON
from goodbot.agents.allowed_tool import AllowedTool
from goodbot.agents.call_limits import CallLimits
from goodbot.agents.why_tool import WhyRules
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.testing import FakeClock
from goodbot.url import Url

ROBOTS = """\
User-agent: goodbot
Crawl-delay: 7
Content-Signal: search=yes, ai-input=no
Disallow: /closed
Allow: /closed/open

User-agent: OtherBot
Disallow: /
"""


def pages_of(**files: str) -> FakePages:
    return FakePages({f"https://{name}.example": rules(text) for name, text in files.items()})


def allowed(pages: FakePages, **values: object) -> Any:
    limits = CallLimits(FakeClock(1000.0), pages.expected_at)
    return asyncio.run(AllowedTool(pages, TOKEN, limits).call(values))


def why(pages: FakePages, url: str) -> Any:
    limits = CallLimits(FakeClock(1000.0), pages.expected_at)
    return asyncio.run(WhyRules(pages, TOKEN, limits).call({"url": url}))


def test_a_verdict_names_rule_line_delay_and_uses() -> None:
    result = allowed(pages_of(a=ROBOTS), url="https://a.example/closed/x")
    (verdict,) = result.data["verdicts"]
    expected = {"outcome": "verdict", "allowed": False, "line": 4, "rule": "Disallow: /closed", "delay_s": 7.0}
    expected |= {"section": "RFC 9309 2.2.2", "agent": "goodbot", "access": "successful"}
    expected |= {"preferences": {"search": "allowed", "ai-input": "disallowed", "ai-train": "unknown"}}
    assert {name: verdict[name] for name in expected} == expected
    assert "disallowed for goodbot: https://a.example/closed/x: Disallow: /closed (line 4)" in result.text
    assert "The site asks for 7 s between requests. Uses of the content: search: allowed" in result.text


def test_several_urls_and_another_robot() -> None:
    pages = pages_of(a=ROBOTS, b="")
    urls = ["https://a.example/1", "https://b.example/", "https://a.example/1", "https://a.example:443/2"]
    result = allowed(pages, urls=urls, agent="Mozilla/5.0 (compatible; OtherBot/2.0)")
    found = [(verdict["url"], verdict["allowed"]) for verdict in result.data["verdicts"]]
    assert found == [("https://a.example/1", False), ("https://b.example/", True), ("https://a.example/2", False)]
    assert sorted(pages.asked) == ["rules https://a.example", "rules https://b.example"]
    assert len(result.text.splitlines()) == 3


def test_the_verdict_is_about_the_url_that_would_be_requested() -> None:
    for spelling in (
        "https://A.example:443/x/../closed",
        "https://a.example./closed",
        "https://u:p@a.example/%63losed",
        "https://a.example/%2e/closed#open",
        "https:\\\\a.example\\closed",
    ):
        (verdict,) = allowed(pages_of(a=ROBOTS), url=spelling).data["verdicts"]
        assert (verdict["allowed"], verdict["line"]) == (False, 4), spelling


def test_a_private_host_and_one_that_has_to_wait() -> None:
    pages = pages_of(a=ROBOTS)
    pages.files["https://in.example"] = Access.from_failure("private-address", 0.0, detail="10.1.2.3")
    pages.files["https://slow.example"] = Access.from_failure("held-off", 1000.0, retry_s=90)
    urls = ["https://in.example/", "https://slow.example/", "https://a.example/"]
    result = allowed(pages, urls=urls)
    assert [verdict["outcome"] for verdict in result.data["verdicts"]] == ["refused", "wait", "verdict"]
    assert result.data["verdicts"][1]["retry_after_s"] == 90
    assert "10.1.2.3" not in str(result)
    assert [why(pages, url).data["outcome"] for url in urls] == ["refused", "wait", "verdict"]


async def test_a_robots_txt_without_a_complete_response_has_failed() -> None:
    class SilentPages(FakePages):
        async def rules(self, url: Url) -> Access:
            await asyncio.Event().wait()
            raise AssertionError

    pages, url = SilentPages(), "https://a.example/"
    limits = CallLimits(FakeClock(1000.0), pages.expected_at, call_most_s=0.01)
    verdicts: Any = (await AllowedTool(pages, TOKEN, limits).call({"url": url})).data["verdicts"]
    for data in (*verdicts, (await WhyRules(pages, TOKEN, limits).call({"url": url})).data):
        assert (data["outcome"], data["reason"]) == ("failed", "there was no complete response within 0.01 s")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({}, "url or urls is missing: give one of them"),
        ({"url": "https://a.example/", "urls": ["https://a.example/"]}, "give url or urls, not both"),
        ({"url": "https://a.example/", "agent": " "}, "agent is empty"),
        ({"url": "https://a.example/", "agent": "a" * 201}, "at most 200 characters"),
        ({"url": "https://a.example/", "dialect": "1994"}, "the arguments are url, urls, agent"),
    ],
)
def test_arguments_that_cannot_be_used(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        allowed(FakePages(), **values)


def test_why_explains_the_verdict() -> None:
    result = why(pages_of(a=ROBOTS), "https://a.example/closed/open")
    assert result.data["allowed"] is True
    assert result.data["lost"] == [{"line": 4, "rule": "Disallow: /closed"}]
    assert result.data["group"] == {"line": 1, "agents": ["goodbot"]}
    assert "also matches, but is overridden: Disallow: /closed (line 4)" in result.text
    assert "disallows ai-input" in result.data["preference_reasons"]["ai-input"]


@given(
    st.dictionaries(st.sampled_from(["url", "urls", "agent", "x"]), JSON | st.just("https://a.example/"), max_size=4)
)
def test_any_arguments_give_a_result_or_an_error_of_one_line(values: dict[str, object]) -> None:
    pages = FakePages()
    result = carried_out_or_refused(AllowedTool(pages, TOKEN, CallLimits(FakeClock(), pages.expected_at)), values)
    assert result.is_error or result.data["verdicts"]


@given(st.text(alphabet="UserAgntDilowACSigu: -*/=\n\x1b\ud800", max_size=300), st.text(max_size=40))
def test_no_robots_txt_makes_a_result_of_more_lines(text: str, path: str) -> None:
    pages = FakePages({"https://a.example": Access.from_response(200, [], text.encode("utf-8", "replace"), 0.0)})
    result = allowed(pages, url=f"https://a.example/{path}")
    assert len(result.text.split("\n")) == 1
    assert "\x1b" not in result.text
