"""Arrays in other memory layouts: which reshapes are views, and what is written through them."""

import linecache
import random

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, hvp, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp
from srcgrad.testing import check_grads
from tests.small_programs import check, differences

NUMBERS = np.arange(6.0).reshape(2, 3) / 3 - 0.7
ALONG = np.arange(1.0, 7.0).reshape(2, 3)
ALONG_SQUARE = np.cos(np.arange(9.0)).reshape(3, 3)
WEIGHTS = np.random.default_rng(0).normal(size=(3, 3))


def flattened(x):
    z = x * 2
    z.ravel()[0] = 5.0
    return z


def transposed_and_flattened(x):
    z = x * 2
    y = z.T.reshape(-1)
    y[1] *= 2
    y[0] = x[1, 1]
    return z


def an_argument(x):
    y = x.T.reshape(-1)
    y[1] *= x[0, 0]
    return x


def reshaped_again(x):
    z = x * 2
    y = z.reshape(3, 2)
    y[0] += x[0, 0] * x[1, 1]
    y.T.ravel()[2] = 7.0
    return y * z.reshape(3, 2)


def a_view_returned(x):
    z = np.exp(x)
    u = z.T.reshape(-1)
    u[::2] *= u[1]
    return z.T


def reversed_rows(x):
    z = x[:, ::-1] * 1.5
    z.ravel()[1] = x[0, 0] ** 2
    z.reshape(-1, order="F")[0] *= 2
    return z + x


def laid_out_by_columns(x):
    z = np.asarray(x, order="F")
    z.reshape(-1, order="F")[0] = 9.0
    return z * x


def computed_from_an_argument(x):
    x -= x * 0.5
    z = x + 1.0
    z.reshape(-1)[:2] *= x[0, 0]
    return z * z


def laid_out_by_rows(x):
    z = np.ascontiguousarray(x)
    z.ravel()[0] = 9.0 * x[1, 0]
    return z * x


def copies(x):
    made = [np.array(x), x.copy(), np.copy(x), np.array(x, order="C")]
    for z in made:
        z.ravel()[1] = x[0, 0] ** 2
        z.T.reshape(-1)[2] = 3.0
    return made[0] * made[1] + made[2] * made[3]


def zeros_alike(x):
    z = np.zeros_like(x)
    z.ravel()[0] = x[0, 0]
    z.T.reshape(-1)[3] = x[1, 1] ** 2
    y = np.empty_like(x)
    y[...] = x
    y.ravel()[2] = x[0, 1] * 3
    return z + y


def chosen(x):
    z = np.where(x > 0, x, 2 * x)
    z.T.ravel()[0] = 4.0
    z.T.reshape(-1)[2] = x[0, 0] ** 2
    return z


PROGRAMS = [
    flattened, transposed_and_flattened, an_argument, reshaped_again, a_view_returned,
    reversed_rows, computed_from_an_argument, laid_out_by_columns, laid_out_by_rows, copies,
    zeros_alike, chosen,
]  # fmt: skip


def like(x, values):
    """The values, laid out in memory as x is."""
    twin = np.lib.stride_tricks.as_strided(np.zeros(200)[100:], x.shape, x.strides)
    twin[...] = values
    return twin


