"""Whether an installed wheel works: `python ci/wheel_works.py native|python` says which reader must be in use.

It needs pytest and hypothesis, and runs the demo and the part of the tests that needs nothing else. The package that is
tested is the installed one: nothing here puts the source tree on the path.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ("threads", "two_readers", "two_readers_on_dicts", "positions", "sums", "exactness", "completion", "installing")


def lexirecall(*words: str, folder: str) -> str:
    """Run a command in a folder of its own, and return what it prints."""
    command = [sys.executable, "-m", "lexirecall", *words]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout


def main() -> None:
    """Look at the version, run the demo, and run the tests."""
    wanted = sys.argv[1]
    os.environ.update(PYTHONUTF8="1", PYTHONSAFEPATH="1")
    with tempfile.TemporaryDirectory() as folder:
        version = lexirecall("--version", folder=folder)
        print(version, end="", flush=True)
        if f"(reader: {wanted};" not in version:
            sys.exit(f"the reader in use should be {wanted}")
        if "precise.run" not in lexirecall("demo", folder=folder):
            sys.exit("the demo does not show its runs")
        if not Path(folder, "lexirecall-demo", "report.html").stat().st_size:
            sys.exit("the demo has written no page")
    tests = [str(ROOT / "tests" / f"test_{name}.py") for name in TESTS]
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
