"""`goodbot key`: makes and shows the key that signs a robot's requests."""

from pathlib import Path

import click

from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.options import json_option
from goodbot.cli.printing import say, write_json
from goodbot.robot.fetch.signing import DIRECTORY_TYPE, WELL_KNOWN
from goodbot.robot.fetch.signing_key import SigningKey, create_key, load_key

DEFAULT_FILE = "goodbot-key.jwk"


@click.group(name="key", cls=CommandGroup)
def command() -> None:
    """Make or show the key that signs the requests of a robot (Web Bot Auth), so that sites can tell it from robots
    that only use its name.

    \b
    goodbot key new
    goodbot crawl URL --into DIR --sign goodbot-key.jwk --signature-agent https://bot.example.org
    goodbot serve --in DIR          (serves the public key)
    """


@command.command(name="new")
@click.option(
    "--out",
    "file",
    default=DEFAULT_FILE,
    show_default=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file of the key; an existing file is never overwritten.",
)
def new(file: Path) -> None:
    """Make a key (Ed25519) and keep it in FILE, a JWK that only you can read."""
    key = create_key(file)
    say(f"new key in {file}: keep it to yourself, and keep a copy")
    _tell(key, file)


@command.command(name="show")
@click.argument("file", default=DEFAULT_FILE, type=click.Path(path_type=Path))
@json_option
def show(file: Path, as_json: bool) -> None:
    """Show the id of the key in FILE and how to serve it; never the private key. FILE is a JWK or a PEM file (default:
    goodbot-key.jwk). With --json: the public key as a JWK Set, which is what you serve."""
    key = load_key(file)
    if as_json:
        write_json({"keys": [key.public_jwk()]})
    else:
        _tell(key, file)


def _tell(key: SigningKey, file: Path) -> None:
    say(f"key id: {key.key_id}")
    say(f"sign:   goodbot crawl … --sign {file} --signature-agent https://YOUR-SITE")
    say(f"serve:  goodbot key show {file} --json   at")
    say(f"        https://YOUR-SITE{WELL_KNOWN}")
    say(f"        as {DIRECTORY_TYPE}, without a redirect;")
    say("        goodbot serve --in DIR serves it as well if the crawl in DIR was signed")
