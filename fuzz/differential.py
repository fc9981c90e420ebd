"""Two readers, one meaning: both must read made-up judgments and runs alike, or fail with the same words.

    python fuzz/differential.py --seconds 60 --seed 0
    python fuzz/differential.py --case build/fuzz/difference     (again, a case that differed)

Belongs here: making files that are regular, odd or hostile, and comparing what both readers say. Not here: the memory
of the C code (fuzz_reader.c). The files of a seed are always the same.
"""

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lexirecall.errors import LexirecallError
from lexirecall.fields import choices_of
from lexirecall.formats import lines, native, parts
from lexirecall.formats.source import Source
from lexirecall.formats.trec import project_text, read_qrels
from lexirecall.judgments import Judgments
from lexirecall.manifest import Conventions
from lexirecall.tracks import RunPositions, Tracks

CRASH = "crash"
LONGEST = lines.LONGEST_LINE
FINDERS = (None, None, "plain")
CORES = (1, 2, 5)
KEPT = Path("build/fuzz/difference")
BLANKS = (b" ", b"\t", b"\x0b", b"\x0c", b"\r", b"  ", b" \t ", b"\r\r")
ODD_BLANKS = (b"\x1c", b"\x1f", b"\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b"\0")  # blanks of text, but not of bytes
ODD_LINES = (
    b"", b" ", b"\t \r", b"#", b"# a comment", b" # q Q0 d 1 1 t", b"#\0", b"q Q0 d", b"q 0 d 1", b"q Q0 d 1 1 t u",
    b"q Q0 d 7 1 1 t", b"q Q0 d e 1 1 t",
    b"a,b,c,d,e,f", b"\xef\xbb\xbf", b"\xef\xbb\xbfq Q0 d 1 1 t", b"\0", b"q\0 Q0 d 1 1 t", b"\x01\x02 \x03",
    b"query iter doc rank score tag", b"q Q0 d 1 0,5 t", b"x" * 400, b"y " * 400, b"\0" * 90, b"\xff\xfe\xfd",
)  # fmt: skip
ODD_NUMBERS = (
    b"inf", b"-inf", b"+Infinity", b"nan", b"-NaN", b"1_0", b"1__0", b"_1", b"1e400", b"-1e400", b"1e-400", b"4.9e-324",
    b"2.2250738585072011e-308", b"1.7976931348623157e308", b"1.7976931348623159e308", b"9007199254740993", b"1e22",
    b"1e23", b"0x10", b"1e", b"1e+", b"e5", b".", b"+.5", b"5.", b"--1", b"1.2.3", b"1,5", b"0e99999999999",
    b"1e99999999999", b"16777217", b"16777216", b"3.4028236e38", b"1e-46", b"-0", b"0", b"0" * 1200 + b"1",
    b"1" + b"0" * 1200, b"\xd9\xa1", b"0." + b"0" * 330 + b"12345678901234567890", b"1" * 5000 + b"e-5000",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Two files, and how they are to be read."""

    qrels: bytes
    run: bytes
    conventions: Conventions
    needs_judged: bool
    block: int
    longest: int = LONGEST
    finder: str | None = None
    cores: int = 1


# Making files


def chosen(rng: random.Random, usual: float, usually: Callable[[], bytes], otherwise: tuple[bytes, ...]) -> bytes:
    """Choose the usual, or something odd."""
    return usually() if rng.random() < usual else rng.choice(otherwise)


def decimal(rng: random.Random) -> bytes:
    """Write a number as programs do, or with more digits than a double has."""
    kind = rng.randrange(7)
    if kind < 2:
        return b"%d" % rng.randrange(-3, 8)
    if kind == 2:
        return b"%.*f" % (rng.randrange(9), rng.uniform(-20, 20))
    if kind == 3:
        return repr(rng.uniform(0, 1) * 10.0 ** rng.randrange(-320, 308)).encode()
    if kind == 4:
        return b"%.*e" % (rng.randrange(14, 22), rng.uniform(-9, 9) * 2.0 ** rng.randrange(-1070, 1020))
    if kind == 5:
        return b"%d.%d" % (rng.randrange(10**4), rng.randrange(10 ** rng.randrange(1, 20)))
    return b"%d%s%d" % (
        rng.randrange(10 ** rng.randrange(1, 21)),
        rng.choice([b"e", b"E", b"e+", b"e-"]),
        rng.randrange(400),
    )


def identifier(rng: random.Random) -> bytes:
    """Make an id: nearly always one that repeats, otherwise a long or a strange one."""
    if rng.random() < 0.95:
        return b"d%d" % rng.randrange(rng.choice([5, 20, 300]))
    length = rng.choice([1, 7, 8, 9, 16, 63, 64, 65, 200, 5000])
    if rng.random() < 0.5:
        return b"d" * length
    return bytes(rng.choice([*range(33, 127), *range(128, 256), 1, 28, 127]) for _ in range(length))


def ranked_scores(rng: random.Random, count: int, oddness: float) -> list[bytes]:
    """Make the scores of one query: strictly descending, in tied blocks, sorted, or as they come."""
    kind = rng.randrange(7)
    if kind == 0:
        return [b"%d" % (count - i) for i in range(count)]
    if kind == 1:
        step = rng.randrange(1, 6)
        return [b"%.3f" % (-(i // step) / 7) for i in range(count)]
    if kind == 4:
        digits, most = rng.randrange(18), 10.0 ** rng.randrange(-1, 4)
        return [
            b"%.*f" % (digits, score) for score in sorted((rng.uniform(0, most) for _ in range(count)), reverse=True)
        ]
    if kind == 5:
        texts = sorted((decimal(rng) for _ in range(count)), key=float, reverse=True)
        return [text if rng.random() < 0.99 else rng.choice(texts) for text in texts]
    scores = [chosen(rng, 1 - oddness, lambda: decimal(rng), ODD_NUMBERS) for _ in range(count)]
    return [rng.choice(scores[:3]) for _ in scores] if kind == 2 and scores else scores


def line_of(rng: random.Random, fields: list[bytes], *, is_odd: bool) -> bytes:
    """Put fields into a line, between single spaces or blanks of all kinds."""
    if not is_odd:
        return b" ".join(fields)
    blanks = [rng.choice(BLANKS if rng.random() < 0.995 else ODD_BLANKS) for _ in fields]
    line = b"".join(field + blank for field, blank in zip(fields, blanks, strict=True))
    return line if rng.random() < 0.3 else line.strip(b" \t\r\x0b\x0c")


def run_rows(rng: random.Random, queries: list[bytes], oddness: float) -> list[list[bytes]]:
    """Make the fields of a run, query by query or all of them shuffled, and here and there a document twice."""
    rows = []
    for query in rng.sample(queries, rng.randrange(1, len(queries) + 1)):
        documents = list(dict.fromkeys(identifier(rng) for _ in range(rng.choice([0, 1, 3, 10, 40]))))
        if documents and rng.random() < oddness:
            documents.insert(rng.randrange(len(documents) + 1), rng.choice(documents))
        scores = ranked_scores(rng, len(documents), oddness / 20)
        tags = rng.choice([[], [b"tag"], [b"tag"], [b"tag", b"and", b"more"]])
        rows += [
            [query, b"Q0", document, b"%d" % n, score, *tags]
            for n, (document, score) in enumerate(zip(documents, scores, strict=True))
        ]
    if rng.random() < oddness:
        rng.shuffle(rows)
    return rows


def qrels_rows(rng: random.Random, queries: list[bytes], oddness: float) -> list[list[bytes]]:
    """Make the fields of judgments, and here and there a line that repeats or contradicts another."""
    grades = [b"0", b"1", b"2", b"-1", b"0.5", b"1e0", b"3"]
    pairs = dict.fromkeys((rng.choice(queries), identifier(rng)) for _ in range(rng.choice([1, 4, 20, 60])))
    rows = [[query, b"0", document, rng.choice(grades)] for query, document in pairs]
    for _ in range(3 if rng.random() < oddness else 0):
        row = [*rng.choice(rows)]
        rows.insert(rng.randrange(len(rows)), row)  # once more, and perhaps with another grade
        row[3] = row[3] if rng.random() < 0.9 else rng.choice([*grades, *ODD_NUMBERS])
    return rows


def text_of(rng: random.Random, rows: list[list[bytes]], oddness: float) -> bytes:
    """Write rows as a file, with lines between them that mean nothing or should not be there."""
    is_odd = rng.random() < oddness
    written = [line_of(rng, fields, is_odd=is_odd) for fields in rows]
    for _ in range(rng.randrange(4) if rng.random() < oddness else 0):
        harmless = ODD_LINES[:6] if rng.random() < 0.7 else ODD_LINES
        written.insert(rng.randrange(len(written) + 1), rng.choice(harmless))
    newline = rng.choice([b"\n", b"\n", b"\r\n"])
    text = newline.join(written) + (newline if rng.random() < 0.8 else b"")
    return b"\xef\xbb\xbf" + text if rng.random() < oddness / 3 else text


def mutated(rng: random.Random, text: bytes) -> bytes:
    """Damage a few bytes."""
    data = bytearray(text)
    for _ in range(rng.randrange(1, 5)):
        at, length = rng.randrange(len(data) + 1), rng.choice([0, 0, 1, 1, 2, 10])
        piece = rng.choice([*BLANKS, *ODD_BLANKS, *ODD_NUMBERS, b"", b"", b"\n", b"#", bytes([rng.randrange(256)])])
        other = rng.randrange(len(data) + 1)
        data[at : at + length] = piece if rng.random() < 0.8 else bytes(data[other : other + rng.randrange(100)])
    return bytes(data)


def conventions_of(rng: random.Random) -> Conventions:
    """Choose conventions that go together."""
    ties = rng.choice(choices_of(Conventions, "ties"))
    return Conventions(
        ties=ties,
        score_dtype=rng.choice(choices_of(Conventions, "score_dtype")),
        depth=rng.choice([None, None, 1, 3, 20]),
        judged_only=ties != "expected" and rng.random() < 0.3,
        duplicates=rng.choice(choices_of(Conventions, "duplicates")),
        imputation="optimistic" if ties != "expected" and rng.random() < 0.2 else "pessimistic",
        strict=rng.random() < 0.2,
    )


def make_case(rng: random.Random) -> Case:
    """Make one case; a third of them are entirely regular."""
    oddness = rng.choice([0.0, 0.1, 0.5])
    queries = list(dict.fromkeys([b"q", b"q2", identifier(rng), *(b"r%d" % i for i in range(rng.choice([0, 2, 8])))]))
    judged = queries[: rng.randrange(1, len(queries) + 1)]
    qrels = text_of(rng, qrels_rows(rng, judged, oddness), oddness / 2)
    run = text_of(rng, run_rows(rng, [*queries, b"unjudged"], oddness), oddness)
    if oddness and rng.random() < 0.2:
        run = mutated(rng, run)
    if oddness and rng.random() < 0.1:
        qrels = mutated(rng, qrels)
    if rng.random() < 0.05:
        run = gzip.compress(run, 1, mtime=0)[: None if rng.random() < 0.7 else -rng.randrange(1, 12)]
    block = rng.choice([1, 2, 7, 64, 1 << 20, rng.randrange(1, len(run) + 2)])
    longest = rng.choice([LONGEST] * 9 + [50])
    return Case(
        qrels, run, conventions_of(rng), rng.random() < 0.5, block, longest, rng.choice(FINDERS), rng.choice(CORES)
    )


# Comparing


def plain_tracks(tracks: Tracks | None) -> Any:
    """Return tracks as lists."""
    if tracks is None:
        return None
    arrays = tracks.segments.offsets, tracks.positions, tracks.documents, tracks.block_starts, tracks.block_sizes
    return [None if array is None else array.tolist() for array in arrays]


def plain(read: RunPositions | Judgments) -> Any:
    """Return what was read in a form that can be compared and shown."""
    if isinstance(read, Judgments):
        arrays = [array.tolist() for array in (read.offsets, read.grades, read.num_positive)]
        return [read.queries, list(read.query_ids), list(read.documents), *arrays, read.name, read.num_repeated]
    counts = [
        read.answered.tolist(),
        read.num_retrieved.tolist(),
        read.num_unjudged,
        read.num_duplicates,
        read.num_extra,
    ]
    return [read.name, *counts, plain_tracks(read.found), plain_tracks(read.others)]


def outcome(read: Callable[[], RunPositions | Judgments]) -> Any:
    """Return what was read, or the error; anything else that is raised is a crash."""
    try:
        return plain(read())
    except LexirecallError as error:
        return [type(error).__name__, str(error)]
    except Exception as error:
        return [CRASH, repr(error)]


def both(case: Case, folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """Give what was read, and what came of it in Python and in C."""
    (folder / "qrels").write_bytes(case.qrels)
    (folder / "run").write_bytes(case.run)
    native._BLOCK, native._FINDER = case.block, case.finder
    parts._LEAST, parts._STEP = 16, 16
    os.cpu_count = lambda: case.cores
    lines.LONGEST_LINE, lines._BLOCK = case.longest, min(case.block, case.longest)
    qrels = Source(folder / "qrels")
    yield "qrels", outcome(lambda: read_qrels(qrels)), outcome(lambda: native.read_qrels_native(qrels))
    try:
        judgments = read_qrels(qrels)
    except LexirecallError:
        judgments = Judgments.from_grades({b"q": {b"d0": 1.0, b"d1": 2.0, b"d2": 0.0, b"": 1.0}})

    def read(reader: Callable[..., RunPositions]) -> Any:
        with Source(folder / "run") as source:
            return outcome(lambda: reader(source, "run", judgments, case.conventions, needs_judged=case.needs_judged))

    yield "run", read(project_text), read(native.project_native)


def check(case: Case, folder: Path, seen: Counter[str]) -> str:
    """Return where the readers differ, or an empty text; count how reading ended."""
    for what, expected, found in both(case, folder):
        is_error = len(expected) == 2
        seen[f"{what} {'refused' if is_error else 'read'}"] += 1
        if expected != found or CRASH in (expected[0], found[0]):
            return f"{what}\n  in Python: {expected}\n  in C:      {found}"
    return ""


# Cases that are kept


def keep(case: Case, folder: Path) -> None:
    """Write a case to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "qrels").write_bytes(case.qrels)
    (folder / "run").write_bytes(case.run)
    settings = {"conventions": asdict(case.conventions), "needs_judged": case.needs_judged, "block": case.block}
    settings |= {"longest": case.longest, "finder": case.finder, "cores": case.cores}
    (folder / "settings.json").write_text(json.dumps(settings, indent=2) + "\n")


def kept_case(folder: Path) -> Case:
    """Read a case from a folder."""
    settings = json.loads((folder / "settings.json").read_text())
    settings["conventions"] = Conventions(**settings["conventions"])
    return Case((folder / "qrels").read_bytes(), (folder / "run").read_bytes(), **settings)


def shrunk(case: Case, folder: Path) -> Case:
    """Remove lines as long as the readers still differ."""
    for name in ("run", "qrels"):
        size = len(getattr(case, name)) // 2
        while size:
            at = 0
            while at < len(text := getattr(case, name)):
                smaller = replace(case, **{name: text[:at] + text[at + size :]})
                if check(smaller, folder, Counter()):
                    case = smaller
                else:
                    at += size
            size //= 2
    return case


def cases(seed: int, seconds: float) -> Iterator[Case]:
    """Give cases until the time is up; the seed and the number of a case determine it."""
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        yield make_case(random.Random(f"{seed}/{number}"))  # noqa: S311 - nothing here is secret
        number += 1


def main() -> int:
    """Compare the readers until the time is up, or they differ."""
    parser = argparse.ArgumentParser(description="Compare the two readers on made-up files.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=Path, help="a folder with a case that differed")
    arguments = parser.parse_args()
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(action="error"):
        folder = Path(name)
        for case in [kept_case(arguments.case)] if arguments.case else cases(arguments.seed, arguments.seconds):
            if difference := check(case, folder, seen):
                small = case if arguments.case else shrunk(case, folder)
                keep(small, arguments.case or KEPT)
                sys.stdout.write(f"the readers differ on {check(small, folder, seen) or difference}\n")
                sys.stdout.write(f"to see it again: python fuzz/differential.py --case {arguments.case or KEPT}\n")
                return 1
    sys.stdout.write(f"no difference: {', '.join(f'{count:,} {what}' for what, count in sorted(seen.items()))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
