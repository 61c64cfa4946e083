"""Whole drives with real child processes: led, measured, waited for, stopped."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from exam.scripted import PATIENCE_S
from goodbot.clock import SystemClock
from goodbot.errors import InputError, RunError
from goodbot.exam import process_tree as processes
from goodbot.exam.card import SiteCard
from goodbot.exam.drive import Driven, DrivePlan, DriveProgress, drive, expand, open_ground
from goodbot.exam.exam_values import ExamSite, page, robots
from goodbot.exam.process_tree import TAIL_BYTES, Output, ProcessTree
from goodbot.exam.sites import all_sites

SITE = next(site for site in all_sites() if site.name == "robots-404")

POLITE = """
import sys, urllib.request, urllib.error
for seed in sys.argv[1:]:
    for path in ("robots.txt", "", "a", "b"):
        try:
            asked = urllib.request.Request(seed + path, headers={"User-Agent": "PoliteBot/1.0 (+mailto:p@example.org)"})
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=120).read()
        except urllib.error.HTTPError as error:
            error.close()
"""
SLEEPER = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"
DAEMON = """
import os, subprocess, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        subprocess.Popen([sys.executable, "-c", *sys.argv[1:]])
    os._exit(0)
os._exit(0)
"""


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


class Skipping(SystemClock):
    """The real clock, put forward at will."""

    skipped_s = 0.0

    def now(self) -> float:
        return super().now() + self.skipped_s


async def driven(
    tmp_path: Path,
    plan: DrivePlan,
    *sites: ExamSite,
    watch: Callable[[DriveProgress], None] | None = None,
    clock: SystemClock | None = None,
) -> Driven:
    folder = tmp_path / "kept"
    folder.mkdir(exist_ok=True)
    (tmp_path / "ground").mkdir(exist_ok=True)
    async with open_ground(sites or (SITE,), clock or SystemClock(), tmp_path / "ground", trusts=False) as ground:
        return await drive(ground, plan, folder, watch)


async def stopped_once_under_way(tmp_path: Path, *command: str) -> Driven:
    """Its time is over as soon as it has written its number."""
    clock, file = Skipping(), tmp_path / "kept" / "pid"

    def watch(glance: DriveProgress) -> None:
        if file.exists() and file.read_text():
            clock.skipped_s = 600.0

    return await driven(tmp_path, DrivePlan(command), watch=watch, clock=clock)


def card_of(result: Driven, name: str) -> SiteCard:
    return next(site for site in result.card.sites if site.name == name)


async def gone(pid: int) -> bool:
    """Whether a process ends, or has; waits for it."""
    for _ in range(20 * PATIENCE_S):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        await asyncio.sleep(0.05)
    return False


async def written(file: Path) -> int:
    """The number that a process writes to a file, as soon as it is there."""
    for _ in range(20 * PATIENCE_S):
        if file.exists() and file.read_text():
            return int(file.read_text())
        await asyncio.sleep(0.05)
    raise AssertionError(f"{file} was never written")


# ---- a drive --------------------------------------------------------------------------------------------------------


async def test_a_good_crawler(tmp_path: Path) -> None:
    seen: list[DriveProgress] = []
    result = await driven(tmp_path, DrivePlan(python(POLITE, "{seeds}")), watch=seen.append)
    assert result.card.passed, [site.observed for site in result.card.sites]
    assert [site.name for site in result.card.sites] == ["robots-404", "the-drive"]
    whole = card_of(result, "the-drive")
    assert (whole.points, whole.requests) == (whole.max_points, 4)
    assert result.card.peak_memory_bytes is not None
    assert result.card.peak_memory_bytes > 1_000_000
    assert result.card.cpu_s is not None
    assert result.card.cpu_s > 0.01
    assert result.card.crawler.endswith("{seeds}")
    assert seen[-1].sites == 1
    assert all(before.elapsed_s < after.elapsed_s for before, after in pairwise(seen))


def test_placeholders() -> None:
    fill = {
        "seeds": ["http://a/", "http://b/"],
        "seed-file": ["/s"],
        "ca-file": ["/c"],
        "proxy": ["p{dir}"],
        "dir": ["/d"],
    }
    command = ["x", "{seeds}", "--urls={seeds}", "{dir}/y", "{proxy}", "{}", "{other}", "{ca-file}{seed-file}"]
    assert list(expand(command, fill)) == [
        *("x", "http://a/", "http://b/", "--urls=http://a/ http://b/", "/d/y", "p{dir}", "{}", "{other}", "/c/s"),
    ]
    assert DrivePlan(tuple(command)).placeholders == {"seeds", "dir", "proxy", "ca-file", "seed-file"}


async def test_the_seed_file(tmp_path: Path) -> None:
    code = "import sys; print(open(sys.argv[1]).read(), end='')"
    result = await driven(tmp_path, DrivePlan(python(code, "{seed-file}")))
    assert result.tail.startswith("http://127.0.0.1:")
    assert result.tail.endswith("/\n")


async def test_visits_share_the_folder(tmp_path: Path) -> None:
    code = "import sys; open(sys.argv[1] + '/log', 'a').write('x')" + POLITE.replace("argv[1:]", "argv[2:]")
    site = ExamSite("two-visits", "x.", "x", SITE.pages, SITE.expects)
    result = await driven(tmp_path, DrivePlan(python(code, "{dir}", "{seeds}"), visits=2), site)
    assert (tmp_path / "kept" / "log").read_text() == "xx"
    assert [visit.requests for visit in result.visits] == [4, 4]
    assert card_of(result, "the-drive").requests == 8


async def test_no_second_visit_after_a_bad_end(tmp_path: Path) -> None:
    result = await driven(tmp_path, DrivePlan(python("raise SystemExit(3)"), visits=3))
    assert [(visit.status, visit.requests) for visit in result.visits] == [(3, 0)]
    assert "ended with status 3" in card_of(result, "the-drive").observed


async def test_a_crawler_that_asks_for_nothing(tmp_path: Path) -> None:
    result = await driven(tmp_path, DrivePlan(python("pass")))
    assert not result.card.passed
    assert card_of(result, "robots-404").observed.split("; ")[0] == "sent no request"
    assert card_of(result, "the-drive").observed == "sent no request"


async def test_what_the_crawler_is_not_given(tmp_path: Path) -> None:
    site = ExamSite(
        "trusting", "x.", "x", {"/": page(), "/robots.txt": robots("")}, SITE.expects, needs=frozenset({"ca-file"})
    )
    result = await driven(tmp_path, DrivePlan(python("pass")), site)
    assert "needs {ca-file}" in card_of(result, "trusting").observed


@pytest.mark.parametrize("command", ["no-such-crawler", "/", "/etc/passwd", ""])
async def test_a_command_that_cannot_be_run(tmp_path: Path, command: str) -> None:
    with pytest.raises(InputError, match="cannot run"):
        await driven(tmp_path, DrivePlan((command, "{seeds}")))


# ---- what is measured -----------------------------------------------------------------------------------------------


BUSY = """
import os, sys, time
kept, until = bytearray(80_000_000), time.process_time() + 0.3
while time.process_time() < until or not os.path.exists(sys.argv[1]):
    time.sleep(0.01 if time.process_time() >= until else 0)
