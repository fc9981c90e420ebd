"""Each file of text or JSON is opened once, by whatever reader and however it is packed."""

import bz2
import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lexirecall.reader import is_built

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
RUN = b"q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 a 1 1 t\n"
JSON_QRELS = json.dumps({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}).encode()
JSON_RUN = json.dumps({"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}).encode()
LONG_RUN = RUN + b"".join(b"q2 Q0 d%d 1 -%d t\n" % (i, i) for i in range(50_000))  # far beyond what a head is
READERS = [
    "python",
    pytest.param("native", marks=pytest.mark.skipif(not is_built(), reason="the compiled reader was not built")),
]
LISTENER = """
import os, sys
sys.addaudithook(lambda event, details: os.write(2, b"opened %a\\n" % (details[0],)) if event == "open" else None)
from lexirecall.cli import main
main()
"""


def opens(folder: Path, reader: str, *words: str, files: dict[str, bytes]) -> Counter[str]:
    """Run a command on files, and count how often each of them is opened."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    environment = {**os.environ, "LEXIRECALL_READER": reader}
    program = [sys.executable, "-c", LISTENER, *words, *files]
    done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Counter(name for line in done.stderr.splitlines() for name in files if line == f"opened {name!a}")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("command", "contents"),
    [
        pytest.param("eval", (QRELS, RUN, LONG_RUN), id="eval"),
        pytest.param("compare", (QRELS, RUN, LONG_RUN), id="compare"),
        pytest.param("rank --method kemeny", (QRELS, RUN, LONG_RUN), id="rank"),
        pytest.param("eval", (gzip.compress(QRELS), gzip.compress(RUN), bz2.compress(LONG_RUN)), id="packed"),
        pytest.param("compare", (JSON_QRELS, JSON_RUN, gzip.compress(JSON_RUN)), id="JSON"),
    ],
)
def test_each_file_is_opened_once(tmp_path: Path, reader: str, command: str, contents: tuple[bytes, ...]) -> None:
    files = dict(zip(("qrels", "a.run", "b.run"), contents, strict=True))
    assert opens(tmp_path, reader, *command.split(), files=files) == dict.fromkeys(files, 1)
