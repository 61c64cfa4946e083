"""Pages with validators, for a crawler that comes again."""

import re

from goodbot.exam.exam_values import (
    HTML,
    ExamRequest,
    ExamSite,
    Exchange,
    Handler,
    Observed,
    Reply,
    SiteJudgement,
    page,
)
from goodbot.exam.expectations import Finds, JudgedByRule, Later
from goodbot.exclusion import parse_http_date
from goodbot.human import counted

TAG = '"v1"'
DATE = "Tue, 03 Mar 2026 09:00:00 GMT"
CONDITIONS = {"/": "If-None-Match", "/tagged": "If-None-Match", "/dated": "If-Modified-Since"}
_MODIFIED_AT = parse_http_date(DATE) or 0.0
_TAG = re.compile(r'"[^"]*"')


def _given_back(asked: ExamRequest, condition: str) -> bool:
    """Whether a request has the validator that the page came with. Of tags there may be several, strong or weak."""
    said = ", ".join(value for name, value in asked.headers if name.lower() == condition.lower())
    return TAG in _TAG.findall(said) if condition == "If-None-Match" else said == DATE


def _kept(reply: Reply, validator: tuple[str, str], condition: str) -> Handler:
    """A page that is answered with 304 to those who have it already (RFC 9110 13.1.2, 13.1.3)."""

    async def handler(exchange: Exchange) -> None:
        asked = exchange.asked
        said = asked.header(condition) or ""
        if condition == "If-None-Match":
            has_it = _given_back(asked, condition) or said.strip() == "*"
        else:
            since = parse_http_date(said)
            has_it = asked.header("If-None-Match") is None and since is not None and since >= _MODIFIED_AT
        if has_it:
            await exchange.send(f"HTTP/1.1 304 Not Modified\r\n{validator[0]}: {validator[1]}\r\n\r\n".encode())
        else:
            await exchange.reply(Reply(reply.body, 200, (HTML, validator)))

    return handler


def _revalidated(seen: Observed) -> SiteJudgement:
    again = {each.target: each for each in seen.requests if each.visit > 1 and each.target in CONDITIONS}
    if not again:
        return SiteJudgement(False, "no page was asked for again")
    for each in again.values():
        condition = CONDITIONS[each.target]
        if each.header(condition) is None:
            return SiteJudgement(False, f"{each.target} was asked for again without {condition}", each)
        if not _given_back(each, condition):
            return SiteJudgement(False, f"{each.target} was asked for again with a validator that it never had", each)
    return SiteJudgement(True, f"asked for {counted(len(again), 'page')} again, with their validators")


SITE = ExamSite(
    name="second-visit",
    teaches="A page fetched before is asked for with the validator it came with, and 304 tells that nothing changed.",
    source="RFC 9110 13.1.2, 13.1.3, 15.4.5",
    pages={
        "/": _kept(page("/tagged", "/dated", title="Start"), ("ETag", TAG), "If-None-Match"),
        "/tagged": _kept(page(title="Tagged"), ("ETag", TAG), "If-None-Match"),
        "/dated": _kept(page(title="Dated"), ("Last-Modified", DATE), "If-Modified-Since"),
    },
    expects=(
        Finds(("/", "/tagged", "/dated"), visit=1),
        Later(JudgedByRule("revalidates", "asks again with If-None-Match or If-Modified-Since", _revalidated)),
    ),
)
