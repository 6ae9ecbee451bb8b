"""Workloads as the operation list says them: it has no operators, so each is written out.

The list knows the sum, difference, product, quotient, matrix product, exp, log, max, sum, tanh and
the softmax cross-entropy. Vectors become columns, as its matrix product takes two matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.tapes import operation_list as ol
from benchmarks.tapes.operation_list import Autograd

Array = np.ndarray[Any, Any]


def _constant(number: float) -> Array:
    return np.array(number)


def _mean(tape: Autograd, x: Array) -> Array:
    return ol.div(tape, ol.sum(tape, x), _constant(float(x.size)))


def least_squares(tape: Autograd, w: Array, x: Array, y: Array) -> Array:
    """As in workloads/small.py."""
    r = ol.sub(tape, ol.matmul(tape, x, w), y[:, None])
    fit = ol.mul(tape, _mean(tape, ol.mul(tape, r, r)), _constant(0.5))
    penalty = ol.mul(tape, ol.sum(tape, ol.mul(tape, w, w)), _constant(0.05))
    return ol.add(tape, fit, penalty)


def logistic_regression(tape: Autograd, w: Array, x: Array, y: Array) -> Array:
    """As in workloads/small.py."""
    one, minus_one, y = _constant(1.0), _constant(-1.0), y[:, None]
    e = ol.exp(tape, ol.mul(tape, ol.matmul(tape, x, w), minus_one))
    p = ol.div(tape, one, ol.add(tape, one, e))
    yes = ol.mul(tape, y, ol.log(tape, p))
    no = ol.mul(tape, 1 - y, ol.log(tape, ol.sub(tape, one, p)))
    return ol.mul(tape, _mean(tape, ol.add(tape, yes, no)), minus_one)


def softmax_regression(tape: Autograd, w: Array, b: Array, x: Array, labels: Array) -> Array:
    """As in workloads/small.py, the loss as one operation."""
    logits = ol.add(tape, ol.matmul(tape, x, w), b)
    return ol.softmax_cross_entropy(tape, logits, np.eye(w.shape[1])[labels])


def mlp(
    tape: Autograd, w1: Array, b1: Array, w2: Array, b2: Array, x: Array, y: Array
) -> Array:  # fmt: skip
    """As in workloads/small.py."""
    h = ol.tanh(tape, ol.add(tape, ol.matmul(tape, x, w1), b1))
    out = ol.add(tape, ol.matmul(tape, h, w2), b2)
    r = ol.sub(tape, out, y)
    return _mean(tape, ol.mul(tape, r, r))


def gaussian_log_likelihood(tape: Autograd, mean: Array, log_sigma: Array, x: Array) -> Array:
    """As in workloads/small.py, without the constant."""
    precision = ol.exp(tape, ol.mul(tape, log_sigma, _constant(-1.0)))
    z = ol.mul(tape, ol.sub(tape, x, mean), precision)
    squares = ol.mul(tape, ol.sum(tape, ol.mul(tape, z, z)), _constant(-0.5))
    return ol.sub(tape, squares, ol.mul(tape, ol.sum(tape, log_sigma), _constant(float(len(x)))))


def log_sum_exp(tape: Autograd, x: Array) -> Array:
    """As in workloads/small.py."""
    m = np.asarray(x.max())
    return ol.add(tape, m, ol.log(tape, ol.sum(tape, ol.exp(tape, ol.sub(tape, x, m)))))


def tanh_chain(tape: Autograd, x: Array) -> Array:
    """As in workloads/small.py."""
    for _ in range(8):
        scaled = ol.mul(tape, x, _constant(0.9))
        x = ol.tanh(tape, ol.add(tape, scaled, _constant(0.1)))
    return ol.sum(tape, x)


def double(tape: Autograd, x: Array) -> Array:
    """The shortest."""
    return ol.mul(tape, x, _constant(2.0))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    function.__name__: function
    for function in (
        least_squares,
        logistic_regression,
        softmax_regression,
        mlp,
        gaussian_log_likelihood,
        log_sum_exp,
        tanh_chain,
        double,
    )
}
COLUMNS = {"least_squares", "logistic_regression"}  # whose weights are given as a column
