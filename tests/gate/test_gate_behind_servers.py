"""What clients of nginx and Caddy get if the server asks the gate as docs/how-to says."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Final, NamedTuple, get_args

import pytest

from gate.gate_servers import (
    BINGBOT,
    CURL,
    FEED_READER,
    FIREFOX,
    GOOGLEBOT,
    GPTBOT,
    GatedSite,
    Server,
    address_in,
    gated,
    running_gate,
)

GOOGLE: Final = address_in("google-common")
OPENAI: Final = address_in("openai-gptbot")
BING: Final = address_in("bingbot")
STRANGER: Final = "203.0.113.9"

OWN: Final[dict[Server, str]] = {
    "nginx": "location /closed { deny all; }\n",
    "caddy": "respond /closed 403\n",
}
"""A part of the site that the server itself closes to everyone."""


@pytest.fixture(scope="module", params=get_args(Server))
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatedSite]:
    """A site whose clients name their address themselves, in X-Test-Client."""
    folder = tmp_path_factory.mktemp("gated")
    with running_gate(folder / "gate") as gate, gated(request.param, folder, gate, more=OWN[request.param]) as started:
        yield started


@pytest.fixture(scope="module", params=get_args(Server))
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatedSite]:
    """A site with nothing but the configuration of the page."""
    folder = tmp_path_factory.mktemp("plain")
    with running_gate(folder / "gate") as gate, gated(request.param, folder, gate, trusts_test=False) as started:
        yield started


class Case(NamedTuple):
    """A request and what the gate says."""

    name: str
    agent: str
    client: str
    path: str
    decision: str
    identity: str


CASES: Final = (
    Case("a verified robot", GOOGLEBOT, GOOGLE, "/page", "allowed", "verified"),
    Case("a rule for all robots", GOOGLEBOT, GOOGLE, "/private/a", "disallowed", "verified"),
    Case("an impostor", GOOGLEBOT, STRANGER, "/page", "impostor", "impostor"),
    Case("robots.txt for an impostor", GOOGLEBOT, STRANGER, "/robots.txt", "allowed", "impostor"),
    Case("a robot with a group of its own", GPTBOT, OPENAI, "/private/a", "allowed", "verified"),
    Case("a rule for one robot", GPTBOT, OPENAI, "/shop/a", "disallowed", "verified"),
    Case("a robot that cannot be verified", "OneBot/1.0", "192.0.2.1", "/page", "allowed", "unverified"),
    Case("a rule for it", "OneBot/1.0", "192.0.2.1", "/private/a", "disallowed", "unverified"),
    Case("a browser", FIREFOX, "198.51.100.1", "/private/a", "allowed", "browser"),
    Case("a feed reader", FEED_READER, "198.51.100.2", "/private/a", "allowed", "unverified"),
    Case("a program", CURL, "198.51.100.3", "/private/a", "allowed", "undeclared"),
    Case("no User-Agent", "", "198.51.100.4", "/private/a", "allowed", "undeclared"),
    Case("dots around a rule", GOOGLEBOT, GOOGLE, "/x/../private/a", "disallowed", "verified"),
    Case("an encoded letter", GOOGLEBOT, GOOGLE, "/%70rivate/a", "disallowed", "verified"),
    Case("a query", GOOGLEBOT, GOOGLE, "/private/a?x=1&y=%2F", "disallowed", "verified"),
)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_request_is_decided(site: GatedSite, case: Case) -> None:
    before = len(site.gate.decisions(case.path, 0))
    answer = site.ask(case.path, case.agent, case.client)
    (line,) = site.gate.decisions(case.path, before + 1)[before:]
    shown = (line["decision"], line["identity"], line["client_ip"], line["host"], line["method"])
    assert shown == (case.decision, case.identity, case.client, "www.example.org", "GET")
    if case.decision == "allowed":
        assert answer.status == 200
        assert "X-Goodbot-Why" not in answer.fields
    else:
        why = answer.fields["X-Goodbot-Why"]
        assert (answer.status, answer.fields["Cache-Control"]) == (403, "no-store")
        assert "webmaster@example.org" in why
        assert "webmaster@example.org" in answer.text
        assert "403 Forbidden" in answer.text
        assert why.partition(" (")[0].partition(". Questions")[0] in answer.text.replace("&#x27;", "'")
        assert ("line 2: Disallow: /private/" in why) == ("/private/" in line.get("rule", ""))


TOO_FAST: Final = (
    ("a verified robot with a delay", BINGBOT, BING, 1),
    ("a robot with a delay", "PacedBot/1.0", "192.0.2.40", 1),
    ("a robot that cannot be verified", "TwoBot/1.0", "198.18.2.1", 3),
)
"""Name, User-Agent, address, and how many requests pass."""


@pytest.mark.parametrize(("agent", "client", "passes"), [row[1:] for row in TOO_FAST], ids=[row[0] for row in TOO_FAST])
def test_a_robot_that_is_too_fast(site: GatedSite, agent: str, client: str, passes: int) -> None:
    """Also for URLs that do not exist: the pages of errors are not asked about."""
    for _ in range(passes):
        assert site.ask("/missing", agent, client).status == 404
    for method in ("GET", "HEAD", "POST"):
        answer = site.ask("/page", agent, client, method)
        assert answer.status == 429
        assert 0 < int(answer.fields["Retry-After"]) <= 86_400
        assert ("429 Too Many Requests" in answer.text) == (method != "HEAD")
        assert answer.fields["X-Goodbot-Why"].startswith("This site")


def test_each_request_is_asked_about_once(site: GatedSite) -> None:
    """The server leads some of these to other URLs: an index page, a page for errors."""
    asked = ("/", "/?once", "/missing/once", "/app/once", "/robots.txt?once")
    before = len(site.gate.lines())
    for path in asked:
        site.ask(path, FIREFOX, "198.51.100.5")
    site.gate.decisions(asked[-1], 1)
    mine = [line["uri"] for line in site.gate.lines()[before:] if line["client_ip"] == "198.51.100.5"]
    assert mine == [*asked]


def test_the_site_keeps_its_own_statuses(site: GatedSite) -> None:
    statuses = {"/closed": 403, "/missing": 404, "/app/403": 403, "/app/404": 404, "/app/429": 429, "/app/500": 500}
    for path, status in statuses.items():
        answer = site.ask(path, FIREFOX, "198.51.100.6")
        assert (answer.status, answer.fields["X-Goodbot-Why"], answer.fields["Retry-After"]) == (status, None, None)
        assert path.startswith("/app") == answer.text.startswith("GET 0 ")


@pytest.mark.parametrize("method", ["HEAD", "DELETE", "PUT", "POST"])
def test_the_method_is_that_of_the_client(site: GatedSite, method: str) -> None:
    path = f"/app/{method}"
    answer = site.ask(path, FIREFOX, "198.51.100.7", method, b"" if method in ("PUT", "POST") else None)
    assert (answer.status, answer.text.partition(" ")[0]) == (200, "" if method == "HEAD" else method)
    assert site.gate.decisions(path, 1)[0]["method"] == method
    refused = site.ask("/private/a", GOOGLEBOT, GOOGLE, method)
    assert (refused.status, refused.text == "") == (403, method == "HEAD")


def test_a_body_passes_whole(site: GatedSite) -> None:
    body = bytes(range(256)) * 6000
    answer = site.ask("/app/upload", FIREFOX, "198.51.100.8", "POST", body)
    assert (answer.status, answer.text) == (200, f"POST {len(body)} {sha256(body).hexdigest()}")
    assert site.ask("/private/a", GOOGLEBOT, GOOGLE, "POST", b"x" * 5000).status == 403


def test_a_long_url(site: GatedSite) -> None:
    rest = "a" * 60_000
    assert site.ask(f"/app/{rest}", GOOGLEBOT, GOOGLE).status == 200
    assert site.ask(f"/private/{rest}", GOOGLEBOT, GOOGLE).status == 403
    assert site.gate.decisions(f"/private/{rest}", 1)[0]["decision"] == "disallowed"


def test_a_request_for_another_protocol(site: GatedSite) -> None:
    """As of a WebSocket: the gate answers, and the server goes on."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x"}
    for _ in range(3):
        assert site.ask("/page", FIREFOX, "198.51.100.9", fields=upgrade).status == 200
        assert site.ask("/private/a", GOOGLEBOT, GOOGLE, fields=upgrade).status == 403


