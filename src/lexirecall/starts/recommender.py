"""A builder of recommenders: ratings that were held back, two sources of candidates and two rankers, as CSV.

Belongs here: these files, and what a builder of recommenders does with them.
"""

from collections.abc import Mapping

import numpy as np

from lexirecall.starts.start import Start, noisy, ranked, separated

_SEED = 10
_USERS = [f"u{number:02d}" for number in range(1, 61)]
_DOCUMENTS = [f"film{number:03d}" for number in range(400)]
_SHOWN = 20


def make() -> Mapping[str, str]:
    """Simulate the files.

    >>> make()["ratings.csv"].splitlines()[:2]
    ['user,item,rating', 'u01,film201,4']
    """
    rng = np.random.default_rng(_SEED)
    fame = dict(zip(_DOCUMENTS, rng.normal(size=len(_DOCUMENTS)).tolist(), strict=True))
    ratings = {user: _ratings(rng, fame, is_new=_is_new(user)) for user in _USERS}
    lists: dict[str, dict[str, list[str]]] = {"similar": {}, "popular": {}, "old": {}, "new": {}}
    for user, grades in ratings.items():
        for name, documents in _lists(rng, fame, grades, is_new=_is_new(user)).items():
            lists[name][user] = documents
    rated = ((user, document, stars) for user, grades in ratings.items() for document, stars in grades.items())
    groups = ((user, "newcomer" if _is_new(user) else "regular") for user in _USERS)
    return {
        "ratings.csv": separated(rated, ",", "user", "item", "rating"),
        "users.tsv": separated(groups, "\t"),
        **{f"{name}.csv": _scored(rankings) for name, rankings in lists.items()},
    }


def _is_new(user: str) -> bool:
    return int(user[1:]) % 4 == 0


def _ratings(rng: np.random.Generator, fame: Mapping[str, float], *, is_new: bool) -> dict[str, int]:
    """Return what a user has rated: newcomers mostly what everybody knows, regulars what they have found themselves."""
    chance = np.exp(np.array([*fame.values()]) * (2.0 if is_new else 0.3))
    seen = rng.choice(_DOCUMENTS, size=5 if is_new else 9, replace=False, p=chance / chance.sum()).tolist()
    stars = np.clip(np.round(rng.normal(4.0, 0.9, size=len(seen))), 1, 5).astype(int).tolist()
    return dict(zip(seen, stars, strict=True))


def _lists(
    rng: np.random.Generator, fame: Mapping[str, float], ratings: Mapping[str, int], *, is_new: bool
) -> dict[str, list[str]]:
    """Return what each source and each ranker lists: little is known of newcomers, so similarity finds less there."""
    liked = {document for document, stars in ratings.items() if stars >= 4}
    similar = ranked(
        noisy(rng, {document: (0.8 if is_new else 2.6) * (document in liked) for document in _DOCUMENTS}), 60
    )
    popular = ranked(noisy(rng, {document: 2.0 * known for document, known in fame.items()}), 40)
    joined = list(dict.fromkeys([*similar, *popular]))
    old = ranked(
        noisy(rng, {document: 1.4 * (document in liked) + 0.5 * fame[document] for document in joined}), _SHOWN
    )
    lift = 1.2 if is_new else 2.0
    new = ranked(
        noisy(rng, {document: lift * (document in liked) - 0.2 * fame[document] for document in joined}), _SHOWN
    )
    return {"similar": similar, "popular": popular, "old": old, "new": new}


def _scored(lists: Mapping[str, list[str]]) -> str:
    rows = (
        (user, document, len(documents) - place)
        for user, documents in lists.items()
        for place, document in enumerate(documents)
    )
    return separated(rows, ",", "user", "item", "score")


_RANKERS = "{}/ratings.csv {}/old.csv {}/new.csv --level 4"
START = Start(
    reader="recommender",
    person="someone who builds recommenders",
    question="May the new ranker replace the old one, and where do the films that people like get lost?",
    about={
        "ratings.csv": "ratings that were held back: 60 users, one to five stars",
        "users.tsv": "who is a newcomer and who a regular",
        "similar.csv": "candidates: what similar users liked",
        "popular.csv": "candidates: what everybody watches",
        "old.csv": "the ranker in use: 20 films for each user",
        "new.csv": "the new ranker",
    },
    make=make,
    commands=(
        f"lexirecall eval {_RANKERS} -m LexiRecall,R@10,RR --by {{}}/users.tsv",
        "lexirecall funnel {}/ratings.csv {}/similar.csv+{}/popular.csv {}/new.csv@10 --level 4 --limit 5",
    ),
    conclusion="The new ranker serves regulars better and newcomers worse, and the mean hides it: give it to regulars "
    "only. The candidates lack 26 of the 329 films that people like, and the ranker loses four times as many of those "
    "that it is handed: work on the ranker first.",
    following=(
        "lexirecall gate {}/ratings.csv {}/new.csv --baseline {}/old.csv --level 4 --by {}/users.tsv",
        f"lexirecall report {_RANKERS} --by {{}}/users.tsv -o {{}}/report.html",
    ),
)
