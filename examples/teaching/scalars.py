"""What the scalar graph shows: an expression of two numbers, and a neuron.

python examples/teaching/scalars.py
"""

import math

from side_by_side import compare

from srcgrad import grad


@grad(argnums=("a", "b"))
def expression(a, b):
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c - a
    d += d * 2 + max(b + a, 0.0)
    d += 3 * d + max(b - a, 0.0)
    e = c - d
    f = e**2
    return f / 2.0 + 10.0 / f


def expression_backward(a, b):
    """c is 3 a + 4 b + 3 and d is 12 (a b + b b b), and four and one rectified terms more."""
    relu, slope = max(b + a, 0.0), float(b + a > 0)
    relu_2, slope_2 = max(b - a, 0.0), float(b - a > 0)
    c = 3 * a + 4 * b + 3
    d = 12 * (a * b + b**3) + 4 * relu + relu_2
    e = c - d
    d_e = e - 20.0 / e**3
    d_a = d_e * (3 - 12 * b - 4 * slope + slope_2)
    d_b = d_e * (4 - 12 * (a + 3 * b**2) - 4 * slope - slope_2)
    return d_a, d_b


@grad(argnums=("weights", "bias"))
def neuron(weights, bias, x):
    total = bias
    for w, xi in zip(weights, x):  # noqa: B905
        total = total + w * xi
    return math.tanh(total)


def neuron_backward(weights, bias, x):
    out = math.tanh(bias + sum(w * xi for w, xi in zip(weights, x, strict=True)))
    d_total = 1 - out**2
    return [d_total * xi for xi in x], d_total


def main():
    compare(expression, expression_backward, -4.0, 2.0)
    compare(neuron, neuron_backward, [0.3, -0.8], 0.1, [2.0, 1.0])


if __name__ == "__main__":
    main()
