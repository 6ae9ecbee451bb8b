"""What the gradient of a program on Python's lists costs: time against the function's.

    python -m benchmarks.lists [--quick]

Each program of one list of floats, without NumPy, at two sizes; and with an array of as many
numbers in the list's place. Ratios are medians taken in one run, function and gradient interleaved.
What Python's own C functions do in the program (`sort`, `heappush`), Python does in the gradient.
"""

from __future__ import annotations

import argparse
import functools
import heapq
import math
import random
from collections.abc import Callable
from typing import Any

from .programs import seconds  # isort: skip  # before NumPy is imported, it sets the threads

import numpy as np

from srcgrad import grad


def elimination(xs: Any) -> float:
    n = math.isqrt(len(xs))
    rows = [[*xs[i * n : (i + 1) * n], 1.0] for i in range(n)]
    for i in range(n):
        rows[i][i] += n
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            for j in range(i, n + 1):
                rows[r][j] -= factor * rows[i][j]
    solution = [0.0] * n
    for i in reversed(range(n)):
        rest = sum(rows[i][j] * solution[j] for j in range(i + 1, n))
        solution[i] = (rows[i][n] - rest) / rows[i][i]
    return sum(v * v for v in solution)


def product(xs: Any) -> float:
    n = math.isqrt(len(xs))
    a = [[xs[i * n + j] for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * a[k][j]
    return sum(map(sum, c))


def relaxation(xs: Any) -> float:
    n = math.isqrt(len(xs))
    grid = [[xs[i * n + j] for j in range(n)] for i in range(n)]
    for _ in range(5):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                around = grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]
                grid[i][j] = 0.3 * around - 0.2 * grid[i][j]
    return sum(v * v for row in grid for v in row)


def time_warping(xs: Any) -> float:
    n = len(xs) // 2
    a, b = xs[:n], xs[n:]
    cost = [[math.inf] * (n + 1) for _ in range(n + 1)]
    cost[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            before = min(cost[i - 1][j], cost[i][j - 1], cost[i - 1][j - 1])
            cost[i][j] = abs(a[i - 1] - b[j - 1]) + before
    return cost[n][n]


def tridiagonal(xs: Any) -> float:
    n = len(xs)
    b, d = [2.5 + 0.1 * math.tanh(v) for v in xs], list(xs)
    for i in range(1, n):
        w = -1.0 / b[i - 1]
        b[i] += w
        d[i] -= w * d[i - 1]
    x = [0.0] * n
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] + x[i + 1]) / b[i]
    return sum(v * v for v in x)


def bodies(xs: Any) -> float:
    n = len(xs) // 3
    at = [[xs[3 * i], xs[3 * i + 1], xs[3 * i + 2]] for i in range(n)]
    speed = [[0.0, 0.0, 0.0] for _ in range(n)]
    for _ in range(10):
        for i in range(n):
            for j in range(i + 1, n):
                dx, dy, dz = (at[i][k] - at[j][k] for k in range(3))
                force = 0.01 * (dx * dx + dy * dy + dz * dz + 0.1) ** -1.5
                for k, d in enumerate((dx, dy, dz)):
                    speed[i][k] -= d * force
                    speed[j][k] += d * force
        for place, v in zip(at, speed, strict=True):
            for k in range(3):
                place[k] += 0.01 * v[k]
    return sum(0.5 * v * v for vs in speed for v in vs)


def network(xs: Any) -> float:
    n = math.isqrt(len(xs))
    weights = [list(xs[i * n : (i + 1) * n]) for i in range(n)]
    inputs, wanted = [0.5] * n, [0.1] * n
    outputs = wanted
    for _ in range(5):
        sums = [sum(w * v for w, v in zip(row, inputs, strict=True)) for row in weights]
        outputs = [1 / (1 + math.exp(-s)) for s in sums]
        for i, (o, t) in enumerate(zip(outputs, wanted, strict=True)):
            slope = (o - t) * o * (1 - o)
            for j in range(n):
                weights[i][j] -= 0.5 * slope * inputs[j]
    return sum((o - t) ** 2 for o, t in zip(outputs, wanted, strict=True))


def polynomial(xs: Any) -> float:
    total = 0.0
    for t in range(20):
        value = 0.0
        for c in reversed(xs):
            value = value * (t / 20) + c
        total += value * value
    return total


def smoothing(xs: Any) -> float:
    kept: list[float] = []
    last = 0.0
    for v in xs:
        last = 0.9 * last + 0.1 * v
        kept.append(last)
    kept.reverse()
    for v in kept:
        last = 0.8 * last + 0.2 * v * v
    return last


def running_median(xs: Any) -> float:
    seen: list[float] = []
    total = 0.0
    for v in xs:
        seen.append(v)
        seen.sort()
        total += seen[len(seen) // 2] ** 2
    return total


def queue(xs: Any) -> float:
    heap: list[float] = []
    total, weight = 0.0, 1.0
    for v in xs:
        heapq.heappush(heap, v)
    while heap:
        total += weight * heapq.heappop(heap)
        weight *= 0.9
    return total


PROGRAMS: dict[Callable[[Any], float], tuple[int, int]] = {
    elimination: (36, 400), product: (36, 400), relaxation: (100, 900), time_warping: (20, 80),
    tridiagonal: (100, 1000), bodies: (15, 60), network: (25, 400), polynomial: (20, 1000),
    smoothing: (100, 2000), running_median: (20, 200), queue: (20, 300),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lists",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="shorter runs, less precise")
    budget = 0.02 if parser.parse_args(arguments).quick else 0.4
    draw = random.Random(0)
    print(f"{'gradient / function':>20}{'list':>8}{'':8}{'array':>8}{'':8}{'lines':>8}")
    for program, sizes in PROGRAMS.items():
        ratios = []
        gradient = grad(program)
        for given in (list, np.array):
            for n in sizes:
                xs = given([draw.gauss(0, 1) for _ in range(n)])
                gradient(xs)
                runs = [functools.partial(f, xs) for f in (gradient, program)]
                spent = seconds(runs, budget)
                ratios.append(spent[0] / spent[1])
        lines = gradient.source.count("\n")
        print(f"{program.__name__:>20}" + "".join(f"{r:8.2f}" for r in ratios) + f"{lines:8}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
