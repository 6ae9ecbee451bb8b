"""The inferred kind of every sample's result against what the function really returns."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from srcgrad import ir
from srcgrad.analysis.inference import Inferred, LengthsNeeded, infer
from srcgrad.kinds import Array, Kind, Opaque, Scalar, Size, TupleOf, kind_of
from srcgrad.rules.registry import kinds

from .samples_linalg import eigenvalues  # real or complex as the values decide, which no kind says
from .test_rules import SAMPLES, name


def operand(
    value: Any, sizes: dict[int, Size], inputs: list[tuple[ir.Var, Any]], known: bool = True
) -> Any:
    """A sample's argument as the compiler sees it, ints known or not."""
    if isinstance(value, slice):
        parts = [operand(p, sizes, inputs, known) for p in (value.start, value.stop, value.step)]
        return ir.Pack(slice, tuple(parts))
    if isinstance(value, (tuple, list)):
        return ir.Pack(type(value), tuple(operand(item, sizes, inputs, known) for item in value))
    if isinstance(value, (np.ndarray, np.generic, float, complex)) or (
        type(value) is int and not known
    ):
        var = ir.Var(f"x{len(inputs)}", kind_of(value, sizes))
        inputs.append((var, value))
        return var
    return ir.Const(value)


def longest(values: Any) -> int:
    """The greatest length of an axis among arguments."""
    lengths = [0]
    for value in values:
        if isinstance(value, np.ndarray):
            lengths += value.shape
        elif isinstance(value, (tuple, list)):
            lengths.append(longest(value))
    return max(lengths)


def inferred(
    function: Any, sample: Any, known: bool, literal: int = 0
) -> tuple[Inferred, list[tuple[ir.Var, Any]], Any]:
    """What is inferred of a sample whose lengths, but for `literal`, aren't known."""
    sizes: dict[int, Any] = {literal: literal} if literal else {}
    inputs: list[tuple[ir.Var, Any]] = []
    args = tuple(operand(a, sizes, inputs, known) for a in sample.args)
    kwargs = {k: operand(v, sizes, inputs, known) for k, v in sample.kwargs.items()}
    special = kinds.get(function)
    found = special(args, kwargs) if special else None
    if isinstance(found, LengthsNeeded):
        found = None
    return found or infer(function, args, kwargs), inputs, sizes


def mismatch(kind: Kind, value: Any, sizes: dict[int, int]) -> str | None:
    """Why a value is not of a kind; `sizes` has the lengths that the bases are known to have."""
    match kind:
        case Array(dtype, shape):
            if shape is not None and not isinstance(value, np.ndarray):
                return f"{type(value)} is no array"
            if dtype is not None and np.asarray(value).dtype != dtype:
                return f"dtype {np.asarray(value).dtype}, not {dtype}"
            if shape is None:
                return None
            if len(shape) != value.ndim:
                return f"rank {value.ndim}, not {len(shape)}"
            for n, m in zip(shape, value.shape, strict=True):
                if isinstance(n, Size):
                    base = sizes.setdefault(n.base, m - n.offset)
                    n = max(base + n.offset, 0)
                if n != m:
                    return f"shape {value.shape}, not {shape}"
        case Scalar(dtype, python):
            if isinstance(value, np.ndarray):
                return "an array is no scalar"
            if python is not None and isinstance(value, np.generic) == python:
                return f"{type(value)}, python={python}"
            if np.asarray(value).dtype != dtype:
                return f"dtype {np.asarray(value).dtype}, not {dtype}"
        case TupleOf(items, type_):
            if not isinstance(value, type_) or len(value) != len(items):
                return f"{type(value)} of {len(value)}, not {type_} of {len(items)}"
            for item, part in zip(items, value, strict=True):
                reason = mismatch(item, part, sizes)
                if reason:
                    return reason
        case Opaque(type=type_):
            if type_ is not None and not isinstance(value, type_):
                return f"{type(value)}, not {type_}"
    return None


