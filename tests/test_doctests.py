"""The examples in docstrings print what they say: those of the package as it is installed."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import lexirecall

MODULES = [
    module.name
    for module in pkgutil.walk_packages(lexirecall.__path__, "lexirecall.")
    if not module.name.endswith(("__main__", "_native"))
]


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
