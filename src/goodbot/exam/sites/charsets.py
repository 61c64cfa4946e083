"""Pages written in one charset and labelled by header or META: their links say whether they were read in the right one.

A link's path is asked for in UTF-8 and percent-encoded, whatever the charset of its page (WHATWG URL 4.4). Beside it
each page has a link in plain ASCII, which is found in any charset.
"""

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import Finds


@dataclass(frozen=True, slots=True)
class Written:
    """A page: its name, a word that stands in a link's path, the charset of its bytes, and what is said about it."""

    name: str
    word: str
    charset: str
    header: str | None = None
    meta: str = ""
    bom: bool = False

    @property
    def path(self) -> str:
        return f"/{self.name}"

    @property
    def plain(self) -> str:
        """The target in ASCII."""
        return f"/{self.name}/plain"

    @property
    def target(self) -> str:
        """The one that can only be had by reading the page in its charset."""
        return quote(f"/{self.name}/{self.word}")

    @property
    def reply(self) -> Reply:
        text = (
            f"<!doctype html><html><head>{self.meta}<title>{self.word}</title></head><body>"
            f'<p><a href="{self.plain}">plain</a> <p><a href="/{self.name}/{self.word}">{self.word}</a>'
        )
        kind = "text/html" + (f"; charset={self.header}" if self.header else "")
        body = (BOM_UTF8 if self.bom else b"") + text.encode(self.charset)
        return Reply(body, headers=(("Content-Type", kind),))


def charset_site(name: str, teaches: str, source: str, written: Sequence[Written]) -> ExamSite:
    """A start page with links to these pages, and what they link to."""
    found = {target: page(title="Found") for each in written for target in (each.plain, each.target)}
    return ExamSite(
        name=name,
        teaches=teaches,
        source=source,
        pages={
            "/": page(*(each.path for each in written)),
            **{each.path: each.reply for each in written},
            **found,
        },
        expects=(
            Finds(("/", *(target for each in written for target in (each.path, each.plain)))),
            Finds(tuple(each.target for each in written)),
        ),
    )


def http_equiv(charset: str) -> str:
    """The older form of META."""
    return f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
