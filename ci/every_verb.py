"""Every command, with the versions that are installed here: what it prints is what `tests/golden/` has.

`python ci/every_verb.py [STEP]` runs the first call of each file there and one in STEP of the others, 10 unless it is
given, and leaves with 1 if any differs. Numbers may differ in the last digits. The verbs of Python are called by the
examples in their docstrings, which `tests/test_doctests.py` runs.
"""

import contextlib
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import golden
from test_golden import check


def main(step: int) -> int:
    """Run the calls, and print those that differ."""
    calls = [
        (name, number, call)
        for name in golden.CASES
        for number, call in enumerate(golden.CASES[name])
        if number % step == 0 and (find_spec("pyspark") is not None or "--engine spark" not in call)
    ]
    differing = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, number, call in calls:
            made = golden.recorded_call(name, number)
            try:
                check(golden.read(name)[call], str(made))
            except AssertionError:
                differing += 1
                print(f"DIFFERS: lexirecall {call}\n{made}", flush=True)
    print(f"{len(calls)} calls, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
