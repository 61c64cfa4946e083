"""Decides whether a robot may fetch a page, index it, follow its links or train on it.

Pure, needs only the standard library, and can be used without the rest of goodbot.
"""

from goodbot.exclusion.access.access import CLOCK_BACK_S, LIMIT_BYTES, RETRY_S, Access
from goodbot.exclusion.access.robot_rules import MemoryRulesStore, RobotRules, RulesStore, Visits
from goodbot.exclusion.page.directives import DIRECTIVE_DIALECTS, Directives, Source
from goodbot.exclusion.page.page_dates import parse_page_date
from goodbot.exclusion.page.rel import LinkDirectives, hides_snippet, parse_rel
from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.robotstxt.dialects import DIALECTS, find_dialect
from goodbot.exclusion.robotstxt.formatting import format_robotstxt
from goodbot.exclusion.robotstxt.matching import Matcher
from goodbot.exclusion.robotstxt.robots_txt import RobotsTxt
from goodbot.exclusion.robotstxt.timing import RequestRate, Timing, Unread, Visit, Window
from goodbot.exclusion.text.product_token import product_token
from goodbot.exclusion.uses.preferences import USES, Preferences, PreferenceSource
from goodbot.exclusion.uses.tdm import TdmRules
from goodbot.exclusion.validity.freshness import parse_http_date, retry_after_s
from goodbot.exclusion.validity.outage import LAST_GOOD_S, InForce
from goodbot.exclusion.verdict import LOST_MOST, AccessResult, Group, Record, Rule, Verdict

__all__ = [
    "CLOCK_BACK_S",
    "DIALECTS",
    "DIRECTIVE_DIALECTS",
    "LAST_GOOD_S",
    "LIMIT_BYTES",
    "LOST_MOST",
    "RETRY_S",
    "USES",
    "Access",
    "AccessResult",
    "Dialect",
    "Directives",
    "Group",
    "InForce",
    "LinkDirectives",
    "Matcher",
    "MemoryRulesStore",
    "PreferenceSource",
    "Preferences",
    "Record",
    "RequestRate",
    "RobotRules",
    "RobotsTxt",
    "Rule",
    "RulesStore",
    "Source",
    "TdmRules",
    "Timing",
    "Unread",
    "Verdict",
    "Visit",
    "Visits",
    "Window",
    "find_dialect",
    "format_robotstxt",
    "hides_snippet",
    "parse_http_date",
    "parse_page_date",
    "parse_rel",
    "product_token",
    "retry_after_s",
]
