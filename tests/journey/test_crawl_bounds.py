"""Seeds from files, globs, media types and sizes: crawls by the command line, over real HTTP."""

from pathlib import Path

import pytest

from journey.goodbot_process import goodbot
from webserver import Route, WebServer, answer

TEXT = [("Content-Type", "text/plain")]
LONG = b"<p>" + b"word " * 40_000

SITE: dict[str, Route] = {
    "/robots.txt": answer(b"", headers=TEXT),
    "/": answer(
        b'<a href="/a">A</a> <a href="/b.pdf">B</a> <a href="/x/c">C</a> <a href="/long">L</a><a href="/t">T</a>'
    ),
    "/a": answer(b"<title>A</title>"),
    "/b.pdf": answer(b"%PDF", headers=[("Content-Type", "application/pdf")]),
    "/x/c": answer(b"<title>C</title>"),
    "/long": answer(LONG),
    "/t": answer(b"plain words", headers=TEXT),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the crawl is kept."""
    return tmp_path / "crawl"


async def test_globs(folder: Path) -> None:
    async with WebServer(SITE) as server:
        crawl = await goodbot(
            *("crawl", server.url("/"), "--into", folder, "--allow-private", "--scope", "all", "--no-index"),
            *("--include", "http://127.0.0.*:*/*", "--exclude", "*.pdf", "--exclude", "*/x/*"),
        )
        assert crawl.status == 0, crawl.err
        assert set(server.targets) == {"/robots.txt", "/", "/a", "/long", "/t"}
        why = await goodbot("why", server.url("/b.pdf"), "--in", folder)
        assert "out-of-scope, excluded by --exclude *.pdf" in why.out
        again = await goodbot("crawl", "--into", folder, "--exclude", "*.pdf", "--json")
        assert [line["url"] for line in again.lines[:-1]] == [server.url("/x/c")]


async def test_a_seed_that_was_refused_for_its_type_is_fetched_once(folder: Path) -> None:
    async with WebServer(SITE) as server:
        options = ("--into", folder, "--allow-private", "--json")
        bounds = ("--type", "text/html", "--max-size", "100k")
        await goodbot("crawl", server.url("/b.pdf"), server.url("/long"), *options, *bounds)
        for more in ((), (server.url("/b.pdf"),), (server.url("/a"),), bounds):
            again = await goodbot("crawl", *more, *options)
            assert again.status == 0, again.err
        plan = await goodbot("crawl", "--into", folder, "--dry-run", "--json")
        assert (plan.status, plan.json["hosts"]) == (0, [])
        assert server.targets == ["/robots.txt", "/b.pdf", "/long", "/a"]
        await goodbot("crawl", *options, "--type", "application/pdf")
        assert sorted(server.targets[4:]) == ["/b.pdf", "/long"]


async def test_types_and_sizes(folder: Path) -> None:
    async with WebServer(SITE) as server:
        options = ("--into", folder, "--allow-private", "--json")
        crawl = await goodbot("crawl", server.url("/"), *options, "--type", "text/html", "--max-size", "100k")
        states = {page["url"].removeprefix(server.origin): (page["state"], page["why"]) for page in crawl.lines[:-1]}
        assert states == {
            "/": ("visited", "status 200"),
            "/a": ("visited", "status 200"),
            "/x/c": ("visited", "status 200"),
            "/b.pdf": ("out-of-scope", "application/pdf does not match --type text/html"),
            "/t": ("out-of-scope", "text/plain does not match --type text/html"),
            "/long": ("out-of-scope", "longer than --max-size 100000 bytes"),
        }
        why = (await goodbot("why", server.url("/long"), "--in", folder, "--json")).json
        assert ("scope", "out-of-scope") in [(event["step"], event["decision"]) for event in why["events"]]
        exported = (await goodbot("export", "--in", folder, "--what", "pages")).lines
        assert {page["url"].removeprefix(server.origin) for page in exported} == {"/", "/a", "/x/c"}
        assert (await goodbot("search", "words", "--in", folder, "--json")).json["total"] == 0

        for _ in range(2):
            again = await goodbot("crawl", "--into", folder, "--json")
            assert again.lines == [{"event": "end", "reason": "finished", "visited": 0}], "nothing is fetched twice"
        wider = await goodbot("crawl", "--into", folder, "--type", "text/*", "--json")
        assert {line["url"].removeprefix(server.origin): line["state"] for line in wider.lines[:-1]} == {
            "/t": "visited",
            "/b.pdf": "out-of-scope",
            "/long": "out-of-scope",
        }


async def test_seeds_from_files(folder: Path, tmp_path: Path) -> None:
    async with WebServer(SITE) as server:
        one, other = tmp_path / "one.txt", tmp_path / "other.txt"
        text = f"# pages\r\n\r\n  {server.url('/a')} \t\r\n{server.url('/a#part')} # again\r\n{server.url('/t')}"
        one.write_bytes(b"\xef\xbb\xbf" + text.encode())
        other.write_text(f"\n{server.url('/b.pdf')}\n")
        options = ("--into", folder, "--json")
        crawl = await goodbot(
            *("crawl", "--seeds", one, "--seeds", "-", *options, "--allow-private", "--exclude", "*.pdf"),
            stdin=f"{server.url('/x/c')}\n{server.url('/b.pdf')}".encode(),
        )
        assert crawl.status == 0, crawl.err
        assert set(server.targets) == {"/robots.txt", "/a", "/t", "/x/c"}
        why = (await goodbot("why", server.url("/b.pdf"), "--in", folder, "--json")).json
        assert why["state"] == "out-of-scope"
        again = await goodbot("crawl", *options, "--exclude", "nothing://*")
        assert (again.status, again.lines) == (2, [])
        more = await goodbot("crawl", "--seeds", other, *options, "--exclude", "*/none")
        assert [line["url"] for line in more.lines[:-1]] == [server.url("/b.pdf")]
        assert "/a" not in (folder / "goodbot.toml").read_text()


async def test_the_hosts_of_listed_seeds_are_in_scope_after_a_resume(folder: Path, tmp_path: Path) -> None:
    async with WebServer(SITE) as server:
        (tmp_path / "seeds.txt").write_text(server.url("/"))
        options = ("--into", folder, "--max-pages", "1")
        await goodbot("crawl", "--seeds", tmp_path / "seeds.txt", *options, "--allow-private")
        (tmp_path / "seeds.txt").unlink()
        end = await goodbot("crawl", "--into", folder, "--json")
        assert end.lines[-1] == {"event": "end", "reason": "finished", "visited": 5}


# what is in the file, options → words of the complaint
WRONG: list[tuple[bytes, tuple[str, ...], str]] = [
    (
        b"http://127.0.0.1/\n\n# x\nexample.org\n",
        ("--allow-private",),
        "line 4: 'example.org' is not a URL; did you mean",
    ),
    (b"ftp://example.org/ # old\n", (), "line 1: cannot crawl 'ftp://example.org/': not an http or https URL"),
    (b"http://127.0.0.1/ http://127.0.0.2/\n", ("--allow-private",), "line 1: a line must be one URL"),
    (b"https://e.example/\nhttp://10.0.0.1/\n", ("--contact", "m@e.org"), "line 2: http://10.0.0.1/ is on a private"),
    (b"https://e.example/\n", (), "line 1: e.example is a public host: say who you are with --contact"),
    (b"https://e.example/\n\xff\xfe\n", ("--contact", "m@e.org"), "line 2: not UTF-8 text"),
    (b"https://e.example/" + b"a" * 200_000, ("--contact", "m@e.org"), "line 1: "),
    (b"# nothing\n\n", (), "no URL in "),
]


@pytest.mark.parametrize(("content", "options", "words"), WRONG)
async def test_a_wrong_line(content: bytes, options: tuple[str, ...], words: str, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(content)
    crawl = await goodbot("crawl", "--seeds", file, "--into", folder, *options)
    assert crawl.status == 2
    assert words in crawl.complaint
    assert len(crawl.complaint) < 1000
    assert not folder.exists()


async def test_a_file_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    for name in (tmp_path / "none.txt", tmp_path):
        crawl = await goodbot("crawl", "--seeds", name, "--into", folder)
        assert crawl.status == 2
        assert f"cannot read {name}" in crawl.complaint


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--exclude", "*.html"), "the seed http://127.0.0.1:1/a.html is out of scope: excluded by --exclude *.html"),
        (("--include", "*/b/*"), "matches none of --include */b/*"),
        (("--include", ""), "--include is empty"),
        (("--exclude", "*/[a-"), "has a [ without a ]"),
        (("--exclude", "*?*"), "[?] for a question mark"),
        (("--include", "127.0.0.1/*"), "a glob must match the whole URL"),
        (("--type", "html"), "--type must be a media type"),
        (("--max-size", "0"), "is not a size"),
        (("--max-size", "lots"), "is not a size"),
    ],
)
async def test_bounds_that_cannot_be_meant(options: tuple[str, ...], words: str, folder: Path) -> None:
    crawl = await goodbot("crawl", "http://127.0.0.1:1/a.html", "--into", folder, "--allow-private", *options)
    assert crawl.status == 2
    assert words in crawl.complaint
    assert not folder.exists()
