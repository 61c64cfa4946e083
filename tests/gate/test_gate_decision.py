"""What happens to a request: the order of identity, robots.txt, pace and policy."""

from typing import NamedTuple

import pytest

from gate.gates import (
    BYTESPIDER,
    CURL,
    EXAMPLEBOT,
    FIREFOX,
    GOOGLE,
    GOOGLEBOT,
    GPTBOT,
    HOST,
    NOW,
    OPENAI,
    STRANGER,
    Key,
    address_in,
    asked_for,
    clients_with,
    codes,
    decided,
    gate_with,
    site_of,
    unread_gate,
)
from goodbot.exclusion import Access
from goodbot.gate.decision import STATUS, Gate, Sites
from goodbot.gate.policy import Impostors, Limited, Policy, Undeclared
from goodbot.gate.rate_limits import RateLimits
from goodbot.gate.site_rules import MOST_AGENTS, SiteRules

CLOSED = "User-agent: *\nDisallow: /\n"
PRIVATE = "User-agent: *\nDisallow: /private\n"
NIGHT = "User-agent: *\nVisit-time: 2200-0600\n"  # the tests are at ten in the morning
NO_BOTS = Policy(unverified=Limited(action="refuse"))
NO_PROGRAMS = Policy(undeclared=Undeclared(action="refuse"))
ALL_RULES = Policy(undeclared=Undeclared(rules="all"))
LET_IMPOSTORS = Policy(impostors=Impostors(action="allow"))


class Case(NamedTuple):
    """One request, and the decision."""

    name: str
    code: str
    agent: str
    client: str | None = STRANGER
    target: str = "/private/page"
    robots_txt: str = PRIVATE
    policy: Policy = Policy()


