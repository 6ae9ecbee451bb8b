"""A convolution layer as six nested loops, with stride, padding, bias and a sigmoid.

Returns a squared distance to a target.
"""

import numpy as np

ARGNUMS = (0, 1, 2)


def pad(x, p):
    channels, height, width = x.shape
    padded = np.zeros((channels, height + 2 * p, width + 2 * p))
    padded[:, p : p + height, p : p + width] = x
    return padded


def conv2d(x, w, bias, stride=1, padding=0):
    if padding > 0:
        x = pad(x, padding)
    c_in, height, width = x.shape
    c_out, _, kh, kw = w.shape
    out_h = (height - kh) // stride + 1
    out_w = (width - kw) // stride + 1
    out = np.zeros((c_out, out_h, out_w))
    for f in range(c_out):
        for i in range(out_h):
            for j in range(out_w):
                for c in range(c_in):
                    for di in range(kh):
                        for dj in range(kw):
                            out[f, i, j] += w[f, c, di, dj] * x[c, i * stride + di, j * stride + dj]
                out[f, i, j] += bias[f]
    return out


def program(x, w, bias, target):
    out = conv2d(x, w, bias, stride=2, padding=1)
    out = 1 / (1 + np.exp(-out))
    loss = 0.0
    for channel, wanted in zip(out, target, strict=True):
        loss += np.sum((channel - wanted) ** 2)
    return loss


def inputs(size=None):
    n = size or 9
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, n, n))
    w = 0.5 * rng.standard_normal((3, 2, 3, 3))
    bias = rng.standard_normal(3)
    half = (n - 1) // 2 + 1
    return x, w, bias, rng.random((3, half, half))
