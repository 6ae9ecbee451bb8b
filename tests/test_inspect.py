"""Whatever can be differentiated can be looked at: methods, objects, partials, recursion."""

import functools
import html
import importlib
import re
from dataclasses import dataclass

import numpy as np
import pytest

from srcgrad import checkpoint_loop, grad, value_and_grad

X = np.arange(3.0) + 1


@dataclass
class Params:
    w: np.ndarray
    b: float


class Model:
    def __init__(self):
        self.w = np.ones(3)

    def loss(self, x):
        h = self.w * x
        return np.sum(h**2)

    def __call__(self, x):
        return self.loss(x)


def linear(params, x):
    return np.sum((params["w"] * x + params["b"][0]) ** 2)


def with_aux(x):
    y = np.sin(x)
    return np.sum(y), {"y": y}


def variadic(*args, **kwargs):
    return np.sum(args[0] * kwargs["a"])


def recursive(x, n):
    return x if n == 0 else np.sin(recursive(x, n - 1))


def checkpointed(x):
    return np.sum(checkpoint_loop(lambda i, u: u + 0.01 * np.sin(u), x, 20))


def until_small(x):
    return x * x if x < 0.5 else np.sin(until_small(x / 2))


def with_inner(x):
    def inner(y):
        z = y * 2
        return z * z

    total = 0.0
    for i in range(3):
        total = total + inner(x[i])
    return total


def given():
    namespace = {}
    exec("def g(x):\n    return x * x\n", namespace)
    return grad(namespace["g"], source="def g(x):\n    return x * x\n")


KINDS = {
    "a lambda": (grad(lambda x: np.sum(x * x)), (X,), {}),
    "a dict": (grad(linear), ({"w": X, "b": (2.0,)}, X), {}),
    "a value and two": (value_and_grad(linear, argnums=(0, 1)), ({"w": X, "b": (2.0,)}, X), {}),
    "aux": (grad(with_aux, has_aux=True), (X,), {}),
    "a method": (grad(Model().loss), (X,), {}),
    "an object": (grad(Model()), (X,), {}),
    "a partial": (grad(functools.partial(linear, x=X)), ({"w": X, "b": (2.0,)},), {}),
    "a function of NumPy's": (grad(np.sum), (X,), {}),
    "variadic": (grad(variadic), (X,), {"a": 2.0}),
    "a dataclass": (grad(lambda p: np.sum(p.w * p.b)), (Params(X, 2.0),), {}),
    "recursion": (grad(recursive), (0.3, 3), {}),
    "a gradient": (grad(lambda t: grad(lambda u: u**3)(t)), (2.0,), {}),
    "given source": (given(), (2.0,), {}),
    "complex numbers": (grad(lambda z: np.sum(np.abs(z) ** 2)), (X + 1j,), {}),
    "checked for NaN": (grad(lambda x: np.sum(np.log(x)), nan_check=True), (X,), {}),
    "checkpoints": (grad(checkpointed), (X,), {}),
    "recursion that the data end": (grad(until_small), (3.0,), {}),
    "a nested function": (grad(with_inner), (X,), {}),
}


# Compiled as functions of their own, or no Python: their primitives aren't told of.
APART = {"recursion that the data end", "a function of NumPy's", "a gradient"}


@pytest.mark.parametrize("kind", KINDS)
def test_kind(kind):
    gradient, args, kwargs = KINDS[kind]
    explanation = gradient.explain(*args, **kwargs)
    assert str(explanation).startswith(("Gradient of ", "Value and gradient of "))
    assert explanation._repr_html_().startswith("<div")
    if kind not in APART:
        assert any(p.rule for step in explanation.steps for p in step.primitives)
    assert any(step.reverse for step in explanation.steps) or kind == "a function of NumPy's"
    trace = gradient.trace(*args, **kwargs)
    assert trace.rows
    assert trace.rows[0].adjoints
    assert str(gradient.graph(*args, **kwargs)).startswith("digraph ")
    page = gradient.html(*args, **kwargs)
    assert len(set(re.findall(r'role="tabpanel" id="([\w-]+)"', page))) == 5
    gradient(*args, **kwargs)
    assert html.escape(page[:15]) in gradient._repr_html_()


@pytest.mark.parametrize(
    "name", ["complex_filter_response", "small_cnn", "gru", "lorenz_dataclass"]
)
def test_programs(name):
    module = importlib.import_module(f"tests.programs.{name}")
    gradient = grad(module.program, argnums=module.ARGNUMS)
    explanation = gradient.explain(*module.inputs())
    places = [step.place for step in explanation.steps]
    assert len(places) == len(set(places))
    assert sum(len(step.reverse) for step in explanation.steps) > 5