def varied(value: Any, how: str) -> Any:
    """Other values of the same kind."""
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(varied(item, how) for item in value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return value
    result = value.copy(order="K")
    if how == "zeros":
        result[...] = 0
    elif how == "some zeros":
        result[...] = value * (np.arange(value.size).reshape(value.shape) % 2)
    elif how == "other zeros":
        result[...] = value * (np.arange(1, value.size + 1).reshape(value.shape) % 2)
    elif how == "equal":
        result[...] = 0.5
    elif how == "negative":
        result[...] = -np.abs(value)
    elif how == "real":
        result[...] = value.real
    elif how == "turned":
        result[...] = (
            np.resize(np.array([1, 1j, -1, -1j])[[0, 1, 3, 2]], value.shape)
            if (value.dtype.kind == "c")
            else value[..., ::-1]
            if value.ndim
            else value
        )
    return result


VARIATIONS = (
    "as it is", "zeros", "some zeros", "other zeros", "equal", "negative", "real", "turned",
)  # fmt: skip


def kind_failures(function: Any, ints_known: bool = True, literals: bool = False) -> list[str]:
    failures = []
    for sample in SAMPLES[function]:
        literal = longest((*sample.args, *sample.kwargs.values())) if literals else 0
        found, inputs, sizes = inferred(function, sample, ints_known, literal)
        known = {size.base: n for n, size in sizes.items() if isinstance(size, Size)}
        for how in VARIATIONS:
            args = [varied(a, how) for a in sample.args] if how != "as it is" else sample.args
            try:
                with np.errstate(all="ignore"):
                    out = function(*args, **sample.kwargs)
            except Exception:
                assert how != "as it is"
                continue
            reason = mismatch(found.kind, out, dict(known))
            if reason is None and how == "as it is":
                reason = unshared(found, inputs, out)
            if reason:
                shapes = [getattr(a, "shape", a) for a in sample.args]
                failures.append(f"{shapes} {sample.kwargs} {how}: {reason}")
                break
    return failures


def unshared(found: Inferred, inputs: list[tuple[ir.Var, Any]], out: Any) -> str | None:
    for var, value in inputs:
        if not isinstance(value, np.ndarray) or not value.size:
            continue
        results = out if isinstance(out, (list, tuple)) else [out]
        shared = any(isinstance(r, np.ndarray) and np.may_share_memory(r, value) for r in results)
        if shared and var not in found.views:
            return f"shares memory with {var.name}"
        if not shared and var in found.views and found.certain and np.size(results[0]):
            return f"does not share memory with {var.name}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ints_known", [True, False])
@pytest.mark.parametrize("function", SAMPLES, ids=name)
def test_the_kind_of_a_result_is_what_it_is(function: Any, ints_known: bool) -> None:
    failures = kind_failures(function, ints_known)
    assert not failures, "\n".join([f"{len(failures)} samples fail", *failures[:10]])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [f for f in SAMPLES if f is not eigenvalues], ids=name)
def test_the_kind_of_a_result_where_the_longest_axis_is_a_literal(function: Any) -> None:
    failures = kind_failures(function, literals=True)
    assert not failures, "\n".join([f"{len(failures)} samples fail", *failures[:10]])


def random_item(r: np.random.Generator, depth: int = 0) -> Any:
    """An item of an index, for axes of three numbers or more."""
    choice = r.integers(8 if depth else 12)
    if choice < 3:
        return int(r.integers(-3, 3))
    if choice < 5:
        return r.integers(-3, 3, size=[(2,), (1,), (3, 2)][r.integers(3)])
    if choice < 8:
        if depth == 2:
            return [0, 1]
        return [list, tuple][r.integers(2)]([random_item(r, depth + 1)] * r.integers(1, 4))
    return [slice(None), slice(1, None), slice(None, -1, 2), None, Ellipsis][r.integers(5)]


@pytest.mark.parametrize("seed", range(20))
def test_the_kind_of_what_any_key_reads(seed: int) -> None:
    r, read = np.random.default_rng(seed), 0
    while read < 100:
        x = r.normal(size=(3, 4, 5, 6)[: r.integers(1, 5)])
        key = tuple(random_item(r) for _ in range(r.integers(1, 5)))
        try:
            value = x[key]
        except (IndexError, ValueError):
            continue
        read += 1
        for folded in (False, True):
            sizes: dict[int, Any] = {}
            inputs: list[tuple[ir.Var, Any]] = []
            of_x, of_key = (operand(v, sizes, inputs, seed % 2 == 0) for v in (x, key))
            args = of_x, ir.Const(key) if folded and "array" not in repr(key) else of_key
            found = kinds[operator.getitem](args, {})
            bases: dict[int, int] = {}
            for var, given in inputs:
                assert not mismatch(var.kind, given, bases)
            if isinstance(found, Inferred):
                assert not mismatch(found.kind, value, bases), (x.shape, key)
