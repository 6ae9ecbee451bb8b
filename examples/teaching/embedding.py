"""Looking rows up in a table: a row looked up twice gets two contributions.

python examples/teaching/embedding.py
"""

import numpy as np
from side_by_side import compare

from srcgrad import grad


@grad
def embedding(table, tokens, d_out):
    """The rows of the table at `tokens`; `d_out` is the gradient of what comes out."""
    return np.sum(d_out * table[tokens])


def embedding_backward(table, tokens, d_out):
    d_table = np.zeros_like(table)
    for token, row in zip(tokens.ravel(), d_out.reshape(-1, table.shape[1]), strict=True):
        d_table[token] += row
    return d_table


def main():
    rng = np.random.default_rng(0)
    tokens = np.array([[0, 2, 2], [4, 0, 2]])
    compare(
        embedding, embedding_backward, rng.normal(size=(5, 3)), tokens, rng.normal(size=(2, 3, 3))
    )


if __name__ == "__main__":
    main()
