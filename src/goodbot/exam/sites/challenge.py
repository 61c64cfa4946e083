"""Defines the challenge page of bot walls, and what a crawler is expected to do with it."""

from typing import Final

from goodbot.exam.exam_values import HTML, MAIN, Observed, Reply, SiteJudgement
from goodbot.exam.expectations import CustomExpectation

PASS: Final = "wall-pass"
"""The cookie that the page's script sets: a client that sends it has run the script, or pretends to."""
VISITOR: Final = "wall-visitor"
"""The cookie that comes with the page."""
ANSWERS: Final = "/.wall/answer"

_PAGE: Final = f"""<!doctype html>
<html lang="en"><head><title>One moment, please...</title><meta name="robots" content="noindex,nofollow"></head>
<body><h1>One moment, please...</h1>
<p>We are checking that you are a person before you go on. This takes a few seconds.
<noscript><p>Switch JavaScript and cookies on to continue.</noscript>
<form id="challenge-form" action="{ANSWERS}" method="post"><input type="hidden" name="answer" value="42">
<button>I am a person</button></form>
<script>document.cookie = "{PASS}=42; path=/"; document.getElementById("challenge-form").submit();</script>
"""


def challenge(status: int, retry_after_s: int | None = None) -> Reply:
    """Returns the challenge page, with the headers that walls send."""
    headers = [HTML, ("Cache-Control", "no-store"), ("cf-mitigated", "challenge")]
    headers.append(("Set-Cookie", f"{VISITOR}=1; Path=/; HttpOnly"))
    if retry_after_s is not None:
        headers.append(("Retry-After", str(retry_after_s)))
    return Reply(_PAGE.encode(), status, tuple(headers))


def _leaves_unanswered(seen: Observed) -> SiteJudgement:
    for each in seen.of(MAIN):
        if each.method not in ("GET", "HEAD") or each.path.startswith("/.wall/"):
            return SiteJudgement(False, f"answered the challenge: {each.method} {each.target}", each)
        if _has_cookie(each.header("Cookie"), PASS):
            return SiteJudgement(False, f"sent the cookie {PASS}, which only the challenge's script sets", each)
    return SiteJudgement(True, "left the challenge unanswered")


def _sends_no_cookie(seen: Observed) -> SiteJudgement:
    for each in seen.of(MAIN):
        if _has_cookie(each.header("Cookie"), VISITOR):
            return SiteJudgement(False, f"sent the cookie {VISITOR} back", each)
    return SiteJudgement(True, "sent no cookie")


def _has_cookie(header: str | None, name: str) -> bool:
    return any(pair.strip().startswith(f"{name}=") for pair in (header or "").split(";"))


CHALLENGE_UNANSWERED: Final = CustomExpectation("wall", "leaves the challenge unanswered", _leaves_unanswered, MAIN)
NO_COOKIE: Final = CustomExpectation("wall-cookie", "sends no cookie of the wall", _sends_no_cookie, MAIN)
