"""A signal processed in functional style: steps made by functions that return functions, chained
with reduce, partial, map, filter, decorators and comprehensions; features go to a score."""

import functools
import itertools
import operator

import numpy as np

ARGNUMS = (0, 1, 2)


def normalised(function):
    """The result of the step, scaled to unit energy."""

    @functools.wraps(function)
    def wrapper(signal, *args, **kwargs):
        out = function(signal, *args, **kwargs)
        return out / np.sqrt(np.sum(out**2) + 1e-9)

    return wrapper


def compose(*steps):
    return functools.reduce(lambda f, g: lambda s: g(f(s)), steps)


@normalised
def filtered(signal, kernel):
    return np.array(
        [np.dot(signal[i : i + len(kernel)], kernel) for i in range(valid(signal, kernel))]
    )


def valid(signal, kernel):
    return len(signal) - len(kernel) + 1


def gain(amount, *, bias=0.0):
    def step(signal):
        return amount * signal + bias

    return step


def soft_clip(signal, knee=1.0):
    return knee * np.tanh(signal / knee)


FEATURES = {
    "energy": lambda s: np.mean(s**2),
    "roughness": lambda s: sum((b - a) ** 2 for a, b in itertools.pairwise(s)),
    "peak": lambda s: functools.reduce(max, map(abs, s)),
    "skew": lambda s: np.mean(s**3),
    "half energy": lambda s: sum(v * v for v in filter(lambda v: v > 0, s)),
}


def program(signal, kernel, amount, weights):
    process = compose(
        gain(amount, bias=0.1),
        functools.partial(soft_clip, knee=0.8),
        lambda s: filtered(s, kernel=kernel),
        gain(2.0),
    )
    out = process(signal)
    features = {name: f(out) for name, f in FEATURES.items() if name in weights}
    score = sum(map(operator.mul, features.values(), (weights[name] for name in features)))
    envelope = list(itertools.accumulate(out, lambda e, v: 0.8 * e + 0.2 * v * v))
    return score + envelope[-1]


def inputs(size=None):
    n = 20 if size is None else size
    rng = np.random.default_rng(0)
    weights = {"energy": 1.0, "roughness": 0.3, "peak": 0.5, "half energy": -0.7}
    return rng.normal(size=n), np.array([0.2, 0.5, -0.3]), 1.4, weights
