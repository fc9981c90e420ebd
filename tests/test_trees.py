"""JSON and TOML from elsewhere: whatever is in them, there is a value or one error, and soon."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from lexirecall import project
from lexirecall.errors import FormatError
from lexirecall.formats.jsontext import load_json, load_json_or_rows
from lexirecall.formats.source import Source
from lexirecall.formats.textrows import text_rows
from lexirecall.learn.weightsfile import load_weights
from lexirecall.meta.collection import read_collections
from lexirecall.positions.file import KEY, from_parquet
from lexirecall.trees import DEEPEST, json_tree, toml_tree

WITHIN = {
    "lists": ("[" * 100_000, "nested more than 100 deep"),
    "lists that end": ("[" * 500 + "]" * 500, "nested more than 100 deep"),
    "objects": ('{"a":' * 100_000, "nested more than 100 deep"),
    "objects that end": ('{"a":' * 500 + "1" + "}" * 500, "nested more than 100 deep"),
    "objects in lists": ('[{"a":' * 90 + "1" + "}]" * 90, "nested more than 100 deep"),
    "a key twice": ('{"a": 1, "b": 2, "a": 1}', "the key 'a' occurs twice in one object"),
    "a key twice, far within": ('[{"c": [{"\\u0061": 1, "b": 2, "a": 1}]}]', "the key 'a' occurs twice in one object"),
    "thousands of digits": ("9" * 5000, "not valid JSON: a number has .* digits"),
}
"""What no reader takes, and what it says."""
NUMBERS = {
    "400 digits": ("9" * 400, "more than 100 digits"),
    "400 decimals": (".".join(("0", "1" * 400)), "more than 100 digits"),
    "beyond all numbers": ("-1e400", "a number is not finite: '-1e400'"),
    "NaN": ("NaN", "a number is not finite: 'NaN'"),
    "Infinity": ("-Infinity", "a number is not finite: '-Infinity'"),
}
"""What settings and our own files may not hold either."""


def in_positions(text: str, path: Path) -> Any:
    positions = project({"q": {"a": 1}}, {"x": {"q": ["a"]}})
    positions.save(path)
    table = parquet.read_table(path)
    facts = table.schema.metadata[KEY].decode()
    table = table.replace_schema_metadata({KEY: facts.replace('"mismatches": []', f'"mismatches": {text}').encode()})
    parquet.write_table(table, path)
    return from_parquet(str(path), str(path))


def in_file(text: str, path: Path, read: Callable[[Source], Any]) -> Any:
    path.write_text(text)
    with Source(path) as source:
        return read(source)


DATA: dict[str, Callable[[str, Path], Any]] = {
    "a JSON file": lambda text, path: in_file(f'{{"q": {text}}}', path, lambda source: load_json(source, "")),
    "rows": lambda text, path: in_file(f'[{{"q": {text}}}]', path, lambda source: load_json_or_rows(source, "")),
    "JSON lines": lambda text, path: in_file(
        f'{{"q": 1}}\n{{"q": {text}}}\n', path, lambda source: load_json_or_rows(source, "")
    ),
    "texts": lambda text, path: in_file(
        f'{{"_id": "a", "text": "b", "c": {text}}}', path, lambda source: list(text_rows(source))
    ),
}
OWN: dict[str, Callable[[str, Path], Any]] = {
    "settings": lambda text, path: json_tree(f'{{"q": {text}}}', str(path)),
    "weights": lambda text, path: in_file(f'{{"q": {text}}}', path, lambda source: load_weights(source.path)),
    "positions": in_positions,
}


@pytest.mark.parametrize("what", WITHIN)
@pytest.mark.parametrize("way", [*DATA, *OWN])
def test_no_reader_takes_what_is_out_of_bounds(what: str, way: str, tmp_path: Path) -> None:
    text, problem = WITHIN[what]
    with pytest.raises(FormatError, match=problem):
        {**DATA, **OWN}[way](text, tmp_path / "file")


@pytest.mark.parametrize("what", NUMBERS)
@pytest.mark.parametrize("way", OWN)
def test_settings_have_numbers_of_a_moderate_size(what: str, way: str, tmp_path: Path) -> None:
    text, problem = NUMBERS[what]
    with pytest.raises(FormatError, match=problem):
        OWN[way](text, tmp_path / "file")


@pytest.mark.parametrize("what", NUMBERS)
@pytest.mark.parametrize("way", DATA)
def test_data_have_the_numbers_that_their_reader_takes(what: str, way: str, tmp_path: Path) -> None:
    assert DATA[way](NUMBERS[what][0], tmp_path / "file")


def test_a_tree_may_be_as_deep_as_the_bound_and_a_text_may_hold_any_number_of_brackets() -> None:
    assert json_tree("[" * DEEPEST + "]" * DEEPEST, "x")
    with pytest.raises(FormatError, match="nested"):
        json_tree("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "x")
    assert json_tree(json.dumps("[{" * 1000), "x") == "[{" * 1000
    assert len(json_tree(json.dumps([[each] for each in range(1000)]), "x")) == 1000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = " + "[" * 100_000, "x: not valid TOML: it is nested more than 100 deep"),
        ("a = " + "{b = " * 100_000, "x: not valid TOML: it is nested more than 100 deep"),
        ("a = " + "[" * 300 + "]" * 300, "x: not valid TOML: it is nested more than 100 deep"),
        (".".join("a" * 50_000) + " = 1", "x: not valid TOML: it is nested more than 100 deep"),
        (' . '.join(['"a"'] * 50_000) + " = 1", "x: not valid TOML: it is nested more than 100 deep"),
        (".".join(['"+"', "'+'"] * 50_000) + " = 1", "x: not valid TOML: it is nested more than 100 deep"),
        ("a = {" + ".".join("a" * 50_000) + " = 1}", "x: not valid TOML: it is nested more than 100 deep"),
        ("a = " + "9" * 400, "x: not valid TOML: a number has more than 100 digits: '999"),
        ("a = [{b = 0x" + "f" * 400 + "}]", "x: not valid TOML: a number has more than 100 digits"),
        ("a = " + "9" * 5000, "x: not valid TOML: a number has thousands of digits\n"),
        ("a = 1e400", "x: not valid TOML: a number is not finite: '1e400'"),
        ("a = nan", "x: not valid TOML: a number is not finite: 'nan'"),
        ("b = 1\na = 1\na = 2", "x:3: not valid TOML: Cannot overwrite a value: 'a = 2'"),
        ("[a]\n[b]\n[a]\n", r"x:3: not valid TOML: Cannot declare .* twice: '\[a\]'"),
        ("# \u2028\na = 1\na = 2", "x:3: not valid TOML: Cannot overwrite a value: 'a = 2'"),
        ("a = '\udcff'", "x: not UTF-8 text"),
    ],
)  # fmt: skip
def test_toml_that_is_out_of_bounds(text: str, problem: str) -> None:
    start = time.process_time()
    with pytest.raises(FormatError, match=problem):
        toml_tree(text.encode(errors="surrogateescape"), "x")
    assert time.process_time() - start < 20  # a key of 50,000 parts took the square of that


@pytest.mark.parametrize("text", ["a = '{}'", "{} = 1", "a = 1  # {}", 'a = """{}"""'])
@pytest.mark.parametrize("value", ["x" * 1_000_000, "x. " * 300_000], ids=["a long word", "many short words"])
def test_long_texts_in_toml_are_read_as_fast_as_others(text: str, value: str) -> None:
    start = time.process_time()
    if text.startswith("{}"):
        value = value.replace(". ", "")
    assert toml_tree(text.format(value).encode(), "x")
    assert time.process_time() - start < 20  # a long word took the square of its length


def test_a_list_of_collections_is_read_within_the_same_bounds(tmp_path: Path) -> None:
    path = tmp_path / "collections.toml"
    path.write_text("collection = " + "[" * 100_000)
    with pytest.raises(FormatError, match="nested more than 100 deep"):
        read_collections(path)
