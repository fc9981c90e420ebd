"""What lexirecall should reach, as ratios within one run, and what it did.

Belongs here: one line for each aim. Imports suites.
"""

from collections.abc import Iterator, Mapping

from contestants import OURS
from suites import Outcome

Verdict = tuple[str, str, bool]
LESS_CPU = {"pytrec_eval": 8, "ir_measures": 15, "ranx, warm cache": 30}
START_UP = {"lexirecall --version": 2, "lexirecall eval, 3 requests × 20 items": 3}
MOST_PLAIN_READINGS = 8
MOST_MEGABYTES = 150


def verdicts(outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
    """Give each aim, what was found, and whether it is met; only for what was measured."""
    if "robust" in outcomes:
        yield from _against_peers(outcomes["robust"])
    if "reading" in outcomes:
        found = outcomes["reading"].figures["robust"]
        ratio = found["native"] / found["in blocks"]
        aim = f"reading a run takes at most {MOST_PLAIN_READINGS} times the CPU of plainly reading its bytes"
        yield aim, f"{ratio:.1f} times", ratio <= MOST_PLAIN_READINGS
    if "tiny" in outcomes:
        yield from _start_up(outcomes["tiny"])
    if "threads" in outcomes:
        yield from _threads(outcomes["threads"])
    if "memory" in outcomes:
        peak = max(timing.range("peak")[1] for timing in outcomes["memory"].timings)
        yield f"at most {MOST_MEGABYTES} MB of memory however large the run", f"{peak:.0f} MB", peak < MOST_MEGABYTES


def _against_peers(outcome: Outcome) -> Iterator[Verdict]:
    ours = outcome.timing(OURS)
    for peer, factor in LESS_CPU.items():
        theirs = outcome.timing(peer)
        if ours and theirs:
            ratio = theirs.median("cpu") / ours.median("cpu")
            yield f"Robust04-like: {factor} times less CPU than {peer}", f"{ratio:.1f} times", ratio >= factor


def _start_up(outcome: Outcome) -> Iterator[Verdict]:
    numpy = outcome.timing("import numpy")
    for label, factor in START_UP.items():
        timing = outcome.timing(label)
        if numpy and timing:
            ratio = timing.median("cpu") / numpy.median("cpu")
            yield f"{label}: under {factor} times the CPU of importing numpy", f"{ratio:.2f} times", ratio < factor


def _threads(outcome: Outcome) -> Iterator[Verdict]:
    """Two cores are in use if the wall time of the two grows by clearly less than the CPU time."""
    one, two = outcome.timing("one run"), outcome.timing("two runs")
    if one and two:
        more_cpu = two.median("cpu") - one.median("cpu")
        more_wall = two.range("wall")[0] - one.range("wall")[0]
        found = f"{more_cpu:.2f} s more CPU, at best {more_wall:.2f} s more wall"
        yield "two files at once use two cores", found, more_wall < 0.5 * more_cpu
