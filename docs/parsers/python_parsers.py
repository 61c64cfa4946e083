"""Asks one robots.txt parser for Python: `python docs/parsers/python_parsers.py NAME` reads questions as JSON lines and
answers each with a JSON line. docs/make_parsers_report.py starts it.

A question has `robots` (base64), `agent` and `url`; an answer has `allowed`, or `error`. Each function here uses its
parser as the parser's documentation shows it.
"""

import base64
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

Ask = Callable[[bytes, str, str], Any]


def urllib_robotparser() -> Ask:
    """As `RobotFileParser.read` does, without fetching."""
    make = import_module("urllib.robotparser").RobotFileParser

    def ask(robots: bytes, agent: str, url: str) -> Any:
        parser = make()
        parser.parse(robots.decode("utf-8").splitlines())
        return parser.can_fetch(agent, url)

    return ask


def protego() -> Ask:
    """As Scrapy does, which ignores octets that are not UTF-8."""
    parse = import_module("protego").Protego.parse
    return lambda robots, agent, url: parse(robots.decode("utf-8", "ignore")).can_fetch(url, agent)


def robotspy() -> Ask:
    """Reads the text as its own `from_uri` does."""
    parser = import_module("robots").RobotsParser
    return lambda robots, agent, url: parser.from_string(robots.decode("utf-8", "replace")).can_fetch(agent, url)


def robotexclusionrulesparser() -> Ask:
    """With the syntax of 1996, which it offers beside one of its own."""
    module = import_module("robotexclusionrulesparser")

    def ask(robots: bytes, agent: str, url: str) -> Any:
        parser = module.RobotExclusionRulesParser()
        parser.parse(robots.decode("utf-8", "replace"))
        return parser.is_allowed(agent, url, syntax=module.MK1996)

    return ask


def gpyrobotstxt() -> Ask:
    matcher = import_module("gpyrobotstxt.robots_cc").RobotsMatcher
    return lambda robots, agent, url: matcher().allowed_by_robots(robots, [agent], url)


def jwm_robotstxt() -> Ask:
    matcher = import_module("jwm.robotstxt.googlebot").RobotsMatcher
    return lambda robots, agent, url: matcher().OneAgentAllowedByRobots(robots, agent, url)


def fast_robotstxt() -> Ask:
    matcher = import_module("robotstxt").RobotsMatcher
    return lambda robots, agent, url: matcher().is_allowed(robots.decode("utf-8", "replace"), agent, url)


def reppy2() -> Ask:
    module = import_module("reppy.parser")
    return lambda robots, agent, url: module.Rules(
        "https://example.org/robots.txt", 200, robots.decode("utf-8", "replace"), None
    ).allowed(url, agent)


def robotstxt() -> Ask:
    make = import_module("robotstxt").RobotsFile
    return lambda robots, agent, url: not make(robots.decode("utf-8", "replace")).test_url(url, agent)["disallowed"]


def _goodbot(dialect: str) -> Ask:
    make = import_module("goodbot.exclusion").RobotsTxt
    return lambda robots, agent, url: make.parse(robots, dialect).allows(url, agent)


def goodbot() -> Ask:
    return _goodbot("rfc9309")


def goodbot_google() -> Ask:
    return _goodbot("google")


def goodbot_1996() -> Ask:
    return _goodbot("1996")


def goodbot_1994() -> Ask:
    return _goodbot("1994")


PARSERS = (
    *(urllib_robotparser, protego, robotspy, robotexclusionrulesparser, gpyrobotstxt, jwm_robotstxt, fast_robotstxt),
    *(reppy2, robotstxt, goodbot, goodbot_google, goodbot_1996, goodbot_1994),
)


def main(name: str) -> None:
    """Answers until standard input ends."""
    ask = next(parser for parser in PARSERS if parser.__name__ == name)()
    out, sys.stdout = sys.stdout, sys.stderr  # what a parser prints is no answer
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = ask(base64.b64decode(question["robots"]), question["agent"], question["url"])
            result = {"allowed": bool(answer)}
        except Exception as error:  # noqa: BLE001  (an error of a parser is its answer)
            result = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(result), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
