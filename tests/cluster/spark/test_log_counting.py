"""Logs that are divided among tasks have the counts of logs that one process reads. The tasks run in this process."""

import gzip
import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.spark.many_logs import FIRST, ROBOTS, SECOND, Counted, combined, counted_alone, iis, write_logs
from goodbot.cluster.spark.log_counting import ClusterLogCounting
from goodbot.cluster.spark.log_tasks import MOST_BYTES, CounterMaker, LogTask, TaskCounts, count_task, run_task
from goodbot.errors import InputError, RunError
from goodbot.exclusion import Access
from goodbot.watch import watching
from goodbot.watch.blocks import BLOCK_BYTES
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.real_client import real_client
from goodbot.watch.formats.pattern import parse_pattern
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.reader import opening
from goodbot.watch.reader.block_reader import BlockReader
from goodbot.watch.reader.log_positions import KNOWN_BYTES
from goodbot.watch.reader.opening import PIECE_BYTES
from goodbot.watch.reader.spans import Span
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import Progress
from watch.counting.log_lines import mixed_logs
from watch.counting.signed_lines import Signed, directory
from watch.counting.tallies import IDENTITIES

RULES = RulesInForce.always(Access.from_response(200, (), ROBOTS, 0.0))


@dataclass
class Sent:
    """A value that was sent to an executor."""

    value: CounterMaker


@dataclass
class TasksHere:
    """Runs tasks in this process, `width` in a job; what is sent there and back is sent as bytes."""

    make_counter: Callable[[], BlockCounter]
    width: int = 3
    tasks: list[LogTask] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._maker: Any = Sent(pickle.loads(pickle.dumps(CounterMaker(self.make_counter))))

    def is_full(self, tasks: Sequence[LogTask]) -> bool:
        return len(tasks) >= self.width

    def start(self, tasks: Sequence[LogTask]) -> "Future[list[TaskCounts]]":
        self.tasks += tasks
        done: Future[list[TaskCounts]] = Future()
        done.set_result([pickle.loads(run_task(self._maker, pickle.dumps(task))) for task in tasks])
        return done

    def result(self, tasks: Sequence[LogTask], counts: "Future[list[TaskCounts]]") -> list[TaskCounts]:
        return counts.result()


def counter(engine: type[LineCounter | ColumnCounter] = ColumnCounter, **options: Any) -> Callable[[], BlockCounter]:
    return partial(engine, IDENTITIES, CountingOptions(**options))


def counted_in_spans(
    logs: list[str],
    jobs: TasksHere,
    *,
    block_bytes: int = 2000,
    span_blocks: int = 2,
    most_bytes: int = MOST_BYTES,
    progress: Progress = lambda done, size: None,
) -> Counted:
    """Counts logs in many small spans."""
    state = WatchState()
    counting = ClusterLogCounting(
        jobs, state, progress=progress, block_bytes=block_bytes, span_blocks=span_blocks, most_bytes=most_bytes
    )
    return Counted(counting.count(logs), state)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_logs(tmp_path_factory.mktemp("logs"))


OPTIONS = [
    pytest.param({}, id="no options"),
    pytest.param({"rules": RULES, "host": "example.org"}, id="obedience"),
    pytest.param({"since": 1_789_466_500, "until": 1_789_467_000}, id="between two times"),
    pytest.param({"pattern": parse_pattern('%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"')}, id="a format"),
    pytest.param({"client_of": partial(real_client, proxies=[])}, id="real addresses"),
]


@pytest.mark.long
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("engine", "width"), [(LineCounter, 7), (ColumnCounter, 1)])
def test_the_counts_are_those_of_one_process(
    logs: list[str], engine: type[LineCounter | ColumnCounter], options: dict[str, Any], width: int
) -> None:
    make = counter(engine, **options)
    jobs = TasksHere(make, width)
    assert counted_in_spans(logs, jobs).all() == counted_alone(logs, make).all()
    assert len(jobs.tasks) > 100


@given(st.lists(mixed_logs, min_size=1, max_size=3), st.integers(1, 2000), st.integers(1, 3), st.integers(1, 4))
def test_any_logs(contents: list[bytes], block_bytes: int, span_blocks: int, width: int) -> None:
    with TemporaryDirectory() as folder:
        logs = [str(Path(folder, f"{number}.log")) for number, _ in enumerate(contents)]
        for log, content in zip(logs, contents, strict=True):
            Path(log).write_bytes(content)
        make = counter()
        found = counted_in_spans(logs, TasksHere(make, width), block_bytes=block_bytes, span_blocks=span_blocks)
        assert found.all() == counted_alone(logs, make).all()


