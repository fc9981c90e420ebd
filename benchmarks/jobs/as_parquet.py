"""Writes TREC text as Parquet: judgments to one file, runs to a folder of files with a column `run`.

The first run is written a second time, beside the folder: `mixed.parquet`, its rows in an order that says nothing.
"""

import sys
from pathlib import Path

import duckdb


def main(qrels: str, folder: str, *runs: str) -> None:
    connection = duckdb.connect()
    Path(folder).mkdir(exist_ok=True)
    as_text = "delim=' ', header=false, all_varchar=true, quote='', escape=''"
    connection.execute(
        "COPY (SELECT column0 AS query_id, column2 AS doc_id, CAST(column3 AS INT) AS relevance "  # noqa: S608
        f"FROM read_csv('{qrels}', {as_text})) TO '{folder}.qrels.parquet' (FORMAT parquet)"
    )
    for run in map(Path, runs):
        connection.execute(
            f"COPY (SELECT '{run.name}' AS system, column0 AS query_id, column2 AS doc_id, "  # noqa: S608
            f"CAST(column4 AS DOUBLE) AS score FROM read_csv('{run}', {as_text})) "
            f"TO '{folder}/{run.stem}.parquet' (FORMAT parquet)"
        )
    first, mixed = Path(folder) / f"{Path(runs[0]).stem}.parquet", Path(folder).with_name("mixed.parquet")
    connection.execute(
        f"COPY (SELECT * FROM '{first}' ORDER BY hash(query_id, doc_id)) TO '{mixed}' (FORMAT parquet)"  # noqa: S608
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
