"""Each kind of finding: its example has it, and the similar site has not."""

import re
from pathlib import Path

import pytest

from audit.example_server import audited, crawled, routes_of
from goodbot.audit.explanation import explain_audit
from goodbot.audit.kind import AuditKind, SitePage
from goodbot.audit.kinds import KINDS, known_audit_codes
from goodbot.check.checker import KINDS as CHECK_KINDS
from goodbot.check.sarif import source_url
from goodbot.errors import InputError
from webserver import WebServer

WITHOUT_EXAMPLE = {"A501", "A502"}
"""A slow and a heavy page cannot be shown in a few lines."""


async def codes_of(pages: tuple[SitePage, ...], folder: Path) -> set[str]:
    async with WebServer() as server:
        server.routes.update(routes_of(pages, server.url("").rstrip("/")))
        crawl = await crawled(server, folder)
    return {finding["code"] for finding in await audited(crawl)}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_the_example_has_it_and_the_near_miss_has_not(kind: AuditKind, tmp_path: Path) -> None:
    if kind.code not in WITHOUT_EXAMPLE:
        assert kind.code in await codes_of(kind.example, tmp_path / "example")
    assert kind.code not in await codes_of(kind.near_miss, tmp_path / "near_miss")


def test_codes_are_of_one_command_only() -> None:
    assert not KINDS.keys() & CHECK_KINDS.keys()
    assert all(re.fullmatch(r"A\d{3}", code) for code in KINDS)
    assert list(KINDS) == sorted(KINDS)
    assert {kind.code for kind in KINDS.values() if not kind.example} == WITHOUT_EXAMPLE


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_each_kind_is_explained(kind: AuditKind) -> None:
    found = explain_audit(kind.code.lower())
    assert found.code == kind.code
    assert "{" not in found.text + found.affects + str(found.fix)
    assert not found.text.endswith(".")
    assert bool(found.example.text) == bool(kind.example)
    assert found.not_reported.text
    assert source_url(kind.source) or kind.source.startswith(("WHATWG", "WCAG"))


def test_codes_to_ignore() -> None:
    assert known_audit_codes(["a1", " A206 "], "--ignore") == ("A1", "A206")
    for code in ("", "R203", "A9", "x"):
        with pytest.raises(InputError, match="the audit has no code"):
            known_audit_codes([code], "--ignore")
    with pytest.raises(InputError, match="the audit has no code"):
        explain_audit("R203")
