"""Adds the sources to the JSON of a search, the same on the command line and over HTTP."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from goodbot.federate.merging import MergedHit
from goodbot.federate.rounds import SourceReport
from goodbot.search_values import Hit


def scored(hits: Sequence[MergedHit]) -> tuple[Hit, ...]:
    """Returns the hits with their scores of reciprocal rank fusion, in place of those of their source."""
    return tuple(replace(each.hit, score=each.score) for each in hits)


def with_sources(
    found: Mapping[str, Any], hits: Sequence[MergedHit], sources: Sequence[SourceReport]
) -> dict[str, Any]:
    """Returns the JSON of a search with the sources, and each of its hits with its own. `hits` are those of `found`, in
    the same order."""
    listed = [
        {**hit, "sources": [{"name": source, "rank": rank} for source, rank in merged.sources]}
        for hit, merged in zip(found["hits"], hits, strict=True)
    ]
    return {**found, "hits": listed, "sources": [source_json(each) for each in sources]}


def source_json(report: SourceReport) -> dict[str, Any]:
    """Returns the JSON of one source."""
    return {
        "name": report.name,
        "url": report.url,
        "state": report.state,
        "hits": report.hits,
        "took_ms": round(report.took_ms, 3),
        **({"why": report.why} if report.why else {}),
    }
