"""The data of the paper's empirical analysis, as the paper describes them, and where to get them.

Belongs here: the table.
"""

from typing import Any

from lexirecall.paper.exhibit import Exhibit
from lexirecall.tables import Table

RECOMMENDATION = """
amzn-cds-vinyl-100            6875  10  2.76   100     shallow
amzn-cds-vinyl-1000           6875  10  2.76   1000    standard
amzn-cds-vinyl-2000           6875  10  2.76   2000    deep
amzn-musical-instruments-100  11648 10  3.08   100     shallow
amzn-musical-instruments-1000 11648 10  3.08   1000    standard
amzn-musical-instruments-2000 11648 10  3.08   2000    deep
amzn-software-100             6345  10  2.28   100     shallow
amzn-software-1000            6345  10  2.28   1000    standard
amzn-software-2000            6345  10  2.28   2000    deep
amzn-video-games-100          11554 10  3.08   100     shallow
amzn-video-games-1000         11554 10  3.08   1000    standard
amzn-video-games-2000         11554 10  3.08   2000    deep
beerAdvocate                  17564 21  13.66  99.39   shallow
libraryThing                  7227  21  13.15  100.00  shallow
movielens                     6005  21  18.87  100.00  shallow
"""
RETRIEVAL = """
core (2017)      50  75  180.04  8853.11  deep
core (2018)      50  72  78.96   7102.61  deep
deep-docs (2019) 43  38  153.42  623.77   standard
deep-docs (2020) 45  64  39.27   99.55    shallow
deep-docs (2021) 57  66  189.63  98.83    shallow
deep-docs (2022) 76  42  1245.62 98.86    shallow
deep-docs (2023) 82  5   75.10   100.00   shallow
deep-pass (2019) 43  37  95.40   892.51   standard
deep-pass (2020) 54  59  66.78   978.01   standard
deep-pass (2021) 53  63  191.96  99.95    shallow
deep-pass (2022) 76  100 628.145 97.50    shallow
deep-pass (2023) 82  35  49.87   99.90    shallow
legal (2006)     39  34  110.85  4835.07  deep
legal (2007)     43  68  101.023 22240.30 deep
robust (2004)    249 110 69.93   913.82   standard
web (2009)       50  48  129.98  925.31   standard
web (2010)       48  32  187.63  7013.21  deep
web (2011)       50  61  167.56  8325.07  deep
web (2012)       50  48  187.36  6719.53  deep
web (2013)       50  61  182.42  7174.38  deep
web (2014)       50  30  212.58  6313.98  deep
"""
PRINTED = ("data", "queries", "runs", "rel/query", "docs/query", "label")
COLUMNS = ("task", *PRINTED, "from", "licence of the runs")
HEADER = ("task", "data", "queries", "runs", "rel/query", "docs/query", "label", *COLUMNS[-2:])
"""The columns, as the table names them."""
NIST = ("trec.nist.gov", "agreement with NIST")
REPOSITORY = ("github.com/dvalcarce/evalMetrics", "none named")
CODEX = ("codex.lenskit.org", "see there")


def exhibit(_seed: int) -> Exhibit:
    """Return the paper's table, with two more columns."""
    lines = described("recommendation", RECOMMENDATION) + described("retrieval", RETRIEVAL)
    return Exhibit(
        "datasets",
        "Data sets of the paper's empirical analysis",
        COLUMNS,
        tuple(_row(line) for line in lines),
        Table(HEADER, tuple(lines), numbers_from=2, texts=frozenset({6, 7, 8})),
        remarks=(
            "The counts are the paper's. The label follows from k, the mean number of documents retrieved: deep "
            "k > 1000, standard 100 < k <= 1000, shallow k <= 100. `lexirecall study` makes the same table for your "
            "data.",
            "Judgments of TREC tracks are open (trec.nist.gov/data.html); the archive of submitted runs asks for a "
            "signed agreement (trec.nist.gov/results.html). If a track has its own rules, see its page. You do not "
            "need the documents.",
            "amzn-*: runs that LensKit made from Amazon Reviews 2023 (5-core, global splits), announced as the paper's "
            "supplement. The other three are in a public repository.",
            "Recommendation: ratings of 4 and above are relevant (--level 4).",
            "deep-pass counts passages of grade 1 as relevant, as 95.40 and 66.78 in 2019 and 2020 show. According to "
            "NIST they are only related; passages are relevant from grade 2 on (--level 2).",
        ),
    )  # fmt: skip


def described(task: str, text: str) -> list[tuple[str, ...]]:
    """Return the lines of the table, each with its task and its source.

    >>> described("retrieval", "web (2014) 50 30 212.58 6313.98 deep")[0][1:4]
    ('web (2014)', '50', '30')
    """
    lines = [tuple(line.rsplit(maxsplit=5)) for line in text.strip().splitlines()]
    return [(task, *line, *_source(task, line[0])) for line in lines]


def _source(task: str, name: str) -> tuple[str, str]:
    if task == "retrieval":
        return NIST
    return CODEX if name.startswith("amzn-") else REPOSITORY


def _row(line: tuple[str, ...]) -> dict[str, Any]:
    numbers = {"queries": int, "runs": int, "rel/query": float, "docs/query": float}
    return {
        column: numbers[column](cell) if column in numbers else cell for column, cell in zip(COLUMNS, line, strict=True)
    }
