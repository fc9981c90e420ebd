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
    assert evaluator.best.runs == ("epoch-1",)
    assert evaluator(LetterAt(2), epoch=3, steps=7)["LexiRecall"] == 1.0
    assert evaluator.best.runs == ("epoch-3-steps-7",)
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


def test_a_training_that_was_stopped_goes_on_against_the_best_checkpoint(tmp_path: Path) -> None:
    texts: Any = {"q": "x"}, {"0": "0", "1": "1", "2": "2", "3": "3"}, {"q": ["2"]}
    before: Any = LexirecallEvaluator(*texts, name="dev", write_positions=True)
    for epoch, at in ((1, 2), (2, 0)):
        before(LetterAt(at), str(tmp_path), epoch)
    best = tmp_path / "lexirecall_dev_epoch-1.parquet"
    for baseline in (best, str(best), before.best):
        again: Any = LexirecallEvaluator(*texts, baseline=baseline)
        assert again.best_value == before.best_value == 1.0
        assert again(LetterAt(2))["LexiRecall"] == 0.5
        assert again(LetterAt(0))["LexiRecall"] == 0.0


def test_of_equal_checkpoints_the_first_is_the_best() -> None:
    evaluator = evaluator_of()
    for epoch in (1, 2):
        evaluator(Counter(), epoch=epoch)
    assert evaluator.best.runs == ("epoch-1",)
    assert evaluator.positions.runs == ("epoch-2",)


def test_a_baseline_that_cannot_be_compared_is_refused_before_the_training() -> None:
    evaluator = evaluator_of()
    evaluator(Counter())
    best = evaluator.positions
    with pytest.raises(DataError, match="ranked a corpus of 5 documents for query 'q1', but the corpus has 6 now"):
        LexirecallEvaluator(QUERIES, CORPUS | {"d6": "b"}, RELEVANT, baseline=best)
    with pytest.raises(DataError, match="made with other judgments"):
        LexirecallEvaluator(QUERIES, CORPUS, RELEVANT | {"q2": {"d5"}}, baseline=best)
    with pytest.raises(UsageError, match="made with ties='trec', not 'worst'"):
        evaluator_of(baseline=best, ties="worst")


def test_a_lower_primary_measure_can_be_better() -> None:
    evaluator: Any = LexirecallEvaluator({"q": "x"}, {"0": "0", "1": "1", "2": "2"}, {"q": {"2": 1}}, primary="LastRel")
    assert not evaluator.greater_is_better
    assert evaluator.primary_metric == "LastRel"
    for at in (1, 2, 0):
        evaluator(LetterAt(at), epoch=at)
    assert evaluator.best.runs == ("epoch-2",)


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
        LexirecallEvaluator(QUERIES | {"q4": "nobody judged it either"}, CORPUS, relevant)(Counter())
    assert "1 query without judgments: ignored" in caplog.text
    assert "1 query without a relevant document (q3): left out of every mean" in caplog.text
    assert "Note(" not in caplog.text


def test_a_missing_package_is_noticed_before_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexirecall.torch.evaluator.find_spec", lambda _: None)
    evaluator_of()
    with pytest.raises(UsageError, match="write_positions needs pyarrow"):
        evaluator_of(write_positions=True)


def test_other_measures_get_a_table_of_their_own(tmp_path: Path) -> None:
    for measures in (["TSE"], ["TSE", "AP"], ["TSE"]):
        evaluator_of(measures=measures)(Counter(), str(tmp_path), 1)
    tables = {path.name: path.read_text(encoding="utf-8").splitlines() for path in tmp_path.iterdir()}
    assert {name: (lines[0], len(lines)) for name, lines in tables.items()} == {
        "lexirecall_results.csv": ("epoch,steps,TSE,LexiRecall", 3),
        "lexirecall_results-2.csv": ("epoch,steps,TSE,AP,LexiRecall", 2),
    }


