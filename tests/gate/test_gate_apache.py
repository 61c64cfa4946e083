"""The gate in front of a real Apache, with the configuration of docs/how-to/gate-apache.md."""

import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Final

import pytest

from gate.gate_servers import RunningGate
from goodbot.gate.apache_map import FIELDS, AskedGate
from goodbot.url import parse_url
from programs import ROOT, blocks_of
from watch.formats.log_servers import MODULES, TIMEOUT_S, free_port, program, running

PAGE: Final = (ROOT / "docs" / "how-to" / "gate-apache.md").read_text()
LINES, CLOSED_LINES = blocks_of(PAGE, "apache")

ROBOTS_TXT: Final = """
User-agent: *
Disallow: /private/

User-agent: bingbot
Disallow: /private/
Crawl-delay: 600
"""
POLICY: Final = 'contact = "webmaster@example.org"\nreverse_dns = false\n'
GOOGLEBOT: Final = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
BINGBOT: Final = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
FIREFOX: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
FROM_GOOGLE, FROM_BING, FROM_ANYWHERE = "66.249.66.1", "157.55.39.1", "203.0.113.9"

_CONFIG: Final = """
ServerRoot "{folder}"
PidFile "{folder}/apache.pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/error.log"
ServerName example.org
Listen 127.0.0.1:{port}
{modules}
TypesConfig /dev/null
User www-data
Group www-data
StartServers 1
ServerLimit 1
ThreadsPerChild 8
MaxRequestWorkers 8
RemoteIPHeader X-Test-Client
RemoteIPInternalProxy 127.0.0.1
LimitRequestLine 70000
LimitRequestFieldSize 70000
DocumentRoot "{documents}"
<Directory "{documents}">
  Require all granted
</Directory>
<Location "/closed">
  Require all denied
</Location>
{lines}
"""
_MODULES: Final = (
    "mpm_event",
    "authz_core",
    "rewrite",
    "headers",
    "remoteip",
    "mime",
    "dir",
)


@dataclass(frozen=True)
class Answered:
    status: int
    fields: HTTPMessage
    page: str


