"""Contestants: the commands that do the same job, ours and the peers'.

Belongs here: how each tool is called or built, which are installed, and whether they agree. Imports nothing large.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from timing import Command, Timing, run

MEASURES = ("LexiRecall", "AP", "nDCG", "RR", "R@1000", "Rprec", "TSE")
PEERS = {"pytrec_eval": "pytrec-eval-terrier", "ir_measures": "ir-measures", "ranx": "ranx"}
JOBS = Path(__file__).parent / "jobs"
OURS, TREC_EVAL = "lexirecall", "trec_eval -O3"
TOLERANCE = 1e-4


def installed(package: str) -> str | None:
    """Return the version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def lexirecall(*arguments: str, label: str = OURS, reader: str = "") -> Command:
    """Return one of our commands, run by this interpreter."""
    return Command(label, [sys.executable, "-m", "lexirecall", *arguments], {"LEXIRECALL_READER": reader})


def ours(
    qrels: str,
    runs: list[str],
    *,
    label: str = OURS,
    reader: str = "",
    ties: str = "trec",
    engine: str = "",
    once: bool = False,
    more: tuple[str, ...] = (),
) -> Command:
    """Return our command for the whole job."""
    measures = [argument for measure in MEASURES for argument in ("-m", measure)]
    engines = ("--engine", engine) if engine else ()
    options = (*measures, "--ties", ties, *engines, *more, "-f", "jsonl")
    return replace(lexirecall("eval", qrels, *runs, *options, label=label, reader=reader), once=once)


def job(name: str, qrels: str, runs: list[str], **rest: object) -> Command:
    """Return the command of one of the scripts."""
    return Command(arguments=[sys.executable, str(JOBS / f"{name}.py"), qrels, *runs], **rest)  # type: ignore[arg-type]


def built(sources: Path, folder: Path) -> str:
    """Compile trec_eval with -O3, as a file in a folder; nothing is written to its sources."""
    program = folder / "trec_eval"
    texts = [str(path) for path in sorted(sources.glob("*.c"))]
    if not texts:
        raise SystemExit(f"{sources} has no C sources of trec_eval")
    command = ["cc", "-O3", "-w", f"-I{sources}", '-DVERSIONID="benchmark"', *texts, "-o", str(program), "-lm"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise SystemExit("trec_eval cannot be built: there is no C compiler named cc") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"trec_eval cannot be built: {error.stderr.strip()}") from None
    return str(program)


def all_commands(
    qrels: str, runs: list[str], folder: Path, *, trec_eval: str | None, with_cold: bool
) -> Iterator[Command]:
    """Give our commands and those of the peers that are there."""
    yield ours(qrels, runs)
    yield ours(qrels, runs, label=f"{OURS}, Python reader", reader="python")
    if trec_eval and not any(run.endswith(".gz") for run in runs):  # which it does not read
        yield job("with_trec_eval", trec_eval, [qrels, *runs], label=TREC_EVAL)
    for peer in ("pytrec_eval", "ir_measures"):
        if installed(PEERS[peer]):
            yield job(f"with_{peer}", qrels, runs, label=peer)
    if installed(PEERS["ranx"]):
        warm = {"NUMBA_CACHE_DIR": str(folder / "numba")}
        run(job("with_ranx", qrels, runs[:1], label="ranx", environment=warm))
        yield job("with_ranx", qrels, runs, label="ranx, warm cache", environment=warm)
    if installed(PEERS["ranx"]) and with_cold:
        cold = {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=folder)}
        yield job("with_ranx", qrels, runs, label="ranx, cold cache", environment=cold, once=True)


def ways_of_peers(*, with_trec_eval: bool) -> list[str]:
    """Name the ways in which a run may come to the peers that are there."""
    forms = {"pytrec_eval": ("dicts",), "ir_measures": ("dicts", "pandas frames"), "ranx": ("dicts", "pandas frames")}
    ways = [f"{peer}, {form}" for peer in forms if installed(PEERS[peer]) for form in forms[peer]]
    return [f"{TREC_EVAL}, text", *ways] if with_trec_eval else ways


def missing() -> list[str]:
    """Name the peers that are not installed."""
    return [package for package in PEERS.values() if not installed(package)]


def means(output: str) -> dict[tuple[str, str], float]:
    """Read what a job has printed."""
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {(row["run"], row["measure"]): row["value"] for row in rows if row["query"] == "all"}


def remark_on_agreement(timing: Timing, reference: Timing, qrels: str, runs: list[str]) -> str:
    """Say how far a contestant's means are from ours and, if they are far, whether ties explain it."""
    theirs, expected = means(timing.output), means(reference.output)
    if not theirs or not theirs.keys() <= expected.keys():
        return "WARNING: it did not print the means of all runs"
    away = {key: abs(theirs[key] - expected[key]) for key in theirs}
    far = [key for key in away if away[key] > TOLERANCE]
    worst = max(away.values())
    if not far:
        return f"means agree within {max(worst, 1e-16):.0e}"
    lowest, highest = (means(run(ours(qrels, runs, ties=rule))[1]) for rule in ("worst", "best"))
    if all(lowest[key] - TOLERANCE <= theirs[key] <= highest[key] + TOLERANCE for key in far):
        return f"WARNING: means differ by up to {worst:.0e}, as far as the order of tied documents allows"
    return f"WARNING: means differ by up to {worst:.0e}, and ties do not explain it"
