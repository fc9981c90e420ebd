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
    """Take judgments from rows of query, document and grade; without a column of grades, each row has grade 1.

    >>> import polars
    >>> from lexirecall.formats.roletable import open_frame
    >>> frame = polars.DataFrame({"user": [8, 7, 8], "item": ["a", "a", "b"], "rating": [0, 4, 5]})
    >>> judgments = judgments_from_table(open_frame(frame, "qrels", name="ratings"))
    >>> judgments.queries, list(judgments.documents), judgments.grades.tolist()
    (('8', '7'), [b'b', b'a', b'a'], [5.0, 0.0, 4.0])

    The compiled reader takes what it can, as in `project_table`.
    """
    batches = batches_of(table.frame)
    judgments = None if batches is None else judgments_in_batches(batches, table.columns, table.name)
    if judgments is None:
        return judgments_in_rows(table)
    return replace(judgments, query_type=type_of_column(table.present("query")))


def judgments_from_files(unopened: UnopenedTable) -> Judgments:
    """Take judgments from files, in batches if it is one file of Parquet that the compiled reader knows."""
    files, source = unopened.files, unopened.source
    batches = None if files.folder is not None else batches_of_files(files, source, unopened.named_columns, "qrels")
    if batches is None:
        return judgments_from_table(unopened.table)
    columns, rows = batches
    query_type = type_in_parquet(source.path, columns.query)
    judgments = None if query_type is None else judgments_in_batches(rows, columns, source.name)
    if judgments is None or query_type is None:
        return judgments_in_rows(unopened.table)
    advance_whole(source)
    return replace(judgments, query_type=query_type)


def judgments_in_rows(table: RoleTable) -> Judgments:
    """Do the same with arrays, for rows in any order and columns of every type."""
    queries, documents, grades = table.ids("query"), table.ids("document"), grades_of_rows(table)
    numbers, order = by_appearance(queries)
    first = first_rows(numbers * len(documents.values) + documents.codes)
    rows = np.arange(len(first))
    if (contradicts := grades != grades[first]).any():
        raise _judged_twice(table, int(np.argmax(contradicts)), first, queries, documents, grades)
    rows = rows[first == rows]
    rows = rows[np.lexsort((~(grades[rows] > 0), numbers[rows]))]
    texts = [text.encode() for text in documents.texts()]
    sizes = np.bincount(numbers[rows], minlength=len(order))
    return Judgments(
        queries=tuple(order),
        query_ids=PackedIds.pack([query.encode() for query in order]),
        offsets=offsets_of(sizes),
        documents=PackedIds.pack([texts[code] for code in documents.codes[rows].tolist()]),
        grades=grades[rows],
        num_positive=np.bincount(numbers[rows], grades[rows] > 0, len(order)).astype(np.int64),
        name=table.name,
        num_repeated=len(first) - len(rows),
        has_grades=table.columns.grade is not None,
        query_type=type_of_column(table.present("query")),
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
    """Take pairs of document and provider from rows."""
    documents, providers = table.ids("document"), table.ids("provider")
    texts, names = ([text.encode() for text in ids.texts()] for ids in (documents, providers))
    for blank in (code for code, name in enumerate(names) if not name.strip()):
        row = int(np.argmax(providers.codes == blank))
        raise table.error(row, f"{shown(names[blank])} is not the name of a provider", remedy=PROVIDER_REMEDY)
    return ((texts[i], names[p]) for i, p in zip(documents.codes.tolist(), providers.codes.tolist(), strict=True))


def _judged_twice(
    table: RoleTable, row: int, first: IntArray, queries: Ids, documents: Ids, grades: FloatArray
) -> FormatError:
    earlier = int(first[row])
    grade = f"has grade {plain(grades[row])} here and {plain(grades[earlier])} {table.place(earlier)}"
    problem = f"document {shown(documents.text(row))} of query {shown(queries.text(row))} {grade}"
    return table.error(row, problem, remedy="keep one of the two rows")
