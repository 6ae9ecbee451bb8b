"""Straight-line functions, of 3 to 60 primitives."""

from __future__ import annotations

import numpy as np

from benchmarks.workloads.base import Workload, integers, normal, sizes, uniform


def sine_product(x):
    """The shortest: three primitives."""
    return np.sum(np.sin(x) * x)


def sine_product_gradient(x):
    """By hand."""
    d_x = np.cos(x)
    d_x *= x
    d_x += np.sin(x)
    return d_x


def rosenbrock(x):
    """Rosenbrock's valley, in any number of dimensions."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x):
    """By hand, `t` being the gradient of what is squared first."""
    a = x[:-1]
    t = a * a
    np.subtract(x[1:], t, out=t)
    t *= 200.0
    d_x = np.empty_like(x)
    d_x[-1] = 0
    d_a = d_x[:-1]
    np.subtract(1.0, t, out=d_a)
    d_a *= a
    d_a -= 1.0
    d_a *= 2.0
    d_x[1:] += t
    return d_x


def log_sum_exp(x):
    """The logarithm of a sum of exponentials, safe from overflow."""
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def log_sum_exp_gradient(x):
    """By hand: the softmax."""
    e = x - x.max()
    np.exp(e, out=e)
    e /= e.sum()
    return e


def least_squares(w, x, y):
    """Linear regression with a penalty on large weights."""
    r = x @ w - y
    return 0.5 * np.mean(r * r) + 0.05 * np.sum(w * w)


def least_squares_gradient(w, x, y):
    """By hand."""
    r = x @ w
    r -= y
    r /= r.size
    d_w = r @ x
    d_w += 0.1 * w
    return d_w


def logistic_regression(w, x, y):
    """Binary cross-entropy of a linear classifier."""
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def logistic_regression_gradient(w, x, y):
    """By hand."""
    p = x @ w
    np.negative(p, out=p)
    np.exp(p, out=p)
    p += 1.0
    np.reciprocal(p, out=p)
    p -= y
    p /= p.size
    return p @ x


def softmax_regression(w, b, x, labels):
    """Cross-entropy of a linear classifier of several classes."""
    logits = x @ w + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def softmax_regression_gradient(w, b, x, labels):
    """By hand."""
    p = x @ w
    p += b
    p -= p.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1
    p /= len(labels)
    return x.T @ p, p.sum(axis=0)


def mlp(w1, b1, w2, b2, x, y):
    """Mean squared error of a network with one hidden layer."""
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def mlp_gradient(w1, b1, w2, b2, x, y):
    """By hand."""
    h = x @ w1
    h += b1
    np.tanh(h, out=h)
    d_out = h @ w2
    d_out += b2
    d_out -= y
    d_out *= 2 / d_out.size
    d_w2 = h.T @ d_out
    d_h = d_out @ w2.T
    h *= h
    np.subtract(1.0, h, out=h)
    d_h *= h
    return x.T @ d_h, d_h.sum(axis=0), d_w2, d_out.sum(axis=0)


def gaussian_log_likelihood(mean, log_sigma, x):
    """Log-likelihood of independent normal distributions."""
    z = (x - mean) * np.exp(-log_sigma)
    return -0.5 * np.sum(z * z) - len(x) * np.sum(log_sigma) - 0.5 * x.size * np.log(2 * np.pi)


def gaussian_log_likelihood_gradient(mean, log_sigma, x):
    """By hand."""
    precision = np.exp(-log_sigma)
    z = x - mean
    z *= precision
    d_mean = z.sum(axis=0)
    d_mean *= precision
    z *= z
    d_log_sigma = z.sum(axis=0)
    d_log_sigma -= len(x)
    return d_mean, d_log_sigma


def tanh_chain(x):
    """Eight times the same three primitives, each needing the one before."""
    t = np.tanh(0.9 * x + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    t = np.tanh(0.9 * t + 0.1)
    return np.sum(t)


def tanh_chain_gradient(x):
    """By hand: the product of the slopes ``0.9 (1 - t t)``, the factors 0.9 in one.

    Eight signs cancel, so the slopes are left negative.
    """
    t = 0.9 * x
    t += 0.1
    np.tanh(t, out=t)
    d_x = t * t
    d_x -= 1.0
    slope = np.empty_like(t)
    for _ in range(7):
        t *= 0.9
        t += 0.1
        np.tanh(t, out=t)
        np.multiply(t, t, out=slope)
        slope -= 1.0
        d_x *= slope
    d_x *= 0.9**8
    return d_x


def polynomial_fit(c, x, y):
    """Mean squared error of a polynomial of degree five, by Horner's rule."""
    p = c[5]
    p = p * x + c[4]
    p = p * x + c[3]
    p = p * x + c[2]
    p = p * x + c[1]
    p = p * x + c[0]
    return np.mean((p - y) ** 2)


