"""Parquet batches: the rows of Parquet files as batches of Arrow, so that a file need not fit into memory.

Belongs here: reading the columns of runs with pyarrow, part by part. Not here: files that must be read as a whole
(tablefiles), what batches become (arrow).

Nothing here says what is wrong with a file: without batches, or if they break off, it is read as a whole, and whoever
reads it then says so.
"""

from collections.abc import Iterator
from typing import Any

from lexirecall.formats.arrow import BATCH
from lexirecall.formats.columns import Columns, Given, find_columns
from lexirecall.formats.roletable import used_columns
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles, check_alike
from lexirecall.reader import reader_in_use


def batches_of_files(files: TableFiles, source: Source, given: Given) -> tuple[Columns, Iterator[Any]] | None:
    """Give the columns of runs in a plain Parquet file, or in a folder, and its batches; None if there are none."""
    if files.header is not None or reader_in_use() != "native" or source.is_packed or source.path == "-":
        return None
    try:
        columns = _columns_of_folder(files, given) if files.folder is not None else _columns_of_file(source, given)
    except MemoryError:
        raise
    except Exception:  # whoever reads the file as a whole says what is wrong
        return None
    if any("\0" in name for name in used_columns(columns, "run")):
        return None
    parts = (_batches_of_file(path, columns, files.partition(path)) for path in files.paths)
    return columns, (batch for part in parts for batch in part)


def _columns_of_file(source: Source, given: Given) -> Columns:
    from pyarrow import parquet

    return find_columns(parquet.read_schema(source.path).names, "run", given, source=source.name)


def _columns_of_folder(files: TableFiles, given: Given) -> Columns:
    columns = files.columns("run", given)
    check_alike(files, columns, "run")
    return columns


def _batches_of_file(path: str, columns: Columns, partition: dict[str, str | None]) -> Iterator[Any]:
    """Read some rows at a time; what the folders of a file say is a column that has one value."""
    import pyarrow as pa
    from pyarrow import parquet

    used = used_columns(columns, "run")
    own, folders = [name for name in used if name not in partition], [name for name in used if name in partition]
    few = [name for name in (columns.system, columns.request) if name in own]
    # without the buffers that pyarrow fills ahead, which would hold all of the file
    with parquet.ParquetFile(path, read_dictionary=few, pre_buffer=False, buffer_size=1 << 20) as file:
        if not partition.keys().isdisjoint(file.schema_arrow.names):
            raise ValueError("a column is in the file and in the name of its folder")
        for batch in file.iter_batches(BATCH, columns=own, use_threads=False):
            constant = [pa.array([partition[name]] * len(batch)) for name in folders]
            yield pa.RecordBatch.from_arrays([*batch.columns, *constant], [*batch.schema.names, *folders])
