"""For an engineer of candidate generation: which stage loses what users were looking for, the sources or the ranker?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/candidate_generator.py [FOLDER]`. It
simulates users who each want a few items of a catalogue. Two sources propose candidates: what similar users took, and
what is new, which knows little of the user. They are joined, the first 200 candidates go to a light ranker, and the
first 40 of its list to the ranker of the page, which shows 10. It writes the files to a folder, asks the command line
where items are lost, and prints what the command line prints.
"""

# %% Simulated users, sources and rankers
import random
import subprocess
import sys
import tempfile
from pathlib import Path

draw = random.Random(9)
ITEMS = [f"item{number}" for number in range(3000)]
IS_NEW = {item: number % 5 == 0 for number, item in enumerate(ITEMS)}


def best(items: list[str], wanted: set[str], skill: float, size: int, *, new: float = 0.0) -> list[str]:
    """Return the first items of a list that favours what is wanted by `skill`, and what is new by `new`."""
    scores = {item: skill * (item in wanted) + new * IS_NEW[item] + draw.gauss(0, 1) for item in items}
    return sorted(items, key=lambda item: -scores[item])[:size]


def stages_of(wanted: set[str]) -> dict[str, list[str]]:
    """Return what each source and each ranker lists for one user; a ranker lists what it is handed."""
    similar = best(ITEMS, wanted, 2.2, 150, new=-2.0)
    recent = best([item for item in ITEMS if IS_NEW[item]], wanted, 1.5, 100)
    joined = list(dict.fromkeys([*similar, *recent]))[:200]
    light = best(joined, wanted, 2.0, 200, new=-0.5)
    return {"similar": similar, "recent": recent, "light": light, "page": best(light[:40], wanted, 1.8, 40)}


# %% Write what the command line reads


def write_collection(folder: Path) -> None:
    """Write qrels.txt and a run for each source and each ranker."""
    lines: dict[str, list[str]] = {}
    for number in range(80):
        user, wanted = f"user{number}", draw.sample(ITEMS, draw.randint(2, 6))
        lines.setdefault("qrels.txt", []).extend(f"{user} 0 {item} 1" for item in wanted)
        for name, items in stages_of({*wanted}).items():
            ranked = (f"{user} Q0 {item} {rank} {-rank} {name}" for rank, item in enumerate(items, 1))
            lines.setdefault(f"{name}.run", []).extend(ranked)
    for name, own in lines.items():
        (folder / name).write_text("".join(f"{line}\n" for line in own))


# %% Where are items lost?


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
