"""The examples in srcgrad's docstrings."""

import copy
import doctest
import importlib
import importlib.util
import linecache
import pkgutil
from pathlib import Path

import pytest

import srcgrad
from srcgrad.errors import Span
from srcgrad.rules import registry
from srcgrad.rules import scipy as scipy_rules


def has_examples(name):
    """Whether a module has any; to look for them takes longer than to run most of them."""
    return ">>>" in Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")


MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(srcgrad.__path__, "srcgrad.")
    if not name.endswith("__main__") and has_examples(name)
]
TABLES = [
    name for name, value in vars(registry).items() if isinstance(value, dict) and name[0] != "_"
]


@pytest.fixture
def tables_restored():
    """Examples register rules in the place of the real ones, and source lines: undo that."""
    # what is registered once, when SciPy is imported, must be there before
    for name in scipy_rules.MODULES:
        importlib.import_module(f"scipy.{name}")
    registry.load()
    tables = [table for name, table in vars(registry).items() if name in TABLES]
    before = [(table, copy.copy(table)) for table in (*tables, linecache.cache)]
    yield
    for table, content in before:
        table.clear()
        table.update(content)


@pytest.mark.parametrize("name", MODULES)
def test_docstring(name, tables_restored):
    result = doctest.testmod(
        importlib.import_module(name), extraglobs={"Span": Span}, optionflags=doctest.ELLIPSIS
    )
    assert result.failed == 0
