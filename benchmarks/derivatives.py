"""What each derivative costs, in units of what it is a derivative of.

    python -m benchmarks.derivatives

prints two tables. The first has, for vector programs, the time of the function, and that of
`jvp`, `grad` and `hvp` divided by it or, for `hvp`, by that of the gradient. The second compares
Jacobians from R^n to R^n with n calls of the pullback. All times are minima over interleaved runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import grad, hessian, hvp, jacfwd, jacrev, vjp
from srcgrad.forward import Tangent

Run = Callable[[], Any]


def logistic(w, x, y):
    """Logistic regression: one product with a matrix each way."""
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def network(w, x, y):
    """Two layers, by their first weights."""
    hidden = np.tanh(x @ w)
    return np.mean((hidden @ y - 1.0) ** 2)


def elementwise(x):
    """A chain of elementwise functions."""
    return np.sum(np.sin(x) * np.exp(-x * x) + np.sqrt(1 + x * x))


def heat(u, steps):
    """A simulation that overwrites its state."""
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2
    return np.sum(u * u)


def rosenbrock(x):
    """Slices of a vector."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def programs() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The functions, with their arguments."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 50))
    return [
        (logistic, (rng.normal(size=50), x, (rng.uniform(size=2000) < 0.5) * 1.0)),
        (network, (rng.normal(size=(50, 40)), x, rng.normal(size=40))),
        (elementwise, (rng.normal(size=20_000),)),
        (heat, (rng.normal(size=5_000), 50)),
        (rosenbrock, (rng.normal(size=20_000),)),
    ]


def layer(x, w):
    """A dense layer, R^n to R^n."""
    return np.tanh(w @ x) * x


def stencil(x):
    """A nonlinear stencil, R^n to R^n."""
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] * x[2:] - 2 * x[1:-1] ** 2
    return y


def loop(x):
    """A recurrence, element by element, R^n to R^n."""
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.sin(x[i]) + 0.5 * y[i - 1]
    return y


def fastest(runs: dict[str, Run], seconds: float) -> dict[str, float]:
    """The shortest time of each, run in turn for about so many seconds altogether."""
    best = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def costs(
    function: Callable[..., Any], args: tuple[Any, ...], seconds: float = 1.0
) -> tuple[float, float, float, float]:
    """The time of a function, of jvp and grad in units of it, and of hvp in units of grad."""
    tangent = np.ones_like(args[0])
    gradient, product = grad(function), hvp(function)
    forward = Tangent(function, 0, False, True)
    best = fastest(
        {
            "f": lambda: function(args[0].copy(), *args[1:]),
            "jvp": lambda: forward.push(args, {}, (tangent,)),
            "grad": lambda: gradient(*args),
            "hvp": lambda: product(*args, tangent),
        },
        seconds,
    )
    f, g = best["f"], best["grad"]
    return f, best["jvp"] / f, g / f, best["hvp"] / g


def jacobians(
    function: Callable[..., Any], args: tuple[Any, ...], seconds: float = 1.0
) -> tuple[float, float, float]:
    """The time of all single pullbacks, and how much faster both Jacobians are."""
    n = len(args[0])
    rows, columns = jacrev(function), jacfwd(function)
    unit = np.eye(n)

    def one_by_one() -> Any:
        pullback = vjp(function, *args)[1]
        return np.stack([pullback(unit[i])[0] for i in range(n)])

    best = fastest(
        {"pullbacks": one_by_one, "rev": lambda: rows(*args), "fwd": lambda: columns(*args)},
        seconds,
    )
    single = best["pullbacks"]
    return single, single / best["rev"], single / best["fwd"]


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{'program':12} {'f, us':>9} {'jvp / f':>9} {'grad / f':>9} {'hvp / grad':>11}")
    for function, args in programs():
        f, jvp, gradient, product = costs(function, args)
        row = f"{f * 1e6:9.0f} {jvp:9.2f} {gradient:9.2f} {product:11.2f}"
        print(f"{function.__name__:12} {row}")
    print()
    print(f"{'Jacobian':12} {'n':>4} {'n pullbacks, us':>16} {'jacrev':>12} {'jacfwd':>12}")
    for n in (10, 100):
        x = rng.normal(size=n)
        for function, args in (
            (layer, (x, rng.normal(size=(n, n)))),
            (stencil, (x,)),
            (loop, (x,)),
        ):
            single, rev, fwd = jacobians(function, args)
            row = f"{n:4} {single * 1e6:16.0f} {rev:5.1f} x less {fwd:5.1f} x less"
            print(f"{function.__name__:12} {row}")
    n = 100
    x, matrix = rng.normal(size=n), rng.normal(size=(n, n))

    def energy(x: Any, matrix: Any) -> Any:
        return np.sum(np.tanh(matrix @ x) ** 2)

    whole, product = hessian(energy), hvp(energy)
    unit = np.eye(n)
    best = fastest(
        {
            "single": lambda: [product(x, matrix, v) for v in unit],
            "hessian": lambda: whole(x, matrix),
        },
        1.0,
    )
    ratio = best["single"] / best["hessian"]
    print(f"\nHessian, n = {n}: {best['hessian'] * 1e6:.0f} us, {ratio:.1f} x less than {n} hvp")


if __name__ == "__main__":
    main()
