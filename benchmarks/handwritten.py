"""Generated gradients against the same gradients written by hand, on small arrays.

    python -m benchmarks.handwritten [NAME ...]

The straight-line workloads at their smallest size, where calls cost more than arithmetic. Both
gradients are timed in turns in one process, so that a busy machine slows both: the ratio is that
of the medians, of the generated function alone and of the Gradient, which looks it up by
signature. Then what a compilation, a lookup and an import cost.
"""

from __future__ import annotations

import copy
import math
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad
from benchmarks.workloads.base import Workload
from benchmarks.workloads.small import WORKLOADS

TURNS = 41
TURN = 0.001  # seconds


def timed(f: Callable[..., Any], args: tuple[Any, ...], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        f(*args)
    return (time.process_time() - start) / count


def in_turns(functions: list[Callable[..., Any]], args: tuple[Any, ...]) -> list[float]:
    """The median of the processor's time for a call of each function, in seconds."""
    quick = [min(timed(f, args, 10) for _ in range(10)) for f in functions]
    counts = [max(1, int(TURN / seconds)) for seconds in quick]
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(TURNS):
        for found, f, count in zip(times, functions, counts, strict=True):
            found.append(timed(f, args, count))
    return [statistics.median(found) for found in times]


def compare(workload: Workload) -> tuple[float, float, float]:
    """Seconds a call: by hand, the generated function alone, and the Gradient."""
    args = workload.make_inputs(workload.sizes["tiny"])
    gradient = srcgrad.grad(workload.function, argnums=workload.argnums)
    expected = workload.gradient_by_hand(*args)
    found = gradient(*copy.deepcopy(args))
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * np.abs(b).max())
    assert gradient._latest is not None
    alone = gradient._latest.compiled.function
    hand, call, whole = in_turns([workload.gradient_by_hand, alone, gradient], args)
    return hand, call, whole


def thirty_lines(x: Any, w: Any, b: Any) -> Any:
    """A function of 30 lines, to be compiled."""
    h = x @ w + b
    h = np.tanh(h)
    mean = np.mean(h)
    centred = h - mean
    variance = np.mean(centred * centred)
    scale = 1 / np.sqrt(variance + 1e-5)
    h = centred * scale
    gate = 1 / (1 + np.exp(-h))
    h = h * gate
    total = np.sum(h)
    if total > 0:
        h = 2.0 * h
    else:
        h = np.sin(h)
    u = np.zeros(len(h))
    u[0] = h[0]
    for i in range(1, len(h)):
        u[i] = 0.5 * u[i - 1] + h[i]
    v = u * u
    v[1:-1] += 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    energy = 0.0
    for k in range(3):
        v = v * w[k % 2]
        energy = energy + np.sum(v**2)
    y = np.where(v > 0, v, 0.1 * v)
    y = np.log(1 + np.exp(y))
    norm = np.sqrt(np.sum(y * y))
    y = y / norm
    penalty = 0.01 * np.sum(w * w) + 0.01 * np.sum(b * b)
    loss = np.sum(y * np.arange(len(y))) + energy
    return loss + penalty


def compile_time() -> float:
    """The processor's time, in seconds, to compile the gradient of `thirty_lines`."""
    rng = np.random.default_rng(0)
    args = rng.normal(size=(6, 4)), rng.normal(size=4), rng.normal(size=6)
    found: list[float] = []
    for _ in range(9):
        again = types.FunctionType(thirty_lines.__code__, {"np": np}, "thirty_lines")
        gradient = srcgrad.grad(again, argnums=(0, 1, 2))
        start = time.process_time()
        gradient(*args)
        found.append(time.process_time() - start)
    return statistics.median(found)


def lookup_time() -> float:
    """What a call through the Gradient costs more than one of the generated function, in s."""

    def square(x: Any) -> Any:
        return np.sum(x * x)

    x = np.ones(3)
    gradient = srcgrad.grad(square)
    gradient(x)
    assert gradient._latest is not None
    alone, whole = in_turns([gradient._latest.compiled.function, gradient], (x,))
    return whole - alone


def import_time() -> float:
    """What `import srcgrad` costs more than `import numpy`, in seconds."""

    def once(module: str) -> float:
        code = (
            f"import time; s = time.process_time(); import {module}; print(time.process_time() - s)"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return float(out.stdout)

    numpy, both = [], []
    for _ in range(9):
        numpy.append(once("numpy"))
        both.append(once("numpy, srcgrad"))
    return statistics.median(both) - statistics.median(numpy)


def main(names: list[str]) -> None:
    print(f"{'us':26}{'by hand':>10}{'generated':>10}{'ratio':>8}{'with lookup':>13}")
    ratios, alone = [], []
    for workload in WORKLOADS:
        if names and not any(name in workload.name for name in names):
            continue
        hand, call, whole = compare(workload)
        ratios.append(whole / hand)
        alone.append(call / hand)
        print(f"{workload.name:26}{hand * 1e6:10.2f}{call * 1e6:10.2f}{call / hand:8.2f}"
              f"{whole / hand:13.2f}")  # fmt: skip
    if not ratios:
        return
    print(f"geometric mean {geometric_mean(alone):.2f}, worst {max(alone):.2f}; "
          f"with lookup {geometric_mean(ratios):.2f}, worst {max(ratios):.2f}")  # fmt: skip
    if not names:
        print(f"compiling 30 lines: {compile_time() * 1e3:.0f} ms")
        print(f"lookup: {lookup_time() * 1e6:.2f} us")
        print(f"import: {import_time() * 1e3:.0f} ms above numpy")


def geometric_mean(numbers: list[float]) -> float:
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


if __name__ == "__main__":
    main(sys.argv[1:])
