"""Calls of NumPy's and SciPy's functions with options drawn from their signatures.

A sample of each rule gets one to three of the options that its function has: `keepdims`, `dtype`,
`out`, `where`, `order`, ..., with values that are valid for some functions and not for others.
Where the function takes them, the gradient's program is to give the same value of the same dtype,
and the derivative is compared with differences. For a long run:
`python -m tests.random_options ROUNDS [first seed]`.
"""

from __future__ import annotations

import copy
import inspect
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad

from .rules.kit import Case, is_float
from .rules.test_rules import SAMPLES, name

LIKE = object()  # an array as long as the first argument
MASK = object()  # truth values, for each item of the first argument
VALUES: dict[str, list[Any]] = {
    "axis": [0, 1, -1, -2, None, (0,), (0, 1), np.int64(0)],
    "axes": [None, (0, 1), (1, 0), -1],
    "axis1": [0, 1],
    "axis2": [0, 1, -1],
    "casting": ["unsafe", "same_kind"],
    "copy": [True, False, None],
    "correction": [0, 1],
    "ddof": [0, 1, 0.5],
    "decimals": [0, 1],
    "dtype": [float, np.float32, "f8", complex, int],
    "edge_order": [1, 2],
    "indexing": ["ij", "xy"],
    "initial": [0.5, 2, None],
    "k": [0, 1, -1, 2],
    "keepdims": [True, np.True_],
    "lower": [True, False],
    "method": ["linear", "lower", "higher", "midpoint", "nearest", "hazen", "fft", "direct"],
    "mode": [
        "wrap",
        "clip",
        "reflect",
        "full",
        "same",
        "valid",
        "nearest",
        "constant",
        "edge",
        "r",
    ],
    "n": [1, 2, 3, 5, 7],
    "norm": ["ortho", "forward", "backward", None],
    "offset": [0, 1, -1],
    "ord": [None, 1, 2, np.inf, -np.inf, "fro", "nuc", -1, -2, 3],
    "order": ["C", "F", "A", "K"],
    "out": [LIKE],
    "period": [1.7],
    "side": ["left", "right"],
    "trans": [0, 1, 2, "T", "C"],
    "UPLO": ["U", "L"],
    "weights": [LIKE],
    "where": [MASK, True, False],
}
OF_UFUNCS = {
    "out": None, "where": True, "dtype": None, "casting": "same_kind", "order": "K", "subok": True,
}  # fmt: skip
# NumPy's own mistakes: complex `vecmat(order="F")`; memory that isn't laid out like the sample's
LEFT_OUT = {"vecmat", "as_strided"}


def options(function: Any) -> dict[str, Any]:
    """The parameters that a function needn't be given, with their defaults."""
    if isinstance(function, np.ufunc):  # SciPy's write elsewhere, too, where there is a mask
        of_numpy = getattr(np, function.__name__, None) is function
        return {k: v for k, v in OF_UFUNCS.items() if of_numpy or k != "where"}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def drawn(function: Any, seed: int) -> tuple[Case, int] | None:
    """A sample of a function with further options, and the argument that is differentiated."""
    draw = random.Random(f"{seed} {name(function)}")
    possible = options(function)
    if not SAMPLES[function] or not possible or name(function).rpartition(".")[2] in LEFT_OUT:
        return None
    sample = draw.choice(SAMPLES[function])
    active = [i for i, a in enumerate(sample.args) if i not in sample.fixed and is_float(a)]
    found = {}
    for option in draw.sample(list(possible), min(len(possible), draw.choice([1, 1, 2, 3]))):
        default = possible[option]
        given = VALUES.get(option, [not default] if isinstance(default, bool) else [])
        if given and not option.startswith("overwrite"):
            found[option] = draw.choice(given)
    if not active or not found:
        return None
    first = np.asarray(sample.args[0]) if is_float(sample.args[0]) else np.ones(1)
    if found.get("weights") is LIKE:
        found["weights"] = np.linspace(0.5, 1.5, first.size).reshape(first.shape)
    if found.get("where") is MASK:
        found["where"] = (np.arange(first.size) % 3 != 1).reshape(first.shape)
    if isinstance(function, np.ufunc) and found.get("where", True) is not True:
        found["out"] = LIKE
    return Case(sample.args, {**sample.kwargs, **found}, sample.fixed), draw.choice(active)


