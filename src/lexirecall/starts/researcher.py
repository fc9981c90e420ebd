"""A researcher with runs: three retrieval models on fifty topics, as TREC files.

Belongs here: these files, and what a researcher does with them.
"""

from collections.abc import Mapping

from lexirecall.simulate import Character, simulate_collection
from lexirecall.starts.start import Start

_SEED = 14
_CHARACTERS = (
    Character("bm25.run", easy=3.4, hard=1.0, depth=1000),
    Character("dense.run", easy=4.0, hard=0.9, depth=1000),  # the better top ranks
    Character("hybrid.run", easy=3.7, hard=2.4, depth=1000),  # sees what looks different, too
)


def make() -> Mapping[str, str]:
    """Simulate the collection.

    >>> sorted(make())
    ['bm25.run', 'dense.run', 'hybrid.run', 'qrels.txt']
    """
    return simulate_collection(_SEED, num_queries=50, characters=_CHARACTERS).to_trec()


_RUNS = "{}/qrels.txt {}/bm25.run {}/dense.run {}/hybrid.run"
START = Start(
    reader="researcher",
    person="a researcher with runs",
    question="Which of my runs finds everything, is the difference real, and why?",
    about={
        "qrels.txt": "judgments of 50 topics, as TREC distributes them",
        "bm25.run": "the baseline: 1,000 documents for each topic",
        "dense.run": "a dense retriever",
        "hybrid.run": "words and vectors together",
    },
    make=make,
    commands=(
        f"lexirecall eval {_RUNS} -m LexiRecall,R@1000,AP,nDCG@10",
        f"lexirecall compare {_RUNS} -m LexiRecall,AP,nDCG@10",
    ),
    conclusion="The dense run has the best AP and nDCG@10, but there the tests do not tell it from the hybrid run. By "
    "LexiRecall the hybrid run is significantly better than both: whoever must miss nothing should use it.",
    following=(
        "lexirecall explain {}/qrels.txt {}/hybrid.run {}/dense.run",
        f"lexirecall compare {_RUNS} -m LexiRecall,AP,nDCG@10 -f latex",
        f"lexirecall report {_RUNS} -o {{}}/report.html",
    ),
)
