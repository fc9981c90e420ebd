"""Evaluator: a model's recall at every checkpoint, through the evaluator interface of sentence-transformers.

Belongs here: encoding with the model, what is returned and written at a checkpoint, and which one is the best so far.
Not here: counting (formats), measures and preferences (verbs).
"""

# if sentence-transformers is not installed, the class that it asks for has the type Any:
# mypy: disallow-subclassing-any=False

import csv
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lexirecall.errors import DataError, choice, listed
from lexirecall.formats import Qrels, load_judgments
from lexirecall.formats.embeddings import project_embeddings
from lexirecall.names import parse_measure, parse_preference
from lexirecall.positions import Positions
from lexirecall.torch.checkpoints import MEASURES, win_rate
from lexirecall.verbs.evaluate import evaluate

SIMILARITIES = {"cosine": "cosine", "dot": "dot", "euclidean": "l2"}
"""Those of sentence-transformers, and what they are called here."""
_log = logging.getLogger(__name__)


def _interface() -> Any:
    """Return the class that trainers of sentence-transformers ask for; a plain one does for all others."""
    for home in ("sentence_transformers.sentence_transformer.evaluation", "sentence_transformers.evaluation"):
        with suppress(ImportError):
            return import_module(home).SentenceEvaluator
    return object


class LexirecallEvaluator(_interface()):  # type: ignore[misc]
    """Recall of a model at each checkpoint, over the whole corpus; nothing is retrieved and nothing is cut off.

    It is called as the evaluators of sentence-transformers are: `evaluator(model, output_path, epoch, steps)`. `model`
    is anything with `encode(texts, batch_size=…, show_progress_bar=…, convert_to_tensor=…)`; `encode_query` and
    `encode_document` are used if it has them. `queries` and `corpus` map ids to texts. `relevant` are judgments in any
    form, or {query: {document, …}}.

    The result has the mean of every measure, and from the second checkpoint on the win rate of LexiRecall against the
    best one before: the share of queries in which this checkpoint finds everything sooner, ties as half. The best one
    has the best mean of `primary`, which `primary_metric` names for the trainer. `baseline`, positions of the same
    queries, is the one to beat at first. `positions` are those of the latest checkpoint. If there is an output path, a
    line is added to a CSV file there, and with `write_positions` the positions of each checkpoint are saved in a file.

    >>> class Letters:  # counts the letters a and b
    ...     def encode(self, texts, **settings):
    ...         return np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)
    >>> evaluator = LexirecallEvaluator(
    ...     {"q": "a"}, {"1": "aab", "2": "b", "3": "abb"}, {"q": {"1", "3"}}, measures=["TSE", "LastRel"], name="dev"
    ... )
    >>> evaluator(Letters())
    {'dev_TSE': 0.5, 'dev_LastRel': 2.0}
    >>> evaluator(Letters(), epoch=1)
    {'dev_TSE': 0.5, 'dev_LastRel': 2.0, 'dev_LexiRecall': 0.5}
    """

    def __init__(
        self,
        queries: Mapping[Any, str],
        corpus: Mapping[Any, str],
        relevant: Qrels | Mapping[Any, Iterable[Any]],
        *,
        name: str = "",
        measures: Sequence[str] = MEASURES,
        primary: str = "TSE",
        preference: str = "LexiRecall",
        baseline: Positions | None = None,
        level: float = 1,
        similarity: str | None = None,
        batch_size: int = 32,
        block: int = 50_000,
        show_progress_bar: bool = False,
        write_csv: bool = True,
        write_positions: bool = False,
    ) -> None:
        super().__init__()
        self.judgments = load_judgments(_graded(relevant))
        self.texts = _texts_of(self.judgments.requests, queries)
        self.corpus = {str(item): text for item, text in corpus.items()}
        self.name, self.level, self.similarity = name, level, similarity
        self.measures = tuple(dict.fromkeys(str(parse_measure(measure)) for measure in (*measures, primary)))
        self.primary, self.preference = str(parse_measure(primary)), str(parse_preference(preference))
        self.greater_is_better = parse_measure(primary).direction > 0
        self.primary_metric = self._key(self.primary)
        self.batch_size, self.block, self.show_progress_bar = batch_size, block, show_progress_bar
        self.write_csv, self.write_positions = write_csv, write_positions
        self.best, self.best_value = baseline, None if baseline is None else self._means(baseline)[self.primary]
        self.positions: Positions | None = None

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1, **_: Any
    ) -> dict[str, float]:
        """Evaluate a checkpoint."""
        positions = self.project(model, _label(epoch, steps))
        values = self._means(positions)
        if self.best is not None:
            values[self.preference] = win_rate(positions, self.best, self.preference, self.level)
        self.positions = positions
        self._keep_best(positions, values[self.primary])
        if output_path is not None:
            self._write(Path(output_path), epoch, steps, values)
        metrics = {self._key(measure): value for measure, value in values.items()}
        if hasattr(model, "model_card_data") and hasattr(self, "store_metrics_in_model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def project(self, model: Any, name: str = "run") -> Positions:
        """Return the positions of the relevant documents in the model's rankings of the whole corpus."""
        similarity = _similarity(model) if self.similarity is None else self.similarity
        texts = list(self.corpus.values())
        blocks = [texts[start : start + self.block] for start in range(0, len(texts), self.block)]
        return project_embeddings(
            self._encode(model, "encode_query", list(self.texts.values())),
            _joined([self._encode(model, "encode_document", block) for block in blocks]),
            self.judgments,
            query_ids=list(self.texts),
            corpus_ids=list(self.corpus),
            similarity=similarity,
            name=name,
        )

    def _encode(self, model: Any, method: str, texts: list[str]) -> Any:
        """Encode with the method that a model has for such texts, or with `encode`."""
        return getattr(model, method, model.encode)(
            texts, batch_size=self.batch_size, show_progress_bar=self.show_progress_bar, convert_to_tensor=True
        )

    def _means(self, positions: Positions) -> dict[str, float]:
        scores = evaluate(positions, measures=list(self.measures), level=self.level)
        for note in scores.notes:
            _log.info("%s", note)
        return dict(zip(self.measures, scores.means[0].tolist(), strict=True))

    def _keep_best(self, positions: Positions, value: float) -> None:
        """Keep the positions of a checkpoint that is better than the best one before, or the first."""
        if self.best_value is None or (value > self.best_value if self.greater_is_better else value < self.best_value):
            self.best, self.best_value = positions, value

    def _key(self, measure: str) -> str:
        return f"{self.name}_{measure}" if self.name else measure

    def _write(self, folder: Path, epoch: int, steps: int, values: Mapping[str, float]) -> None:
        """Add a line to the file of results, and save the positions if asked to."""
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"lexirecall_{self.name}" if self.name else "lexirecall"
        if self.write_positions and self.positions is not None:
            self.positions.save(folder / f"{stem}_{_label(epoch, steps)}.parquet")
        if self.write_csv:
            path = folder / f"{stem}_results.csv"
            columns = (*self.measures, self.preference)
            is_new = not path.exists()
            with path.open("a", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                if is_new:
                    writer.writerow(["epoch", "steps", *columns])
                writer.writerow([epoch, steps, *(values.get(column, "") for column in columns)])


def _similarity(model: Any) -> str:
    """Return the similarity that a model was made for; cosine if it does not say."""
    asked = getattr(model, "similarity_fn_name", None) or "cosine"
    choice("the model's similarity_fn_name", asked, SIMILARITIES, remedy="choose another one by similarity=")
    return SIMILARITIES[asked]


def _joined(blocks: list[Any]) -> Any:
    """Put the vectors of several blocks together, where they are."""
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    import torch

    return torch.cat(blocks)


def _label(epoch: int, steps: int) -> str:
    """Return the name of a checkpoint; -1 is what trainers give at the end of an epoch, or outside training.

    >>> _label(2, 500), _label(2, -1), _label(-1, -1)
    ('epoch-2-steps-500', 'epoch-2', 'model')
    """
    parts = [f"{name}-{number:g}" for name, number in (("epoch", epoch), ("steps", steps)) if number != -1]
    return "-".join(parts) or "model"


def _graded(relevant: Any) -> Any:
    """Give grade 1 to all documents of {query: {document, …}}; other forms of judgments stay as they are."""
    if not isinstance(relevant, Mapping) or all(isinstance(judged, Mapping) for judged in relevant.values()):
        return relevant
    return {
        query: judged if isinstance(judged, Mapping) else dict.fromkeys(judged, 1) for query, judged in relevant.items()
    }


def _texts_of(requests: Sequence[str], queries: Mapping[Any, str]) -> dict[str, str]:
    """Return the texts of the judged queries."""
    texts = {str(query): text for query, text in queries.items()}
    if missing := [query for query in requests if query not in texts]:
        raise DataError(
            f"judged queries without a text: {listed(map(repr, missing), total=len(missing))}",
            remedy="add them to the queries, or leave them out of the relevant documents",
        )
    return {query: texts[query] for query in requests}
