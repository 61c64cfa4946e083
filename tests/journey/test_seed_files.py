"""Seeds from every kind of file, told apart by content; the command line, over real HTTP."""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from journey.goodbot_process import ended, goodbot, start
from webserver import Route, WebServer, answer

packed = partial(gzip.compress, mtime=0)

SITE: dict[str, Route] = {
    "/robots.txt": answer(b"", 404),
    **{f"/{name}": answer(f"<title>{name}</title>".encode()) for name in "abc"},
}

FILES: dict[str, tuple[str, str]] = {
    "list": ("# some\n@@/a\n@@/b # more\n", "2 seeds from seeds (list)"),
    "sitemap": (
        "<urlset><url><loc>@@/a</loc></url><url><loc>/x</loc></url><url><loc>@@/b</loc></url></urlset>",
        "2 seeds from seeds (sitemap, 1 reference passed over)",
    ),
    "feed": (
        "<rss><channel><item><link>@@/a</link></item><item><guid>@@/b</guid></item></channel></rss>",
        "2 seeds from seeds (feed)",
    ),
    "bookmarks": (
        '<!DOCTYPE NETSCAPE-Bookmark-file-1><DT><A HREF="@@/a">a</A><DT><A HREF="place:1">p</A><DT><A HREF="@@/b">b',
        "2 seeds from seeds (bookmarks, 1 reference passed over)",
    ),
    "web page": (
        "<!doctype html><base href='@@/'><a href=a>a</a><a href='@@/b'>b</a><a href=mailto:x@y.example>m</a>",
        "2 seeds from seeds (web page, 1 reference passed over)",
    ),
    "mail": (
        (
            "From a Thu\nSubject: x\nContent-Transfer-Encoding: quoted-printable\n\n@@/=61 and @@/a\n\n"
            "From b Fri\nContent-Type: text/html\n\n<a href='@@/b'>b</a> http://10.1.2.3/x\n"
        ),
        "2 seeds from seeds (mail)",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the crawl is kept."""
    return tmp_path / "crawl"


@pytest.mark.parametrize("pack", [bytes, packed], ids=["plain", "packed"])
@pytest.mark.parametrize(("text", "said"), FILES.values(), ids=FILES.keys())
async def test_kinds_of_files(
    text: str, said: str, pack: Callable[[bytes], bytes], folder: Path, tmp_path: Path
) -> None:
    async with WebServer(SITE) as server:
        (tmp_path / "seeds").write_bytes(pack(text.replace("@@", server.origin).encode()))
        options = ("--allow-private", "--scope", "page", "--into", folder)
        crawl = await goodbot("crawl", "--seeds", "seeds", *options, folder=tmp_path)
        assert crawl.status == 0, crawl.err
        assert said in crawl.err.splitlines()
        assert set(server.targets) == {"/robots.txt", "/a", "/b"}


async def test_a_robots_txt_and_a_sitemap_on_standard_input(folder: Path, tmp_path: Path) -> None:
    sitemap = answer(b"<urlset><url><loc>/a</loc></url></urlset>", headers=[("Content-Type", "text/xml")])
    async with WebServer({**SITE, "/s.xml": sitemap}) as server:
        (tmp_path / "robots.txt").write_text(f"User-agent: *\nDisallow: /b\nSitemap: {server.url('/s.xml')}\n")
        crawl = await goodbot(
            *("crawl", "--seeds", tmp_path / "robots.txt", "--seeds", "-", "--into", folder, "--allow-private"),
            stdin=f"<sitemapindex><sitemap><loc>{server.url('/c')}</loc></sitemap></sitemapindex>".encode(),
        )
        assert crawl.status == 0, crawl.err
        assert "1 seed from - (sitemap index)" in crawl.err
        assert set(server.targets) == {"/robots.txt", "/s.xml", "/a", "/c"}


async def test_private_machines_in_bookmarks_are_passed_over(folder: Path, tmp_path: Path) -> None:
    text = "<!DOCTYPE NETSCAPE-Bookmark-file-1><a href=http://192.168.0.1/>router</a><a href=http://localhost/>x</a>"
    (tmp_path / "b.html").write_text(text)
    crawl = await goodbot("crawl", "--seeds", tmp_path / "b.html", "--into", folder)
    assert crawl.status == 2
    assert crawl.complaint.endswith("b.html (bookmarks, 2 references passed over)")
    (tmp_path / "b.html").write_text(text + "<a href=https://h.example/>h</a>")
    crawl = await goodbot("crawl", "--seeds", tmp_path / "b.html", "--into", folder)
    assert "h.example is a public host: say who you are with --contact" in crawl.complaint
    options = ("--into", folder, "--contact", "m@e.example", "--dry-run")
    plan = await goodbot("crawl", "--seeds", tmp_path / "b.html", *options)
    assert plan.status == 0
    assert plan.err.startswith("1 seed from ")
    assert "h.example" in plan.out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no URL in "),
        (packed(b""), "no URL in "),
        (b"<urlset></urlset>", "(sitemap)"),
        (b"<html><p>no links", "(web page)"),
        (b"From a Thu\n\nno links\n", "(mail)"),
        (b"User-agent: *\nDisallow:\n", "(robots.txt)"),
        (bytes(1000), "it is binary data"),
        (packed(bytes(50_000_000), 1), "it is binary data"),
        (b"%PDF-1.4\n%\xe2\xe3", "it is binary data"),
        (packed(b"http://127.0.0.1/\n" * 9999)[:-20], "cannot unpack "),
        (b"{}", "line 1: '{}' is not a URL"),
    ],
)
async def test_files_that_give_no_seed(content: bytes, words: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(content)
    crawl = await goodbot("crawl", "--seeds", tmp_path / "seeds", "--into", folder, "--allow-private")
    assert crawl.status == 2
    assert words in crawl.complaint
    assert len(crawl.complaint) < 1000
    assert not folder.exists()


async def test_submit_from_files_to_a_crawl_at_rest_and_to_one_that_runs(folder: Path, tmp_path: Path) -> None:
    async with WebServer(SITE) as server:
        await goodbot("crawl", server.url("/a"), "--into", folder, "--allow-private")
        text = f"<!DOCTYPE NETSCAPE-Bookmark-file-1><a href={server.url('/a')}>a</a><a href={server.url('/b')}>b</a>"
        (tmp_path / "b.html").write_text(text + "<a href=http://x.example/>x</a>")
        result = await goodbot("submit", "--seeds", tmp_path / "b.html", "--in", folder)
        assert (result.status, result.out) == (1, "1 submitted, 1 known, 1 out of scope\n")
        assert "3 seeds from " in result.err
        running = await start("crawl", "--into", folder, "--keep-fresh")
        try:
            async with asyncio.timeout(60):
                while not (await goodbot("status", "--in", folder, "--json")).json["running"]:
                    pass
            more = await goodbot(
                "submit", server.url("/c"), "--seeds", "-", "--in", folder, stdin=server.url("/b").encode()
            )
            assert (more.status, more.out.splitlines()[0]) == (0, f"submitted     {server.url('/c')}")
            await server.received(4)
        finally:
            running.terminate()
            await ended(running)
        assert {"/a", "/b", "/c"} <= set(server.targets)
        nothing = await goodbot("submit", "--in", folder)
        assert (nothing.status, "give URLs, or a file of URLs" in nothing.complaint) == (2, True)


READING = """
import resource, sys
from goodbot.cli.seed_files import read_seed_files

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

before = peak()  # of the process that started this one, if that had more
with read_seed_files(sys.argv[1:], lambda url: None) as seeds:
    print(seeds.count, peak() - before)
"""


@pytest.mark.long
def test_half_a_gigabyte_of_mail_and_of_a_sitemap_is_read_in_flat_memory(tmp_path: Path) -> None:
    mail = b"From a@h.example Thu\nSubject: x\n\nhttp://127.0.0.1:9/%06d\n" + b"text " * 2000 + b"\n\n"
    entry = b"<url><loc>http://127.0.0.1:9/%07d</loc>" + b" " * 500 + b"</url>\n"
    files = tmp_path / "mail", tmp_path / "map"
    with files[0].open("wb") as file:
        for number in range(50_000):
            file.write(mail % number)
    with files[1].open("wb") as file:
        file.write(b"<urlset>")
        for number in range(900_000):
            file.write(entry % number)
    ran = subprocess.run([sys.executable, "-c", READING, *files], capture_output=True, check=True)
    count, more_bytes = map(int, ran.stdout.split())
    assert count == 950_000
    assert more_bytes < 100_000_000
