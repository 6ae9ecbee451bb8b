"""Normal forms: that they are the values they stand for, and the adjoints that cancel."""

import math
import random
import textwrap
import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad import ir
from srcgrad.optimize.normal import NormalForms
from srcgrad.optimize.simplify import Simplifier
from tests.test_simplify import body

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 2.0, (4, 3))
ARGUMENTS = X, RNG.uniform(0.5, 2.0, 3), RNG.uniform(0.5, 2.0, (4, 1)), 0.75


class Expressions:
    """Writes arithmetic on an array `x`, a row `y`, a column `z` and a number `c`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.names = {"matrix": ["x"], "row": ["y"], "column": ["z"], "number": ["c", "2.0", "0.3"]}

    def expression(self, shape, depth):
        r, again = self.random, lambda s: self.expression(s, depth - 1)
        if depth == 0:
            return r.choice(self.names[shape])
        smaller = {
            "matrix": ["matrix", "row", "column", "number"],
            "row": ["row", "number"],
            "column": ["column", "number"],
            "number": ["number"],
        }[shape]
        a, b = again(shape), again(r.choice(smaller))
        sums = {
            "matrix": [f"np.transpose(np.transpose({a}))", f"({a}).copy()"],
            "row": [
                "np.sum({m}, 0)", "({m})[:, None].sum(axis=0)[0]", "np.mean({m}, axis=0)",
                "({m}).sum(axis=0) / len({m})",
            ],
            "column": [
                "np.sum({m}, axis=1, keepdims=True)", "({m}).sum(axis=-1)[:, None]",
                "np.mean({m}, axis=1)[..., None]", "({m})[None].mean(axis=(0, 2))[..., None]",
                "np.sum({m}, axis=1, keepdims=True)[:, 0][:, None]",
                "np.expand_dims(np.sum({m}, axis=(1,)), 1)",
                "np.broadcast_to({m}.sum(axis=1)[:, np.newaxis] / {m}.size, (4, 1))",
            ],
            "number": ["np.sum({m})", "np.mean({v})", "({v} @ {v})", "np.sum({m}, axis=(0, 1))"],
        }[shape]  # fmt: skip
        reduced = r.choice(sums)
        if "{m}" in reduced:
            reduced = reduced.replace("{m}", f"({again('matrix')})")
        if "{v}" in reduced:
            reduced = reduced.replace("{v}", f"({again('row')})")
        choices = [
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"({b} - {a})",
            f"({b} / (1 + {a}))", f"({a}) ** 2", f"(-{a})", reduced, reduced, f"np.square({a})",
            f"({a} / (2.0 + {b}) / (1.0 - 1.0 / (2.0 + {b})))", f"np.exp(0.1 * {a})",
        ]  # fmt: skip
        return r.choice(choices)

    def source(self):
        for i in range(self.random.randint(2, 6)):
            shape = self.random.choice(list(self.names))
            name = f"v{i}"
            self.lines.append(f"{name} = {self.expression(shape, self.random.randint(1, 3))}")
            self.names[shape].append(name)
            if shape != "number" and self.random.random() < 0.2:
                self.lines.append(f"{name} = {name} + 0.0")
                self.lines.append(f"{name} *= {self.random.choice(self.names['number'])}")
        body = "\n".join(self.lines)
        result = " + ".join(f"np.sum({self.expression(s, 2)})" for s in self.names)
        return f"def program(x, y, z, c):\n{textwrap.indent(body, '    ')}\n    return {result}\n"


class Values:
    """The values of a function's variables, found by running it, and those of forms."""

    def __init__(self, function, arguments):
        self.found = dict(zip(function.params, arguments, strict=True))
        self.run(function.block)
        self.sizes = {}
        for v, value in self.found.items():
            if getattr(v.kind, "shape", None):
                self.sizes.update(zip(v.kind.shape, np.shape(value), strict=True))
            elif getattr(v.kind, "size", None) is not None:
                self.sizes.setdefault(v.kind.size, value)

    def run(self, block):
        for s in block.statements:
            if isinstance(s, ir.If):
                taken = s.then if self.operand(s.test) else s.orelse
                self.run(taken)
                self.found.update(zip(s.targets, map(self.operand, taken.results), strict=True))
                continue
            args = [self.operand(a) for a in s.args]
            kwargs = {k: self.operand(a) for k, a in s.kwargs}
            self.found[s.target] = s.function(*args, **kwargs)

    def operand(self, operand):
        if isinstance(operand, ir.Const):
            return operand.value
        if isinstance(operand, ir.Var):
            return self.found[operand]
        items = [self.operand(i) for i in operand.items]
        return slice(*items) if operand.type is slice else operand.type(items)

    def form(self, forms, polynomial):
        return sum(float(c) * self.product(forms, m) for m, c in polynomial.items()) + 0.0

    def product(self, forms, monomial):
        return math.prod((self.atom(forms, a) ** float(e) for a, e in monomial), start=1.0)

    def atom(self, forms, number):
        match forms.atoms[number]:
            case ("constant", value):
                result = value
            case ("size", dimension):
                result = self.sizes[dimension]
            case ("divisor", items):
                result = self.form(forms, dict(items))
            case ("sum", axes, inside):
                result = self.product(forms, inside)
                result = np.sum(result, axis=tuple(-k for k in axes), keepdims=True)
            case ("moved", what, there, natural):
                value = self.atom(forms, what)
                value = np.reshape(value, [n for n in np.shape(value) if n != 1])
                shape = [1] * max(there, default=0)
                for k, n in zip(there, value.shape, strict=True):
                    shape[-k] = n
                order = np.argsort([-k for k in there])
                assert len(natural) == len(there)
                result = np.transpose(value, order).reshape(shape)
            case variable:
                result = self.found[variable]
        result = np.asarray(result, float)
        while result.shape and result.shape[0] == 1:
            result = result[0]
        claimed = forms.shapes[number]
        assert result.shape == tuple(self.sizes.get(n, n) for n in claimed)
        return result


