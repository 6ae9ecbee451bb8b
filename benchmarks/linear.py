"""Does a loop that writes n elements in place have a gradient linear in n, in time and memory?

    python -m benchmarks.linear

prints, for n = 10^3, 10^4 and 10^5, the time and peak memory per element of the function and of
its gradient. Flat columns mean linear cost.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import grad

SIZES = (1_000, 10_000, 100_000)


def recurrence(x):
    """A recursive filter: each element depends on the one before."""
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + np.sin(x[i])
    return np.sum(y)


def accumulated(x):
    """Augmented element writes, nonlinear in what is overwritten."""
    y = x.copy()
    for i in range(1, len(x)):
        y[i] *= 0.5 + 0.1 * y[i - 1]
    return np.sum(y)


def branching(x):
    """Element writes under a condition on the data."""
    y = np.zeros(len(x))
    best = 0.0
    for i in range(len(x)):
        if x[i] > best:
            best = 0.5 * x[i]
            y[i] = best * x[i]
    return np.sum(y)


def listed(x):
    """A list appended to in a loop, read again while it grows."""
    items = [x[0]]
    for i in range(1, len(x)):
        items.append(0.5 * items[-1] * x[i] + x[i])
    return np.sum(np.array(items))


def views(x):
    """Rows of a matrix, written through views."""
    y = np.zeros((len(x) // 10, 10))
    for i in range(len(y)):
        row = y[i]
        row[:] = x[10 * i : 10 * i + 10]
        row[1:] *= row[:-1]
    return np.sum(y)


PROGRAMS: tuple[Callable[[Any], Any], ...] = (recurrence, accumulated, branching, listed, views)


def seconds(function: Callable[[Any], Any], x: Any) -> float:
    """The best time of three calls."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function(x)
        times.append(time.perf_counter() - start)
    return min(times)


def peak(function: Callable[[Any], Any], x: Any) -> int:
    """The largest number of bytes allocated at any time during a call."""
    tracemalloc.start()
    function(x)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main() -> None:
    head = ("program", "n", "function us/n", "gradient us/n", "ratio", "gradient bytes/n")
    print(f"{head[0]:12} {head[1]:>7} {head[2]:>14} {head[3]:>14} {head[4]:>6} {head[5]:>17}")
    for function in PROGRAMS:
        gradient = grad(function)
        for n in SIZES:
            x = np.random.default_rng(0).uniform(0.2, 0.9, n)
            gradient(x)
            own, whole = seconds(function, x), seconds(gradient, x)
            memory = peak(gradient, x)
            print(
                f"{function.__name__:12} {n:7d} {own / n * 1e6:14.3f} {whole / n * 1e6:14.3f} "
                f"{whole / own:6.2f} {memory / n:17.1f}"
            )


if __name__ == "__main__":
    main()