def polynomial_fit_gradient(c, x, y):
    """By hand: the sums of the residual times the powers of `x`."""
    c0, *middle, c5 = c.tolist()
    r = c5 * x
    for number in reversed(middle):
        r += number
        r *= x
    r += c0
    r -= y
    r *= 2 / r.size
    d_c = np.empty_like(c)
    d_c[0] = r.sum()
    for k in (1, 2, 3, 4):
        d_c[k] = r @ x
        r *= x
    d_c[5] = r @ x
    return d_c


def cosine_similarity(x, y):
    """The cosine of the angle between two vectors."""
    return np.dot(x, y) / (np.sqrt(np.dot(x, x)) * np.sqrt(np.dot(y, y)))


def cosine_similarity_gradient(x, y):
    """By hand."""
    xx, yy, xy = x @ x, y @ y, x @ y
    scale = 1 / np.sqrt(xx * yy)
    d_x = y * scale
    t = x * (scale * xy / xx)
    d_x -= t
    d_y = x * scale
    np.multiply(y, scale * xy / yy, out=t)
    d_y -= t
    return d_x, d_y


def huber(w, x, y):
    """Linear regression that bears outliers."""
    r = x @ w - y
    a = np.abs(r)
    return np.mean(np.where(a <= 1.0, 0.5 * r * r, a - 0.5))


def huber_gradient(w, x, y):
    """By hand: the residual, cut off at one on either side."""
    r = x @ w
    r -= y
    np.minimum(r, 1.0, out=r)
    np.maximum(r, -1.0, out=r)
    r /= r.size
    return r @ x


def layer_norm(x, gain, bias, target):
    """Squared error of rows brought to mean zero and variance one, scaled and shifted."""
    c = x - np.mean(x, axis=1, keepdims=True)
    x_hat = c / np.sqrt(np.mean(c * c, axis=1, keepdims=True) + 1e-5)
    out = gain * x_hat + bias
    return 0.5 * np.sum((out - target) ** 2)


def layer_norm_gradient(x, gain, bias, target):
    """By hand: row means of products with `gain` are products of a matrix and a vector."""
    n = x.shape[1]
    x_hat = x - x.sum(axis=1, keepdims=True) / n
    t = x_hat * x_hat
    scale = t.sum(axis=1, keepdims=True)
    scale /= n
    scale += 1e-5
    np.sqrt(scale, out=scale)
    np.reciprocal(scale, out=scale)
    x_hat *= scale
    d_x = x_hat * gain
    d_x += bias
    d_x -= target
    d_bias = d_x.sum(axis=0)
    np.multiply(d_x, x_hat, out=t)
    d_gain = t.sum(axis=0)
    x_hat *= (t @ gain)[:, None] / n
    mean = (d_x @ gain)[:, None] / n
    d_x *= gain
    d_x -= mean
    d_x -= x_hat
    d_x *= scale
    return d_x, d_gain, d_bias


def attention_head(wq, wk, wv, x, target):
    """Mean squared error of one head of attention."""
    q = x @ wq
    k = x @ wk
    v = x @ wv
    scores = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.mean((p @ v - target) ** 2)


