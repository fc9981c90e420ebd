"""Project files of ASReview, made from its schema: a zip archive with SQLite databases.

Belongs here: writing small projects of each version, and the CSV that ASReview exports. Nothing is copied from it.
"""

import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = tuple[int, int | None, bool]
"""A record, its label, and whether it is prior knowledge."""
ID = "4793de70a8d44eb4baa68bac2853c91a"
RESULTS = {
    1: "record_id INTEGER, label INTEGER, classifier TEXT, query_strategy TEXT, balance_strategy TEXT, "
    "feature_extraction TEXT, training_set INTEGER, labeling_time INTEGER, notes TEXT",
    2: "record_id INTEGER, label INTEGER, classifier TEXT, querier TEXT, balancer TEXT, feature_extractor TEXT, "
    "training_set INTEGER, time FLOAT, note TEXT, tags JSON, user_id INTEGER",
}
"""Columns of the table of results. Since version 2 a record_id is UNIQUE there; what is forged may repeat one."""
RESULTS[3] = RESULTS[2]
RECORD = (
    "record_id INTEGER NOT NULL PRIMARY KEY, dataset_row INTEGER, dataset_id VARCHAR, title VARCHAR, included INTEGER"
)
RECORD_3 = (
    f"{RECORD}, duplicate_of INTEGER, group_id INTEGER GENERATED ALWAYS AS (COALESCE(duplicate_of, record_id)) VIRTUAL"
)


def database(tables: Mapping[str, tuple[str, Sequence[tuple[Any, ...]]]], version: int = 0) -> bytes:
    """Return the bytes of a database with these tables: their columns and rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        connection = sqlite3.connect(path)
        for name, (columns, rows) in tables.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            if rows:
                places = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)  # noqa: S608
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
        connection.close()
        return path.read_bytes()


def results_of(rows: Sequence[Row], version: int) -> list[tuple[Any, ...]]:
    """Return the rows of the table of results."""
    prior = "prior" if version == 1 else None
    how = [prior if is_prior else "max" for _, _, is_prior in rows]
    rest = (None, None, 0, 0.0, None) + ((None, None) if version > 1 else ())
    return [(record, label, None, each, *rest) for (record, label, _), each in zip(rows, how, strict=True)]


def members(
    rows: Sequence[Row],
    num_records: int,
    *,
    version: int = 2,
    dataset: str = "heart.csv",
    included: Mapping[int, int] | None = None,
    duplicates: Mapping[int, int] | None = None,
) -> dict[str, bytes]:
    """Return the files of a project by name."""
    about: dict[str, Any] = {"version": f"{version}.0", "id": "x", "mode": "simulate", "name": "of a heart"}
    about |= {"reviews": [{"id": ID, "status": "finished"}]}
    shown = {"results": (RESULTS[version], results_of(rows, version))}
    if version == 1:
        about["dataset_path"] = dataset
        state = database({**shown, "record_table": ("record_id INT", [(record,) for record in range(num_records)])})
        return {"project.json": json.dumps(about).encode(), f"reviews/{ID}/results.sql": state}
    about["datasets"] = [{"id": dataset, "name": dataset}]
    known = included or {}
    records = [(record, record, dataset, f"Study {record}", known.get(record)) for record in range(num_records)]
    if version == 3:
        del about["reviews"]
        about |= {"project_file_version": 3, "review": {"status": "finished", "model": {}}}
        with_groups = [(*each, (duplicates or {}).get(each[0])) for each in records]
        state = database({"record": (RECORD_3, with_groups), **shown}, 3)
        return {"data/": b"", "project.json": json.dumps(about).encode(), "results.db": state}
    return {
        "project.json": json.dumps(about).encode(),
        "data_store.db": database({"record": (RECORD, records)}),
        f"reviews/{ID}/results.db": database(shown, 2),
    }


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return stream.getvalue()


def project_file(rows: Sequence[Row], num_records: int, **options: Any) -> bytes:
    """Return a project file."""
    return archive(members(rows, num_records, **options))


def read(labels: Sequence[int], first: int = 0) -> list[Row]:
    """Return rows of records first, first + 1, … that were read in this order."""
    return [(record, label, False) for record, label in enumerate(labels, first)]