def test_octets_that_no_browser_sends_let_nobody_through(site: GatedSite) -> None:
    for agent in ("Googlebot\x01", "Googlebot\x7f", "Googlebot \xff\xfe", "Googlebot\t"):
        assert site.ask("/private/a", agent, GOOGLE).status in (400, 403, 500)


SPOOFED: Final = (
    {"X-Forwarded-For": GOOGLE},
    {"X-Forwarded-For": f"{GOOGLE}, 127.0.0.1"},
    {"X-Real-IP": GOOGLE},
    {"Forwarded": f"for={GOOGLE}"},
    {"X-Forwarded-Uri": "/page"},
    {"X-Forwarded-Uri": "/robots.txt", "X-Forwarded-Method": "OPTIONS"},
    {"X-Original-URI": "/robots.txt", "X-Original-Method": "OPTIONS"},
    {"X-Original-URL": "http://open.example/robots.txt"},
    {"X-Forwarded-Host": "open.example"},
    {"X-Goodbot-Server": "nginx"},
    {"X-Goodbot-Status": "200", "X-Goodbot-Decision": "allowed"},
    {"Connection": "close, User-Agent, X-Forwarded-Uri, X-Forwarded-For, X-Forwarded-Host"},
    {"Signature-Input": "sig=()", "Signature": "sig=::", "Signature-Agent": '"https://chatgpt.com"'},
)


