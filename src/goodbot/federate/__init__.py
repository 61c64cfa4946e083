"""Asks several search services at once, and merges their results."""

from goodbot.federate.asking import DEADLINE_S, Federation, OwnHits, ServicePlace
from goodbot.federate.federated_json import scored, with_sources
from goodbot.federate.merging import MergedHit, SourceRank
from goodbot.federate.rounds import OWN, Merged, SourceReport, State, left_out
from goodbot.federate.sources import NamedService, read_named

__all__ = [
    "DEADLINE_S",
    "OWN",
    "Federation",
    "Merged",
    "MergedHit",
    "NamedService",
    "OwnHits",
    "ServicePlace",
    "SourceRank",
    "SourceReport",
    "State",
    "left_out",
    "read_named",
    "scored",
    "with_sources",
]
