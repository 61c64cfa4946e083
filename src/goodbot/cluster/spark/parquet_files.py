"""Opens the Parquet files of a store. Each page of a file has a checksum, so damage is noticed when it is
read."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.errors import DamagedError


def open_parquet(files: StoreFiles, path: str) -> Any:
    """Opens a file of the store. It and its readers raise ArrowException or OSError if the file is damaged; see
    `damage_named`. The columns of a row group are read in one request to S3, not in one for each column."""
    return pq.ParquetFile(files.open_input(path), pre_buffer=True, page_checksum_verification=True)


@contextmanager
def damage_named(*names: str) -> Iterator[None]:
    """Raises DamagedError if what is read in the block is damaged, or lacks a column: one of the files with these
    names."""
    try:
        yield
    except (pa.ArrowException, OSError, KeyError) as error:
        which = " or ".join(names)
        raise DamagedError(f"{which} is damaged: {' '.join(str(error).split())}") from error
