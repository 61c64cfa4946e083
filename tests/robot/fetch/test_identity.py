"""Tests User-Agent and From."""

import pytest

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.fetch.identity import identity_of

CASES = [
    ("goodbot", None, "goodbot", "Mozilla/5.0 (compatible; goodbot/9.9)", None),
    ("MyBot/1.0", "me@example.org", "MyBot", "Mozilla/5.0 (compatible; MyBot/1.0; me@example.org)", "me@example.org"),
    ("MyBot", "mailto:me@example.org", "MyBot", "Mozilla/5.0 (compatible; MyBot; me@example.org)", "me@example.org"),
    ("MJ12bot", "https://e.org/b", "MJ12bot", "Mozilla/5.0 (compatible; MJ12bot; https://e.org/b)", None),
]


@pytest.mark.parametrize(("agent", "contact", "token", "user_agent", "from_"), CASES)
def test_identity(agent: str, contact: str | None, token: str, user_agent: str, from_: str | None) -> None:
    identity = identity_of(Settings(agent=agent, contact=contact), "9.9")
    assert (identity.token, identity.user_agent, identity.from_) == (token, user_agent, from_)


@pytest.mark.parametrize(
    ("agent", "contact"),
    [
        *((agent, None) for agent in ("", "My Bot", "Bot\r\nX: y", "b/1/2", "бот")),
        *(("b", contact) for contact in ("nobody", "a@b\r\nX: y", "javascript:x", "https://e.org/) evil (")),
    ],
)
def test_what_cannot_be_sent(agent: str, contact: str | None) -> None:
    with pytest.raises(InputError):
        identity_of(Settings(agent=agent, contact=contact), "1")
