"""2. Reading the source: what runs is what is shown.

    python examples/tour/02_reading_the_source.py

The same from the command line, which takes the arguments from `example_inputs`:

    srcgrad show examples/tour/02_reading_the_source.py:loss
    srcgrad explain examples/tour/02_reading_the_source.py:loss
    srcgrad html examples/tour/02_reading_the_source.py:loss -o loss.html
    srcgrad graph examples/tour/02_reading_the_source.py:loss -o loss.svg
"""

import numpy as np

from srcgrad import grad


def loss(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def example_inputs():
    rng = np.random.default_rng(0)
    shapes = (4, 8), (8,), (8, 2), (2,), (16, 4), (16, 2)
    return tuple(rng.normal(size=shape) for shape in shapes)


def main():
    gradient = grad(loss, argnums=(0, 1, 2, 3))
    gradient(*example_inputs())

    # Above each group of adjoint statements stands the line of `loss` that they undo.
    print(gradient.source)

    # Line by line: the primitives, their rules, what is kept for the reverse sweep.
    print(gradient.explain())

    # In a notebook, `gradient` alone shows the page that `srcgrad html` writes.
    page = gradient.html(*example_inputs())
    print(f"the page: {len(page) // 1000} kB of HTML that needs no network")


if __name__ == "__main__":
    main()
