"""The sample web: crawled by the command line, every decision as its table says; and `goodbot demo` itself."""

import json
import signal
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from demo.asking import ask
from demo.expected import EXPECTED, HIDDEN, OUT_OF_SCOPE
from goodbot.demo import EXAMPLE_QUERIES, DemoWeb
from journey.goodbot_process import ended, goodbot, start


@pytest.mark.long
async def test_every_decision(tmp_path: Path) -> None:
    with DemoWeb() as web:
        urls = [site.url.rstrip("/") for site in web.sites]
        bases = dict(zip(("hardware", "antiques", "handbook"), urls, strict=True))
        result = await goodbot("crawl", *(site.url for site in web.sites), "--into", tmp_path, "--allow-private")
    assert result.status == 0, result.err
    lines = (await goodbot("export", "--in", tmp_path, "--what", "urls")).lines
    found = {line["url"]: (line["state"], line["status"]) for line in lines}
    expected = {bases[item.site] + item.target: (item.state, item.status) for item in EXPECTED}
    expected |= {f"{base}/sitemap.xml": ("visited", 200) for base in bases.values()}  # robots.txt names them
    assert found == expected | dict.fromkeys(OUT_OF_SCOPE, ("out-of-scope", None))
    assert not {bases[site] + target for site, target in HIDDEN} & set(found)

    for item in EXPECTED:
        if item.line is not None:
            why = (await goodbot("why", bases[item.site] + item.target, "--in", tmp_path, "--json")).json
            assert item.line in [event["line"] for event in why["events"] if event["step"] == "permission"]

    searched = (await goodbot("search", "newsletter", "--in", tmp_path, "--json", "--top", "100")).json
    assert not [hit for hit in searched["hits"] if hit["url"].endswith("/newsletter-thanks")]
    withheld = set()
    for file in (tmp_path / "warc").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                if "WARC-Goodbot-Body" in record.headers:
                    withheld.add(record.headers["WARC-Target-URI"])
    assert withheld == {bases[item.site] + item.target for item in EXPECTED if item.why_not == "noarchive"}


async def test_demo_once() -> None:
    result = await goodbot("demo", "--once")
    assert result.status == 0, result.err
    assert "100 visited" in result.out  # three of them sitemaps
    assert "line 20 of robots.txt: Disallow: /dynamic" in " ".join(result.out.split())
    for query in EXAMPLE_QUERIES:
        assert query in result.out
    assert "no pages found" not in result.out
    assert "\x1b" not in result.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("moment", ["Three sites", "One crawl"])
async def test_a_stopped_demo_leaves_nothing(tmp_path: Path, moment: str, number: signal.Signals) -> None:
    process = await start("demo", "--once", settings={"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    while moment.encode() not in (line := await process.stdout.readline()):
        assert line, "the demo has ended"
    process.send_signal(number)
    end = await ended(process)
    assert (end.status, list(tmp_path.iterdir())) == (130, []), end.err


@pytest.mark.long
async def test_the_sites_are_there_while_the_search_page_is() -> None:
    process = await start("demo", "--port", "0", "--json")
    assert process.stdout is not None
    result = json.loads(await process.stdout.readline())
    first = result["searches"][0]["hits"][0]["url"]
    answers = [ask(url).status for url in (first, *(site["url"] for site in result["sites"]))]
    process.send_signal(signal.SIGINT)
    end = await ended(process)
    assert (answers, end.status) == ([200] * 4, 0), end.err
    with pytest.raises(OSError, match="refused"):
        ask(first)