def values_looked_into(f, arguments):
    """How many values of the gradient of `f` have a form; each is compared with its value."""
    count, wrong = 0, []

    def watch(stage, function):
        nonlocal count
        if stage != "reversed":
            return
        try:
            with np.errstate(all="ignore"):
                values = Values(function, [np.copy(a) if np.ndim(a) else a for a in arguments])
                simplifier = Simplifier(function)
                simplifier._times()
                forms = NormalForms(simplifier)
                count = sum(agrees(v, values, forms) for v in list(values.found))
        except AssertionError as error:
            wrong.append(error)

    token = ir.watcher.set(watch)
    try:
        srcgrad.grad(f, argnums=(0, 1, 2, 3))(*arguments)
    finally:
        ir.watcher.reset(token)
    if wrong:
        raise wrong[0]
    return count


def agrees(target, values, forms):
    """Whether a value has been looked into; it is compared with its form."""
    form = forms.of(target)
    if form is None:
        return False
    terms = [values.product(forms, m) * float(c) for m, c in form.items()]
    value = values.found[target]
    scale = max([1.0, *(np.max(np.abs(t)) for t in terms), np.max(np.abs(value))])
    if math.isfinite(scale):
        found = np.broadcast_to(values.form(forms, form), np.shape(value))
        if not np.isfinite(found).all():
            return False  # it divides by zero
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-9 * scale)
    return not any(target is forms.atoms[a] for m in form for a, _ in m)


def compiled(source, seed):
    import linecache

    filename = f"<normal form {seed}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"np": np}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["program"]


@pytest.mark.parametrize("seed", range(40))
def test_a_form_is_the_value_it_stands_for(seed):
    """For every value of the gradients of random expressions."""
    source = Expressions(seed).source()
    f = compiled(source, seed)
    with np.errstate(all="ignore"):
        if not np.isfinite(f(*ARGUMENTS)):
            pytest.skip("not a number")
        warnings.simplefilter("ignore")
        assert values_looked_into(f, ARGUMENTS) > 5, source


def softmax_loss(logits):
    def f(x, t):
        return np.sum(t * logits(x))

    return f


