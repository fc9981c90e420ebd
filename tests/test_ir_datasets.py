"""Judgments by the name of a data set, with the real ir_datasets and without a network."""

import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from command import Command
from lexirecall import compare, evaluate, project
from lexirecall.errors import DataError, FormatError, UsageError
from lexirecall.formats import load_judgments
from lexirecall.installing import how_to_install

ir_datasets = pytest.importorskip("ir_datasets", reason="judgments by name need ir_datasets")

QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\nq2 0 d3 1\n"
GOOD = {"good.run": b"q1 Q0 d1 1 2.0 t\nq2 Q0 d3 1 1.0 t\n", "bad.run": b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n"}
Register = Callable[..., str]


@pytest.fixture
def register(tmp_path: Path) -> Iterator[Register]:
    """Put data sets over local files into the catalogue, for the time of one test."""
    registered: dict[str, Any] = ir_datasets.registry._registered
    names = []

    def add(qrels: bytes | None, name: str = "lexirecall-test") -> str:
        (tmp_path / "docs.tsv").write_text("d1\tone\n")
        (tmp_path / "qrels.txt").write_bytes(qrels or b"")
        dataset = ir_datasets.create_dataset(
            docs_tsv=str(tmp_path / "docs.tsv"), qrels_trec=None if qrels is None else str(tmp_path / "qrels.txt")
        )
        ir_datasets.registry.register(name, dataset)
        names.append(name)
        return f"ir_datasets:{name}"

    yield add
    for name in names:
        del registered[name]


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "nothing-here"))


def test_a_name_gives_the_judgments_that_its_file_gives(register: Register, tmp_path: Path) -> None:
    named, read = load_judgments(register(QRELS)), load_judgments(tmp_path / "qrels.txt")
    assert (named.queries, list(named.documents), named.grades.tolist()) == (
        read.queries,
        list(read.documents),
        read.grades.tolist(),
    )
    assert (named.name, named.num_repeated, read.num_repeated) == ("ir_datasets:lexirecall-test", 1, 1)


def test_every_verb_takes_a_name(register: Register) -> None:
    name, runs = register(QRELS), {"good": {"q1": ["d1"], "q2": ["d3"]}, "bad": {"q1": ["d2", "d1"]}}
    assert evaluate(name, runs, ["RR"]).to_dict() == {"good": {"RR": 1.0}, "bad": {"RR": 0.25}}
    assert [row["wins"] for row in compare(name, runs, ["LexiRecall"]).rows()] == [2]
    assert project(name, runs).queries == ("q1", "q2")


def test_the_command_line_takes_a_name(register: Register, command: Command) -> None:
    outcome = command("eval", register(QRELS), "good.run", "bad.run", "-m", "RR", "-f", "tsv")
    assert outcome.code == 0
    assert outcome.out.splitlines()[1:] == ["good.run\tall\tRR\t1.0", "bad.run\tall\tRR\t0.25"]


def test_an_unknown_name_is_an_error_that_suggests_near_ones(command: Command) -> None:
    outcome = command("eval", "ir_datasets:vaswanni", "good.run")
    assert (outcome.code, outcome.out) == (2, "")
    assert "ir_datasets has no data set 'vaswanni'" in outcome.err
    assert "did you mean ir_datasets:vaswani?" in outcome.err
    with pytest.raises(UsageError, match="`ir_datasets list` names all"):
        load_judgments("ir_datasets:0000000000")


def test_a_data_set_without_judgments_is_an_error_that_names_the_parts_that_have_some(register: Register) -> None:
    with pytest.raises(DataError, match="ir_datasets:lexirecall-test has no judgments\n  give a file"):
        load_judgments(register(None))
    with pytest.raises(DataError, match="these parts of it have judgments: ir_datasets:antique/test"):
        load_judgments("ir_datasets:antique")


def test_judgments_that_contradict_each_other_are_an_error(register: Register) -> None:
    with pytest.raises(FormatError, match="document 'd1' of query 'q' has the grades 1 and 2") as error:
        load_judgments(register(b"q 1 d1 1\nq 2 d1 2\n"))
    assert "subtopics" in error.value.remedy


def test_no_judgment_at_all_is_an_error(register: Register) -> None:
    with pytest.raises(DataError, match="has no judgments"):
        load_judgments(register(b""))


def test_a_broken_file_behind_a_name_is_an_error_without_a_traceback(register: Register, command: Command) -> None:
    outcome = command("eval", register(b"q1 d1 1\n"), "good.run")
    assert (outcome.code, outcome.out) == (1, "")
    assert "ir_datasets:lexirecall-test: ir_datasets cannot read it ('expected 4 columns, got 3')" in outcome.err


class Labelled(NamedTuple):
    query_id: str
    doc_id: str
    relevance: str


@pytest.mark.parametrize("grade", ["high", "inf"])
def test_a_grade_that_is_no_number_is_an_error(grade: str, register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    name = register(b"q 0 d 1\n")
    handler = ir_datasets.load("lexirecall-test").qrels_handler()
    monkeypatch.setattr(handler, "qrels_iter", lambda: iter([Labelled("q", "d", grade)]))
    with pytest.raises(FormatError, match="grade"):
        load_judgments(name)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("antique/test", "https://ciir.cs.umass.edu/downloads/Antique/antique-test.qrel"),  # one source
        ("msmarco-passage/trec-dl-2019", "https://trec.nist.gov/data/deep/2019qrels-pass.txt"),  # and a mirror
    ],
)
def test_offline_the_error_names_what_to_download_and_how_to_do_without(
    name: str, address: str, command: Command
) -> None:
    outcome = command("eval", f"ir_datasets:{name}", "good.run")
    assert (outcome.code, outcome.out) == (1, "")
    assert f"ir_datasets:{name}: the judgments cannot be downloaded from {address}" in outcome.err
    assert f"ir_datasets export {name} qrels > qrels.txt" in outcome.err
    assert "Traceback" not in outcome.err


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(UsageError, match=re.escape(f"ir_datasets is not installed\n  {how_to_install('irds')}")):
        load_judgments("ir_datasets:vaswani")
