"""Writes the robots.txt of the phase that is due, and keeps dated copies of it."""

from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path

from goodbot.errors import InputError, RunError, quoted
from goodbot.files import write_whole
from goodbot.watch.history.copies import MAX_BODY_BYTES, History, RobotsCopy
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import Due


@dataclass(frozen=True, slots=True)
class FileNow:
    """The robots.txt of a site as a file; `body` is None if there is none."""

    path: Path
    body: bytes | None
    changed_at: float = 0.0

    def is_of(self, plan: StudyPlan) -> bool:
        """Whether the file is missing, equals the robots.txt of a phase, or equals the base. A byte order mark does not
        count: the plan has the base without it."""
        if self.body is None:
            return True
        return self.body.removeprefix(BOM_UTF8) in (plan.base, *(phase.body for phase in plan.phases))


def read_file(path: Path) -> FileNow:
    """Reads the robots.txt that a study replaces. Raises InputError if it is not a file, RunError if it cannot be
    read."""
    try:
        if not path.exists():
            return FileNow(path, None)
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        with path.open("rb") as file:
            return FileNow(path, file.read(MAX_BODY_BYTES), path.stat().st_mtime)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name is not valid"
        raise RunError(f"cannot read {path}: {reason}") from error


def write_due(
    plan: StudyPlan, due: Due, file: FileNow, now: float, history: History | None, *, force: bool = False
) -> bool:
    """Writes the robots.txt that is due, if the file has another one. Returns whether it did.

    The history gets a copy of the old content and one of the new, both dated `now`, so that it says until when the old
    one was in force. A file that has the right content already is copied if it is new to the history. Raises InputError
    for a file that the study may not replace, unless `force`; InputError or RunError if a file cannot be written.
    """
    body = due.body(plan)
    if body is None:
        return False
    if file.body == body:
        _keep_new(history, plan, body, min(file.changed_at, now))
        return False
    if not force and not file.is_of(plan):
        raise InputError(refusal(file))
    if history is not None and file.body is not None:
        history.add(_copy(plan, file.body, now))
    write_whole(file.path, body)
    if history is not None:
        history.add(_copy(plan, body, now))
    return True


def refusal(file: FileNow) -> str:
    """Says why a file is not replaced, and what to do."""
    return (
        f"{quoted(str(file.path))} is not from this plan. If you edited the plan or its base during the study, the "
        "file has the rules of the former plan: use --force. If somebody changed the file, save a copy and name it as "
        "base in the plan to keep its rules, or use --force to discard them"
    )


def _keep_new(history: History | None, plan: StudyPlan, body: bytes, since: float) -> None:
    """Adds a copy unless the last one is the same: after a kill, or if somebody else wrote the file."""
    if history is None:
        return
    copies = history.added()
    last = copies[-1] if copies else None
    copy = _copy(plan, body, since if last is None else max(since, last.at))
    if last is None or not copy.is_like(last):
        history.add(copy)


def _copy(plan: StudyPlan, body: bytes, at: float) -> RobotsCopy:
    return RobotsCopy(plan.url.text, at, 200, None, (("Content-Type", "text/plain"),), body, (plan.url.text,))
