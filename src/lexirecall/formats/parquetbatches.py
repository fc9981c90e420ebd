"""Parquet batches: the rows of Parquet files as batches of Arrow, so that a file need not fit into memory.

Belongs here: reading the columns of runs and judgments with pyarrow, part by part. Not here: files that must be read
as a whole (tablefiles), what batches become (arrow).

Nothing here says what is wrong with a file: without batches, or if they break off, it is read as a whole, and whoever
reads it then says so.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexirecall.formats.arrow import BATCH
from lexirecall.formats.columns import Columns, Given, find_columns
from lexirecall.formats.roletable import used_columns
from lexirecall.formats.source import Source
from lexirecall.formats.tablefiles import TableFiles, check_alike, check_rows_of_size
from lexirecall.reader import reader_in_use


def batches_of_files(
    files: TableFiles, source: Source, named_columns: Given, kind: str = "run"
) -> tuple[Columns, Iterator[Any]] | None:
    """Give the columns of a plain Parquet file, or of a folder, and its batches; None if there are none."""
    if files.header is not None or reader_in_use() != "native" or source.is_packed or source.path == "-":
        return None
    try:
        columns = (_columns_of_file if files.folder is None else _columns_of_folder)(files, source, named_columns, kind)
    except MemoryError:
        raise
    except Exception:  # whoever reads the file as a whole says what is wrong
        return None
    used = used_columns(columns, kind)
    if any("\0" in name for name in used):
        return None
    few = {columns.run, columns.query}
    parts = (_batches_of_file(path, used, few, files.partition(path)) for path in files.paths)
    return columns, (batch for part in parts for batch in part)


def _columns_of_file(_files: TableFiles, source: Source, named_columns: Given, kind: str) -> Columns:
    from pyarrow import parquet

    return find_columns(parquet.read_schema(source.path).names, kind, named_columns, source=source.name)


def _columns_of_folder(files: TableFiles, _source: Source, named_columns: Given, kind: str) -> Columns:
    columns = files.columns(kind, named_columns)
    check_alike(files, columns, kind)
    return columns


def _batches_of_file(
    path: str, used: list[str], few: set[str | None], partition: dict[str, str | None]
) -> Iterator[Any]:
    """Read some rows at a time; `few` columns repeat their values, and what folders say has only one."""
    import pyarrow as pa
    from pyarrow import parquet

    columns, folders = [name for name in used if name not in partition], [name for name in used if name in partition]
    # without the buffers that pyarrow fills ahead, which would hold all of the file
    repeated = [name for name in columns if name in few]
    with parquet.ParquetFile(path, read_dictionary=repeated, pre_buffer=False, buffer_size=1 << 20) as file:
        check_rows_of_size(file.metadata.num_rows, Path(path).stat().st_size, path)
        if not partition.keys().isdisjoint(file.schema_arrow.names):
            raise ValueError("a column is in the file and in the name of its folder")
        for batch in file.iter_batches(BATCH, columns=columns, use_threads=False):
            constant = [pa.array([partition[name]] * len(batch)) for name in folders]
            yield pa.RecordBatch.from_arrays([*batch.columns, *constant], [*batch.schema.names, *folders])
