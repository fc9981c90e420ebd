"""Projects that ASReview itself makes, whichever version is installed: `make adapters-test` runs it with 1, 2 and 3.

What lexirecall reads is compared with what ASReview's own interface says: the records, their order and their labels,
what was known before, and a label that somebody changes.
"""

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asreview
import pytest

from asreview_files import Row
from lexirecall.formats.asreview import read_project
from lexirecall.formats.reviews import Review
from lexirecall.formats.source import Source

pytestmark = pytest.mark.filterwarnings("ignore")  # of ASReview's own
VERSION = int(importlib.metadata.version("asreview").split(".")[0])
TOPICS = (
    "heart failure statin",
    "cardiac rhythm ablation",
    "garden soil compost",
    "galaxy dust spectrum",
    "bread yeast",
)
TITLES = [f"Study {number} of {TOPICS[number % 5]}" for number in range(30)]
RELEVANT = [int(number % 5 < 2 and number % 3 == 0) for number in range(30)]


def simulated(folder: Path, *options: str, repeats: int = 0) -> Path:
    """Return the project of a simulation; the first records may be repeated at the end of the dataset."""
    rows = [*zip(TITLES, RELEVANT, strict=True)]
    lines = "".join(f"{title},all about {title},{label}\n" for title, label in [*rows, *rows[:repeats]])
    (folder / "heart.csv").write_text(f"title,abstract,included\n{lines}")
    path = folder / "made.asreview"
    words: list[str | Path]
    if VERSION == 1:
        words = ["-s", path, "--n_prior_included", "2", "--n_prior_excluded", "1", "--init_seed", "1", *options]
        words = [word.replace("--n-stop", "--stop_if") if isinstance(word, str) else word for word in words]
    else:
        words = ["-o", path, "--n-prior-included", "2", "--n-prior-excluded", "1", "--prior-seed", "1", *options]
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "asreview",
        "simulate",
        folder / "heart.csv",
        "--seed",
        "1",
        *words,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return path


def changed(path: Path, change: Callable[[Any], None]) -> Path:
    """Return the same project once somebody has changed something in ASReview."""
    if VERSION == 1:
        project = asreview.ASReviewProject.load(path, path.parent / "projects")
        with asreview.open_state(project, read_only=False) as state:
            change(state)
    elif VERSION == 2:
        project = asreview.Project.load(path, path.parent / "projects")
        with asreview.open_state(project) as state:
            change(state)
    else:
        project = project_of(path)
        change(project.db)
        project.close()
    made = path.with_name("changed.asreview")
    project.export(made)
    return made


def project_of(path: Path) -> Any:
    from asreview.project.api import Project

    return Project.load(path, path.parent / "projects", safe_import=True)


def expected(path: Path) -> list[Row]:
    """Return what ASReview says of a project: records, labels, and whether they were known before."""
    if VERSION == 3:
        with project_of(path) as project:
            rows = project.db.get_results_table(pending=True, groups=True)
    else:
        with asreview.open_state(path) as state:
            rows = state.get_dataset(pending=True) if VERSION == 1 else state.get_results_table(pending=True)
    prior = rows["query_strategy"] == "prior" if VERSION == 1 else rows["querier"].isna()
    labels = [
        None if is_open else int(label) for label, is_open in zip(rows["label"], rows["label"].isna(), strict=True)
    ]
    return [*zip(map(int, rows["record_id"]), labels, map(bool, prior), strict=True)]


def said(review: Review) -> tuple[list[tuple[int, int]], dict[int, int], set[int]]:
    return (
        [(int(record), review.labels[record]) for record in review.read],
        {int(record): review.labels[record] for record in review.priors},
        {int(record) for record, label in review.labels.items() if label == 1},
    )


def meant(rows: list[Row], relevant: set[int]) -> tuple[list[tuple[int, int]], dict[int, int], set[int]]:
    labelled = [(record, label, is_prior) for record, label, is_prior in rows if label is not None]
    found = {record for record, label, _ in labelled if label == 1}
    unread = {*range(len(RELEVANT))} - {record for record, *_ in labelled}
    return (
        [(record, label) for record, label, is_prior in labelled if not is_prior],
        {record: label for record, label, is_prior in labelled if is_prior},
        found | (relevant & unread if VERSION > 1 else set()),
    )


def read(path: Path) -> Review:
    with Source(path) as source:
        return read_project(source)


@pytest.mark.parametrize("stop", [(), ("--n-stop", "-1"), ("--n-stop", "9")])
def test_a_simulation_is_read_as_asreview_reads_it(tmp_path: Path, stop: tuple[str, ...]) -> None:
    path = simulated(tmp_path, *stop)
    review, rows = read(path), expected(path)
    relevant = {record for record, label in enumerate(RELEVANT) if label}
    assert (review.num_records, review.query, len(review.priors)) == (30, "heart", 3)
    assert len(review.read) == len(rows) - 3 > 0
    assert said(review) == meant(rows, relevant)
    assert all(label == RELEVANT[int(record)] for record, label in review.labels.items())


def test_a_label_that_somebody_changed_counts_where_the_record_was_shown(tmp_path: Path) -> None:
    path = simulated(tmp_path)
    record, label, _ = expected(path)[4]
    verb = {1: "update_decision", 2: "update", 3: "update_result"}[VERSION]
    other = changed(path, lambda state: getattr(state, verb)(record, label=1 - (label or 0)))
    before, after = read(path), read(other)
    assert [*after.read] == [*before.read]
    assert {each for each in before.labels if before.labels[each] != after.labels[each]} == {str(record)}
    assert said(after)[:2] == meant(expected(other), set())[:2]


@pytest.mark.skipif(VERSION < 3, reason="records are put into groups since version 3")
@pytest.mark.parametrize("option", [(), ("--group-similar-records",)])
def test_records_that_asreview_takes_for_the_same_count_each(tmp_path: Path, option: tuple[str, ...]) -> None:
    path = simulated(tmp_path, "--n-stop", "-1", *option, repeats=6)
    review = read(path)
    assert review.num_records == 36
    assert said(review)[:2] == meant(expected(path), set())[:2]
    assert "6 records said to duplicate another, counted like any other" in review.remark
