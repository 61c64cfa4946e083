"""The command line: one module per command, loaded when it is called."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    from goodbot.cli.commands import main as run  # noqa: PLC0415  (`completing` answers without it)

    return run(arguments)


__all__ = ["main"]
