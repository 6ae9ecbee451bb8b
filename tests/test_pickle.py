"""A Gradient goes to another process: by name, or with the source of its function."""

import functools
import math
import multiprocessing
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import joblib
import numpy as np
import pytest

from srcgrad import grad, value_and_grad

X = np.array([1.0, 2.0, 3.0])
SCALE = 3.0
WEIGHTS = np.arange(3.0)


def helper(x):
    return x * SCALE


@grad
def decorated(x):
    return np.sum(helper(x) ** 2 * WEIGHTS)


class Model:
    def __init__(self, w):
        self.w = w

    @grad(argnums=1)
    def d_loss(self, x):
        return np.sum(self.w * x)

    def loss(self, x):
        return np.sum(self.w * x)


def closure(k):
    def repeated(x, n):
        return x if n == 0 else k * repeated(x, n - 1)

    return grad(lambda x: np.sum(repeated(x, 2)) * math.exp(0.0), argnums=("x",))


def gradients():
    return {
        "decorated": decorated,
        "function": grad(helper_sum),
        "lambda": value_and_grad(lambda x, y=2.0: np.sum(x * y)),
        "closure": closure(3.0),
        "method": grad(Model(2 * np.ones(3)).loss),
        "numpy": grad(np.sum),
    }


def helper_sum(x):
    return np.sum(helper(x))


def call(gradient, x):
    return gradient(x)


def assert_equal(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    else:
        np.testing.assert_array_equal(found, expected)


NAMES = ["decorated", "function", "lambda", "closure", "method", "numpy"]


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("module", [pickle, cloudpickle], ids=lambda m: m.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name, module, called):
    gradient = gradients()[name]
    expected = gradients()[name](X)
    if called:
        gradient(X)
    assert_equal(module.loads(module.dumps(gradient))(X), expected)


def test_an_importable_gradient_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert pickle.loads(pickle.dumps(Model.d_loss)) is Model.d_loss


def test_a_copy_has_the_identity_of_the_function():
    gradient = pickle.loads(pickle.dumps(closure(2.0)))
    assert repr(gradient) == "<gradient of function>"
    assert gradient.primal(X) == 24.0
    gradient(X)
    assert gradient.source == closure_source()


def closure_source():
    gradient = closure(2.0)
    gradient(X)
    return gradient.source.replace("test_pickle.py:" + line_of(gradient), copy_place())


def line_of(gradient):
    return str(gradient.primal.__code__.co_firstlineno)


def copy_place():
    return "<srcgrad copy of <lambda>>:1"


@pytest.mark.parametrize("name", ["decorated", "lambda", "closure"])
def test_spawned_processes(name):
    gradient = gradients()[name]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert_equal(pool.apply(call, (gradient, X)), gradient(X))


def test_joblib():
    several = [gradients()[name] for name in ("decorated", "lambda", "closure")]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(call)(g, X) for g in several)
    for one, gradient in zip(found, several, strict=True):
        assert_equal(one, gradient(X))


SCRIPT = """
    import multiprocessing, pickle
    import cloudpickle, joblib
    import numpy as np
    from srcgrad import grad

    K = 2.0

    def inner(x):
        return x * K

    @grad
    def decorated(x):
        return np.sum(inner(x) ** 2)

    def call(x):
        return decorated(x)

    if __name__ == "__main__":
        x = np.ones(2)
        print(decorated(x))
        for module in pickle, cloudpickle:
            print(module.loads(module.dumps(decorated))(x))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(decorated, (x,)), pool.apply(call, (x,)))
        print(*joblib.Parallel(n_jobs=2)(joblib.delayed(f)(x) for f in (decorated, call)))
"""


def test_functions_of_the_main_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.split("]") == ["[8. 8."] + ["\n[8. 8."] * 3 + [" [8. 8.", "\n[8. 8."] + [
        " [8. 8.", "\n"
    ]  # fmt: skip


def doubled(f):
    @functools.wraps(f)
    def wrapper(x):
        return 2.0 * f(x)

    return wrapper


def test_a_function_that_has_the_name_of_another():
    gradient = grad(doubled(lambda x: x**3))
    assert pickle.loads(pickle.dumps(gradient))(2.0) == gradient(2.0) == 24.0


def countdown(x):
    return x if x < 1.0 else countdown(x / 2) * x


def test_a_function_that_calls_itself(monkeypatch):
    monkeypatch.setattr(countdown, "__qualname__", "hidden")
    gradient = grad(lambda x: countdown(x) * 2.0)
    copy = pickle.loads(pickle.dumps(gradient))
    assert copy(5.3) == gradient(5.3)
