"""10. Comparing with a tape: what a call costs, and why.

    python examples/tour/10_comparing_with_a_tape.py

A tape records each operation of each call, in objects, and walks back over them. Here is one in
forty lines; it computes what the generated gradient computes.
"""

import timeit

import numpy as np

from srcgrad import grad


class Taped:
    """An array that remembers where it comes from."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.adjoint = value, parents, 0.0

    def __matmul__(self, other):
        x, y = self.value, other.value
        return Taped(x @ y, [(self, lambda d: d @ y.T), (other, lambda d: x.T @ d)])

    def __add__(self, other):
        pairs = [(self, lambda d: d), (other, lambda d: d.sum(axis=0))]
        return Taped(self.value + other.value, pairs)

    def __sub__(self, other):
        return Taped(self.value - other, [(self, lambda d: d)])

    def tanh(self):
        out = np.tanh(self.value)
        return Taped(out, [(self, lambda d: d * (1 - out * out))])

    def mean_square(self):
        x = self.value
        return Taped(np.mean(x * x), [(self, lambda d: d * 2 / x.size * x)])

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent, _ in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.adjoint = 1.0
        for node in reversed(order):
            for parent, rule in node.parents:
                parent.adjoint = parent.adjoint + rule(node.adjoint)


def loss(w1, b1, w2, b2, x, y):
    return np.mean((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def taped_gradient(w1, b1, w2, b2, x, y):
    leaves = [Taped(array) for array in (w1, b1, w2, b2)]
    h = (Taped(x) @ leaves[0] + leaves[1]).tanh()
    (h @ leaves[2] + leaves[3] - y).mean_square().backward()
    return tuple(leaf.adjoint for leaf in leaves)


rng = np.random.default_rng(0)
shapes = (4, 8), (8,), (8, 2), (2,), (16, 4), (16, 2)
arguments = [rng.normal(size=shape) for shape in shapes]

gradient = grad(loss, argnums=(0, 1, 2, 3))
pairs = zip(gradient(*arguments), taped_gradient(*arguments), strict=True)
print(all(np.allclose(ours, theirs) for ours, theirs in pairs))  # True

for name, function in (("generated", gradient), ("tape", taped_gradient)):
    time = min(timeit.repeat(lambda f=function: f(*arguments), number=200, repeat=5)) / 200
    print(f"{name:10} {1e6 * time:6.1f} us")
print(gradient.source)
