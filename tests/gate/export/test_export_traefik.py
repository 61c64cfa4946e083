"""Traefik's configuration: its YAML, its expressions, and what its rules refuse, read by a small interpreter."""

import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Any, Final

import pytest
import yaml  # type: ignore[import-untyped]

from gate.export.export_sites import SiteGate, site_of
from gate.export.test_export_decides import AGENTS, POLICY, ROBOTS_TXT, URIS, Case, cases
from gate.export.test_export_strangers import NAMES, NASTY, robots_txt
from goodbot.gate.export import ExportedSite, exported

_MATCHER: Final = re.compile(r"(HeaderRegexp|PathRegexp|Path|ClientIP|Host)\(`([^`]*)`(?:, `([^`]*)`)?\)")
_BETWEEN: Final = re.compile(r"[ ()!]|&&|\|\|")
_RUNE: Final = re.compile(r"\\x\{([0-9a-f]+)\}")
_RESERVED: Final = frozenset(b":/?#[]@!$&'()*+,;=%")

Rule = Callable[[str, str, str], bool]
"""Whether a rule matches: User-Agent, address, path."""


def configuration(site: ExportedSite) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(exported(site, "traefik").text)["http"]
    return found


def rule_of(text: str) -> Rule:
    """Reads a rule as Traefik does, as far as exports use its language; anything else fails."""
    tests: list[Rule] = []
    code, at = "", 0
    while at < len(text):
        if found := _MATCHER.match(text, at):
            tests.append(_test(*found.groups()))
            code += f" tests[{len(tests) - 1}](agent, address, path) "
        else:
            found = _BETWEEN.match(text, at)
            assert found is not None, text[at : at + 50]
            code += {"&&": " and ", "||": " or ", "!": " not "}.get(found[0], found[0])
        at = found.end()
    compiled = compile(code.strip(), "rule", "eval")
    return lambda agent, address, path: bool(
        eval(compiled, {"tests": tests, "agent": agent, "address": address, "path": path})
    )


def _test(matcher: str, first: str, second: str | None) -> Rule:
    if matcher == "Path":
        return lambda agent, address, path: path == first
    if matcher == "Host":
        return lambda agent, address, path: first == "example.org"
    if matcher == "ClientIP":
        network = ip_network(first)
        return lambda agent, address, path: ip_address(address) in network
    regex = second if matcher == "HeaderRegexp" else first
    assert regex is not None
    assert not re.search(r"\(\?[=!<>]|\\[1-9]", regex), "RE2 has no lookaround, atomic group and backreference"
    searched = re.compile(_RUNE.sub(lambda found: re.escape(chr(int(found[1], 16))), regex))
    if matcher == "HeaderRegexp":
        assert first == "User-Agent"
        return lambda agent, address, path: bool(agent) and searched.search(agent) is not None
    return lambda agent, address, path: searched.search(path) is not None


def routed(uri: str) -> str:
    """Returns the path that Traefik 3.4 compares: everything is decoded but reserved characters."""
    octets = re.sub(
        rb"%([0-9A-Fa-f]{2})",
        lambda found: found[0].upper() if int(found[1], 16) in _RESERVED else bytes([int(found[1], 16)]),
        uri.partition("?")[0].encode(),
    )
    return octets.decode("utf-8", "replace")


class Refusals:
    """The rules of an export."""

    def __init__(self, site: ExportedSite) -> None:
        routers = configuration(site)["routers"]
        self._rules = [rule_of(router["rule"]) for router in routers.values() if "tls" not in router]

    def refuses(self, case: Case) -> bool:
        agent, address, uri = case
        return any(rule(agent, address, routed(uri)) for rule in self._rules)


@pytest.fixture(scope="module")
def site() -> ExportedSite:
    return site_of(ROBOTS_TXT, POLICY)


def test_every_router_refuses_before_its_service_is_asked(site: ExportedSite) -> None:
    found = configuration(site)
    (name, middleware), *others = found["middlewares"].items()
    assert not others
    assert middleware == {"ipAllowList": {"sourceRange": ["255.255.255.255/32"]}}
    assert found["routers"]
    for router in found["routers"].values():
        assert router["middlewares"] == [name]
        assert router["service"] == "noop@internal"
        assert router["priority"] == 1_000_000
        assert router["rule"].startswith("!Path(`/robots.txt`) && ")
    with_tls = [router["rule"] for router in found["routers"].values() if "tls" in router]
    assert with_tls == [router["rule"] for router in found["routers"].values() if "tls" not in router]


def test_its_rules_refuse_what_the_gate_refuses(site: ExportedSite) -> None:
    """But for rules about the query, which count in favour of robots; and nothing else is refused."""
    gate, refusals = SiteGate(site), Refusals(site)
    some = [*cases([*AGENTS], ("/", "/private", "/private/open", "/robots.txt")), *cases(["unknown robot"], URIS)]
    for case in some:
        decision = gate.decide(*case)
        needs_query = "?" in decision.rule or decision.rule.endswith("$") or case[2].startswith("/robots.txt?")
        assert refusals.refuses(case) == (decision.status == 403 and not needs_query), (case, decision)


def test_the_host_of_the_site_is_asked_for() -> None:
    routers = configuration(site_of(ROBOTS_TXT, POLICY, "example.org"))["routers"]
    assert all(router["rule"].startswith("Host(`example.org`) && ") for router in routers.values())


def test_nasty_texts_stay_within_their_rules() -> None:
    found = configuration(site_of(robots_txt(NAMES, NASTY)))
    for router in found["routers"].values():
        rule_of(router["rule"])


def test_a_site_without_rules_has_rules_about_impostors_only() -> None:
    rules = [router["rule"] for router in configuration(site_of(""))["routers"].values()]
    assert rules
    assert all("ClientIP" in rule and rule.count("PathRegexp") == 1 for rule in rules)  # that of certificates
