"""Reads the reason of a failure from what Spark says: a Java stack trace, a Python one inside it, a log."""

import re
from typing import Final

MEMORY: Final = (
    "in $SPARK_CONF_DIR/spark-defaults.conf, raise spark.executor.memory or spark.executor.memoryOverhead; with a "
    "local master, spark.driver.memory"
)

_OUT_OF_MEMORY: Final = re.compile(
    r"OutOfMemoryError|MemoryError\b|exit(?:ed with)? (?:code|status):? (?:52|137|143)\b|Container killed|OOMKilled"
)
_CRASHED: Final = "Python worker exited unexpectedly"
_TOO_LARGE: Final = re.compile(r"Total size of serialized results of .*? is bigger than spark\.driver\.maxResultSize.*")
_ENDED: Final = re.compile(
    r"SparkContext was shut down|Answer from Java side is empty|sending or receiving|connecting to"
)
_TRACEBACK: Final = "Traceback (most recent call last):\n"
_OWN: Final = re.compile(r"goodbot\.errors\.\w+: ")
_CLASS: Final = re.compile(r"(?:[\w$]+\.)+([\w$]*(?:Exception|Error)): ")
_LAST_FAILURE: Final = re.compile(r".*most recent failure: (?:Lost task [^:]*?\([^:]*\): )?", re.DOTALL)
_LOGGED_ERROR: Final = re.compile(r"^\S+ \S+ ERROR \S+: (.*)|^(?:Error: |Exception in thread \S+ )(.*)", re.MULTILINE)


def reason_of(text: str, log: str = "") -> str:
    """Returns one line that says why something failed. `text`: what the exception says; `log`: what Spark wrote."""
    if _OUT_OF_MEMORY.search(text):
        return f"an executor ran out of memory: {MEMORY}"
    if _CRASHED in text:
        return f"a Python process of an executor crashed or was killed, often for lack of memory: {MEMORY}"
    if found := _TOO_LARGE.search(text):
        return _one_line(found[0])
    if _TRACEBACK in text:
        return _last_line(text)
    if _ENDED.search(text):
        if _OUT_OF_MEMORY.search(log):
            return f"Spark ran out of memory: {MEMORY}"
        return f"the Java process of Spark has ended{logged_error(log)}"
    return _of_java(text) or f"Spark gave no reason{logged_error(log)}"


def own_message(text: str) -> str | None:
    """Returns the message of an error that goodbot itself has raised in a task; None for other errors."""
    last = _last_line(text) if _TRACEBACK in text else ""
    return _OWN.sub("", last, count=1) if _OWN.match(last) else None


def has_ended(text: str) -> bool:
    """Whether an exception says that the Java process has ended."""
    return _ENDED.search(text) is not None


def logged_error(log: str) -> str:
    """Returns the first error in a log, as the end of a sentence; empty if there is none."""
    found = _LOGGED_ERROR.search(log)
    return f": {_one_line(_CLASS.sub('', found[1] or found[2], count=1))}" if found else ""


def _last_line(text: str) -> str:
    """Returns the exception after the last traceback."""
    lines = text.rpartition(_TRACEBACK)[2].splitlines()
    return next((line for line in lines if line and not line[0].isspace()), "it has no message")


def _of_java(text: str) -> str:
    """Returns the message of the first exception of a stack trace, and that of its first cause."""
    messages = re.split(r"\nCaused by: ", text)
    first, cause = _message(messages[0]), _message(messages[-1])
    return first if cause in first else f"{first.rstrip('.')}: {cause}"


def _message(text: str) -> str:
    """Returns the message of one exception, without its stack trace."""
    message = re.split(r"\n\s+at |\nDriver stacktrace:", text, maxsplit=1)[0]
    message = message.partition("\n: ")[2] or message  # py4j says before it which method was called
    return _one_line(_CLASS.sub("", _LAST_FAILURE.sub("", message), count=1))


def _one_line(text: str) -> str:
    return " ".join(text.split())
