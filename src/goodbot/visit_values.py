"""What one visit of a URL brings, on its way from the robot to the stores."""

from dataclasses import dataclass

from goodbot.archive_values import EncodedRecords
from goodbot.search_values import PreparedDocument
from goodbot.values import Discovery, Outcome


@dataclass(frozen=True, slots=True)
class VisitResult:
    """An outcome, the document to index if the page may be indexed, and the records to keep.

    `replayable`: the document can be made again from the archive. `sitemaps`: those that the robots.txt names and
    that the frontier has not been given yet.
    """

    outcome: Outcome
    document: PreparedDocument | None = None
    replayable: bool = True
    encoded: EncodedRecords | None = None
    sitemaps: tuple[Discovery, ...] = ()
