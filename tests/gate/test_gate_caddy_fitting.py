"""How the gate fits into configurations of Caddy that exist already, as docs/how-to/gate-caddy.md says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gate.gate_servers import (
    CADDY_EXCEPTION,
    FIREFOX,
    GOOGLEBOT,
    RunningGate,
    address_in,
    gated,
    running_gate,
)

GOOGLE: Final = address_in("google-common")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGate]:
    with running_gate(tmp_path_factory.mktemp("fitting") / "gate") as started:
        yield started


def test_some_paths_are_not_asked_about(gate: RunningGate, tmp_path: Path) -> None:
    def change(text: str) -> str:
        return text.replace("import goodbot_gate", CADDY_EXCEPTION).replace("/healthz", "/private/a")

    with gated("caddy", tmp_path, gate, change=change) as site:
        assert site.ask("/private/a", GOOGLEBOT, GOOGLE).text == "a private page"
        assert site.ask("/private/b", GOOGLEBOT, GOOGLE).status == 403
        assert site.ask("/page?last", GOOGLEBOT, GOOGLE).text == "a page"
        assert site.ask("/app/201", FIREFOX).status == 201
        gate.decisions("/page?last", 1)
        assert gate.decisions("/private/a", 0) == []


def test_the_url_is_the_one_that_the_client_sent(gate: RunningGate, tmp_path: Path) -> None:
    more = "try_files {path} /page\nrewrite /private/b /page\nuri strip_prefix /stripped\n"
    with gated("caddy", tmp_path, gate, more=more) as site:
        assert site.ask("/private/none", GOOGLEBOT, GOOGLE).status == 403
        assert site.ask("/private/b", GOOGLEBOT, GOOGLE).status == 403
        assert site.ask("/stripped/private/a", GOOGLEBOT, GOOGLE).text == "a private page"
        assert site.ask("/none?x=1", GOOGLEBOT, GOOGLE).text == "a page"
        assert len(gate.decisions("/none?x=1", 1)) == 1


def test_redirects_are_not_asked_about(gate: RunningGate, tmp_path: Path) -> None:
    with gated("caddy", tmp_path, gate, more="redir /private/moved /page\n") as site:
        assert site.ask("/private/moved", GOOGLEBOT, GOOGLE).status == 302


def test_another_proxy_before_caddy(gate: RunningGate, tmp_path: Path) -> None:
    def change(text: str) -> str:
        return text.replace("lb_policy first", "trusted_proxies 127.0.0.0/8\nlb_policy first")

    with gated("caddy", tmp_path, gate, change=change, trusts_test=False) as site:
        for path, source, forwarded, client in (
            ("/app/one", "127.0.0.1", GOOGLE, GOOGLE),
            ("/app/two", "127.0.0.1", f"192.0.2.1, {GOOGLE}", GOOGLE),
            ("/app/three", "127.0.0.9", GOOGLE, "127.0.0.9"),  # not among the proxies of the gate
        ):
            site.ask(path, GOOGLEBOT, source=source, fields={"X-Forwarded-For": forwarded})
            assert [line["client_ip"] for line in gate.decisions(path, 1)] == [client]
