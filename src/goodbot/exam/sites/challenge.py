"""Walls against robots: the page they show, and what is expected of who comes to one."""

from typing import Final

from goodbot.exam.exam_values import HTML, MAIN, Observed, Reply, SiteJudgement
from goodbot.exam.expectations import JudgedByRule

PASS: Final = "wall-pass"
"""The cookie that the script of the page sets: who sends it has run the script, or acts as if."""
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
    """The page, as walls send it."""
    headers = [HTML, ("Cache-Control", "no-store"), ("cf-mitigated", "challenge")]
    headers.append(("Set-Cookie", f"{VISITOR}=1; Path=/; HttpOnly"))
    if retry_after_s is not None:
        headers.append(("Retry-After", str(retry_after_s)))
    return Reply(_PAGE.encode(), status, tuple(headers))


def _is_climbed(seen: Observed) -> SiteJudgement:
    for each in seen.of(MAIN):
        if each.method not in ("GET", "HEAD") or each.path.startswith("/.wall/"):
            return SiteJudgement(False, f"answered the challenge: {each.method} {each.target}", each)
        if _has_cookie(each.header("Cookie"), PASS):
            return SiteJudgement(False, f"sent the cookie {PASS}, which only the challenge's script sets", each)
    return SiteJudgement(True, "the challenge was left unanswered")


def _sends_cookie(seen: Observed) -> SiteJudgement:
    for each in seen.of(MAIN):
        if _has_cookie(each.header("Cookie"), VISITOR):
            return SiteJudgement(False, f"sent the cookie {VISITOR} back", each)
    return SiteJudgement(True, "no cookie was sent")


def _has_cookie(header: str | None, name: str) -> bool:
    return any(pair.strip().startswith(f"{name}=") for pair in (header or "").split(";"))


UNCLIMBED: Final = JudgedByRule("wall", "leaves the challenge unanswered", _is_climbed, MAIN)
NO_COOKIE: Final = JudgedByRule("wall-cookie", "sends no cookie of the wall", _sends_cookie, MAIN)
