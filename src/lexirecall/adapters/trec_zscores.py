"""z-scores as trec_eval's `-Z` prints them: how far a value is from the mean of other runs, in standard deviations.

Belongs here: reading the file of means and deviations, and the conversion. Not here: printing (trec_eval).
"""

import os
from collections.abc import Sequence

import numpy as np

from lexirecall.errors import FormatError, shown
from lexirecall.formats.source import Source
from lexirecall.formats.trec import damage_first, lines
from lexirecall.judgments import FloatArray
from lexirecall.text import number_of, to_bytes

MISSING = -1000000.0
"""Where the file has no line for a topic and a measure, or a deviation of 0 and another mean."""
_NUM_FIELDS = 4

Deviations = dict[tuple[bytes, bytes], tuple[float, float]]
"""The mean and the standard deviation for each topic and measure."""


def read_deviations(path: str | os.PathLike[str]) -> Deviations:
    """Read lines `topic measure mean deviation`; a measure has the name that trec_eval prints.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "others.tsv"
    ...     _ = file.write_text("301 map 0.25 0.1")
    ...     read_deviations(file)
    {(b'301', b'map'): (0.25, 0.1)}
    """
    found: Deviations = {}
    with Source(path) as source, damage_first(source):
        for number, fields in lines(source):
            if len(fields) != _NUM_FIELDS:
                problem = f"a line must have 4 fields (topic measure mean deviation), but this one has {len(fields)}"
                raise FormatError(source.name, number, f"{problem}: {shown(b' '.join(fields))}")
            topic, measure, *numbers = fields
            if (topic, measure) in found:
                problem = f"measure {shown(measure)} of topic {shown(topic)} is listed twice"
                raise FormatError(source.name, number, problem, remedy="keep one of the lines")
            mean, deviation = (_number(text, source, number) for text in numbers)
            found[topic, measure] = mean, deviation
    return found


def _number(text: bytes, source: Source, number: int) -> float:
    """Read a number; nan is one, where other runs have no mean, and gives nan."""
    try:
        return number_of(text)
    except ValueError:
        problem = f"the mean or the deviation is not a number: {shown(text)}"
        raise FormatError(source.name, number, problem, remedy="write it as 0.25 or 1e-3") from None


def zscores(values: FloatArray, topics: Sequence[str], measures: Sequence[str], deviations: Deviations) -> FloatArray:
    """Convert values, [topics, measures].

    >>> found = {(b"1", b"map"): (0.25, 0.5), (b"2", b"map"): (0.5, 0.0)}
    >>> zscores(np.array([[0.75], [0.5], [0.5]]), ["1", "2", "3"], ["map"], found).tolist()
    [[1.0], [0.0], [-1000000.0]]
    """
    found = np.empty(values.shape)
    for q, topic in enumerate(topics):
        for c, measure in enumerate(measures):
            found[q, c] = _zscore(float(values[q, c]), deviations.get((to_bytes(topic), to_bytes(measure))))
    return found


def _zscore(value: float, expected: tuple[float, float] | None) -> float:
    if expected is None:
        return MISSING
    mean, deviation = expected
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING
