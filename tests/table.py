"""The rows of the tables of measures and preferences with the settings that matter in short lists.

Belongs here: which rows and settings the properties are tried on. They are read from the tables when a test runs, so
that a new row is tested on arrival.
"""

from typing import TypeVar

from lexirecall import MEASURES, PREFERENCES, Measure, Preference
from lexirecall.measures.row import Row

Kind = TypeVar("Kind", bound=Row)


def variants(row: Kind) -> list[Kind]:
    """Return a row with values of `@` that matter in short lists, and with each of its options."""
    at = {"cutoff": (1, 3), "recall": (0.5, 1), "": ()}[row.at]
    options = [
        (name, option)
        for name, parameter in row.parameters.items()
        for option in parameter.options or ((True, False) if parameter.kind is bool else ())
    ]
    varied: list[Kind] = [*(row @ place for place in at), *(row.__call__(**{name: option}) for name, option in options)]
    return list(dict.fromkeys([*([] if row.needs_at else [row]), *varied]))


def all_measures() -> list[Measure]:
    return [measure for row in MEASURES.values() for measure in variants(row)]


def all_preferences() -> list[Preference]:
    return [preference for row in PREFERENCES.values() for preference in variants(row)]


def needs_size(measure: Measure) -> bool:
    """Tell whether it cannot be computed where the corpus size is unknown."""
    return measure.corpus == "required" or measure.values.get("e") == "linear"