"""
"""Ends when there is a file of that name."""
TWO = """
import subprocess, sys
for each in [subprocess.Popen([sys.executable, "-c", *sys.argv[1:]]) for _ in "ab"]:
    each.wait()
"""


async def measured(tmp_path: Path, code: str, least_bytes: int) -> Driven:
    """Whose busy children stay until so much memory was seen at one moment, or the drive is over."""
    file = tmp_path / "kept" / "seen"

    def watch(glance: DriveProgress) -> None:
        if glance.memory_bytes > least_bytes:
            file.touch()

    return await driven(tmp_path, DrivePlan(python(code, BUSY, "{dir}/seen"), limit_s=PATIENCE_S), watch=watch)


async def test_memory_and_time_of_children_count(tmp_path: Path) -> None:
    result = await measured(tmp_path, TWO, 160_000_000)
    assert result.card.peak_memory_bytes is not None
    assert result.card.peak_memory_bytes > 160_000_000
    assert result.card.cpu_s is not None
    assert result.card.cpu_s > 0.6


async def test_a_child_without_our_mark(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]], env={})"
    result = await measured(tmp_path, code, 80_000_000)
    assert result.card.peak_memory_bytes is not None
    assert result.card.peak_memory_bytes > 80_000_000


async def test_who_outlives_the_command_is_waited_for(tmp_path: Path) -> None:
    """The grandchild has another session, and its parent is gone before anybody looks."""
    late = f"import time; time.sleep(0.7)\n{POLITE}"
    result = await driven(tmp_path, DrivePlan(python(DAEMON, late, "{seeds}")))
    assert result.visits[0].status == 0
    assert result.card.passed, [site.observed for site in result.card.sites]


def test_one_that_ends_while_it_is_looked_at_was_there() -> None:
    """It may have left a child that was not there yet when the processes were listed."""
    children: list[subprocess.Popen[bytes]] = []

    class Slow(ProcessTree):
        def _find(self) -> None:
            super()._find()
            for child in children:
                child.kill()
                child.wait()

    tree = Slow()
    code = "import time; print(flush=True); time.sleep(600)"
    environment = {**os.environ, **tree.environment}
    with subprocess.Popen(python(code), env=environment, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()  # before, its environment may not be readable yet
        children.append(child)
        tree.sample()
    assert tree.found
    tree.sample()
    assert not tree.found


# ---- how it is stopped ----------------------------------------------------------------------------------------------


@contextmanager
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is none of the crawler's."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        yield process
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def time_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is asked to end is given more time for it than even a busy machine takes."""
    monkeypatch.setattr(processes, "TERM_WAIT_S", float(PATIENCE_S))


