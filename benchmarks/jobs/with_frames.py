"""Does the whole job on polars frames in memory, reading them from Parquet first."""

import sys

import polars as pl

import lexirecall


def main(qrels: str, runs: str, *measures: str) -> None:
    scores = lexirecall.evaluate(pl.read_parquet(qrels), pl.read_parquet(runs), measures)
    print(scores.render("jsonl"))


if __name__ == "__main__":
    main(*sys.argv[1:])