def layouts():
    apart = np.zeros((4, 6))
    apart[::2, ::2] = NUMBERS
    return {
        "rows": NUMBERS,
        "columns": np.asfortranarray(NUMBERS),
        "apart": apart[::2, ::2],
        "reversed": NUMBERS[:, ::-1].copy()[:, ::-1],
    }


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_through_reshapes(f, layout):
    x, h = layouts()[layout], 1e-6

    def difference(g):
        above, below = (g(like(x, x + sign * h * ALONG)) for sign in (1, -1))
        return (above - below) / (2 * h)

    expected = difference(f)
    weight = np.cos(np.arange(expected.size)).reshape(expected.shape)
    for along in (ALONG, np.asfortranarray(ALONG)):
        out, tangent = jvp(f, (x,), (along,))
        np.testing.assert_allclose(out, f(like(x, x)))
        np.testing.assert_allclose(tangent, expected, atol=1e-7)
        np.testing.assert_allclose(linearize(f, x)[1](along), expected, atol=1e-7)
    for order in "CF":
        (found,) = vjp(f, x)[1](np.array(weight, order=order))
        assert np.sum(found * ALONG) == pytest.approx(np.sum(weight * expected), abs=1e-7)
    for jacobian in (jacfwd(f), jacrev(f)):
        np.testing.assert_allclose(np.tensordot(jacobian(x), ALONG, 2), expected, atol=1e-7)

    def number(x):
        return np.sum(weight * f(x) ** 2)

    assert np.sum(grad(number)(x) * ALONG) == pytest.approx(difference(number), rel=1e-6)
    curved = hvp(number)(x, ALONG)
    np.testing.assert_allclose(curved, difference(grad(number)), rtol=1e-4, atol=1e-5)


def test_a_linear_function_keeps_whole_numbers_too():
    x, places = np.array([1.0, 2.0]), np.array([0, 1, 1])
    _, linear = linearize(lambda x, places: x[places] ** 2, x, places)
    places[:] = 0
    np.testing.assert_allclose(linear(np.ones(2), np.zeros(3)), [2.0, 4.0, 4.0])


def copy_of_a_transpose(x):
    y = np.array(np.outer(x, x).T)
    z = y.ravel()
    z[1] = 0.0
    return (y * y * WEIGHTS).sum()


def copy_by_function(x):
    y = np.copy(np.outer(x, x).T)
    y.reshape(9)[1:4] *= x
    return (y * y * WEIGHTS).sum()


def zeros_like_a_transpose(x):
    y = np.zeros_like(np.outer(x, x).T)
    z = y.ravel()
    z[:] = np.arange(9) * x[0]
    return (y * y * WEIGHTS).sum() + z.sum()


def copy_in_columns(x):
    y = np.outer(x, x).copy(order="F")
    z = y.ravel()
    z[1] = 0.0
    w = y.T.ravel()
    w[2] = 5.0 * x[0]
    return (y * y * WEIGHTS).sum() + z.sum()


def in_columns_or_copied(x):
    y = np.outer(x, x)
    z = np.asfortranarray(y)
    w = z.reshape(-1, order="F")
    w[1] = x[1] * 3
    return (y * WEIGHTS).sum() + (z * z * WEIGHTS).sum()


def sum_in_place_of_an_operand(x):
    y = np.einsum("i,j,k->ijk", x, x, x)
    y = -y.transpose(2, 0, 1)
    z = y + y.transpose(2, 0, 1)
    w = z.reshape(-1)
    w[1:] = w[:-1].copy()
    return (z * WEIGHTS).sum()


def backwards(x, order):
    y = np.sin(np.outer(x, x).T)
    z = y[::-1]
    w = z.ravel(order)
    w[0] += w[-1]
    return (y * WEIGHTS).sum() + (w**2).sum() + w[0]


OF_NUMBERS = (
    copy_of_a_transpose, copy_by_function, zeros_like_a_transpose, copy_in_columns,
    in_columns_or_copied, sum_in_place_of_an_operand,
)  # fmt: skip


@pytest.mark.parametrize("function", OF_NUMBERS, ids=lambda f: f.__name__)
def test_what_is_written_is_what_it_writes(function):
    check(function)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_what_comes_first(order):
    x = np.array([0.3, 0.8, 0.55])
    found = grad(backwards)(x, order)
    np.testing.assert_allclose(found, differences(lambda x: backwards(x, order), x), rtol=1e-7)


def test_where_nobody_can_tell_the_short_call_is_written():
    def f(x):
        y = np.zeros_like(x)
        y[0] = x[0] * x[1]
        return (np.array(y) ** 2).sum()

    gradient = grad(f)
    gradient(np.ones((2, 2)))
    assert "order" not in gradient.source
    assert "np.zeros(x.shape)" in gradient.source


