"""A systematic reviewer: three finished reviews with two ways to order the studies, and a fourth that has stopped.

Belongs here: these files, and what a reviewer does with them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from lexirecall.starts.start import Start, noisy, ranked, separated

_SEED = 6
_PAST = {"asthma": 600, "sepsis": 900, "statins": 1200}
"""How many studies a search brought in for each finished review."""
_STOPPED, _SIZE, _READ, _SAMPLED = "migraine", 2000, 700, 400
_DESIGNS = ("Randomized trial", "Cohort study", "Case series", "Letter")
_GROUPS = ("adults", "children", "older people", "outpatients", "pregnant women")


def make() -> Mapping[str, str]:
    """Simulate the files.

    >>> make()["labels.csv"].splitlines()[:2]
    ['topic,doc_id,label', 'asthma,asthma-0001,0']
    """
    rng = np.random.default_rng(_SEED)
    studies = {review: [f"{review}-{number:04d}" for number in range(1, size + 1)] for review, size in _PAST.items()}
    included = {review: {*rng.choice(ids, len(ids) // 30, replace=False).tolist()} for review, ids in studies.items()}
    learnt = {review: _order(rng, ids, included[review], 2.6) for review, ids in studies.items()}
    searched = {review: _order(rng, ids, included[review], 1.5) for review, ids in studies.items()}
    labels = ((review, study, int(study in included[review])) for review, ids in studies.items() for study in ids)
    titles = ((study, _title(rng, review)) for review, ids in studies.items() for study in ids)
    return {
        "labels.csv": separated(labels, ",", "topic", "doc_id", "label"),
        "keywords.csv": _scored(searched),
        "learner.csv": _scored(learnt),
        "titles.tsv": separated(titles, "\t"),
        "sizes.tsv": separated(_PAST.items(), "\t"),
        "sepsis-export.csv": _export(learnt["sepsis"], included["sepsis"]),
        **_stopped(rng),
    }


def _order(rng: np.random.Generator, studies: Sequence[str], included: set[str], lift: float) -> list[str]:
    return ranked(noisy(rng, {study: lift * (study in included) for study in studies}), len(studies))


def _stopped(rng: np.random.Generator) -> dict[str, str]:
    """Return the review that has stopped: its ranking, the labels of what was read, and a random sample of the rest."""
    from lexirecall.labels.samples import draw_sample

    studies = [f"{_STOPPED}-{number:04d}" for number in range(1, _SIZE + 1)]
    included = {*rng.choice(studies, 80, replace=False).tolist()}
    ranking = {_STOPPED: _order(rng, studies, included, 2.9)}
    read = {study: int(study in included) for study in ranking[_STOPPED][:_READ]}
    drawn = draw_sample({_STOPPED: read}, ranking, _SAMPLED, read=_READ, seed=1)
    sampled = ((review, study, int(study in included)) for review, study in drawn.rows)
    return {
        "screened.csv": separated(((_STOPPED, *pair) for pair in read.items()), ",", "topic", "doc_id", "label"),
        "ranking.csv": _scored(ranking),
        "sample.csv": separated(sampled, ",", "query_id", "doc_id", "grade"),
    }


def _export(order: Sequence[str], included: set[str]) -> str:
    """Return one review as ASReview exports it: labels, and when each record was labelled, here every half minute."""
    start = datetime(2025, 3, 3, 9)
    rows = ((study, int(study in included), start + timedelta(seconds=30 * place)) for place, study in enumerate(order))
    return separated(rows, ",", "record_id", "asreview_label", "asreview_time")


def _title(rng: np.random.Generator, review: str) -> str:
    return f"{rng.choice(_DESIGNS)} of {review} in {rng.choice(_GROUPS)}"


def _scored(orders: Mapping[str, Sequence[str]]) -> str:
    rows = (
        (review, study, len(order) - place) for review, order in orders.items() for place, study in enumerate(order)
    )
    return separated(rows, ",", "topic", "doc_id", "score")


_ORDERS = "{}/labels.csv {}/keywords.csv {}/learner.csv --corpus-size {}/sizes.tsv"
_READING = f"{{}}/screened.csv {{}}/ranking.csv --read {_READ}"
START = Start(
    reader="reviewer",
    person="a systematic reviewer",
    question="How far must we read, what would we miss, and may the review that we stopped stay stopped?",
    about={
        "labels.csv": "three finished reviews: which studies were included",
        "keywords.csv": "their studies, ordered by the words of the search",
        "learner.csv": "the same, ordered by a program that learns from the labels",
        "titles.tsv": "titles of the studies",
        "sizes.tsv": "how many studies each search brought in",
        "sepsis-export.csv": "one of the reviews, as ASReview exports it",
        "screened.csv": f"a fourth review that stopped: labels of the {_READ} studies that were read",
        "ranking.csv": f"the order of all its {_SIZE:,} studies",
        "sample.csv": f"{_SAMPLED} of the others, drawn at random and labelled",
    },
    make=make,
    commands=(
        f"lexirecall eval {_ORDERS} -m LastRel -m Depth@0.95 -m WSS@0.95",
        "lexirecall gate {}/labels.csv {}/learner.csv --texts {}/titles.tsv "
        "--require 'every relevant document is found within the first 300'",
        f"lexirecall certify {_READING} --sampled {{}}/sample.csv --wanted 0.95",
    ),
    conclusion="The learner saves most of the reading, but a fixed stop after 300 studies would have missed two. The "
    "random sample shows that the fourth review found at least 90 % with 95 % confidence: if that is what the protocol "
    "asks for, stop. To show 95 %, read on or draw a larger sample, as the sentences say.",
    following=(
        f"lexirecall certify {_READING} --draw {_SAMPLED} --seed 1 -o to-judge.csv",
        "lexirecall eval {}/sepsis-export.csv -m R@10% -m WSS@0.95",
    ),
)
