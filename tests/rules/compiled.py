"""The kit that tests a rule end to end: a sample as a program, compiled, against differences."""

from __future__ import annotations

import itertools
import linecache
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad

from .kit import Case, is_float

NUMBERS = itertools.count()
OPERATORS = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.truediv: "{} / {}",
    operator.floordiv: "{} // {}",
    operator.mod: "{} % {}",
    operator.pow: "{} ** {}",
    operator.matmul: "{} @ {}",
    operator.neg: "-{}",
    operator.pos: "+{}",
    operator.getitem: "{}[{}]",
}


class Program:
    """A sample as source text: `loss(p0, p1, ..., w0, ...)`, a weighted sum of all results.

    With `only`, it is of that one of several results.

    Attributes:
        text: the source.
        values: the arguments, by name.
        active: the names of those that are differentiated.
    """

    def __init__(self, function: Any, sample: Case, seed: int = 0, only: int | None = None) -> None:
        self.function, self.sample = function, sample
        self.rng = np.random.default_rng(seed)
        self.values: dict[str, Any] = {}
        self.active: list[str] = []
        self.names: dict[str, Any] = {"np": np, "F": function}
        args = [self.spelled(a, i not in sample.fixed) for i, a in enumerate(sample.args)]
        kwargs = [f"{k}={self.spelled(v, False)}" for k, v in sample.kwargs.items()]
        with np.errstate(all="ignore"):
            out = function(*sample.args, **sample.kwargs)
        part = (out, "out") if only is None else (out[only], f"out[{only}]")
        terms = list(self.terms(*part))
        lines = [f"    out = {self.call(args, kwargs)}"]
        lines.append(f"    return {' + '.join(terms) or '0.0'}")
        self.text = "\n".join([f"def loss({', '.join(self.values)}):", *lines, ""])

    def call(self, args: list[str], kwargs: list[str]) -> str:
        function = self.function
        if function in OPERATORS and not kwargs:
            return OPERATORS[function].format(*(f"({a})" for a in args))
        owner = getattr(function, "__objclass__", None)
        if owner is not None:
            if not callable(function):  # an attribute
                return f"({args[0]}).{function.__name__}"
            return f"({args[0]}).{function.__name__}({', '.join([*args[1:], *kwargs])})"
        return f"F({', '.join([*args, *kwargs])})"

    def spelled(self, value: Any, active: bool) -> str:
        """A value as an expression; numbers and arrays become parameters."""
        if value is None or isinstance(value, (bool, int, str)) or value is Ellipsis:
            return repr(value)
        if isinstance(value, slice):
            parts = (self.spelled(p, False) for p in (value.start, value.stop, value.step))
            return f"slice({', '.join(parts)})"
        if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
            items = "".join(self.spelled(item, active) + ", " for item in value)
            return f"({items})" if isinstance(value, tuple) else f"[{items[:-2]}]"
        if isinstance(value, dict):
            items = ", ".join(f"{k!r}: {self.spelled(v, active)}" for k, v in value.items())
            return f"{{{items}}}"
        if isinstance(value, float) and type(value) is float and not active:
            return repr(value) if np.isfinite(value) else f"float({str(value)!r})"
        if isinstance(value, (np.ndarray, np.number, np.bool_, float, complex)):
            name = f"p{len(self.values)}"
            self.values[name] = value
            if active and is_float(value):
                self.active.append(name)
            return name
        name = f"K{len(self.names)}"
        self.names[name] = value
        return name

    def terms(self, out: Any, where: str) -> Any:
        if isinstance(out, (list, tuple)):
            for i, item in enumerate(out):
                yield from self.terms(item, f"{where}[{i}]")
        elif is_float(out):
            name = f"w{len(self.values)}"
            weight = self.rng.uniform(0.5, 1.5, np.shape(out))
            self.values[name] = weight if np.ndim(weight) else float(weight)
            if np.iscomplexobj(out):
                self.values[name] = self.values[name] * (1 - 0.7j)
                yield f"np.sum(np.real({name} * {where}))"
            else:
                yield f"np.sum({name} * {where})"

    def primal(self) -> Callable[..., Any]:
        namespace = dict(self.names)
        filename = f"<sample {next(NUMBERS)}>"
        linecache.cache[filename] = (
            len(self.text),
            None,
            self.text.splitlines(keepends=True),
            filename,
        )
        exec(compile(self.text, filename, "exec"), namespace)
        loss: Callable[..., Any] = namespace["loss"]
        return loss

    def gradient(self) -> Callable[..., tuple[Any, ...]]:
        if len(self.active) != 1:
            return srcgrad.grad(self.primal(), argnums=tuple(self.active))
        only = srcgrad.grad(self.primal(), argnums=self.active[0])
        return lambda **values: (only(**values),)

    def direction(self, seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        result = {}
        for name in self.active:
            value = self.values[name]
            noise = rng.normal(size=np.shape(value))
            if np.iscomplexobj(value):
                noise = noise + 1j * rng.normal(size=np.shape(value))
            result[name] = noise if np.ndim(value) else noise[()]
        return result

    def moved(self, direction: dict[str, Any], step: float) -> dict[str, Any]:
        values = dict(self.values)
        for name, d in direction.items():
            value = values[name]
            if isinstance(value, np.ndarray):
                moved = value.copy(order="K")
                moved[...] = value + step * d
                values[name] = moved
            else:
                values[name] = type(value)(value + step * d)
        return values


def wrong(program: Program, values: dict[str, Any], found: tuple[Any, ...]) -> str | None:
    """What is wrong with the type, dtype or shape of a gradient."""
    for name, g in zip(program.active, found, strict=True):
        value = values[name]
        if np.shape(g) != np.shape(value):
            return f"{name}: shape {np.shape(g)}, not {np.shape(value)}"
        if isinstance(value, (np.ndarray, np.generic)):
            if not isinstance(g, (np.ndarray, np.generic)) and isinstance(value, np.ndarray):
                return f"{name}: type {type(g)}"
            if np.asarray(g).dtype != value.dtype:
                return f"{name}: dtype {np.asarray(g).dtype}, not {value.dtype}"
    return None


def check(program: Program) -> str | None:
    """Compare the compiled gradient with central differences; say what is wrong."""
    loss = program.primal()
    gradient = program.gradient()
    values = program.values
    found = gradient(**values)
    message = wrong(program, values, found)
    if message:
        return message
    for seed in range(2):
        direction = program.direction(seed)
        step = 1e-6
        plus, minus = (loss(**program.moved(direction, s)) for s in (step, -step))
        expected = (plus - minus) / (2 * step)
        total = sum(
            float(np.sum(np.asarray(g) * np.asarray(direction[name])).real)
            for name, g in zip(program.active, found, strict=True)
        )
        scale = max(1.0, abs(expected), abs(total))
        if not abs(total - expected) <= 10 * program.sample.tolerance * scale:
            return f"gradient {total!r}, differences {expected!r}"
    return None


def laid_out(value: Any, how: str) -> Any:
    """The same numbers, otherwise laid out in memory."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return value
    if how == "Fortran order":
        return np.asfortranarray(value)
    if how == "negative strides":
        back = (slice(None, None, -1),) * value.ndim
        return np.ascontiguousarray(value[back])[back]
    wide = np.empty((*value.shape[:-1], 2 * value.shape[-1]), value.dtype)
    wide[...] = 0 if value.dtype.kind in "iub" else np.nan
    wide[..., ::2] = value
    strided = wide[..., ::2]
    strided.flags.writeable = False
    return strided


def single(value: Any) -> Any:
    """A value in single precision; Python's numbers stay as they are."""
    narrow = {"f": np.float32, "c": np.complex64}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in narrow:
        if isinstance(value, np.ndarray):
            return value.astype(narrow[value.dtype.kind], order="K")
        return narrow[value.dtype.kind](value)
    return value


def check_layouts(program: Program) -> str | None:
    """The gradient must not depend on how the arguments lie in memory, nor change them."""
    gradient = program.gradient()
    expected = gradient(**program.values)
    for how in ("Fortran order", "negative strides", "gaps, and read-only"):
        values = {k: laid_out(v, how) for k, v in program.values.items()}
        before = {k: np.array(v) for k, v in values.items()}
        found = gradient(**values)
        message = wrong(program, values, found)
        if message:
            return f"{how}: {message}"
        for name, e, g in zip(program.active, expected, found, strict=True):
            if not np.allclose(e, g, rtol=1e-7, atol=1e-9, equal_nan=True):
                return f"{how}, {name}: {g!r}, not {e!r}"
        for name, value in values.items():
            if not np.array_equal(value, before[name], equal_nan=value is not None):
                return f"{how}: {name} was changed"
    return None


def check_single(program: Program) -> str | None:
    """In single precision the gradient has the arguments' dtype, and about the same value."""
    expected = program.gradient()(**program.values)
    values = {k: single(v) for k, v in program.values.items()}
    program.primal()(**values)
    found = program.gradient()(**values)
    message = wrong(program, values, found)
    if message:
        return message
    for name, e, g in zip(program.active, expected, found, strict=True):
        scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
        if not np.allclose(e, g, rtol=1e-3, atol=2e-3 * scale, equal_nan=True):
            return f"{name}: {g!r}, not {e!r}"
    return None
