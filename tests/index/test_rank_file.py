"""The file of PageRanks."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.rank_file import RankFile, write_ranks

NUMBERS = st.integers(min_value=0, max_value=(1 << 64) - 1)


@given(ranks=st.dictionaries(NUMBERS, st.floats(min_value=0.125, max_value=1e6, width=32)), others=st.sets(NUMBERS))
def test_what_was_written_is_found(
    tmp_path_factory: pytest.TempPathFactory, ranks: dict[int, float], others: set[int]
) -> None:
    file = tmp_path_factory.mktemp("ranks") / "ranks"
    numbers = sorted(ranks)
    write_ranks(file, numbers, [ranks[number] for number in numbers])
    assert RankFile(file).find([*ranks, *others]) == ranks | {number: ranks[number] for number in others & ranks.keys()}


def test_a_file_of_another_size(tmp_path: Path) -> None:
    (tmp_path / "ranks").write_bytes(bytes(13))
    with pytest.raises(ValueError, match="not a file of ranks"):
        RankFile(tmp_path / "ranks")
