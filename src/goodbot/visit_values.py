"""The result of one visit, as the robot hands it to the stores."""

from dataclasses import dataclass

from goodbot.archive_values import EncodedRecords
from goodbot.search_values import PreparedDocument
from goodbot.values import Discovery, Outcome


@dataclass(frozen=True, slots=True)
class VisitResult:
    """An outcome, with the document to index if the page may be indexed, and the records to archive.

    `replayable`: the document can be made again from the archive. `sitemaps`: sitemaps that the robots.txt names and
    that the frontier does not know yet.
    """

    outcome: Outcome
    document: PreparedDocument | None = None
    replayable: bool = True
    encoded: EncodedRecords | None = None
    sitemaps: tuple[Discovery, ...] = ()
