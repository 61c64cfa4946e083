"""`goodbot key`: makes and shows keys: the one that signs a robot's requests, and the one for announcements."""

from pathlib import Path

import click

from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.file_types import NamedPath
from goodbot.cli.key_indexnow import indexnow
from goodbot.cli.printing import say_folded, write_json
from goodbot.errors import InputError
from goodbot.robot.fetch.signing import DIRECTORY_TYPE, WELL_KNOWN
from goodbot.robot.fetch.signing_key import SigningKey, create_key, load_key

DEFAULT_FILE = "goodbot-key.jwk"


@click.group(
    name="key",
    cls=CommandGroup,
    examples="""
    goodbot key new
    goodbot key show goodbot-key.jwk
    goodbot key indexnow
    """,
)
def command() -> None:
    """Make or show keys: the one that signs the requests of a robot (Web Bot Auth), so that sites can tell it from
    robots that only use its name, and the one that proves that an announcement comes from your site (IndexNow)."""


@command.command(
    name="new",
    short_help="Make a key and keep it in a file",
    output=False,
    examples="goodbot key new -o goodbot-key.jwk",
)
@click.option(
    "-o",
    "--output",
    "file",
    default=DEFAULT_FILE,
    show_default=True,
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="The file of the key; an existing file is never overwritten.",
)
@click.option("--out", "old_file", type=NamedPath(path_type=Path), hidden=True)
def new(file: Path, old_file: Path | None, as_json: bool) -> None:
    """Make a key (Ed25519) and keep it in FILE, a JWK that only you can read.

    With --json: the file, the id of the key and the public key; never the private key.

    Exit status: 0: done; 2: FILE exists already; 3: FILE cannot be written.
    """
    file = old_file or file
    if str(file) == "-":
        raise InputError("a key is kept in a file, not printed: give a FILE")
    key = create_key(file)
    if as_json:
        write_json({"done": True, "file": str(file), "key_id": key.key_id, "keys": [key.public_jwk()]})
        return
    say_folded(f"new key in {file}: keep it secret, and keep a copy")
    _print_use(key, file)


@command.command(
    name="show",
    short_help="Show the id of a key and how to serve it",
    examples="""
    goodbot key show
    goodbot key show goodbot-key.jwk --json -o http-message-signatures-directory
    """,
)
@click.argument("file", default=DEFAULT_FILE, type=NamedPath(path_type=Path))
def show(file: Path, as_json: bool) -> None:
    """Show the id of the key in FILE and how to serve it; never the private key. FILE is a JWK or a PEM file (default:
    goodbot-key.jwk). With --json: the public key as a JWK Set, which is what you serve.

    Exit status: 0: done; 2: FILE cannot be read, or is not a key.
    """
    key = load_key(file)
    if as_json:
        write_json({"keys": [key.public_jwk()]})
    else:
        _print_use(key, file)


def _print_use(key: SigningKey, file: Path) -> None:
    """Prints the id of a key, how to sign with it and how to serve its public part."""
    rows = {
        "key id": key.key_id,
        "sign": f"goodbot crawl … --sign {file} --signature-agent https://YOUR-SITE",
        "keys": f"goodbot key show {file} --json prints what to serve",
        "at": f"https://YOUR-SITE{WELL_KNOWN}",
        "type": f"{DIRECTORY_TYPE}, without a redirect",
        "or": "goodbot serve --in DIR serves it too, if the crawl in DIR was signed",
    }
    for name, text in rows.items():
        say_folded(text, f"{name + ':':<8}", " " * 8)


command.add_command(indexnow)