def attention_head_gradient(wq, wk, wv, x, target):
    """By hand: the row sums of ``d_p * p`` are those of ``d_out * out``, which is smaller."""
    q = x @ wq
    k = x @ wk
    v = x @ wv
    scale = 1 / np.sqrt(q.shape[1])
    p = q @ k.T
    p *= scale
    p -= p.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    out = p @ v
    d_out = out - target
    d_out *= 2 / d_out.size
    d_wv = x.T @ (p.T @ d_out)
    out *= d_out
    d_scores = d_out @ v.T
    d_scores -= out.sum(axis=1, keepdims=True)
    d_scores *= p
    d_scores *= scale
    return x.T @ (d_scores @ k), x.T @ (d_scores.T @ q), d_wv


def black_scholes(spot, strike, rate, vol, time):
    """Total price of call options, the normal distribution by its tanh approximation."""
    v = vol * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / v
    d2 = d1 - v
    n1 = 0.5 * (1 + np.tanh(0.7978845608 * (d1 + 0.044715 * d1 * d1 * d1)))
    n2 = 0.5 * (1 + np.tanh(0.7978845608 * (d2 + 0.044715 * d2 * d2 * d2)))
    return np.sum(spot * n1 - strike * np.exp(-rate * time) * n2)


def black_scholes_gradient(spot, strike, rate, vol, time):
    """By hand."""
    root = np.sqrt(time)
    v = vol * root
    drift = 0.5 * vol
    drift *= vol
    drift += rate
    d1 = spot / strike
    np.log(d1, out=d1)
    d1 += drift * time
    d1 /= v
    d2 = d1 - v
    n1, g1 = _normal_distribution(d1)
    n2, g2 = _normal_distribution(d2)
    discount = -rate
    discount *= time
    np.exp(discount, out=discount)
    paid = strike * discount
    g1 *= spot
    g2 *= paid
    paid *= n2
    # with g1 and g2 the gradients of d1 and, negated, of d2
    g1 -= g2
    d_v = g1 * d1
    d_v /= v
    np.subtract(g2, d_v, out=d_v)
    g1 /= v
    n1 += g1 / spot
    n2 *= discount
    np.negative(n2, out=n2)
    n2 -= g1 / strike
    d_rate = g1 + paid
    d_rate *= time
    d_vol = g1 * vol
    d_vol *= time
    d_vol += d_v * root
    g1 *= drift
    paid *= rate
    g1 += paid
    d_v *= vol
    d_v /= root
    d_v *= 0.5
    g1 += d_v
    return n1, n2, d_rate, d_vol, g1


def _normal_distribution(x):
    """The distribution function, approximately, and the derivative of the approximation."""
    square = x * x
    t = 0.044715 * square
    t += 1.0
    t *= x
    t *= 0.7978845608
    np.tanh(t, out=t)
    slope = t * t
    np.subtract(1.0, slope, out=slope)
    square *= 0.5 * 0.7978845608 * 3 * 0.044715
    square += 0.5 * 0.7978845608
    slope *= square
    t += 1.0
    t *= 0.5
    return t, slope


def _regression_inputs(n, features):
    x, w = normal(n, features), normal(features, seed=1)
    return w, x, x @ normal(features, seed=2) + normal(n, seed=3)


def _logistic_inputs(n, features):
    w, x, y = _regression_inputs(n, features)
    return 0.5 * w, x / np.sqrt(features), (y > 0).astype(float)


