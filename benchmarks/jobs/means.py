"""What every job prints: one JSON line for each mean, as `lexirecall eval -f jsonl` does."""

import json
from collections.abc import Mapping
from pathlib import Path


def print_means(path: str, means: Mapping[str, float]) -> None:
    run = Path(path).name.removesuffix(".gz")
    for measure, value in means.items():
        print(json.dumps({"run": run, "query": "all", "measure": measure, "value": value}))
