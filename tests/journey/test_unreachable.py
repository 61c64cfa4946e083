"""What a user is told of a site that cannot be reached: which of all that may be wrong."""

from pathlib import Path

import pytest

from journey.goodbot_process import HASTY, Ended, goodbot
from webserver import Authority, WebServer, answer, kept_port


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


async def failed(url: str, folder: Path, *options: str | Path) -> str:
    """Why, as the crawl says at its end and `why` afterwards."""
    hasty = folder.with_suffix(".toml")
    hasty.write_text(HASTY)
    given = ("--into", folder, "--allow-private", "--workers", "1", "--config", hasty, *options)
    crawl: Ended = await goodbot("crawl", url, *given)
    assert crawl.status == 3, crawl.err
    assert "Traceback" not in crawl.err
    told = crawl.err.splitlines()[-1]
    why = await goodbot("why", url, "--in", folder)
    assert told.partition("so nothing may be fetched: ")[2] in why.out
    return told


@pytest.mark.parametrize(
    ("name", "known", "expired", "said"),
    [
        ("other.test", True, False, "the certificate is for another host (127.0.0.1)"),
        ("127.0.0.1", False, False, "the certificate is from an unknown authority (127.0.0.1)"),
        ("127.0.0.1", True, True, "the certificate has expired (127.0.0.1)"),
    ],
    ids=["another name", "unknown authority", "expired"],
)
async def test_certificates(
    authority: Authority, folder: Path, name: str, known: bool, expired: bool, said: str
) -> None:
    options = ("--ca-file", authority.file) if known else ()
    async with WebServer(fallback=answer(), tls=authority.server_context(name, expired=expired)) as server:
        assert f"robots.txt is unreachable, so nothing may be fetched: {said}" in await failed(
            server.url("/"), folder, *options
        )


@pytest.mark.parametrize(
    ("port", "options", "said"),
    [
        ("{port}", [], ": connection refused (127.0.0.1:{port})"),
        ("0", [], ": connection refused (127.0.0.1:0)"),
        ("80", ["--proxy", "http://127.0.0.1:{port}"], ": connection refused (127.0.0.1:80 over proxy 127.0.0.1)"),
    ],
    ids=["refused", "port 0", "dead proxy"],
)
async def test_connections(folder: Path, port: str, options: list[str], said: str) -> None:
    with kept_port() as kept:
        given = [option.format(port=kept) for option in options]
        told = await failed(f"http://127.0.0.1:{port.format(port=kept)}/", folder, *given)
    assert said.format(port=kept) in told
