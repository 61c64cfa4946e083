"""A site that is walled in part: the crawl, `goodbot why`, and the report for its owner."""

import json
from pathlib import Path

from click.testing import CliRunner

from goodbot.cli.commands import group
from journey.goodbot_process import goodbot
from webserver import WebServer, answer

ROBOTS = answer(b"User-agent: *\nDisallow:\n", headers=[("Content-Type", "text/plain")])
CHALLENGE = answer(b"<title>Just a moment...</title><a href=/behind>on</a>", 200, [("cf-mitigated", "challenge")])


def said(*arguments: str | Path) -> str:
    ran = CliRunner().invoke(group, [str(each) for each in arguments], standalone_mode=False)
    assert ran.exception is None
    return ran.output


def report(folder: Path, form: str) -> str:
    return said("courtesy", "--in", folder, "--format", form)


async def test_a_walled_page_fails_and_is_listed_for_the_owner_of_the_site(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    pages = {"/robots.txt": ROBOTS, "/": answer(b"<title>Open</title><a href=/shop>shop</a>"), "/shop": CHALLENGE}
    async with WebServer(pages) as server:
        crawled = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--json")
        shop = server.url("/shop")
    assert (crawled.status, crawled.err) == (0, "")
    assert [(line["url"], line["state"]) for line in crawled.lines if line["event"] == "page"][1:] == [(shop, "failed")]
    told = json.loads(said("why", shop, "--in", folder, "--json"))
    assert told["state"] == "failed"
    steps = [(event["step"], event["decision"], event["reason"]) for event in told["events"]]
    assert ("fetch", "wall", "a bot wall (Cloudflare) answered in place of the page") in steps
    assert f'"walls": [{{"wall": "Cloudflare", "pages": 1, "urls": ["{shop}"]}}]' in report(folder, "json")
    assert "bot wall      Cloudflare answered in place of 1 page\n" in report(folder, "text")
    html = report(folder, "html")
    assert "A bot wall (Cloudflare) answered in place of 1 page</h3>" in html
    assert f"<li><code>{shop}</code></li>" in html


async def test_a_wall_is_no_page_whose_directives_could_be_read_or_checked() -> None:
    pages = {"/robots.txt": ROBOTS, "/shop.html": CHALLENGE}
    async with WebServer(pages) as server:
        shop = server.url("/shop.html")
        for command in ("directives", "check"):
            ended = await goodbot(command, shop)
            assert ended.status == 3
            assert ended.complaint == f"goodbot: a bot wall (Cloudflare) answers in place of {shop} (status 200)"
