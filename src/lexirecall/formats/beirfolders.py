"""Folders of BEIR: a corpus, queries and judgments of one or several splits.

Belongs here: recognizing such a folder, and which of its files holds the judgments. Not here: reading that file
(kinds), folders that are one table (folders).

The judgments of a split are in `qrels/SPLIT.tsv`, beside `corpus.jsonl` and `queries.jsonl`. Each may be compressed.
"""

from pathlib import Path

from lexirecall.errors import FormatError, shown
from lexirecall.formats.source import SUFFIXES

_PACKINGS = ("", *SUFFIXES)
_BESIDE = tuple(f"{name}.jsonl{packing}" for name in ("corpus", "queries") for packing in _PACKINGS)


def is_beir_folder(path: str) -> bool:
    """Tell whether a path is that of a data set as BEIR keeps it."""
    folder = Path(path)
    return (folder / "qrels").is_dir() and any((folder / name).is_file() for name in _BESIDE)


def judgments_of_folder(path: str) -> str:
    r"""Return the file of judgments, if the folder has one split; raise if it has several.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "qrels").mkdir()
    ...     _ = Path(folder, "qrels", "test.tsv").write_text("query-id\tcorpus-id\tscore\n")
    ...     Path(judgments_of_folder(folder)).name
    'test.tsv'
    """
    files = sorted(file for packing in _PACKINGS for file in (Path(path) / "qrels").glob(f"*.tsv{packing}"))
    if len(files) == 1:
        return str(files[0])
    if not files:
        raise FormatError(path, None, "has no judgments: qrels/ has no .tsv file", remedy="name a file of judgments")
    splits = " and ".join(shown(file.name.partition(".tsv")[0]) for file in files)
    raise FormatError(path, None, f"has judgments of {splits}", remedy=f"name one of the files, such as {files[-1]}")
