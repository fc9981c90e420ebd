"""The rows of the tables of measures and preferences with the settings that matter in short lists.

Belongs here: which rows, settings and conventions the properties are tried on. They are read from the tables when a
test runs, so that a new row is tested on arrival.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

import naive
from lexirecall import Measure, Preference
from lexirecall.errors import UsageError
from lexirecall.fields import choices_of
from lexirecall.manifest import Conventions
from lexirecall.measures import MEASURES
from lexirecall.measures.form import recall_level_form
from lexirecall.measures.parameter import Share
from lexirecall.measures.row import Row
from lexirecall.preferences import PREFERENCES

Kind = TypeVar("Kind", bound=Row)
ONE_ORDER = [rule for rule in choices_of(Conventions, "ties") if rule != "expected"]
"""The tie rules that give one order."""
WITHOUT_INPUT_ORDER = [rule for rule in choices_of(Conventions, "ties") if rule != "input"]
"""The tie rules to which the order of the input does not matter."""


def variants(row: Kind) -> list[Kind]:
    """Return a row with values of `@` that matter in short lists, and with each of its options."""
    at = {"cutoff": (1, 3), "recall": (0.5, 1), "share": (0.1, 0.5, 1), "": ()}[row.at]
    shares = (Share(10), Share(50)) if row.takes_share else ()
    options = [
        (name, option)
        for name, parameter in row.parameters.items()
        for option in parameter.options or ((True, False) if parameter.kind is bool else ())
    ]
    varied: list[Kind] = [*(row @ place for place in at), *(row.__call__(**{name: option}) for name, option in options)]
    varied += [row.__call__(cutoff=share) for share in shares]
    return list(dict.fromkeys([*([] if row.needs_at else [row]), *varied]))


def all_measures() -> list[Measure]:
    """Return all that can be computed without a map of units; `tests/test_diversity.py` tries the others."""
    return [measure for row in MEASURES.values() if not row.needs_units for measure in variants(row)]


def all_preferences() -> list[Preference]:
    return [preference for row in PREFERENCES.values() for preference in variants(row)]


def check_twins(rows: Iterable[str], twins: Mapping[str, object], where: str) -> None:
    """Assert that every row has a twin in a table of tests/naive.py, and every twin a row."""
    names = {*rows}
    without = ", ".join(sorted(names - twins.keys()))
    assert not without, f"no twin of {without}: add one to {where} in tests/naive.py"
    assert not twins.keys() - names


def needs_size(measure: Measure) -> bool:
    """Tell whether it cannot be computed where the corpus size is unknown."""
    exposure = measure.values.get("e")
    if exposure is not None and math.isnan(naive.EXPOSURES[exposure](1, p=0.5, n=None)):
        return True
    return measure.needs_size


def is_sum(measure: Measure) -> bool:
    """Tell whether it is sum_i e(p_i) z(i, m), at least where all grades are 1."""
    try:
        recall_level_form(measure, 30)
    except UsageError:
        return False
    return True
