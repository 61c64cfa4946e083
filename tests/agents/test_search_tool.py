"""The tools `search` and `why` over real crawls and imported documents. Content that AI may not use is withheld."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.fake_pages import carried_out_or_refused
from agents.test_arguments import JSON
from goodbot.agents.search_tool import SearchTool
from goodbot.agents.stored_ai_input import StoredAiInput
from goodbot.agents.why_tool import WhyStory
from goodbot.cli.mcp_setup import AgentTools
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError
from goodbot.search_values import Hit, Results
from goodbot.web.search.search_threads import SearchThreads
from journey.goodbot_process import goodbot
from visitors.visited_crawls import crawl, url_at
from webserver import WebServer, answer

HTML = ("Content-Type", "text/html; charset=utf-8")
NAMES = ("open", "header", "meta")
NO_AI = b"User-agent: *\nContent-Signal: ai-input=no\nDisallow: /closed\n"


def site(rules: bytes = b"User-agent: *\n\nDisallow: /closed\n") -> dict[str, bytes]:
    links = "".join(f"<a href=/{name}>{name}</a>" for name in NAMES)
    pages: dict[str, tuple[str, list[tuple[str, str]]]] = {
        name: (f"<title>Clock {name}</title><p>pendulum of {name}", []) for name in NAMES
    }
    pages["header"][1].append(("Content-Signal", "ai-input=no"))
    pages["meta"] = (f"<meta name=tdm-reservation content=1>{pages['meta'][0]}", [])
    return {
        "/robots.txt": answer(rules, headers=[("Content-Type", "text/plain")]),
        "/": answer(f"<title>Home</title>{links}<a href=/closed>c</a>".encode()),
        **{f"/{name}": answer(body.encode(), headers=[HTML, *fields]) for name, (body, fields) in pages.items()},
    }


def tools_of(*folders: Path) -> dict[str, Any]:
    return {tool.name: tool for tool in AgentTools(Settings(), folders, ()).tools}


async def test_hits_that_ai_may_not_use_have_no_content(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        tools = tools_of(tmp_path)
        result = await tools["search"].call({"query": "pendulum"})
        hits = {hit["url"].rpartition("/")[2]: hit for hit in result.data["hits"]}
        assert hits.keys() == set(NAMES)
        assert hits["open"]["title"] == "Clock open"
        assert hits["open"]["snippet"] == "pendulum of open"
        for name in ("header", "meta"):
            assert hits[name].keys() == {"url", "score", "withheld"}
            assert f"Clock {name}" not in result.text
        assert "HTTP field Content-Signal" in hits["header"]["withheld"]
        assert "META tdm-reservation" in hits["meta"]["withheld"]
        assert (await tools["search"].call({"query": "pendulum", "limit": 1})).data["total"] == 3
        why = await tools["why"].call({"url": url_at(server, "/closed").text})
        assert why.data["state"] == "disallowed"
        assert "robots.txt forbids it (line 3)" in why.text
        assert (await tools["why"].call({"url": "https://elsewhere.example/"})).data["state"] == "unknown"


async def test_imported_documents_are_searched_and_why_asks_robots_txt(tmp_path: Path) -> None:
    file, folder = tmp_path / "documents.jsonl", tmp_path / "imported"
    file.write_text(json.dumps({"id": "1", "url": "https://example.org/1", "title": "One", "text": "pendulum"}))
    assert (await goodbot("index", "import", file, "--into", folder)).status == 0
    tools = tools_of(folder)
    (hit,) = (await tools["search"].call({"query": "pendulum"})).data["hits"]
    assert (hit["url"], hit["title"]) == ("https://example.org/1", "One")
    assert [type(tool).__name__ for tool in tools.values()] == ["FetchTool", "AllowedTool", "SearchTool", "WhyRules"]


async def test_several_folders_are_one_index(tmp_path: Path) -> None:
    async with WebServer(site()) as server, WebServer({"/": answer(b"<title>Other</title>pendulum")}) as other:
        await crawl(server, tmp_path / "a")
        await crawl(other, tmp_path / "b")
        tools = tools_of(tmp_path / "a", tmp_path / "b")
        hits = (await tools["search"].call({"query": "pendulum"})).data["hits"]
        assert {hit.get("title") for hit in hits} == {"Clock open", "Other", None}
        for each in (server, other):
            story = await tools["why"].call({"url": url_at(each, "/").text})
            assert story.data["state"] == "visited"


@pytest.mark.parametrize("options", [(), ("--no-archive",)])
async def test_the_robots_txt_of_the_crawl_decides_for_its_site(tmp_path: Path, options: tuple[str, ...]) -> None:
    async with WebServer(site(NO_AI)) as server, WebServer(site()) as other:
        await crawl(server, tmp_path / "a", *options)
        await crawl(other, tmp_path / "b", *options)
        stored = StoredAiInput([CrawlFolder(tmp_path / "b"), CrawlFolder(tmp_path / "a")], "goodbot")
        urls = [url_at(server, f"/{name}").text for name in NAMES]
        withheld = stored.withheld([*urls, url_at(other, "/open").text, "not a URL"])
        assert withheld.keys() == set(urls)
        assert "Content-Signal: ai-input=no (robots.txt, line 2)" in withheld[urls[0]]
        assert stored.withheld([]) == {}


def test_a_server_without_a_folder_does_not_offer_search() -> None:
    assert list(tools_of()) == ["fetch", "allowed", "why"]


async def test_a_folder_without_an_index_is_not_searched(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path / "a", "--no-index")
        await crawl(server, tmp_path / "b")
    only = AgentTools(Settings(), [tmp_path / "a"], ())
    assert [tool.name for tool in only.tools] == ["fetch", "allowed", "why"]
    (why,) = only.unsearched
    assert why.startswith(f"{tmp_path / 'a'} has no index (it was crawled with --no-index): ")
    both = AgentTools(Settings(), [tmp_path / "a", tmp_path / "b"], ())
    assert both.unsearched == only.unsearched
    search = next(tool for tool in both.tools if tool.name == "search")
    assert (await search.call({"query": "pendulum"})).data["total"] == 3


class AnySearch:
    """Finds one page for every query."""

    def search(self, query: str, limit: int = 10, *_: object) -> Results:
        assert 1 <= limit <= 50
        return Results(query, 1, 0.0, (Hit("1", "", "a\nb\x1b", "c\ud800", 1.0),), notes=("A note.",))


def search_tool() -> SearchTool:
    return SearchTool(AnySearch(), lambda urls: {}, SearchThreads())  # type: ignore[arg-type]


@given(st.dictionaries(st.sampled_from(["query", "limit", "x"]), JSON, max_size=3))
def test_any_arguments_give_hits_or_an_error_of_one_line(values: dict[str, object]) -> None:
    result = carried_out_or_refused(search_tool(), values)
    hits = [{"url": "1", "score": 1.0, "title": "a\\nb\\x1b", "snippet": "c\\ud800"}]
    assert result.data.get("hits") == (None if result.is_error else hits)


async def test_notes_about_the_query_are_in_the_text() -> None:
    result = await search_tool().call({"query": "x"})
    assert result.data["notes"] == ["A note."]
    assert "A note." in result.text


@pytest.mark.parametrize("values", [{}, {"query": " "}, {"query": "x" * 1001}, {"query": "x", "limit": 51}])
async def test_arguments_that_cannot_be_used(values: dict[str, object]) -> None:
    with pytest.raises(InputError):
        await search_tool().call(values)


async def test_a_long_history_is_cut_to_its_end() -> None:
    event = {"at": 0.0, "step": "fetch", "decision": "ok", "reason": "x" * 1000, "line": 3}
    story = {"state": "visited", "summary": "s", "advice": "", "events": [event] * 500}
    result = await WhyStory(lambda url: story, SearchThreads()).call({"url": "https://example.org/"})
    assert len(result.data["events"]) == 100  # type: ignore[arg-type]
    assert len(result.text) < 60_000
