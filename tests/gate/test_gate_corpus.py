"""The gate closes exactly what `goodbot allowed` says is not allowed: for robots.txt of this module, and of real sites.

A URL with dot segments, `//` or encoded slashes is judged as it is written and as Web servers read it; both must be
allowed.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.gates import (
    BYTESPIDER,
    EXAMPLEBOT,
    GOOGLE,
    GOOGLEBOT,
    GPTBOT,
    NOW,
    OPENAI,
    STRANGER,
    address_in,
    asked_for,
    clients_with,
    gate_with,
)
from goodbot.exclusion import RobotsTxt
from goodbot.gate.gate_request import GateRequest

CORPUS = Path(__file__).parents[2].parent / "shared" / "data" / "robots-corpus"

ROBOTS = {
    "ExampleBot": (EXAMPLEBOT, STRANGER),
    "Googlebot": (GOOGLEBOT, GOOGLE),
    "GPTBot": (GPTBOT, OPENAI),
    "Bytespider": (BYTESPIDER, STRANGER),
    "CCBot": ("CCBot/2.0 (https://commoncrawl.org/faq/)", address_in("ccbot")),
    "AhrefsBot": ("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", address_in("ahrefs")),
    "MJ12bot": ("Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)", STRANGER),
    "bingbot": ("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", address_in("bingbot")),
}
"""By product token, robots that read groups with this name and for `*`: no other name, and no feed readers."""

USUAL = [
    *("/", "/index.html", "/robots.txt", "/robots.txt?a", "/favicon.ico", "/?q=a", "/search?q=a%20b&p=2", "/a/b/c.pdf"),
    *(
        "/%61",
        "/caf%C3%A9",
        "/café",
        "/a//b",
        "//",
        "/./",
        "/a/../b",
        "/%2e%2e/a",
        "/a%2Fb",
        "/.well-known/x",
        "/*",
        "/$",
    ),
]
MOST_PATTERNS = 40

_RULE = re.compile(r"^[ \t]*(?:dis)?allow[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)


def urls_for(body: bytes) -> Iterator[str]:
    """Yields usual URLs, and URLs near the patterns of a robots.txt."""
    yield from USUAL
    patterns = [*dict.fromkeys(_RULE.findall(body.decode("utf-8", "ignore")))]
    for pattern in patterns[:: len(patterns) // MOST_PATTERNS + 1]:
        plain = pattern.removesuffix("$")
        for url in (plain.replace("*", ""), plain.replace("*", "a/b"), f"{plain.replace('*', 'x')}y", plain[:-1]):
            yield url if url.startswith("/") else f"/{url}"


def forms_of(url: str) -> set[str]:
    """A URL as it is written and as Web servers read it, which may be the same."""
    path, mark, query = url.partition("?")
    decoded = re.sub("%2e", ".", re.sub("%2f", "/", path, flags=re.IGNORECASE), flags=re.IGNORECASE)
    forms = {url}
    for read in (decoded, re.sub(r"\\|%5c", "/", decoded, flags=re.IGNORECASE)):
        served = "/" + posixpath.normpath(f"/{read}").lstrip("/")
        if served != "/" and re.search(r"/\.{0,2}$", read):
            served += "/"
        forms.add(f"{served}{mark}{query}")
    return forms


def closed_by_the_gate(body: bytes, urls: list[str]) -> dict[tuple[str, str], bool]:
    gate = gate_with(body, clients=CLIENTS)
    found = {}
    for token, (agent, address) in ROBOTS.items():
        for url in urls:
            request: GateRequest = asked_for(url, agent, address)
            decision = gate.decide(request, NOW, 0.0)
            assert decision.code in ("allowed", "disallowed", "too-fast", "not-now"), (token, decision)
            found[token, url] = (decision.status, decision.code) == (403, "disallowed")
    return found


CLIENTS = clients_with()


def differences(body: bytes) -> tuple[list[str], list[str]]:
    """Returns where the gate differs from the verdicts on all forms of a URL, and where from that on the URL alone."""
    rules = RobotsTxt.parse(body)
    urls = [*dict.fromkeys(urls_for(body))]
    from_forms, from_url = [], []
    for (token, url), closed in closed_by_the_gate(body, urls).items():
        if closed == all(rules.verdict(form, token).allowed for form in forms_of(url)):
            from_forms.append(f"{token} {url}")
        if closed == rules.verdict(url, token).allowed:
            from_url.append(f"{token} {url}")
    return from_forms, from_url


OWN = {
    "nothing": "",
    "all closed": "User-agent: *\nDisallow: /\n",
    "all open": "User-agent: *\nDisallow:\n",
    "one group": "User-agent: *\nDisallow: /private/\nDisallow: /tmp\nAllow: /private/open\n",
    "groups by name": "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart\n",
    "twice": "User-agent: bingbot\nDisallow: /a\nUser-agent: *\nDisallow: /b\nUser-agent: BingBot\nDisallow: /c\n",
    "only one may come": "User-agent: Googlebot\nAllow: /\n\nUser-agent: *\nDisallow: /\n",
    "wildcards": "User-agent: *\nDisallow: /*.pdf$\nDisallow: /*?q=\nAllow: /*?q=a$\nDisallow: /a*/c\n",
    "the longest wins": "User-agent: *\nDisallow: /shop\nAllow: /shop/\nDisallow: /shop/*/edit\nAllow: /shop/x/edit\n",
    "letters beyond ASCII": "User-agent: *\nDisallow: /café\nDisallow: /стих\nDisallow: /a%C3%A0\nAllow: /café/carte\n",
    "percent-encoding": "User-agent: *\nDisallow: /%61\nDisallow: /b%2Fc\nDisallow: /%7euser\nDisallow: /d%2ahi\n",
    "strange paths": "User-agent: *\nDisallow: //\nDisallow: /./x\nDisallow: /up/../down\nDisallow: /.hidden\n",
    "no slash": "User-agent: *\nDisallow: private\nDisallow: *.php\nAllow: index\nDisallow: ?print\n",
    "a delay": "User-agent: *\nCrawl-delay: 30\nDisallow: /slow\nUser-agent: MJ12bot\nCrawl-delay: 60\nDisallow: /x\n",
    "hours": "User-agent: *\nVisit-time: 0000-0200\nRequest-rate: 1/5m\nDisallow: /day\nAllow: /day/1\n",
    "line breaks": "User-agent: *\rDisallow: /cr\r\nDisallow: /crlf\n\n\nDisallow: /after\n",
    "comments": "# all\nUser-agent: * # everyone\nDisallow: /a # not this\n#Disallow: /b\nDisallow: /c#d\n",
    "spaces and case": "  USER-AGENT :  *  \n\tDISALLOW :\t/A\t\nallow:/A/b\nDisallow:/c d\n",
    "spelling": "Useragent: *\nDissallow: /x\nUser agent: GPTBot\nDisalow: /y\nDisallow: /z\n",
    "rules before any group": "Disallow: /early\nUser-agent: *\nDisallow: /late\n",
    "versions": "User-agent: Bytespider/2.0\nDisallow: /\n\nUser-agent: AhrefsBot*\nDisallow: /links\n",
    "other records": "Sitemap: https://a.test/s.xml\nHost: a.test\nUser-agent: *\nClean-param: s /\nDisallow: /p\n",
    "not text": "\x00\x01User-agent: *\nDisallow: /\x7f\n<html><body>Disallow: /q</body></html>\n",
    "a mark at the start": "\ufeffUser-agent: *\nDisallow: /bom\n",
}


@pytest.mark.parametrize("name", OWN)
def test_the_gate_closes_what_is_not_allowed(name: str) -> None:
    assert differences(OWN[name].encode())[0] == []


def test_where_a_url_alone_would_be_allowed() -> None:
    """Only URLs that Web servers read as another one differ, and only by being closed."""
    found = {name: differences(text.encode())[1] for name, text in OWN.items()}
    assert found["nothing"] == found["all closed"] == found["all open"] == []
    urls = {url for several in found.values() for _, url in (text.split(" ", 1) for text in several)}
    assert "/a/../b" in urls
    assert all(len(forms_of(url)) > 1 for url in urls)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no folder ../shared/data/robots-corpus")
@pytest.mark.parametrize("step", [25, pytest.param(1, marks=pytest.mark.long)])
def test_the_gate_closes_what_real_sites_do_not_allow(step: int) -> None:
    files = sorted(CORPUS.glob("*.txt"))[::step]
    assert len(files) > 30
    for file in files:
        from_forms, from_url = differences(file.read_bytes())
        assert from_forms == [], file.name
        assert all(len(forms_of(text.split(" ", 1)[1])) > 1 for text in from_url), file.name
