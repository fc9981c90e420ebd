"""An auditor: the runs of a health portal before and after a change, the languages of its users and the publishers.

Belongs here: these files, and what an auditor does with them.
"""

from collections.abc import Mapping

import numpy as np

from lexirecall.starts.start import Start, noisy, ranked, separated, trec_qrels, trec_run

_SEED = 5
_LANGUAGES = {"English": 36, "Spanish": 24, "Vietnamese": 12}
_PUBLISHERS = {"National Health Agency": 0.45, "City Hospital": 0.3, "Patient Alliance": 0.15, "Rural Clinics": 0.1}
_DOCUMENTS = [f"doc{number:04d}" for number in range(1500)]
_OLD = {"English": 3.4, "Spanish": 3.1, "Vietnamese": 3.1}
_NEW = {"English": 4.2, "Spanish": 3.8, "Vietnamese": 2.2}
"""How far a run lifts relevant documents above the others, by the language of the query."""


def make() -> Mapping[str, str]:
    r"""Simulate the files.

    >>> make()["languages.tsv"].splitlines()[0]
    'q01\tEnglish'
    """
    rng = np.random.default_rng(_SEED)
    languages = rng.permutation([name for name, number in _LANGUAGES.items() for _ in range(number)]).tolist()
    asked = {f"q{number:02d}": language for number, language in enumerate(languages, 1)}
    owners = dict(zip(_DOCUMENTS, rng.choice([*_PUBLISHERS], len(_DOCUMENTS), p=[*_PUBLISHERS.values()]), strict=True))
    relevant = {query: dict.fromkeys(rng.choice(_DOCUMENTS, 8, replace=False).tolist(), 1) for query in asked}
    old = {query: _ranking(rng, relevant[query], _OLD[language], {}) for query, language in asked.items()}
    small = {document: -1.6 for document, owner in owners.items() if owner == "Rural Clinics"}
    new = {query: _ranking(rng, relevant[query], _NEW[language], small) for query, language in asked.items()}
    return {
        "qrels.txt": trec_qrels(relevant),
        "old.run": trec_run(old, "old"),
        "new.run": trec_run(new, "new"),
        "languages.tsv": separated(asked.items(), "\t"),
        "publishers.tsv": separated(owners.items(), "\t"),
    }


def _ranking(
    rng: np.random.Generator, relevant: Mapping[str, int], lift: float, handicaps: Mapping[str, float]
) -> list[str]:
    """Return the first hundred documents."""
    lifts = {document: lift * (document in relevant) + handicaps.get(document, 0.0) for document in _DOCUMENTS}
    return ranked(noisy(rng, lifts), 100)


_RUNS = "{}/qrels.txt {}/old.run {}/new.run"
START = Start(
    reader="auditor",
    person="an auditor",
    question="The new search is better on average. For whom is it worse, and whose documents are seen less?",
    about={
        "qrels.txt": "judgments of 72 queries to a health portal",
        "old.run": "the first 100 documents for each query, before the change",
        "new.run": "the same after the change",
        "languages.tsv": "the language in which each query was asked",
        "publishers.tsv": "who published each document",
    },
    make=make,
    commands=(
        f"lexirecall eval {_RUNS} -m R@20 --by {{}}/languages.tsv",
        f"lexirecall compare {_RUNS} -m R@20 --by {{}}/languages.tsv",
        f"lexirecall eval {_RUNS} --providers {{}}/publishers.tsv --show providers",
    ),
    conclusion="The mean rises, and two groups pay for it: people who ask in Vietnamese find less than before, and the "
    "documents of the Rural Clinics are placed lower than the other relevant ones. Neither is likely to be chance.",
    following=(
        "lexirecall gate {}/qrels.txt {}/new.run --baseline {}/old.run -m R@20 --by {}/languages.tsv",
        f"lexirecall eval {_RUNS} -m R@20 --over mean --over tail:0.1",
        f"lexirecall report {_RUNS} --by {{}}/languages.tsv --providers {{}}/publishers.tsv -o {{}}/report.html",
    ),
)
