"""What checkpointing costs and saves: time and memory of the gradient of many steps.

    python -m benchmarks.checkpointing [--steps 1000 10000 100000] [--size 200]

Each row is the gradient of a number of steps of a pendulum field by a plain loop, which records
every step, and by `srcgrad.checkpoint_loop`. Memory is the peak of what the gradient allocates,
counted in states; time is that of the fastest run, without the counting of memory.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad import checkpoint_loop, grad

RUNS = 3


def plainly(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x + 0.001 * np.sin(x)
    return np.sum(x)


def checkpointed(x: Any, n: int, snapshots: int | None = None) -> Any:
    def step(i: int, u: Any) -> Any:
        return u + 0.001 * np.sin(u)

    return np.sum(checkpoint_loop(step, x, n, snapshots))


@dataclass(frozen=True)
class Cost:
    """Seconds, and the peak memory in states."""

    seconds: float
    states: float


def cost(f: Callable[..., Any], x: Any, *args: Any) -> Cost:
    """What the gradient of a function costs."""
    gradient = grad(f)
    gradient(x, 10, *args[1:])
    times = []
    for _ in range(RUNS if args[0] < 50_000 else 1):
        start = time.perf_counter()
        gradient(x, *args)
        times.append(time.perf_counter() - start)
    tracemalloc.start()
    gradient(x, *args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Cost(min(times), peak / x.nbytes)


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpointing")
    parser.add_argument("--steps", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--size", type=int, default=200)
    options = parser.parse_args(arguments)
    x = np.linspace(0.1, 1.0, options.size)
    print(
        f"{'steps':>8}{'recorded':>12}{'states':>10}{'checkpointed':>16}{'states':>10}{'time':>8}"
    )
    for n in options.steps:
        np.testing.assert_allclose(grad(checkpointed)(x, n), grad(plainly)(x, n), rtol=1e-9)
        recorded, again = cost(plainly, x, n), cost(checkpointed, x, n)
        print(
            f"{n:>8}{recorded.seconds * 1e3:>9.1f} ms{recorded.states:>10.0f}"
            f"{again.seconds * 1e3:>13.1f} ms{again.states:>10.0f}"
            f"{again.seconds / recorded.seconds:>7.2f}x"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
