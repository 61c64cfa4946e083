"""The dialects of robots.txt, by name.

A dialect says how lines are read, which group applies to a robot, what a pattern means, which of several rules counts,
and what the status of an answer means. Everything else is the same in all dialects.
"""

from goodbot.errors import InputError
from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.robotstxt.historic import BOOK, CONNER, KOLLAR, KOSTER_1994, KOSTER_1996
from goodbot.exclusion.robotstxt.modern import GOOGLE, RFC9309

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (RFC9309, GOOGLE, KOSTER_1996, BOOK, KOSTER_1994, KOLLAR, CONNER)
}


def find_dialect(name: str) -> Dialect:
    """Returns the dialect of that name. Raises InputError, which lists the known names, if there is none."""
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise InputError(f"unknown dialect of robots.txt {name!r}: known are {', '.join(DIALECTS)}")
    return dialect
