"""What the source says of its own order: which modules there are, and what imports what."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import srcgrad


@pytest.mark.parametrize(
    "name", ["analysis", "emit", "frontend", "inspect", "optimize", "runtime", "transform"]
)
def test_a_package_names_modules_that_it_has(name: str) -> None:
    package = importlib.import_module(f"srcgrad.{name}")
    modules = {m.name for m in pkgutil.iter_modules(package.__path__)}
    named = set(re.findall(r"`(\w+)`", package.__doc__ or ""))
    assert named and named <= modules
    if name in ("analysis", "optimize", "runtime", "transform"):
        assert named == modules


STAGES = ["analysis", "frontend", "transform", "optimize", "emit"]


@pytest.mark.parametrize("position", range(len(STAGES)))
def test_a_stage_imports_what_stands_before_it(position: int) -> None:
    later = tuple(f"..{name}" for name in STAGES[position + 1 :])
    for file in (Path(srcgrad.__file__).parent / STAGES[position]).glob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                source = "." * node.level + (node.module or "")
                assert not source.startswith(later), file


def test_the_core_is_read_in_an_afternoon() -> None:
    """What CONTRIBUTING says to read first is there, and no more than that."""
    root = Path(srcgrad.__file__).parent.parent
    text = (root / "CONTRIBUTING.md").read_text()
    section = text.partition("## What to read in an afternoon")[2].partition("\n## ")[0]
    paths = re.findall(r"\]\((srcgrad/[^)]*)\)", section)
    lengths = [len((root / path).read_text().splitlines()) for path in paths]
    skimmed = ("srcgrad/rules/elementwise.py", "srcgrad/rules/registry.py")
    read = sum(n for path, n in zip(paths, lengths, strict=True) if path not in skimmed)
    assert len(paths) > 15 and read < 7800
