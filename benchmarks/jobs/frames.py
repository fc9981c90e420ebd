"""Finds positions in one run, as text and as frames, in one process; prints CPU seconds as JSON. Usage: QRELS RUN."""

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl
from by_hand import with_duckdb, with_polars

from lexirecall import Positions, load_judgments, project

TEXT = {"query_id": pl.String, "ignored": pl.String, "doc_id": pl.String}


def read(path: str, **more: type[pl.DataType]) -> pl.DataFrame:
    columns = TEXT | more
    return pl.read_csv(
        path, separator=" ", has_header=False, new_columns=[*columns], schema_overrides=[*columns.values()]
    )


def main(qrels: str, run: str) -> None:
    judgments, judged = load_judgments(qrels), read(qrels, relevance=pl.Int64)
    frame = read(run, rank=pl.Int64, score=pl.Float64, tag=pl.String).select("query_id", "doc_id", "score")
    objects = frame.to_pandas().astype({"query_id": object, "doc_id": object})
    forms = {
        "text": run,
        "polars": frame,
        "pyarrow": frame.to_arrow(),
        "pandas": frame.to_pandas(),
        "pandas, objects": objects,
    }
    jobs: dict[str, Callable[[], object]] = {
        name: lambda form=form: project(judgments, {"run": form})  # type: ignore[misc]
        for name, form in forms.items()
    }
    jobs["polars by hand, AP"] = lambda: with_polars(judged.lazy(), frame.lazy())
    jobs["DuckDB by hand, AP"] = lambda: with_duckdb(judged, frame)
    first = {name: job() for name, job in jobs.items()}  # what is imported and computed once is not counted
    found = [each for each in first.values() if isinstance(each, Positions)]
    if not all(np.array_equal(each.found.positions, found[0].found.positions) for each in found):
        raise SystemExit("the positions differ")
    print(json.dumps({name: cpu_seconds(job) for name, job in jobs.items()}))


def cpu_seconds(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


if __name__ == "__main__":
    main(*sys.argv[1:])
