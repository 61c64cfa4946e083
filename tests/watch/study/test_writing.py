"""The robots.txt of the phase that is due is written, and nothing else is lost."""

from pathlib import Path

import pytest

from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.watch.history.accesses import accesses
from goodbot.watch.history.copies import History
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.study.schedule import Span, due_at, kept_spans, spans_until
from goodbot.watch.study.writing import read_file, write_due
from watch.study.study_plans import DAY, HEAD, PHASES, START, plan_of, read

PLAN = plan_of(HEAD + 'base = "own.txt"\n' + PHASES)


def write(path: Path, day: float, *, force: bool = False) -> bool:
    at = START + day * DAY
    history = History(path.parent / "history")
    return write_due(PLAN, due_at(PLAN, at), read_file(path), at, history, force=force)


def test_a_whole_study(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(read("own.txt"))
    path.chmod(0o640)
    written = [(day, write(path, day)) for day in (-1, 0.1, 0.2, 6, 7.5, 7.6, 14, 21, 22)]
    assert [day for day, was in written if was] == [0.1, 7.5, 14, 21]
    assert path.read_bytes() == read("own.txt")
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["history", "robots.txt"]
    copies = History(tmp_path / "history").copies()
    rules = RulesInForce.of_copies(accesses(copies))
    assert [round((version.since - START) / DAY, 1) for version in rules.versions] == [0.1, 7.5, 14.0, 21.0]
    in_force = {day: list(rules.choice(rules.choice_at(START + day * DAY))) for day in (5, 8, 9, 15.5)}
    assert in_force == {5: [0], 8: [1, 0], 9: [1], 15.5: [2]}


def test_a_missing_file_is_written(tmp_path: Path) -> None:
    assert write(tmp_path / "robots.txt", 1)
    assert (tmp_path / "robots.txt").read_bytes() == PLAN.phases[0].body
    assert len(History(tmp_path / "history").copies()) == 1


@pytest.mark.parametrize("day", [0, 10, 30])
def test_a_file_changed_by_hand_is_kept(day: int, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(PLAN.phases[0].body + b"# by hand\n")
    with pytest.raises(InputError, match="is not from this plan"):
        write(path, day)
    assert path.read_bytes().endswith(b"# by hand\n")
    assert not (tmp_path / "history").exists()
    assert write(path, day, force=True)
    assert path.read_bytes() == due_at(PLAN, START + day * DAY).body(PLAN)
    assert History(tmp_path / "history").copies()[0].body.endswith(b"# by hand\n")


def test_two_copies_of_one_moment_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\nDisallow: /by-hand\n")
    assert write(path, 8, force=True)
    at = START + 8 * DAY
    history = History(tmp_path / "history")
    assert [(copy.at, copy.body) for copy in history.copies()] == [
        (at, b"User-agent: *\nDisallow: /by-hand\n"),
        (at, PLAN.phases[1].body),
    ]
    assert history.added() == history.copies()
    rules = RulesInForce.of_copies(accesses(history.copies()))
    newest = [list(rules.choice(rules.choice_at(at + after))) for after in (-1, 0, DAY - 1, DAY)]
    assert newest == [[], [1, 0], [1, 0], [1]]
    assert kept_spans(spans_until(PLAN, at + DAY), PLAN, history.copies()) == [Span(1, at, START + 14 * DAY)]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["as-it-is", "with-a-byte-order-mark"])
def test_the_base_may_be_replaced(mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(mark + read("own.txt"))
    assert write(path, 10)
    assert path.read_bytes() == PLAN.phases[1].body


def test_a_kill_between_file_and_history_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(PLAN.phases[1].body)
    assert not write(path, 8)
    assert not write(path, 9)
    (copy,) = History(tmp_path / "history").copies()
    assert copy.body == PLAN.phases[1].body
    assert Access.from_response(200, (), copy.body, 0).rules.crawl_delay("x") == 10


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        read_file(tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        write_due(PLAN, due_at(PLAN, START), read_file(tmp_path / "none" / "robots.txt"), START, None)
