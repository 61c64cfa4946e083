"""`goodbot write` and `goodbot format`, as their users have them."""

from pathlib import Path

import pytest

from goodbot.exclusion import RobotsTxt
from journey.goodbot_process import goodbot

ROBOTS = b"# ours\nuser-agent :*\r\nDisallow:/a\r\n\r\n\r\nuser-agent: OneBot\r\nDisallow:   /b  # why\r\n"
TIDY = "# ours\nUser-agent: *\nDisallow: /a\n\nUser-agent: OneBot\nDisallow: /b # why\n"
COMPACT = "user-agent:*\nDisallow:/a\nuser-agent:OneBot\nDisallow:/b\n"


async def test_format_prints_writes_checks_and_compares(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(ROBOTS)
    assert (await goodbot("format", file)).out == TIDY
    assert (await goodbot("format", "--compact", file)).out == COMPACT
    assert (await goodbot("format", "-", stdin=ROBOTS)).out == TIDY
    assert (await goodbot("format", "--check", file)).status == 1
    difference = await goodbot("format", "--diff", file)
    assert difference.status == 1
    assert "+User-agent: *\n" in difference.out
    assert file.read_bytes() == ROBOTS
    written = await goodbot("format", "--write", file)
    assert (written.status, written.out, file.read_text()) == (0, "", TIDY)
    assert (await goodbot("format", "--check", file)).status == 0


async def test_what_is_left_unchanged_is_named() -> None:
    result = await goodbot("format", "-", "--compact", stdin=b"User-agent :*\nDisallow: /a\n# " + b"-" * 5_000)
    assert result.status == 0
    assert result.out.startswith("User-agent :*\n")
    assert result.err == "goodbot: standard input is left unchanged: line 3 is longer than 4,165 characters\n"


async def test_of_several_files_all_are_written_or_none(tmp_path: Path) -> None:
    for name, body in (("a", ROBOTS), ("b", b"<html>\n<p>Not found\n"), ("c", ROBOTS)):
        (tmp_path / name).write_bytes(body)
    for options in (("--write",), (), ("--diff",)):
        result = await goodbot("format", *options, "a", "b", "c", folder=tmp_path)
        assert (result.status, result.out) == (2, "")
        assert result.complaint == "goodbot: b is an HTML page, not a robots.txt"
    assert [(tmp_path / name).read_bytes() for name in ("a", "c")] == [ROBOTS, ROBOTS]
    written = await goodbot("format", "--write", "a", "c", folder=tmp_path)
    assert (written.status, written.out) == (0, "")
    assert [(tmp_path / name).read_text() for name in ("a", "c")] == [TIDY, TIDY]


async def test_write_takes_options_and_a_policy(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('close = ["/a/"]\nno = ["seo"]\ndelay = 2\n[robots.OneBot]\nopen = ["/a/b/"]\n')
    target = tmp_path / "robots.txt"
    result = await goodbot("write", "--policy", policy, "--close", "/c/", "--no-robot", "TwoBot", "-o", target)
    assert (result.status, result.out) == (0, "")
    robots = RobotsTxt.parse(target.read_bytes())
    answers = [
        ("/a/", "Any"),
        ("/c/", "Any"),
        ("/a/b/c", "OneBot"),
        ("/a/c", "OneBot"),
        ("/", "AhrefsBot"),
        ("/", "TwoBot"),
    ]
    assert [robots.allows(url, agent) for url, agent in answers] == [False, False, True, False, False, False]
    assert robots.crawl_delay("Any") == 2


async def test_files_of_several_authors_become_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("User-agent: *\nDisallow: /~a/\nAllow: /~b/open/\n")
    (tmp_path / "b").write_text("User-agent: *\nDisallow: /~b/\n")
    merged = await goodbot("write", "--merge", tmp_path / "a", tmp_path / "b")
    assert merged.status == 0
    assert merged.out == "User-agent: *\nDisallow: /~a/\nDisallow: /~b/\n"
    assert "`Allow: /~b/open/` for * is left out" in merged.complaint


async def test_closed_but_for_one() -> None:
    result = await goodbot("write", "--closed", "--only", "Googlebot")
    assert (result.status, result.out) == (0, "User-agent: Googlebot\nDisallow:\n\nUser-agent: *\nDisallow: /\n")


BAD = [
    (
        "one robot may come and may not",
        ("write", "--no-robot", "Googlebot", "--only", "googlebot"),
        "remove one of the two",
    ),
    ("a path without slash", ("write", "--close", "a"), "'a' is not a valid path: it must begin with /"),
    ("a purpose nobody has", ("write", "--no", "evil"), "evil"),
    ("no such policy", ("write", "--policy", "nowhere.toml"), "cannot read nowhere.toml"),
    ("one file to merge", ("write", "--merge", "one.txt"), "two robots.txt files or more"),
    ("files without merge", ("write", "one.txt"), "--merge"),
    ("no such file", ("format", "nowhere.txt"), "cannot read nowhere.txt"),
    ("a URL", ("format", "https://example.org/"), "save the robots.txt of the site"),
    ("check or write", ("format", "--check", "--write", "robots.txt"), "--check writes nothing"),
    ("a folder", ("format", "."), "cannot read ."),
    ("standard input cannot be written", ("format", "--write", "-"), "not standard input"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), BAD, ids=[case[0] for case in BAD])
async def test_bad_input_gets_one_line(name: str, arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = await goodbot(*arguments, folder=tmp_path)
    assert result.status == 2
    assert said in result.complaint


POLICIES = [
    ("no TOML", "close = [", "is not TOML"),
    ("an unknown key", "closed = true", "unknown key 'closed'"),
    ("an unknown key of a robot", "[robots.One]\nsitemaps = []", "unknown key 'sitemaps'"),
    ("a wrong type", 'close = "/a"', "close must be a list of strings"),
    ("a wrong delay", "delay = true", "delay must be a number"),
    ("a wrong word", 'everyone = "perhaps"', "everyone must be"),
    ("no table", "robots = 1", "robots must have a table"),
]


@pytest.mark.parametrize(("name", "text", "said"), POLICIES, ids=[case[0] for case in POLICIES])
async def test_a_bad_policy_gets_one_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    result = await goodbot("write", "--policy", file)
    assert result.status == 2
    assert said in result.complaint
    assert str(file) in result.complaint
