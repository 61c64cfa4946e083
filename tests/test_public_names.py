"""The public names, written by hand: a change of either list is deliberate."""

import goodbot
import goodbot.exclusion

GOODBOT = [
    "Access",
    "Answer",
    "BlockingClient",
    "Directives",
    "Element",
    "Preferences",
    "Reading",
    "Robot",
    "RobotRules",
    "RobotsTxt",
    "TdmRules",
    "Verdict",
    "WebPage",
    "crawl",
    "format_robotstxt",
]

EXCLUSION = [
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


def test_the_public_names_of_goodbot() -> None:
    assert goodbot.__all__ == GOODBOT
    assert all(getattr(goodbot, name) is not None for name in GOODBOT)


def test_the_public_names_of_goodbot_exclusion() -> None:
    assert goodbot.exclusion.__all__ == EXCLUSION
    assert all(hasattr(goodbot.exclusion, name) for name in EXCLUSION)