def shifted(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def with_method(x):
    e = np.exp(x - x.max(axis=1)[:, None])
    return e / e.sum(1)[:, np.newaxis]


def over_all(x):
    m = x.max()
    return x - (m + np.log(np.sum(np.exp(x - m))))


def by_columns(x):
    e = np.exp(x - np.amax(x, axis=0))
    return np.log(e) - np.log(e.sum(axis=0))


def means(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / np.mean(e, axis=1, keepdims=True)


def by_reciprocal(x):
    e = np.exp(x - np.expand_dims(np.max(x, 1), 1))
    return e * (1.0 / np.sum(e, axis=1))[:, None]


@pytest.mark.parametrize("f", [shifted, with_method, over_all, by_columns, means, by_reciprocal])
def test_the_adjoint_of_a_shift_vanishes(f):
    t = RNG.normal(size=X.shape)
    loss = softmax_loss(f)
    lines = body(loss, X, t)
    assert not any("==" in line or "mask" in line for line in lines), lines
    expected = np.empty_like(X)
    for i in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[i] = 1e-6
        expected[i] = (loss(X + step, t) - loss(X - step, t)) / 2e-6
    found = srcgrad.grad(loss)(X, t)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def kept_and_indexed(x):
    m = np.max(x, axis=1, keepdims=True)
    return m[:, 0] + np.log(np.sum(np.exp(x - m), axis=1))


def kept_and_squeezed(x):
    m = np.max(x, axis=-1, keepdims=True)
    return np.squeeze(m, -1) + np.log(np.sum(np.exp(x - m), axis=-1))


def kept_and_indexed_from_the_end(x):
    m = np.max(x, axis=-1, keepdims=True)
    return m[..., 0] + np.log(np.sum(np.exp(x - m), axis=-1))


def by_columns_and_indexed(x):
    m = np.max(x, axis=0, keepdims=True)
    return m[-1] + np.log(np.sum(np.exp(x - m), axis=0))


@pytest.mark.parametrize(
    "log_sum_exp",
    [kept_and_indexed, kept_and_squeezed, kept_and_indexed_from_the_end, by_columns_and_indexed],
)
def test_the_adjoint_of_the_shift_of_a_sum_vanishes(log_sum_exp):
    def f(x):
        return np.sum(log_sum_exp(x))

    assert not any("==" in line or "mask" in line for line in body(f, X))
    axis = 0 if log_sum_exp is by_columns_and_indexed else 1
    expected = np.exp(X) / np.exp(X).sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(srcgrad.grad(f)(X), expected, rtol=1e-13)


def test_the_adjoint_of_a_shift_vanishes_in_a_loop():
    def f(x):
        total = 0.0
        for i in range(len(x)):
            row = x[i] * x[i]
            m = np.max(row)
            total += m + np.log(np.sum(np.exp(row - m)))
        return total

    assert not any("mask" in line for line in body(f, X))
    e = np.exp(X * X)
    np.testing.assert_allclose(srcgrad.grad(f)(X), 2 * X * e / e.sum(axis=1, keepdims=True))


def test_a_maximum_that_matters_keeps_its_adjoint():
    def f(x):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return np.sum(e)

    assert any("==" in line for line in body(f, X))


def test_memory_written_between_is_not_the_same():
    """The total is that of the numbers before they are changed: nothing cancels."""

    def f(x):
        e = np.exp(x - np.max(x))
        total = np.sum(e)
        e *= 2.0 * e
        return np.sum(e / total * x)

    found = srcgrad.grad(f)(X)
    step = RNG.normal(size=X.shape)
    expected = (f(X + 1e-6 * step) - f(X - 1e-6 * step)) / 2e-6
    assert np.sum(found * step) == pytest.approx(expected, rel=1e-6)


def test_rounding_errors_that_are_used_are_kept():
    """What is zero but for rounding in the forward sweep is what the user made it for."""

    def f(w, x):
        high = (x * 134217729.0) - (x * 134217729.0 - x)
        return np.sum(w * (x - high))

    x = np.array([0.1, 0.7])
    high = (x * 134217729.0) - (x * 134217729.0 - x)
    assert np.any(x != high)
    np.testing.assert_array_equal(srcgrad.grad(f)(np.ones(2), x), x - high)


def test_float32_and_numbers():
    def f(x):
        m = np.max(x)
        return m + np.log(np.sum(np.exp(x - m)))

    x = X[0].astype(np.float32)
    found = srcgrad.grad(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.exp(x) / np.exp(x).sum(), rtol=1e-6)
    np.testing.assert_array_equal(srcgrad.grad(f)(np.array([1e300, 0.0])), [1.0, 0.0])
    np.testing.assert_array_equal(srcgrad.grad(f)(np.array([3.0])), [1.0])


def test_what_overflows_is_not_a_number_still():
    def f(x):
        return np.log(np.sum(np.exp(x - np.max(x))))

    with np.errstate(all="ignore"):
        assert np.isnan(srcgrad.grad(f)(np.array([np.inf, 0.0]))).any()
