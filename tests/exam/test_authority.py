"""The authority of the exam: three certificates, and no key left lying about."""

import asyncio
import ssl
import stat
from pathlib import Path

import pytest

from exam.scripted import examine, until
from goodbot.errors import RunError
from goodbot.exam.authority import Authority
from goodbot.exam.exam_values import MAIN, ExamSite
from goodbot.exam.rules import RULES
from goodbot.exam.site_server import ExamWeb
from goodbot.exam.sites import chosen_sites
from goodbot.testing import FakeClock

KINDS = ("valid", "expired", "wrong-name")


async def _shake_hands(context: ssl.SSLContext, file: Path, name: str | None) -> str:
    """Empty, or why the client leaves."""

    async def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(nothing, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    trust = ssl.create_default_context(cafile=file)
    async with server:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname=name)
        except ssl.SSLCertVerificationError as error:
            return error.verify_message
        writer.close()
        return ""


@pytest.mark.parametrize(
    ("kind", "name", "refusal"),
    [
        ("valid", "127.0.0.1", ""),
        ("valid", "::1", ""),
        ("valid", "tls-valid.exam.test", ""),
        ("valid", "example.org", "not valid for"),
        ("expired", "127.0.0.1", "expired"),
        ("expired", "tls-expired.exam.test", "expired"),
        ("wrong-name", "127.0.0.1", "not valid for"),
        ("wrong-name", "tls-wrong-name.exam.test", "not valid for"),
    ],
)
async def test_certificates_say_what_they_are_to_say(tmp_path: Path, kind: str, name: str, refusal: str) -> None:
    authority = Authority.create(tmp_path)
    said = await _shake_hands(authority.contexts()[kind], authority.file, name)
    assert (refusal in said) if refusal else (said == "")


async def test_another_authority_of_the_exam_is_a_stranger(tmp_path: Path) -> None:
    ours, theirs = Authority.create(tmp_path / "ours"), Authority.create(tmp_path / "theirs")
    assert "local issuer" in await _shake_hands(theirs.contexts()["valid"], ours.file, "127.0.0.1")


def test_no_key_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    authority = Authority.create(folder)
    assert sorted(authority.contexts()) == sorted(KINDS)
    assert list(folder.iterdir()) == [authority.file]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "PRIVATE" not in authority.file.read_text()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"cannot write certificates into .*file: "):
        Authority.create(tmp_path / "file")


# ---- the sites that speak TLS ----------------------------------------------------------------------------------------


@pytest.fixture(params=["tls-valid", "tls-expired", "tls-wrong-name"])
def tls_site(request: pytest.FixtureRequest) -> ExamSite:
    return chosen_sites([request.param])[0]


async def test_a_handshake_that_failed_is_a_visit_where_nothing_is_to_be_asked(
    tls_site: ExamSite, tmp_path: Path
) -> None:
    authority = Authority.create(tmp_path)
    async with ExamWeb([tls_site], FakeClock(), contexts=authority.contexts()) as web:
        port = int(web.origin(tls_site).rpartition(":")[2])
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection("127.0.0.1", port, ssl=ssl.create_default_context())
        seen = web.seen(tls_site)
    assert (seen.requests, seen.connections) == ((), {MAIN: 1})


async def test_whoever_says_no_word_of_tls_is_heard_out(tls_site: ExamSite, tmp_path: Path) -> None:
    authority = Authority.create(tmp_path)
    async with ExamWeb([tls_site], FakeClock(), contexts=authority.contexts()) as web:
        port = int(web.origin(tls_site).rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        silent, other = await asyncio.open_connection("127.0.0.1", port)  # still in the handshake when the web stops
        await until(lambda: web.seen(tls_site).connections == {MAIN: 2})
    assert await silent.read() == b""
    other.close()
    assert web.requests[tls_site.name] == []


async def test_who_never_comes_gets_nothing(tls_site: ExamSite) -> None:
    card = await examine(tls_site, [])
    assert (card.passed, card.points) == (False, 0)
    assert card.max_points >= RULES["secure"].points


def test_without_the_file_the_valid_one_is_left_out(tmp_path: Path) -> None:
    sites = chosen_sites(["tls-valid", "tls-expired", "tls-wrong-name"])
    contexts = Authority.create(tmp_path).contexts()
    web = ExamWeb(sites, FakeClock(), contexts=contexts, absent=frozenset({"ca-file"}))
    assert list(web.skipped) == ["tls-valid"]
    assert "{ca-file}" in web.skipped["tls-valid"]
