"""7. Checkpointing: less memory, for computing again what would have been kept.

    python examples/tour/07_checkpointing.py

The gradient of a loop keeps what each iteration computes. `checkpoint_loop` keeps a few states,
and computes the others again, by a schedule that does so in the fewest steps.
"""

import tracemalloc

import numpy as np

from srcgrad import checkpoint_loop, grad

STEPS = 400


def step(i, u):
    left, right = np.roll(u, 1), np.roll(u, -1)
    return u + 0.1 * (left - 2 * u + right) - 0.01 * np.sin(u)


def plain(u):
    for i in range(STEPS):
        u = step(i, u)
    return np.sum(u * u)


def checkpointed(u):
    u = checkpoint_loop(step, u, STEPS)
    return np.sum(u * u)


def peak(function, *args):
    """The result of a call, and the most memory it took, in bytes."""
    tracemalloc.start()
    result = function(*args)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return result, most


u = np.random.default_rng(0).normal(size=5000)
gradients = {}
memory = {}
for function in (plain, checkpointed):
    gradient = grad(function)
    gradient(u)  # compiled
    gradients[function], memory[function] = peak(gradient, u)
    megabytes, states = memory[function] / 1e6, memory[function] / u.nbytes
    print(f"{function.__name__:13} {megabytes:5.1f} MB, as much as {states:.0f} states")

print(np.allclose(gradients[plain], gradients[checkpointed]))  # True
print(memory[checkpointed] < memory[plain] / 5)  # True
