"""What settings cannot be, whoever makes them: the command, a file or a program."""

import pytest

from goodbot.config import Settings
from goodbot.errors import InputError

# settings → the error
WRONG: list[tuple[dict[str, object], str]] = [
    ({"scope": "bogus"}, "scope must be one of page, prefix, host, domain, all: 'bogus'"),
    ({"follow_rel": "nofollow"}, "follow-rel must be one of both, ugc, sponsored, none: 'nofollow'"),
    ({"signature_agent_form": "May"}, "signature-agent-form must be one of october, august, string: 'May'"),
    ({"depth": -1}, "depth must be at least 0 and below 1e+12: -1"),
    ({"delay": "1"}, "delay must be a number: '1'"),
    ({"concurrency": None}, "concurrency must be a number: None"),
    ({"revisit_least": 100, "revisit_most": 10}, "revisit-least must not be more than revisit-most: 100 and 10"),
    ({"revisit_most": 3600}, "revisit-least must not be more than revisit-most: 14400 and 3600"),
]


@pytest.mark.parametrize(("given", "wrong"), WRONG)
def test_what_settings_cannot_be(given: dict[str, object], wrong: str) -> None:
    with pytest.raises(InputError) as raised:
        Settings(**given)  # type: ignore[arg-type]
    assert str(raised.value) == wrong


def test_what_settings_can_be() -> None:
    assert Settings(depth=None, delay=0, revisit_least=10, revisit_most=10, scope="all").scope == "all"
