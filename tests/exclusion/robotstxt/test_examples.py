"""The examples that the texts print, exact in their own dialect, and what the other dialects answer."""

import pytest

from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.vectors.case import ALL as COLUMNS
from goodbot.vectors.tables.examples import EXAMPLES, PATH_TABLES, Example, PathTable


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_examples(example: Example) -> None:
    text, home = example.text, example.home
    own = RobotsTxt.parse(text, home)
    for agent, url, signs in example.rows:
        assert own.allows(url, agent) is (signs[COLUMNS.index(home)] == "+"), (agent, url)
        verdicts = own.compare(url, agent)
        assert "".join("+" if verdicts[dialect].allowed else "-" for dialect in COLUMNS) == signs, (agent, url)
        assert all(
            RobotsTxt.parse(text, dialect).allows(url, agent) is verdicts[dialect].allowed for dialect in COLUMNS
        )


def test_every_dialect_has_a_column() -> None:
    assert tuple(DIALECTS) == COLUMNS


@pytest.mark.parametrize("table", PATH_TABLES, ids=[table.name for table in PATH_TABLES])
def test_path_tables(table: PathTable) -> None:
    for pattern, path, signs in table.rows:
        robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}\n")
        verdicts = robots.compare(path, "any")
        assert "".join("." if verdicts[dialect].allowed else "=" for dialect in COLUMNS) == signs, (pattern, path)
