"""Removes the records of one host from a WARC file, and leaves every other record where it was.

Each record of the host is overwritten by an empty one of the same length, in a copy that then replaces the file. A kill
leaves the old file or the new one, and offsets stored elsewhere stay true. A record of another host that refers to a
payload of this one is written again, complete, at the end of the file; an empty record at its old place points there.

No index is trusted: a file is skipped only if an index that accounts for every byte of it leads to records of other
hosts alone. Any other file is read through, and its index made anew.

Damaged bytes in such a file are removed as well, and so is all that repairs have moved aside, because they may belong
to the host. The damage stays noted beside the file, so that `goodbot archive repair` has lost pages of other hosts
fetched again.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from goodbot.archive_values import DamagedRange
from goodbot.errors import DamagedError
from goodbot.store.warc.archive_files import ArchiveFiles
from goodbot.store.warc.cdxj import index_path
from goodbot.store.warc.index_proof import proven_urls
from goodbot.store.warc.moved_note import MovedNote, load_note
from goodbot.store.warc.warc_files import (
    ASIDE,
    is_settled,
    known_offsets,
    noted_damage,
    save_damage,
    settle,
    through,
)
from goodbot.store.warc.warc_filler import fill
from goodbot.store.warc.warc_member import packed
from goodbot.store.warc.warc_outline import CAPTURES, HEAD_BYTES, fields_of, heads
from goodbot.store.warc.warc_reader import (
    ORIGINAL_FILE_FIELD,
    ORIGINAL_OFFSET_FIELD,
    read_member,
    read_response,
)
from goodbot.store.warc.warc_record import block_digest, revisit_record
from goodbot.url import parse_url
from goodbot.values import RecordRef


@dataclass(slots=True)
class _RewritePlan:
    """What to do with a file: (offset, end) of records to be emptied, records that refer to one of them, and gaps."""

    emptied: list[tuple[int, int]] = field(default_factory=list)
    repeats: list[tuple[int, int, int]] = field(default_factory=list)
    captures: int = 0
    gaps: list[DamagedRange] = field(default_factory=list)


class Removed(NamedTuple):
    """What was removed: how many captures, and how many damaged bytes."""

    captures: int
    damaged_bytes: int


def forget_host(files: ArchiveFiles, host: str) -> Removed:
    """Removes the records of `host` (`Url.host_key`) from every file.

    The caller has locked the folder. Reads files that hold some of the host twice, 26 s per GB, and only the heads of
    records in all others; needs space for a copy of the largest file. A moved file is fetched, changed, and moved
    again; one that holds nothing of the host is recognized by its index. Raises RunError if a place does not answer:
    then this has to be done again."""
    removed = [_forget_in(files, path, host) for path in files.paths()]
    captures, damaged = sum(item.captures for item in removed), sum(item.damaged_bytes for item in removed)
    return Removed(captures, damaged + _drop_aside(files.folder / ASIDE))


def _forget_in(files: ArchiveFiles, path: Path, host: str) -> Removed:
    is_here, note = path.exists(), load_note(path)
    if is_here and note is not None:  # its move was interrupted, so the copy may be an older one
        files.distrust(path, note)
    has_some = _may_hold(files, path, note if not is_here else None, host)
    if not is_here and not (has_some and files.fetch(path)):
        return Removed(0, 0)
    removed = _forget(path, host) if has_some else Removed(0, 0)
    if note is not None:
        files.move_back(path, note)
    return removed


def _drop_aside(aside: Path) -> int:
    """Removes what repairs have moved aside; returns how many bytes."""
    if not aside.is_dir():
        return 0
    dropped = sum(file.stat().st_size for file in aside.iterdir())
    shutil.rmtree(aside)
    return dropped


def _may_hold(files: ArchiveFiles, path: Path, moved: MovedNote | None, host: str) -> bool:
    """Returns whether the file may hold a record of the host. False is certain. `moved`: the note of a moved file."""
    if not is_settled(path) or noted_damage(path):
        return True
    if moved is not None and moved.index:
        is_listed = proven_urls(path, moved.index, partial(_is_on, host))
        if is_listed is not None:
            return is_listed
    try:
        with files.open(path, all_of_it=True) as file:
            return any(_is_of(fields, host) for fields in heads(path, file))
    except (DamagedError, FileNotFoundError):
        return True


def _is_of(fields: Mapping[str, str], host: str) -> bool:
    return _is_on(host, fields.get("warc-target-uri", "").strip("<>"))


def _is_on(host: str, text: str) -> bool:
    url = parse_url(text)
    return url is not None and url.host_key == host


def _forget(path: Path, host: str) -> Removed:
    known = known_offsets(path)
    with path.open("rb") as file:
        plan = _plan(file, path.name, known, host)
        if not (plan.emptied or plan.gaps):
            if noted_damage(path) is None:  # only the index led here, so it is made anew
                settle(path)
            return Removed(0, 0)
        draft = path.with_name(path.name + ".new")
        shutil.copyfile(path, draft)
        with draft.open("r+b") as new:
            dropped = _drop(new, plan.gaps)
            _empty(file, new, path.name, plan)
            new.flush()
            os.fsync(new.fileno())
    gaps = [*(noted_damage(path) or ()), *plan.gaps]
    index_path(path).unlink(missing_ok=True)  # without it the next writer settles the file
    draft.replace(path)
    settle(path)
    if path.exists():
        save_damage(path, list(dict.fromkeys(gaps)))
    return Removed(plan.captures, dropped)


def _drop(new: BinaryIO, gaps: Sequence[DamagedRange]) -> int:
    """Overwrites damaged ranges, or cuts them off at the end; returns how many bytes."""
    end = new.seek(0, os.SEEK_END)
    for gap in gaps:
        if gap.end >= end:
            new.truncate(gap.start)
        else:
            fill(new, gap.start, gap.end)
    return sum(min(gap.end, end) - gap.start for gap in gaps)


def _plan(file: BinaryIO, name: str, known: Sequence[int] | None, host: str) -> _RewritePlan:
    plan, gone = _RewritePlan(), set[int]()
    for item in through(file, name, known, partial(read_member, keep_bytes=HEAD_BYTES)):
        if isinstance(item, DamagedRange):
            plan.gaps.append(item)
            continue
        record, member = item
        fields = fields_of(member.data)
        if _is_of(fields, host):
            plan.emptied.append((record.offset, member.end))
            gone.add(record.offset)
            plan.captures += fields.get("warc-type") in CAPTURES
        elif fields.get("warc-type") == "revisit" and fields.get(ORIGINAL_FILE_FIELD.lower()) == name:
            original = fields.get(ORIGINAL_OFFSET_FIELD.lower(), "")
            if original.isascii() and original.isdecimal() and len(original) < 16 and int(original) in gone:
                plan.repeats.append((record.offset, member.end, int(original)))
    return plan


def _empty(file: BinaryIO, new: BinaryIO, name: str, plan: _RewritePlan) -> None:
    for offset, end in plan.emptied:
        fill(new, offset, end)
    written: dict[int, tuple[int, str, str]] = {}
    for offset, end, original in plan.repeats:
        place = new.seek(0, os.SEEK_END)
        with suppress(DamagedError):  # the payload was unreadable before, too
            whole, url, date = _whole(file, RecordRef(name, offset), RecordRef(name, original))
            if original in written:
                first, first_url, first_date = written[original]
                whole = revisit_record(whole, RecordRef(name, first), first_url, first_date)
            else:
                written[original] = (place, url, date)
            new.write(whole)
            fill(new, offset, end, moved_to=place)


def _whole(file: BinaryIO, repeat: RecordRef, original: RecordRef) -> tuple[bytes, str, str]:
    """Returns the response record that a revisit record stands for, its URL and its date. Raises DamagedError."""
    member = read_member(file, repeat)
    if member is None:
        raise DamagedError(f"{repeat.file} is damaged at byte {repeat.offset}: the file ends within the record")
    body = read_response(file, original).response.body
    head, _, rest = member.data.partition(b"\r\n\r\n")
    http_head, blank, _ = rest.partition(b"\r\n\r\n")
    block = http_head + blank + body
    dropped = ("WARC/1.1", "WARC-Type:", "WARC-Profile:", "WARC-Refers-To", "WARC-Block-Digest:", "Content-Length:")
    kept = [line for line in head.decode("utf-8", "replace").split("\r\n") if not line.startswith(dropped)]
    lines = [
        "WARC/1.1",
        "WARC-Type: response",
        *kept,
        f"WARC-Block-Digest: {block_digest(block)}",
        f"Content-Length: {len(block)}\r\n\r\n",
    ]
    fields = fields_of(member.data)
    record = packed("\r\n".join(lines).encode(), block, b"\r\n\r\n")
    return record, fields.get("warc-target-uri", ""), fields.get("warc-date", "")
