"""Labels: judgments and providers from the rows of a table.

Belongs here: what such rows mean. Not here: those of runs (rows), columns of frames (frames).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lexirecall.errors import FormatError, plain, shown
from lexirecall.formats.arrow import batches_of, judgments_in_batches
from lexirecall.formats.columns import NO_GRADES, NO_GRADES_REMEDY
from lexirecall.formats.ids import Ids, by_appearance, first_rows
from lexirecall.formats.idtypes import type_in_parquet, type_of_column
from lexirecall.formats.parquetbatches import batches_of_files
from lexirecall.formats.roletable import RoleTable
from lexirecall.formats.tablefiles import UnopenedTable, advance_whole
from lexirecall.formats.values import PROVIDER_REMEDY
from lexirecall.judgments import FloatArray, IntArray, Judgments, PackedIds, offsets_of


def judgments_from_table(table: RoleTable) -> Judgments:
    """Take judgments from rows of request, item and grade; without a column of grades, each row has grade 1.

    >>> import polars
    >>> from lexirecall.formats.roletable import open_frame
    >>> frame = polars.DataFrame({"user": [8, 7, 8], "item": ["a", "a", "b"], "rating": [0, 4, 5]})
    >>> judgments = judgments_from_table(open_frame(frame, "qrels", name="ratings"))
    >>> judgments.requests, list(judgments.items), judgments.grades.tolist()
    (('8', '7'), [b'b', b'a', b'a'], [5.0, 0.0, 4.0])

    The compiled reader takes what it can, as in `project_table`.
    """
    batches = batches_of(table.frame)
    judgments = None if batches is None else judgments_in_batches(batches, table.columns, table.name)
    if judgments is None:
        return judgments_in_rows(table)
    return replace(judgments, request_type=type_of_column(table.present("request")))


def judgments_from_files(unopened: UnopenedTable) -> Judgments:
    """Take judgments from files, in batches if it is one file of Parquet that the compiled reader knows."""
    files, source = unopened.files, unopened.source
    batches = None if files.folder is not None else batches_of_files(files, source, unopened.given, "qrels")
    if batches is None:
        return judgments_from_table(unopened.table)
    columns, rows = batches
    request_type = type_in_parquet(source.path, columns.request)
    judgments = None if request_type is None else judgments_in_batches(rows, columns, source.name)
    if judgments is None or request_type is None:
        return judgments_in_rows(unopened.table)
    advance_whole(source)
    return replace(judgments, request_type=request_type)


def judgments_in_rows(table: RoleTable) -> Judgments:
    """Do the same with arrays, for rows in any order and columns of every type."""
    requests, items, grades = table.ids("request"), table.ids("item"), grades_of_rows(table)
    numbers, order = by_appearance(requests)
    first = first_rows(numbers * len(items.values) + items.codes)
    rows = np.arange(len(first))
    if (contradicts := grades != grades[first]).any():
        raise _judged_twice(table, int(np.argmax(contradicts)), first, requests, items, grades)
    rows = rows[first == rows]
    rows = rows[np.lexsort((~(grades[rows] > 0), numbers[rows]))]
    texts = [text.encode() for text in items.texts()]
    sizes = np.bincount(numbers[rows], minlength=len(order))
    return Judgments(
        requests=tuple(order),
        request_ids=PackedIds.pack([request.encode() for request in order]),
        offsets=offsets_of(sizes),
        items=PackedIds.pack([texts[code] for code in items.codes[rows].tolist()]),
        grades=grades[rows],
        num_positive=np.bincount(numbers[rows], grades[rows] > 0, len(order)).astype(np.int64),
        name=table.name,
        num_repeated=len(first) - len(rows),
        has_grades=table.columns.grade is not None,
        request_type=type_of_column(table.present("request")),
    )


def grades_of_rows(table: RoleTable) -> FloatArray:
    """Return the grade of each row, 1 if there is no column of grades; raise if one is not a grade."""
    grades = np.ones(len(table.frame)) if table.columns.grade is None else table.numbers("grade")
    if not np.isfinite(grades).all():
        row = int(np.argmin(np.isfinite(grades)))
        raise table.error(row, f"the grade is not finite: {grades[row]}", remedy="write a plain number")
    if table.columns.is_score_graded and (fractions := grades % 1 != 0).any():
        row = int(np.argmax(fractions))
        raise table.error(row, f"{NO_GRADES}: {grades[row]}", remedy=NO_GRADES_REMEDY)
    return grades


def pairs_from_table(table: RoleTable) -> Iterator[tuple[bytes, bytes]]:
    """Take pairs of item and provider from rows."""
    items, providers = table.ids("item"), table.ids("provider")
    texts, names = ([text.encode() for text in ids.texts()] for ids in (items, providers))
    for blank in (code for code, name in enumerate(names) if not name.strip()):
        row = int(np.argmax(providers.codes == blank))
        raise table.error(row, f"{shown(names[blank])} is not the name of a provider", remedy=PROVIDER_REMEDY)
    return ((texts[i], names[p]) for i, p in zip(items.codes.tolist(), providers.codes.tolist(), strict=True))


def _judged_twice(
    table: RoleTable, row: int, first: IntArray, requests: Ids, items: Ids, grades: FloatArray
) -> FormatError:
    earlier = int(first[row])
    grade = f"has grade {plain(grades[row])} here and {plain(grades[earlier])} {table.place(earlier)}"
    problem = f"document {shown(items.text(row))} of query {shown(requests.text(row))} {grade}"
    return table.error(row, problem, remedy="keep one of the two rows")
