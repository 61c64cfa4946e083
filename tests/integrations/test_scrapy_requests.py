"""Requests of Scrapy as bytes: what is read is what was written, and bytes of strangers do no harm."""

import pickle
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest, Response

from goodbot.integrations.scrapy.request_coding import RequestCoder, UnreadableRequestError, UnstorableError
from goodbot.integrations.scrapy.settings import is_private_folder

URL = "http://example.org/"


class Shop(Spider):
    name = "shop"

    def parse_page(self, response: Response) -> None:
        pass

    def failed(self, failure: object) -> None:
        pass


@dataclass
class Item:
    price: Decimal


class HashableItem(frozenset[int]):
    pass


HEADERS: dict[Any, Any] = {"A": ["1", "2"], b"B": b"\xff"}
META: dict[Any, Any] = {
    "depth": 3,
    "n": None,
    "f": 1.5,
    "t": (1, ("2", b"3")),
    "big": 10**30,
    5: [True],
    (1, 2): {"s"},
}
SPIDER = Shop()
PRIVATE, SHARED = RequestCoder(SPIDER, private=True), RequestCoder(SPIDER, private=False)


def values(request: Request) -> dict[str, Any]:
    return {**request.to_dict(spider=SPIDER)}


@pytest.mark.parametrize(
    "request_",
    [
        Request(URL),
        Request(
            "http://example.org/ä?q=1#x",
            SPIDER.parse_page,
            "PUT",
            HEADERS,
            b"\x00\xff",
            {"c": "d"},
            META,
            "latin-1",
            -7,
            True,
            SPIDER.failed,
            ["flag"],
            {
                "at": datetime.fromisoformat("2026-01-02T03:04:05.000006"),
                "on": date(2026, 1, 2),
                "for": timedelta(-1, 2, 3),
            },
        ),
        Request(URL, cookies=[{"name": "a", "value": "b", "secure": True}], meta={"price": Decimal("1.10")}),
        Request(URL, meta={"frozen": frozenset({(1, "a")}), "nested": {"a": [{"b": ({"c"},)}]}}),
        FormRequest(URL, formdata={"a": "b"}, callback=SPIDER.parse_page),
        JsonRequest(URL, data={"a": [1]}, dumps_kwargs={"sort_keys": True}),
    ],
)
def test_plain_values_come_back_without_pickle(request_: Request) -> None:
    data = SHARED.encode(request_)
    assert data[:1] == b"m"
    decoded = SHARED.decode(data)
    assert type(decoded) is type(request_)
    assert values(decoded) == values(request_)
    assert repr(values(decoded)) == repr(values(request_)) or "set" in repr(values(request_))  # types as well


@pytest.mark.parametrize(
    "meta",
    [
        {"item": Item(Decimal(1))},
        {"ordered": OrderedDict(a=1)},
        {"at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"hashable": HashableItem({1})},
        {"surrogate": "\ud800"},
        {"deep": None},
    ],
)
def test_other_values_are_pickled_if_nobody_else_can_write(meta: dict[str, Any]) -> None:
    if "deep" in meta:
        for _ in range(200):
            meta = {"deep": meta}
    request = Request(URL, meta=meta)
    data = PRIVATE.encode(request)
    assert data[:1] == b"p"
    assert values(PRIVATE.decode(data)) == values(request)
    with pytest.raises(UnstorableError, match="other users can write to the folder"):
        SHARED.encode(request)
    with pytest.raises(UnreadableRequestError, match="other users can write to the folder"):
        SHARED.decode(data)


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (Request(URL, print), "is not a method of the spider"),
        (Request(URL, errback=partial(SPIDER.failed)), "is not a method of the spider"),
        (Request(URL, meta={"numbers": (number for number in range(1))}), "cannot pickle"),
    ],
)
def test_requests_that_cannot_be_stored(request_: Request, why: str) -> None:
    with pytest.raises(UnstorableError, match=why):
        PRIVATE.encode(request_)


def test_a_method_of_another_spider_of_the_class_is_found_by_name() -> None:
    assert PRIVATE.decode(PRIVATE.encode(Request(URL, Shop().parse_page))).callback == SPIDER.parse_page


def plain(**changed: object) -> bytes:
    return b"m" + msgspec.msgpack.encode({"url": URL, **changed})


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"m", b"p", b"x", b"m\xc1", plain()[:-1], b"m" + msgspec.msgpack.encode([1])),
        *(b"m" + b"\x91" * 100_000, plain(meta=msgspec.msgpack.Ext(99, b"\xc0"))),
        *(plain(callback="renamed"), plain(_class="os.system"), plain(_class="no.such.Class"), plain(url="relative")),
        *(plain(priority="high"), plain(headers=5), b"p" + pickle.dumps([1]), b"pcos\nsystem\n(S'true'\ntR."),
        plain(meta=msgspec.msgpack.Ext(2, msgspec.msgpack.encode([[1]]))),
    ],
)
def test_bytes_that_are_no_request(data: bytes) -> None:
    with pytest.raises(UnreadableRequestError):
        SHARED.decode(data)
    if data[:1] != b"p":
        with pytest.raises(UnreadableRequestError):
            PRIVATE.decode(data)


@given(st.binary(max_size=500))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    for start in (b"", b"m"):
        try:
            SHARED.decode(start + data)
        except UnreadableRequestError:
            continue


scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(), st.dates()),
    *(st.datetimes(), st.timedeltas(), st.decimals(allow_nan=False)),
)
nested = st.recursive(
    scalars,
    lambda inner: st.one_of(
        *(st.lists(inner), st.tuples(inner, inner), st.dictionaries(scalars, inner), st.sets(scalars)),
        st.frozensets(scalars),
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), nested))
def test_every_plain_value_comes_back(meta: dict[str, Any]) -> None:
    decoded = SHARED.decode(SHARED.encode(Request(URL, meta=meta, cb_kwargs=meta)))
    assert (decoded.meta, decoded.cb_kwargs) == (meta, meta)


def test_which_folders_are_private(tmp_path: Path) -> None:
    file = tmp_path / "requests.sqlite"
    file.touch(0o600)
    tmp_path.chmod(0o700)
    assert is_private_folder(file)
    for path, mode in ((tmp_path, 0o770), (tmp_path, 0o702), (file, 0o620), (file, 0o602)):
        path.chmod(mode)
        assert not is_private_folder(file)
        tmp_path.chmod(0o755)
        file.chmod(0o644)
        assert is_private_folder(file)
