"""What the gate answers: status, header fields, and the page for whoever was refused."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.gates import (
    CURL,
    EXAMPLEBOT,
    FIREFOX,
    GPTBOT,
    NOW,
    OPENAI,
    asked_for,
    clients_with,
    decided,
    gate_with,
)
from goodbot.exclusion import Verdict
from goodbot.gate.answers import MOST_FIELD_CHARS, Answer, answer_to, in_one_line, refusal_page
from goodbot.gate.clients import Client
from goodbot.gate.decision import STATUS, Code, Decision
from goodbot.gate.policy import Policy

CONTACT = Policy(contact="webmaster@example.org")
REQUEST = asked_for("/private")
NGINX = asked_for("/private", more=[(b"x-goodbot-server", b"nginx")])
NOBODY = Client("unverified", None, "")
KNOWN = clients_with().recognize(asked_for("/", GPTBOT, OPENAI), NOW)


def refused(code: Code, why: str = "it is closed", rule: str | None = None, retry_after_s: int = 0) -> Decision:
    verdict = Verdict(False, 7, rule, "a reason", "RFC 9309") if rule is not None else None
    return Decision(code, NOBODY, why, verdict, retry_after_s)


def answered(decision: Decision, policy: Policy = CONTACT) -> Answer:
    return answer_to(REQUEST, decision, policy)


@pytest.mark.parametrize("code", get_args(Code))
def test_the_status_of_each_decision(code: Code) -> None:
    decision = refused(code)
    assert STATUS[code] in (200, 403, 429)
    assert answered(decision).status == STATUS[code]
    nginx = answer_to(NGINX, decision, CONTACT)
    assert nginx.status == (200 if code == "allowed" else 403)
    assert dict(nginx.fields)["X-Goodbot-Status"] == str(STATUS[code])


def test_an_allowed_request() -> None:
    decision = Decision("allowed", KNOWN, "no rule forbids it")
    answer = answered(decision)
    assert answer.fields == (
        ("X-Goodbot-Decision", "allowed"),
        ("X-Goodbot-Identity", "verified"),
        ("X-Goodbot-Status", "200"),
        ("X-Goodbot-Robot", "GPTBot"),
    )
    assert answer.body == ""


def test_a_request_that_a_rule_refuses() -> None:
    gate = gate_with("User-agent: *\nDisallow: /private\n", CONTACT)
    answer = answered(decided(gate, REQUEST))
    assert answer.status == 403
    assert answer.fields == (
        ("X-Goodbot-Decision", "disallowed"),
        ("X-Goodbot-Identity", "unverified"),
        ("X-Goodbot-Status", "403"),
        ("X-Goodbot-Rule", "line 2: Disallow: /private"),
        (
            "X-Goodbot-Why",
            (
                "This site's robots.txt closes this URL to all robots (line 2: Disallow: /private)."
                " Questions: webmaster@example.org"
            ),
        ),
        ("Cache-Control", "no-store"),
    )
    assert answer.media_type == "text/html; charset=utf-8"
    for part in (
        "<title>403 Forbidden</title>",
        "<code>line 2: Disallow: /private</code>",
        '<a href="mailto:webmaster@example.org">webmaster@example.org</a>',
        "This site&#x27;s robots.txt closes this URL to all robots.",
    ):
        assert part in answer.body


def test_a_request_that_is_too_fast() -> None:
    gate = gate_with("User-agent: *\nCrawl-delay: 5000\n")
    decided(gate, REQUEST)
    answer = answered(decided(gate, REQUEST, 1))
    assert answer.status == 429
    assert dict(answer.fields)["Retry-After"] == "4997"
    assert "<p>Try again after 4,997 s.</p>" in answer.body
    assert "429 Too Many Requests" in answer.body
    nginx = answer_to(NGINX, decided(gate, NGINX, 2), CONTACT)
    assert (nginx.status, dict(nginx.fields)["X-Goodbot-Status"]) == (403, "429")
    assert dict(nginx.fields)["Retry-After"] == "4996"
    assert "429 Too Many Requests" in nginx.body


def test_an_impostor_is_named() -> None:
    answer = answered(decided(gate_with(), asked_for("/", GPTBOT)))
    fields = dict(answer.fields)
    assert (fields["X-Goodbot-Decision"], fields["X-Goodbot-Identity"]) == ("impostor", "impostor")
    assert fields["X-Goodbot-Robot"] == "GPTBot"
    assert "The request uses the name of GPTBot, but comes from none of its published addresses." in unescape(
        answer.body
    )


@pytest.mark.parametrize("request_", [REQUEST, NGINX], ids=["usual", "nginx"])
def test_in_mode_observe_nothing_is_refused(request_: object) -> None:
    policy = Policy(mode="observe")
    gate = gate_with("User-agent: *\nDisallow: /private\nCrawl-delay: 10\n", policy)
    for target in ("/private", "/", "/"):
        decision = decided(gate, asked_for(target))
        answer = answer_to(NGINX if request_ is NGINX else REQUEST, decision, policy)
        fields = dict(answer.fields)
        assert (answer.status, answer.body, fields["X-Goodbot-Status"]) == (200, "", "200")
        assert fields["X-Goodbot-Decision"] == decision.code
        assert (fields.get("X-Goodbot-Mode") == "observe") == (decision.code != "allowed")
        assert "Retry-After" not in fields
    assert decision.code == "too-fast"


def test_the_page_does_not_belong_in_an_index() -> None:
    assert '<meta name="robots" content="noindex">' in answered(refused("refused")).body


CONTACTS = [
    ("", "ask the operator of this site."),
    ("me@a.test", 'ask <a href="mailto:me@a.test">me@a.test</a>.'),
    ("mailto:me@a.test", 'ask <a href="mailto:me@a.test">me@a.test</a>.'),
    ("https://a.test/bots?a=b&c", 'ask <a href="https://a.test/bots?a=b&amp;c">https://a.test/bots?a=b&amp;c</a>.'),
    ("HTTP://a.test/", 'ask <a href="HTTP://a.test/">HTTP://a.test/</a>.'),
    ("the webmaster", "ask the webmaster."),
    ("javascript:alert(1)", "ask javascript:alert(1)."),
    ("javascript:a@b", 'ask <a href="mailto:javascript:a@b">javascript:a@b</a>.'),
    ('"><script>@', 'ask <a href="mailto:&quot;&gt;&lt;script&gt;@">&quot;&gt;&lt;script&gt;@</a>.'),
]


@pytest.mark.parametrize(("contact", "expected"), CONTACTS, ids=[case[0] for case in CONTACTS])
def test_whom_to_ask(contact: str, expected: str) -> None:
    assert expected in refusal_page(refused("refused"), Policy(contact=contact))


def test_a_line_of_text_says_the_same() -> None:
    decision = refused("disallowed", "this site's robots.txt closes this URL to all robots", "Disallow: /é")
    assert (
        in_one_line(decision, Policy())
        == "This site's robots.txt closes this URL to all robots (line 7: Disallow: /é)."
    )
    assert dict(answered(decision, Policy()).fields)["X-Goodbot-Rule"] == "line 7: Disallow: /?"


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


TAGS = {
    *(("html", ("lang",)), ("meta", ("charset",)), ("meta", ("name", "content")), ("title", ()), ("h1", ())),
    *(("p", ()), ("a", ("href",)), ("code", ())),
}

texts = st.text(max_size=60) | st.sampled_from(["<script>", '"onclick="a', "</code><b>", "&lt;", "\r\nSet-Cookie: a=b"])


def is_clean(answer: Answer) -> bool:
    values = [*answer.fields, ("media", answer.media_type)]
    return all(
        re.fullmatch(r"[A-Za-z-]+", name) and value.isascii() and value.isprintable() and len(value) <= MOST_FIELD_CHARS
        for name, value in values
    )


@given(st.sampled_from(get_args(Code)), texts, texts, texts, texts, st.integers(0, 10**6), st.booleans())
def test_no_text_of_others_gets_into_a_header_or_a_tag(
    code: Code, why: str, rule: str, contact: str, name: str, retry_after_s: int, nginx: bool
) -> None:
    decision = refused(code, why, rule, retry_after_s)._replace(client=Client("unverified", None, name))
    answer = answer_to(NGINX if nginx else REQUEST, decision, Policy(contact=contact))
    assert is_clean(answer)
    assert set(Tags(answer.body).found) <= TAGS
    assert answer.status in (200, 403, 429)


rules = st.text(max_size=40) | st.sampled_from(["/<script>alert(1)</script>", "/*<b>", "/\x00", "/é%C3%A9", "/\ud800"])


@given(st.lists(rules, max_size=5), st.sampled_from([EXAMPLEBOT, CURL, FIREFOX, GPTBOT]))
def test_a_rule_is_text_on_the_page(patterns: list[str], agent: str) -> None:
    lines = ["User-agent: *", *(f"Disallow: {pattern}" for pattern in patterns), "Disallow: /"]
    gate = gate_with("\n".join(lines).encode("utf-8", "surrogatepass"))
    request = asked_for("/<script>alert(1)</script>", agent)
    answer = answer_to(request, decided(gate, request), CONTACT)
    assert is_clean(answer)
    assert set(Tags(answer.body).found) <= TAGS
    assert answer.body.encode() is not None