class Generator:
    """Writes functions of three numbers that make arrays from arrays and write through views."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arrays = ["np.outer(x, x)"]
        self.lines = []
        self.sums = []

    def new(self, expression):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def array(self):
        r = self.random
        a, b = r.choice(self.arrays), r.choice(self.arrays)
        order = r.choice("CFKA")
        return r.choice(
            [
                f"{a}.T", f"{a} * {b}", f"{a} + {b}.T", f"np.exp({a} * 0.3)", f"-{a}.T",
                f"np.zeros_like({a}.T) + x", f"np.full_like({a}.T, x[0])", f"np.array({a}.T)",
                f"np.copy({a}.T)", f"{a}.copy('{order}')", f"np.array({a}, order='{order}')",
                f"np.where({a} > 0.2, {a}.T, {b})", f"np.asfortranarray({a})", f"{a} @ {b}",
                f"np.ascontiguousarray({a}.T)", f"{a}.astype(float, order='{order}')",
                f"{a}[::-1]", f"{a}[:, ::-1] * 2.0", f"np.hypot(1 + {a} ** 2, {b}.T)",
                f"{a}.T ** 2", f"{a}.reshape(-1).reshape(3, 3)", f"np.swapaxes({a}, 0, 1).copy()",
                f"np.zeros((3, 3), order='F') + {a}", "np.stack([x, 2 * x, x + 1], axis=1)",
            ]
        )  # fmt: skip

    def write(self):
        r = self.random
        flat = r.choice(
            ["ravel()", "reshape(-1)", "flatten()", "ravel('F')", "ravel('K')", "ravel('A')",
             "T.ravel()", "T.reshape(-1)", "reshape(-1, order='F')", "reshape(-1, order='A')"]
        )  # fmt: skip
        w = self.new(f"{r.choice(self.arrays)}.{flat}")
        self.lines.append(
            r.choice(
                [f"{w}[1] = 3 * x[1]", f"{w}[::2] *= x[0]", f"{w}[:] = {w} * {w}", f"{w} += 1.0",
                 f"{w}[0] += {w}[-1]", f"{w}[1:] = {w}[:-1].copy()"]
            )
        )  # fmt: skip
        self.sums.append(f"np.sum({w} ** 2)")

    def function(self):
        self.arrays = [self.new("np.outer(x, x)")]
        for _ in range(self.random.randint(4, 9)):
            self.arrays.append(self.new(self.array()))
            if self.random.random() < 0.5:
                self.write()
        self.sums += [f"np.sum({v} * W * {i + 1})" for i, v in enumerate(self.arrays)]
        return "\n    ".join(["def f(x):", *self.lines, f"return {' + '.join(self.sums)}"])


@pytest.mark.parametrize("start", range(0, 40, 8))
def test_random_layouts(start):
    x = np.array([0.3, 0.8, 0.55])
    for seed in range(start, start + 8):
        source = Generator(seed).function()
        f = defined(source, f"<layouts {seed}>")
        expected = differences(f, x)
        for derivative in (grad(f), lambda x, f=f: value_and_grad(f)(x)[1]):
            found = derivative(x.copy())
            np.testing.assert_allclose(
                found, expected, rtol=1e-5, atol=1e-6 * abs(expected).max(), err_msg=source
            )
        try:
            _, moved = jvp(f, (x.copy(),), (np.ones(3),))
        except ValueError as refused:
            assert "shares memory" in str(refused)
        else:
            np.testing.assert_allclose(moved, expected.sum(), rtol=1e-5, err_msg=source)


class Arguments(Generator):
    """Writes functions of a square array, which they may write into, laid out in any way."""

    def function(self):
        r = self.random
        self.arrays = ["p"]
        writes = (
            "p *= 0.9", "p[0] = p[1] * 0.5", "p += p.T.copy()", "p[...] = np.sin(p)",
            "p.T[0] += 0.1", "p.ravel()[0] *= 0.5", "np.multiply(p, 0.7, out=p)", "pass",
        )  # fmt: skip
        self.lines += [r.choice(writes), "x = p[0] * 1.0"]
        if r.random() < 0.5:
            self.arrays.append(self.new(r.choice(["p.T", "p[::-1]"])))
        for _ in range(r.randint(2, 6)):
            self.arrays.append(self.new(self.array()))
            if r.random() < 0.6:
                self.write()
            if r.random() < 0.3:
                a, b = r.choice(self.arrays), r.choice(self.arrays)
                self.lines.append(
                    r.choice(
                        [f"{a} *= 0.9", f"{a}[0] += x", f"{a} += {b}", f"{a}[...] = {b}.T",
                         f"for _ in range(2): {a}[1] *= x"]
                    )
                )  # fmt: skip
        self.sums += [f"np.sum({v} * W * {i + 1})" for i, v in enumerate(self.arrays)]
        return "\n    ".join(["def f(p):", *self.lines, f"return {' + '.join(self.sums)}"])


SQUARES = {
    "rows": np.copy,
    "columns": np.asfortranarray,
    "every other": lambda v: np.repeat(v, 2, 1)[:, ::2],
    "every other of columns": lambda v: np.repeat(v.T, 2, 1)[:, ::2].T,
    "reversed": lambda v: v[:, ::-1].copy()[:, ::-1],
    "reversed columns": lambda v: np.asfortranarray(v[::-1])[::-1],
}


@pytest.mark.parametrize("start", range(0, 16, 4))
def test_random_arguments(start):
    """One gradient of arrays laid out in all ways; of each, what differences tell."""
    e = np.eye(9).reshape(9, 3, 3)
    for seed in range(start, start + 4):
        source = Arguments(seed).function()
        f = defined(source, f"<arguments {seed}>")
        values = np.random.default_rng(seed).normal(size=(3, 3)) * 0.6
        gradient = value_and_grad(f)
        for lay in SQUARES.values():
            moved = [f(lay(values + 1e-6 * d)) - f(lay(values - 1e-6 * d)) for d in e]
            expected = np.reshape(moved, (3, 3)) / 2e-6
            atol = 1e-5 * max(1.0, np.abs(expected).max())
            value, found = gradient(lay(values))
            assert value == pytest.approx(f(lay(values)), rel=1e-9), source
            np.testing.assert_allclose(found, expected, 1e-4, atol, err_msg=source)
            _, tangent = jvp(f, (lay(values),), (ALONG_SQUARE,))
            assert tangent == pytest.approx(np.sum(expected * ALONG_SQUARE), 1e-4, 9 * atol), source


def test_a_copy_that_may_be_a_view_is_asked_for_it_where_it_is_not_written_any_more():
    def f(p):
        p += p.T.copy()
        q = np.copy(p.T)
        r = np.asfortranarray(q)
        r *= 0.9
        return np.sum(q * WEIGHTS)

    along, lay = ALONG_SQUARE, SQUARES["reversed columns"]
    ends = [f(lay(along + h * along)) for h in (1e-6, -1e-6)]
    expected = (ends[0] - ends[1]) / 2e-6
    assert np.sum(grad(f)(lay(along)) * along) == pytest.approx(expected, rel=1e-6)


class Views(Generator):
    """Writes functions whose arrays are views of each other, or copies, alone and in lists."""

    views = (
        "{a}.T", "np.asarray({a})", "np.array({a}, copy=None)", "{a}.view()", "np.ravel({a})",
        "{a}.reshape(-1)", "np.split({a}, [1])[1]", "np.array_split({a}, 2)[0]", "np.flip({a}, 0)",
        "np.rot90({a})", "np.require({a})", "np.moveaxis({a}, 0, -1)", "{a}[..., None]", "{a}[1:]",
        "np.broadcast_arrays({a}, np.ones(1))[0]", "np.einsum('i...->...i', {a})", "list({a})[0]",
        "np.array([row for row in {a}])", "np.apply_along_axis(lambda row: row, 0, {a})",
        "{a}.flatten()", "np.tile({a}, 1)", "np.stack([{a}])", "np.concatenate([{a}])",
        "np.nan_to_num({a}, copy=False)", "np.atleast_3d({a})", "{a}.astype(float, copy=False)",
    )  # fmt: skip
    writes = (
        "{a} *= 2.0", "{a}[...] = np.sin({a})", "{a}[0] = 3.0", "np.multiply({a}, s, out={a})",
        "np.copyto({a}, s)", "{a} **= 2", "{a}[{a} > 0.3] = s", "np.put({a}, 0, s)",
        "{a}.sort(axis=0)", "{a}[:1] += {a}[-1:]", "{a}.fill(s)", "np.add.at({a}, 0, s)",
        "for _ in range(2):\n        {a}[-1] *= s", "if s > 0:\n        {a}.flat[0] = s",
    )  # fmt: skip

    def function(self):
        self.arrays = [self.new(self.random.choice(["x.copy()", "np.sin(x)", "np.exp(x.T)"]))]
        for _ in range(self.random.randint(3, 6)):
            a = self.random.choice(self.arrays)
            if self.random.random() < 0.55:
                self.arrays.append(self.new(self.random.choice(self.views).format(a=a)))
            else:
                self.lines.append(self.random.choice(self.writes).format(a=a))
        parts = ", ".join(f"np.cos({v}).ravel()" for v in self.arrays)
        return "\n    ".join(["def f(x, s):", *self.lines, f"return np.concatenate([{parts}])"])


@pytest.mark.parametrize("start", range(0, 24, 8))
def test_random_views(start):
    s, step = 0.7, 1e-6
    for seed in range(start, start + 8):
        x = np.random.default_rng(seed).normal(size=[(3, 2), (2, 1), (1, 3), (3, 3)][seed % 4])
        source = Views(seed).function()
        f = defined(source, f"<views {seed}>")
        try:
            moved = [f(x + h, s) - f(x - h, s) for h in step * np.eye(x.size).reshape(-1, *x.shape)]
        except (ValueError, IndexError, TypeError):
            continue  # it doesn't go with this shape
        expected = np.stack(moved, -1).reshape(-1, *x.shape) / (2 * step)
        for jacobian in (jacfwd(f), jacrev(f)):
            try:
                found = jacobian(x.copy(), s)
            except UnsupportedError as refused:
                assert "broadcast" in str(refused) or "shares memory" in str(refused), source
            else:
                np.testing.assert_allclose(found, expected, 1e-5, 1e-5, err_msg=source)


def defined(source, filename):
    """A function from its text, with lines that can be shown."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"np": np, "W": WEIGHTS}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["f"]


