"""The English names of the months."""

from typing import Final

MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

MONTH_NUMBERS: Final = {month[:3]: number for number, month in enumerate(MONTHS, 1)}
"""Three-letter names, as in HTTP dates, to the numbers 1 to 12."""
