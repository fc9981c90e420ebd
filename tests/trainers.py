"""LexirecallEvaluator and OrderedRankingLoss inside the trainer of sentence-transformers: `make adapters-test` runs it.

The model is made here, from a vocabulary of twelve words: nothing is downloaded.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator, SequentialEvaluator
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from lexirecall.torch import LexirecallEvaluator, OrderedRankingLoss

WORDS = ["who", "what", "ran", "sat", "ate", "cat", "dog", "fox", "mat", "log", "den"]
QUERIES = {f"q{n}": f"who {verb}" for n, verb in enumerate(("ran", "sat", "ate"))}
CORPUS = {f"d{n}{m}": f"{WORDS[5 + n]} {WORDS[8 + m]}" for n in range(3) for m in range(3)}
RELEVANT = {query: {document for document in CORPUS if document[1] == query[1]} for query in QUERIES}


def tiny_model() -> SentenceTransformer:
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(["[UNK]", *WORDS])}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu")


@pytest.mark.filterwarnings("ignore")  # of the packages around the trainer
def test_a_trainer_keeps_what_the_evaluator_says(tmp_path: Path) -> None:
    model = tiny_model()
    evaluator = LexirecallEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", write_positions=True)
    before = evaluator(model)
    pairs = [(QUERIES[query], CORPUS[document]) for query in QUERIES for document in sorted(RELEVANT[query])]
    rows = Dataset.from_dict({"anchor": [a for a, _ in pairs], "positive": [b for _, b in pairs]})
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=4, learning_rate=0.1, eval_strategy="epoch", save_strategy="epoch",
        load_best_model_at_end=True, metric_for_best_model="eval_dev_TSE", report_to=[], use_cpu=True,
        per_device_train_batch_size=3,
    )  # fmt: skip
    trainer = SentenceTransformerTrainer(
        model, arguments, train_dataset=rows, loss=MultipleNegativesRankingLoss(model), evaluator=evaluator
    )
    trainer.train()
    logged = [entry["eval_dev_TSE"] for entry in trainer.state.log_history if "eval_dev_TSE" in entry]
    assert len(logged) == 4
    assert max(logged) == pytest.approx(evaluator.best_value)
    assert max(logged) > before["dev_TSE"]
    assert evaluator(model)["dev_TSE"] == pytest.approx(max(logged))  # the trainer has loaded the same one
    assert all("eval_dev_LexiRecall" in entry for entry in trainer.state.log_history if "eval_dev_TSE" in entry)
    assert len([*tmp_path.rglob("lexirecall_dev_*.parquet")]) == 4
    assert len([*tmp_path.rglob("lexirecall_dev_results.csv")]) == 1


AGAINST = {"R@2": "recall@2", "P@2": "precision@2", "RR@10": "mrr@10", "nDCG@10": "ndcg@10", "AP": "map@100"}
SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"truncate_dim": 3}, {"query_settings": {"truncate_dim": 3}, "corpus_settings": {"truncate_dim": 3}}),
    (
        {"query_prompt": "dog ", "corpus_prompt_name": "passage"},
        {"query_settings": {"prompt": "dog "}, "corpus_settings": {"prompt_name": "passage"}},
    ),
]


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize(("theirs", "ours"), SETTINGS, ids=["plain", "truncated", "prompts"])
def test_the_values_are_those_of_the_information_retrieval_evaluator(
    similarity: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    model = tiny_model()
    model.similarity_fn_name = similarity
    model.prompts = {"passage": "log what "}
    at = {"precision_recall_at_k": [2], "mrr_at_k": [10], "ndcg_at_k": [10], "map_at_k": [100]}
    expected = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **at, **theirs)(model)
    found = LexirecallEvaluator(QUERIES, CORPUS, RELEVANT, measures=[*AGAINST], block=4, **ours)(model)
    assert {measure: found[measure] for measure in AGAINST} == {
        measure: pytest.approx(expected[f"{similarity}_{name}"]) for measure, name in AGAINST.items()
    }


def test_it_stands_beside_other_evaluators() -> None:
    evaluator = LexirecallEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", primary="LastRel")
    found = SequentialEvaluator([InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT), evaluator])(tiny_model())
    assert found["sequential_score"] == found["dev_LastRel"]


PAIRS = [(QUERIES[query], CORPUS[document]) for query in QUERIES for document in sorted(RELEVANT[query])]
COLUMNS: dict[str, dict[str, list[Any]]] = {
    "pairs": {"anchor": [a for a, _ in PAIRS], "positive": [b for _, b in PAIRS]},
    "labels": {
        "anchor": [a for a, _ in PAIRS],
        "one": [b for _, b in PAIRS],
        "other": [PAIRS[(row + 4) % 9][1] for row in range(9)],  # of another query
        "label": [[1, 0]] * 9,
    },
}


@pytest.mark.filterwarnings("ignore")  # of the packages around the trainer
@pytest.mark.parametrize("form", COLUMNS)
def test_a_trainer_finds_everything_with_the_ordered_loss(form: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = tiny_model()
    evaluator = LexirecallEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", measures=["TSE", "All@3"])
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=60, learning_rate=0.1, save_strategy="no", report_to=[],
        use_cpu=True, per_device_train_batch_size=9, seed=1,
    )  # fmt: skip
    loss = OrderedRankingLoss(model, discount=0.5)
    SentenceTransformerTrainer(model, arguments, train_dataset=Dataset.from_dict(COLUMNS[form]), loss=loss).train()
    assert evaluator(model)["dev_All@3"] == 1
    model.save(str(tmp_path / "model"))
    assert "OrderedRankingLoss" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
