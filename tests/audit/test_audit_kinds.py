"""Each kind of finding: its example has it, and the similar site has not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from audit.example_server import audited, crawled, routes_of
from goodbot.audit.example_audit import SITE, example_finding
from goodbot.audit.explanation import explain_audit
from goodbot.audit.kind import AuditKind, SitePage
from goodbot.audit.kinds import KINDS, known_audit_codes
from goodbot.check.checker import KINDS as CHECK_KINDS
from goodbot.check.sarif import source_url
from goodbot.errors import InputError
from webserver import WebServer

MEASURED = re.compile(r"took [0-9.]+ s|[0-9] tries")
"""What a message says that is not the same each time, or with each setting."""


async def findings_of(pages: tuple[SitePage, ...], folder: Path) -> list[dict[str, Any]]:
    """The findings of a real crawl, as if the server were `SITE`."""
    async with WebServer() as server:
        site = server.url("").rstrip("/")
        server.routes.update(routes_of(pages, site))
        crawl = await crawled(server, folder)
    found = json.dumps(await audited(crawl))
    return list(json.loads(found.replace(site, SITE)))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_the_example_has_it_and_the_near_miss_has_not(kind: AuditKind, tmp_path: Path) -> None:
    similar = await findings_of(kind.near_miss, tmp_path / "near_miss")
    assert kind.code not in {each["code"] for each in similar}
    found = await findings_of(kind.example, tmp_path / "example")
    first = next(each for each in found if each["code"] == kind.code)
    explained, placed = explain_audit(kind.code), example_finding(kind)
    assert MEASURED.sub("", explained.text) == MEASURED.sub("", first["message"])
    assert (explained.example_severity, explained.affected) == (first["severity"], first["affected"])
    assert explained.fix == first["fix"]
    assert (placed.url, placed.line, placed.column) == (first["url"], first["line"], first["column"])


def test_codes_are_of_one_command_only() -> None:
    assert not KINDS.keys() & CHECK_KINDS.keys()
    assert all(re.fullmatch(r"A\d{3}", code) for code in KINDS)
    assert list(KINDS) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_each_kind_is_explained(kind: AuditKind) -> None:
    found = explain_audit(kind.code.lower())
    assert found.code == kind.code
    assert "{" not in found.text + found.affected + str(found.fix)
    assert not found.text.endswith(".")
    assert found.example.text
    assert found.not_reported.text
    assert source_url(kind.source) or kind.source.startswith(("WHATWG", "WCAG"))


def test_codes_to_ignore() -> None:
    assert known_audit_codes(["a1", " A206 "], "--ignore") == ("A1", "A206")
    for code in ("", "R203", "A9", "x"):
        with pytest.raises(InputError, match=r"--ignore: no code of the audit begins with [^(]*; goodbot explain"):
            known_audit_codes([code], "--ignore")
    with pytest.raises(InputError, match=r"give --ignore once for each code"):
        known_audit_codes(["A1,A4"], "--ignore")
    with pytest.raises(InputError, match="the audit has no code"):
        explain_audit("R203")