def _mlp_inputs(n):
    inputs, hidden, outputs = 4, max(5, n // 8), 2
    return (
        normal(inputs, hidden) / 2,
        normal(hidden),
        normal(hidden, outputs, seed=1) / np.sqrt(hidden),
        normal(outputs),
        normal(n, inputs),
        normal(n, outputs),
    )


def _attention_inputs(n):
    width = max(4, n // 8)
    weights = (normal(width, width, seed=i) / np.sqrt(width) for i in range(3))
    return *weights, normal(n, width, seed=3), normal(n, width, seed=4)


def _option_inputs(n):
    bounds = [(80, 120), (80, 120), (0.01, 0.1), (0.1, 0.5), (0.5, 2)]
    return tuple(uniform(low, high, n, seed=i) for i, (low, high) in enumerate(bounds))


WORKLOADS = (
    Workload(
        "sine product",
        sine_product,
        sine_product_gradient,
        lambda n: (normal(n),),
        sizes(10, 20_000, 2_000_000),
    ),
    Workload(
        "rosenbrock",
        rosenbrock,
        rosenbrock_gradient,
        lambda n: (normal(n),),
        sizes(10, 20_000, 2_000_000),
    ),
    Workload(
        "log-sum-exp",
        log_sum_exp,
        log_sum_exp_gradient,
        lambda n: (normal(n),),
        sizes(10, 20_000, 2_000_000),
    ),
    Workload(
        "least squares",
        least_squares,
        least_squares_gradient,
        lambda n: _regression_inputs(n, 5 if n < 100 else 50),
        sizes(10, 1_000, 50_000),
    ),
    Workload(
        "logistic regression",
        logistic_regression,
        logistic_regression_gradient,
        lambda n: _logistic_inputs(n, 5 if n < 100 else 50),
        sizes(10, 1_000, 50_000),
    ),
    Workload(
        "softmax regression",
        softmax_regression,
        softmax_regression_gradient,
        lambda n: (
            (normal(5, 3), normal(3), normal(n, 5), integers(3, n))
            if n < 100
            else (normal(50, 10) / 7, normal(10), normal(n, 50), integers(10, n))
        ),
        sizes(10, 1_000, 50_000),
        argnums=(0, 1),
    ),
    Workload("mlp", mlp, mlp_gradient, _mlp_inputs, sizes(8, 256, 4_096), argnums=(0, 1, 2, 3)),
    Workload(
        "gaussian log-likelihood",
        gaussian_log_likelihood,
        gaussian_log_likelihood_gradient,
        lambda n: (normal(8), 0.3 * normal(8, seed=1), normal(n, 8)),
        sizes(5, 2_500, 250_000),
        argnums=(0, 1),
    ),
    Workload(
        "tanh chain",
        tanh_chain,
        tanh_chain_gradient,
        lambda n: (normal(n),),
        sizes(10, 20_000, 2_000_000),
        by_hand_differs="the slopes are multiplied as the function runs",
    ),
    Workload(
        "polynomial fit",
        polynomial_fit,
        polynomial_fit_gradient,
        lambda n: (normal(6), uniform(-1, 1, n), normal(n)),
        sizes(10, 20_000, 2_000_000),
    ),
    Workload(
        "cosine similarity",
        cosine_similarity,
        cosine_similarity_gradient,
        lambda n: (normal(n), normal(n, seed=1)),
        sizes(10, 20_000, 2_000_000),
        argnums=(0, 1),
    ),
    Workload(
        "huber",
        huber,
        huber_gradient,
        lambda n: _regression_inputs(n, 5 if n < 100 else 50),
        sizes(10, 1_000, 50_000),
    ),
    Workload(
        "layer norm",
        layer_norm,
        layer_norm_gradient,
        lambda n: (
            (normal(n, 8), normal(8), normal(8, seed=1), normal(n, 8, seed=1))
            if n < 100
            else (normal(n, 64), normal(64), normal(64, seed=1), normal(n, 64, seed=1))
        ),
        sizes(4, 256, 32_768),
        argnums=(0, 1, 2),
    ),
    Workload(
        "attention head",
        attention_head,
        attention_head_gradient,
        _attention_inputs,
        sizes(6, 128, 2_048),
        argnums=(0, 1, 2),
    ),
    Workload(
        "black-scholes",
        black_scholes,
        black_scholes_gradient,
        _option_inputs,
        sizes(6, 5_000, 500_000),
        argnums=(0, 1, 2, 3, 4),
    ),
)
