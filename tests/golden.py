"""What every command prints, with every option: the cases, how they are run, and the files that hold their output.

`python tests/golden.py` writes the files in tests/golden/ anew; `test_golden.py` compares. The collection is simulated,
small, and has one of everything that a note speaks of: a query without a relevant document, one that a run does not
answer, one that nobody judged, equal scores, grades below 0, a judgment given twice.
"""

import contextlib
import functools
import hashlib
import io
import json
import os
import random
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import numpy as np

import asreview_files
from asreview_files import archive, project_file
from lexirecall import project, tables
from lexirecall.cli import group, main
from lexirecall.learn.weightsfile import FusionWeights
from lexirecall.starts import READERS

FOLDER = Path(__file__).parent / "golden"
THREE = "qrels.txt a.run b.run c.run"
TWO = "qrels.txt a.run b.run"
GATE = "qrels.txt b.run --baseline a.run"
SAMPLES = "qrels.txt lots#1.run lots#2.run lots#3.run lots#4.run even#1.run even#2.run even#3.run one#1.run"
REVIEW = "--corpus-size 10000 --read 2000 --found 190"
READING = (
    "--level 2", "--depth 4", "--corpus-size 100", "--corpus-size sizes.txt", "--queries all", "--queries intersection",
    "--no-relevant skip", "--no-relevant zero", "--no-relevant zero --queries intersection --level 3",
    *(f"--ties {rule}" for rule in ("trec", "input", "worst", "best", "expected")), "--judged-only", "--strict",
    "--judged-only --depth 5", "--score-dtype float64", "--score-dtype float32", "--duplicates error",
    "--duplicates first", "--duplicates best", "--imputation pessimistic", "--imputation optimistic",
    "--imputation optimistic --depth 4", "--imputation paper", "--imputation paper --corpus-size 100",
    "--units units.tsv", "--units units.tsv --unit-rule any --count documents --judged documents --unmapped none",
    "--units units.tsv --unit-rule all", "--units units.tsv --count units", "--units units.tsv --unmapped itself",
    "--units units.tsv --judged units", "--units @subtopics", "--count units",
    "--columns grade=rel", "--level 0", "--level 9", "--level x", "--depth 0", "--ties none", "--columns grade",
)  # fmt: skip
TESTING = (
    "--baseline b.run", "--baseline none", "--baseline b.run --baseline a.run",
    *(f"--test {name}" for name in ("auto", "t", "wilcoxon", "sign", "hsd")),
    "--test randomization", "--test randomization --resamples 200", "--test randomized-hsd --resamples 200 --seed 3",
    "--test max-t", "--test max-t --resamples 30",
    "--correction holm", "--correction bonferroni", "--correction bh", "--correction none", "--alpha 0.2", "--alpha 1",
    "--resamples 0", "--test-ties drop", "--test-ties split", "--test nothing",
    "--family each", "--family measures", "--family measures --test max-t", "--family measures --test hsd",
    "--primary LexiRecall", "--primary RR", "--margin 0.2", "--margin 0", "--margin 2",
)  # fmt: skip
BOOTSTRAP = ("--bootstrap 99", "--bootstrap 99 --seed 3 --alpha 0.2", "--bootstrap 99 --alpha 0.01")
FORMATS = tuple(f"-f {form}" for form in tables.FORMATS)
OVER = (
    "--over mean", "--over median --over min", "--over quantile:0.5 --over tail:0.25", "--by types.tsv",
    "--over tail:0.5 --by types.tsv --min-queries 2", "--over quantile:2", "--over tail:0 --over worst",
    "--over tail:x",
    "--over min --over min", "--by missing.tsv", "--by sizes.txt --min-queries 1", "--by empty.tsv", "--by a.run",
    "--by strange.tsv", "--by twice.tsv", "--by types.tsv --min-queries 0",
)  # fmt: skip
AP = "-m AP -m LexiRecall -f jsonl"
_GROUPED = f"eval {TWO} -m AP -m Depth@1 --over mean --over tail:0.5 --by types.tsv --min-queries 2"
_TABLES = "--columns document=film,grade=stars"


def _reading(command: str, files: str, end: str) -> list[str]:
    """Return a call for each rule of reading, and a few on other files."""
    other = ("qrels.txt dup.run a.run --duplicates first", "qrels.txt dup.run a.run", "qrels.txt extra.run a.run")
    calls = [f"{command} {files} {option} {end}" for option in READING]
    calls += [f"{command} {each} {end}" for each in other]
    calls.append(f"{command} stars.csv films.csv {_TABLES} --level 4 {end}")
    if command not in ("explain", "funnel", "gate", "unjudged", "certify", "fuse"):
        calls.append(f"{command} {files} --providers owners.tsv {end}")
    calls += [
        f"{command} stars.csv a.csv b.csv {_TABLES} --engine duckdb {more}{end}" for more in ("", "--ties input ")
    ]
    limited = f"{command} stars.csv a.csv b.csv {_TABLES} --engine-options"
    calls += [
        f"{limited} {each} {end}"
        for each in (
            "memory_limit=64MB,threads=1 --engine duckdb", "memory=1GB --engine duckdb", "threads=many --engine duckdb",
            "memory_limit --engine duckdb", "threads=1",
        )
    ]  # fmt: skip
    calls += [f"{command} {files} --engine {each} {end}" for each in ("duckdb", "spark", "duckdb --master local")]
    return [*calls, f"{command} {files} --stdin-name piped {end}"]


