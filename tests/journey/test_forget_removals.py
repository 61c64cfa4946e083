"""Pages removed at their owner's request: `goodbot search` shows none of them, and `goodbot forget` forgets them."""

from pathlib import Path

from goodbot.store.control.removals import RemovalFile
from goodbot.url import Url
from goodbot.visitor_values import Removal
from journey.goodbot_process import goodbot
from webserver import Route, WebServer, answer

LINKS = b"<title>Home</title><a href=/a>a</a><a href=/b>b</a>"


def site(name: str) -> dict[str, Route]:
    """Returns a site whose pages differ from those of others: only one of two equal pages is indexed."""
    return {
        "/": answer(LINKS),
        "/a": answer(f"<title>Page a</title><p>zebra of a, {name}".encode()),
        "/b": answer(f"<title>Page b</title><p>zebra of b, {name}".encode()),
    }


def removed(url: str) -> Removal:
    return Removal(url[-12:], 1.0, "page", "its server answers with status 404", url=Url(url))


async def found(folder: Path) -> set[str]:
    shown = await goodbot("search", "zebra", "--in", folder, "--json")
    assert shown.status == 0, shown.err
    return {hit["url"] for hit in shown.json["hits"]}


async def test_removals_of_a_forgotten_host_go_with_it(tmp_path: Path) -> None:
    async with WebServer(site("gone")) as gone, WebServer(site("other")) as other:
        options = ("--into", tmp_path, "--allow-private")
        assert (await goodbot("crawl", gone.url("/"), other.url("/"), *options)).status == 0
        removals = RemovalFile(tmp_path)
        for url in (gone.url("/a"), other.url("/a")):
            removals.add(removed(url))
        removals.add(Removal("site", 1.0, "token file", "it has the file", site=Url(gone.url("/")).authority))
        assert await found(tmp_path) == {other.url("/b")}

        assert (await goodbot("forget", gone.url("/"), "--in", tmp_path)).status == 0
        assert [removal.subject for removal in removals.removals()] == [other.url("/a")]
        assert gone.origin not in (tmp_path / "removals.jsonl").read_text()
        assert await found(tmp_path) == {other.url("/b")}

        assert (await goodbot("forget", gone.url("/"), "--in", tmp_path, "--undo")).status == 0
        assert (await goodbot("crawl", gone.url("/"), *options)).status == 0
        assert await found(tmp_path) == {gone.url("/a"), gone.url("/b"), other.url("/b")}
