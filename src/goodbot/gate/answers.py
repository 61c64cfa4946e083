"""Writes what the gate answers: a status, the decision in header fields, and a page for whoever was refused."""

import re
from html import escape
from http import HTTPStatus
from typing import Final, NamedTuple

from goodbot.gate.decision import Decision
from goodbot.gate.gate_request import GateRequest
from goodbot.gate.policy import Policy

MOST_FIELD_CHARS: Final = 300

_NOT_PRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class Answer(NamedTuple):
    """An answer of the gate."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: str = ""
    media_type: str = "text/html; charset=utf-8"


def answer_to(request: GateRequest, decision: Decision, policy: Policy) -> Answer:
    """Returns the answer. In mode `observe` its status is always 200. For a server that understands only 403 (see
    `GateRequest.status_in_field`), every refusal is a 403, and X-Goodbot-Status has the status that is meant."""
    observes = policy.mode == "observe"
    status = 200 if observes else decision.status
    fields = [
        ("X-Goodbot-Decision", decision.code),
        ("X-Goodbot-Identity", decision.client.identity),
        ("X-Goodbot-Status", str(status)),
    ]
    if decision.client.name:
        fields.append(("X-Goodbot-Robot", _field(decision.client.name)))
    if decision.rule:
        fields.append(("X-Goodbot-Rule", _field(decision.rule)))
    if decision.code == "allowed":
        return Answer(200, tuple(fields))
    if observes:
        return Answer(200, (*fields, ("X-Goodbot-Mode", "observe")))
    if decision.retry_after_s:
        fields.append(("Retry-After", str(decision.retry_after_s)))
    fields += [("X-Goodbot-Why", _field(in_one_line(decision, policy))), ("Cache-Control", "no-store")]
    return Answer(403 if request.status_in_field else status, tuple(fields), refusal_page(decision, policy))


def in_one_line(decision: Decision, policy: Policy) -> str:
    """Returns why a request was refused, the rule, and whom to ask, in one line of text."""
    rule = f" ({decision.rule})" if decision.rule else ""
    contact = f" Questions: {policy.contact}" if policy.contact else ""
    return f"{_sentence(decision.why)[:-1]}{rule}.{contact}"


def refusal_page(decision: Decision, policy: Policy) -> str:
    """Returns a page that says why a request was refused, by which rule, and whom to ask."""
    title = f"{decision.status} {HTTPStatus(decision.status).phrase}"
    lines = [f"<p>{escape(_sentence(decision.why))}</p>"]
    if decision.rule:
        lines.append(
            f'<p>The rule is in <a href="/robots.txt">robots.txt</a>, <code>{escape(decision.rule)}</code>.</p>'
        )
    if decision.retry_after_s:
        lines.append(f"<p>Try again after {decision.retry_after_s:,} s.</p>")
    lines.append(f"<p>{_whom_to_ask(policy.contact)}</p>")
    body = "\n".join(lines)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="robots" content="noindex">\n'
        f"<title>{title}</title>\n<h1>{title}</h1>\n{body}\n</html>\n"
    )


def _whom_to_ask(contact: str) -> str:
    if not contact:
        return "If you think that this is a mistake, ask the operator of this site."
    address = contact if re.match(r"(?:https?:|mailto:)", contact, re.IGNORECASE) else f"mailto:{contact}"
    shown = contact.removeprefix("mailto:")
    is_link = "@" in contact or contact.lower().startswith(("https:", "http:"))
    text = f'<a href="{escape(address)}">{escape(shown)}</a>' if is_link else escape(shown)
    return f"If you think that this is a mistake, ask {text}."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _field(text: str) -> str:
    """Returns a text as the value of a header field: ASCII without control characters, not too long."""
    return _NOT_PRINTABLE.sub("?", text)[:MOST_FIELD_CHARS]
