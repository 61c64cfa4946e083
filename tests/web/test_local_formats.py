from datetime import date

import pytest

from goodbot.web.pages.local_formats import day_message, day_of, formats, russian
from goodbot.web.pages.translations import load_translations

SPACE = "\u00a0"


@pytest.mark.parametrize(
    ("name", "figure", "english", "in_russian"),
    [
        ("number", 999, "999", "999"),
        ("number", 1_234_567, "1,234,567", f"1{SPACE}234{SPACE}567"),
        ("number", 0.84, "0.8", "0,8"),
        ("points", 1.5, "1.50", "1,50"),
        ("points", 1234.5, "1,234", f"1{SPACE}234"),
        ("points", 0, "0.00", "0,00"),
        ("size", 1, "1 byte", f"1{SPACE}Б"),
        ("size", 34_512, "34.5 kB", f"34,5{SPACE}КБ"),
        ("size", 9.9e15, "9,900.0 TB", f"9{SPACE}900,0{SPACE}ТБ"),
        ("duration", 0.4, "under 1 ms", f"менее{SPACE}1{SPACE}мс"),
        ("duration", 1_234, "1.2 s", f"1,2{SPACE}с"),
        ("seconds", 45, "45 s", f"45{SPACE}с"),
        ("seconds", 7_500, "2 h 5 min", f"2{SPACE}ч{SPACE}5{SPACE}мин"),
        ("seconds", 9 * 86_400, "9 days", f"9{SPACE}дн."),
    ],
)
def test_figures(name: str, figure: float, english: str, in_russian: str) -> None:
    assert formats("en")[name](figure) == english
    assert formats("ru")[name](figure) == in_russian


def test_lists_of_numbers_keep_their_commas() -> None:
    assert russian("1,2,3") == "1,2,3"


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (0.0, date(1970, 1, 1)),
        (1_714_694_400.0, date(2024, 5, 3)),
        (-1.0, date(1969, 12, 31)),
        (1e30, None),
        (float("inf"), None),
        (float("nan"), None),
    ],
)
def test_days(at: float, day: date | None) -> None:
    assert day_of(at) == day


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_has_its_name(month: int) -> None:
    message = day_message(date(2024, month, 3))
    assert str(message) == date(2024, month, 3).strftime("3 %B 2024")
    assert message.translated(load_translations("ru").gettext, str) not in ("", str(message))
