"""Starts and ends Spark: the requirements, the settings, and one clear line for each error."""

import logging
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import IO, TYPE_CHECKING, Any, Final

from goodbot.cluster.spark.failure_text import has_ended, logged_error, own_message, reason_of
from goodbot.errors import InputError, RunError
from goodbot.interrupts import whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA: Final = 17

INSTALL: Final = "pip install '.[spark]'"

ATTEMPTS: Final = 2
"""How often a start is tried: now and then one fails on a busy machine."""

CONNECT_S: Final = 10.0
LOOK_S: Final = 0.05
STOP_S: Final = 30.0
"""Seconds after which Spark is killed if it does not stop."""
EARLY_STOP_S: Final = 3.0
"""The same, if it has not started yet."""

QUICK_START: Final = "-XX:TieredStopAtLevel=1"
"""Options of Java on one machine; those of the user come after them. Without the second compiler, a cycle of 20 URLs
took 32 s instead of 42, and 40 s of CPU time instead of 57; one of 4,000 pages took the same time."""

LOG_BYTES: Final = 256 * 1024
"""Bytes at the end of Spark's log in which the reason of an error is looked for."""

_LOCAL: Final = re.compile(r"local(\[([1-9]\d*|\*)(,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")
_STANDALONE: Final = re.compile(r"spark://[^\s/,:\[\]]+:\d{1,5}(,[^\s/,:\[\]]+:\d{1,5})*")

_log: Final = logging.getLogger(__name__)


@contextmanager
def spark_session(master: str, app_name: str, *, conf: Mapping[str, str] | None = None) -> "Iterator[SparkSession]":
    """Starts Spark in a Java process of its own, and ends both with the block, also if it is interrupted.

    What Spark itself writes to standard output and standard error is kept away from those of this process. Executors
    run the interpreter of this process, unless PYSPARK_PYTHON names another one. `conf`: more settings of Spark.
    Only one session can be open in a process.

    Raises InputError if `master` is no master, or if Java or a library is missing or has a version that Spark cannot
    use, RunError if the master cannot be reached or Spark cannot start.
    """
    check_master(master)
    check_requirements()
    _check_reached(master)
    running = _Running(master, {**settings_of(master, app_name), **(conf or {})})
    with _without_log_of_py4j(), whole(lambda: _ended(running)):
        yield running.start()


@contextmanager
def _without_log_of_py4j() -> Iterator[None]:
    """Keeps back the tracebacks that py4j logs, partly with the root logger, for calls that Ctrl-C has interrupted:
    what matters is raised, too."""

    def is_other(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    root, own = logging.getLogger(), logging.getLogger("py4j")
    level = own.level
    root.addFilter(is_other)
    own.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        root.removeFilter(is_other)
        own.setLevel(level)


@contextmanager
def _ended(running: "_Running") -> Iterator[None]:
    try:
        yield
    finally:
        running.end()


# ---- the requirements -----------------------------------------------------------------------------------------------


def check_master(master: str) -> None:
    """Raises InputError for a text that is no master."""
    is_other = master == "yarn" or re.fullmatch(r"k8s://\S+", master) is not None
    if not (is_other or _LOCAL.fullmatch(master) or _STANDALONE.fullmatch(master)):
        raise InputError(f"the Spark master must be local[*], spark://HOST:7077, yarn or k8s://…, not {master!r}")


def check_requirements() -> None:
    """Raises InputError if Java or a Python library is missing, or has a version that Spark cannot use."""
    if _version_of("pyspark", "Spark") < (4, 1):
        raise InputError(
            f"pyspark {version('pyspark')} is installed, and goodbot needs 4.1 or newer, below 5: {INSTALL}"
        )
    if not (2, 2) <= _version_of("pandas", "Spark") < (3, 0):
        raise InputError(
            f"pandas {version('pandas')} is installed, and Spark needs pandas 2.2 or newer, but not 3: "
            "pip install 'pandas>=2.2,<3'"
        )
    _version_of("pyarrow", "Spark")
    _check_java()


def _version_of(library: str, user: str) -> tuple[int, int]:
    try:
        found = re.match(r"(\d+)\.(\d+)", version(library))
    except PackageNotFoundError as error:
        raise InputError(f"{user} needs {library}: {INSTALL}") from error
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _check_java() -> None:
    wanted = f"Spark needs Java {LEAST_JAVA} or newer"
    advice = f"install it (apt install openjdk-{LEAST_JAVA}-jre-headless) or set JAVA_HOME"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")
    if java is None:
        where = f", and {home} (JAVA_HOME) has no bin/java" if home else ""
        raise InputError(f"{wanted}{where}: {advice}")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, check=False, timeout=60).stderr  # noqa: S603  (found on the PATH)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{wanted}, and {java} does not run ({error}): {advice}") from error
    found = re.search(rb'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < LEAST_JAVA:
        is_what = f"is Java {int(found[1])}" if found else "does not say its version"
        raise InputError(f"{wanted}, and {java} {is_what}: {advice}")


def _check_reached(master: str) -> None:
    """Raises RunError if no process answers at the address of a standalone master: Spark would try for a minute."""
    if not master.startswith("spark://"):
        return
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECT_S).close()
        except (OSError, OverflowError) as error:
            reasons.append(f"{address}: {getattr(error, 'strerror', None) or error}")
        else:
            return
    raise RunError(f"cannot reach the Spark master: {'; '.join(reasons)}")


