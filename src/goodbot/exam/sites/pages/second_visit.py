"""Pages have validators, for a crawler that visits twice."""

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
from goodbot.exam.expectations import CustomExpectation, Fetches, OnLaterVisit
from goodbot.exclusion import parse_http_date
from goodbot.human import counted

TAG = '"v1"'
DATE = "Tue, 03 Mar 2026 09:00:00 GMT"
CONDITIONS = {"/": "If-None-Match", "/tagged": "If-None-Match", "/dated": "If-Modified-Since"}
_MODIFIED_AT = parse_http_date(DATE) or 0.0
_TAG = re.compile(r'"[^"]*"')


def _carries_validator(request: ExamRequest, condition: str) -> bool:
    """Whether a request carries the validator that the page came with. It may list several tags, strong or weak."""
    values = ", ".join(value for name, value in request.headers if name.lower() == condition.lower())
    return TAG in _TAG.findall(values) if condition == "If-None-Match" else values == DATE


def _revalidating(reply: Reply, validator: tuple[str, str], condition: str) -> Handler:
    """Answers with 304 if the request shows that the client has the page already (RFC 9110 13.1.2, 13.1.3)."""

    async def handler(exchange: Exchange) -> None:
        request = exchange.request
        value = request.header(condition) or ""
        if condition == "If-None-Match":
            has_it = _carries_validator(request, condition) or value.strip() == "*"
        else:
            since = parse_http_date(value)
            has_it = request.header("If-None-Match") is None and since is not None and since >= _MODIFIED_AT
        if has_it:
            await exchange.send(f"HTTP/1.1 304 Not Modified\r\n{validator[0]}: {validator[1]}\r\n\r\n".encode())
        else:
            await exchange.reply(Reply(reply.body, 200, (HTML, validator)))

    return handler


def _revalidated(seen: Observed) -> SiteJudgement:
    again = {each.target: each for each in seen.requests if each.visit > 1 and each.target in CONDITIONS}
    if not again:
        return SiteJudgement(False, "fetched no page again")
    for each in again.values():
        condition = CONDITIONS[each.target]
        if each.header(condition) is None:
            return SiteJudgement(False, f"fetched {each.target} again without {condition}", each)
        if not _carries_validator(each, condition):
            return SiteJudgement(False, f"fetched {each.target} again with a validator that it never had", each)
    return SiteJudgement(True, f"fetched {counted(len(again), 'page')} again, with their validators")


SITE = ExamSite(
    name="second-visit",
    teaches="Send the validator a page came with on a second visit, and read 304 as unchanged.",
    source="RFC 9110 13.1.2, 13.1.3, 15.4.5",
    pages={
        "/": _revalidating(page("/tagged", "/dated", title="Start"), ("ETag", TAG), "If-None-Match"),
        "/tagged": _revalidating(page(title="Tagged"), ("ETag", TAG), "If-None-Match"),
        "/dated": _revalidating(page(title="Dated"), ("Last-Modified", DATE), "If-Modified-Since"),
    },
    expects=(
        Fetches(("/", "/tagged", "/dated"), visit=1),
        OnLaterVisit(
            CustomExpectation(
                "revalidates", "fetches pages again with If-None-Match or If-Modified-Since", _revalidated
            )
        ),
    ),
)