def test_blocks_of_spans_are_those_of_one_process() -> None:
    """Where the busiest items and addresses are kept, counts depend on where blocks begin."""
    assert BLOCK_BYTES % PIECE_BYTES == 0


@pytest.mark.parametrize("engine", [LineCounter, ColumnCounter])
def test_the_busiest_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: type[LineCounter | ColumnCounter]
) -> None:
    """With so many request lines and addresses that only the busiest are kept, and from equal blocks."""
    log = tmp_path / "access.log"
    log.write_text("".join(combined(30_000, 1, paths=9000, addresses=256)))
    monkeypatch.setattr(opening, "PIECE_BYTES", 300_000)
    monkeypatch.setattr(watching, "BlockReader", partial(BlockReader, block_bytes=300_000))
    make = counter(engine)
    alone = counted_alone([str(log)], make)
    assert alone.state.tally.requested.error > 0
    assert counted_in_spans([str(log)], TasksHere(make), block_bytes=300_000).all() == alone.all()


def test_signed_requests(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    lines = [Signed("GPTBot/1.3", nonce=str(number % 40)).line() for number in range(60)]
    log.write_bytes(b"\n".join(lines))
    make = counter(keys=(directory("GPTBot"),))
    found = counted_in_spans([str(log)], TasksHere(make))
    assert found.all() == counted_alone([str(log)], make).all()
    assert sum(robot.signatures.replayed for robot in found.state.tally.robots.values()) == 20


def test_spans_are_counted_again_if_another_header_came_before_them(tmp_path: Path) -> None:
    """Only those that were counted before it was found: they are in the job that finds it, and the two that follow."""
    log = tmp_path / "iis.log"
    log.write_text("".join([*iis(100, FIRST, 1, 1), *iis(500, SECOND, 2, 2)]))
    make = counter()
    jobs = TasksHere(make, width=4)
    assert counted_in_spans([str(log)], jobs).all() == counted_alone([str(log)], make).all()
    places = Counter(task.span.start // 4000 for task in jobs.tasks if task.span)
    again = [place for place, count in places.items() if count > 1]
    assert again == [*range(again[0], 12)]
    assert len(places) > 12


def test_the_progress(logs: list[str]) -> None:
    said: list[tuple[int, int]] = []
    some = logs[:3]
    counted_in_spans(some, TasksHere(counter()), progress=lambda done, size: said.append((done, size)))
    total = sum(Path(log).stat().st_size for log in some)
    assert said[-1] == (total, total)
    assert said == sorted(said)


def test_a_large_compressed_log_is_counted_by_several_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "access.log.gz"
    log.write_bytes(gzip.compress("".join(combined(3000, 1)).encode()))
    monkeypatch.setattr(opening, "PIECE_BYTES", 10_000)
    make = counter()
    jobs = TasksHere(make)
    assert counted_in_spans([str(log)], jobs, block_bytes=10_000, most_bytes=10_000).all() == (
        counted_alone([str(log)], make).all()
    )
    assert len(jobs.tasks) > 4
    assert [task.skipped for task in jobs.tasks] == sorted({task.skipped for task in jobs.tasks})


# ---- bad input ------------------------------------------------------------------------------------------------------


def task_of(log: Path, content: bytes) -> LogTask:
    return LogTask(str(log), "access.log", content[:KNOWN_BYTES], len(content), Span(0, len(content), is_last=True))


def test_a_log_that_only_the_driver_sees(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"^cannot read .*/access.log on .*: No such file or directory; every machine "):
        count_task(counter()(), task_of(tmp_path / "access.log", b"x\n"))


@pytest.mark.parametrize("compressed", [False, True])
def test_a_log_that_was_replaced_meanwhile(tmp_path: Path, compressed: bool) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(b"another log\n")
    task = task_of(log, b"a log\n")
    with pytest.raises(RunError, match=r"^access.log was replaced while it was read$"):
        count_task(counter()(), replace(task, span=None) if compressed else task)


def test_a_log_that_became_shorter(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    content = random.Random(1).randbytes(10_000)
    log.write_bytes(content[:9000])
    with pytest.raises(RunError, match=r"^access.log became shorter while it was read$"):
        count_task(counter()(), task_of(log, content))


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^cannot read .*/missing.log: No such file or directory$"):
        counted_in_spans([str(tmp_path / "missing.log")], TasksHere(counter()))
    with pytest.raises(
        InputError, match=r"^cannot read /dev/null: it is not a regular file, so other machines cannot read it$"
    ):
        counted_in_spans(["/dev/null"], TasksHere(counter()))