@pytest.mark.parametrize("fields", SPOOFED, ids=[", ".join(fields) for fields in SPOOFED])
def test_a_client_gains_nothing_by_fields_of_its_own(plain: GatedSite, fields: dict[str, str]) -> None:
    place = SPOOFED.index(fields)
    path, source = f"/private/{place}", f"127.0.{place}.7"
    for agent, decision in (("OneBot/1.0", "disallowed"), (GPTBOT, "allowed")):
        answer = plain.ask(path, agent, source=source, fields=fields)
        assert answer.status == (403 if decision == "disallowed" else 404)
    first, second = plain.gate.decisions(path, 2)
    for line in (first, second):
        shown = (line["client_ip"], line["host"], line["method"], line["uri"])
        assert shown == (source, "www.example.org", "GET", path)
    assert (first["decision"], first["identity"]) == ("disallowed", "unverified")
    assert (second["decision"], second["identity"]) == ("allowed", "unverified")


@pytest.mark.parametrize("fields", SPOOFED, ids=[", ".join(fields) for fields in SPOOFED])
def test_nor_does_it_change_the_status(plain: GatedSite, fields: dict[str, str]) -> None:
    source = f"127.0.{100 + SPOOFED.index(fields)}.8"
    statuses = [plain.ask("/page", "PacedBot/1.0", source=source, fields=fields).status for _ in range(2)]
    assert statuses == [200, 429]


def test_the_answer_says_nothing_that_the_client_sent(site: GatedSite) -> None:
    """A refusal is shown by the browser of whoever follows a link to it."""
    agent = "<script>alert(1)</script>EvilBot/1.0"
    answer = site.ask("/private/a?<script>alert(2)</script>".replace("<", "%3C"), agent, "192.0.2.200")
    assert answer.status == 403
    assert "<script" not in answer.text
    assert re.search(r"alert\(\d", answer.text) is None
