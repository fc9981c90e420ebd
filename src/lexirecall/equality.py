"""Equality: results that are compared field by field.

Belongs here: when two values of any kind are the same. Not here: the results.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


class FieldEquality:
    """A dataclass that equals another one of its type if all fields are the same, arrays and NaN included.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass(frozen=True)
    ... class Means(FieldEquality):
    ...     values: np.ndarray
    >>> Means(np.array([1, np.nan])) == Means(np.array([1, np.nan])), Means(np.array([1])) == Means(np.array([1, 1]))
    (True, False)
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__eq__ is FieldEquality.__eq__:  # so that `dataclass` leaves it as it is
            cls.__eq__ = FieldEquality.__eq__  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        return _has_same_fields(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same: NaN is NaN, arrays are compared as a whole, and types matter.

    >>> is_same({"a": [float("nan"), 1]}, {"a": [float("nan"), 1.0]}), is_same((1, 2), [1, 2])
    (True, False)
    """
    if one is other:
        return True
    if hasattr(one, "__array__") and hasattr(other, "__array__"):
        return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())  # noqa: PLR0124
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())
    if is_dataclass(one):
        return type(one) is type(other) and _has_same_fields(one, other)
    return bool(one == other) or bool(one != one and other != other)  # noqa: PLR0124 - only NaN differs from itself


def _has_same_fields(one: Any, other: Any) -> bool:
    return all(is_same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one) if field.compare)
