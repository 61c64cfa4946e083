from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.search_values import NO_FILTERS, Choices, Filters
from goodbot.web.search.filter_bar import Chip, FilterBar, Option, filter_bar

CHOICES = Choices((("en", 120), ("ru", 7), ("xx", 1)), (("html", 100), ("application/x-odd", 2)))


def bar(filters: Filters = NO_FILTERS, choices: Choices = CHOICES) -> FilterBar:
    return filter_bar("robot", filters, choices)


def test_without_filters_everything_can_be_chosen() -> None:
    found = bar()
    assert found.languages == (
        Option("en", "English", 120, language="en"),
        Option("ru", "русский", 7, language="ru"),
        Option("xx", "xx", 1),
    )
    assert [(option.value, option.name, option.count) for option in found.types] == [
        ("html", "web pages", 100),
        ("application/x-odd", "application/x-odd", 2),
    ]
    assert [option.value for option in found.periods] == ["day", "week", "month", "year"]
    assert (found.chips, found.site, found.after, found.before) == ((), "", "", "")


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        (Filters(language="ru"), Option("ru", "русский", 7, is_chosen=True, language="ru")),
        (Filters(language="RU"), Option("ru", "русский", 7, is_chosen=True, language="ru")),
        (Filters(language="ja"), Option("ja", "日本語", None, is_chosen=True, language="ja")),
        (Filters(language="not a language"), Option("not a language", "not a language", None, is_chosen=True)),
        (Filters(filetype=".PDF"), Option("pdf", "PDF", None, is_chosen=True)),
        (Filters(filetype="html"), Option("html", "web pages", 100, is_chosen=True)),
    ],
)
def test_what_is_in_force_is_chosen(filters: Filters, chosen: Option) -> None:
    found = bar(filters)
    assert [option for option in (*found.languages, *found.types) if option.is_chosen] == [chosen]


@pytest.mark.parametrize(
    ("filters", "label", "value", "others"),
    [
        (Filters(site="https://Example.org/a"), "Site", "example.org", {}),
        (Filters(site="not a host"), "Site", "not a host", {}),
        (Filters(site="s" * 100), "Site", "s" * 59 + "…", {}),
        (Filters(language="de"), "Language", "Deutsch", {}),
        (Filters(filetype="text/plain"), "Type", "plain text", {}),
        (Filters(filetype="exe"), "Type", "EXE", {}),
        (Filters(after="2024-05"), "Date from", "1 May 2024", {}),
        (Filters(before="2024-12-31"), "Date before", "31 December 2024", {}),
        (Filters(before="tomorrow"), "Date before", "tomorrow", {}),
    ],
)
def test_chips(filters: Filters, label: str, value: str, others: Mapping[str, str]) -> None:
    (chip,) = bar(filters).chips
    assert (chip.label, str(chip.value), chip.state) == (label, value, {"q": "robot", **others})


def test_a_chip_removes_one_filter_and_keeps_the_others_as_they_were_typed() -> None:
    found = bar(Filters("Example.org", "EN", "", "2024", ""))
    assert [(chip.label, chip.state) for chip in found.chips] == [
        ("Site", {"q": "robot", "lang": "EN", "after": "2024"}),
        ("Language", {"q": "robot", "site": "Example.org", "after": "2024"}),
        ("Date from", {"q": "robot", "site": "Example.org", "lang": "EN"}),
    ]
    assert found.cleared == {"q": "robot"}
    assert (found.site, found.after) == ("example.org", "2024-01-01")


@given(st.builds(Filters, *[st.text(max_size=30)] * 5))
def test_any_text_is_shown(filters: Filters) -> None:
    found = bar(filters)
    typed = (filters.site, filters.language, filters.filetype, filters.after, filters.before)
    assert len(found.chips) == sum(map(bool, typed))
    assert all(isinstance(chip, Chip) and str(chip.value) for chip in found.chips)
