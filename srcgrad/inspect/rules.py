"""The table of supported functions, as the registry has them: `srcgrad rules`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import GetSetDescriptorType
from typing import Any

import numpy as np

import srcgrad.rules  # noqa: F401  (registers them)

from ..rules import registry

REVERSE = {
    "rule": "yes",
    "definition": "yes",
    "in place": "yes",
    "zero": "zero",
    "inert": "–",
    "refused": "no",
}


@dataclass(frozen=True)
class Row:
    """What is known of one function.

    Attributes:
        name: as it is written, `np.linalg.svd`.
        reverse: "yes", "zero" (its derivative is), "–" (its result is no number) or "no".
        forward: the same, of the forward derivative.
        note: a remark, or why it is refused.
    """

    name: str
    reverse: str
    forward: str
    note: str


def function_name(function: Any) -> str:
    """A function's name as it is written.

    >>> [function_name(f) for f in (np.sin, np.linalg.det, np.add.reduce, np.ndarray.sum, abs)]
    ['np.sin', 'np.linalg.det', 'np.add.reduce', 'np.ndarray.sum', 'abs']
    """
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", str(function))
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    cls = getattr(function, "__objclass__", None)
    if cls is not None:
        prefix = "np." if cls.__module__.startswith("numpy") else ""
        place = "np.random." if cls.__module__.startswith("numpy.random") else prefix
        return f"{place}{cls.__name__}.{name}"
    place_ = registry.public_place(function)
    if place_ is not None:
        return ".".join(place_)
    module = getattr(function, "__module__", None) or ""
    holder, _, method = getattr(function, "__qualname__", "").rpartition(".")
    place_ = registry.public_place(getattr(sys.modules.get(module), holder, None))
    if place_ is not None:
        return ".".join((*place_, method))
    if isinstance(owner, np.random.RandomState):
        return f"np.random.{name}"
    if module.startswith("numpy") or isinstance(function, np.ufunc):
        for path in ("", "linalg", "fft", "random", "lib.stride_tricks", "lib.scimath", "testing"):
            home: Any = np
            for part in path.split(".") if path else ():
                home = getattr(home, part)
            if vars(home).get(name) is function:
                return ".".join(p for p in ("np", path, name) if p)
        return f"np{module.removeprefix('numpy')}.{name}"
    if module in ("builtins", ""):
        return str(name)
    return f"{module.lstrip('_')}.{name}"


def row(function: Any) -> Row:
    """The table's row for one function.

    >>> row(np.tanh)
    Row(name='np.tanh', reverse='yes', forward='yes', note='')
    """
    kind = registry.classified(function)
    assert kind is not None
    reverse = REVERSE[kind]
    target = registry.methods.get(function, function)
    record = registry.lookup(target)
    note = ""
    if target is not function:
        note = f"the same as {function_name(target)}"
    elif kind == "refused" and record is not None:
        note = record.refused or ""
    elif record is not None and kind in ("rule", "zero", "inert"):
        note = record.note
    elif kind in ("definition", "in place"):
        note = "written in simpler functions" if kind == "definition" else "in place"
    reason = registry.reverse_only.get(target)
    forward = reverse if reason is None else "no"
    return Row(function_name(function), reverse, forward, note or reason or "")


def rules_table() -> list[Row]:
    """A row for each function that has a class, in the order of their names.

    >>> "np.einsum" in {r.name for r in rules_table()}
    True
    """
    registry.load()
    functions = {
        *registry.primitives, *registry.definitions, *registry.inplace_rules, *registry.methods,
    }  # fmt: skip
    rows: dict[str, Row] = {}
    for function in functions:
        internal = (getattr(function, "__module__", None) or "").startswith(("srcgrad", "tests"))
        if function is None or internal or registry.classified(function) is None:
            continue
        if isinstance(function, GetSetDescriptorType) and registry.classified(function) == "inert":
            continue
        made = row(function)
        if " object at " in made.name:
            continue  # NumPy's `test`, which has no name of its own
        known = rows.get(made.name)
        if known is None or known.reverse == "no":
            rows[made.name] = made
    return sorted(rows.values(), key=lambda r: (r.name.count(".") == 0, r.name.lower()))


def format_table(rows: list[Row] | None = None) -> str:
    """The table as text, one line for each function.

    >>> print(format_table([row(np.tanh), row(np.floor)]))
    function  reverse  forward  note
    np.tanh   yes      yes
    np.floor  zero     zero     piecewise constant
    """
    rows = rules_table() if rows is None else rows
    lines = [("function", "reverse", "forward", "note")]
    lines += [(r.name, r.reverse, r.forward, r.note) for r in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    return "\n".join(
        "  ".join([*(c.ljust(w) for c, w in zip(line, widths, strict=False)), line[3]]).rstrip()
        for line in lines
    )


def counts(rows: list[Row] | None = None) -> dict[str, int]:
    """How many functions have which reverse derivative.

    >>> counts([row(np.tanh), row(np.floor)])
    {'yes': 1, 'zero': 1}
    """
    found: dict[str, int] = {}
    for r in rules_table() if rows is None else rows:
        found[r.reverse] = found.get(r.reverse, 0) + 1
    return found