def convolution(images):
    count, channels, height, width = images.shape
    rows, columns = (height - 3) // 2 + 1, (width - 3) // 2 + 1
    s = images.strides
    windows = np.lib.stride_tricks.as_strided(
        images,
        shape=(count, rows, columns, channels, 3, 3),
        strides=(s[0], 2 * s[2], 2 * s[3], s[1], *s[2:]),
    )
    kernels = np.arange(windows[0, 0, 0].size).reshape(channels, 3, 3) / 10
    return np.sum(np.tensordot(windows, kernels, 3) ** 2)


def by_slices(images):
    rows, columns = (n - (n + 1) % 2 - 2 for n in images.shape[2:])
    kernels = np.arange(9 * images.shape[1]).reshape(images.shape[1], 3, 3) / 10
    total = 0
    for i in range(3):
        for j in range(3):
            part = images[:, :, i : i + rows : 2, j : j + columns : 2]
            total = total + np.tensordot(part, kernels[:, i, j], (1, 0))
    return np.sum(total**2)


def test_strides_chosen_at_will_are_differentiated():
    images = np.random.default_rng(0).normal(size=(2, 3, 8, 6))
    gradient = grad(convolution)
    np.testing.assert_allclose(gradient(images), grad(by_slices)(images))
    assert "sum_of_strided(" in gradient.source
    np.testing.assert_allclose(gradient(images.astype(np.float32)), gradient(images), rtol=1e-4)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 1, 2), (2, 0, 3, 1)])
