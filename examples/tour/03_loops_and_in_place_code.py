"""3. Loops and code that works in place: write NumPy as you do.

    python examples/tour/03_loops_and_in_place_code.py

Tapes refuse `u[1:-1] += …`, or get it wrong. Here the adjoint of an array that is written in place
is one array, updated in place too; of what is overwritten only what the derivative needs is kept.
"""

import numpy as np

from srcgrad import grad


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - 0.01 * u[1:-1] ** 2
    return np.sum(u * u)


def root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def first_above(x, limit):
    total = 0.0
    for value in x:
        if value < 0:
            continue
        total += value**2
        if total > limit:
            return total
    return 3 * total


d_heat = grad(heat)
u = np.array([0.0, 1.0, 2.0, 1.0, 0.0])
print(np.round(d_heat(u, 10), 3))  # [0.848 0.522 0.703 0.522 0.848]
print(u)  # [0. 1. 2. 1. 0.]
print(round(grad(root)(9.0), 6))  # 0.166667
print(grad(first_above)(np.array([1.0, -1.0, 2.0, 5.0]), 4.0))  # [2. 0. 4. 0.]
print()
print(d_heat.source)
