"""The examples in srcgrad's docstrings."""

import copy
import doctest
import importlib
import pkgutil

import pytest

import srcgrad
from srcgrad.rules import registry

MODULES = ["srcgrad"] + [
    module.name
    for module in pkgutil.walk_packages(srcgrad.__path__, "srcgrad.")
    if not module.name.endswith("__main__")
]
TABLES = [name for name, value in vars(registry).items() if isinstance(value, dict)]


@pytest.fixture
def registry_restored():
    """Examples of how to register a rule replace the real one: put that back."""
    before = {name: copy.copy(getattr(registry, name)) for name in TABLES if name[0] != "_"}
    yield
    for name, table in before.items():
        current = getattr(registry, name)
        current.clear()
        current.update(table)


@pytest.mark.parametrize("name", MODULES)
def test_docstring(name, registry_restored):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