_VECTORS = "--query-vectors q.npy --corpus-vectors c.npy --query-ids q.txt --corpus-ids c.txt"
CASES: dict[str, list[str]] = {
    "eval": [
        f"eval {THREE}",
        *(f"eval {THREE} {form}" for form in (*FORMATS, "-f trec")),
        *(f"eval {TWO} -q {form}" for form in (*FORMATS, "-f trec")),
        *_reading("eval", THREE, "-q -f jsonl"),
        *(f"eval {THREE} --bootstrap 99 {form}" for form in FORMATS),
        *(f"eval {TWO} -m AP -m TSE -m All@5 -m LexiRecall --interval {option}" for option in (
            "", "-f jsonl", "-f trec", "--engine spark", "--over median --over tail:0.5 --over min -f tsv")),
        *(f"eval {TWO} -m AP -m NumRet -m LastRel --bootstrap 200 --seed 3 {option}" for option in (
            "-q", "--sort AP --digits 2", "--queries intersection -f jsonl", "--manifest made.json -f tsv")),
        *(f"eval {TWO} {option}" for option in (
            "--bootstrap 99 --providers owners.tsv -f jsonl", "--bootstrap 99 -f trec", "--bootstrap 38",
            "--bootstrap 0", "--bootstrap 99 --seed -1", "--bootstrap 99 --engine spark")),
        f"eval {TWO} --providers owners.tsv -m WorstProvider -m TSE",
        *(f"eval {TWO} --providers owners.tsv --show providers {form}" for form in FORMATS),
        *(f"eval {TWO} {option}" for option in (
            "--show runs -m AP", "--show providers", "--providers owners.tsv --show providers -q",
            "--providers owners.tsv --show providers --bootstrap 99 --seed 3 -f jsonl --manifest made.json",
            "--providers owners.tsv --show providers --bootstrap 99 --digits 2 --sort name",
            "--providers owners.tsv --show providers --queries intersection -m WorstProviderOverall(e=dcg) -f tsv",
            "--providers owners.tsv --show providers --ties expected",
            "--providers owners.tsv --show providers --min-queries 1",
            "--providers owners.tsv --show providers --over min")),
        f"eval {TWO} -m nope -m APP -m P",
        f"eval {TWO} -m BPM@10 -m P_IA@5",
        f"eval {TWO} -m NumQ -m SetAP -m SetRelP -m GradedRBP -m GradedRBP(max_grade=3) -m Compat -m Accuracy",
        f"eval {TWO} -m NumQ -m set_map -m set_relative_P -m GradedRBP --ties expected",
        *(f"eval {THREE} -m All@5 -m Reached(r=0.5)@5 -m recall_any_1 -m R@5 {option}" for option in (
            "", "-f jsonl", "--bootstrap 99", "--bootstrap 99 -f jsonl", "--ties expected")),
        *(f"eval {TWO} {option}" for option in (
            "-m recallall@5", "-m StRecall@5 -m ERR_IA@5",
            "-m strec@5 -m alpha-nDCG@5 -m ERR-IA@5 --units @subtopics")),
        f"eval {TWO} -m nDCG(rel=2) -m AP(rel=3) -m Bpref -m Judged@3 -m LastRel -f tsv -o out.tsv --manifest m.json",
        f"eval {TWO} --no-relevant zero --corpus-size 50 --manifest made.json -o out.txt",
        "eval qrels.txt a.run --manifest made.json",
        "eval odd.txt odd.run -q -m AP -f tsv",
        "eval odd.txt odd.run -q -m AP -f tsv --raw",
        "eval qrels.txt a.run a.run",
        "eval qrels.txt",
        "eval qrels.txt missing.run",
        "eval a.run qrels.txt",
        "eval qrels.txt a.run -o qrels.txt",
        "eval qrels.txt a.run --master local",
        *(f"eval {THREE} {option}" for option in ("--sort AP", "--sort name --digits 2", "--sort nope", "--digits 16")),
        "eval stars.csv films.csv --engine duckdb -q -f jsonl --level 4 --columns document=film,grade=stars",
        *(
            f"eval stars.csv films.csv --engine duckdb -q -f jsonl --columns document=film,grade=stars {option}"
            for option in ("--no-relevant zero", "--queries intersection", "--ties best", "--depth 3 --judged-only",
                           "--level 9", "--manifest made.json", "-m nope", "--corpus-size 60 -m LastRel",
                           "--ties expected -m AP", "--imputation optimistic")
        ),
    ],
    "over": [
        *(f"eval {TWO} -m AP -m Depth@1 -m NumRet -m LexiRecall {option}" for option in OVER),
        *(f"{_GROUPED} {option}" for option in (
            *FORMATS, "-f trec", "-q", "-q -f jsonl", "--manifest made.json --bootstrap 99 -f jsonl",
            "--bootstrap 99 --over min", "--sort AP --digits 2", "--queries intersection", "--no-relevant zero")),
        f"eval {TWO} -m LexiRecall --by types.tsv --min-queries 2",
    ],
    "compare_over": [
        *(f"compare {THREE} -m AP -m Depth@1 -m LexiRecall {option}" for option in OVER),
        *(f"compare {TWO} -m AP --over mean --over tail:0.5 --by types.tsv --min-queries 1 {option}" for option in (
            *FORMATS, "-f pref_eval", "--engine spark", "--baseline b.run --test wilcoxon", "--bootstrap 38",
            "--test max-t --resamples 9", "--bootstrap 99 --seed 3", "--show pairs", "--show matrix", "--show power",
            "--queries intersection", "--correction none --digits 2")),
        *(f"compare {TWO} -m {name} --over tail:0.5 --by types.tsv --min-queries 2" for name in ("LexiRecall", "AP")),
    ],
    "compare": [
        f"compare {THREE}",
        f"compare {THREE} --master local",
        *(f"compare {THREE} {AP} {option}" for option in ("--sort name", "--sort AP --digits 2", "--sort nope")),
        *(f"compare {THREE} --show {view}" for view in ("runs", "pairs", "matrix", "power")),
        *(f"compare {THREE} {option}" for option in ("--show power --detect 0.1", "--detect 0.1")),
        f"compare {THREE} --show power --detect 0.5 --test max-t --resamples 200 {AP}",
        *(f"compare {TWO} {AP} {form}" for form in (*FORMATS, "-f pref_eval")),
        *_reading("compare", THREE, AP),
        *(f"compare {THREE} {option} {AP}" for option in TESTING),
        *(f"compare {THREE} {option} -m AP -m LexiRecall" for option in BOOTSTRAP),
        *(f"compare {TWO} --bootstrap 99 {option}" for option in ("-f jsonl", "--show pairs", "-f pref_eval")),
        *(f"compare {THREE} -f pref_eval {option}" for option in ("--no-relevant zero", "--test t", "-m AP -m RPP")),
        f"compare {TWO} {AP} -o out.jsonl",
        "compare odd.txt odd.run even.run -m AP -f csv --raw",
        "compare qrels.txt a.run",
        *(f"compare {THREE} --safe {option}" for option in (
            "--show pairs", "", "--show pairs --baseline b.run -m R@3 -m AP -f markdown", f"{AP} --test max-t",
            "--show power -f jsonl", "-f pref_eval", "--over min --show pairs", "--show pairs --engine duckdb",
            "--show pairs --engine spark", "--show pairs --judged-only", "--show pairs --units units.tsv")),
        "compare qrels.txt kept.parquet --safe --show pairs",
    ],
    "rank": [
        *(f"rank {THREE} --method {name}" for name in ("winrate", "borda", "copeland", "mc4", "kemeny")),
        *(f"rank {THREE} --method leximin {option}" for option in (
            "-m R@3", "-m AP -f jsonl", "-m LastRel", "-m LastRel -f jsonl --queries intersection", "-m LexiRecall", "",
            "-m AP --bootstrap 99")),
        *(f"rank {THREE} {form}" for form in FORMATS),
        *_reading("rank", THREE, "-f jsonl"),
        *(f"rank {THREE} --bootstrap 99 {form}" for form in FORMATS),
        *(f"rank {THREE} --bootstrap 200 --seed 3 --method {name}" for name in ("winrate", "borda", "copeland", "mc4",
                                                                                "kemeny")),
        f"rank {THREE} -m AP --bootstrap 38",
        f"rank {THREE} -m AP -f tsv -o out.tsv --raw",
        f"rank {THREE} -m nope",
        "rank qrels.txt a.run",
    ],
    "explain": [
        f"explain {TWO}",
        *(f"explain {TWO} {form}" for form in FORMATS),
        *_reading("explain", TWO, "-f jsonl"),
        *(f"explain {TWO} --query q3 {form}" for form in FORMATS),
        f"explain {TWO} --query q33",
        *(f"explain {TWO} -m AP {form}" for form in FORMATS),
        *(f"explain {TWO} {option}" for option in ("-m LexiRecall", "-m AP,RR", "-m SL1 --limit 1", "-m RR --query q3",
                                                   "-m nDCG --level 3", "-m R@3 --no-relevant zero -f tsv")),
        f"explain {TWO} --limit 2 -o out.txt",
        "explain odd.txt odd.run even.run -f tsv --raw",
        "explain qrels.txt a.run",
    ],
    "gate": [
        f"gate {GATE}",
        *(f"gate {GATE} -m LexiRecall -m AP -m All@3 -f {form}" for form in ("table", "markdown", "junit", "jsonl")),
        *_reading("gate", "qrels.txt a.run", "--require AP>=0.1 -f jsonl"),
        *(f"gate {GATE} {option}" for option in (
            "--margin 0.1 -m AP -m LexiRecall", "--margin -1", "--alpha 0.3 -m R@3", "--alpha 0.6",
            "--require 'no query loses a relevant document' --require 'tail:0.5 of R@3 >= 0.5' -f jsonl",
            "--require 'every relevant document is found within the first 3'", "--require 'AP is good' --require x",
            "--require 'every relevant document is found within the first 9' --depth 4",
            "-m AP --over mean --over tail:1 --by types.tsv --min-queries 2 -f jsonl",
            "-m AP --over tail:1", "-m AP --over tail:0.5", "--over min",
            "--by types.tsv --min-queries 2 --require 'R@3>0.1'",
            "--ledger made.jsonl", "--ledger made.jsonl --build 4f2a91c --builds 20 --margin 0.1", "--build 4f2a91c",
            "--require 'at most 20% of queries lose a relevant document within the first 3'",
            "--require 'at most 45 % of queries lose a relevant document with 95% confidence' -f jsonl",
            "--require 'at most 2% of queries lose a relevant document with 95% confidence'",
            "--ledger empty.tsv", "--ledger a.run", "--corpus-ids c.txt", "--corpus-ids q.txt",
            "--corpus-ids missing.txt", "--texts corpus.jsonl --texts words.tsv",
            "--also junit=made.xml --also markdown=made.md -o made.txt",
            "--also made.xml", "--also pdf=made.pdf", "--also junit=a.run", "-m nope", "--margin x")),
        "gate qrels.txt a.run", "gate qrels.txt b.run --baseline b.run --margin 0", "gate qrels.txt a.run --margin 0.1",
        "gate qrels.txt a.run --baseline missing.run", "gate qrels.txt kept.parquet --baseline a.run",
        "gate odd.txt odd.run --baseline even.run -f markdown", "gate odd.txt odd.run --baseline even.run -f junit",
        "gate odd.txt odd.run --baseline even.run", "gate qrels.txt --baseline a.run",
    ],
    "funnel": [
        "funnel qrels.txt a.run@6 b.run@4 c.run",
        *(f"funnel qrels.txt a.run@6 b.run@4 {form}" for form in FORMATS),
        *_reading("funnel", TWO, "-f jsonl"),
        *(f"funnel qrels.txt a.run+b.run@5 c.run@3 {option}" for option in (
            "", "-f jsonl", "--depth 3", "--judged-only", "--ties worst", "--units units.tsv --judged documents",
            "--units units.tsv --judged documents --count units", "--texts corpus.jsonl", "--texts words.tsv",
            *(f"--texts corpus.jsonl --texts words.tsv {form}" for form in FORMATS), "--limit 0", "--limit 2",
            "--units units.tsv --judged documents --texts corpus.jsonl", "--engine duckdb", "--ties expected")),
        *(f"funnel qrels.txt {stages}" for stages in (
            "a.run@3 a.run@2", "a.run a.run", "a.run@0", "a.run@x", "a.run+", "a.run+missing.run", "c.run+a.run+c.run",
            "kept.parquet@3", "kept.parquet+a.run", "dup.run+a.run", "dup.run+a.run --duplicates best",
            "a.run -o a.run", "a.run --texts nothing.tsv", "a.run@2 --texts documents=types.tsv")),
        "funnel odd.txt odd.run even.run@1 -f tsv --raw -o out.tsv",
        "funnel odd.txt odd.run even.run@1 -f tsv",
        "funnel odd.txt a.run",
        "funnel qrels.txt",
    ],
    "unjudged": [
        f"unjudged {THREE}",
        *(f"unjudged {TWO} -m LexiRecall -m R@3 -m AP {form}" for form in FORMATS),
        *_reading("unjudged", TWO, "-m LexiRecall -m R@3 --show pairs -f jsonl"),
        *(f"unjudged {THREE} -m LexiRecall -m R@3 {option}" for option in (
            *(f"--show {view}" for view in ("summary", "runs", "pairs", "queries", "judge", "hindsight")),
            "--show queries -f jsonl", "--rate 0.02", "--rate 0.02 --show queries", "--rate 0", "--rate 2", "--rate x",
            "--rate 0.1 --samples 20 --seed 3", "--samples 9", "--rate 0.1 --samples 0", "--rate 0.1 -f jsonl",
            "--baseline b.run --show pairs", "--baseline none", "--judge 5", "--judge 5 -f csv",
            "--judge 5 -f jsonl --texts corpus.jsonl --texts words.tsv", "--judge 3 --texts words.tsv", "--judge 0",
            "--judge 2 --samples 9", "--judge 2 --rate 0.1 --samples 9", "--texts words.tsv",
            "--judged-with rejudged.txt", "--rate 0.1 --judged-with rejudged.txt",
            "--rate 0.1 --judged-with rejudged.txt -f jsonl",
            "--rate 0.1 --judged-with qrels.txt", "--rate 0.1 --judged-with missing.txt",
            "-m bpref -m infAP", "-m nope", "-m LastRel -m Depth@0.5 --show runs", "-o a.run")),
        "unjudged qrels.txt a.run", "unjudged qrels.txt a.run --judge 3", "unjudged qrels.txt a.run --rate 0.1",
        "unjudged qrels.txt a.run -m LexiRecall",
        "unjudged qrels.txt kept.parquet", "unjudged qrels.txt", "unjudged qrels.txt missing.run",
        "unjudged odd.txt odd.run even.run --judge 3 --rate 0.1 -f tsv -o out.tsv",
        "unjudged odd.txt odd.run even.run --judge 3 --rate 0.1 -f tsv --raw",
    ],
    "fuse": [  # with given weights, or as RRF: what is learnt differs in the last digits between machines
        f"fuse {THREE} --weights fusion.json -o made.run",
        f"fuse {THREE} --folds 3 --discount 0.9 --regularization 0.01 -o made.run --save-weights made.json",
        *(f"fuse {THREE} -m LexiRecall -m R@3 --weights fusion.json -o made.run {form}" for form in FORMATS),
        *_reading("fuse", THREE, "-m LexiRecall -m R@3 --weights fusion.json -o made.run -f jsonl"),
        *(f"fuse {THREE} -o made.run {option}" for option in (
            "--folds 1", "--folds 9", "--seed -1", "--features rank,log,bm25", "--features scor", "--discount 2",
            "--discount x", "--regularization -1", "--regularization nan", "--weights a.run", "--weights missing.json",
            "--weights fusion.json --discount 0.5 --allow-negative", "--weights fusion.json --save-weights made.json",
            "--save-weights a.run", "--save-weights made.run", "--judged-only --units units.tsv", "-m nope")),
        f"fuse {TWO} --weights fusion.json -o made.run", f"fuse {THREE}", f"fuse {THREE} -o -",
        f"fuse {THREE} -o made.run.gz", f"fuse {THREE} -o a.run", "fuse qrels.txt a.run -o made.run",
        "fuse qrels.txt -o made.run", "fuse a.run qrels.txt b.run -o made.run",
        "fuse qrels.txt kept.parquet c.run -o made.run",
        "fuse qrels.txt a.run missing.run -o made.run", "fuse odd.txt odd.run even.run -o made.run --raw",
    ],
    "certify": [
        f"certify {REVIEW} --sample 1500 --relevant 0",
        *(f"certify {REVIEW} --sample 1500 --relevant 3 --wanted 0.95 {form}" for form in FORMATS),
        *(f"certify {REVIEW} {option}" for option in (
            "", "--wanted 0.95", "--wanted 0.95 --assume 6", "--sample 1500 --relevant 4 --wanted 0.95 --looks 2",
            "--sample 1500 --relevant 4 --sample 500 --relevant 0 --confidence 0.9", "--sample 1500 --relevant 11 "
            "--wanted 0.95", "--sample 8000 --relevant 0", "--sample 8000 --relevant 3", "--sample 2000 --relevant 0 "
            "--wanted 0.95", "--sample 200 --relevant 0 --sample 200 --relevant 150",
            "--sample 9000 --relevant 9500", "--sample 10", "--sample 10 --relevant 0 --confidence 1", "--wanted 2",
            "--sample 10 --relevant x", "--assume 3", "--wanted 0.9 --assume 9000", "--looks 0", "--level 2",
            "--draw 5", "--sample 10 --relevant 0 --sample 10 --relevant 0 --looks 1", "--stops 5", "--sampled a.run")),
        "certify", "certify --read 5 --found 9 --corpus-size 3", "certify --read -1 --found 0 --corpus-size 3",
        "certify --corpus-size 50 --read 10 --found 0 --sample 20 --relevant 0",
        "certify --corpus-size 50 --read 50 --found 0",
        *(f"certify whole.txt whole.run --read {option}" for option in (
            "4", "4 --sampled filled.csv", "4 --sampled filled.csv --sampled more.csv --wanted 0.9",
            *(f"4 --sampled filled.csv --wanted 0.9 {form}" for form in FORMATS), "depths.txt --sampled filled.csv",
            "4 --sampled filled.csv --corpus-size 40", "4 --sampled filled.csv --corpus-size 5", "4 --sampled ids.csv",
            "7 --sampled filled.csv", "90 --level 2", "4 --sampled unfilled.csv", "4 --sampled filled.csv --found 3",
            "4 --sampled filled.csv --sampled filled.csv", "4 --depth 5", "4 --units units.tsv", "nothing.txt",
            "4 --draw 3 --seed 1", "4 --draw 3 -f csv -o made.csv", "4 --draw 3 -f jsonl",
            "4 --draw 3 --sampled filled.csv", "4 --draw 30",
            "4 --draw 3 --corpus-size 90", "4 --draw 3 --wanted 0.9", "4 --draw 0", "4 --engine duckdb", "a.run",
            "4 --draw 3 -o whole.run", "wrong.txt", "twice.txt")),
        "certify whole.txt", "certify whole.txt whole.run", "certify qrels.txt a.run --read 6",
        "certify whole.txt whole.run b.run --read 3", "certify odd.txt odd.run --read 1 --draw 1",
        "certify odd.txt odd.run --read 1 --draw 1 --raw", "certify whole.txt kept.parquet --read 3",
        *_reading("certify", TWO, "--stops 3 -f jsonl"),
        *(f"certify {TWO} --stops 3 --wanted 0.5 {form}" for form in FORMATS),
        *(f"certify {TWO} --stops {option}" for option in (
            "stops.txt", "stops.txt --wanted 0.5 --confidence 0.9 -f jsonl", "depths.txt", "cut", "cut -f tsv",
            "wrong.txt", "twice.txt", "missing.txt", "90", "4 --ties expected", "4 --looks 2", "4 --draw 3",
            "strange.tsv", "4 --found 3 --sample 2 --relevant 1 --sampled a.run", "4 -o a.run", "types.tsv")),
        "certify qrels.txt --stops cut --corpus-size sizes.txt", "certify qrels.txt --stops cut",
        "certify qrels.txt --stops 4", "certify --stops 4",
    ],
    "texts": [
        *(f"explain {TWO} --texts corpus.jsonl --texts words.tsv {option}" for option in (
            "", *FORMATS, *(f"--query q3 {form}" for form in FORMATS), *(f"-m AP {form}" for form in FORMATS),
            "--units units.tsv -f jsonl", "--units units.tsv --query q3", "-f jsonl -o corpus.jsonl")),
        *(f"explain {TWO} --limit 2 --texts {each}" for each in (
            "both=words.tsv", "queries=words.tsv", "documents=corpus.jsonl", "documents=words.tsv", "missing.jsonl",
            "queries=", "a.run", "strange.tsv", "empty.tsv", "corpus.jsonl --columns text=title",
            "corpus.jsonl --columns texts.text=body", "corpus.jsonl --columns texts.words=body")),
        f"report {TWO} -m AP --texts corpus.jsonl --texts words.tsv -o out.html",
        f"report {TWO} -m AP --texts corpus.jsonl --texts words.tsv -o words.tsv",
        f"report {TWO} -m AP --texts types.tsv -o out.html",
    ],
    "report": [
        f"report {THREE} -o out.html --title Three",
        f"report {TWO} -o out.html -m AP",
        *_reading("report", TWO, "-m AP -o out.html"),
        *(f"report {THREE} {option} -m AP -m LexiRecall -o out.html" for option in TESTING),
        *(f"report {THREE} {option} -m AP -m LexiRecall -o out.html" for option in BOOTSTRAP),
        "report qrels.txt a.run -m AP --bootstrap 99 -o out.html",
        *(f"report {THREE} {option} -m AP -o out.html" for option in (
            "--over median", "--over mean --over tail:0.5 --by types.tsv --min-queries 2 --bootstrap 99",
            "--by types.tsv", "--by missing.tsv", "--over worst")),
        f"report {TWO} -o out.html --plots a.run",
        *(f"report {TWO} -m AP -o out.html --funnel a.run@4 --funnel b.run@2 {option}" for option in (
            "", "--texts corpus.jsonl", "--queries intersection --depth 3", "--funnel c.run+a.run")),
        *(f"report {TWO} -o out.html --unjudged {option}" for option in (
            "", "-m AP --depth 3", "-m Bpref", "--baseline b.run -m R@3", "-m R@20% --corpus-size 100")),
        "report qrels.txt a.run -m AP --unjudged -o out.html",
        f"report {TWO} -m AP -o b.run --funnel a.run+b.run", f"report {TWO} -m AP -o out.html --funnel a.run@0",
    ],
    "study": [
        f"study {THREE} --samples 2",
        *_reading("study", THREE, "--samples 2 -m AP -m LexiRecall"),
        f"study {THREE} --name mine --samples 2 -m AP",
        f"study {THREE} --task toys --teams teams.txt --samples 2 -m AP", f"study {TWO} --teams teams.txt -m AP",
        "study --collections both.toml --name mine",
        "study qrels.txt a.run b.run --stdin-name piped",
        "study --collections both.toml --samples 2 --alpha 0.1 --seed 5 -m AP -m R@2 -o made --raw",
        "study --collections wrong.toml",
        "study",
        f"study {THREE} --collections both.toml",
    ],
    "project": [
        f"project {THREE} -o kept.parquet",
        *(f"project {TWO} {option} -o made.parquet" for option in (
            "--corpus-size 100", "--corpus-size sizes.txt", "--depth 4", "--judged-only", "--strict",
            *(f"--ties {rule}" for rule in ("trec", "input", "worst", "best", "expected")),
            *(f"--score-dtype {dtype}" for dtype in ("float64", "float32")),
            *(f"--duplicates {rule}" for rule in ("error", "first", "best")),
            *(f"--imputation {rule}" for rule in ("pessimistic", "optimistic", "paper")),
            "--imputation paper --corpus-size 100", "--level 2", "--units units.tsv", "--stdin-name piped",
            "--ties none")),
        "project qrels.txt dup.run extra.run --duplicates first -o made.parquet",
        "project qrels.txt dup.run -o made.parquet",
        f"project stars.csv films.csv {_TABLES} -o made.parquet",
        f"project stars.csv films.csv {_TABLES} --engine duckdb --engine-options threads=1 -o made.parquet",
        *(f"project qrels.txt a.run --engine {each} -o made.parquet" for each in ("spark", "duckdb --master local")),
        "project qrels.txt kept.parquet c.run -o made.parquet", f"project {TWO}", f"project {TWO} -o a.run",
        "project qrels.txt a.run --name new -o made.parquet", f"project {TWO} --name new -o made.parquet",
        "project qrels.txt a.run --similarity dot -o made.parquet",
        f"project {TWO} -o nowhere/made.parquet", "project qrels.txt missing.run -o made.parquet",
        *(f"eval qrels.txt kept.parquet {more}" for more in (
            "", "c.run -q -m AP -m Bpref -m LexiRecall -f jsonl", "--ties best", "--depth 3 --judged-only",
            "--corpus-size 100 -m LastRel", "--units units.tsv -m R@3", "--units units.tsv --count units -m R@3",
            "--providers owners.tsv -m WorstProvider", "--engine duckdb", "a.run", "--manifest made.json -m AP")),
        "eval kept.parquet kept.parquet -m AP", "eval odd.txt kept.parquet -m AP",
        "compare qrels.txt kept.parquet -m AP", "rank qrels.txt kept.parquet c.run",
        "explain qrels.txt kept.parquet c.run -f jsonl", "explain qrels.txt kept.parquet",
        "explain qrels.txt kept.parquet c.run --pair c.run a.run", "explain qrels.txt kept.parquet --pair a.run d.run",
        "report qrels.txt kept.parquet c.run -m AP -o out.html", "study qrels.txt kept.parquet c.run --samples 2 -m AP",
        "trec_eval qrels.txt kept.parquet",
        *(f"project qrels.txt {_VECTORS} {more} -o made.parquet" for more in (
            "", *(f"--similarity {name}" for name in ("dot", "cosine", "l2")), "--device cpu --name dense",
            *(f"--ties {rule}" for rule in ("input", "worst", "best", "expected")), "--depth 4 --judged-only",
            "--missing last", "--missing error", "--corpus-size 10", "--engine duckdb",
            "--similarity nope")),
        "project qrels.txt --query-vectors q.npy --corpus-vectors few.npy --query-ids q.txt --corpus-ids few.txt "
        "--missing last -o made.parquet",
        "project qrels.txt --query-vectors q.npy --corpus-vectors few.npy --query-ids q.txt --corpus-ids few.txt "
        "-o made.parquet",
        "project qrels.txt --query-vectors q.npy --corpus-vectors c.npy -o made.parquet",
        "project qrels.txt --query-vectors q.npy -o made.parquet",
        "project qrels.txt --query-vectors q.txt --corpus-vectors c.npy -o made.parquet",
        "project qrels.txt --query-vectors q.npy --corpus-vectors c.npy --query-ids few.txt -o made.parquet",
        f"project qrels.txt a.run {_VECTORS} -o made.parquet", f"project qrels.txt {_VECTORS} -o c.npy",
        "project qrels.txt -o made.parquet",
    ],
    "trec_eval": [
        *(f"trec_eval {flags} qrels.txt a.run" for flags in (
            "", "-q", "-c", "-q -c -l 2", "-n -q", "-M 3", "-J", "-N 100 -m utility", "-m all_trec", "-m map -m P.5,10",
            "-m set", "--score-dtype float32", "--score-dtype float64", "-m nope", "-R qrels -T trec_results",
            "-R other", "-R prefs", "-v", "-q -m all_trec --compat 9", "-q -c --compat 9", "--compat 10", "-o -D 1",
            "-q -m map -D 0.q3", "-q -Z z.tsv -m map -m num_ret -m relstring -m num_q", "-h -m map -m ndcg.1=3",
            "-m ndcg.1=3,2=9 -m rbp.p=0.5 -m unj.2 -m dcg -m yaap -m iprec_at_recall..3",
        )),
        "trec_eval qrels.txt dup.run",
        "trec_eval qrels.txt extra.run",
    ],
    "rows": [
        *(f"eval rows.jsonl {option}" for option in (
            "", "-q -f jsonl", "-m AP --no-relevant zero", "-m AP --bootstrap 99", "a.run -m AP", "rows.jsonl -m AP",
            "new.json -m AP", "--duplicates best -m AP", "--manifest made.json -m AP",
            "--columns query=n -m AP -q -f jsonl", "--columns query=none", "--columns document=expected_ids",
            "--columns run.document=expected_ids -m AP", "--columns qrels.document=none", "--engine spark")),
        "eval texts.jsonl", "eval texts.jsonl --columns run.document=retrieved_contexts",
        "eval texts.jsonl -m RR --columns qrels.document=reference_contexts,run.document=retrieved_contexts",
        "eval either.jsonl", "eval either.jsonl -m AP -q -f jsonl --columns run.document=retrieved_ids",
        "eval other.jsonl", "compare rows.jsonl other.jsonl", "compare rows.jsonl",
        *(f"{command} rows.jsonl new.json" for command in ("compare", "rank", "explain", "report -o out.html")),
        "compare rows.jsonl new.json --baseline rows.jsonl -f jsonl -m LexiRecall",
        "project rows.jsonl -o made.parquet",
        "study rows.jsonl new.json --samples 2 -m AP -m R@2", "eval qrels.txt predictions.json -m AP",
        "eval beir a.run -m AP", "eval broken.jsonl", "eval flat.jsonl a.run -m AP",
    ],
    "reviews": [
        *(f"eval nb.asreview {option}" for option in (
            "", "-m R@20% -m RRF@0.2 -m ERF@0.2 -m ATD -m Loss -m TNR@0.5 -m WSS@95%", "svm.asreview -m ATD -m R@20%",
            "-m AsreviewWSS@0.5 -m AsreviewERF@0.2 -m AsreviewTNR@0.5 -f jsonl", "-m ATD --corpus-size 99",
            "other.asreview -m ATD -q", "differs.asreview -m ATD", "nb.asreview -m ATD", "-m RRF@20", "-m R@0%",
            "heart.run -m ATD", "--engine duckdb", "--manifest made.json -m ATD")),
        *(f"eval nb.asreview svm.asreview --show discovery {form}" for form in FORMATS),
        *(f"eval {TWO} --show discovery {option}" for option in (
            "--level 2", "--corpus-size sizes.txt --depth 4", "-m AP", "-q", "-f trec", "--by types.tsv",
            "--bootstrap 99", "--sort name", "--engine spark", "--ties expected", "-f tsv --raw -o out.tsv",
            "--units units.tsv")),
        f"eval {TWO} -m R@10%", f"eval {TWO} -m R@10% -m All@10% -m P@10% --corpus-size 100",
        f"eval {TWO} -m R@10% -m All@50% --corpus-size sizes.txt -q -f jsonl",
        *(f"{command} nb.asreview svm.asreview {end}" for command, end in (
            ("compare", "-m ATD"), ("rank", ""), ("explain", ""), ("report", "-m ATD -o out.html"),
            ("unjudged", "-m R@20%"))),
        "project nb.asreview -o made.parquet", "eval screened.csv -m ATD", "eval old.csv", "eval refs.ris a.run",
        "eval broken.asreview", "eval empty.asreview", "eval other.zip",
    ],
    "policies": [
        *(f"eval {SAMPLES} --show policies {form}" for form in FORMATS),
        *(f"eval {SAMPLES} --show policies {option}" for option in (
            "-m AP -q", "-m AP -q -f jsonl", "-m AP --digits 2", "-m LexiRecall,LexiPrecision,RPP", "-m SetP,Bpref,AP",
            "-m LastRel,SL1", "-m LastRel --corpus-size 100", "-m nDCG,nDCG(rel=1),AP(rel=2)", "-m AP --level 2",
            "-m AP --queries intersection", "-m AP --no-relevant zero", "-m TSE --imputation paper --corpus-size 100",
            "-m AP --units units.tsv", "-m AP --ties worst", "--ties expected", "-m nope", "-f trec", "--sort AP",
            "--bootstrap 99", "--by types.tsv", "--over min", "--engine spark", "-m AP --manifest made.json",
            "-m AP -f tsv -o out.tsv")),
        f"eval {TWO} --show policies", "eval qrels.txt one#1.run a.run --show policies",
        "eval qrels.txt one#1.run --show policies -m AP", "eval qrels.txt one#1.run --show policies -m LexiRecall",
    ],
    "measures": ["measures", *(f"measures {form}" for form in FORMATS), "measures AP", "measures LexiRecall -o out.txt",
                 "measures nDCG -f jsonl", "measures nope", "measures -f tsv --raw"],
    "paper": ["paper", "paper nope", *(f"paper recsys --seed 3 {form}" for form in FORMATS),
              "paper ties-by-corpus worst-case-agreement -f tsv --raw -o made",
              "paper ties-by-relevant -f latex -o made"],
    "demo": ["demo", "demo -o elsewhere", *(f"demo --for {reader}" for reader in READERS), "demo --for nobody"],
    "completion": ["completion tcsh --install"],  # the scripts are click's, and differ from version to version
    "help": ["", *(f"{name} --help" for name in ("", "eval", "compare", "rank", "explain", "funnel", "report", "study",
                                                  "paper", "demo", "measures", "project", "trec_eval", "gate",
                                                  "unjudged", "certify", "fuse")),
             "nope", "eval --nope"],
    "spark": [f"eval stars.csv films.csv --engine spark -f jsonl {_TABLES} {more}" for more in (
        "", "--level 4 --manifest made.json", "--no-relevant zero --queries intersection --depth 3 -m AP -m LexiRecall",
        "-q --interval -m AP", "-m nope", "--engine-options threads=1", "--providers owners.tsv -m WorstProvider",
        "-m AP -m All@3 --over mean --over tail:0.25 --by types.tsv --min-queries 2", "--over worst",
        "--by missing.tsv", "--units missing.tsv",
        "-m R@3 -m All@3 --units owners.tsv --judged documents --count units",
        "--count units")] + [
        f"compare stars.csv films.csv --engine spark {_TABLES} {more}" for more in (
        "", "-f jsonl --test sign --baseline b --level 4", "--show pairs --test t --correction bh", "--test hsd",
        "-f pref_eval", "-m R@3 --over median --by types.tsv -f jsonl")] + [
        f"{call} stars.csv films.csv --engine spark {_TABLES} --engine-options spark.app.name=golden {more}"
        for call, more in (("rank", "--bootstrap 99"), ("unjudged", ""), ("eval", "--show discovery"))],
}  # fmt: skip
"""The calls of each file in tests/golden/."""

