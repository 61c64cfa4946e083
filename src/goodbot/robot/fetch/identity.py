"""Builds the robot's identity: User-Agent in the form of RFC 9309 §2.2.1, and From (RFC 9110 §10.1.2)."""

import re
from dataclasses import dataclass

from goodbot.config import Settings
from goodbot.errors import InputError

_AGENT = re.compile(r"([A-Za-z0-9_-]{1,64})(?:/([A-Za-z0-9._-]{1,32}))?")
_MAILBOX = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9.-]{1,253}")
_PAGE = re.compile(r"https?://[\x21-\x27\x2a-\x7e]{1,500}")


@dataclass(frozen=True, slots=True)
class Identity:
    """How the robot identifies itself: `token` is looked up in robots.txt; `user_agent` and `from_` are sent."""

    token: str
    user_agent: str
    from_: str | None


def identity_of(settings: Settings, own_version: str) -> Identity:
    """Returns the identity for these settings. Raises InputError for an agent or a contact that cannot be sent."""
    match = _AGENT.fullmatch(settings.agent)
    if match is None:
        raise InputError(
            f"--agent must be a product token such as MyBot or MyBot/1.0 (letters, digits, _ and -): {settings.agent!r}"
        )
    token, version = match[1], match[2]
    if version is None and token == "goodbot":
        version = own_version
    contact, mailbox = _contact(settings.contact)
    parts = ["compatible", f"{token}/{version}" if version else token]
    if contact:
        parts.append(contact)
    return Identity(token, f"Mozilla/5.0 ({'; '.join(parts)})", mailbox)


def _contact(contact: str | None) -> tuple[str | None, str | None]:
    """Returns what User-Agent contains, and the mailbox for From."""
    if contact is None:
        return None, None
    mailbox = contact.removeprefix("mailto:")
    if _MAILBOX.fullmatch(mailbox):
        return mailbox, mailbox
    if _PAGE.fullmatch(contact):
        return contact, None
    raise InputError(f"--contact must be a mail address or an http(s) URL: {contact!r}")
