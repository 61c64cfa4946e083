"""docs/findings.md and docs/audit-findings.md agree with the records."""

from programs import ROOT, load

DOCS = ROOT / "docs"


def test_the_pages_agree_with_the_records() -> None:
    """`make docs` writes the pages."""
    made = load("docs/make_findings.py")
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == made.page()
    assert (DOCS / "audit-findings.md").read_text(encoding="utf-8") == made.audit_page()