_UNSEEN = ("--plots",)
_LONGEST = {"help": 20_000, "gate": 5_000, "compare": 3_500, "fuse": 2_000, "study": 400, "report": 400}
"""Characters of an output, 2,500 where it is not said; longer ones are kept as a digest, but for the first call."""
_FIRST = 30_000
_DRAWINGS = (".svg", ".pdf", ".png")  # are looked at by other tests
_LAID_OUT = (".md", ".tex")  # hold the numbers of a tsv again: a digest will do, but for the first call


def write_collection() -> None:
    """Write judgments and runs into the working directory, the same ones on every machine."""
    draw = random.Random(7)  # noqa: S311 - its numbers are the same in every Python
    judged = {f"q{q}": {f"d{i}": draw.choice((0, 0, 1, 1, 2, 3)) for i in range(q + 4)} for q in range(1, 8)}
    judged["q6"] = dict.fromkeys(judged["q6"], 0)
    judged["q7"]["d0"] = -1
    lines = [f"{query} 0 {document} {grade}" for query, grades in judged.items() for document, grade in grades.items()]
    Path("qrels.txt").write_text("\n".join([*lines, lines[0]]) + "\n")
    runs = {name: _rankings(draw, judged, skill) for name, skill in (("a", 0.9), ("b", 0.5), ("c", 0.1))}
    del runs["b"]["q2"]
    runs["c"]["q99"] = runs["c"]["q1"]
    for name, rankings in runs.items():
        Path(f"{name}.run").write_text("".join(_lines(rankings)))
    first = next(_lines(runs["b"]))
    Path("dup.run").write_text("".join(_lines(runs["b"])) + first.replace(first.split()[4], "-9"))
    Path("extra.run").write_text("".join(line.rstrip() + " more\n" for line in _lines(runs["b"])))
    Path("sizes.txt").write_text("".join(f"{query} {50 + len(grades)}\n" for query, grades in judged.items()))
    Path("owners.tsv").write_text("".join(f"d{i} {('Insel', 'Knopf', 'Reclam')[i % 3]}\n" for i in range(9)))
    Path("types.tsv").write_text(
        "".join(f"q{i}\t{('easy', 'hard', 'odd')[i % 3]}\n" for i in (1, 2, 4, 5, 6, 7, 8, 77))
    )
    Path("empty.tsv").write_text("")
    Path("z.tsv").write_text("q1\tmap\t0.5\t0.25\nq1 num_ret 10 2\nq2 map 0.125 0\n")
    Path("strange.tsv").write_text("301 easy\n302 hard\n")
    Path("twice.tsv").write_text("q1 easy\nq2 hard\nq1 hard\n")
    Path("units.tsv").write_text("".join(f"d{i}\tpage{i // 2}\n" for i in range(8)))
    _write_reviews(runs)
    _write_texts()
    again = (f"{query} 0 x {number % 2}\n{query} 0 y 0\n" for number, query in enumerate(judged))
    Path("rejudged.txt").write_text("".join(again))
    Path("odd.txt").write_text("=q 0 +a 1\n=q 0 b 1\n@r 0 c 1\n")
    Path("odd.run").write_text("=q Q0 +a 1 2 t\n=q Q0 x 1 1 t\n@r Q0 c 1 1 t\n")
    Path("even.run").write_text("=q Q0 b 1 2 t\n=q Q0 +a 1 1 t\n@r Q0 x 1 1 t\n")
    _write_tables(judged, runs)
    _write_rows(judged, runs)
    _write_projects()
    _write_samples(judged)