# ---- the settings ---------------------------------------------------------------------------------------------------


def settings_of(master: str, app_name: str) -> dict[str, str]:
    """Returns the settings of a session."""
    settings = {
        "spark.master": master,
        "spark.app.name": app_name,
        "spark.log.level": "ERROR",
        "spark.pyspark.python": _python(),
        "spark.speculation": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if _is_local(master):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.driver.defaultJavaOptions": QUICK_START,
        }
    if path := os.environ.get("PYTHONPATH"):
        settings["spark.executorEnv.PYTHONPATH"] = _absolute(path)
    return settings


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _python() -> str:
    return os.environ.get("PYSPARK_PYTHON") or sys.executable


def _absolute(path: str) -> str:
    return os.pathsep.join(os.path.abspath(folder) for folder in path.split(os.pathsep) if folder)


def _environment(master: str) -> dict[str, str]:
    """Returns the variables that Spark reads while it starts."""
    local = {"SPARK_LOCAL_IP": "127.0.0.1"} if _is_local(master) else {}
    return {"PYSPARK_PYTHON": _python(), **local}


@contextmanager
def _variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """Sets variables of the environment meanwhile."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# ---- start and end --------------------------------------------------------------------------------------------------


class _Running:
    """The Java process and what runs in it, from the first attempt to start it."""

    def __init__(self, master: str, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = _environment(master)
        self._paths = [*sys.path]
        self._process: subprocess.Popen[bytes] | None = None
        self._gateway: Any = None
        self._session: SparkSession | None = None
        self._log: IO[bytes] | None = None

    def start(self) -> "SparkSession":
        """Starts Spark; a second time if its process dies in the first attempt. Raises RunError."""
        from pyspark import SparkContext  # noqa: PLC0415  (only here is Spark loaded)

        if SparkContext._active_spark_context is not None:
            raise RunError("Spark is running in this process already, and can run only once")
        for attempt in range(ATTEMPTS):
            try:
                self._session = self._started()
            except _DiedError as error:
                self.end()
                if attempt == ATTEMPTS - 1:
                    raise RunError(str(error)) from error
                _log.warning("%s; starting it again", error)
            else:
                break
        assert self._session is not None  # noqa: S101  (the loop has started it, or raised)
        _logs.append(self._log)
        return self._session

    def _started(self) -> "SparkSession":
        from py4j.protocol import Py4JError  # noqa: PLC0415  (only here is Spark loaded)
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415

        self._log = tempfile.TemporaryFile(prefix="goodbot-spark-")  # noqa: SIM115  (`end` closes it)
        before = signal.getsignal(signal.SIGINT)
        try:
            with _variables(self._environment):
                self._gateway = self._launched(self._log)
                conf = SparkConf(loadDefaults=False)
                conf.setAll([*self._settings.items()])
                context = SparkContext(conf=conf, gateway=self._gateway)
                context._accumulatorServer.handle_error = _say_nothing  # type: ignore[method-assign, assignment]
                return SparkSession(context)
        except (PySparkException, Py4JError, OSError) as error:
            log = _tail(self._log)
            said = f"Spark cannot start: {reason_of(_text(error), log)}"
            raise (_DiedError if has_ended(_text(error)) else RunError)(said) from error
        finally:
            if current_thread() is main_thread():  # Spark has set a handler of its own
                signal.signal(signal.SIGINT, before)

    def _launched(self, log: IO[bytes]) -> Any:
        """Starts the Java process, and connects to it. A Ctrl-C on the terminal does not reach that process."""
        from pyspark.java_gateway import launch_gateway  # noqa: PLC0415  (only here is Spark loaded)

        with tempfile.TemporaryDirectory(prefix="goodbot-spark-") as folder:
            file = Path(folder, "connection")
            self._process = subprocess.Popen(  # noqa: S603  (the program of pyspark)
                _spark_submit(self._settings),
                stdin=subprocess.PIPE,  # the process ends when this is closed
                stdout=log,
                stderr=log,
                env={**os.environ, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(file)},
                process_group=0,
            )
            while not file.exists():
                if self._process.poll() is not None:
                    raise _DiedError(f"Spark cannot start: its Java process ended{logged_error(_tail(log))}")
                time.sleep(LOOK_S)
            port, secret = _connection(file.read_bytes())
        with _variables({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
            return launch_gateway()  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Stops Spark and its Java process, whatever has been started."""
        from pyspark import SparkContext  # noqa: PLC0415  (only here is Spark loaded)

        context = SparkContext._active_spark_context
        if self._gateway is not None and context is not None:
            # In a thread of its own, which has a connection of its own: an interrupted call may have left the
            # connection of this thread with an answer that nobody has read.
            stopping = Thread(target=_stop, args=(self._session or context,), daemon=True)
            stopping.start()
            stopping.join(STOP_S)
        if self._process is not None:
            _end_process(self._process, STOP_S if self._session else EARLY_STOP_S)
        if self._gateway is not None:
            self._gateway.close()
            _forget()
        sys.path[:] = [path for path in sys.path if path in self._paths]
        if self._log is not None:
            if self._log in _logs:
                _logs.remove(self._log)
            self._log.close()
        self._process = self._gateway = self._session = self._log = None


