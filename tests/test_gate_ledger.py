"""The ledger of a gate: which build it is, what is damaged, and what several builds at once do to it."""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexirecall import gate
from lexirecall.errors import FormatError, LexirecallError, UsageError
from lexirecall.gates.ledger import Ledger
from lexirecall.statistics.gates import level_of_build

QRELS = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
GOOD, BAD = {key: ["a", "b"] for key in QRELS}, {key: ["a", "x"] for key in QRELS}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=12))
def test_a_build_counts_the_builds_that_share_a_query(tmp_path_factory: pytest.TempPathFactory, builds: Any) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "builds.jsonl")
    for at, queries in enumerate(builds):
        before = sum(bool(queries & earlier) for earlier in builds[:at])
        assert ledger.begin(sorted(queries), 0.05).number == before + 1


def test_each_build_is_tested_at_its_share(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    verdicts = []
    for number in range(1, 6):
        result = gate(QRELS, BAD, GOOD, ledger=path)
        assert result.build is not None
        assert result.build.number == number
        assert result.level == level_of_build(0.05, number)
        verdicts.append(result.passed)
    # ten losses of ten have p = 2^-10, which is below 6 alpha/(pi² t²) up to the fifth build
    assert verdicts == [False] * 5
    assert gate(QRELS, BAD, GOOD, ledger=path).level < 2**-10
    assert gate(QRELS, BAD, GOOD, ledger=path).passed
    rows = rows_of(path)
    assert [row["kind"] for row in rows] == ["queries", *["build", "verdict"] * 7]
    assert [row["passed"] for row in rows if row["kind"] == "verdict"] == [False] * 5 + [True] * 2


def test_a_build_that_breaks_off_has_spent_its_share(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    Ledger(path).begin(list(QRELS), 0.05)
    assert gate(QRELS, GOOD, GOOD, ledger=path).build.number == 2  # type: ignore[union-attr]


def test_bad_data_and_bad_usage_spend_nothing(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    with pytest.raises(LexirecallError):
        gate(QRELS, str(tmp_path / "no.run"), GOOD, ledger=path)
    with pytest.raises(UsageError):
        gate(QRELS, BAD, GOOD, ledger=path, require="AP much")
    with pytest.raises(UsageError):
        gate(QRELS, BAD, GOOD, "AP", ledger=path, over=["min"])
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"_id": "a", "text": "whole"}\n{"_id": "b", "te')
    with pytest.raises(FormatError):
        gate(QRELS, BAD, GOOD, ledger=path, texts=[f"documents={texts}"])
    with pytest.raises(LexirecallError):
        gate(QRELS, BAD, GOOD, ledger=path, corpus_ids=["z"])
    assert not path.exists()


def damaged(text: str, tmp_path: Path) -> str:
    path = tmp_path / "builds.jsonl"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        gate(QRELS, BAD, GOOD, ledger=path)
    assert path.read_text() == text
    return str(caught.value)


def test_a_damaged_ledger_is_an_error_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, GOOD, GOOD, ledger=path)
    whole = path.read_text()
    first, second, third = whole.splitlines(keepends=True)
    assert ":2: this row of the ledger is damaged: it is not JSON" in damaged(first + "x\n" + third, tmp_path)
    assert ":3: this row of the ledger is damaged: it breaks off" in damaged(first + second + third[:9], tmp_path)
    assert ":2: " in damaged(first + '{"kind": "other"}\n', tmp_path)
    assert ":2: " in damaged(first + "[]\n", tmp_path)
    assert "no proper queries" in damaged(first + second.replace('"queries": "', '"other": "'), tmp_path)
    assert "on no line before it" in damaged(second, tmp_path)
    assert "digest is not that of its ids" in damaged(first.replace('"q3"', '"q33"'), tmp_path)


def test_a_row_without_its_line_end_is_not_written_into(tmp_path: Path) -> None:
    path = tmp_path / "builds.jsonl"
    gate(QRELS, GOOD, GOOD, ledger=path)
    assert ":3: this row of the ledger is damaged: it breaks off" in damaged(path.read_text().rstrip("\n"), tmp_path)


def begin(path: str) -> int:
    return Ledger(path).begin(["q1", "q2"], 0.05).number


def test_builds_at_once_have_numbers_of_their_own(tmp_path: Path) -> None:
    path = str(tmp_path / "builds.jsonl")
    with ProcessPoolExecutor(4) as pool:
        numbers = list(pool.map(begin, [path] * 24))
    assert sorted(numbers) == list(range(1, 25))


def test_a_ledger_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(LexirecallError, match=re.escape(f"{tmp_path / 'no' / 'builds.jsonl'}: the ledger cannot be")):
        gate(QRELS, GOOD, GOOD, ledger=tmp_path / "no" / "builds.jsonl")
    with pytest.raises(LexirecallError, match="the ledger cannot be read"):
        gate(QRELS, GOOD, GOOD, ledger=tmp_path)
