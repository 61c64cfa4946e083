"""Runs the command `goodbot`; also `python -m goodbot`."""

import os
import sys


def run() -> int:
    """Runs the command in `sys.argv` and returns its exit status. Ctrl-C at any moment prints one line and exits with
    status 130."""
    from goodbot.interrupts import leave_at_once  # noqa: PLC0415  (see below: not from the working folder)

    leave_at_once()
    if "_GOODBOT_COMPLETE" in os.environ:
        from goodbot.cli.completing import complete  # noqa: PLC0415  (at every Tab: only what it needs)
        from goodbot.cli.completion_scripts import VARIABLE  # noqa: PLC0415  (as above)

        return complete(os.environ[VARIABLE])
    from goodbot.cli import main  # noqa: PLC0415  (takes 0.1 s, in which Ctrl-C would print a traceback)

    status = main()
    leave_at_once()
    return status


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # `-m` puts the working folder there, whose url.py would replace the library of that name
    raise SystemExit(run())
