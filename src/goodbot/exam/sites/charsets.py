"""Builds sites whose pages are in one charset, labelled by header or META. The links that a crawler follows show
whether it decoded the pages correctly.

A crawler requests a link's path in UTF-8, percent-encoded, whatever the charset of the page (WHATWG URL 4.4). Each page
also has an ASCII link, which can be found in any charset.
"""

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import Fetches


@dataclass(frozen=True, slots=True)
class CharsetPage:
    """A page: its name, a word in a link's path, the charset of its bytes, and those that header and META name."""

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
    def ascii_target(self) -> str:
        """The link that can be found in any charset."""
        return f"/{self.name}/plain"

    @property
    def target(self) -> str:
        """The link that can be found only by decoding the page correctly."""
        return quote(f"/{self.name}/{self.word}")

    @property
    def reply(self) -> Reply:
        text = (
            f"<!doctype html><html><head>{self.meta}<title>{self.word}</title></head><body>"
            f'<p><a href="{self.ascii_target}">plain</a> <p><a href="/{self.name}/{self.word}">{self.word}</a>'
        )
        kind = "text/html" + (f"; charset={self.header}" if self.header else "")
        body = (BOM_UTF8 if self.bom else b"") + text.encode(self.charset)
        return Reply(body, headers=(("Content-Type", kind),))


def charset_site(name: str, teaches: str, source: str, charset_pages: Sequence[CharsetPage]) -> ExamSite:
    """Builds a site with a start page that links to these pages, and the pages they link to."""
    found = {target: page(title="Found") for each in charset_pages for target in (each.ascii_target, each.target)}
    return ExamSite(
        name=name,
        teaches=teaches,
        source=source,
        pages={
            "/": page(*(each.path for each in charset_pages)),
            **{each.path: each.reply for each in charset_pages},
            **found,
        },
        expects=(
            Fetches(("/", *(target for each in charset_pages for target in (each.path, each.ascii_target)))),
            Fetches(tuple(each.target for each in charset_pages)),
        ),
    )


def http_equiv(charset: str) -> str:
    """Returns the older form of META charset."""
    return f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
