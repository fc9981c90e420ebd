"""Subject: what a verb is about, in whichever form it is given.

Belongs here: the step from judgments and runs, or from positions that were made before, to positions; and the measures
that are asked for. Not here: reading (formats), what is computed from positions (the verbs).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from lexirecall.errors import UsageError
from lexirecall.fields import names_of
from lexirecall.formats import Qrels, Runs, count_runs, has_runs, may_hold_both, project
from lexirecall.manifest import Conventions, Sources
from lexirecall.names import Evaluable, Names, parse_names
from lexirecall.positions import Positions

DEFAULT_MEASURES = ("LexiRecall", "TSE", "R@1000", "Rprec", "AP", "nDCG", "RR")
PROVIDER_MEASURES = ("WorstProvider", "WorstProviderOverall")
"""Those that come after the default ones where there is a map of providers."""


def asked_measures(measures: Names | None, *, has_providers: bool) -> list[Evaluable]:
    """Return the measures that are asked for, or the default ones."""
    default = (*DEFAULT_MEASURES, *PROVIDER_MEASURES) if has_providers else DEFAULT_MEASURES
    return parse_names(default if measures is None else measures)


def asked_of(qrels: Qrels | Positions, measures: Names | None, options: Mapping[str, Any]) -> list[Evaluable]:
    """Return the measures that are asked of what is given, or the default ones."""
    providers = qrels.providers if isinstance(qrels, Positions) else options.get("providers")
    return asked_measures(measures, has_providers=providers is not None)


def num_given(
    qrels: Qrels | Positions, runs: Runs | None, options: Mapping[str, Any], most: int | None = None
) -> int | None:
    """Return how many runs there are, None if only reading them will tell; `most` is how many there may be."""
    if isinstance(qrels, Positions):
        return len(qrels.runs)
    columns = options.get("columns")
    number = count_runs(runs, most, columns) if has_runs(runs) else None
    return None if number == 1 and may_hold_both(qrels, columns) else number


def positions_of(
    qrels: Qrels | Positions, runs: Runs | None, rows: Iterable[Evaluable], options: Mapping[str, Any]
) -> Positions:
    """Read judgments and runs, with what the measures need; or take positions, for which the options must hold.

    >>> positions = project({"q": {"a": 1}}, {"q": ["a"]})
    >>> positions_of(positions, None, [], {"ties": "trec"}) is positions
    True
    >>> positions_of(positions, None, [], {"ties": "best"})
    Traceback (most recent call last):
    lexirecall.errors.UsageError: ties is 'best', but the positions were made with ties='trec'
      leave it out, or project the runs again
    """
    if not isinstance(qrels, Positions):
        return project(qrels, runs, needs_judged=any(row.needs_judged for row in rows), **options)
    if runs is not None:
        raise UsageError("runs are given beside positions, which have their own", remedy="name measures by measures=")
    for name, value in options.items():
        _check_held(qrels, name, value)
    return qrels


def _check_held(positions: Positions, name: str, value: object) -> None:
    """Raise if an option of reading says otherwise than positions that have been read."""
    if name in names_of(Conventions) and value != (setting := getattr(positions.conventions, name)):
        raise UsageError(
            f"{name} is {value!r}, but the positions were made with {name}={setting!r}",
            remedy="leave it out, or project the runs again",
        )
    if name in names_of(Sources) and name != "show_progress" and value is not None:
        raise UsageError(f"{name} is given beside positions, which have been read", remedy="give it to project")
