"""`goodbot impact` as its users have it."""

import gzip
from pathlib import Path

import pytest

from journey.goodbot_process import goodbot
from watch.impact.impacts import line
from watch.labelled_log import agent_of
from webserver import WebServer, answer

OLD = "User-agent: *\nDisallow: /old/\n"
NEW = "User-agent: *\nDisallow: /shop/\n\nUser-agent: GPTBot\nDisallow: /\n"
GPTBOT = agent_of("GPTBot")
LOG = "".join(
    [
        line("/shop/1?x", "Mozilla/5.0 (X11)", size=1000),
        line("/old/1", "Mozilla/5.0 (X11)"),
        line("/shop/2", agent_of("YandexBot"), size=50),
        line("/", agent_of("YandexBot")),
        *[line("/shop/1", GPTBOT, "203.0.113.9")] * 3,
        line("/robots.txt", GPTBOT, "203.0.113.9"),
        line("*", "x", method="OPTIONS"),
        "no request\n",
    ]
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in (("old.txt", OLD), ("new.txt", NEW), ("access.log", LOG), ("empty.txt", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "page.html").write_text("<!doctype html><title>404</title><p>no such page")
    (tmp_path / "long.txt").write_text(OLD + "# x\n" * 200_000)
    (tmp_path / "comment.txt").write_text("# nothing yet\n")
    (tmp_path / "urls.txt").write_text(
        "# pages\n/\n/shop/1\nhttps://example.org/shop/1\nhttps://example.org/x\nx y\n\n"
    )
    (tmp_path / "two.txt").write_text("https://example.org/shop/\nhttps://www.example.com/shop/\n")
    urls = "".join(f"<url><loc>https://example.org/{name}</loc></url>" for name in ("shop/a", "shop/b", "c"))
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    (tmp_path / "sitemap.xml.gz").write_bytes(gzip.compress(sitemap.encode()))
    return tmp_path


async def test_two_files_and_a_log(place: Path) -> None:
    result = await goodbot("impact", "old.txt", "new.txt", "--log", "access.log", folder=place)
    assert result.status == 0
    out = " ".join(result.out.split())
    for words in (
        "Of the 6 requests in the names of known robots, 4 (66.7 %) would get another verdict. 6 of all 8",
        "6 of all 8 requests (75.0 %) would get another verdict: 5 closed, 1 opened (3 paths, 1.4 kB).",
        "(3 paths, 1.4 kB). 2 of these came from other User-Agents.",
        "GPTBot (impostor) 4 3 0 4 1",
        "3 closed /shop/1 Disallow: / (new.txt, line 5), for GPTBot (impostor)",
        "1 opened /old/1 Disallow: /old/ (old.txt, line 2), for other User-Agents",
        "1 request left out: not for a URL of the site",
        "other User-Agents 2 1 1 1 1",
        "Browsers do not read robots.txt, so requests of people would not change.",
    ):
        assert words in out
    assert result.err == "goodbot: 1 line skipped (unknown format: 1)\n"
    assert "\x1b" not in result.out


@pytest.mark.parametrize(("host", "requests"), [([], 3), (["--host", "www.example.org"], 2)])
async def test_a_log_of_several_hosts(host: list[str], requests: int, place: Path) -> None:
    lines = [f"{name} {line('/shop/1', GPTBOT)}" for name in ("www.example.org:443", "other.example:443")]
    lines.append(line("http://www.example.org/shop/2", GPTBOT))
    (place / "hosts.log").write_text("".join(lines))
    found = (await goodbot("impact", "new.txt", "--log", "hosts.log", *host, "--json", folder=place)).json
    assert (found["requests"], found["not_judged"]) == (requests, 3 - requests)


async def test_user_triggered_robots_are_marked(place: Path) -> None:
    (place / "user.log").write_text(line("/shop/1", agent_of("ChatGPT-User")) + line("/shop/1", GPTBOT))
    result = await goodbot("impact", "new.txt", "--log", "user.log", folder=place)
    assert "ChatGPT-User (impostor) (u) 1 1 0" in " ".join(result.out.split())
    assert result.out.count("robots.txt is not meant for such") == 1
    assert "many do not obey it; goodbot who NAME says what is known." in " ".join(result.out.split())
    other = await goodbot("impact", "new.txt", "--log", "access.log", folder=place)
    assert "(u)" not in other.out


async def test_rows_that_are_not_shown_are_counted(place: Path) -> None:
    (place / "many.log").write_text("".join(line(f"/shop/{number}", GPTBOT) for number in range(17)))
    result = await goodbot("impact", "new.txt", "--log", "many.log", folder=place)
    assert result.out.endswith("  2 more rows (a path has one row for each rule); --json lists them all\n")


async def test_a_narrow_terminal(place: Path) -> None:
    settings = {"COLUMNS": "40"}
    result = await goodbot("impact", "old.txt", "new.txt", "--log", "access.log", folder=place, settings=settings)
    assert "GPTBot (impostor): requests: 4, closed: 3, opened: 0" in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 40


async def test_what_one_file_closes_today(place: Path) -> None:
    result = await goodbot("impact", "new.txt", "--log", "access.log", folder=place)
    out = " ".join(result.out.split())
    assert "Of the 6 requests in the names of known robots, new.txt disallows 4 (66.7 %)." in out
    assert "new.txt disallows 5 of all 8 requests (62.5 %): 2 paths, 1.4 kB." in out
    assert "robot requests disallowed allowed bytes" in out
    assert not any(word in out for word in ("would get", "opened", "closed"))


async def test_json(place: Path) -> None:
    result = await goodbot("impact", "old.txt", "-", "--log", "access.log", "--json", folder=place, stdin=NEW.encode())
    found = result.json
    assert {name: found[name] for name in ("judged", "requests", "changed", "share", "opened", "closed", "bytes")} == {
        "judged": "requests",
        "requests": 8,
        "changed": 6,
        "share": 0.75,
        "opened": 1,
        "closed": 5,
        "bytes": 1450,
    }
    assert found["paths_changed"] == {"count": 3, "exact": True}
    assert (found["lines"], found["skipped"], found["not_judged"], found["new"]["name"]) == (10, 1, 1, "standard input")
    assert found["by_robot"][0] == {
        "name": "GPTBot",
        "tier": "impostor",
        "user_triggered": False,
        "requests": 4,
        "changed": 3,
        "opened": 0,
        "closed": 3,
        "bytes": 300,
        "allowed_before": 4,
        "allowed_after": 1,
    }
    assert found["paths"][0] == {
        "path": "/shop/1",
        "robots": [{"name": "GPTBot", "tier": "impostor", "requests": 3}],
        "opened": 0,
        "closed": 3,
        "requests": 3,
        "at_most": 3,
        "bytes": 300,
        "rule": "Disallow: /",
        "line": 5,
        "file": "new",
    }


PAGES = [
    ("urls.txt", (), {"requests": 3, "changed": 3, "host": "example.org", "passed_over": 1, "repeated": 1}),
    ("sitemap.xml.gz", (), {"requests": 3, "changed": 3, "passed_over": 0}),
    ("sitemap.xml.gz", ("--host", "www.example.org"), {"requests": 0, "changed": 0, "other_hosts": 3}),
    ("two.txt", ("--host", "www.example.com"), {"requests": 1, "changed": 1, "other_hosts": 1}),
]


@pytest.mark.parametrize(("file", "options", "expected"), PAGES)
async def test_pages_of_a_list(file: str, options: tuple[str, ...], expected: dict[str, object], place: Path) -> None:
    result = await goodbot("impact", "new.txt", "--urls", file, "--agent", "MyBot", *options, "--json", folder=place)
    found = result.json
    names = {one["name"] for one in found["by_robot"]}
    assert (result.status, found["judged"], names) == (0, "pages", {"GPTBot", "MyBot", "*"})
    assert {**found, **expected} == found


async def test_the_text_about_pages(place: Path) -> None:
    result = await goodbot("impact", "new.txt", "--urls", "sitemap.xml.gz", folder=place)
    out = " ".join(result.out.split())
    assert "new.txt disallows 3 of 3 pages (100.0 %) for at least one robot: 3 paths." in out
    assert "GPTBot 3 3 0 * 3 2 1" in out
    assert "Disallowed paths 1 /c" in out
    result = await goodbot("impact", "old.txt", "new.txt", "--urls", "sitemap.xml.gz", folder=place)
    out = " ".join(result.out.split())
    assert (
        "3 of 3 pages (100.0 %) would get another verdict for at least one robot: 3 closed, 0 opened (3 paths)." in out
    )
    assert "Paths that change 1 closed /c" in out
    (place / "both.txt").write_text("User-agent: *\nDisallow: /c\n\nUser-agent: a\nDisallow:\n")
    (place / "a.txt").write_text("User-agent: a\nDisallow: /c\n")
    result = await goodbot("impact", "a.txt", "both.txt", "--urls", "sitemap.xml.gz", folder=place)
    assert "1 closed, 1 opened (1 path; a page may be both, for different robots)." in " ".join(result.out.split())


async def test_the_pages_of_a_crawl_and_the_robots_txt_of_its_site(place: Path) -> None:
    routes = {
        "/robots.txt": answer(b"User-agent: *\nDisallow: /closed\n", headers=(("Content-Type", "text/plain"),)),
        "/": answer(b'<title>Start</title><a href="/shop/1">1</a><a href="/closed">2</a><a href="/gone">3</a>'),
        "/shop/1": answer(b"<title>One</title>"),
        "/gone": answer(b"", 404),
    }
    async with WebServer(routes) as server:
        crawled = await goodbot("crawl", server.url("/"), "--into", "crawl", "--allow-private", "-q", folder=place)
        assert crawled.status == 0
        result = await goodbot("impact", server.url("/"), "new.txt", "--in", "crawl", "--json", folder=place)
        found = result.json
        assert (found["requests"], found["opened"], found["closed"]) == (3, 1, 2)
        assert (found["old"]["name"], found["old"]["groups"]) == (server.url("/"), 1)
        assert {one["name"]: one["allowed_after"] for one in found["by_robot"]} == {"*": 2, "GPTBot": 0}
        result = await goodbot("impact", "new.txt", "--in", "crawl", "--host", "a.example", "--json", folder=place)
        assert (result.json["requests"], result.json["other_hosts"]) == (0, 3)
    result = await goodbot("impact", server.url("/"), "new.txt", "--in", "crawl", folder=place)
    assert (result.status, result.out) == (3, "")
    assert "robots.txt is unreachable" in result.complaint


async def test_a_site_that_answers_with_a_page_has_no_rules(place: Path) -> None:
    routes = {"/robots.txt": answer(b"<!doctype html><title>x</title>")}
    async with WebServer(routes, fallback=answer(b"", 404)) as server:
        result = await goodbot("impact", server.url("/"), "--log", "access.log", "--json", folder=place)
    assert (result.status, result.json["changed"]) == (0, 0)
    assert "is an HTML page, so it allows everything" in result.err


SAID = [
    ("empty.txt --log access.log", "empty.txt is empty, so it allows everything"),
    ("empty.txt --log access.log", "empty.txt disallows none of all 8 requests."),
    (
        "old.txt empty.txt --log access.log",
        "Of the 6 requests in the names of known robots, none would get another verdict.",
    ),
    (
        "old.txt empty.txt --log access.log",
        "1 of all 8 requests (12.5 %) would get another verdict: 0 closed, 1 opened",
    ),
    ("comment.txt --log access.log", "comment.txt has no group, so it allows everything"),
    ("long.txt --log access.log", "long.txt: robots read only the first 500 KiB, so the last "),
    ("new.txt --log access.log --since 2027-01-01", "No requests to judge."),
    ("new.txt --log access.log --since 2027-01-01", "9 requests left out by --since or --until"),
    ("new.txt --log empty.txt", "No requests to judge."),
    ("new.txt --log people.log", "No known robot is in the log."),
    ("old.txt old.txt --log access.log", "None of all 8 requests would get another verdict."),
    ("new.txt --urls empty.txt", "No pages to judge."),
    ("new.txt --urls two.txt --host example.org", "1 URL of other hosts left out"),
    ("new.txt --urls urls.txt", "1 reference passed over"),
]


@pytest.mark.parametrize(("typed", "words"), SAID)
async def test_what_is_said(typed: str, words: str, place: Path) -> None:
    (place / "people.log").write_text(line("/", "Mozilla/5.0 (X11)"))
    result = await goodbot("impact", *typed.split(), folder=place)
    assert result.status == 0
    assert words in f"{result.out} {result.err}"


async def test_a_change_can_fail(place: Path) -> None:
    for files, status in ((("old.txt", "new.txt"), 1), (("new.txt", "new.txt"), 0)):
        result = await goodbot("impact", *files, "--log", "access.log", "--fail-on-change", "-q", folder=place)
        assert (result.status, result.err) == (status, "")


REFUSED = [
    ("new.txt", "say what is judged: --log LOG, --urls FILE or --in DIR, one of them"),
    ("new.txt --log access.log --urls urls.txt", "one of them"),
    ("a b c --log access.log", "one or two robots.txt files can be compared, not 3"),
    ("- new.txt --log -", "- (standard input) can be named once only"),
    ("new.txt --log access.log --agent x", "--agent needs --urls or --in"),
    ("new.txt --urls urls.txt --since 7d", "--since needs --log"),
    ("new.txt --urls urls.txt --real-ip", "--real-ip needs --log"),
    ("new.txt --log access.log --since yesterday", "--since must be"),
    ("page.html new.txt --log access.log", "page.html is an HTML page, not a robots.txt"),
    ("missing.txt --log access.log", "cannot read missing.txt"),
    ("example.org --log access.log", "if you mean the site, give the whole URL: https://example.org/"),
    ("ftp://example.org/ --log access.log", "not an http or https URL"),
    ("new.txt --log missing.log", "cannot read missing.log"),
    ("new.txt --urls missing.txt", "cannot read missing.txt"),
    ("new.txt --urls old.txt", "old.txt is a robots.txt, not a list of URLs or a sitemap"),
    ("new.txt --urls two.txt", "choose it with --host"),
    ("new.txt --urls urls.txt --host a/b", "not a host such as"),
    ("new.txt --in nowhere", "no such folder: nowhere"),
    ("new.txt --log access.log -o access.log", "--output is one of the inputs"),
]


@pytest.mark.parametrize(("typed", "words"), REFUSED)
async def test_bad_input(typed: str, words: str, place: Path) -> None:
    result = await goodbot("impact", *typed.split(), folder=place)
    assert (result.status, result.out) == (2, "")
    assert words in result.complaint
