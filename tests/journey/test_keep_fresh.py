"""`goodbot crawl --keep-fresh`: a real server whose pages change, move and go, visited again; kills in between."""

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from journey.goodbot_process import Ended, ended, goodbot, start
from webserver import Exchange, WebServer, answer

HTML = ("Content-Type", "text/html; charset=utf-8")
DATE = "Tue, 03 Mar 2026 09:00:00 GMT"
LINKS = "".join(f"<a href=/{name}>{name}</a>" for name in ("tagged", "dated", "changing", "going", "hidden", "plain"))
AT_ONCE = "revisit_first = 0\nrevisit_least = 0\n"


class Site:
    """Six pages; the second time round one has changed, one is gone, one hides. `log` is (target, status)."""

    def __init__(self) -> None:
        self.later = False
        self.log: list[tuple[str, int]] = []

    async def __call__(self, exchange: Exchange) -> None:
        target = exchange.target
        status, headers, body = self._page(exchange)
        if target != "/robots.txt":
            self.log.append((target, status))
        await exchange.send(answer(body, status, headers))

    def _page(self, exchange: Exchange) -> tuple[int, list[tuple[str, str]], bytes]:
        match exchange.target:
            case "/":
                return self._tagged(exchange, '"home"', f"<title>Home</title>{LINKS}")
            case "/tagged":
                return self._tagged(exchange, 'W/"t1"', "<title>Tagged</title>steady words" + "." * 3000)
            case "/dated":
                if exchange.header("If-Modified-Since") == DATE:
                    return 304, [("Last-Modified", DATE)], b""
                return 200, [HTML, ("Last-Modified", DATE)], b"<title>Dated</title>ancient words"
            case "/changing":
                word = "afterwards" if self.later else "beforehand"
                return self._tagged(exchange, f'"{word}"', f"<title>Changing</title>{word}")
            case "/going" if not self.later:
                return 200, [HTML], b"<title>Going</title>vanishing words"
            case "/hidden":
                headers = [HTML, ("ETag", '"h"'), *([("X-Robots-Tag", "noindex")] if self.later else [])]
                if exchange.header("If-None-Match") == '"h"':
                    return 304, headers[1:], b""
                return 200, headers, b"<title>Hidden</title>secretive words"
            case "/plain":
                return 200, [HTML], b"<title>Plain</title>constant words"
        return 404, [], b""

    def _tagged(self, exchange: Exchange, tag: str, body: str) -> tuple[int, list[tuple[str, str]], bytes]:
        if exchange.header("If-None-Match") == tag:
            return 304, [("ETag", tag)], b""
        return 200, [HTML, ("ETag", tag)], body.encode()


def events(run: Ended) -> dict[str, dict[str, Any]]:
    """Page events by path."""
    return {"/" + line["url"].split("/", 3)[3]: line for line in run.lines if line["event"] == "page"}


async def found(folder: Path, word: str) -> list[str]:
    """Titles of the pages with that word."""
    hits = (await goodbot("search", word, "--in", folder, "--json")).json["hits"]
    return [hit["title"] for hit in hits]


def settings(tmp_path: Path, text: str = AT_ONCE) -> Path:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_second_visit(tmp_path: Path, workers: str) -> None:
    site, folder = Site(), tmp_path / "crawl"
    async with WebServer(fallback=site) as server:
        config = ("--config", settings(tmp_path), "--allow-private", "--scope", "all", "--workers", workers, "--json")
        first = await goodbot("crawl", server.url("/"), "--into", folder, *config)
        assert (first.status, first.lines[-1]) == (0, {"event": "end", "reason": "finished", "visited": 7}), first.err
        assert {(line["revisit"], line["unchanged"]) for line in events(first).values()} == {(False, False)}
        site.later = True
        site.log.clear()
        again = await goodbot("crawl", "--into", folder, "--keep-fresh", "--once", "--json")
        assert (again.status, again.lines[-1]["reason"]) == (0, "finished"), again.err

        got = dict(site.log)
        assert len(site.log) == 7
        unchanged = {path for path, status in got.items() if status == 304}
        assert unchanged == {"/", "/tagged", "/dated", "/hidden"}
        told = events(again)
        assert {path for path, line in told.items() if line["unchanged"]} == {"/", "/tagged", "/dated", "/plain"}
        assert all(line["revisit"] for line in told.values())
        assert told["/going"]["state"] == "gone"

        assert sorted(await found(folder, "words")) == ["Dated", "Plain", "Tagged"]
        assert (await found(folder, "afterwards"), await found(folder, "beforehand")) == (["Changing"], [])
        pages = (await goodbot("export", "--in", folder, "--what", "pages")).lines
        assert {page["title"] for page in pages} == {"Home", "Tagged", "Dated", "Changing", "Hidden", "Plain"}
        assert next(page["text"] for page in pages if page["title"] == "Changing").strip() == "afterwards"
        why = (await goodbot("why", server.url("/tagged"), "--in", folder, "--json")).json
        assert [event["reason"] for event in why["events"] if event["decision"] == "revisit"]
        check_revisit_records(folder, server.url("/tagged"))


