"""Encodes Scrapy requests as bytes, and decodes them.

Plain values (strings, numbers, bytes, lists, tuples, sets, dicts, times) are written as MessagePack, which can hold
nothing but values. Everything else, such as an item in `cb_kwargs`, needs pickle, which can run code when it is read:
it is used only if nobody else can write to the file."""

import pickle
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from inspect import getmembers, ismethod
from typing import Any, Final

import msgspec
from scrapy import Request, Spider
from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict

MAX_DEPTH: Final = 100
"""Lists and dicts within each other, in MessagePack; anything deeper is pickled."""

_NOT_PRIVATE: Final = "it holds objects that need pickle, and other users can write to the folder (chmod go-w FOLDER)"
_PLAIN: Final = b"m"
_PICKLED: Final = b"p"
_UNCHANGED: Final = frozenset({type(None), bool, float, str, bytes})
_MAX_INT: Final = 2**63

_COLLECTIONS: Final[dict[type, int]] = {tuple: 1, set: 2, frozenset: 3}
_AS_TEXT: Final[dict[type, tuple[int, Callable[[Any], str]]]] = {
    int: (4, str),
    datetime: (5, datetime.isoformat),
    date: (6, date.isoformat),
    Decimal: (7, str),
}
_PAIRS, _TIMEDELTA = 8, 9
_FROM_CODE: Final[dict[int, Callable[[Any], Any]]] = {
    1: tuple,
    2: set,
    3: frozenset,
    4: int,
    5: datetime.fromisoformat,
    6: date.fromisoformat,
    7: Decimal,
    8: dict,
    9: lambda parts: timedelta(*parts),
}
"""The codes of MessagePack's extensions, with what makes the value."""


class UnstorableError(ValueError):
    """A request that cannot be encoded; the message says why."""


class UnreadableRequestError(ValueError):
    """Bytes that are not a request of this spider; the message says why."""


class _NotPlainError(Exception):
    """A value needs pickle."""


class RequestCoder:
    """Encodes and decodes the requests of one spider. `private`: only this user can write to the file, so that pickle
    may be used."""

    def __init__(self, spider: Spider, *, private: bool) -> None:
        self._spider = spider
        self._private = private
        self._names: dict[Any, str] = {}

    def encode(self, request: Request) -> bytes:
        """Encodes a request whose callback and errback are methods of the spider. Raises UnstorableError."""
        values = self._values_of(request)
        try:
            return _PLAIN + msgspec.msgpack.encode(_plain(values, 0))
        except (_NotPlainError, UnicodeEncodeError, OverflowError):
            pass  # a value that MessagePack cannot hold
        if not self._private:
            raise UnstorableError(_NOT_PRIVATE)
        try:
            return _PICKLED + pickle.dumps(values, protocol=4)
        except Exception as error:  # pickle calls methods of the values, which may raise anything
            raise UnstorableError(str(error) or type(error).__name__) from error

    def decode(self, data: bytes) -> Request:
        """Decodes what `encode` returned. Raises UnreadableRequestError."""
        try:
            values = self._read(data)
            kind = load_object(values["_class"]) if "_class" in values else Request
            if not (isinstance(kind, type) and issubclass(kind, Request)):
                raise UnreadableRequestError(f"{values['_class']!r} is not a class of requests")  # noqa: TRY301
            return request_from_dict(values, spider=self._spider)
        except UnreadableRequestError:
            raise
        except Exception as error:  # damaged data, or a class or method that the spider's code no longer has
            raise UnreadableRequestError(str(error) or type(error).__name__) from error

    def _read(self, data: bytes) -> dict[str, Any]:
        form, content = data[:1], data[1:]
        if form == _PICKLED:
            if not self._private:
                raise UnreadableRequestError(_NOT_PRIVATE)
            values = pickle.loads(content)  # noqa: S301  (only this user can write to the file)
        elif form == _PLAIN:
            values = _decoded(content, 0)
        else:
            raise UnreadableRequestError(f"it begins with {form!r}")
        if not isinstance(values, dict):
            raise UnreadableRequestError(f"it is of type {type(values).__name__}")
        return values

    def _values_of(self, request: Request) -> dict[str, Any]:
        """Returns what `Request.to_dict` does. That looks at all members of the spider for each callback; here each
        method is looked up once."""
        values: dict[str, Any] = {name: getattr(request, name) for name in request.attributes}
        values["headers"] = dict(request.headers)
        for name in ("callback", "errback"):
            values[name] = self._name_of(values[name])
        if type(request) is not Request:
            values["_class"] = f"{type(request).__module__}.{type(request).__name__}"
        return values

    def _name_of(self, function: Any) -> str | None:
        if function is None:
            return None
        wanted = getattr(function, "__func__", None)
        if wanted is not None:
            name = self._names.get(wanted)
            if name is None:
                methods = getmembers(self._spider, predicate=ismethod)
                name = next((name for name, method in methods if method.__func__ is wanted), None)
            if name is not None:
                self._names[wanted] = name
                return name
        raise UnstorableError(f"{function!r} is not a method of the spider")


def _plain(value: Any, depth: int) -> Any:
    """Returns a value that MessagePack holds without loss. Raises _NotPlainError."""
    kind = type(value)
    if kind in _UNCHANGED or (kind is int and -_MAX_INT <= value < _MAX_INT):
        return value
    if depth > MAX_DEPTH:
        raise _NotPlainError
    if kind is dict:
        if all(type(key) is str for key in value):
            return {key: _plain(member, depth + 1) for key, member in value.items()}
        pairs = [[_plain(key, depth + 1), _plain(member, depth + 1)] for key, member in value.items()]
        return _extension(_PAIRS, pairs)
    if kind is list:
        return [_plain(member, depth + 1) for member in value]
    if kind in _COLLECTIONS:
        return _extension(_COLLECTIONS[kind], [_plain(member, depth + 1) for member in value])
    if kind in _AS_TEXT and getattr(value, "tzinfo", None) is None:  # a string keeps the offset, not the time zone
        code, format_ = _AS_TEXT[kind]
        return _extension(code, format_(value))
    if kind is timedelta:
        return _extension(_TIMEDELTA, [value.days, value.seconds, value.microseconds])
    raise _NotPlainError


def _extension(code: int, value: Any) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(code, msgspec.msgpack.encode(value))


def _decoded(data: bytes | memoryview, depth: int) -> Any:
    """Reverses `_plain`. Raises some exception for other bytes."""
    if depth > MAX_DEPTH + 1:
        raise UnreadableRequestError("its values are nested too deep")

    def extension(code: int, content: memoryview) -> Any:
        return _FROM_CODE[code](_decoded(content, depth + 1))

    return msgspec.msgpack.decode(data, ext_hook=extension)
