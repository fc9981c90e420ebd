"""Scales: from numbers to pixels, and the round numbers written beside them.

Belongs here: linear and logarithmic scales and bands, and their ticks. Not here: drawing them (`axes`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lexirecall.svg import SIZE, text_width


@dataclass(frozen=True, slots=True)
class Linear:
    """A scale from numbers to pixels, in proportion; `is_share` labels it in percent."""

    low: float
    high: float
    start: float
    end: float
    is_share: bool = False

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> "Linear":
        """Return the scale of numbers, 0 among them, that ends at ticks.

        >>> Linear.over([0.31, -0.02], 0, 100)
        Linear(low=-0.1, high=0.4, start=0, end=100, is_share=False)
        """
        values = [0.0, *values]
        low, high = min(values), max(values)
        if high - low < 1e-300:
            return cls(0.0, 1.0, start, end)
        step = _step(high - low, 5)
        first, last = (round_(value / _times(1, step)) for round_, value in ((_floor, low), (_ceil, high)))
        return cls(_times(first, step), _times(last, step), start, end)

    def __call__(self, value: float) -> float:
        """Return where a number is drawn."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """Return at most count + 1 round numbers, evenly spaced, and how they are written.

        >>> Linear(0, 0.5, 0, 100).ticks(5)
        [(0.0, '0.0'), (0.1, '0.1'), (0.2, '0.2'), (0.3, '0.3'), (0.4, '0.4'), (0.5, '0.5')]
        """
        step = _step(self.high - self.low, count)
        first, last = _ceil(self.low / _times(1, step)), _floor(self.high / _times(1, step))
        values = [_times(i, step) for i in range(first, last + 1)]
        return [(value, f"{100 * value:.10g} %" if self.is_share else _label(value, step[1])) for value in values]

    def labelled(self) -> list[tuple[float, str]]:
        """Return as many ticks as fit beside each other."""
        for count in range(max(int(abs(self.end - self.start) // 36), 1), 1, -1):
            ticks = self.ticks(count)
            if _are_apart([(self(value), label) for value, label in ticks]):
                return ticks
        return self.ticks(1)


@dataclass(frozen=True, slots=True)
class Logarithmic:
    """A scale from numbers of 1 or more to pixels, by their logarithms."""

    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return where a number is drawn."""
        return self.start + math.log(value) / math.log(max(self.high, 2)) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return 1, 2, 5, 10, 20, 50 and so on, as far as the scale goes.

        >>> [label for _, label in Logarithmic(1200, 0, 100).ticks()][-2:]
        ['500', '1,000']
        """
        high = max(self.high, 2)
        values = (factor * 10**e for e in range(int(math.log10(high)) + 1) for factor in (1, 2, 5))
        return [(value, f"{value:,}") for value in values if value <= high]

    def labelled(self) -> list[tuple[float, str]]:
        """Return ticks with labels that fit beside each other; powers of ten have priority."""
        kept: list[tuple[float, str]] = []
        for tick in sorted(self.ticks(), key=lambda tick: (tick[1].strip("0,") != "1", tick[0])):
            wider = sorted([*kept, tick])
            kept = wider if _are_apart([(self(value), label) for value, label in wider]) else kept
        return kept


@dataclass(frozen=True, slots=True)
class Bands:
    """A scale from 0, 1, 2, … to bands of equal width."""

    count: int
    start: float
    step: float

    def __call__(self, index: int) -> float:
        """Return the middle of a band."""
        return self.start + (index + 0.5) * self.step

    def labelled(self, room: float = SIZE + 1) -> range:
        """Return the bands to label: all, or every second, third, … if there is too little room."""
        return range(0, self.count, max(math.ceil(room / self.step), 1))


def _step(span: float, count: int) -> tuple[int, int]:
    """Return the smallest step of 1, 2, 5, 10, … with which `count` steps cover the span: factor, exponent of ten."""
    exponent = math.floor(math.log10(span / count))
    for step in ((1, exponent), (2, exponent), (5, exponent)):
        if _times(count, step) >= span * (1 - 1e-9):
            return step
    return 1, exponent + 1


def _times(number: int, step: tuple[int, int]) -> float:
    """Return the length of `number` steps; it divides rather than multiplies, so 3 steps of 0.1 are 0.3."""
    factor, exponent = step
    return number * factor * 10.0**exponent if exponent >= 0 else number * factor / 10**-exponent


def _floor(value: float) -> int:
    # Quotients of ticks are off by rounding: 0.3/0.1 is 2.9999999999999996.
    return math.floor(value + 1e-9)


def _ceil(value: float) -> int:
    return math.ceil(value - 1e-9)


def _label(value: float, exponent: int) -> str:
    is_plain = -7 < exponent < 7
    return (f"{value:,.{max(-exponent, 0)}f}" if is_plain else f"{value:.10g}").replace("-", "\N{MINUS SIGN}")


def _are_apart(labels: Sequence[tuple[float, str]]) -> bool:
    """Tell whether labels, centred at these pixels, leave room between neighbours."""
    ends = sorted((at - text_width(label) / 2 - 3, at + text_width(label) / 2 + 3) for at, label in labels)
    return all(right <= left for (_, right), (left, _) in pairwise(ends))
