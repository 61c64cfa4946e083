"""How counts and durations are written for people in a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from goodbot.archive_values import DamagedRange
from goodbot.human import counted, human_bytes, human_duration, human_time, in_shell


def when_due_again(at: float, now: float) -> str:
    """Says from when pages are due for `goodbot crawl --keep-fresh`."""
    when = f"since {human_time(at)}" if at <= now else f"in {human_duration(at - now)}, at {human_time(at)}"
    return f"pages are due to be re-crawled {when} (goodbot crawl --keep-fresh)"


def replayed_line(pages: int) -> str:
    """Says how many pages a resumed crawl indexed late, before it goes on."""
    were, are = ("was", "it is") if pages == 1 else ("were", "they are")
    return f"{counted(pages, 'page')} of the last run {were} not in the index yet; {are} now"


def forgotten_line(host: str, removed: Mapping[str, int]) -> str:
    """`example.org is forgotten: 12 URLs, 1 record removed`; `removed`: singular noun → count."""
    return f"{host} is forgotten: {', '.join(counted(count, what) for what, count in removed.items())} removed"


def barred_line(host: str, folder: Path) -> str:
    """Says that the host of a seed is forgotten, and how to undo that."""
    undo = f"goodbot forget {host} --undo --in {in_shell(folder)}"
    return f"{host} is forgotten and gets no request; to allow it again: {undo}"


def removed_damage_line(host: str, size: int, folder: Path) -> str:
    """Says that `size` bytes of a host's archive were removed unread, and what others may have lost."""
    return (
        f"{human_bytes(size)} of damaged data in the archive may belong to {host}, and are removed too; goodbot archive"
        f" repair --in {in_shell(folder)} lets the next crawl fetch lost pages of other hosts again"
    )


def damage_line(gaps: Sequence[DamagedRange], folder: Path) -> str:
    """Says that the archive is damaged, where the first damage is, and what to do."""
    more = f" and in {counted(len(gaps) - 1, 'other place')}" if len(gaps) > 1 else ""
    return damaged_line(f"{gaps[0]}{more}", folder)


def damaged_line(what: str, folder: Path) -> str:
    """Says that the archive is damaged, `what` is, and what to do."""
    return (
        f"the archive is damaged: {what}; see goodbot archive check --in {in_shell(folder)}"
        f" (goodbot archive repair --in {in_shell(folder)} lets the next crawl fetch lost pages again)"
    )
