"""`goodbot watch --keys`: the key directories by which signed requests are verified."""

from collections.abc import Sequence
from pathlib import Path

from goodbot.cli.printing import say_folded
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.files import read_bounded
from goodbot.registry import Registry
from goodbot.registry.signature_keys import MOST_BYTES, SignatureKey, parse_key_directory
from goodbot.registry.signed_request import KeyDirectory, origin_of


def load_keys(texts: Sequence[str], registry: Registry) -> tuple[KeyDirectory, ...]:
    """Loads key directories, each given as FILE or NAME=FILE. Says which belong to no robot on record. Raises
    InputError for a file that is no key directory."""
    directories = tuple(_load(text, registry) for text in texts)
    for one in directories:
        if not one.robots:
            say_folded(
                f"goodbot: --keys: no robot on record is called {shown(one.name)} or has its keys there; signatures "
                "are counted by that name. NAME=FILE names the robot, or the URL of its keys",
                err=True,
            )
    return directories


def _load(text: str, registry: Registry) -> KeyDirectory:
    name, equals, file = text.partition("=")
    if not equals or Path(text).is_file():
        name, file = Path(text).stem, text
    if not name or not file:
        raise InputError(f"--keys needs FILE or NAME=FILE, not {text!r}")
    keys = parse_key_directory(read_bounded(Path(file), MOST_BYTES))
    if keys is None:
        raise InputError(f"{file} is not a key directory (a JWK Set, JSON with keys): save what the robot serves")
    if not keys:
        raise InputError(f"{file} has no key that goodbot can use: Ed25519 or RSA")
    return _directory(name, keys, registry)


def _directory(name: str, keys: tuple[SignatureKey, ...], registry: Registry) -> KeyDirectory:
    """Finds the robots of a directory: the one of that name, and all whose keys are served at the same place. The name
    may also be that place, a URL or a host."""
    named = registry.find_named(name)
    place = origin_of(named.signatures if named and named.signatures else name)
    served_there = {
        robot.name for robot in registry.robots if robot.signatures and origin_of(robot.signatures) == place
    }
    robots = served_there | ({named.name} if named else set())
    is_known = bool(served_there) or "://" in name
    return KeyDirectory(name, place if is_known else None, frozenset(robots), {key.key_id: key for key in keys})