def measured(result: Any) -> Any:
    """A number that tells of all that a function returns."""
    total = 0.0
    for number, part in enumerate(result if isinstance(result, (tuple, list)) else (result,)):
        total = total + (1 + 0.3 * number) * np.sum(np.sin(np.real(part)))
        if np.iscomplexobj(part):
            total = total + 0.7 * np.sum(np.imag(part))
    return total


def program(function: Any, sample: Case, position: int) -> Callable[[Any], Any]:
    """What is measured of a call, as a function of one of its arguments."""
    before, after = sample.args[:position], sample.args[position + 1 :]
    given = {k: v for k, v in sample.kwargs.items() if v is not LIKE}
    if sample.kwargs.get("out") is not LIKE:
        return lambda x: measured(function(*before, x, *after, **given))
    ufunc = isinstance(function, np.ufunc)
    unmasked = {k: v for k, v in given.items() if k != "where" or not ufunc}
    result = np.asarray(function(*copy.deepcopy(sample.args), **unmasked))

    def written(x: Any) -> Any:
        out = np.full(result.shape, 0.25, result.dtype)
        found = function(*before, x, *after, out=out, **given)
        return measured(found) + 0.3 * measured(out)

    return written


def check(function: Any, seed: int) -> str:
    """What is said of a call with options: "right", or why it can't be told.

    Raises:
        AssertionError: its value or derivative is wrong.
    """
    found = drawn(function, seed)
    if found is None:
        return "no options"
    sample, position = found
    x = sample.args[position]
    try:
        f = program(function, sample, position)
        value = f(x)
    except Exception:
        return "raises"
    try:
        ours, gradient = srcgrad.value_and_grad(f)(x)
    except srcgrad.UnsupportedError as error:
        assert not isinstance(error, srcgrad.InternalError), error
        return "refused"
    assert np.asarray(ours).dtype == np.asarray(value).dtype
    single = np.asarray(value).dtype.itemsize < 8 or sample.kwargs.get("dtype") is np.float32
    np.testing.assert_allclose(ours, value, rtol=1e-3 if single else 1e-9)
    assert not isinstance(x, np.ndarray) or np.shape(gradient) == x.shape
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        direction = direction + 1j * rng.normal(size=np.shape(x))

    def along(step: float) -> Any:
        moved = np.asarray(x) + step * direction
        return f(np.asarray(moved) if isinstance(x, np.ndarray) else moved[()])

    slopes = [(along(h) - along(-h)) / (2 * h) for h in (1e-6, 2.5e-7)]
    if single or not abs(slopes[0] - slopes[1]) <= 1e-4 * max(1, abs(slopes[0])):
        return "kink"
    slope = np.sum(np.asarray(gradient) * direction).real
    np.testing.assert_allclose(slope, slopes[0], rtol=3e-4, atol=2e-5)
    return "right"


def run(
    check: Callable[[Any, int], str], drawn: Callable[[Any, int], Any], shown: str | None = None
) -> None:
    """Count what is said in so many rounds through all functions; print what is wrong.

    Print as well of which calls is said what has `shown` in it.
    """
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rounds, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    words: Counter[str] = Counter()
    for seed in range(first, first + rounds):
        for function in SAMPLES:
            try:
                word = check(function, seed)
                found = word if shown is not None and shown in word else ""
            except Exception as error:
                word, found = "wrong", f"{type(error).__name__} {str(error)[:400]}"
            words[word] += 1
            if found:
                sample = drawn(function, seed)
                print(f"-- {name(function)} {seed}: {found}\n{sample}", flush=True)
    print(dict(words))


if __name__ == "__main__":
    run(check, drawn)