def test_strides_are_differentiated_of_arrays_that_lie_otherwise(order):
    images = np.random.default_rng(0).normal(size=(7, 9, 8, 6)).transpose(order)
    for part in (images, images[::2, 1:], images[1:, :, :, ::2]):
        np.testing.assert_allclose(grad(convolution)(part), grad(by_slices)(part))
        check_grads(convolution, (part,))


def toeplitz(x, n):
    """The Toeplitz matrix with the last n elements for its first row, backwards."""
    x = x[::-1]
    rows = np.lib.stride_tricks.as_strided(x, (x.size - n + 1, n), (x.strides[0], x.strides[0]))
    return np.sum(np.sin(rows) * np.arange(rows.size).reshape(rows.shape))


def by_windows(x, n):
    rows = np.lib.stride_tricks.sliding_window_view(x[::-1], n)
    return np.sum(np.sin(rows) * np.arange(rows.size).reshape(rows.shape))


@pytest.mark.parametrize("step", [1, -1, 2, -3])
def test_strides_may_go_backwards(step):
    x = np.random.default_rng(0).normal(size=17)[::step]
    np.testing.assert_allclose(grad(toeplitz)(x, 3), grad(by_windows)(x, 3))
    check_grads(lambda x: toeplitz(x, 3), (x,))


