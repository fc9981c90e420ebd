"""Strip: where the relevant documents of a ranking stand, drawn in one line of text on a logarithmic axis.

Belongs here: drawing with characters. Not here: what is drawn (verbs).

>>> strip = Strip(deepest=1000, width=31)
>>> print(strip.axis())
1         10        100       1,000
>>> print(strip.draw(np.array([1, 2, 30, 32, 900.0]), num_retrieved=1000))
•──•───────────2──────────────•
>>> print(strip.pointer(30.0))
               ▲ 30
"""

from dataclasses import dataclass

import numpy as np

from lexirecall.judgments import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Strip:
    """An axis from position 1 to the deepest, in so many characters."""

    deepest: int
    width: int

    def columns(self, positions: FloatArray) -> IntArray:
        """Return the column of each position, from 0 to width - 1."""
        share = np.log(positions) / np.log(max(self.deepest, 2))
        columns: IntArray = np.minimum(np.round(share * (self.width - 1)), self.width - 1).astype(np.int64)
        return columns

    def axis(self) -> str:
        """Write the powers of ten above their columns, and the deepest position above the last."""
        line = ""
        for position in (*(10**power for power in range(len(str(self.deepest)))), self.deepest):
            label, column = f"{position:,}", int(self.columns(np.array([float(position)]))[0])
            if not line or len(line) < column:
                line = line.ljust(column) + label
        return line

    def draw(self, positions: FloatArray, num_retrieved: int) -> str:
        """Draw the documents: • for one, a digit for several in one column, # for ten or more; the line is the list."""
        counts = np.bincount(self.columns(positions[np.isfinite(positions)]), minlength=self.width)
        end = int(self.columns(np.array([float(max(num_retrieved, 1))]))[0]) if num_retrieved else -1
        return "".join(_mark(count, is_listed=column <= end) for column, count in enumerate(counts.tolist())).rstrip()

    def pointer(self, position: float) -> str:
        """Point at a position, for the line below a drawing; nothing for a document that is missing."""
        if not np.isfinite(position):
            return ""
        column, label = int(self.columns(np.array([position]))[0]), f"{position:,.0f}"
        if column + 2 + len(label) > self.width:
            return f"{label} ▲".rjust(column + 1)
        return " " * column + f"▲ {label}"


def _mark(count: int, *, is_listed: bool) -> str:
    if count == 0:
        return "─" if is_listed else " "
    return "•" if count == 1 else str(count) if count < 10 else "#"
