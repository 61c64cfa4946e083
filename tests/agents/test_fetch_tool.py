"""The tool `fetch`, over pages without a network."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.fake_pages import TOKEN, FakePages, carried_out_or_refused, page_of, rules
from agents.test_arguments import JSON
from goodbot.agents.call_limits import CallLimits
from goodbot.agents.fetch_tool import KEPT_S, MAX_CHARS, MAX_LINKS, FetchTool
from goodbot.agents.tool import ToolResult
from goodbot.errors import InputError
from goodbot.exclusion import Access, RobotsTxt
from goodbot.exclusion.uses.preferences import USES
from goodbot.testing import FakeClock
from goodbot.url import Url
from goodbot.values import Failure, Link

HOME = "https://example.org/"


def tool_of(pages: FakePages, clock: FakeClock | None = None, **options: Any) -> FetchTool:
    clock = clock or FakeClock(1000.0)
    return FetchTool(pages, TOKEN, CallLimits(clock, pages.expected_at, **options), clock)


async def fetched(pages: FakePages, **given_values: object) -> ToolResult:
    return await tool_of(pages).call({"url": HOME, **given_values})


async def test_a_page_is_given_with_its_facts() -> None:
    result = await fetched(FakePages())
    assert not result.is_error
    assert result.text == f"URL: {HOME}\ntitle: Clocks\nlang: en\n\n**tick** tock"
    assert result.data["verdict"] is not None
    expected = {"outcome": "page", "url": HOME, "final_url": HOME, "status": 200, "title": "Clocks", "author": None}
    expected |= {"as": "markdown", "content": "**tick** tock", "start": 0, "end": 13, "total_chars": 13}
    expected |= {"next_start": None, "preferences": dict.fromkeys(USES, "unknown"), "type": "text/html"}
    assert {name: result.data[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("form", "content"),
    [("text", "tick tock"), ("html", "<b>tick</b> tock"), ("links", "https://example.org/b to b\nhttps://c.example/")],
)
async def test_other_forms(form: str, content: str) -> None:
    links = (Link(Url("https://example.org/b"), " to\n b "), Link(Url("https://c.example/"), ""))
    pages = FakePages(pages={HOME: page_of(links=links)})
    assert (await fetched(pages, **{"as": form})).data["content"] == content


async def test_links_beyond_the_limit_are_counted_as_unread() -> None:
    def links(count: int) -> FakePages:
        found = tuple(Link(Url(f"https://example.org/{number}"), "") for number in range(count))
        return FakePages(pages={HOME: page_of(links=found, unread="the rest")})

    few = await fetched(links(MAX_LINKS), **{"as": "links"}, max_chars=MAX_CHARS)
    assert few.data["unread"] == "the rest"
    many = await fetched(links(MAX_LINKS + 1), **{"as": "links"}, max_chars=MAX_CHARS)
    assert many.data["unread"] == "the rest; only the first 2,000 of 2,001 links are returned"
    assert "unread: the rest; only the first" in many.text
    assert many.data["content"] == few.data["content"]
    assert (await fetched(links(MAX_LINKS + 1))).data["unread"] == "the rest"


async def test_the_whole_page_is_another_reading() -> None:
    pages = FakePages()
    await fetched(pages, whole=True)
    assert pages.asked == ["rules https://example.org", f"{HOME} whole"]


async def test_a_long_page_is_cut_between_paragraphs_and_read_on_without_a_request() -> None:
    text = "\n\n".join(f"paragraph {number} " + "x" * 60 for number in range(100))
    pages, clock = FakePages(pages={HOME: page_of(markdown=text)}), FakeClock(1000.0)
    tool = tool_of(pages, clock)
    parts, start = list[str](), 0
    while True:
        data = (await tool.call({"url": HOME, "start": start, "max_chars": 1000})).data
        parts.append(str(data["content"]))
        assert len(parts[-1]) <= 1000
        if data["next_start"] is None:
            break
        assert parts[-1].endswith("\n\n")
        start = data["next_start"]  # type: ignore[assignment]
    assert "".join(parts) == text
    assert pages.asked == ["rules https://example.org", HOME]
    clock.advance(KEPT_S)
    await tool.call({"url": HOME, "start": 100, "max_chars": 1000})
    assert pages.asked[2:] == ["rules https://example.org", HOME]
    with pytest.raises(InputError, match="start is past the end: the content has"):
        await tool.call({"url": HOME, "start": len(text) + 1})


async def test_text_without_spaces_is_cut_at_the_limit() -> None:
    data = (await fetched(FakePages(pages={HOME: page_of(markdown="x" * 1000)}), max_chars=100)).data
    assert (data["end"], data["next_start"]) == (100, 100)


async def test_a_disallowed_page_is_an_answer_with_rule_and_line_and_is_not_requested() -> None:
    pages = FakePages({"https://example.org": rules("User-agent: goodbot\nDisallow: /\n")})
    result = await fetched(pages)
    assert (result.is_error, result.data["outcome"]) == (False, "disallowed")
    assert result.data["verdict"]["line"] == 2  # type: ignore[index]
    assert "Disallow: / (line 2)" in result.text
    assert pages.asked == ["rules https://example.org"]


async def test_a_redirect_to_a_disallowed_page_names_the_verdict_there() -> None:
    verdict = rules("User-agent: *\nDisallow: /in").verdict("https://b.example/in", TOKEN)
    page = page_of("https://b.example/in", verdict=verdict, trouble="forbidden")
    result = await fetched(FakePages(pages={HOME: page}))
    assert (result.data["outcome"], result.data["final_url"]) == ("disallowed", "https://b.example/in")
    begin = (
        f"Not fetched: robots.txt disallows https://b.example/in (to which {HOME} redirects) for goodbot: Disallow: "
    )
    assert result.text.startswith(begin)


@pytest.mark.parametrize(
    "path", ["//private/p", "/a/..//%70rivate/p?q", "///private//p", "/private%2Fp", "/a/..%2fprivate/p"]
)
async def test_other_spellings_of_slashes_are_no_way_around_a_rule(path: str) -> None:
    pages = FakePages({"https://example.org": rules("User-agent: *\nDisallow: /private/\n")})
    result = await tool_of(pages).call({"url": f"https://example.org{path}"})
    assert (result.data["outcome"], result.data["verdict"]["line"]) == ("disallowed", 2)  # type: ignore[index]
    assert "(the same page as https://example.org/" in result.text
    assert pages.asked == ["rules https://example.org"]
    open_page = await tool_of(pages).call({"url": "https://example.org//open//p?a=//private/"})
    assert (open_page.data["outcome"], pages.asked[-1]) == ("page", "https://example.org//open//p?a=//private/")


NO_AI = "User-agent: *\nContent-Signal: ai-input=no\nAllow: /\n"


async def test_a_site_that_disallows_ai_input_is_not_requested() -> None:
    pages = FakePages({"https://example.org": rules(NO_AI)})
    result = await fetched(pages)
    assert (result.is_error, result.data["outcome"], "content" in result.data) == (False, "withheld", False)
    assert "Content-Signal: ai-input=no (robots.txt, line 2)" in result.text
    assert pages.asked == ["rules https://example.org"]


async def test_a_page_that_disallows_ai_input_is_withheld() -> None:
    preferences = RobotsTxt.parse(b"").preferences(HOME, TOKEN, headers=[("Content-Signal", "ai-input=no")])
    result = await fetched(FakePages(pages={HOME: page_of(preferences=preferences, markdown="SECRET")}))
    assert (result.data["outcome"], result.data["preferences"]) == ("withheld", dict(preferences))
    assert "HTTP field Content-Signal" in result.text
    assert "SECRET" not in str(result)


async def test_a_private_address_is_refused_without_saying_which() -> None:
    barred = Access.from_failure("private-address", 0.0, detail="wiki leads to 10.1.2.3")
    at_once = await fetched(FakePages({"https://example.org": barred}))
    page = page_of("http://wiki/", failure=Failure("private-address", "leads to 10.1.2.3"), trouble="private-address")
    redirected = await fetched(FakePages(pages={HOME: page}))
    for result in (at_once, redirected):
        assert (result.is_error, result.data["outcome"]) == (False, "refused")
        assert "is at a private address. This server requests private addresses only for hosts that its" in result.text
        assert "10.1.2.3" not in str(result)


async def test_a_redirect_to_a_public_host_without_a_contact_is_refused() -> None:
    there = "http://8.8.4.4/page"
    page = page_of(there, failure=Failure("no-contact", "8.8.4.4 is public"), trouble="no-contact: 8.8.4.4 is public")
    result = await fetched(FakePages(pages={HOME: page}))
    assert (result.is_error, result.data["outcome"], result.data["final_url"]) == (False, "refused", there)
    assert result.text.startswith(f"Refused: {HOME} redirects to {there}, which is public, and no contact is set")


async def test_what_the_content_may_be_used_for_is_in_the_text() -> None:
    preferences = RobotsTxt.parse(b"").preferences(HOME, TOKEN, headers=[("Content-Signal", "ai-train=no")])
    result = await fetched(FakePages(pages={HOME: page_of(preferences=preferences)}))
    assert "Uses of the content: search: unknown, ai-input: unknown, ai-train: disallowed" in result.text


async def test_no_page_is_an_answer_too() -> None:
    result = await fetched(FakePages(pages={HOME: page_of(status=404, trouble="status 404 Not\nFound")}))
    assert (result.data["outcome"], result.data["status"]) == ("failed", 404)
    assert result.text == f"Failed: {HOME}: status 404 Not\\nFound"


async def test_an_unreachable_robots_txt_is_a_failure_and_not_a_rule() -> None:
    unreachable = Access.from_response(503, [], b"", 0.0)
    verdict = unreachable.verdict("https://b.example/in", TOKEN)
    redirected = FakePages(pages={HOME: page_of("https://b.example/in", verdict=verdict, trouble="forbidden")})
    for pages in (FakePages({"https://example.org": unreachable}), redirected):
        result = await fetched(pages)
        assert (result.is_error, result.data["outcome"], result.data["status"]) == (False, "failed", None)
        assert "503" in result.text


async def test_a_page_without_a_complete_response_has_failed() -> None:
    pages = FakePages(gate=asyncio.Event())
    result = await tool_of(pages, call_most_s=0.01).call({"url": HOME})
    assert (result.is_error, result.data["outcome"]) == (False, "failed")
    assert result.text == f"Failed: {HOME}: there was no complete response within 0.01 s"


async def test_a_host_that_has_to_wait_is_an_answer_with_a_time() -> None:
    held = Access.from_failure("held-off", 1000.0, retry_s=90)
    robots = await fetched(FakePages({"https://example.org": held}))
    page = await fetched(FakePages(pages={HOME: page_of(held_until=1045.0, trouble="held")}))
    queue = await fetched(FakePages(ready_at=1060.0))
    assert [result.data["outcome"] for result in (robots, page, queue)] == ["wait"] * 3
    assert [result.data["retry_after_s"] for result in (robots, page, queue)] == [90, 46, 60]
    assert page.text.endswith("Call again in 46 s.")


async def test_a_thousand_calls_for_one_host_hold_four_places() -> None:
    pages = FakePages(gate=asyncio.Event())
    tool = tool_of(pages)
    assert pages.gate is not None
    calls = [asyncio.ensure_future(tool.call({"url": f"{HOME}{number}"})) for number in range(1000)]
    _, waiting = await asyncio.wait(calls, timeout=0.05)
    assert len(waiting) == 4
    pages.gate.set()
    outcomes = [result.data["outcome"] for result in await asyncio.gather(*calls)]
    assert (outcomes.count("page"), outcomes.count("wait")) == (4, 996)


@given(st.dictionaries(st.sampled_from(["url", "as", "whole", "start", "max_chars", "x"]), JSON, max_size=5))
def test_any_arguments_give_a_result_or_an_error_of_one_line(values: dict[str, object]) -> None:
    result = carried_out_or_refused(tool_of(FakePages()), values)
    assert result.data["outcome"] == ("error" if result.is_error else "page")


@given(st.text(), st.integers(0, 400), st.integers(100, 300))
def test_parts_of_any_content_join_to_the_whole(content: str, start: int, most: int) -> None:
    pages = FakePages(pages={HOME: page_of(markdown=content)})
    try:
        data: Any = asyncio.run(tool_of(pages).call({"url": HOME, "start": start, "max_chars": most})).data
    except InputError:
        assert start > len(content)
        return
    assert data["content"] == content[start : data["end"]]
    assert len(data["content"]) <= most
    assert data["end"] == (len(content) if data["next_start"] is None else data["next_start"])
    assert data["end"] > start or start == len(content)
