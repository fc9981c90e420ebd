"""Evaluator: a model's recall at every checkpoint, through the evaluator interface of sentence-transformers.

Belongs here: encoding with the model, what is returned and written at a checkpoint, and which one is the best so far.
Not here: counting (formats), measures and preferences (verbs).
"""

# if sentence-transformers is not installed, the class that it asks for has the type Any:
# mypy: disallow-subclassing-any=False

import csv
import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexirecall.errors import DataError, UsageError, choice
from lexirecall.formats.embeddings import project_embeddings
from lexirecall.installing import how_to_install
from lexirecall.manifest import Conventions, Policies
from lexirecall.names import parse_measures, parse_names
from lexirecall.positions import Positions
from lexirecall.preferences import PREFERENCES, Preference
from lexirecall.torch.checkpoints import MEASURES, Baseline, baseline_of, fitting, side_by_side
from lexirecall.torch.texts import Relevant, TextCollection
from lexirecall.verbs.evaluate import evaluate

SIMILARITIES = {"cosine": "cosine", "dot": "dot", "euclidean": "l2"}
"""Those of sentence-transformers, and what they are called here."""
_HOMES = {
    "sentence_transformers.base.evaluation": "BaseEvaluator",
    "sentence_transformers.evaluation": "SentenceEvaluator",
}
"""Where the class is that trainers ask for: from version 6 on, and before."""
_log = logging.getLogger(__name__)


def _interface() -> Any:
    """Return the class that trainers of sentence-transformers ask for; a plain one if that is not installed."""
    for home, name in _HOMES.items():
        try:
            return getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("sentence_transformers"):  # something that it needs is missing
                raise
    return object