def _write_samples(judged: dict[str, dict[str, int]]) -> None:
    """Write samples of policies: of one that knows the judgments, of one that does not, and a single one."""
    draw = random.Random(11)  # noqa: S311 - its numbers are the same in every Python
    for policy, number, skill in (("lots", 4, 0.8), ("even", 3, 0.0), ("one", 1, 0.8)):
        for k in range(1, number + 1):
            rankings = _rankings(draw, judged, skill)
            if (policy, k) == ("even", 2):
                del rankings["q3"]
            Path(f"{policy}#{k}.run").write_text("".join(_lines(rankings)))


def _write_projects() -> None:
    """Write projects of ASReview of both versions, of one dataset and of two, what it exports, and broken ones."""
    rows = [(9, 1, True), (8, 0, True), *asreview_files.read([1, 0, 1, 0, 0, 1, 0])]
    made = {
        "nb": project_file([*rows, (7, None, False)], 30, included={20: 1}),
        "svm": project_file(
            [(9, 1, True), (0, 1, True), *asreview_files.read([0, 0, 1], 3), *asreview_files.read([0, 1], 1)],
            30,
            version=1,
        ),
        "other": project_file(rows, 40, dataset="lung.ris"),
        "differs": project_file(asreview_files.read([1, 1]), 30),
        "empty": project_file(rows[:2], 30),
        "broken": project_file(rows, 30)[:99],
    }
    for name, content in made.items():
        Path(f"{name}.asreview").write_bytes(content)
    Path("other.zip").write_bytes(archive({"a.txt": b"a"}))
    Path("heart.run").write_text("heart Q0 2 1 2 t\nheart Q0 0 2 1 t\n")
    Path("refs.ris").write_text("TY  - JOUR\nER  - \n")
    Path("old.csv").write_text("title,included,asreview_ranking\nOne,1,1\n")
    times = ["record_id,title,asreview_label,asreview_time"]
    times += [f"{i},Study {i},{i % 2},2026-05-01 14:0{i}:00" for i in range(6)]
    Path("screened.csv").write_text("\n".join([*times, "6,Study 6,,"]) + "\n")


