"""Whole crawls by the command line, over real HTTP: what users and outside tests rely on."""

import asyncio
import signal
import sys
import time
from pathlib import Path

import pytest

from disks import MOUNTS, remount, small_disk
from journey.goodbot_process import HASTY, ended, goodbot, start
from webserver import Exchange, Route, WebServer, answer, has_ipv6, kept_port, resetting

ROBOTS = b"# ours\nUser-agent: *\nDisallow: /private\n"
TEXT = [("Content-Type", "text/plain")]

SITE: dict[str, Route] = {
    "/robots.txt": answer(ROBOTS, headers=TEXT),
    "/": answer(b'<title>Home</title><h1>Welcome</h1><a href="/a">A</a> <a href="/private/x" rel="bookmark">P</a>'),
    "/a": answer('<html lang="ru"><title>Роботы</title><p>Роботы читают страницы. <a href="/gone">G</a>'.encode()),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the crawl is kept."""
    return tmp_path / "crawl"


async def test_the_whole_way(folder: Path) -> None:
    async with WebServer(SITE) as server:
        crawl = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--json")
    assert crawl.status == 0, crawl.err
    pages, end = crawl.lines[:-1], crawl.lines[-1]
    assert end == {"event": "end", "reason": "finished", "visited": 2}
    assert {
        (page["event"], page["url"].removeprefix(server.origin), page["status"], page["state"]) for page in pages
    } == {
        ("page", "/", 200, "visited"),
        ("page", "/a", 200, "visited"),
        ("page", "/private/x", None, "disallowed"),
        ("page", "/gone", 404, "gone"),
    }

    status = (await goodbot("status", "--in", folder, "--json")).json
    assert status == {
        "finished": True,
        "states": {
            "ready": 0,
            "leased": 0,
            "visited": 2,
            "disallowed": 1,
            "out-of-scope": 0,
            "failed": 0,
            "gone": 1,
        },
        "pages": 2,
        "bytes": status["bytes"],
        "hosts": 1,
        "next_ready_at": None,
        "lessons": {"in_force": 0, "lapsed": 0},
        "due_again_at": status["due_again_at"],
        "running": False,
        "live": None,
    }

    assert status["due_again_at"] > time.time() + 3600

    urls = (await goodbot("export", "--in", folder, "--what", "urls")).lines
    assert {"url", "state", "status", "depth", "fetched_at", "digest", "title", "why"} <= set(urls[0])
    assert (urls[0]["url"], urls[0]["depth"]) == (server.url("/"), 0)
    texts = (await goodbot("export", "--in", folder, "--what", "pages")).lines
    assert [(line["title"], line["lang"], line["type"], line["status"]) for line in texts] == [
        ("Home", None, "text/html", 200),
        ("Роботы", "ru", "text/html", 200),
    ]
    assert "читают" in texts[1]["text"]
    links = (await goodbot("export", "--in", folder, "--what", "links")).lines
    assert {"source": server.url("/"), "target": server.url("/private/x"), "anchor": "P", "rel": "bookmark"} in links

    why = (await goodbot("why", server.url("/private/x"), "--in", folder, "--json")).json
    assert why["state"] == "disallowed"
    assert [event["line"] for event in why["events"] if event["step"] == "permission"] == [3]
    unknown = await goodbot("why", server.url("/nowhere"), "--in", folder, "--json")
    assert (unknown.status, unknown.json["state"], unknown.json["events"]) == (0, "unknown", [])

    found = (await goodbot("search", "робот", "--in", folder, "--json")).json
    assert (found["total"], found["hits"][0]["url"]) == (1, server.url("/a"))
    assert "Роботы" in found["hits"][0]["snippet"]
    nothing = await goodbot("search", "zebra", "--in", folder, "--json")
    assert (nothing.status, nothing.json["total"], nothing.json["hits"]) == (0, 0, [])

    again = await goodbot("crawl", "--into", folder, "--json")
    assert again.lines == [{"event": "end", "reason": "finished", "visited": 0}]
    for said in (await goodbot("crawl", "--into", folder), await goodbot("status", "--in", folder)):
        assert "pages are due to be re-crawled in " in said.out


async def test_what_the_robot_says_of_itself(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot(
            *("crawl", server.url("/"), "--into", folder, "--allow-private"),
            *("--agent", "MyBot/2.0", "--contact", "mailto:me@example.org", "--max-pages", "1"),
        )
    agents = {exchange.header("User-Agent") for exchange in server.exchanges}
    assert agents == {"Mozilla/5.0 (compatible; MyBot/2.0; me@example.org)"}
    assert {exchange.header("From") for exchange in server.exchanges} == {"me@example.org"}


async def test_max_pages_then_on(folder: Path) -> None:
    async with WebServer(SITE) as server:
        first = await goodbot(
            "crawl", server.url("/"), "--into", folder, "--allow-private", "--max-pages", "1", "--json"
        )
        assert (first.status, first.lines[-1]) == (0, {"event": "end", "reason": "max-pages", "visited": 1})
        second = await goodbot("crawl", "--into", folder, "--json")
        assert second.lines[-1] == {"event": "end", "reason": "finished", "visited": 1}
    assert sorted(server.targets) == ["/", "/a", "/gone", "/robots.txt"]


async def test_a_wider_scope_takes_up_what_was_left_out(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--depth", "0")
        assert server.targets == ["/robots.txt", "/"]
        await goodbot("crawl", "--into", folder, "--depth", "5")
    assert sorted(server.targets) == ["/", "/a", "/gone", "/robots.txt"]


async def test_without_index_and_archive(folder: Path) -> None:
    async with WebServer(SITE) as server:
        options = ("--into", folder, "--allow-private", "--no-index", "--no-archive")
        assert (await goodbot("crawl", server.url("/"), *options)).status == 0
    assert not (folder / "warc").exists()
    assert not (folder / "index").exists()
    assert (await goodbot("search", "x", "--in", folder)).status == 2
    for what in ("pages", "links"):
        assert (await goodbot("export", "--in", folder, "--what", what)).status == 2
    assert len((await goodbot("export", "--in", folder, "--what", "urls")).lines) == 4


async def test_ctrl_c_once_lets_the_pages_in_flight_finish(folder: Path) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        asked.set()
        await go_on.wait()
        await exchange.send(answer(b'<title>slow</title><a href="/b">b</a>'))

    async with WebServer({"/": slow, "/b": answer(b"b")}) as server:
        process = await start("crawl", server.url("/"), "--into", folder, "--allow-private", "--json")
        await asked.wait()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert b"stopping" in await process.stderr.readline()
        go_on.set()
        result = await ended(process)
    assert result.status == 130
    assert result.lines[-1] == {"event": "end", "reason": "interrupted", "visited": 1}
    assert "/b" not in server.targets
    status = (await goodbot("status", "--in", folder, "--json")).json
    assert (status["states"]["visited"], status["states"]["ready"], status["states"]["leased"]) == (1, 1, 0)


async def test_ctrl_c_twice_stops(folder: Path) -> None:
    asked = asyncio.Event()

    async def never(exchange: Exchange) -> None:
        asked.set()
        await exchange.client_left()

    async with WebServer({"/": never}) as server:
        process = await start("crawl", server.url("/"), "--into", folder, "--allow-private", "--json")
        await asked.wait()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        result = await ended(process)
    assert result.status == 130
    assert "Traceback" not in result.err
    status = (await goodbot("status", "--in", folder, "--json")).json
    assert (status["states"]["ready"], status["states"]["leased"]) == (1, 0)


@pytest.mark.skipif(not has_ipv6(), reason="needs a private address of another range, and this machine has no ::1")
async def test_a_private_host_is_not_reached_by_a_link(folder: Path) -> None:
    async with WebServer({"/": answer(b"secret")}, host="::1") as inside:
        home = answer(f'<a href="{inside.url("/")}">in</a>'.encode())
        async with WebServer({"/": home}) as server:
            options = ("--scope", "all", "--allow-private", "--into", folder)
            await goodbot("crawl", server.url("/"), *options)
        assert inside.exchanges == []
    why = (await goodbot("why", inside.url("/"), "--in", folder, "--json")).json
    assert why["state"] == "out-of-scope"


# ---- bad input ------------------------------------------------------------------------------------------------------

BAD = [
    ("unknown scheme", ["crawl", "ftp://example.org/", "--into", "{new}"], 2, "http or https"),
    ("no scheme", ["crawl", "example.org", "--into", "{new}"], 2, "https://example.org"),
    ("no seed, no crawl", ["crawl", "--into", "{new}"], 2, "no seed"),
    ("public without contact", ["crawl", "https://example.org/", "--into", "{new}"], 2, "--contact"),
    ("private without leave", ["crawl", "http://127.0.0.1:9/", "--into", "{new}"], 2, "--allow-private"),
    ("localhost without leave", ["crawl", "http://localhost:9/", "--into", "{new}"], 2, "--allow-private"),
    ("bad contact", ["crawl", "https://example.org/", "--into", "{new}", "--contact", "me"], 2, "--contact"),
    ("into a file", ["crawl", "http://127.0.0.1:9/", "--into", "{file}", "--allow-private"], 2, "folder"),
    ("bad number", ["crawl", "http://127.0.0.1:9/", "--into", "{new}", "--concurrency", "0"], 2, "concurrency"),
    ("status of nothing", ["status", "--in", "{missing}"], 2, "no such folder"),
    ("status of an empty folder", ["status", "--in", "{empty}"], 2, "no crawl in"),
    ("search of nothing", ["search", "x", "--in", "{empty}"], 2, "no crawl in"),
    ("serve of nothing", ["serve", "--in", "{empty}"], 2, "no crawl in"),
    ("why of no URL", ["why", "nonsense", "--in", "{empty}"], 2, "not an http"),
    ("unknown command", ["craw"], 2, "craw"),
    ("unknown option", ["status", "--out", "x"], 2, "--out"),
    ("no file", ["allowed", "{missing}", "--agent", "x", "/"], 2, "cannot read"),
    ("a folder as file", ["allowed", "{empty}", "--agent", "x", "/"], 2, "cannot read"),
    ("unknown dialect", ["allowed", "{file}", "--agent", "x", "--dialect", "klingon", "/"], 2, "klingon"),
]


@pytest.mark.parametrize(("arguments", "status", "word"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
async def test_bad_input(tmp_path: Path, arguments: list[str], status: int, word: str) -> None:
    places = {"new": tmp_path / "new", "missing": tmp_path / "missing", "empty": tmp_path, "file": tmp_path / "file"}
    places["file"].write_text("User-agent: *\nDisallow:\n")
    result = await goodbot(*(argument.format(**places) for argument in arguments), folder=tmp_path)
    assert (result.status, result.out) == (status, "")
    assert word in result.complaint


async def test_a_host_that_does_not_resolve(folder: Path) -> None:
    """A name that surely has no address is looked up once in each run, and nobody waits."""
    url, options = "http://no-such-host.invalid/", ("--into", folder, "--contact", "me@example.org")
    for _ in range(2):
        result = await goodbot("crawl", url, *options)
        assert result.status == 3
        assert result.complaint.startswith(f"goodbot: no seed could be fetched: {url}: robots.txt is unreachable")
        events = (await goodbot("why", url, "--in", folder, "--json")).json["events"]
        assert [event["decision"] for event in events if event["step"] == "permission"] == ["given up"]


async def test_a_seed_that_has_to_wait_and_one_that_fails_are_named(folder: Path, tmp_path: Path) -> None:
    (hasty := tmp_path / "hasty.toml").write_text(HASTY)
    with kept_port() as port:
        async with WebServer({"/": answer(b"<p>here")}) as server:
            seeds = f"http://127.0.0.1:{port}/", server.url("/")
            result = await goodbot("crawl", *seeds, "--into", folder, "--allow-private", "--config", hasty)
    assert result.status == 0
    waiting, failed = result.err.splitlines()
    assert waiting.startswith(
        f"waiting for 127.0.0.1:{port}: robots.txt is unreachable, so everything is disallowed: connection refused"
    )
    assert failed.startswith(f"http://127.0.0.1:{port}/ failed: robots.txt is unreachable")


async def test_one_seed_of_two_fails(folder: Path, tmp_path: Path) -> None:
    (hasty := tmp_path / "hasty.toml").write_text(HASTY)
    async with WebServer(SITE) as server, WebServer(fallback=resetting()) as broken:
        seeds = (server.url("/"), broken.url("/"))
        result = await goodbot("crawl", *seeds, "--into", folder, "--allow-private", "--config", hasty, "--json")
    assert result.status == 0
    states = {line["url"]: line["state"] for line in result.lines[:-1] if line["event"] == "page"}
    assert (states[server.url("/")], states[broken.url("/")]) == ("visited", "failed")


HARD_ROBOTS = [
    ("10 MB", b"User-agent: *\nDisallow: /a\n" + b"# filler\n" * 1_200_000, "disallowed"),
    ("HTML", b"<!doctype html><title>Home</title><p>Disallow: /a</p>" * 20_000, "visited"),
    ("bytes", bytes(range(256)) * 4000, "visited"),
]


@pytest.mark.parametrize(("body", "state"), [c[1:] for c in HARD_ROBOTS], ids=[c[0] for c in HARD_ROBOTS])
async def test_hard_robots_txt(folder: Path, body: bytes, state: str) -> None:
    async with WebServer({**SITE, "/robots.txt": answer(body, headers=TEXT)}) as server:
        result = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        assert result.status == 0, result.err
    why = (await goodbot("why", server.url("/a"), "--in", folder, "--json")).json
    assert why["state"] == state


async def test_damage_is_named(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        frontier = folder / "frontier.sqlite"
        whole = frontier.read_bytes()
        for wrong in (b"", b"not a database at all " * 100, whole[: len(whole) // 2]):
            for journal in folder.glob("frontier.sqlite-*"):
                journal.unlink()
            frontier.write_bytes(wrong)
            for command in (["status", "--in"], ["crawl", "--into"]):
                result = await goodbot(*command, folder)
                assert result.status == 3, (command, wrong[:20], result)
                assert "frontier.sqlite" in result.complaint
        frontier.write_bytes(whole)
        assert (await goodbot("status", "--in", folder)).status == 0

        (folder / "index" / "meta.json").write_text("{nonsense")
        for command in (["search", "x", "--in"], ["serve", "--port", "0", "--in"]):
            result = await goodbot(*command, folder)
            assert result.status == 3, (command, result)
            assert "meta.json is damaged" in result.complaint
        result = await goodbot("crawl", "--into", folder)
        assert (result.status, "meta.json is damaged" in result.err) == (0, True)
        assert (await goodbot("search", "x", "--in", folder)).status == 0


async def test_damage_in_the_archive_is_told_when_its_index_is_made_anew(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
    (archive,) = (folder / "warc").glob("*.warc.gz")
    content = bytearray(archive.read_bytes())
    content[600] ^= 0xFF
    archive.write_bytes(content)
    (folder / "warc" / archive.name.replace(".warc.gz", ".cdxj")).unlink()
    result = await goodbot("crawl", "--into", folder)
    assert result.status == 0, result.err
    assert f"the archive is damaged: {archive.name}: bytes " in result.err
    assert archive.read_bytes() == content


async def test_two_crawls_on_one_folder(folder: Path) -> None:
    asked = asyncio.Event()

    async def never(exchange: Exchange) -> None:
        asked.set()
        await exchange.client_left()

    async with WebServer({"/": never}) as server:
        first = await start("crawl", server.url("/"), "--into", folder, "--allow-private")
        await asked.wait()
        second = await goodbot("crawl", "--into", folder)
        assert second.status == 3
        assert "another crawl" in second.complaint
        status = await goodbot("status", "--in", folder, "--json")
        assert status.json["states"]["leased"] == 1
        first.kill()
        await ended(first)


async def test_a_port_in_use(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        result = await goodbot("serve", "--in", folder, "--port", str(server.port))
    assert result.status == 3
    assert "in use" in result.complaint


@pytest.mark.parametrize(("query", "status"), [("", 2), ("   ", 2), ("!?", 0), ("-only", 0), ("site:", 0), ("🙂", 0)])
async def test_a_query_without_words(folder: Path, query: str, status: int) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
    result = await goodbot("search", "--in", folder, "--", query)
    assert result.status == status
    if status:
        assert result.complaint


async def test_serve(folder: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
    with kept_port() as port:
        process = await start("serve", "--in", folder, "--port", str(port))
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/".encode() in await process.stderr.readline()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n"
        writer.write(f"GET /api/search?q=welcome HTTP/1.1\r\n{head}\r\n".encode())
        answered = await reader.read()
        writer.close()
        assert b"200 OK" in answered
        assert b'"total":1' in answered
        process.send_signal(signal.SIGINT)
        assert (await ended(process)).status == 0


@MOUNTS
async def test_a_crawl_on_a_disk_that_is_read_only(tmp_path: Path) -> None:
    """As a folder of another user's: everything that only reads it works."""
    with small_disk(tmp_path / "disk", 16) as disk:
        folder = disk / "crawl"
        async with WebServer(SITE) as server:
            await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        remount(disk, "ro")
        assert (await goodbot("search", "welcome", "--in", folder, "--json")).json["total"] == 1
        assert (await goodbot("status", "--in", folder, "--json")).json["finished"]
        process = await start("serve", "--in", folder, "--port", "0")
        assert process.stderr is not None
        port = int((await process.stderr.readline()).split(b"127.0.0.1:")[1].partition(b"/")[0])
        token = (folder / "token").read_text().strip()
        for path, status in (("/api/search?q=welcome", "200 OK"), (f"/crawl/hosts?token={token}", "303 See Other")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            assert (await reader.read()).startswith(f"HTTP/1.1 {status}".encode())
            writer.close()
        process.send_signal(signal.SIGINT)
        assert (await ended(process)).status == 0


@pytest.mark.long
async def test_a_crawl_whose_reader_goes_away(folder: Path) -> None:
    """`goodbot crawl --json | head -1`: one line says that the crawl is not finished, and what was fetched is kept."""
    links = "".join(f'<a href="/x{number}">x</a>' for number in range(300))
    async with WebServer({"/": answer(links.encode())}, fallback=answer(b"<p>x")) as server:
        crawl = f"{sys.executable} -W error -m goodbot crawl {server.url('/')} --into {folder} --allow-private --json"
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", f"set -o pipefail; {crawl} --no-traps | head -1"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode == 3
        assert err.decode().splitlines() == [
            (
                "goodbot: no program reads the output any more: the crawl is not finished; resume with: "
                f"goodbot crawl --into {folder}"
            )
        ]
        assert len(out.splitlines()) == 1
        await goodbot("crawl", "--into", folder)
        pages = [target for target in server.targets if target != "/robots.txt"]
    assert sorted(set(pages)) == sorted(["/", *(f"/x{number}" for number in range(300))])


async def test_output_cut_short(folder: Path) -> None:
    """The reader of our output goes away, as `head` does: no traceback, no complaint."""
    links = "".join(f'<a href="/x{number}">x</a>' for number in range(3000))
    async with WebServer({"/": answer(links.encode())}) as server:
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--max-pages", "1")
    command = f"set -o pipefail; {sys.executable} -W error -m goodbot export --what urls --in {folder} | head -1"
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert len(out.splitlines()) == 1


# ---- settings -------------------------------------------------------------------------------------------------------


async def test_settings_by_their_strength(folder: Path, tmp_path: Path) -> None:
    """Working folder < environment (not here) < the crawl's folder < options; unknown keys are errors."""
    (tmp_path / "goodbot.toml").write_text('agent = "FromWork/1"\ndepth = 0\n')
    folder.mkdir()
    (folder / "goodbot.toml").write_text('agent = "FromCrawl/1"\nallow_private = true\n')
    async with WebServer(SITE) as server:
        first = await goodbot("crawl", server.url("/"), "--into", folder, folder=tmp_path)
        assert first.status == 0, first.err
        assert server.targets == ["/robots.txt", "/"]
        await goodbot("crawl", "--into", folder, "--agent", "FromOptions/1", "--depth", "1", folder=tmp_path)
    agents = [(exchange.header("User-Agent") or "").split("; ")[1].rstrip(")") for exchange in server.exchanges]
    assert agents[:2] == ["FromCrawl/1"] * 2
    assert set(agents[2:]) == {"FromOptions/1"}
    (tmp_path / "goodbot.toml").write_text("colour = 1\n")
    unknown = await goodbot("crawl", "--into", folder, folder=tmp_path)
    assert unknown.status == 2
    assert "colour" in unknown.complaint


async def test_names_that_are_pinned(folder: Path) -> None:
    async with WebServer(SITE) as server:
        seed = f"http://shop.example:{server.port}/"
        pin = f"shop.example:{server.port}:127.0.0.1"
        refused = await goodbot("crawl", seed, "--into", folder, "--resolve", pin)
        assert (refused.status, "--allow-private" in refused.complaint) == (2, True)
        result = await goodbot("crawl", seed, "--into", folder, "--resolve", pin, "--allow-private", "--json")
    assert result.lines[-1] == {"event": "end", "reason": "finished", "visited": 2}
    assert {exchange.header("Host") for exchange in server.exchanges} == {f"shop.example:{server.port}"}
