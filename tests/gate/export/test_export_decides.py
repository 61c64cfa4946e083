"""Real servers with an export decide as the gate does."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import count
from typing import Final

import pytest

from gate.export.export_servers import SERVERS, Visits
from gate.export.export_sites import SiteGate, site_of
from goodbot.gate.export import exported

ROBOTS_TXT: Final = """\
User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /private/open/not
Disallow: /*.pdf$
Allow: /public.pdf$
Disallow: /search?q=
Disallow: /*?*session=
Disallow: /~user
Disallow: /a%2Fb
Disallow: /caf%C3%A9
Disallow: /q?u=https://x
Disallow: /star%2A
Disallow: /money%24
Disallow: /*/deep/*/end$
Allow: /tie
Disallow: /tie
Disallow: /semi;colon,'quote"{brace}$dollar`tick

User-agent: GPTBot
User-agent: namedbot
Disallow: /

User-agent: CCBot
Disallow: /ccbot
Allow: /

User-agent: Feedly
Disallow: /feedly

User-agent: curl
Disallow: /curl

User-agent: wordy
Disallow: /wordy

User-agent: HTTPing
Disallow: /httping
"""

POLICY: Final = """
[robots]
Bytespider = "refuse"
PerplexityBot = "allow"
Wget = "refuse"
"""

AGENTS: Final = {
    "unknown robot": "FooBot/1.0",
    "robot with contact": "Foo/1.0 (+https://example.org/)",
    "robot that begins as a browser": "Mozilla/5.0 (compatible; FooCrawler/2.0)",
    "telephone": "Mozilla/5.0 (Linux; Android 14; CUBOT P80) AppleWebKit/537.36",
    "telephone called like a robot": "Mozilla/5.0 (Linux; Android 14; Spider X1 Build/UP1A) AppleWebKit/537.36 (KHTML, "
    "like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
    "robot that begins as a telephone": "Mozilla/5.0 (Linux; Android 14; Pixel) Chrome/99.0 (compatible; FooBot/1)",
    "robot among telephones": "Mozilla/5.0 (Linux; Android 14; Pixel) Chrome/120.0.0.0 Mobile Safari/537.36 FooBot/1.0",
    "digits": "Foo2bot/1.0",
    "GPTBot": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot",
    "GPTBot in small letters": "gptbot",
    "named without a record": "NamedBot/1.0",
    "named, begins as a browser": "Mozilla/5.0 (compatible; Other; +http://x.example/) namedbot",
    "CCBot": "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "ClaudeBot": "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
    "Googlebot": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Googlebot-Image": "Googlebot-Image/1.0",
    "like Googlebot": "Mozilla/5.0 (compatible; SeznamBot/4.0; like Googlebot)",
    "refused robot": "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)",
    "allowed robot": "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
    "Feedly": "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 5 subscribers)",
    "feed reader": "NewsBlur Feed Fetcher - 5 subscribers",
    "feed reader without a record": "Feedspot/1.0 (+https://www.feedspot.com/fs/fetcher; like FeedFetcher-Google)",
    "curl": "curl/8.5.0",
    "refused tool": "Wget/1.21",
    "python": "python-requests/2.32",
    "word": "wordy 1.0",
    "word of a robot": "Foo/1 (wordy; +https://example.org/)",
    "word of a browser": "Mozilla/5.0 (X11) wordy Firefox/144.0",
    "listed elsewhere": "HTTPing v1",
    "browser": "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "app": "Dalvik/2.1.0 (Linux; U; Android 14)",
    "AdsBot": "AdsBot-Google (+http://www.google.com/adsbot.html)",
    "control token": "Google-Extended",
    "assistant": "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
    "nothing": "",
}

URIS: Final = (
    "/",
    "/robots.txt",
    "/robots.txt?x",
    "/robots.txtx",
    "/.well-known/acme-challenge/aB_9-",
    "/.well-known/acme-challenge/a/b",
    "/.well-known/acmex",
    "/private",
    "/Private",
    "/%70rivat%65/x",
    "/private/open",
    "/private/open/not",
    "/private/%6Fpen",
    "/x.pdf",
    "/x.pdf?y",
    "/x.pdfx",
    "/x/y.%70df",
    "/public.pdf",
    "/public.pdf?x",
    "/search",
    "/search?q=a",
    "/search?p=a",
    "/x?a=1&session=2",
    "/x?session",
    "/~user/x",
    "/%7Euser",
    "/%7euser",
    "/user",
    "/a%2Fb",
    "/a%2fb",
    "/a/b",
    "/caf%C3%A9",
    "/caf%c3%a9/x",
    "/cafe",
    "/q?u=https://x",
    "/q?u=https%3A%2F%2fx",
    "/q?u=https:%2F/x",
    "/q?u=http://x",
    "/star*",
    "/star%2a",
    "/star",
    "/money$",
    "/money%24",
    "/x/deep/y/end",
    "/x/deep/y/z/end",
    "/x/deep/end",
    "/x/deep/y/end/z",
    "/tie",
    "/semi;colon,'quote%22%7bbrace%7D$dollar%60tick",
    "/semi;colon,'quote%22%7bbrace%7D",
    "/ccbot",
    "/feedly",
    "/curl",
    "/wordy",
    "/httping",
)

GENUINE: Final = {
    "GPTBot": "74.7.227.5",
    "GPTBot in small letters": "74.7.227.6",
    "Googlebot": "66.249.66.1",
    "Googlebot-Image": "66.249.66.2",
    "CCBot": "18.97.9.170",
    "allowed robot": "3.224.62.45",
    "AdsBot": "66.249.66.3",
}
"""Published addresses."""

LOCAL: Final = "192.168.1.5"

_addresses = count()

Case = tuple[str, str, str]


def outside() -> str:
    """Returns an address that nobody publishes, in a network of its own, so that no limit is reached."""
    number = next(_addresses) % 60_000
    return f"11.{number // 250}.{number % 250}.9"


def cases(agents: list[str], uris: tuple[str, ...]) -> Iterator[Case]:
    """Yields User-Agents with addresses and URIs: from outside, from a published address and from a local one."""
    for name in agents:
        for uri in uris:
            yield AGENTS[name], outside(), uri
            if name in GENUINE:
                yield AGENTS[name], GENUINE[name], uri
        yield AGENTS[name], LOCAL, "/private"
        yield AGENTS[name], LOCAL, "/"


@pytest.fixture(scope="module")
def gate() -> SiteGate:
    return SiteGate(site_of(ROBOTS_TXT, POLICY))


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Visits]]:
    site = site_of(ROBOTS_TXT, POLICY)
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                closing(Visits(stack.enter_context(start(tmp_path_factory.mktemp(name), exported(site, name)))))
            )
            for name, start in SERVERS.items()
        }


def differences(gate: SiteGate, visits: Visits, some: Iterator[Case]) -> list[tuple[Case, int, str]]:
    """Returns the requests that the server answers otherwise than the gate."""
    found = []
    for case in some:
        decision = gate.decide(*case)
        status = visits.status(*case)
        if status != decision.status:
            found.append(
                (case, status, f"{decision.status} {decision.code} {decision.client.identity} {decision.rule}")
            )
    return found


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_decides_as_the_gate_does(gate: SiteGate, visits: dict[str, Visits], server: str) -> None:
    """Every kind of client, with a few URIs; every URI, with one robot."""
    some = [*cases([*AGENTS], ("/", "/private", "/private/open", "/robots.txt", "/.well-known/acme-challenge/aB_9-"))]
    every = [*cases(["unknown robot"], URIS)]
    assert {gate.decide(*case).status for case in some} == {200, 403}
    assert differences(gate, visits[server], iter([*some, *every])) == []


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_a_server_decides_about_every_uri_as_the_gate_does(
    gate: SiteGate, visits: dict[str, Visits], server: str
) -> None:
    assert differences(gate, visits[server], cases([*AGENTS], URIS)) == []