def _write_reviews(runs: dict[str, dict[str, dict[str, str]]]) -> None:
    """Write two rankings of a whole corpus, judged to depth 8, samples of the rest, and where reviews stopped."""
    rankings = {query: [f"{query}-{i}" for i in range(20)] for query in ("r1", "r2")}
    Path("whole.run").write_text(
        "".join(
            f"{query} Q0 {document} 0 {-i} t\n"
            for query, documents in rankings.items()
            for i, document in enumerate(documents)
        )
    )
    grades = (
        (query, document, i % 3) for query, documents in rankings.items() for i, document in enumerate(documents[:8])
    )
    Path("whole.txt").write_text("".join(f"{query} 0 {document} {grade}\n" for query, document, grade in grades))
    samples = {"filled": ((5, 0), (9, 1), (13, 0)), "more": ((6, 0), (19, 0)), "unfilled": ((8, ""),)}
    for name, sample in samples.items():
        lines = (f"{query},{documents[i]},{grade}\n" for query, documents in rankings.items() for i, grade in sample)
        Path(f"{name}.csv").write_text("query_id,doc_id,grade\n" + "".join(lines))
    Path("ids.csv").write_text("query_id,doc_id\nr1,r1-5\nr1,r1-7\nr2,r2-6\n")
    Path("depths.txt").write_text("query depth\nr1 5\nr2 8\nq1 2\nq4 5\n")
    Path("stops.txt").write_text("a.run q1 3\na.run q3 2\na.run q5 6\nb.run q1 4\nb.run q99 4\nd.run q1 3\n")
    Path("wrong.txt").write_text("q1 3\nq2 many\n")
    Path("twice.txt").write_text("q1 3\nq2 4\nq1 5\n")
    Path("cut").mkdir(exist_ok=True)
    for name, depth in (("a", 3), ("b", 2)):
        ranked = ((query, sorted(each.items(), key=lambda pair: -float(pair[1]))) for query, each in runs[name].items())
        Path(f"cut/{name}.run").write_text("".join(_lines({query: dict(each[:depth]) for query, each in ranked})))