class LexirecallEvaluator(_interface()):  # type: ignore[misc]
    """Recall of a model at each checkpoint, over the whole corpus; nothing is retrieved and nothing is cut off.

    It is called as the evaluators of sentence-transformers are: `evaluator(model, output_path, epoch, steps)`. `model`
    is anything with `encode(texts, batch_size=…, show_progress_bar=…, convert_to_tensor=…)`; `encode_query` and
    `encode_document` are used if it has them. `query_settings` and `corpus_settings` are given to these methods too,
    such as {"prompt_name": "question", "truncate_dim": 256}. `queries` and `corpus` map ids to texts. `relevant` are
    judgments in any form, or {query: {document, …}}. `block` documents are encoded at a time; their vectors then wait
    in the memory of the host. `similarity` is dot, cosine or l2; unless given, it is that of the model.

    The result has the mean of every measure, and from the second checkpoint on the win rate of LexiRecall against the
    best one before: the share of queries in which this checkpoint finds everything sooner, ties as half. The best one
    has the best mean of `primary`, which `primary_metric` names for the trainer; of equal ones, it is the first.
    `baseline`, positions of the same queries or a positions file, is the one to beat at first. `positions` are those of
    the latest checkpoint. If there is an output path, a line is added to a CSV file there, and with `write_positions`
    the positions of each checkpoint are saved in a file.

    >>> import numpy as np
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
        relevant: Relevant,
        *,
        name: str = "",
        measures: Sequence[str] = MEASURES,
        primary: str = "TSE",
        preference: str = "LexiRecall",
        baseline: Baseline | None = None,
        level: float = 1,
        ties: str = "trec",
        missing: str = "error",
        similarity: str | None = None,
        query_settings: Mapping[str, Any] | None = None,
        corpus_settings: Mapping[str, Any] | None = None,
        batch_size: int = 32,
        block: int = 50_000,
        show_progress_bar: bool = False,
        write_csv: bool = True,
        write_positions: bool = False,
    ) -> None:
        super().__init__()
        self.texts = TextCollection.of(queries, corpus, relevant, missing)
        self.conventions, self.level = Conventions(ties=ties), Policies(level=level).level
        _check_relevant(self.texts, self.level)
        rows, (main,) = parse_measures([*measures, primary]), parse_measures([primary])
        self.measures, self.primary = tuple(map(str, rows)), str(main)
        self.preference = _preference(preference)
        if ties == "expected":
            for row in (*rows, *parse_names(self.preference)):
                row.require_closed_form()
        self.name, self.missing, self.similarity = name, missing, similarity
        self.greater_is_better, self.primary_metric = main.direction > 0, self._key(self.primary)
        self.query_settings, self.corpus_settings = dict(query_settings or {}), dict(corpus_settings or {})
        self.batch_size, self.block, self.show_progress_bar = batch_size, block, show_progress_bar
        self.write_csv, self.write_positions = write_csv, write_positions
        if write_positions and find_spec("pyarrow") is None:
            raise UsageError("write_positions needs pyarrow, which is not installed", remedy=how_to_install("frames"))
        self.positions: Positions | None = None
        self.best: Positions | None = None
        self.best_value: float | None = None
        if baseline is not None:
            self.best = baseline_of(baseline)
            fitting(self.best, self.texts.judgments, self.conventions, self.texts.sizes)
            self.best_value = self._means(self.best)[self.primary]

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1, **_: Any
    ) -> dict[str, float]:
        """Evaluate a checkpoint."""
        self.positions = self.project(model, _label(epoch, steps))
        values = self._means(self.positions)
        self._keep_best(self.positions, values[self.primary])
        if output_path is not None:
            self._write(Path(output_path), epoch, steps, values)
        metrics = {self._key(measure): value for measure, value in values.items()}
        if hasattr(model, "model_card_data") and hasattr(self, "store_metrics_in_model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def project(self, model: Any, name: str = "run") -> Positions:
        """Return the positions of the relevant documents in the model's rankings of the whole corpus."""
        similarity = _similarity(model) if self.similarity is None else self.similarity
        ids, documents = list(self.texts.corpus), list(self.texts.corpus.values())
        parts = [slice(start, start + self.block) for start in range(0, len(ids), self.block)]
        queries = self._encode(model, "encode_query", list(self.texts.queries.values()), self.query_settings)
        corpus = [
            (ids[part], _on_host(self._encode(model, "encode_document", documents[part], self.corpus_settings)))
            for part in parts
        ]
        return project_embeddings(
            queries,
            corpus,
            self.texts.judgments,
            query_ids=list(self.texts.queries),
            similarity=similarity,
            name=name,
            missing=self.missing,
            ties=self.conventions.ties,
        )

    def _encode(self, model: Any, method: str, texts: list[str], settings: Mapping[str, Any]) -> Any:
        """Encode with the method that a model has for such texts, or with `encode`."""
        encode = getattr(model, method, None) or model.encode
        usual = {"batch_size": self.batch_size, "show_progress_bar": self.show_progress_bar, "convert_to_tensor": True}
        vectors = encode(texts, **{**usual, **settings})
        if getattr(vectors, "is_sparse", False):
            raise UsageError(
                "the model gives sparse vectors, but products need dense ones",
                remedy="give query_settings and corpus_settings as {'convert_to_sparse_tensor': False}",
            )
        return vectors

    def _means(self, positions: Positions) -> dict[str, float]:
        """Return the mean of every measure, and the win rate against the best checkpoint before, if there is one."""
        is_compared = self.best is not None and positions is not self.best
        names = (*self.measures, self.preference) if is_compared else self.measures
        compared = side_by_side(positions, self.best) if is_compared and self.best is not None else positions
        scores = evaluate(compared, measures=list(names), level=self.level)
        for note in scores.notes:
            _log.info("%s", note.text)
        return dict(zip(names, scores.means[0].tolist(), strict=True))

    def _keep_best(self, positions: Positions, value: float) -> None:
        """Keep the positions of a checkpoint that is better than the best one before, or the first."""
        if self.best_value is None or (value > self.best_value if self.greater_is_better else value < self.best_value):
            self.best, self.best_value = positions, value

    def _key(self, measure: str) -> str:
        return f"{self.name}_{measure}" if self.name else measure

    def _write(self, folder: Path, epoch: float, steps: int, values: Mapping[str, float]) -> None:
        """Add a line to the file of results, and save the positions if asked to."""
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"lexirecall_{self.name}" if self.name else "lexirecall"
        if self.write_positions and self.positions is not None:
            self.positions.save(folder / f"{stem}_{_label(epoch, steps)}.parquet")
        if self.write_csv:
            columns = ["epoch", "steps", *self.measures, self.preference]
            path = _csv_with(folder, f"{stem}_results", columns)
            is_new = not path.exists()
            with path.open("a", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                if is_new:
                    writer.writerow(columns)
                writer.writerow([epoch, steps, *(values.get(column, "") for column in columns[2:])])


def _check_relevant(texts: TextCollection, level: float) -> None:
    if not texts.judgments.num_relevant(level).any():
        raise DataError(
            f"no query has a relevant document: no grade is {level:g} or more",
            remedy="lower the level, or check the grades",
        )


def _preference(name: str) -> str:
    """Return the name of a preference; a measure has a mean, so its win rate could not have the same name."""
    rows = parse_names(name)
    if len(rows) != 1 or not isinstance(rows[0], Preference):
        choice("preference", name, PREFERENCES, remedy="name measures by measures=")
    return str(rows[0])


def _csv_with(folder: Path, stem: str, columns: list[str]) -> Path:
    """Return the file of results that has these columns, or is not there yet: other measures get another file."""
    number, path = 1, folder / f"{stem}.csv"
    while path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            if next(csv.reader(file), None) == columns:
                break
        number, path = number + 1, folder / f"{stem}-{number + 1}.csv"
    return path


def _similarity(model: Any) -> str:
    """Return the similarity that a model was made for; cosine if it does not say."""
    asked = getattr(model, "similarity_fn_name", None) or "cosine"
    named = str(getattr(asked, "value", asked))  # some versions have an enumeration
    choice("the model's similarity_fn_name", named, SIMILARITIES, remedy="choose another one by similarity=")
    return SIMILARITIES[named]


def _on_host(vectors: Any) -> Any:
    """Take the vectors of a block from an accelerator, which has the model to hold; arrays of numpy are there."""
    return vectors.cpu() if hasattr(vectors, "cpu") else vectors


def _label(epoch: float | None, steps: int | None) -> str:
    """Return the name of a checkpoint; -1 is what trainers give at the end of an epoch, or outside training.

    >>> _label(2.5, 1_234_567), _label(2, -1), _label(-1, -1), _label(None, 0)
    ('epoch-2.5-steps-1234567', 'epoch-2', 'model', 'steps-0')
    """
    has_epoch, has_steps = (number not in (None, -1) for number in (epoch, steps))
    parts = [f"epoch-{epoch:g}"] if has_epoch else []
    return "-".join([*parts, f"steps-{steps}"] if has_steps else parts) or "model"
