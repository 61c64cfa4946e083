"""May a robot fetch it, index it, follow it? Pure, standard library only, usable alone."""

from goodbot.exclusion.access import LAST_GOOD_S, LIMIT_BYTES, RETRY_S, Access
from goodbot.exclusion.agents import product_token
from goodbot.exclusion.dialect import Dialect
from goodbot.exclusion.dialects import DIALECTS, find_dialect
from goodbot.exclusion.directives import Directives, Source
from goodbot.exclusion.formatting import format_robotstxt
from goodbot.exclusion.freshness import parse_http_date, retry_after_s
from goodbot.exclusion.matching import Matcher
from goodbot.exclusion.robotstxt import RobotsTxt
from goodbot.exclusion.verdict import LOST_MOST, AccessResult, Group, Record, Rule, Verdict

__all__ = [
    "DIALECTS",
    "LAST_GOOD_S",
    "LIMIT_BYTES",
    "LOST_MOST",
    "RETRY_S",
    "Access",
    "AccessResult",
    "Dialect",
    "Directives",
    "Group",
    "Matcher",
    "Record",
    "RobotsTxt",
    "Rule",
    "Source",
    "Verdict",
    "find_dialect",
    "format_robotstxt",
    "parse_http_date",
    "product_token",
    "retry_after_s",
]
