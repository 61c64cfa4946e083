"""Prints what services answered to `goodbot announce`, for people and as JSON."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from goodbot.announce.announce_values import BatchReport, Change, Service, ServiceReport, Unread
from goodbot.human import counted

LINES_SHOWN: Final = 20
"""Lines about the batches of one service; JSON has all batches."""

URLS_SHOWN: Final = 10


def report_json(
    reports: Sequence[ServiceReport], unread: Sequence[Unread], *, is_interrupted: bool = False
) -> dict[str, Any]:
    """Returns the JSON of `goodbot announce`. `unread` are sitemaps that were not read, or only in part."""
    is_accepted = all(report.accepted == report.urls for report in reports)
    return {
        "done": is_accepted and not unread and not is_interrupted,
        **({"interrupted": True} if is_interrupted else {}),
        "services": [_service_json(report) for report in reports],
        **_unread_json(unread),
    }


def _unread_json(unread: Sequence[Unread]) -> dict[str, Any]:
    return {"unread": [each._asdict() for each in unread]} if unread else {}


def plan_json(
    reports: Sequence[ServiceReport], unread: Sequence[Unread], changes: Callable[[Service], Iterator[Change]]
) -> dict[str, Any]:
    """Returns the JSON of `goodbot announce --dry-run`. `changes` yields the pages of the batches of a service, in
    their order."""
    services = [_service_json(report) for report in reports]
    for report, row in zip(reports, services, strict=True):
        left = changes(report.service)
        for batch in row["batches"]:
            batch["url_list"] = [change.url.text for change in islice(left, batch["urls"])]
    return {"done": False, "dry_run": True, "services": services, **_unread_json(unread)}


def _service_json(report: ServiceReport) -> dict[str, Any]:
    return {
        "service": report.service.name,
        "url": report.service.url.text,
        "urls": report.urls,
        "accepted": report.accepted,
        "batches": [_batch_json(batch) for batch in report.batches],
    }


def _batch_json(batch: BatchReport) -> dict[str, Any]:
    return {
        "host": batch.host,
        "urls": batch.urls,
        "accepted": batch.is_accepted,
        "status": batch.status,
        "tries": batch.tries,
        "answer": batch.answer,
        "meaning": batch.meaning,
    }


def report_lines(report: ServiceReport) -> Iterator[tuple[str, str]]:
    """Yields what a service answered, as pairs of an indentation and a sentence."""
    if not report.batches:
        yield "", f"{name_of(report.service)}: nothing to announce"
        return
    yield "", f"{name_of(report.service)}: {report.accepted:,} of {counted(report.urls, 'URL')} accepted"
    lines = _grouped(report.batches)
    for text, urls in list(lines.items())[:LINES_SHOWN]:
        host, _, rest = text.partition(" ")
        yield "  ", f"{host}, {counted(urls, 'URL')}: {rest}"
    if len(lines) > LINES_SHOWN:
        yield "  ", f"and {len(lines) - LINES_SHOWN:,} more such lines: see --json"


def name_of(service: Service) -> str:
    """Returns how messages name a service."""
    return service.name if service.name == service.url.text else f"{service.name} ({service.url})"


def _grouped(batches: Iterable[BatchReport]) -> dict[str, int]:
    """Returns one line for batches of a host with the same answer, and how many URLs they have."""
    lines: dict[str, int] = {}
    for batch in batches:
        status = "" if batch.status is None else f"status {batch.status}: "
        tries = f" ({batch.tries} tries)" if batch.tries > 1 else ""
        answer = f"; it says: {batch.answer}" if batch.answer else ""
        text = f"{batch.host} {status}{batch.meaning}{tries}{answer}"
        lines[text] = lines.get(text, 0) + batch.urls
    return lines


def plan_lines(report: ServiceReport, first: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """Yields what would be sent to a service, with the first pages."""
    if not report.batches:
        yield "", f"{name_of(report.service)}: nothing to announce"
        return
    requests = counted(len(report.batches), "request")
    hosts = counted(len({batch.host for batch in report.batches}), "host")
    yield "", f"{name_of(report.service)} would get {counted(report.urls, 'URL')} of {hosts}, in {requests}:"
    for change in first:
        yield "  ", change.url.text
    if report.urls > len(first):
        yield "  ", f"and {report.urls - len(first):,} more"
