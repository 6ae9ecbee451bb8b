"""4. Adding a rule: a derivative of your own, written as an ordinary function.

    python examples/tour/04_adding_a_rule.py

For code that srcgrad can't see into (a C extension), or a better formula than the derivative of
what is written.
"""

import numpy as np

import srcgrad
from srcgrad import grad


def log_sum_exp(x):
    """As some library computes it: to srcgrad it is a primitive once it has a rule."""
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


@srcgrad.adjoint(log_sum_exp)
def log_sum_exp_rule(x, *, out, d_out):
    # `out` is the result, `d_out` its adjoint; what is returned is added to the adjoint of x
    return d_out * np.exp(x - out)


def loss(x):
    return 2 * log_sum_exp(x)


gradient = grad(loss)
x = np.array([1.0, 2.0, 1000.0])
print(gradient(x))  # [0. 0. 2.]
print(gradient.source)


# Elementwise functions: the partial derivative is enough, for forward mode too.
def softplus(x):
    return np.logaddexp(0, x)


@srcgrad.elementwise(softplus)
def softplus_rule(x, *, out):
    return np.exp(x - out)


print(grad(lambda x: np.sum(softplus(x)))(np.zeros(2)))  # [0.5 0.5]