@dataclass(frozen=True)
class Site:
    """A site behind the gate."""

    folder: Path
    port: int
    gate: RunningGate

    def ask(self, path: str, agent: str, address: str = FROM_ANYWHERE, method: str = "GET", **fields: str) -> Answered:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            named = {name.replace("_", "-"): value for name, value in fields.items()}
            connection.putrequest(method, path)
            for name, value in {"User-Agent": agent, "X-Test-Client": address, **named}.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return Answered(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Runs the gate."""
        self.gate.start()
        try:
            yield
        finally:
            self.gate.end()


@contextmanager
def apache(folder: Path, more: str = "", options: str = "") -> Iterator[Site]:
    """Runs Apache with the lines of the page; the program is the one under test, and asks a gate at a free port."""
    site = Site(folder, free_port(), RunningGate(folder, POLICY, ROBOTS_TXT))
    asking = (
        f"{sys.executable} -m goodbot gate rewrite-map --gate http://127.0.0.1:{site.gate.port}/ --timeout 60 {options}"
    )
    lines = re.sub(r'"prg:[^"]*" nobody:nogroup', f'"prg:{asking}"', LINES) + more
    assert asking in lines
    with tempfile.TemporaryDirectory() as documents:  # pytest closes its folders to other users, such as Apache's
        _write_site(Path(documents))
        modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in _MODULES)
        config = {"folder": folder, "port": site.port, "modules": modules, "lines": lines, "documents": documents}
        (folder / "apache.conf").write_text(_CONFIG.format(**config))
        command = [program("apache2", "apache2-bin"), "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]
        with running(command, site.port, folder):
            yield site


def _write_site(documents: Path) -> None:
    documents.chmod(0o755)
    for name in ("open", "private"):
        (documents / name).mkdir()
        (documents / name / "index.html").write_text(f"the {name} page")
    (documents / "feed.xml").write_text("<feed/>")
    (documents / "robots.txt").write_text(ROBOTS_TXT)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with apache(tmp_path) as site, site.asked():
        yield site


def test_robots_are_refused_by_rule_identity_and_pace(site: Site) -> None:
    assert site.ask("/open/", GOOGLEBOT, FROM_GOOGLE).page == "the open page"
    refused = site.ask("/private/", GOOGLEBOT, FROM_GOOGLE)
    assert refused.status == 403
    assert "line 3: Disallow: /private/" in refused.fields["X-Goodbot-Why"]
    assert "line 3: Disallow: /private/" in refused.page
    assert "webmaster@example.org" in refused.page
    impostor = site.ask("/open/", GOOGLEBOT)
    assert impostor.status == 403
    assert "none of its published addresses" in impostor.page
    assert site.ask("/open/", BINGBOT, FROM_BING).status == 200
    hurried = site.ask("/open/", BINGBOT, FROM_BING)
    assert hurried.status == 429
    assert 0 < int(hurried.fields["Retry-After"]) <= 600
    assert "600 s" in hurried.page


def test_browsers_feed_readers_and_the_server_itself_are_as_without_a_gate(site: Site) -> None:
    for path in ("/open/", "/private/"):
        answer = site.ask(path, FIREFOX)
        assert answer.status == 200
        assert "X-Goodbot-Why" not in answer.fields
        assert "Retry-After" not in answer.fields
    assert (
        site.ask("/feed.xml", "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)").status == 200
    )
    assert site.ask("/missing", FIREFOX).status == 404
    assert site.ask("/closed", FIREFOX).status == 403
    assert site.ask("/open", FIREFOX).status == 301
    assert site.ask("/robots.txt", GOOGLEBOT).status == 200


def test_no_spelling_and_no_field_of_the_client_is_a_way_around(site: Site) -> None:
    for path in ("/open/../private/", "//private/", "/%70rivate/", "/private/?x=/open/", "/open/%2e%2e/private/"):
        assert site.ask(path, GOOGLEBOT, FROM_GOOGLE).status == 403, path
    spoofed = {
        "X_Original_URI": "/open/",
        "X_Forwarded_Uri": "/open/",
        "X_Forwarded_For": FROM_GOOGLE,
        "X_Real_IP": FROM_GOOGLE,
        "X_Forwarded_Host": "other.example",
        "X_Goodbot_Server": "nginx",
    }
    assert site.ask("/private/", "TestBot/1.0", **spoofed).status == 403
    assert site.ask("/open/", GOOGLEBOT, **spoofed).status == 403
    assert site.ask("/private/", "TestBot/1.0 403 ${x} %{y} \\1 | $1").status == 403
    assert site.ask("/private/" + "a" * 60_000, "TestBot/1.0").status == 403


def test_each_request_is_asked_about_once_with_all_its_fields(site: Site) -> None:
    signed = {"Signature_Input": 'sig1=("@authority" "signature-agent");tag="web-bot-auth"', "Signature": "sig1=:AA==:"}
    site.ask(
        "/open/?q=a%20b&r=%25", "TestBot/1.0 (a; b)", method="HEAD", **signed, Signature_Agent='"https://a.example"'
    )
    site.ask("/missing", FIREFOX)  # Apache makes a page about the error
    site.ask("/private/", "TestBot/1.0")
    site.gate.decisions("/private/", 1)
    first, second, third = (site.folder / "gate.log").read_text().splitlines()
    assert '"method":"HEAD","uri":"/open/?q=a%20b&r=%25","status":200,"user_agent":"TestBot/1.0 (a; b)"' in first
    assert r'"signature_input":"sig1=(\"@authority\" \"signature-agent\");tag=\"web-bot-auth\""' in first
    assert r'"signature":"sig1=:AA==:","signature_agent":"\"https://a.example\""' in first
    assert f'"client_ip":"{FROM_ANYWHERE}"' in first
    assert '"uri":"/missing"' in second
    assert '"uri":"/private/"' in third


def test_while_the_gate_is_away_requests_pass_and_then_are_judged_again(tmp_path: Path) -> None:
    with apache(tmp_path) as site:
        assert site.ask("/private/", "TestBot/1.0").status == 200
        with site.asked():
            assert site.ask("/private/", "TestBot/1.0").status == 403
        assert site.ask("/private/", "TestBot/1.0").status == 200
        with site.asked():
            assert site.ask("/private/", "TestBot/1.0").status == 403
    assert (tmp_path / "error.log").read_text().count("the gate cannot be asked, so the answer is 200") == 2


def test_a_site_can_be_closed_while_the_gate_is_away(tmp_path: Path) -> None:
    with apache(tmp_path, CLOSED_LINES, "--fail-closed") as site:
        assert site.ask("/open/", FIREFOX).status == 503
        with site.asked():
            assert site.ask("/open/", FIREFOX).status == 200
            assert site.ask("/private/", "TestBot/1.0").status == 403
        assert site.ask("/open/", FIREFOX).status == 503


def test_a_gate_that_hangs_is_not_asked_again_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = parse_url(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        assert url is not None
        gate = AskedGate(url, timeout_s=0.05)
        assert [gate.value("203.0.113.9 a    GET / HTTP/1.1 x") for _ in range(20)] == ["200"] * 20
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):  # it was asked once
            silent.accept()
        gate.close()


def test_a_request_without_header_fields_is_refused(site: Site) -> None:
    with socket.create_connection(("127.0.0.1", site.port), TIMEOUT_S) as client:
        client.sendall(b"GET /private/\r\n")
        assert b"the private page" not in client.makefile("rb").read()


def test_the_page_has_the_key_that_the_program_reads() -> None:
    assert ":" + r"\ ".join(FIELDS) + "}]" in LINES


def test_what_is_no_key_is_let_through_and_the_url_of_the_gate_is_checked(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "goodbot", "gate", "rewrite-map"]
    asked = subprocess.run(
        [*command, "--gate", f"http://127.0.0.1:{free_port()}/"],
        input=b"a b\n\n\xff\n",
        capture_output=True,
        check=True,
    )
    assert asked.stdout == b"200\n200\n200\n"
    assert b"lacks fields" in asked.stderr
    refused = subprocess.run([*command, "--gate", "https://x/"], input=b"", capture_output=True, check=False)
    assert refused.returncode == 2
    assert b"--gate must be an http URL" in refused.stderr
