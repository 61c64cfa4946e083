"""Nothing in a robots.txt breaks out of the configuration: real servers accept every export."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.export.export_servers import SERVERS, check
from gate.export.export_sites import site_of
from goodbot.errors import InputError
from goodbot.gate.export import Format, exported

NASTY: Final = (
    '/x"; return 418; }',
    "/x'; http-request return status 418",
    "/x\\",
    '/x\\"',
    "/$uri/${PATH}",
    "/{$HOME}/{env.HOME}/{http.request.uri}",
    "/%{HTTP_HOST}/%[src]/%s",
    "/x`) || Path(`/y",
    '/x\' "y" `z` \\n',
    "/~(?:|.*+)[a-z]{2}\\d$",
    "/*" * 30,
    "/\u202e\x00\x1b[2J\x7f",
    "/Ж𝄞é",
    "/#not a comment",
    "/ a b\tc",
    "/</If></VirtualHost>",
    "//|^$",
    "*" * 50 + "a$",
    "/%%%2%2F%zz%",
    "/@@&&||!()",
)
NAMES: Final = (
    'a"b',
    "{$HOME}",
    "x`y",
    "Foo-Bar.Baz",
    "-",
    "mozilla",
    "a" * 300,
    "Bot'",
    "%s",
    "é",
    "bot",
    "2bot",
    "x.y",
)


def robots_txt(names: tuple[str, ...] | list[str], patterns: tuple[str, ...] | list[str]) -> str:
    agents = "".join(f"User-agent: {name}\n" for name in ("*", *names))
    rules = "".join(f"{'Dis' if number % 3 else ''}allow: {pattern}\n" for number, pattern in enumerate(patterns))
    return f"{agents}{rules}Crawl-delay: 2\n"


@pytest.mark.parametrize("server", SERVERS)
def test_nasty_patterns_and_names_are_accepted(server: Format, tmp_path: Path) -> None:
    check(server, tmp_path, exported(site_of(robots_txt(NAMES, NASTY)), server))


@pytest.mark.parametrize("server", ["nginx", pytest.param("haproxy", marks=pytest.mark.long)])
def test_thousands_of_groups_are_accepted(server: Format, tmp_path: Path) -> None:
    """Each group is a visitor of its own."""
    groups = "".join(f"User-agent: Robot{number}Bot\nDisallow: /a{number}\n" for number in range(1500))
    check(
        server, tmp_path, exported(site_of(f"{groups}User-agent: *\nDisallow: /{'a' * 4000}\nCrawl-delay: 5\n"), server)
    )


@pytest.mark.long
def test_a_configuration_that_would_be_too_long_is_refused() -> None:
    groups = "".join(f"User-agent: Robot{number}Bot\nDisallow: /a{number}\n" for number in range(1000))
    with pytest.raises(InputError, match="more than 16 MiB"):
        exported(site_of(groups), "traefik")


TEXTS: Final = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=60)
PATTERNS: Final = st.lists(TEXTS.map(lambda text: f"/{text}"), max_size=30)


def accepts(server: Format, names: list[str], patterns: list[str]) -> None:
    with TemporaryDirectory() as folder:
        check(server, Path(folder), exported(site_of(robots_txt(names, patterns)), server))


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TEXTS, max_size=10), PATTERNS)
def test_nginx_accepts_any_patterns_and_names(names: list[str], patterns: list[str]) -> None:
    accepts("nginx", names, patterns)


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names=st.lists(TEXTS, max_size=10), patterns=PATTERNS)
def test_every_server_accepts_any_patterns_and_names(server: Format, names: list[str], patterns: list[str]) -> None:
    accepts(server, names, patterns)


LINES: Final[dict[Format, str]] = {
    "nginx": r"(?:map|geo|limit_req_zone|limit_req|limit_req_status) "
    r'|    (?:"|default |v[0-9]+ |[0-9a-f.:/]+ (?:in|local);)|    return 403;|if |\}|',
    "apache": r"SetEnvIfNoCase User-Agent \"|SetEnvIfExpr \"|</?If|    AuthMerging And| +</?Require| +Require |",
    "caddy": r"\(goodbot_[0-9a-f]+(?:_definitions)?\) \{|import goodbot_|    (?:map|vars|@|respond|\}) ?"
    r"|        (?:\"~|yes \"\{http|v[0-9]+ r[0-9]+|"
    r"default (?:[a-z0-9]+|\"(?:\{[a-z0-9_]+\})?\")$|not |vars |\})|            (?:vars|remote_ip) |\}|",
    "haproxy": r"acl goodbot_|http-request (?:set-var|deny|track-sc)|backend goodbot_|    stick-table |",
}


@pytest.mark.parametrize("server", LINES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names=st.lists(TEXTS, max_size=5), patterns=PATTERNS)
def test_every_line_is_a_comment_or_one_of_ours(server: Format, names: list[str], patterns: list[str]) -> None:
    text = exported(site_of(robots_txt(names, [*patterns, *NASTY])), server).text
    strange = [
        line
        for line in text.split("\n")
        if not line.lstrip().startswith("#") and not re.match(rf"(?:{LINES[server]})", line)
    ]
    assert strange == []
    assert text.isprintable() or not set(text) & {chr(code) for code in (*range(10), *range(11, 32), 127)}


@pytest.mark.parametrize("server", SERVERS)
def test_an_empty_robots_txt_is_accepted(server: Format, tmp_path: Path) -> None:
    check(server, tmp_path, exported(site_of(""), server))


@pytest.mark.parametrize("server", SERVERS)
def test_a_strict_policy_is_accepted(server: Format, tmp_path: Path) -> None:
    policy = '[unverified]\naction = "refuse"\n[undeclared]\naction = "refuse"\n[browsers]\naction = "limit"\n'
    check(server, tmp_path, exported(site_of("User-agent: *\nDisallow: /\n", policy, "example.org"), server))
