"""The examples in docstrings print what they say: those of the package as it is installed."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import lexirecall
from lexirecall.errors import UsageError

MODULES = [
    module.name
    for module in pkgutil.walk_packages(lexirecall.__path__, "lexirecall.")
    if not module.name.endswith(("__main__", "_native"))
]


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 30


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name: str) -> None:
    try:
        module = import_module(name)
    except UsageError as error:  # an adapter of what is not installed
        pytest.skip(str(error))
    assert doctest.testmod(module).failed == 0