@pytest.mark.usefixtures("time_to_end")
async def test_it_never_ends(tmp_path: Path) -> None:
    with bystander():
        result = await stopped_once_under_way(tmp_path, *python(SLEEPER, "{dir}/pid"))
    assert (result.visits[0].stopped, result.visits[0].status) == (True, -15)
    assert "still running" in card_of(result, "the-drive").observed
    assert await gone(await written(tmp_path / "kept" / "pid"))


async def test_a_daemon_never_ends(tmp_path: Path) -> None:
    with bystander():
        result = await stopped_once_under_way(tmp_path, *python(DAEMON, SLEEPER, "{dir}/pid"))
    assert result.visits[0].stopped
    assert await gone(await written(tmp_path / "kept" / "pid"))


@pytest.mark.usefixtures("time_to_end")
async def test_cancelled_twice_it_does_not_wait(tmp_path: Path) -> None:
    """The first asks the crawler to end, which it does not heed; the second ends it."""
    task = asyncio.create_task(driven(tmp_path, DrivePlan(python(STUBBORN, "{dir}/pid"))))
    pid = await written(tmp_path / "kept" / "pid")
    task.cancel()
    await asyncio.sleep(0.3)
    assert psutil.pid_exists(pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(pid)


async def test_a_crash(tmp_path: Path) -> None:
    result = await driven(tmp_path, DrivePlan(python("import os; os.abort()")))
    assert "ended by signal 6" in card_of(result, "the-drive").observed


# ---- what it prints -------------------------------------------------------------------------------------------------


async def test_a_flood_of_output(tmp_path: Path) -> None:
    code = "import os\nfor _ in range(400): os.write(1, b'x' * 65536)\nos.write(2, b'last words')"
    log = tmp_path / "log"
    result = await driven(tmp_path, DrivePlan(python(code), log=log))
    assert len(result.tail) == TAIL_BYTES
    assert result.tail.endswith("xlast words")
    assert log.stat().st_size == 400 * 65536 + 10


async def test_it_has_no_input_and_no_terminal(tmp_path: Path) -> None:
    code = "import os, sys; print(repr(sys.stdin.read()), os.getsid(0) == os.getpid(), sys.stdout.isatty())"
    assert (await driven(tmp_path, DrivePlan(python(code)))).tail == "'' True False\n"


def test_a_log_ends_somewhere(tmp_path: Path) -> None:
    output = Output(tmp_path / "log", limit_bytes=10)
    for _ in range(5):
        output.add(b"123456\xff")
    output.close()
    assert (tmp_path / "log").read_bytes() == b"123456\xff123\n[the rest is not kept]\n"
    assert output.tail == "123456�" * 5


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
async def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot write /dev/full: No space left"):
        await driven(tmp_path, DrivePlan(python("print('x')"), log=Path("/dev/full")))
    with pytest.raises(InputError, match="cannot write"):
        await driven(tmp_path, DrivePlan(python("print('x')"), log=tmp_path))