def test_settings_are_given_to_the_model() -> None:
    asked: list[dict[str, Any]] = []

    class Asked(Counter):
        def encode(self, texts: list[str], **settings: Any) -> npt.NDArray[np.float32]:
            asked.append(settings)
            return super().encode(texts)

    evaluator_of(query_settings={"prompt_name": "question"}, corpus_settings={"truncate_dim": 2}, batch_size=7)(Asked())
    usual = {"batch_size": 7, "show_progress_bar": False, "convert_to_tensor": True}
    assert asked == [usual | {"prompt_name": "question"}, usual | {"truncate_dim": 2}]


def test_a_model_for_which_all_texts_are_alike_is_not_rewarded_if_ties_are_worst() -> None:
    assert evaluator_of(ties="worst")(Counter(0))["LastRel"] >= evaluator_of()(Counter(0))["LastRel"]
    constant = LetterAt(0)
    constant.encode_document = lambda texts, **_: np.ones((len(texts), 2), np.float32)  # type: ignore[method-assign]
    assert evaluator_of(ties="worst")(constant)["LastRel"] == 5


def test_relevant_documents_outside_the_corpus_are_an_error_or_at_its_end() -> None:
    relevant = RELEVANT | {"q2": {"d4", "d9"}}
    with pytest.raises(DataError, match="1 relevant document not in the corpus: 'd9'"):
        LexirecallEvaluator(QUERIES, CORPUS, relevant)
    evaluator: Any = LexirecallEvaluator(QUERIES, CORPUS, relevant, measures=["LastRel"], missing="last")
    with pytest.warns(UserWarning, match="placed at its end"):
        evaluator(Counter())
    again: Any = LexirecallEvaluator(QUERIES, CORPUS, relevant, missing="last", baseline=evaluator.positions)
    assert evaluator.positions.corpus_size.tolist() == again.texts.sizes.tolist() == [5, 6]


def test_numbers_are_ids_too() -> None:
    corpus = dict(zip(range(1, 6), CORPUS.values(), strict=True))
    numbers = {1: {2, 4}, 2: {4}}
    evaluator: Any = LexirecallEvaluator({1: "a", 2: "b"}, corpus, numbers, measures=["TSE", "LastRel"])
    assert evaluator(Counter(2)) == evaluator_of()(Counter(2))


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="judged queries without a text: 'q9'"):
        LexirecallEvaluator(QUERIES, CORPUS, {"q9": ["d1"]})
    with pytest.raises(DataError, match="the corpus is empty"):
        LexirecallEvaluator(QUERIES, {}, RELEVANT)
    with pytest.raises(DataError, match="two document ids are '1' as text"):
        LexirecallEvaluator(QUERIES, {1: "a", "1": "b"}, {"q1": {1}})
    with pytest.raises(UsageError, match=r"1.5 is not a query id"):
        LexirecallEvaluator({1.5: "a"}, CORPUS, RELEVANT)
    for judged in ("d1", 1):
        with pytest.raises(UsageError, match=f"the relevant documents of query 'q1' are {judged!r}"):
            LexirecallEvaluator(QUERIES, CORPUS, {"q1": judged})  # type: ignore[dict-item]
    with pytest.raises(DataError, match="no grade is 3 or more"):
        evaluator_of(level=3)
    for settings in ({"ties": "no"}, {"missing": "no"}, {"ties": "expected", "measures": ["Bpref"]}, {"level": 0}):
        with pytest.raises(UsageError):
            evaluator_of(**settings)
    with pytest.raises(UsageError, match="preference is 'TSE', but must be one of LexiRecall"):
        evaluator_of(preference="TSE")
    model = Counter()
    model.similarity_fn_name = "manhattan"
    with pytest.raises(
        UsageError, match="similarity_fn_name is 'manhattan', but must be one of cosine, dot, euclidean"
    ):
        evaluator_of()(model)
