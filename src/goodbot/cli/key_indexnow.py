"""`goodbot key indexnow`: makes the key for `goodbot announce`, and checks that a site serves it."""

from pathlib import Path

import click

from goodbot.announce.key import KeyCheck, create_key_file, default_location, only_key, read_key
from goodbot.announce.key_checking import check_keys
from goodbot.announce.typed_urls import whole_url
from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.printing import say_folded, write_json
from goodbot.errors import InputError
from goodbot.interrupts import run_async
from goodbot.url import Url


@click.command(
    name="indexnow",
    cls=Command,
    short_help="Make a key for goodbot announce, or check that a site serves it",
    output=False,
    examples="""
    goodbot key indexnow
    goodbot key indexnow --check https://example.org/
    goodbot key indexnow --check https://example.org/ 0123456789abcdef.txt
    """,
)
@click.argument("url", required=False, metavar="[URL]")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--check", is_flag=True, help="Check that the site at URL serves the key.")
@click.option(
    "--into",
    "folder",
    type=NamedPath(path_type=Path),
    metavar="DIR",
    help="Folder of the new key file, such as the root folder of a site (default: the working folder).",
)
def indexnow(url: str | None, file: str | None, check: bool, folder: Path | None, as_json: bool) -> int:
    """Make a key for `goodbot announce`, in a file named after it: KEY.txt. Your site must serve this file: it shows
    that the site permits the announcements made with the key. The key need not be secret. URL and FILE are for --check.

    With --check, fetch the key file from a site, and compare it with FILE (default: the key file in the working
    folder). URL is the site, if the file is in its root folder, or the URL of the file. Redirects are not followed,
    since some services do not follow them.

    With --json: done, file and key; with --check: served, url, status and found.

    Exit status: 0: done, or the site serves the key; 1: the site does not serve the key, or does not answer; 2: bad
    input, such as a key file that exists already; 3: the file cannot be written.
    """
    if check:
        return _check(url, file, folder, as_json=as_json)
    if url is not None:
        raise InputError(f"{url} belongs to --check: goodbot key indexnow --check URL [FILE]")
    _make(folder or Path(), as_json=as_json)
    return 0


def _make(folder: Path, *, as_json: bool) -> None:
    key, file = create_key_file(folder)
    if as_json:
        write_json({"done": True, "file": str(file), "key": key})
        return
    say_folded(f"new key in {file}")
    rows = {
        "serve": f"put the file into the root folder of your site: https://YOUR-SITE/{file.name}",
        "check": f"goodbot key indexnow --check https://YOUR-SITE/ {file}",
        "use": f"goodbot announce https://YOUR-SITE/page --to indexnow --key {file}",
    }
    for name, text in rows.items():
        say_folded(text, f"{name + ':':<7}", " " * 7)


def _check(text: str | None, file: str | None, folder: Path | None, *, as_json: bool) -> int:
    if text is None:
        raise InputError("--check needs the URL of a site: goodbot key indexnow --check URL [FILE]")
    if folder is not None:
        raise InputError("--into belongs to a new key; leave it out with --check")
    url = whole_url(text)
    key = only_key(Path(), f"goodbot key indexnow --check {url}") if file is None else read_key(file)
    location = default_location(url.origin, key) if url.target == "/" else url
    if location is None:
        raise InputError(f"not a URL of a site: {text}")
    found = run_async(lambda: _fetched(location, key))
    if as_json:
        write_json({"served": found.is_right, "url": found.url.text, "status": found.status, "found": found.found})
    elif found.is_right:
        say_folded(f"{found.url} has the key")
    elif found.status is None:
        say_folded(found.problem)
    else:
        answer = "found" if found.status == 200 else "it answers with"
        say_folded(f"{found.url} does not have the key {key}: {answer} {found.found}")
    return 0 if found.is_right else 1


async def _fetched(location: Url, key: str) -> KeyCheck:
    from goodbot.one_shot import service_request, service_transport  # noqa: PLC0415  (imports the robot)

    async with service_transport([location]) as transport:
        (found,) = await check_keys([location], key, transport, service_request)
    return found