def check_revisit_records(folder: Path, url: str) -> None:
    """Both readers read every record; a 304 names the capture it speaks of by URL and date."""
    dates: dict[str, str] = {}
    revisits = []
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in WarcioIterator(stream, check_digests="raise"):
                headers = record.rec_headers
                if record.rec_type == "response":
                    dates.setdefault(headers["WARC-Target-URI"], headers["WARC-Date"])
                elif record.rec_type == "revisit" and headers["WARC-Profile"].endswith("/server-not-modified"):
                    revisits.append(headers)
                    assert record.http_headers.get_statuscode() == "304"
                    assert headers["WARC-Refers-To-Target-URI"] == headers["WARC-Target-URI"]
                    assert headers["WARC-Refers-To-Date"] == dates[headers["WARC-Target-URI"]]
        with file.open("rb") as stream:
            records = ArchiveIterator(stream, record_types=WarcRecordType.revisit, verify_digests=True)
            assert {record.http_headers.status_code for record in records} <= {200, 304}
    assert url in {headers["WARC-Target-URI"] for headers in revisits}
    lines = [line for file in (folder / "warc").glob("*.cdxj") for line in file.read_text().splitlines()]
    assert any(f'"url": "{url}", "mime": "warc/revisit", "status": "304"' in line for line in lines)


async def test_a_page_that_is_not_due_is_left_alone(tmp_path: Path) -> None:
    site, folder = Site(), tmp_path / "crawl"
    async with WebServer(fallback=site) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        site.log.clear()
        again = await goodbot("crawl", "--into", folder, "--keep-fresh", "--once", "--json")
        assert (again.status, again.lines[-1]["visited"]) == (0, 0)
        assert site.log == []
        await goodbot("crawl", "--into", folder)
        assert site.log == []


async def test_a_service_goes_on_until_it_is_told_to_stop(tmp_path: Path) -> None:
    site, folder = Site(), tmp_path / "crawl"
    config = settings(tmp_path, "revisit_first = 0.2\nrevisit_least = 0.2\nrevisit_most = 0.2\n")
    async with WebServer(fallback=site) as server:
        options = ("--into", folder, "--config", config, "--allow-private", "--keep-fresh", "--json")
        process = await start("crawl", server.url("/"), *options)
        while dict.fromkeys(site.log).keys() < {("/tagged", 304), ("/plain", 200)}:  # noqa: ASYNC110 - other process
            await asyncio.sleep(0.02)
        while site.log.count(("/tagged", 304)) < 3:  # noqa: ASYNC110 - other process
            await asyncio.sleep(0.02)
        assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        run = await ended(process)
        assert (run.status, run.lines[-1]["reason"]) == (130, "interrupted")
        counted = await goodbot("crawl", "--into", folder, "--keep-fresh", "--max-pages", "5", "--json")
        assert (counted.status, counted.lines[-1]) == (0, {"event": "end", "reason": "max-pages", "visited": 5})


@pytest.mark.parametrize("options", [("--once",), ("--once", "--max-pages", "3")])
async def test_once_needs_keep_fresh(tmp_path: Path, options: tuple[str, ...]) -> None:
    run = await goodbot("crawl", "http://127.0.0.1:9/", "--into", tmp_path / "crawl", "--allow-private", *options)
    assert (run.status, (tmp_path / "crawl").exists()) == (2, False)
    assert "--keep-fresh" in run.complaint


PAGES = 60


async def test_killed_while_it_comes_back(tmp_path: Path) -> None:
    """Every page was found; then each third is gone, each third has another word, the others are as they were. However
    often it is killed on the way, the index has in the end what the site has, and every page was asked for."""
    dice = random.Random(3)
    later = False

    async def site(exchange: Exchange) -> None:
        number = exchange.target.strip("/") or "0"
        if not number.isdigit():
            await exchange.send(answer(b"", 404))
            return
        kind = int(number) % 3 if later and number != "0" else 0
        tag = f'"{number}-{kind}"'
        links = "".join(f'<a href="/{n}">{n}</a>' for n in range(1, PAGES)) if number == "0" else ""
        word = "renewed" if kind == 1 else "original"
        body = f"<title>Number {number}</title>{word} text of {number}{links}".encode()
        if kind == 2:
            await exchange.send(answer(b"", 410))
        elif exchange.header("If-None-Match") == tag:
            await exchange.send(answer(b"", 304, [("ETag", tag)]))
        else:
            await exchange.send(answer(body, headers=[HTML, ("ETag", tag)]))

    folder = tmp_path / "crawl"
    async with WebServer(fallback=site) as server:
        options = ("--into", folder, "--config", settings(tmp_path), "--allow-private", "--delay", "0.01")
        assert (await goodbot("crawl", server.url("/"), *options)).status == 0
        later = True
        for _ in range(3):
            server.exchanges.clear()
            process = await start("crawl", *options, "--keep-fresh", "--once", group=True)
            await server.received(dice.randint(5, PAGES))
            os.killpg(process.pid, signal.SIGKILL)
            await ended(process)
        last = await goodbot("crawl", *options, "--keep-fresh", "--once", "--json")
        assert (last.status, last.lines[-1]["reason"]) == (0, "finished")
        originals = await goodbot("search", "original", "--in", folder, "--json", "--top", "100")
        renewed = await goodbot("search", "renewed", "--in", folder, "--json", "--top", "100")
        assert (originals.json["total"], renewed.json["total"]) == (PAGES // 3, PAGES // 3)
        status = (await goodbot("status", "--in", folder, "--json")).json
        assert (status["states"]["visited"], status["states"]["gone"]) == (2 * PAGES // 3, PAGES // 3)
        pages = (await goodbot("export", "--in", folder, "--what", "pages")).lines
        assert len(pages) == 2 * PAGES // 3
