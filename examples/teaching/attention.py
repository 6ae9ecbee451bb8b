"""Multi-head attention over a batch of sequences.

python examples/teaching/attention.py
"""

import numpy as np
from side_by_side import compare

from srcgrad import grad


def heads_of(x, heads):
    """The features of each head by itself: batch, head, position, feature."""
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def joined(x):
    """The other way round."""
    batch, heads, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * width)


@grad(argnums=("Wq", "Wk", "Wv", "Wo"))
def attention(Wq, Wk, Wv, Wo, x, d_out, heads):
    q, k, v = heads_of(x @ Wq, heads), heads_of(x @ Wk, heads), heads_of(x @ Wv, heads)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[3])
    e = np.exp(scores - np.max(scores, axis=3, keepdims=True))
    p = e / np.sum(e, axis=3, keepdims=True)
    return np.sum(d_out * (joined(p @ v) @ Wo))


def attention_backward(Wq, Wk, Wv, Wo, x, d_out, heads):
    q, k, v = heads_of(x @ Wq, heads), heads_of(x @ Wk, heads), heads_of(x @ Wv, heads)
    scale = 1 / np.sqrt(q.shape[3])
    e = np.exp(scale * q @ k.transpose(0, 1, 3, 2))
    p = e / e.sum(axis=3, keepdims=True)

    d_Wo = np.einsum("bti,btj->ij", joined(p @ v), d_out)
    d_mixed = heads_of(d_out @ Wo.T, heads)
    d_p = d_mixed @ v.transpose(0, 1, 3, 2)
    d_v = p.transpose(0, 1, 3, 2) @ d_mixed
    d_scores = scale * p * (d_p - (d_p * p).sum(axis=3, keepdims=True))  # softmax
    d_q = d_scores @ k
    d_k = d_scores.transpose(0, 1, 3, 2) @ q
    d_Wq, d_Wk, d_Wv = (np.einsum("bti,btj->ij", x, joined(d)) for d in (d_q, d_k, d_v))
    return d_Wq, d_Wk, d_Wv, d_Wo


def main():
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(6, 6)) / np.sqrt(6) for _ in range(4)]
    x, d_out = rng.normal(size=(2, 5, 6)), rng.normal(size=(2, 5, 6))
    compare(attention, attention_backward, *weights, x, d_out, 3)


if __name__ == "__main__":
    main()
