"""What `goodbot fetch` prints: one document for each page, and one line for each that could not be read."""

import json
from typing import Literal

from goodbot.human import human_time
from goodbot.robot.client.reading import Reading

Form = Literal["markdown", "text", "html", "json"]


def document_of(reading: Reading, form: Form, *, is_one_of_several: bool) -> str:
    """Returns a page in a format, ending with a line break."""
    if form == "markdown":
        return f"{front_matter(reading)}\n{reading.markdown}\n"
    head = ""
    if is_one_of_several:
        head = f"<!-- {reading.final_url} -->\n" if form == "html" else f"==> {reading.final_url} <==\n"
    return f"{head}{reading.html if form == 'html' else reading.text}\n"


def front_matter(reading: Reading) -> str:
    """Returns the facts about a page as YAML front matter. Each value is a JSON string, which YAML reads too (YAML 1.2
    §1.3)."""
    known = {
        "url": reading.final_url,
        "title": reading.title,
        "author": reading.author,
        "date": reading.date,
        "lang": reading.lang,
    }
    rows = [f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in known.items() if value]
    return f"---\n{''.join(rows)}---\n"


def trouble_line(reading: Reading) -> str | None:
    """Returns the line that says why a page was not read; None if it was."""
    verdict = reading.verdict
    if reading.is_disallowed:
        why = f"robots.txt disallows it for {verdict.agent}: {verdict.reason}"
    elif reading.held_until is not None:
        why = f"its host may not be requested before {human_time(reading.held_until)}"
    elif verdict.access == "unreachable" and not reading.allowed and reading.failure is None:
        why = verdict.reason
    else:
        return None if reading.trouble is None else f"cannot read {_named(reading)}: {reading.trouble}"
    return f"not fetched: {_named(reading)}: {why}"


def _named(reading: Reading) -> str:
    if reading.url == reading.final_url:
        return reading.url
    return f"{reading.final_url} (to which {reading.url} redirects)"