def _write_rows(judged: dict[str, dict[str, int]], runs: dict[str, dict[str, dict[str, str]]]) -> None:
    """Write rows of JSON that hold judgments and a run, some odd ones, predictions of MTEB and a folder of BEIR."""
    rows = {
        name: [
            {"n": number, "query": f"What is {query}?", "expected_ids": [each for each in grades if grades[each] > 0],
             "retrieved_ids": sorted(runs[run][query], key=lambda document: -float(runs[run][query][document]))}
            for number, (query, grades) in enumerate(judged.items())
        ]
        for name, run in (("rows", "a"), ("new", "c"))
    }  # fmt: skip
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows["rows"]))
    Path("new.json").write_text(json.dumps({"data": rows["new"]}))
    other = [{**row, "expected_ids": ["d0"]} for row in rows["rows"][:2]]
    Path("other.jsonl").write_text(
        "".join(f"{json.dumps({**row, 'query': rows['rows'][0]['query']})}\n" for row in other)
    )
    text = {"user_input": "why?", "reference_contexts": ["Because."], "retrieved_contexts": ["Maybe.", "Because."]}
    Path("texts.jsonl").write_text(f"{json.dumps(text)}\n")
    either = {**rows["rows"][0], "retrieved_context_ids": ["d1"]}
    Path("either.jsonl").write_text(f"{json.dumps(either)}\n")
    Path("broken.jsonl").write_text(f"{json.dumps(text)}\n{{\n")
    Path("predictions.json").write_text(json.dumps({"default": {"test": {query: {"d1": 1.0} for query in judged}}}))
    Path("beir/qrels").mkdir(parents=True)
    Path("beir/corpus.jsonl").write_text('{"_id": "d1", "text": "one"}\n')
    lines = [f"{query}\t{document}\t{grade}" for query, grades in judged.items() for document, grade in grades.items()]
    flat = (
        {"query_id": query, "doc_id": document, "relevance": judged[query][document]}
        for query in judged
        for document in judged[query]
    )
    Path("flat.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in flat))
    Path("beir/qrels/test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]) + "\n")


def _write_texts() -> None:
    """Write texts of most documents and queries, with everything in them that an output could stumble over."""
    hostile = "<b>*b*</b> | `c` &amp; \x1b[31m\u202e \u05d0\u05d1 12 =1+1 \\ ]]> {x} $y_z^ " + "long " * 40
    corpus = [{"_id": f"d{i}", "title": f"Title {i}", "text": hostile if i == 3 else f"Text {i}"} for i in range(9)]
    Path("corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    Path("words.tsv").write_text("".join(f"q{i}\tWords of {i}\n" for i in (1, 2, 3, 5, 7)))


def _write_vectors() -> None:
    """Write vectors of whole numbers, of which every product is exact, and no two directions are equally near."""
    queries = ["q1", "q2", "q4", "q6", "q7", "q99"]
    _write_vectors_of("q", queries, [[row + 1, row + 4, row + 13] for row in range(len(queries))])
    for name, number in (("c", 40), ("few", 9)):
        vectors = [[(7 * row + 3 * column + len(name)) % 5 - 2 for column in range(3)] for row in range(number)]
        _write_vectors_of(name, [f"d{row}" for row in range(number)], vectors)


def _write_vectors_of(name: str, ids: list[str], vectors: list[list[int]]) -> None:
    np.save(f"{name}.npy", np.array(vectors, np.float32))
    Path(f"{name}.txt").write_text("".join(f"{each}\n" for each in ids))


def _rankings(draw: random.Random, judged: dict[str, dict[str, int]], skill: float) -> dict[str, dict[str, str]]:
    """Give scores that follow the grades more or less, rounded, so that some are equal."""
    return {
        query: {document: f"{skill * max(grades.get(document, 0), 0) + draw.random():.1f}"
            for document in [*grades, "x", "y", "z"]
                if draw.random() < 0.85}
        for query, grades in judged.items()
    }  # fmt: skip


def _lines(rankings: dict[str, dict[str, str]]) -> Iterator[str]:
    for query, scores in rankings.items():
        for rank, (document, score) in enumerate(scores.items()):
            yield f"{query} Q0 {document} {rank} {score} t\n"


def _write_tables(judged: dict[str, dict[str, int]], runs: dict[str, dict[str, dict[str, str]]]) -> None:
    stars = [
        f"{query},{document},{grade + 2}" for query, grades in judged.items() for document, grade in grades.items()
    ]
    Path("stars.csv").write_text("\n".join(["query_id,film,stars", *stars]) + "\n")
    rows = [
        f"{name},{query},{document},{score}"
        for name, rankings in runs.items()
        for query, scores in rankings.items()
        for document, score in scores.items()
    ]
    Path("films.csv").write_text("\n".join(["run,query_id,film,score", *rows]) + "\n")
    for name in ("a", "b"):
        own = [row.partition(",")[2] for row in rows if row.startswith(f"{name},")]
        Path(f"{name}.csv").write_text("\n".join(["query_id,film,score", *own]) + "\n")
    one = '[[collection]]\nname = "one"\nqrels = "qrels.txt"\nruns = ["a.run", "b.run", "c.run"]\n'
    two = (
        '[[collection]]\nname = "two"\ntask = "films"\nqrels = "stars.csv"\nruns = ["films.csv"]\nlevel = 4\n'
        'no_relevant = "zero"\nqueries = "intersection"\ndepth = 5\ncolumns = { document = "film", grade = "stars" }\n'
    )
    Path("both.toml").write_text(one + two)
    Path("teams.txt").write_text("a.run us\nb.run us\nc.run them\n")
    Path("wrong.toml").write_text(one + 'level = "two"\nno_relevant = 3\n')


@dataclass(frozen=True)
class Recorded:
    """What one call left with, printed, said and wrote."""

    call: str
    parts: dict[str, str]

    def __str__(self) -> str:
        return "".join(f"--- {name}\n{_ended(text)}" for name, text in self.parts.items() if text)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def record(call: str, longest: int) -> Recorded:
    """Run one call in the working directory, which holds the collection alone; longer outputs become a digest."""
    _restore_collection()
    if " kept.parquet" in call.partition(" -o ")[0]:
        project("qrels.txt", ["a.run", "b.run"], needs_judged=True).save("kept.parquet")
    if "-vectors" in call or "--corpus-ids" in call:
        _write_vectors()
    if "fusion.json" in call:
        own = {"log": 2.0, "retrieved": 0.5}
        weights = {"a.run": own, "b.run": {"log": 1.0, "retrieved": 0.0}, "c.run": {"log": 0.25, "retrieved": 0.125}}
        FusionWeights(weights, ("log", "retrieved"), 0.9, 0.01, 40).save("fusion.json")
    given = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    code, out, err = _run(shlex.split(call.replace("(", "'('").replace(")", "')'")))
    made = [path for path in sorted(Path().rglob("*")) if path.is_file() and given.get(path) != path.read_bytes()]
    made = [path for path in made if path.suffix not in _DRAWINGS]
    parts = {f"exit {code}, stdout": out or "(nothing)", "stderr": err, **{str(path): _content(path) for path in made}}
    limits = {name: 0 if name.endswith(_LAID_OUT) and longest < _FIRST else longest for name in parts}
    return Recorded(call, {name: text if len(text) <= limits[name] else _digest(text) for name, text in parts.items()})


def _restore_collection() -> None:
    collection = _collection()
    for path in sorted(Path().rglob("*"), reverse=True):
        if path.is_dir():
            with contextlib.suppress(OSError):  # it is not empty
                path.rmdir()
        elif collection.get(str(path)) != path.read_bytes():
            path.unlink()
    for name, content in collection.items():
        if not Path(name).exists():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)


@functools.cache
def _collection() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_collection()
        return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def _digest(text: str) -> str:
    return f"sha256 {hashlib.sha256(text.encode()).hexdigest()} of {len(text):,} characters"


def _run(arguments: list[str]) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.ExitStack() as stack:
        for name, value in (
            ("argv", ["lexirecall", *arguments]),
            ("stdin", io.StringIO()),
            ("stdout", out),
            ("stderr", err),
        ):
            stack.enter_context(patch.object(sys, name, value))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}))
        if arguments[:1] == ["study"]:  # figures take long, and are looked at elsewhere
            stack.enter_context(patch("lexirecall.plots.is_available", return_value=False))
            advice = "pip install 'lexirecall[plots]'"  # which depends on how this one was installed
            stack.enter_context(patch("lexirecall.installing.how_to_install", return_value=advice))
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    said, reported = (stream.buffer.getvalue().decode() for stream in (out, err))
    return code, said, re.sub(r"\(\d+(\.\d+)? [kM]B\)", "(SIZE)", reported)


