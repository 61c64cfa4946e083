"""What is said about addresses that cannot be used, and servers that do not answer: one line, without a password."""

import pytest

from goodbot.cluster.postgres.connection import connect
from goodbot.errors import GoodbotError, InputError, StoreAwayError

UNUSABLE = [
    ("postgresql://me:secret@[::1]x/c", InputError, "unexpected character"),
    ("postgresql://me:secret%zz@h/c", InputError, "invalid percent-encoded token"),
    ("postgresql://h/c?password=secret%00", InputError, "forbidden value %00"),
    ("postgresql://h/c?pasword=secret", InputError, 'invalid URI query parameter: "pasword"'),
    ("postgresql://me:secret@127.0.0.1:99x/c", InputError, "99x"),
    ("postgresql://me:secret@127.0.0.1:1/c?sslmode=x", InputError, 'invalid sslmode value: "x"'),
    ("postgresql://me:secret@127.0.0.1:1/c", StoreAwayError, "does not answer"),
]


@pytest.mark.parametrize(("address", "kind", "message"), UNUSABLE)
def test_an_address_that_cannot_be_used(address: str, kind: type[GoodbotError], message: str) -> None:
    with pytest.raises(kind) as caught:
        connect(address, "test")
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