def test_strides_of_what_is_written_later_are_refused():
    def f(x):
        x = x * 2.0
        shown = np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
        x[0] = 0.0
        return np.sum(shown)

    with pytest.raises(UnsupportedError, match="may show an element in several places"):
        grad(f)(np.ones(3))


@pytest.mark.parametrize(
    "x, shape, strides, message",
    [
        (np.ones((3, 2))[::-1], (6,), (8,), "outside of the array"),
        (np.ones((3, 2))[::-1], (6,), (-8,), "outside of the array"),
        (np.ones(3), (3,), (-8,), "outside of the array"),
        (np.broadcast_to(np.ones(2), (3, 2)), (3,), (8,), "for np.ascontiguousarray"),
        (np.ones(6)[::2], (2,), (8,), "outside of the array"),
        (np.ones(6)[::2], (2,), (40,), "outside of the array"),
        (np.ones(9)[4:], (3, 3), (8, -8), "outside of the array"),
        (np.ones(3), (3, 2), (8, 8), "outside of the array"),
        (np.ones(3), (2,), (4,), "whole elements"),
    ],
)
def test_what_strides_show_elsewhere_is_refused(x, shape, strides, message):
    def f(x):
        return np.sum(np.lib.stride_tricks.as_strided(x, shape, strides))

    with pytest.raises(ValueError, match=message):
        grad(f)(x)
    with pytest.raises(ValueError, match=message):
        jvp(f, (x,), (x,))


def flat_argument(p):
    p *= 0.5
    return p.flatten("K")


def flat_before_it_is_written(p):
    q = np.multiply(p, 1.0)
    flat = q.flatten("K")
    q *= 0.5
    return flat * q.sum()


def flat_copy(p):
    q = p.copy(order="K")
    flat = q.ravel("K") * 1.0
    q *= 0.5
    return flat * q.sum()


@pytest.mark.parametrize("f", [flat_argument, flat_before_it_is_written, flat_copy])
@pytest.mark.parametrize("lay", [np.asfortranarray, lambda p: np.repeat(p, 2, 1)[:, ::-2]])
def test_the_order_in_memory_of_what_is_written(f, lay):
    weights = np.arange(6.0) + 1

    def weighed(p):
        return f(p) @ weights

    p, v = lay(np.arange(6.0).reshape(2, 3)), np.cos(np.arange(6.0).reshape(2, 3))

    def moved(step):
        q = lay(np.arange(6.0).reshape(2, 3))
        q += step * v
        return q

    expected = (weighed(moved(1e-6)) - weighed(moved(-1e-6))) / 2e-6
    value, gradient = value_and_grad(weighed)(p)
    assert value == weighed(moved(0.0))
    np.testing.assert_allclose(np.sum(gradient * v), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(weighed, (p,), (v,))[1], expected, rtol=1e-7)
