"""What the source says of its own order: which modules there are, and what imports what."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import srcgrad


@pytest.mark.parametrize("name", ["analysis", "emit", "frontend", "inspect", "transform"])
def test_a_package_names_modules_that_it_has(name: str) -> None:
    package = importlib.import_module(f"srcgrad.{name}")
    modules = {m.name for m in pkgutil.iter_modules(package.__path__)}
    named = set(re.findall(r"`(\w+)`", package.__doc__ or ""))
    assert named and named <= modules


STAGES = ["analysis", "frontend", "transform", "emit"]


@pytest.mark.parametrize("position", range(len(STAGES)))
def test_a_stage_imports_what_stands_before_it(position: int) -> None:
    later = tuple(f"..{name}" for name in STAGES[position + 1 :])
    for file in (Path(srcgrad.__file__).parent / STAGES[position]).glob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                source = "." * node.level + (node.module or "")
                names = [alias.name for alias in node.names]
                runtime = source == "..emit.runtime" or (source, names) == ("..emit", ["runtime"])
                assert runtime or not source.startswith(later), file