def _content(path: Path) -> str:
    """Return what a file says, without what differs between machines and days."""
    if path.suffix == ".parquet":
        return _rows(path)
    if path.suffix == ".npz":
        return "".join(f"{name}\n" for name in sorted(np.load(path)))
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        from lexirecall.page.html import unpack

        packed = re.search(r'id="payload">([^<]*)</script>', text)
        assert packed is not None
        return _json(unpack(packed[1]))
    if '"kind": "build"' in text:  # a ledger: builds have names by chance, and dates
        return re.sub(r'"(id|date|lexirecall)": "[^"]*"', r'"\1": …', text)
    return _json(json.loads(text)) if path.suffix == ".json" else text


def _rows(path: Path) -> str:
    """Return the metadata of a positions file, and its rows."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    facts = json.loads(table.schema.metadata[b"lexirecall.positions"])
    rows = "".join("\t".join(map(str, row.values())) + "\n" for row in table.to_pylist())
    names = "\t".join(table.schema.names)
    return f"{_json({name: value for name, value in facts.items() if name != 'lexirecall'})}{names}\n{rows}"


def _json(content: Any) -> str:
    """Return one line for each field, and for each field of a field."""
    fields = {name: value for name, value in content.items() if name not in ("versions", "reader", "date", "version")}
    manifest = fields.get("manifest")
    if isinstance(manifest, dict):
        fields["manifest"] = {name: value for name, value in manifest.items() if name not in ("versions", "reader")}
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())


def options_of(name: str) -> Iterator[str]:
    """Give every option of a command, with every choice it has."""
    context = click.Context(group)
    command = group.get_command(context, name)
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            choices = getattr(parameter.type, "choices", [""])
            yield from (f"{parameter.opts[0]} {choice}".strip() for choice in choices)


def is_covered(option: str, name: str) -> bool:
    """Tell whether a call of the command has the option, with that choice."""
    calls = [call for calls in CASES.values() for call in calls if call.split()[:1] == [name]]
    return option in _UNSEEN or any(f" {option} " in f"{call} " for call in calls)


def recorded(name: str, folder: Path | None = None) -> Iterator[Recorded]:
    """Run all calls of one file, in a folder that is emptied, or in a temporary one."""
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(folder or temporary):
        for number in range(len(CASES[name])):
            yield recorded_call(name, number)


def recorded_call(name: str, number: int) -> Recorded:
    """Run one call of a file in the working directory, which is emptied first."""
    return record(CASES[name][number], _LONGEST.get(name, 2_500) if number else _FIRST)


def read(name: str) -> dict[str, str]:
    """Return what the file says of each call."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return dict(part.split("\n", 1) for part in re.split(r"^=== lexirecall ", text, flags=re.MULTILINE)[1:])


def arithmetic() -> str:
    """Say what the last digit of a number depends on."""
    import numpy as np
    import scipy

    config: Any = np.show_config(mode="dicts")
    extensions = config["SIMD Extensions"]
    vectors = " ".join([*extensions["baseline"], *extensions.get("found", [])])
    return f"numpy {np.__version__}, scipy {scipy.__version__}, {vectors}, products {_products()}\n"


def _products() -> str:
    """Return a digest of some products of matrices, which BLAS adds up in another order on another processor."""
    import numpy as np

    numbers = np.sqrt(np.arange(1.0, 65))
    products = [numbers[:n] @ numbers[-n:] for n in range(1, 65)]
    products += [each for n in (1, 2, 3, 8) for each in numbers[: 8 * n].reshape(n, 8) @ numbers[:8]]
    return hashlib.sha256(np.array(products).tobytes()).hexdigest()[:12]


def _write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CASES:
        (FOLDER / f"{name}.txt").write_text(
            "".join(f"=== lexirecall {each.call}\n{each}" for each in recorded(name)), encoding="utf-8"
        )
    (FOLDER / "arithmetic").write_text(arithmetic())


if __name__ == "__main__":
    _write()
