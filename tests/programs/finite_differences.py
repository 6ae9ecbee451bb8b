"""Directional derivatives by finite differences, and a check that the programs here are smooth.

    python tests/programs/finite_differences.py [NAME ...]

prints a table of the programs; nothing here knows how a gradient can be had in another way.
"""

import collections
import copy
import dataclasses
import importlib.util
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STEP = 2.0**-10
LEVELS = 5


def load(name):
    """The module of the program `name`, whether or not this folder is a package."""
    full_name = f"srcgrad_corpus_{name}"
    if full_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(full_name, HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[full_name] = module  # dataclasses and inspect look it up there
        spec.loader.exec_module(module)
    return sys.modules[full_name]


def names():
    """Every program in this folder."""
    return sorted(
        path.stem
        for path in HERE.glob("*.py")
        if "\ndef program(" in path.read_text(encoding="utf-8")
    )


def map_tree(function, tree, *others):
    """`function` applied to the leaves of `tree` and of others of the same nesting."""
    if isinstance(tree, dict):
        return {
            key: map_tree(function, value, *(other[key] for other in others))
            for key, value in tree.items()
        }
    if isinstance(tree, (list, tuple, collections.deque)):
        items = [map_tree(function, *parts) for parts in zip(tree, *others, strict=True)]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if dataclasses.is_dataclass(tree) or hasattr(tree, "__dict__"):
        result = copy.copy(tree)
        for name, value in vars(tree).items():
            parts = (getattr(other, name) for other in others)
            object.__setattr__(result, name, map_tree(function, value, *parts))
        return result
    return function(tree, *others)


def is_differentiable(leaf):
    """Whether a leaf is a float or complex number or array (not an integer, a string, None)."""
    if isinstance(leaf, (bool, str, bytes, type(None))) or callable(leaf):
        return False
    return np.asarray(leaf).dtype.kind in "fc"


def random_direction(tree, rng):
    """A random tree like `tree`: each leaf at that leaf's scale; None where not differentiable."""

    def leaf_direction(leaf):
        if not is_differentiable(leaf):
            return None
        values = np.asarray(leaf)
        scale = math.sqrt(np.mean(np.abs(values) ** 2)) if values.size else 0.0
        noise = rng.standard_normal(values.shape)
        if values.dtype.kind == "c":
            noise = noise + 1j * rng.standard_normal(values.shape)
        noise = noise * (scale or 1.0)
        return noise.astype(values.dtype) if isinstance(leaf, np.ndarray) else noise[()].item()

    return map_tree(leaf_direction, tree)


def inner(gradient, direction):
    """The sum of gradient * direction over all leaves (complex: the real part, as in JAX)."""
    total = 0.0

    def add(direction_leaf, gradient_leaf):
        nonlocal total
        if direction_leaf is not None:
            total += float(np.sum(np.real(np.asarray(gradient_leaf) * direction_leaf)))

    map_tree(add, direction, gradient)
    return total


def moved(args, argnums, direction, distance):
    """A deep copy of `args`, moved by `distance` along `direction`."""

    def move(leaf, direction_leaf):
        if direction_leaf is None:
            return leaf
        if isinstance(leaf, np.ndarray):
            return (leaf + distance * direction_leaf).astype(leaf.dtype)
        return type(leaf)(leaf + distance * direction_leaf)

    args = list(copy.deepcopy(args))
    for argnum, part in zip(argnums, direction, strict=True):
        args[argnum] = map_tree(move, args[argnum], part)
    return args


def directional_difference(function, args, argnums=(0,), seed=0, step=STEP):
    """A random direction (one tree per argnum) and the derivative of `function` along it.

    Central differences at step, step / 2, ..., extrapolated to 4th and 6th order (Richardson);
    of all these the one that differs least from its neighbours is taken (Ridders), so that one
    initial step serves programs of very different curvature.
    """
    rng = np.random.default_rng(seed)
    direction = tuple(random_direction(args[argnum], rng) for argnum in argnums)
    table = []
    best, best_error = math.nan, math.inf
    for level in range(LEVELS):
        h = step * 0.5**level
        above = function(*moved(args, argnums, direction, h))
        below = function(*moved(args, argnums, direction, -h))
        row = [(float(above) - float(below)) / (2 * h)]
        for order in range(min(level, 2)):
            factor = 4.0 ** (order + 1)
            row.append((factor * row[order] - table[-1][order]) / (factor - 1))
            error = max(abs(row[order + 1] - row[order]), abs(row[order + 1] - table[-1][order]))
            if error <= best_error:
                best, best_error = row[order + 1], error
        table.append(row)
    return direction, best


def relative_error(a, b):
    """How far two derivatives are apart."""
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def smoothness(module, seeds=(0, 1, 2)):
    """The largest disagreement of the derivatives with two step sizes, over several directions."""
    argnums = getattr(module, "ARGNUMS", (0,))
    args = module.inputs()
    worst = 0.0
    for seed in seeds:
        coarse = directional_difference(module.program, args, argnums, seed, STEP)[1]
        fine = directional_difference(module.program, args, argnums, seed, STEP / 5)[1]
        error = relative_error(coarse, fine)
        worst = error if not error <= worst else worst  # keeps a nan
    return worst


def report(name):
    """Print one line on a program; return whether it keeps the corpus's contract."""
    module = load(name)
    lines = len((HERE / f"{name}.py").read_text(encoding="utf-8").splitlines())
    args = module.inputs()
    untouched = copy.deepcopy(args)
    times = []
    for _ in range(5):
        call_args = copy.deepcopy(args)
        start = time.perf_counter()
        value = module.program(*call_args)
        times.append(time.perf_counter() - start)
    milliseconds = 1e3 * min(times)
    mutates = repr(to_lists(call_args)) != repr(to_lists(untouched))
    deterministic = repr(to_lists(module.inputs())) == repr(to_lists(module.inputs()))
    error = smoothness(module)
    problems = []
    if not isinstance(value, (float, np.floating)):
        problems.append(f"returns {type(value).__name__}")
    if not np.isfinite(value):
        problems.append("not finite")
    if not error <= 1e-6:
        problems.append("not smooth")
    if milliseconds > 20:
        problems.append("slow")
    if not deterministic:
        problems.append("inputs differ from call to call")
    note = ", ".join(problems + ["mutates arguments"] * mutates)
    print(
        f"{name:28} {lines:5} {milliseconds:8.2f} ms {value:16.8g} {error:10.1e}  {note}",
        flush=True,
    )
    return not problems


def to_lists(tree):
    """Arrays as lists and objects as the dict of their attributes, for a comparison by repr."""
    if isinstance(tree, np.ndarray):
        return tree.tolist()
    if isinstance(tree, dict):
        return {key: to_lists(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [to_lists(item) for item in tree]
    if hasattr(tree, "__dict__") and not callable(tree):
        return {key: to_lists(value) for key, value in vars(tree).items()}
    return tree


def main(chosen):
    """Report on the chosen programs, or all."""
    warnings.simplefilter("error")
    results = [report(name) for name in chosen or names()]
    print(f"{sum(results)} of {len(results)} programs are in order")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
