"""How the gate fits into configurations of nginx that exist already, as docs/how-to/gate-nginx.md says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gate.gate_servers import FIREFOX, GOOGLEBOT, GatedSite, RunningGate, address_in, gated, running_gate

GOOGLE: Final = address_in("google-common")

PLAIN_403: Final = "<h1>403 Forbidden</h1>"
"""In the page that nginx has for a 403."""


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGate]:
    with running_gate(tmp_path_factory.mktemp("fitting") / "gate") as started:
        yield started


def refused(site: GatedSite, path: str = "/private/a") -> str:
    """What a robot that robots.txt disallows is shown; asserts that it is refused."""
    answer = site.ask(path, GOOGLEBOT, GOOGLE)
    assert answer.status == 403
    return answer.text


def test_the_site_has_its_own_page_for_403(gate: RunningGate, tmp_path: Path) -> None:
    def change(snippet: str) -> str:
        return snippet.replace("types { }", "types { }\n    error_page 403 /403.html;")

    more = "recursive_error_pages on; error_page 404 /404.html; location /closed { deny all; }\n"
    with gated("nginx", tmp_path, gate, change=change, more=more) as site:
        for status in (403, 404):
            (tmp_path / "site" / f"{status}.html").write_text(f"our page for {status}")
        closed, missing = site.ask("/closed", FIREFOX), site.ask("/missing", FIREFOX)
        assert (closed.status, closed.text) == (403, "our page for 403")
        assert (missing.status, missing.text) == (404, "our page for 404")
        assert "closes this URL to Googlebot" in refused(site)


def test_the_site_has_no_page_for_403(gate: RunningGate, tmp_path: Path) -> None:
    more = "location /closed { deny all; }\n"
    with gated("nginx", tmp_path, gate, more=more) as site:
        closed = site.ask("/closed", FIREFOX)
        assert (closed.status, closed.fields.get_content_type()) == (403, "text/html")
        assert PLAIN_403 in closed.text
        assert "closes this URL to Googlebot" in refused(site)


def test_a_location_with_error_pages_of_its_own_repeats_the_line(gate: RunningGate, tmp_path: Path) -> None:
    more = """
    location /private/plain/ { error_page 404 /404.html; }
    location /private/repeated/ { error_page 404 /404.html; error_page 403 = @goodbot_refused; }
    """
    with gated("nginx", tmp_path, gate, more=more) as site:
        assert PLAIN_403 in refused(site, "/private/plain/a")
        assert "closes this URL to Googlebot" in refused(site, "/private/repeated/a")


@pytest.mark.parametrize("is_asked", [False, True])
def test_satisfy_any_needs_a_location_that_is_not_asked_about(
    gate: RunningGate, tmp_path: Path, *, is_asked: bool
) -> None:
    """Otherwise the gate's permission replaces the password."""
    off = "" if is_asked else "auth_request off;"
    more = f"location /shop/ {{ satisfy any; auth_basic x; auth_basic_user_file {tmp_path}/users; {off} }}\n"
    (tmp_path / "users").write_text("")
    with gated("nginx", tmp_path, gate, more=more) as site:
        assert site.ask("/shop/a", FIREFOX).status == (200 if is_asked else 401)


def test_a_password_is_needed_too(gate: RunningGate, tmp_path: Path) -> None:
    more = f"location ~ ^/(shop|private)/ {{ auth_basic x; auth_basic_user_file {tmp_path}/users; }}\n"
    (tmp_path / "users").write_text("ada:{PLAIN}secret\n")
    with gated("nginx", tmp_path, gate, more=more) as site:
        password = {"Authorization": "Basic YWRhOnNlY3JldA=="}
        assert site.ask("/shop/a", FIREFOX).status == 401
        assert site.ask("/shop/a", FIREFOX, fields=password).status == 200
        assert site.ask("/private/a", GOOGLEBOT, GOOGLE, fields=password).status == 403


def test_redirects_and_certificates_are_not_asked_about(gate: RunningGate, tmp_path: Path) -> None:
    more = "location = /private/moved { return 301 /page; }\n"
    with gated("nginx", tmp_path, gate, more=more) as site:
        challenge = tmp_path / "site" / ".well-known" / "acme-challenge" / "token"
        challenge.parent.mkdir(parents=True)
        challenge.write_text("key")
        assert site.ask("/.well-known/acme-challenge/token", GOOGLEBOT, GOOGLE).text == "key"
        assert site.ask("/private/moved", GOOGLEBOT, GOOGLE).status == 301
        site.ask("/page?last", GOOGLEBOT, GOOGLE)
        gate.decisions("/page?last", 1)
        assert [line for line in gate.lines() if line["uri"].endswith(("/token", "/moved"))] == []


def test_internal_redirects_are_one_request(gate: RunningGate, tmp_path: Path) -> None:
    """A robot that keeps its delay is not refused because nginx leads its request to another URL."""
    more = """
    location /tried/ { try_files $uri $uri/ /private/a; }
    location /rewritten/ { rewrite ^ /private/a last; }
    location /named/ { try_files $uri @named; }
    location @named { rewrite ^ /page break; }
    location /intercepted/ { error_page 403 = @goodbot_refused; error_page 502 = /page; proxy_pass http://127.0.0.1:1; }
    """
    with gated("nginx", tmp_path, gate, more=more) as site:
        for place, path in enumerate(("/", "/tried/x", "/rewritten/x", "/named/x", "/intercepted/x", "/shop/")):
            client = f"192.0.{place}.1"
            first, second = (site.ask(path, "PacedBot/1.0", client) for _ in range(2))
            assert (first.status, second.status) == (200 if path != "/shop/" else 403, 429), path
        log = (tmp_path / "error.log").read_text()
        assert "uninitialized" not in log
        assert "unexpected status" not in log


def test_the_gate_is_not_reached_through_nginx(gate: RunningGate, tmp_path: Path) -> None:
    with gated("nginx", tmp_path, gate) as site:
        assert site.ask("/.goodbot-gate", FIREFOX).status == 404
        assert site.ask("/metrics", FIREFOX).status == 404


def test_a_request_without_host(gate: RunningGate, tmp_path: Path) -> None:
    with gated("nginx", tmp_path, gate) as site:
        assert site.ask("/private/a", GOOGLEBOT, GOOGLE, fields={"Host": ""}).status in (400, 403)
