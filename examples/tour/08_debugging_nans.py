"""8. Debugging: where does the gradient become NaN, vanish, or explode?

    python examples/tour/08_debugging_nans.py

The same from the command line: srcgrad trace examples/tour/08_debugging_nans.py:entropy
"""

import numpy as np

from srcgrad import grad, tap


def entropy(logits):
    shifted = logits - np.max(logits)
    p = np.exp(shifted) / np.sum(np.exp(shifted))
    terms = p * np.log(p)
    return -np.sum(terms)


def safe_entropy(logits):
    shifted = logits - np.max(logits)
    p = np.exp(shifted) / np.sum(np.exp(shifted))
    terms = np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0)
    return -np.sum(terms)


def example_inputs():
    return np.array([0.0, 1.0, -1000.0])


def deep(x, layers):
    for _ in range(layers):
        x = np.tanh(0.1 * x)
    return np.sum(x)


def main():
    with np.errstate(all="ignore"):
        trace = grad(entropy).trace(example_inputs())
    print(trace)
    print(trace.remarks[0].rpartition(", line")[0])  # The first value that isn't finite is terms's

    # In a program that runs for hours: stop at the first one, with the line.
    try:
        with np.errstate(all="ignore"):
            grad(entropy, nan_check=True)(example_inputs())
    except FloatingPointError as error:
        print(str(error).splitlines()[0])  # the gradient becomes infinite here: the adjoint of 'p'

    # p underflows to 0, and 0 * log(0) is NaN. What a `where` doesn't take contributes nothing:
    print(np.round(grad(safe_entropy)(example_inputs()), 4))  # [ 0.1966 -0.1966  0.    ]

    # One adjoint alone: `tap` is its argument, and shows the adjoint when the gradient gets there.
    grad(lambda x: tap("y", x * x) ** 2)(3.0)
    print()

    # A gradient that vanishes: each layer multiplies the adjoint by 0.1.
    trace = grad(deep).trace(np.ones(3), 10)
    print(trace)


if __name__ == "__main__":
    main()
