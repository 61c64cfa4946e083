"""Reads the pages of the sample web that are written in Markdown: those of the handbook.

The same files are read on a code host, on the site of the documentation and in the sample web. So their links follow
one rule: another page of the handbook is a relative link to its file (`groups.md`, `../groups.md`), everything else is
an absolute URL. Other pages of the documentation are named, not linked, since the sample web does not have them.
"""

import html
import posixpath
import re
from collections.abc import Mapping

from pyromark import Markdown, Options

_FRONT = "---\n"
_TO_HTML = Markdown(options=Options.ENABLE_TABLES)
_TITLE = re.compile(r"<h1>.*?</h1>\n")
_HEADING = re.compile(r"<(h[23])>(.*?)</\1>")
_LINK = re.compile(r'(?<=<a href=")([^":#]+)\.md(?=["#])')


def read_markdown(text: str, path: str) -> tuple[Mapping[str, str], str]:
    """Returns the fields of the front matter (`name: value` lines), and the HTML of the text below its title.

    `path` is where the page is served. Links to files become links to the paths at which these are served, and
    headings get the ids that code hosts give them.
    """
    _, front, body = text.split(_FRONT, 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    if "translation" in fields:
        fields["translation"] = _served(path, fields["translation"].removesuffix(".md"))
    content = _TITLE.sub("", _TO_HTML.html(body), count=1)  # layouts print the title themselves
    content = _HEADING.sub(lambda found: f'<{found[1]} id="{_slug(found[2])}">{found[2]}</{found[1]}>', content)
    return fields, _LINK.sub(lambda found: _served(path, found[1]), content)


def _served(path: str, file: str) -> str:
    """Returns the path of a page, from its file's name as the page at `path` writes it, without `.md`."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    return target.removesuffix("index") if target.endswith("/index") else target


def _slug(heading: str) -> str:
    words = html.unescape(re.sub(r"<[^>]*>", "", heading)).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
