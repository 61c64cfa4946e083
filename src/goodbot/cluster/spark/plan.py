"""The plan of a cycle, and the notes of its fetch tasks: what a driver needs to go on with a cycle that died."""

from typing import Final

import msgspec

from goodbot.cluster.spark.segment import SegmentCounts
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.errors import DamagedError


class CyclePlan(msgspec.Struct, frozen=True):
    """What a cycle does, written before it begins, so that a run after a crash does the same.

    `number`: of the cycle, from 1 on. `key`: of this plan; what its tasks leave says nothing about those of a plan with
    another key. `version`: of the crawl table that it reads. `now`: the time for which it chooses URLs (Unix seconds).
    `tasks`: the number of fetch tasks; `workers`: the worker processes of each. `host_urls`, `host_s`, `fetch_s`:
    limits of one host and of one task. `part_urls`: the most URLs chosen from each part; None: no limit. `revisits`:
    pages that are due again are visited again."""

    number: int
    key: str
    version: int
    now: float
    tasks: int
    workers: int
    host_urls: int
    host_s: float
    fetch_s: float
    part_urls: tuple[int, ...] | None = None
    revisits: bool = False


class SegmentNote(msgspec.Struct, frozen=True):
    """What a fetch task has written: the paths of its two Parquet files (`changes` is None for a crawl that was
    imported) and of its WARC files, the sizes of all these files in bytes, and counts. `urls_left`: those that it had
    no time for."""

    task: int
    changes: str | None
    pages: str | None
    warcs: tuple[str, ...]
    sizes: dict[str, int]
    counts: SegmentCounts
    urls_left: int
    began_at: float
    ended_at: float


CYCLES_FOLDER: Final = "cycles"

_PLAN: Final = msgspec.json.Decoder(CyclePlan)
_NOTE: Final = msgspec.json.Decoder(SegmentNote)
_NOTES: Final = msgspec.json.Decoder(list[SegmentNote])


def decode_plan(data: bytes) -> CyclePlan:
    """Decodes a plan. Raises msgspec.MsgspecError if `data` is none."""
    return _PLAN.decode(data)


def decode_note(data: bytes) -> SegmentNote:
    """Decodes a note. Raises msgspec.MsgspecError if `data` is none."""
    return _NOTE.decode(data)


def cycle_folder(number: int) -> str:
    """Returns the folder of what a cycle needs only until it ends."""
    return f"{CYCLES_FOLDER}/{number:08}"


def done_path(plan: CyclePlan, task: int) -> str:
    """Returns the path of the note of a task that is done."""
    return f"{cycle_folder(plan.number)}/done-{plan.key}-{task:05}.json"


def claim_path(plan: CyclePlan, task: int) -> str:
    """Returns the path of the file that says which process runs a task."""
    return f"{cycle_folder(plan.number)}/claim-{task:05}.json"


def stop_path(number: int) -> str:
    """Returns the path of the file that asks the tasks of a cycle to end: pages in flight are finished."""
    return f"{cycle_folder(number)}/stop"


def plan_path(number: int) -> str:
    """Returns the path of the plan of a cycle."""
    return f"{cycle_folder(number)}/plan.json"


def notes_path(number: int) -> str:
    """Returns the path of the notes of all segments of a cycle, written when it has ended."""
    return f"{segment_folder(number)}/notes.json"


def load_notes(files: StoreFiles, number: int) -> list[SegmentNote]:
    """Returns the notes of a cycle that has ended. Raises DamagedError if they are missing or damaged."""
    path = notes_path(number)
    data = files.read(path)
    if data is None:
        raise DamagedError(f"{files.url}/{path} is missing")
    try:
        return _NOTES.decode(data)
    except msgspec.MsgspecError as error:
        raise DamagedError(f"{files.url}/{path} is damaged: {error}") from error


def segment_folder(number: int) -> str:
    """Returns the folder of the segments of a cycle."""
    return f"segments/{number:08}"


def warc_folder(number: int) -> str:
    """Returns the folder of the WARC files of a cycle."""
    return f"warc/{number:08}"
