"""For an engineer of a RAG pipeline: did the chunks in the context window hold every fact that an answer needs?

Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/rag_units.py [FOLDER]`. It simulates
documents that are cut into chunks, which the index holds twice by mistake, and questions that need one or several
facts. Each fact is in two documents, and either will do. It writes the files to a folder, evaluates three retrievers
with the command line, and prints what the command line prints. `unique` is `plain` without the copies; `hops` is not as
good at what looks like the question, but finds what does not.
"""

# %% A simulated collection
import random
import subprocess
import sys
import tempfile
from pathlib import Path

draw = random.Random(20)  # the same numbers in every run
NUM_FACTS = {"single-fact": (1, 1), "comparison": (2, 2), "multi-hop": (3, 4)}
DOCUMENTS = [f"doc{number}" for number in range(80)]


def simulate_question(number: int, kind: str) -> tuple[list[str], dict[str, str]]:
    """Return the facts that a question needs, and the chunks that state one, each with its fact."""
    facts = [f"q{number}-fact{hop}" for hop in range(draw.randint(*NUM_FACTS[kind]))]
    chunks = [f"{document}#{draw.randint(0, 9)}" for document in draw.sample(DOCUMENTS, 2 * len(facts))]
    stated = {chunk: facts[place // 2] for place, chunk in enumerate(chunks)}  # two alternatives for each fact
    return facts, stated | {f"{chunk}-copy": fact for chunk, fact in stated.items()}


def ranking(hops: dict[str, int], first: float, slope: float) -> list[str]:
    """Return what a retriever finds: chunks of later hops look less like the question, and others do by chance."""
    scores = {f"{draw.choice(DOCUMENTS)}#{draw.randint(10, 99)}": draw.gauss(0, 1) for _ in range(300)}
    scores |= {chunk: draw.gauss(first - slope * hop, 1) for chunk, hop in hops.items()}
    ranked = sorted(scores, key=lambda chunk: -scores[chunk])
    return [copy for chunk in ranked[:50] for copy in (chunk, f"{chunk}-copy")]  # every chunk is in the index twice


# %% Write what the command line reads: judged facts, the chunks that state them, the kinds of questions, three runs


def write_collection(folder: Path) -> None:
    """Write qrels.txt, chunks.tsv, types.tsv, plain.run, unique.run and hops.run."""
    lines: dict[str, list[str]] = {}
    for number in range(120):
        query, kind = f"q{number}", draw.choice(list(NUM_FACTS))
        facts, stated = simulate_question(number, kind)
        lines.setdefault("types.tsv", []).append(f"{query}\t{kind}")
        lines.setdefault("qrels.txt", []).extend(f"{query} 0 {fact} 1" for fact in facts)
        lines.setdefault("chunks.tsv", []).extend(f"{query}\t{chunk}\t{fact}" for chunk, fact in stated.items())
        hops = {chunk: facts.index(fact) for chunk, fact in stated.items() if not chunk.endswith("-copy")}
        plain = ranking(hops, first=3.5, slope=0.9)
        unique = [chunk for chunk in plain if not chunk.endswith("-copy")]
        for name, found in {"plain": plain, "unique": unique, "hops": ranking(hops, first=2.5, slope=0.2)}.items():
            rows = (f"{query} Q0 {chunk} {rank} {-rank} {name}" for rank, chunk in enumerate(found, 1))
            lines.setdefault(f"{name}.run", []).extend(rows)
    for name, written in lines.items():
        (folder / name).write_text("\n".join([*written, ""]), encoding="utf-8")


# %% Evaluate: is every fact in the window, for which kinds of questions, and how are the worst-off tenth served?

COMMANDS = (
    "eval qrels.txt plain.run unique.run hops.run --units chunks.tsv -m All@20 -m R@20 -m LexiRecall "
    "--by types.tsv --over mean --over tail:0.1",
    "eval qrels.txt plain.run unique.run hops.run --units chunks.tsv -m All@20 -m R@20 --count units",
    "compare qrels.txt plain.run unique.run hops.run --units chunks.tsv -m All@20 -m LexiRecall",
)


def run_commands(folder: Path) -> None:
    """Run the commands in a folder, and print each of them with what it prints."""
    for command in COMMANDS:
        print(f"\n$ lexirecall {command}\n", flush=True)
        subprocess.run([sys.executable, "-m", "lexirecall", *command.split()], cwd=folder, check=True)  # noqa: S603


# %% All of it


def main() -> None:
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        write_collection(Path(sys.argv[1]))
        run_commands(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as temporary:
        write_collection(Path(temporary))
        run_commands(Path(temporary))


if __name__ == "__main__":
    main()