CASES = [
    Case("a rule for *", "disallowed", EXAMPLEBOT),
    Case("another page", "allowed", EXAMPLEBOT, target="/page"),
    Case("a verified robot", "disallowed", GPTBOT, OPENAI),
    Case("a verified robot, another page", "allowed", GPTBOT, OPENAI, "/"),
    Case("a robot with a group of its own", "allowed", GPTBOT, OPENAI, robots_txt=f"{CLOSED}\nUser-agent: gptbot\n"),
    Case("a group for an alias", "disallowed", "YandexBot/3.0", robots_txt="User-agent: Yandex\nDisallow: /private\n"),
    Case("a browser", "allowed", FIREFOX, robots_txt=CLOSED),
    Case("an impostor", "impostor", GPTBOT, target="/page"),
    Case("an impostor, a closed page", "impostor", GPTBOT),
    Case("an impostor that is let in", "allowed", GPTBOT, target="/page", policy=LET_IMPOSTORS),
    Case("an impostor that is let in, a closed page", "disallowed", GPTBOT, policy=LET_IMPOSTORS),
    Case("a control token", "impostor", "Google-Extended", target="/page"),
    Case("a tool, which no group names", "allowed", CURL),
    Case("a tool that a group names", "disallowed", CURL, robots_txt="User-agent: curl\nDisallow: /private\n"),
    Case("a tool that must obey *", "disallowed", CURL, policy=ALL_RULES),
    Case("a tool, beside a group for *", "allowed", CURL, robots_txt=f"{CLOSED}\nUser-agent: curl\nAllow: /\n"),
    Case("a program on no record", "allowed", "libfetch/2.0"),
    Case("a program that a group names", "disallowed", "libfetch/2.0", robots_txt="User-agent: libfetch\nDisallow: /"),
    Case("no User-Agent", "allowed", ""),
    Case("no User-Agent, it must obey *", "disallowed", "", policy=ALL_RULES),
    Case("a feed reader", "allowed", "Miniflux/2.0"),
    Case("a feed reader that is named", "disallowed", "Miniflux/2.0", robots_txt="User-agent: miniflux\nDisallow: /\n"),
    Case(
        "a robot that obeys only its own group",
        "allowed",
        "AdsBot-Google (+http://www.google.com/adsbot.html)",
        address_in("google-special"),
    ),
    Case(
        "its own group",
        "disallowed",
        "AdsBot-Google (+http://www.google.com/adsbot.html)",
        address_in("google-special"),
        robots_txt="User-agent: AdsBot-Google\nDisallow: /\n",
    ),
    Case("a robot with its name last", "disallowed", "Fetcher/1 botty", robots_txt="User-agent: botty\nDisallow: /\n"),
    # robots.txt is open to everyone
    Case("robots.txt", "allowed", EXAMPLEBOT, target="/robots.txt", robots_txt=CLOSED),
    Case("robots.txt with a query", "disallowed", EXAMPLEBOT, target="/robots.txt?x=1", robots_txt=CLOSED),
    Case("robots.txt for an impostor", "allowed", GPTBOT, target="/robots.txt"),
    Case("a certificate", "allowed", EXAMPLEBOT, target="/.well-known/acme-challenge/aB_9-", robots_txt=CLOSED),
    Case("no certificate", "disallowed", EXAMPLEBOT, target="/.well-known/acme-challenge/a/b", robots_txt=CLOSED),
    Case("a way out", "disallowed", EXAMPLEBOT, target="/.well-known/acme-challenge/../../a", robots_txt=CLOSED),
    Case("an app for podcasts", "allowed", "Overcast/3 (+http://overcast.example/; podcast app)", robots_txt=CLOSED),
    Case("robots.txt at night", "allowed", EXAMPLEBOT, target="/robots.txt", robots_txt=NIGHT),
    Case("robots.txt, unverified robots refused", "allowed", EXAMPLEBOT, target="/robots.txt", policy=NO_BOTS),
    Case(
        "robots.txt, the robot refused",
        "allowed",
        GPTBOT,
        OPENAI,
        "/robots.txt",
        CLOSED,
        Policy(robots={"GPTBot": "refuse"}),
    ),
    Case("another file of this name", "disallowed", EXAMPLEBOT, target="/a/robots.txt", robots_txt=CLOSED),
    Case("a longer name", "disallowed", EXAMPLEBOT, target="/robots.txt.bak", robots_txt=CLOSED),
    Case("a way out of robots.txt", "disallowed", EXAMPLEBOT, target="/robots.txt/../private"),
    # exceptions
    Case(
        "a robot that may do everything",
        "allowed",
        GPTBOT,
        OPENAI,
        robots_txt=NIGHT + "Disallow: /\n",
        policy=Policy(robots={"GPTBot": "allow"}),
    ),
    Case("an impostor of it", "impostor", GPTBOT, policy=Policy(robots={"GPTBot": "allow"})),
    Case(
        "it without proof", "disallowed", BYTESPIDER, robots_txt=CLOSED, policy=Policy(robots={"Bytespider": "allow"})
    ),
    Case("a robot that is refused", "refused", GPTBOT, OPENAI, "/", policy=Policy(robots={"GPTBot": "refuse"})),
    Case("an impostor of one that is refused", "refused", GPTBOT, policy=Policy(robots={"GPTBot": "refuse"})),
    Case("a tool that is refused", "refused", CURL, target="/", policy=Policy(robots={"curl": "refuse"})),
    Case("a robot with the usual rules", "disallowed", GPTBOT, OPENAI, policy=Policy(robots={"GPTBot": "rules"})),
    Case("another robot", "allowed", GPTBOT, OPENAI, "/", policy=Policy(robots={"ClaudeBot": "refuse"})),
    # hours
    Case("at a time that is not allowed", "not-now", EXAMPLEBOT, target="/", robots_txt=NIGHT),
    Case("a closed page at that time", "disallowed", EXAMPLEBOT, robots_txt=f"{NIGHT}Disallow: /private\n"),
    Case("a tool at that time", "allowed", CURL, target="/", robots_txt=NIGHT),
    Case("an impostor at that time", "impostor", GPTBOT, target="/", robots_txt=NIGHT),
    Case("in the hours", "allowed", EXAMPLEBOT, target="/", robots_txt="User-agent: *\nVisit-time: 0900-1100\n"),
    Case("at that time, unverified robots refused", "not-now", EXAMPLEBOT, robots_txt=NIGHT, policy=NO_BOTS),
    # the policy
    Case("unverified robots refused", "refused", EXAMPLEBOT, target="/", policy=NO_BOTS),
    Case("unverified robots refused, a closed page", "disallowed", EXAMPLEBOT, policy=NO_BOTS),
    Case("unverified robots refused, a verified one", "allowed", GPTBOT, OPENAI, "/", policy=NO_BOTS),
    Case("unverified robots refused, a tool", "allowed", CURL, target="/", policy=NO_BOTS),
    Case("programs refused", "refused", CURL, target="/", policy=NO_PROGRAMS),
    Case("programs refused, no User-Agent", "refused", "", target="/", policy=NO_PROGRAMS),
    Case("programs refused, a robot", "allowed", EXAMPLEBOT, target="/", policy=NO_PROGRAMS),
    Case("programs refused, a browser", "allowed", FIREFOX, target="/", policy=NO_PROGRAMS),
    Case("observed only", "disallowed", EXAMPLEBOT, policy=Policy(mode="observe")),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_happens_to_a_request(case: Case) -> None:
    gate = gate_with(case.robots_txt, case.policy)
    decision = decided(gate, asked_for(case.target, case.agent, case.client))
    assert decision.code == case.code
    assert decision.status == STATUS[decision.code]
    assert decision.why
    assert not decision.why.endswith(".")
    assert (decision.verdict is not None) == (case.code == "disallowed")


def test_a_decision_names_the_rule() -> None:
    gate = gate_with("# a comment\nUser-agent: *\nAllow: /open\nDisallow: /p*e$\n")
    decision = decided(gate, asked_for("/private"))
    assert decision.rule == "line 4: Disallow: /p*e$"
    assert decision.why == "this site's robots.txt closes this URL to all robots"
    assert decided(gate, asked_for("/open")).rule == ""
    named = decided(gate_with("User-agent: GPTBot\nDisallow: /\n"), asked_for("/", GPTBOT, OPENAI))
    assert named.why == "this site's robots.txt closes this URL to GPTBot"


SENTENCES = [
    (GPTBOT, STRANGER, Policy(), "the request uses the name of GPTBot, but comes from none of its published addresses"),
    ("Google-Extended", STRANGER, Policy(), "Google-Extended is used only in robots.txt; no robot sends this name"),
    (GPTBOT, OPENAI, Policy(robots={"GPTBot": "refuse"}), "this site refuses GPTBot"),
    (GPTBOT, OPENAI, Policy(robots={"GPTBot": "allow"}), "this site lets GPTBot do everything"),
    (EXAMPLEBOT, STRANGER, NO_BOTS, "this site refuses robots that cannot be verified"),
    (CURL, STRANGER, NO_PROGRAMS, "this site refuses programs that are not robots"),
    (FIREFOX, STRANGER, Policy(), "robots.txt is not for people's browsers"),
    (EXAMPLEBOT, STRANGER, Policy(), "no rule forbids it"),
]


@pytest.mark.parametrize(("agent", "client", "policy", "why"), SENTENCES, ids=range(len(SENTENCES)))
def test_why(agent: str, client: str, policy: Policy, why: str) -> None:
    assert decided(gate_with("", policy), asked_for("/", agent, client)).why == why


def test_hours_say_when_to_come_again() -> None:
    gate = gate_with(NIGHT)
    decision = decided(gate, asked_for("/"))
    assert decision.retry_after_s == 12 * 3600
    assert "2200" in decision.why
    assert decided(gate, asked_for("/"), 12 * 3600).code == "allowed"
    assert decided(gate, asked_for("/"), 20 * 3600).code == "allowed"
    assert decided(gate, asked_for("/"), 20 * 3600 + 60).code == "not-now"


def test_pace_comes_after_rules_and_hours_and_before_limits() -> None:
    policy = Policy(unverified=Limited(per_minute=6, burst=1))
    gate = gate_with("User-agent: *\nCrawl-delay: 20\nDisallow: /private\n", policy)
    assert codes(gate, asked_for("/"), [0, 1]) == ["allowed", "too-fast"]
    assert codes(gate, asked_for("/private"), [1]) == ["disallowed"]
    assert decided(gate, asked_for("/"), 1).why == "this site's robots.txt asks for 20 s between two requests"


# ---- sites ----------------------------------------------------------------------------------------------------------


def test_each_host_has_its_own_rules() -> None:
    by_host = {"closed.test": site_of(CLOSED), "xn--mnchen-3ya.example": site_of(PRIVATE), "::1": site_of(CLOSED)}
    gate = gate_with("", by_host=by_host)
    hosts = {
        "closed.test": "disallowed",
        "CLOSED.test:8080": "disallowed",
        "closed.test.": "disallowed",
        "www.closed.test": "allowed",
        "münchen.example": "disallowed",
        "[::1]:80": "disallowed",
        HOST: "allowed",
        "": "allowed",
    }
    assert {host: decided(gate, asked_for("/private", host=host)).code for host in hosts} == hosts


@pytest.mark.parametrize(("agent", "client"), [(EXAMPLEBOT, STRANGER), (GPTBOT, OPENAI), (CURL, STRANGER)])
def test_rules_that_could_not_be_read(agent: str, client: str) -> None:
    request = asked_for("/private", agent, client)
    assert decided(unread_gate(Policy()), request).code == "allowed"
    refused = decided(unread_gate(Policy(unknown_rules="refuse")), request)
    assert (refused.code, refused.status, refused.retry_after_s) == ("not-now", 429, 60)


def test_without_rules_the_policy_still_counts() -> None:
    gate = unread_gate(Policy(unverified=Limited(per_minute=60, burst=1)))
    assert codes(gate, asked_for("/"), [0, 0]) == ["allowed", "too-fast"]
    assert decided(gate, asked_for("/", GPTBOT)).code == "impostor"
    closed = unread_gate(Policy(unknown_rules="refuse"))
    assert decided(closed, asked_for("/", FIREFOX)).code == "allowed"
    assert decided(closed, asked_for("/robots.txt")).code == "allowed"


def test_one_site_whose_rules_could_not_be_read() -> None:
    gate = gate_with(CLOSED, Policy(unknown_rules="refuse"), {"new.test": None})
    assert decided(gate, asked_for("/", host="new.test")).code == "not-now"
    assert decided(gate, asked_for("/", host="old.test")).code == "disallowed"


@pytest.mark.parametrize(("status", "code"), [(404, "allowed"), (410, "allowed"), (503, "disallowed")])
def test_a_site_that_answers_no_robots_txt(status: int, code: str) -> None:
    site = SiteRules(Access.from_response(status, (), b"", NOW))
    gate = gate_with("", by_host={HOST: site})
    assert decided(gate, asked_for("/page")).code == code
    assert decided(gate, asked_for("/robots.txt")).code == "allowed"


def test_another_robots_txt_counts_from_the_next_request() -> None:
    clients, limits, policy = clients_with(), RateLimits(1000), Policy()
    for robots_txt, code in ((CLOSED, "disallowed"), ("", "allowed"), (PRIVATE, "disallowed")):
        gate = Gate(policy, clients, Sites(site_of(robots_txt), {}), limits)
        assert decided(gate, asked_for("/private")).code == code


# ---- signed requests ------------------------------------------------------------------------------------------------


def test_a_signed_request_obeys_the_rules_of_its_robot() -> None:
    key = Key(b"k")
    clients = clients_with([key.directory("shop", "GPTBot")])
    gate = gate_with("User-agent: GPTBot\nDisallow: /private\nUser-agent: Googlebot\nDisallow: /\n", clients=clients)
    for agent in (GPTBOT, FIREFOX, CURL):
        signed = {target: asked_for(target, agent, more=key.signed(target)) for target in ("/page", "/private")}
        assert decided(gate, signed["/page"]).code == "allowed"
        assert decided(gate, signed["/private"]).code == "disallowed"


def test_a_key_without_a_robot_obeys_the_rules_for_its_name() -> None:
    key = Key(b"k")
    clients = clients_with([key.directory("shopper")])
    gate = gate_with("User-agent: shopper\nDisallow: /private\n\nUser-agent: *\nDisallow: /\n", clients=clients)
    signed = {target: asked_for(target, FIREFOX, more=key.signed(target)) for target in ("/page", "/private")}
    assert decided(gate, signed["/page"]).code == "allowed"
    assert decided(gate, signed["/private"]).code == "disallowed"
    refusing = gate_with("", Policy(robots={"shopper": "refuse"}), clients=clients)
    assert decided(refusing, signed["/page"]).code == "refused"


# ---- robots that come for the first time ----------------------------------------------------------------------------


def test_many_user_agents_do_not_change_the_rules() -> None:
    gate = gate_with("User-agent: examplebot\nDisallow: /private\n\nUser-agent: *\nDisallow: /all\n")
    for number in range(MOST_AGENTS + 500):
        request = asked_for("/private", f"Agentbot/1.{number}")
        assert gate.decide(request, NOW, float(number)).code in ("allowed", "too-fast")
    for agent in (EXAMPLEBOT, "Mozilla/5.0 (compatible; EXAMPLEBOT/9)"):
        assert decided(gate, asked_for("/private", agent)).code == "disallowed"
    assert decided(gate, asked_for("/all", "Agentbot/1.7")).code == "disallowed"
    assert decided(gate, asked_for("/all", GOOGLEBOT, GOOGLE)).code == "disallowed"