class _DiedError(RunError):
    """The Java process died while Spark started."""


def _say_nothing(request: object, client: object) -> None:
    """Takes the place of what prints a traceback if the Java process ends while a connection from it is open."""


def _spark_submit(settings: Mapping[str, str]) -> list[str]:
    from pyspark.find_spark_home import _find_spark_home  # noqa: PLC0415  (only here is Spark loaded)

    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    more = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    return [str(Path(_find_spark_home(), "bin", "spark-submit")), *options, *more]


def _connection(content: bytes) -> tuple[int, str]:
    """Returns the port and the secret that the Java process has written."""
    port, size = struct.unpack_from(">ii", content)
    return port, content[8 : 8 + size].decode()


_logs: list[IO[bytes] | None] = []
"""The log of the session that is open."""


def _stop(session: Any) -> None:
    from py4j.protocol import Py4JError  # noqa: PLC0415  (only here is Spark loaded)

    with suppress(Py4JError, OSError):
        session.stop()


def _end_process(process: subprocess.Popen[bytes], patience_s: float) -> None:
    assert process.stdin is not None  # noqa: S101  (it is a pipe)
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _forget() -> None:
    """Makes pyspark start a new Java process next time."""
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _tail(log: IO[bytes] | None) -> str:
    """Returns the end of what Spark wrote."""
    if log is None:
        return ""
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), LOG_BYTES, max(size - LOG_BYTES, 0)).decode("utf-8", "replace")


# ---- errors ---------------------------------------------------------------------------------------------------------


def task_error(error: Exception) -> RunError:
    """Returns the error of a job that failed (`Py4JError`, `PySparkException`, `ConnectionError`) as one clear line.

    An error that goodbot has raised in a task keeps its message; others begin with "Spark failed"."""
    text = "SparkContext was shut down" if isinstance(error, ConnectionError) else _text(error)
    return RunError(own_message(text) or f"Spark failed: {reason_of(text, _tail(_logs[-1] if _logs else None))}")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Raises RunError, see `task_error`, if a job fails in the block."""
    from py4j.protocol import Py4JError  # noqa: PLC0415  (only here is Spark loaded)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise task_error(error) from error


def _text(error: Exception) -> str:
    from py4j.protocol import Py4JError  # noqa: PLC0415  (only here is Spark loaded)

    try:
        return str(error)
    except (Py4JError, OSError):  # the Java process, which is asked for the stack trace, has ended
        return "SparkContext was shut down"
