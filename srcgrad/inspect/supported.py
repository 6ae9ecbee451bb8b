"""The page of what is supported, written from the registry: `examples/supported.md`."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import re
import textwrap
from collections.abc import Iterable

import numpy as np

from ..rules import registry
from ..rules.conventions import conventions_table, degenerate_table
from ..rules.scipy import MODULES
from .rules import Row, counts, rules_table

ROOTS = {"np", "math", "cmath", "operator", "scipy", *dir(builtins)}
CLASSES = {
    "yes": "Differentiable",
    "zero": "Differentiable, with a derivative of zero (piecewise constant)",
    "–": "May be called; the result carries no derivative",
}


def versions() -> str:
    """The versions of the libraries that the table depends on.

    >>> versions().startswith(f"NumPy {np.__version__}")
    True
    """
    found = f"NumPy {np.__version__}"
    if importlib.util.find_spec("scipy"):
        found += f" and SciPy {importlib.import_module('scipy').__version__}"
    return found


def library_rows() -> list[Row]:
    """The rows of the functions of Python, NumPy and SciPy: not those of a program's own rules.

    The methods of texts, which have no derivative, aren't among them.

    >>> {row.name.split(".")[0] for row in library_rows()} >= {"np", "math", "cmath", "operator"}
    True
    """
    rows = [row for row in rules_table() if row.name.split(".")[0] in ROOTS]
    return [row for row in rows if not row.name.startswith("str.")]


def supported_page() -> str:
    """What is supported, as Markdown; imports all of NumPy and SciPy that has rules."""
    importlib.import_module("numpy.testing")
    for name in MODULES:
        if importlib.util.find_spec("scipy"):
            importlib.import_module(f"scipy.{name}")
    registry.load()
    rows = library_rows()
    count = counts(rows)
    parts = [
        "# What is supported",
        _filled(
            f"Written from the registry of rules by `tests/test_supported.py`, for {versions()}. "
            f"Of {len(rows)} functions and methods, {count['yes']} are differentiable, "
            f"{count['zero']} have a derivative of zero, {count['–']} only describe their "
            f"arguments, and {count['no']} are refused when compiling, with the reason. `srcgrad "
            "rules WORD` prints those whose names contain a word; `@srcgrad.adjoint` adds more."
        ),
        _filled(
            "Of Python itself: `for`, `while`, `if`, `break`, `continue`, `return` anywhere, "
            "nested functions, closures, lambdas, methods, recursion, comprehensions, generators, "
            "`try`, `with`, `match`, f-strings; tuples, lists, dicts, dataclasses and other plain "
            "objects as arguments, results and in between; writes in place, through views too. "
            "What can't be differentiated is refused with its file, line and advice."
        ),
        "Where a derivative doesn't exist, the choice is the same everywhere:",
        conventions_table().strip(),
        "Linear algebra, where values are equal (but for rounding) or a rank isn't full:",
        degenerate_table(),
    ]
    for title, members in _groups(rows).items():
        parts.append(f"## {title}")
        for kind, heading in CLASSES.items():
            names = [f"`{row.name}`" for row in members if row.reverse == kind]
            if names:
                parts.append(f"{heading}:")
                parts.append(_filled(", ".join(names) + "."))
        reasons: dict[str, list[str]] = {}
        for row in members:
            if row.reverse == "no":
                reasons.setdefault(row.note, []).append(f"`{row.name}`")
        if reasons:
            parts.append("Refused:")
            lines = [
                textwrap.fill(
                    f"- {', '.join(names)}: {reason}", 100, subsequent_indent="  ",
                    break_long_words=False, break_on_hyphens=False,
                )
                for reason, names in reasons.items()
            ]  # fmt: skip
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _groups(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The functions by the module they are in; the methods of ufuncs together."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        module = row.name.rpartition(".")[0]
        if re.fullmatch(r"np\.\w+", module) and isinstance(
            getattr(np, module.removeprefix("np."), None), np.ufunc
        ):
            module = "Methods of ufuncs"
        elif module in ("", "int", "float", "complex", "operator"):
            module = "Python"
        found.setdefault(module, []).append(row)
    return dict(sorted(found.items(), key=lambda item: (item[0] != "np", item[0].lower())))


def _filled(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)
