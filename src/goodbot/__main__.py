"""Runs the command `goodbot`; also `python -m goodbot`."""

from goodbot.interrupts import leave_at_once


def run() -> int:
    """Runs the command in `sys.argv` and returns its exit status. Ctrl-C at any moment prints one line and exits with
    status 130."""
    leave_at_once()
    from goodbot.cli import main  # noqa: PLC0415  (takes 0.1 s, in which Ctrl-C would print a traceback)

    status = main()
    leave_at_once()
    return status


if __name__ == "__main__":
    raise SystemExit(run())
