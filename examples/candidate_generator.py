"""For an engineer of candidate generation: which stage loses what users were looking for, the sources or the ranker?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/candidate_generator.py [FOLDER]`. It
simulates users who each want a few documents of a catalogue. Two sources propose candidates: what similar users took,
and what is new, which knows little of the user. They are joined, the first 200 candidates go to a light ranker, and the
first 40 of its list to the ranker of the page, which shows 10. It writes the files to a folder, asks the command line
where documents are lost, and prints what the command line prints.
"""

# %% Simulated users, sources and rankers
import random
import subprocess
import sys
import tempfile
from pathlib import Path

draw = random.Random(9)
DOCUMENTS = [f"item{number}" for number in range(3000)]
IS_NEW = {document: number % 5 == 0 for number, document in enumerate(DOCUMENTS)}


def best(documents: list[str], wanted: set[str], skill: float, size: int, *, new: float = 0.0) -> list[str]:
    """Return the first documents of a list that favours what is wanted by `skill`, and what is new by `new`."""
    scores = {
        document: skill * (document in wanted) + new * IS_NEW[document] + draw.gauss(0, 1) for document in documents
    }
    return sorted(documents, key=lambda document: -scores[document])[:size]


def stages_of(wanted: set[str]) -> dict[str, list[str]]:
    """Return what each source and each ranker lists for one user; a ranker lists what it is handed."""
    similar = best(DOCUMENTS, wanted, 2.2, 150, new=-2.0)
    recent = best([document for document in DOCUMENTS if IS_NEW[document]], wanted, 1.5, 100)
    joined = list(dict.fromkeys([*similar, *recent]))[:200]
    light = best(joined, wanted, 2.0, 200, new=-0.5)
    return {"similar": similar, "recent": recent, "light": light, "page": best(light[:40], wanted, 1.8, 40)}


# %% Write what the command line reads


def write_collection(folder: Path) -> None:
    """Write qrels.txt and a run for each source and each ranker."""
    lines: dict[str, list[str]] = {}
    for number in range(80):
        user, wanted = f"user{number}", draw.sample(DOCUMENTS, draw.randint(2, 6))
        lines.setdefault("qrels.txt", []).extend(f"{user} 0 {document} 1" for document in wanted)
        for name, documents in stages_of({*wanted}).items():
            ranked = (f"{user} Q0 {document} {rank} {-rank} {name}" for rank, document in enumerate(documents, 1))
            lines.setdefault(f"{name}.run", []).extend(ranked)
    for name, own in lines.items():
        (folder / name).write_text("".join(f"{line}\n" for line in own))


# %% Where are documents lost?


def show(folder: Path) -> None:
    """Ask the command line, and print what it prints."""
    write_collection(folder)
    stages = ["similar.run+recent.run@200", "light.run@40", "page.run@10"]
    words = ["funnel", "qrels.txt", *stages, "--limit", "8"]
    print(f"$ lexirecall {' '.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "lexirecall", *words], cwd=folder, check=True)  # noqa: S603


if len(sys.argv) > 1:
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    show(Path(sys.argv[1]))
else:
    with tempfile.TemporaryDirectory() as temporary:
        show(Path(temporary))
