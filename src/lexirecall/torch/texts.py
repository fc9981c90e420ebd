"""Texts: the queries and the corpus, with their judgments, that every checkpoint of a model is evaluated on.

Belongs here: the forms in which they are given, and the checks that need no model, so that a mistake is found before
the training and not after its first epoch. Not here: encoding (evaluator), counting (formats).
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexirecall.errors import DataError, FallbackOption, UsageError, choice, counted, listed, shown
from lexirecall.formats import Qrels, load_judgments
from lexirecall.formats.memory import ID_SHAPE
from lexirecall.judgments import IntArray, Judgments
from lexirecall.text import id_of, to_text

Relevant = Qrels | Mapping[Any, Iterable[Any]]
"""Judgments in any form, or {query: {document, …}}."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TextCollection:
    """Texts under the ids that judgments have; only queries that are judged are kept."""

    judgments: Judgments
    queries: dict[str, str]
    corpus: dict[str, str]
    num_absent: IntArray
    """How many relevant documents of each query are not in the corpus, [Q]."""

    @classmethod
    def of(
        cls, queries: Mapping[Any, str], corpus: Mapping[Any, str], relevant: Relevant, missing: str = "error"
    ) -> "TextCollection":
        """Take texts and judgments as they are given; `missing` is for relevant documents outside the corpus.

        >>> TextCollection.of({1: "cats"}, {"a": "A cat.", "b": "A dog."}, {1: {"a"}}).queries
        {'1': 'cats'}
        """
        choice("missing", missing, ("error", "last"))
        judgments = load_judgments(_graded(relevant))
        texts, documents = _by_text(queries, "query"), _by_text(corpus, "document")
        if not documents:
            raise DataError("the corpus is empty", remedy="give at least one document")
        if lost := [query for query in judgments.queries if query not in texts]:
            raise DataError(
                f"judged queries without a text: {listed(map(shown, lost))}",
                remedy="add them to the queries, or leave them out of the relevant documents",
            )
        if ignored := len(texts) - len(judgments.queries):
            _log.info("%s without judgments: ignored", counted(ignored, "query"))
        asked = {query: texts[query] for query in judgments.queries}
        return cls(judgments, asked, documents, _num_absent(judgments, documents, missing))

    @property
    def sizes(self) -> IntArray:
        """Return n of each query, [Q]: relevant documents outside the corpus are placed at its end."""
        return len(self.corpus) + self.num_absent


def _graded(relevant: Any) -> Any:
    """Give grade 1 to all documents of {query: {document, …}}; other forms of judgments stay as they are."""
    if not isinstance(relevant, Mapping):
        return relevant
    return {query: _grades(query, judged) for query, judged in relevant.items()}


def _grades(query: Any, judged: Any) -> Any:
    if isinstance(judged, Mapping):
        return judged
    if isinstance(judged, (str, bytes)) or not isinstance(judged, Iterable):
        raise UsageError(
            f"the relevant documents of query {shown(str(query))} are {judged!r}",
            remedy="give a set or a list of ids, or {document: grade}",
        )
    return dict.fromkeys(judged, 1)


def _by_text(texts: Mapping[Any, str], what: str) -> dict[str, str]:
    """Return texts by their ids as text; raise if two ids are the same then."""
    by_text: dict[str, str] = {}
    for key, text in texts.items():
        try:
            identifier = to_text(id_of(key))
        except (TypeError, ValueError):  # not an id, or not valid Unicode
            raise UsageError(f"{key!r} is not a {what} id", remedy=ID_SHAPE) from None
        if identifier in by_text:
            problem = f"two {what} ids are {shown(identifier)} as text"
            raise DataError(problem, remedy="ids are compared as text: give each its own")
        by_text[identifier] = text
    return by_text


def _num_absent(judgments: Judgments, corpus: Mapping[str, str], missing: str) -> IntArray:
    is_absent = np.array([to_text(document) not in corpus for document in judgments.documents], bool) & (
        judgments.grades > 0
    )
    if missing == "error" and is_absent.any():
        examples = [to_text(judgments.documents[index]) for index in np.flatnonzero(is_absent).tolist()]
        raise DataError(
            f"{counted(len(examples), 'relevant document')} not in the corpus: {listed(map(shown, examples))}",
            remedy="check that ids are written the same way",
            way_on=FallbackOption("missing", {"last": "place them at its end"}),
        )
    return np.diff(np.searchsorted(np.flatnonzero(is_absent), judgments.offsets))
