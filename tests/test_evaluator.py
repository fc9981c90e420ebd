"""LexirecallEvaluator with models that are a few lines of numpy: it needs neither PyTorch nor a download."""

import csv
import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lexirecall import Positions, evaluate, project
from lexirecall.errors import DataError, UsageError
from lexirecall.torch import LexirecallEvaluator

QUERIES = {"q1": "a", "q2": "b", "q3": "nobody judged it"}
CORPUS = {"d1": "aa", "d2": "aab", "d3": "ab", "d4": "abb", "d5": "bb"}
RELEVANT = {"q1": {"d2", "d4"}, "q2": {"d4"}}


class Counter:
    """A model that counts letters, with a weight for one of them; it records what it is asked to encode."""

    def __init__(self, weight: float = 1) -> None:
        self.weight = weight
        self.calls: list[list[str]] = []
        self.similarity_fn_name: str | None = None

    def encode(self, texts: list[str], **_: Any) -> npt.NDArray[np.float32]:
        self.calls.append(texts)
        return np.array([[text.count("a"), self.weight * text.count("b")] for text in texts], np.float32)


def evaluator_of(**settings: Any) -> Any:
    return LexirecallEvaluator(QUERIES, CORPUS, RELEVANT, **{"measures": ["TSE", "LastRel"], **settings})


def ranked(weight: float) -> Positions:
    """Return the positions in the lists that sorting by the cosine gives."""
    model = Counter(weight)
    corpus = model.encode(list(CORPUS.values()))
    corpus /= np.linalg.norm(corpus, axis=1, keepdims=True)
    queries = model.encode([QUERIES["q1"], QUERIES["q2"]])
    runs = {
        query: dict(zip(CORPUS, map(float, corpus @ vector), strict=True))
        for query, vector in zip(RELEVANT, queries, strict=True)
    }
    qrels = {query: dict.fromkeys(sorted(documents), 1) for query, documents in RELEVANT.items()}
    return project(qrels, runs, corpus_size=len(CORPUS))


@pytest.mark.parametrize("weight", [0.5, 1, 2])
@pytest.mark.parametrize("block", [1, 2, 50])
def test_the_measures_are_those_of_whole_lists(weight: float, block: int) -> None:
    means = evaluator_of(block=block, name="dev")(Counter(weight))
    expected = evaluate(ranked(weight), measures=["TSE", "LastRel"]).means[0].tolist()
    assert means == dict(zip(["dev_TSE", "dev_LastRel"], expected, strict=True))


def test_only_judged_queries_are_encoded_and_each_document_once() -> None:
    model = Counter()
    evaluator_of(block=2)(model)
    assert model.calls == [["a", "b"], ["aa", "aab"], ["ab", "abb"], ["bb"]]


def test_a_checkpoint_is_compared_with_the_best_before() -> None:
    worse, better = LetterAt(3), LetterAt(0)
    evaluator: Any = LexirecallEvaluator(
        {"q": "x"}, {"0": "0", "1": "1", "2": "2", "3": "3"}, {"q": ["2"]}, measures=["RR"]
    )
    assert evaluator(worse, epoch=1) == {"RR": 0.5, "TSE": 0.5}
    assert evaluator(better, epoch=2)["LexiRecall"] == 0.0
    assert evaluator.best.systems == ("epoch-1",)
    assert evaluator(LetterAt(2), epoch=3, steps=7)["LexiRecall"] == 1.0
    assert evaluator.best.systems == ("epoch-3-steps-7",)
    assert evaluator.positions is evaluator.best


class LetterAt:
    """A model for which documents are the better the nearer their number is to one that it knows."""

    def __init__(self, at: int) -> None:
        self.at = at

    def encode_query(self, texts: list[str], **_: Any) -> npt.NDArray[np.float32]:
        return np.ones((len(texts), 2), np.float32)

    def encode_document(self, texts: list[str], **_: Any) -> npt.NDArray[np.float32]:
        return np.array([[-abs(self.at - float(text)), 0.0] for text in texts], np.float32)

    def encode(self, _texts: list[str], **_: Any) -> npt.NDArray[np.float32]:
        raise AssertionError("the model has methods for queries and documents")

    similarity_fn_name = "dot"


def test_a_baseline_is_the_one_to_beat_at_first() -> None:
    baseline = evaluator_of()
    baseline(Counter(2))
    evaluator = evaluator_of(baseline=baseline.positions)
    assert evaluator(Counter(2))["LexiRecall"] == 0.5


def test_a_lower_primary_measure_can_be_better() -> None:
    evaluator: Any = LexirecallEvaluator({"q": "x"}, {"0": "0", "1": "1", "2": "2"}, {"q": {"2": 1}}, primary="LastRel")
    assert not evaluator.greater_is_better
    assert evaluator.primary_metric == "LastRel"
    for at in (1, 2, 0):
        evaluator(LetterAt(at), epoch=at)
    assert evaluator.best.systems == ("epoch-2",)


def test_results_are_written_as_trainers_expect(tmp_path: Path) -> None:
    evaluator = evaluator_of(name="dev")
    for epoch in (1, 2):
        evaluator(Counter(), str(tmp_path / "eval"), epoch, 10)
    (path,) = (tmp_path / "eval").iterdir()
    header, first, second = csv.reader(path.read_text(encoding="utf-8").splitlines())
    assert path.name == "lexirecall_dev_results.csv"
    assert header == ["epoch", "steps", "TSE", "LastRel", "LexiRecall"]
    assert first[:2] == ["1", "10"]
    assert (first[-1], second[-1]) == ("", "0.5")


def test_notes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    relevant = RELEVANT | {"q3": {"d1": 0}}
    with caplog.at_level(logging.INFO):
        LexirecallEvaluator(QUERIES, CORPUS, relevant)(Counter())
    assert "no relevant document" in caplog.text


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="judged queries without a text: 'q9'"):
        LexirecallEvaluator(QUERIES, CORPUS, {"q9": ["d1"]})
    with pytest.raises(DataError, match="d9"):
        LexirecallEvaluator(QUERIES, CORPUS, {"q1": ["d9"]})(Counter())
    model = Counter()
    model.similarity_fn_name = "manhattan"
    with pytest.raises(
        UsageError, match="similarity_fn_name is 'manhattan', but must be one of cosine, dot, euclidean"
    ):
        evaluator_of()(model)
