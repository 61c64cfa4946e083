"""The address of a place: what is accepted, and that its password is never shown."""

import pytest

from goodbot.errors import InputError, RunError
from goodbot.places.fsspec_place import FsspecPlace
from goodbot.places.place_address import check_place_address, passwords_of, shown_address

SHOWN = {
    "s3://bucket/folder": "s3://bucket/folder",
    "s3://bucket/a@b:c": "s3://bucket/a@b:c",
    "file:///srv/a b": "file:///srv/a b",
    "ftp://me@host/dir": "ftp://me@host/dir",
    "ftp://me:secret@host:21/dir": "ftp://me@host:21/dir",
    "ftp://me:se:cr@et@host/dir": "ftp://me@host/dir",
    "sftp://me:secret@[::1]:22/dir": "sftp://me@[::1]:22/dir",
    "simplecache::ftp://me:secret@host/dir": "simplecache::ftp://me@host/dir",
}


@pytest.mark.parametrize(("address", "expected"), SHOWN.items())
def test_no_password_is_shown(address: str, expected: str) -> None:
    check_place_address(address)
    assert shown_address(address) == expected
    assert passwords_of(expected) == []


@pytest.mark.parametrize("address", ["", "bucket/folder", "s3:/bucket", "ftp://me:se/cret@host/dir", "s3://b\nsecret"])
def test_an_address_that_cannot_be_used(address: str) -> None:
    with pytest.raises(InputError) as caught:
        check_place_address(address)
    assert "cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_errors_of_a_place_show_no_password() -> None:
    place = FsspecPlace("ftp://me:sesame@127.0.0.1:9/dir")
    with pytest.raises(RunError) as caught:
        place.read("file", 0, 1)
    assert place.name == "ftp://me@127.0.0.1:9/dir"
    assert "sesame" not in str(caught.value)
    with pytest.raises(InputError) as refused:
        FsspecPlace("nonsense://me:sesame@host/dir")
    assert "sesame" not in str(refused.value)
