"""One pre-norm transformer block in the manner of small NumPy GPTs: layer norm, causal multi-head
attention and a GELU network with residual connections; mean cross entropy of the outputs."""

import numpy as np

ARGNUMS = (0, 1)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x, g, b, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def linear(x, w, b):
    return x @ w + b


def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def multi_head_attention(x, c_attn, c_proj, n_head):
    x = linear(x, **c_attn)
    qkv = np.split(x, 3, axis=-1)
    heads = [np.split(part, n_head, axis=-1) for part in qkv]
    mask = (1 - np.tri(x.shape[0])) * -1e10
    out = [attention(q, k, v, mask) for q, k, v in zip(*heads, strict=True)]
    return linear(np.hstack(out), **c_proj)


def feed_forward(x, c_fc, c_proj):
    return linear(gelu(linear(x, **c_fc)), **c_proj)


def transformer_block(x, mlp, attn, ln_1, ln_2, n_head):
    x = x + multi_head_attention(layer_norm(x, **ln_1), **attn, n_head=n_head)
    return x + feed_forward(layer_norm(x, **ln_2), **mlp)


def program(block, embedding, tokens, n_head):
    x = embedding[tokens[:-1]]
    logits = transformer_block(x, **block, n_head=n_head) @ embedding.T
    p = softmax(logits)
    picked = p[np.arange(len(tokens) - 1), tokens[1:]]
    return -np.mean(np.log(picked))


def inputs(size=None):
    n = 6 if size is None else size
    d, vocabulary = 8, 10
    rng = np.random.default_rng(0)

    def layer(m, k):
        return {"w": 0.3 * rng.normal(size=(m, k)), "b": 0.1 * rng.normal(size=k)}

    def norm():
        return {"g": 1.0 + 0.1 * rng.normal(size=d), "b": 0.1 * rng.normal(size=d)}

    block = {
        "mlp": {"c_fc": layer(d, 2 * d), "c_proj": layer(2 * d, d)},
        "attn": {"c_attn": layer(d, 3 * d), "c_proj": layer(d, d)},
        "ln_1": norm(),
        "ln_2": norm(),
    }
    tokens = rng.integers(0, vocabulary, size=n + 1)
    return block, 0.5 * rng.normal(size=(vocabulary, d)), tokens, 2
