"""Prepares the form of filters, and the filters in force as chips. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from goodbot.index.filters import filter_of
from goodbot.search_values import NO_FILTERS, Choices, Filters
from goodbot.web.pages.local_formats import day_message
from goodbot.web.pages.messages import Message
from goodbot.web.pages.property_names import language_name, type_name
from goodbot.web.pages.translations import translatable
from goodbot.web.pages.view import clipped
from goodbot.web.search.search_query import PARAMETERS, PERIODS, search_state

MAX_CHIP_CHARS: Final = 60

_OPERATORS: Final = {"site": "site", "language": "lang", "filetype": "filetype", "after": "after", "before": "before"}
_LABELS: Final = {
    "site": translatable("Site"),
    "language": translatable("Language"),
    "filetype": translatable("Type"),
    "after": translatable("Date from"),
    "before": translatable("Date before"),
}
_PERIODS: Final = {
    "day": translatable("past day"),
    "week": translatable("past week"),
    "month": translatable("past month"),
    "year": translatable("past year"),
}


@dataclass(frozen=True, slots=True)
class Option:
    """A value that a filter may have. `count`: pages that have it, None if unknown; `language` is that of its name."""

    value: str
    name: str
    count: int | None = None
    is_chosen: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter in force: its label, its value for people in `language`, and the parameters of the same search without
    it."""

    label: str
    value: str | Message
    language: str
    state: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FilterBar:
    """The fields of the form with their values, and the chips. `cleared` has the parameters of the search without
    filters; `is_open`: the form is shown at once."""

    site: str
    languages: tuple[Option, ...]
    types: tuple[Option, ...]
    periods: tuple[Option, ...]
    after: str
    before: str
    chips: tuple[Chip, ...]
    cleared: Mapping[str, str]
    is_open: bool = False


def filter_bar(
    query: str, filters: Filters, choices: Choices, *, is_open: bool = False, others: bool = False
) -> FilterBar:
    """Prepares the form for a search. A value that cannot be used stays as typed. `others`: the search includes other
    services, and the links keep that."""
    used = _normalised(filters)
    return FilterBar(
        used.site,
        _options(used.language, choices.languages, language_name, has_language=True),
        _options(used.filetype, choices.types, type_name),
        tuple(Option(name, _PERIODS[name]) for name in PERIODS),
        used.after,
        used.before,
        tuple(_chips(search_state(query, filters, others=others), used)),
        search_state(query, NO_FILTERS, others=others),
        is_open,
    )


def _normalised(filters: Filters) -> Filters:
    return Filters(**{field: _usual(field, getattr(filters, field)) for field in PARAMETERS.values()})


def _usual(field: str, value: str) -> str:
    """Returns a value as the index has it: `2024-05` is the first day of May, `PDF` is `pdf`."""
    found = filter_of(_OPERATORS[field], value) if value else None
    return found.value if found is not None else value


def _options(
    chosen: str, counted: Iterable[tuple[str, int]], name: Callable[[str], str], *, has_language: bool = False
) -> tuple[Option, ...]:
    """Returns the values to choose from. One that was typed into the URL is added if it is missing."""

    def option(value: str, count: int | None) -> Option:
        language = value if has_language and name(value) != value else ""
        return Option(value, clipped(name(value), MAX_CHIP_CHARS), count, value == chosen, language)

    options = [option(value, count) for value, count in counted]
    if chosen and not any(each.is_chosen for each in options):
        options.append(option(chosen, None))
    return tuple(options)


def _chips(state: Mapping[str, str], used: Filters) -> Iterable[Chip]:
    for name, field in PARAMETERS.items():
        if value := getattr(used, field):
            others = {key: kept for key, kept in state.items() if key != name}
            language = value if field == "language" and language_name(value) != value else ""
            yield Chip(_LABELS[field], _shown(field, value), language, others)


def _shown(field: str, value: str) -> str | Message:
    match field:
        case "language":
            return clipped(language_name(value), MAX_CHIP_CHARS)
        case "filetype":
            return clipped(type_name(value), MAX_CHIP_CHARS)
        case "after" | "before":
            return _day(value)
    return clipped(value, MAX_CHIP_CHARS)


def _day(value: str) -> str | Message:
    try:
        return day_message(date.fromisoformat(value))
    except ValueError:  # the page says that it cannot be used
        return clipped(value, MAX_CHIP_CHARS)
