"""The sites in other people's tests: a context manager, from any thread, also beside a running loop."""

import asyncio
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import psutil
import pytest

from goodbot.errors import InputError
from goodbot.exam import Exam, SiteCard, site
from goodbot.exam.sites import all_sites


def _crawl(url: str, *paths: str) -> None:
    """A crawler that blocks."""
    for path in paths:
        try:
            urllib.request.urlopen(urllib.parse.urljoin(url, path), timeout=120).read()
        except urllib.error.HTTPError as error:
            error.close()


def _is_over(exam: Exam) -> bool:
    """No thread left, nobody listening, no files."""
    port = urllib.parse.urlsplit(exam.url).port
    assert port
    ours = [each.laddr for each in psutil.Process().net_connections("tcp4") if each.status == psutil.CONN_LISTEN]
    threads = [thread.name for thread in threading.enumerate()]
    return ("127.0.0.1", port) not in ours and "goodbot-exam" not in threads and not exam.ca_file.parent.exists()


def test_a_crawler_that_passes() -> None:
    with site("robots-404") as exam:
        assert exam.urls == (exam.url,)
        assert exam.card().observed.startswith("sent no request")
        _crawl(exam.url, "/robots.txt", "/", "/a", "/b")
        card = exam.card()
        assert isinstance(card, SiteCard)
        assert (card.passed, card.points, card.requests) == (True, card.max_points, 4)
        exam.check()
    assert _is_over(exam)


def test_a_crawler_that_does_not_is_told_why() -> None:
    with site("meta-nofollow", "robots-404") as exam:
        for url in exam.urls:
            _crawl(url, "/robots.txt", "/", "/a", "/b", "/open", "/closed", "/only-from-closed")
        assert {name: card.passed for name, card in exam.cards().items()} == {
            "robots-404": True,
            "meta-nofollow": False,
        }
        with pytest.raises(AssertionError) as caught:
            exam.check()
    said = str(caught.value)
    assert said.startswith("meta-nofollow was not passed: fetched /only-from-closed\n")
    assert "\n  first offending request: GET /only-from-closed (answered 200)\n" in said
    assert "robots-404" not in said


class SomethingElseError(Exception):
    """What goes wrong in somebody's test."""


def test_a_test_that_fails_leaves_nothing() -> None:
    with pytest.raises(SomethingElseError), site("robots-404") as exam:
        raise SomethingElseError
    assert _is_over(exam)


def test_a_client_that_stays_and_does_not_read_is_not_waited_for() -> None:
    with site("robots-404") as exam, socket.socket() as idle:
        idle.connect(("127.0.0.1", urllib.parse.urlsplit(exam.url).port))
        idle.sendall(b"GET /a HTTP/1.1\r\n\r\n" * 1000)
        exam.cards()
    assert _is_over(exam)


async def test_beside_a_running_loop() -> None:
    with site("robots-404") as exam:
        reader, writer = await asyncio.open_connection("127.0.0.1", urllib.parse.urlsplit(exam.url).port)
        writer.write(b"GET /robots.txt HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert b" 404 " in await reader.readline()
        writer.close()
        await asyncio.to_thread(_crawl, exam.url, "/", "/a", "/b")
        exam.check()


def test_a_crawler_that_is_another_process() -> None:
    program = "import sys, urllib.request\nfor url in sys.argv[1:]: urllib.request.urlopen(url).close()"
    with site("robots-404") as exam:
        urls = [urllib.parse.urljoin(exam.url, path) for path in ("/", "/a", "/b")]
        subprocess.run([sys.executable, "-c", program, *urls], check=True, timeout=60)
        assert exam.card("robots-404").observed == "fetched / before robots.txt was answered"


def test_the_certificate_can_be_trusted() -> None:
    with site("tls-valid") as exam:
        trust = ssl.create_default_context(cafile=exam.ca_file)
        with urllib.request.urlopen(exam.url, context=trust, timeout=120) as answer:
            assert answer.status == 200


def test_a_second_visit() -> None:
    with site("robots-404") as exam:
        _crawl(exam.url, "/robots.txt", "/")
        exam.next_visit()
        _crawl(exam.url, "/a", "/b")
        assert exam.card().passed


def test_two_exams_at_once() -> None:
    with site("robots-404") as one, site("robots-404") as other:
        _crawl(one.url, "/robots.txt", "/", "/a", "/b")
        assert (one.card().requests, other.card().requests) == (4, 0)


def test_all_sites() -> None:
    with site() as exam:
        assert set(exam.cards()) == {each.name for each in all_sites()}
        assert all("needs" in why for why in exam.skipped.values())
        skipped = {name for name, card in exam.cards().items() if card.passed is None}
        assert skipped == set(exam.skipped)
        with pytest.raises(InputError, match="several sites are served: name one of "):
            exam.card()


def test_a_name_that_does_not_exist() -> None:
    with (
        pytest.raises(InputError, match="unknown site 'meta-nofolow': did you mean meta-nofollow"),
        site("robots-404", "meta-nofolow"),
    ):
        pytest.fail("it is not served")
    with pytest.raises(InputError, match="goodbot exam --list"), site("\x00" * 50):
        pytest.fail("it is not served")
    with site("robots-404") as exam, pytest.raises(InputError, match="name one of robots-404"):
        exam.card("meta-nofollow")


def test_a_named_site_that_needs_names() -> None:
    with (
        pytest.raises(InputError, match=r"ten-names cannot be served: it needs names: call site\(…, by_name=True\)"),
        site("ten-names"),
    ):
        pytest.fail("it is not served")
    with site("ten-names", by_name=True) as exam:
        assert exam.url == "http://ten-names.exam.test/"
    assert "goodbot-exam" not in [thread.name for thread in threading.enumerate()]


def test_after_the_block_the_last_card_stands() -> None:
    with site("robots-404") as exam:
        _crawl(exam.url, "/", "/a", "/b")
    assert exam.card().observed == "fetched / before robots.txt was answered"
    with pytest.raises(AssertionError, match="robots-404 was not passed"):
        exam.check()


TEST = """
import urllib.request

pytest_plugins = ["goodbot.exam.pytest_fixture"]

def test_a_crawler(exam_site):
    exam = exam_site("robots-404")
    for path in ("robots.txt", "", "a", "b"):
        try:
            urllib.request.urlopen(exam.url + path).close()
        except urllib.error.HTTPError as error:
            error.close()
    exam.check()

def test_by_name(exam_site):
    assert exam_site("ten-names", by_name=True).proxy
"""


@pytest.mark.long
def test_the_pytest_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert "2 passed" in ended.stdout, ended.stdout


def test_nothing_of_the_package_needs_pytest() -> None:
    program = "import sys, goodbot.exam, goodbot.cli.exam\nassert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_package_gives_the_function_whatever_was_imported_before() -> None:
    program = "import goodbot.exam.exam_values, goodbot.exam\nassert callable(goodbot.exam.site)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
