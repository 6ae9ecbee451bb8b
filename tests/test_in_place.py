"""Every way to write in place, against finite differences, in reverse and forward mode.

Views, views of views, copies that look like views, overlapping slices, `out=` and `where=`, NumPy's
functions that write, containers and objects that hold arrays, several names for one array.
"""

import inspect
import operator
import sys

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.3, 0.8, 0.55])


def view_of_view(x):
    y = np.outer(x, x)
    v = y[1:]
    w = v[:, ::2]
    w *= x[0]
    w[0] += 1.0
    return (y**2).sum()


def transpose_write(x):
    y = np.outer(x, x * 2)
    y.T[0] = x
    y.T[...] *= 2
    return (y**2).sum()


def reshape_view(x):
    y = x * 2
    z = y.reshape(3, 1)
    z[1] = x[0] ** 2
    return (y**2).sum()


def reshape_copy(x):
    y = np.outer(x, x)
    z = y.T.reshape(-1)
    z[0] = 7.0 * x[1]
    return (y**2).sum() + z.sum()


def ravel_view(x):
    y = np.outer(x, x)
    r = y.ravel()
    r[1] = x[2]
    return (y**2).sum()


def ravel_copy(x):
    y = np.outer(x, x)
    r = y.T.ravel()
    r[1] = x[2]
    return (y**2).sum() + r[1]


def flatten_copy(x):
    y = np.outer(x, x)
    r = y.flatten()
    r[1] = x[2]
    return (y**2).sum() + r[1]


def overlap_fwd(x):
    y = x * x
    y[1:] = y[:-1]
    return (y * np.arange(3)).sum()


def overlap_bwd(x):
    y = x * x
    y[:-1] = y[1:]
    return (y * np.arange(1, 4)).sum()


def overlap_aug(x):
    y = x * x
    y[1:] += y[:-1]
    return (y * np.arange(1, 4)).sum()


def overlap_aug2(x):
    y = x * x
    y[:-1] *= y[1:]
    return (y * np.arange(1, 4)).sum()


def reverse_self(x):
    y = x * x
    y[:] = y[::-1]
    return (y * np.arange(1, 4)).sum()


def reverse_aug(x):
    y = x * x
    y += y[::-1]
    return (y**2).sum()


def out_kw(x):
    y = np.empty(3)
    np.multiply(x, x, out=y)
    np.exp(y, out=y)
    np.add(y, x, y)
    return y.sum()


def out_where(x):
    y = np.ones(3)
    np.log(x, out=y, where=x > 0.5)
    return (y * x).sum()


def where_div(x):
    return np.divide(x, x - 0.3, out=np.zeros_like(x), where=x > 0.4).sum()


def out_slice(x):
    y = np.zeros(6)
    np.sin(x, out=y[::2])
    np.negative(y[::2], out=y[1::2])
    return (y**3).sum()


def out_reduce(x):
    y = np.zeros(())
    np.sum(x * x, out=y)
    z = np.zeros(3)
    np.cumsum(x, out=z)
    np.dot(np.outer(x, x), x, out=z)
    return float(y) + z.sum()


def copyto_(x):
    y = np.zeros(3)
    np.copyto(y, x * x)
    np.copyto(y, 2 * x, where=x > 0.5)
    return (y * y).sum()


def put_(x):
    y = x * x
    np.put(y, [0, 2], x[:2])
    y.put([1], x[0] * 3)
    return (y * y).sum()


def put_as_many_as_there_are(x):
    y = np.outer(x, x).T
    np.put(y, [[1, -1], [5, 0]], x * x)  # the first again
    np.put(y, [3, 4], x)  # not the last
    np.put(y, [10, -12], x, mode="wrap")
    z = x * x
    z.put([7, -7], x[:2], mode="clip")
    np.put(z, [True, False], x[1:])  # numbers, not a mask
    return (y * np.arange(9).reshape(3, 3)).sum() + (z * z).sum()


def flat_as_many_as_there_are(x):
    y = np.outer(x, x).T
    y.flat[[1, 5]] = x
    y.flat[4:] = x[:2] * 3
    z = np.zeros((2, 2))
    z.flat = x
    z.T.flat[::2] = x[1] * x
    z.flat = [v * x[0] for v in x]
    z.flat[1:] = [x[0], x[2]]
    return (y * np.arange(9).reshape(3, 3)).sum() + (z * z).sum()


def flat_places_by_masks_and_from_the_end(x):
    y = np.outer(x, x).T
    y.flat[y.ravel() > 0.3] = x[0] ** 2
    y.T.flat[[-1, 1]] *= x[1]
    y.flat[-2] += x[2]
    y.flat[y.ravel() < 0.1] += x[0] * y.flat[y.ravel() < 0.1]
    number = np.zeros(())
    number.flat[np.isfinite(number.flat)] = x[:1]
    return (y * np.arange(9).reshape(3, 3)).sum() + number * x[1]


def parts_of_flat_are_copies(x):
    y = np.outer(x, x)
    rest, some, one = y.flat[2:], y.T.flat[[1, 2]], y.flat[3]
    y *= 3
    y.flat[y.flat[:] > 0.3] += rest[1]
    return (y**2).sum() + (rest * np.arange(7)).sum() + some[0] * some[1] + one


def put_into_flat(places, v):
    places[1] = v
    places[2:4] = v * 2


def tripled_meanwhile(places, y):
    z = places[2:]
    y *= 3
    return np.sum(z**2) + np.sum(places[1:3])


def flat_handed_on(x):
    y = np.outer(x, x[:2])
    put_into_flat(y.flat, x[0])
    put_into_flat(y.T.flat, x[1])
    held = [y.T.flat, {"rows": y.flat}]
    total = tripled_meanwhile(y.T.flat, y)
    return total + held[0][1] * np.sum(held[1]["rows"][2:4])


def items_of_flat_while_it_is_written(x):
    y, total = np.outer(x, x[:2]), 0.0
    for v in y.T.flat:
        total += v * v
        y *= 1.1
    for k, v in enumerate(y.flat):
        y.flat[k] = v * v
        total += sum(y.T.flat)
    return total + (y * np.arange(6).reshape(3, 2)).sum()


def rows_with_an_axis_more(x):
    y = np.outer(x, x[:1])
    y[None, :3] += np.compress(np.arange(1) % 4 != 1, y, axis=1)  # of a length that isn't known
    y[None, :2, ::2] *= np.repeat(y[:2], [1], axis=1)
    return (y**2).sum()


def diagonals(x):
    tall = np.outer(np.arange(1.0, 8), x)
    wrapped = tall * x
    np.fill_diagonal(tall, x[:2])
    np.fill_diagonal(wrapped, x, wrap=True)
    cube = np.ones((2, 2, 2)) * x[0]
    np.fill_diagonal(cube, x)
    return (tall * tall).sum() + (wrapped * wrapped).sum() + (cube * cube).sum()


def leading_axes_dropped(x):
    y = np.zeros(3)
    y[:] = (x * x)[None]
    y[1:2] = x[2:][None, None]
    return (y * y).sum()


def place_(x):
    y = x * x
    np.place(y, x > 0.5, x[:2])
    return (y * y).sum()


def putmask_(x):
    y = x * x
    np.putmask(y, x > 0.5, 2 * x)
    return (y * y).sum()


def add_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 2], x)
    np.subtract.at(y, np.array([1, 1]), x[:2] ** 2)
    return (y * y).sum()


def fill_(x):
    y = x * x
    y.fill(x[1])
    z = np.outer(x, x)
    z[0].fill(2.0)
    np.fill_diagonal(z, x)
    return (y * x).sum() + (z * z).sum()


def sort_(x):
    y = x * x
    y.sort()
    return (y * np.arange(1, 4)).sum()


def sort2(x):
    y = np.outer(x, x[::-1])
    y.sort(axis=0, kind="stable")
    y[0].sort()
    return (y * np.arange(1, 10).reshape(3, 3)).sum()


def partition_(x):
    y = x * x
    y.partition(1)
    return y[0] * 2 + y[1] * 3


def shape_assign(x):
    y = np.outer(x, x)
    y.shape = (9,)
    y[1] = x[0]
    return (y**2 * np.arange(9)).sum()


def flat_item(x):
    y = np.outer(x, x)
    y.flat[1] = x[2]
    y.flat[3:5] = 1.0
    return (y**2).sum()


def flat_all(x):
    y = np.outer(x, x)
    y.flat = x[0]
    return (y**2).sum()


def real_assign(x):
    z = x + 1j * x
    z.real = x**2
    z.imag[0] = x[1]
    return (np.abs(z) ** 2).sum()


def real_view(x):
    z = x + 1j * x
    r = z.real
    r *= 2
    return (np.abs(z) ** 2).sum()


def nditer_(x):
    y = x * x
    s = 0.0
    for v in np.nditer(y):
        s += v * v
    return s


def ndenum(x):
    y = np.outer(x, x)
    s = 0.0
    for (i, j), v in np.ndenumerate(y):
        s += v * (i + 2 * j)
        y[i, j] = s
    return (y**2).sum()


def ndind(x):
    y = np.zeros((3, 3))
    for i, j in np.ndindex(3, 3):
        y[i, j] = x[i] * x[j] + (y[i - 1, j] if i else 0)
    return (y**2).sum()


def containers(x):
    d = {"a": x * 1.0, "b": [x * 2, x * 3]}
    d["a"][0] = x[1] ** 2
    d["b"][1][:] *= d["a"]
    d["b"][0] += 1
    return sum((v**2).sum() for v in d["b"]) + d["a"].sum()


def two_names(x):
    y = x * 2
    z = y
    z[0] = x[1] ** 2
    z *= 2
    return (y**2).sum()


def alias_list(x):
    y = x * 2
    l = [y, y]
    l[0][0] = x[1]
    return (l[1] ** 2).sum() + (y**3).sum()


def callee_mut(x):
    def f(a, k):
        a[k] = a[k] ** 2
        a[:] += x[0]

    y = x * 2
    f(y, 1)
    f(y[1:], 0)
    return (y**2).sum()


def arg_mut(x):
    x[0] = x[1] ** 2
    x *= 2
    return (x**2).sum()


def swap_buf(x):
    a, b = x * 1.0, np.zeros(3)
    for _ in range(5):
        b[1:-1] = 0.5 * (a[:-2] + a[2:]) * a[1:-1]
        b[0] = a[0]
        b[-1] = a[-1] ** 2
        a, b = b, a
    return (a**2).sum() + b.sum()


def swap_rows(x):
    A = np.outer(x, x) + np.diag(x)
    A[[0, 2]] = A[[2, 0]]
    A[0], A[1] = A[1].copy(), A[0].copy()
    return (A * np.arange(9).reshape(3, 3)).sum()


def swap_rows_bug(x):
    A = np.outer(x, x**2)
    A[0], A[1] = A[1], A[0]
    return (A * np.arange(9).reshape(3, 3)).sum()


def fancy_aug(x):
    y = x * x
    y[[0, 0, 1]] += x
    y[np.array([2, 1])] *= x[:2]
    y[x > 0.5] -= x[x > 0.5] ** 2
    return (y**2).sum()


def pairs_in_a_tuple(x):
    y = np.outer(x, x)
    y[(0, 1),] = y[[1, 0]] * 2
    y[(0, 1), (1, 2)] = x[:2]
    return (y**2).sum()


def int_arr_2d(x):
    y = np.outer(x, x)
    y[[0, 1], [1, 2]] = x[:2]
    y[np.ix_([0, 2], [0, 1])] *= 2
    y[..., -1] += x
    y[:, None, 0] = x[:, None]
    return (y**2).sum()


def neg_step(x):
    y = x * x
    y[::-1][0] = x[0]
    y[::-2] *= 3
    return (y**2).sum()


def scalar_elem_loop(x):
    y = np.zeros(4)
    y[0] = 1
    for i in range(3):
        y[i + 1] = y[i] * x[i] + y[max(i - 1, 0)]
        y[i] -= y[i + 1] * 0.1
    return (y**2).sum()


def broadcast_store(x):
    y = np.zeros((3, 3))
    y[:] = x
    y[1] = 2 * x[0]
    y[:, 1] = x**2
    y += x[:, None]
    return (y**2).sum()


def swapaxes_w(x):
    y = np.einsum("i,j,k->ijk", x, x, x)
    z = y.swapaxes(0, 2)
    z[0, 1] = x
    np.moveaxis(y, 0, -1)[0] *= 2
    return (y**2).sum()


def diag_write(x):
    y = np.outer(x, x)
    np.einsum("ii->i", y)[...] = x
    y[np.diag_indices(3)] += 1
    return (y**3).sum()


def squeezed_parts(x):
    y = np.outer(x, x)
    np.squeeze(y[:1])[:2] = x[2] ** 2
    item = np.squeeze(y[1:2, x.size - 2 : 2])
    item *= x[0]
    np.squeeze(y[1:, -1:])[...] += x[1]
    return (y**2).sum() + np.sum(np.squeeze(x[:1]) * x[1])


def squeeze_w(x):
    y = np.outer(x, x)[None]
    z = y.squeeze()
    z[0] = x
    w = np.squeeze(y, 0)
    w[1] *= 2
    return (y**2).sum()


def split_w(x):
    y = np.concatenate([x, x**2])
    a, b = np.split(y, 2)
    a *= 2
    b[0] = x[2]
    return (y**2).sum()


def hsplit_w(x):
    y = np.outer(x, x)
    l, r = np.hsplit(y, [1])
    r[:] = l
    return (y**2 * np.arange(9).reshape(3, 3)).sum()


def iter_rows_w(x):
    y = np.outer(x, x)
    for row in y:
        row *= x[0]
        row[0] = row[1] ** 2
    for i, row in enumerate(y):
        row += i * x[1]
    return (y**2).sum()


def zip_rows_w(x):
    y = np.outer(x, x)
    z = np.zeros((3, 3))
    for a, b in zip(y, z):
        b[:] = a**2
        a[0] = b.sum()
    return (y**2 + z).sum()


def asarray_alias(x):
    y = x * 2
    z = np.asarray(y)
    z[0] = x[2] ** 2
    w = np.array(y)
    w[1] = 0
    v = np.array(y, copy=False) if False else y
    return (y**2).sum() + w.sum()


def astype_copy(x):
    y = x * 2
    z = y.astype(float)
    z[0] = 5.0
    w = y.astype(float, copy=False)
    w[1] = x[0]
    return (y**2).sum() + (z**2).sum()


def atleast_w(x):
    y = x * 2
    np.atleast_2d(y)[0, 1] = x[0] ** 2
    np.expand_dims(y, 0)[0, 2] = x[1]
    y[None][0, 0] += x[2]
    return (y**2).sum()


def view_method(x):
    y = x * 2
    v = y.view()
    v[0] = x[1] ** 2
    return (y**2).sum()


def obj_state(x):
    class S:
        def __init__(self, n):
            self.buf = np.zeros(n)
            self.i = 0

        def push(self, v):
            self.buf[self.i] = v
            self.i += 1
            self.buf[: self.i] *= 0.9

    s = S(3)
    for v in x:
        s.push(v * v)
    return (s.buf**2).sum()


def cond_alias(x):
    a, b = x * 2, x * 3
    c = a if x[0] > 0.1 else b
    c[0] = x[1] ** 2
    return (a**2).sum() + (b**2).sum()


def cond_alias_loop(x):
    a, b = x * 2, x * 3
    for i in range(3):
        c = a if i % 2 else b
        c[i] = x[i] ** 2 + a[0]
    return (a**2).sum() + (b**3).sum()


def roll_inplace(x):
    y = x * x
    y[:] = np.roll(y, 1)
    y[1:], y[0] = y[:-1].copy(), x[0]
    return (y * np.arange(1, 4)).sum()


def cumulative(x):
    y = x.copy()
    for i in range(1, 3):
        y[i] += y[i - 1] * y[i]
    return y[-1]


def resize_(x):
    y = x * x
    y = np.resize(y, 5)
    y[3] = 2.0
    return (y**2).sum()


def resize_m(x):
    y = x * x
    y.resize(5)
    return (y**2).sum()


def resized_again(x):
    y, parts = x * x, [x + 1]
    y.resize((2, 2))
    y[1, 1] += x[0]
    y.resize(1, 3)
    y *= x[1]
    n = len(x) - 1
    y.resize(n, n * 2, refcheck=False)
    y[0, 3] += x[2]
    return y.prod(axis=1)[0] + (y**2 @ np.arange(4.0)).sum() + parts[0].sum()


def matmul_inplace(x):
    A = np.outer(x, x) + np.eye(3)
    A @= A
    A **= 2
    A -= A.T
    A //= 1000.0
    A[0] = x
    return A.sum()


def int_store(x):
    y = np.zeros(3)
    y[int(2.0)] = x[0]
    y[np.int64(1)] = x[1]
    y[True, 0] = x[2]
    return (y**2).sum()


def nested_list_arr(x):
    h = [np.zeros(3) for _ in range(4)]
    for t in range(1, 4):
        h[t][:] = h[t - 1] * 0.5 + x
        h[t][0] += h[t - 1][1]
    return sum((v**2).sum() for v in h)


def hist_copy(x):
    y = x * 1.0
    hist = []
    for i in range(4):
        y *= 0.9
        y[i % 3] += x[0]
        hist.append(y.copy())
    return np.array(hist).sum() + (hist[1] ** 2).sum()


def hist_alias(x):
    y = x * 1.0
    hist = []
    for i in range(4):
        y *= 0.9
        hist.append(y)
    return sum((h**2).sum() for h in hist)


def take_out(x):
    y = np.zeros(2)
    np.take(x, [0, 2], out=y)
    return (y**2).sum()


def setitem_fn(x):
    y = x * 2
    operator.setitem(y, 0, x[1] ** 2)
    y.__setitem__(1, x[0])
    return (y**2).sum()


def mean_out(x):
    y = np.zeros(3)
    np.mean(np.outer(x, x), axis=0, out=y)
    np.outer(x, x).max(axis=0, out=y[:])
    return (y**2).sum()


def slices_of_args(x):
    a = x[:2]
    a[0] = x[2] ** 2
    return (x**2).sum()


def put_along(x):
    y = np.outer(x, x)
    np.put_along_axis(y, np.array([[0], [1], [2]]), x[:, None], axis=1)
    return (y**2).sum()


def einsum_view(x):
    y = np.outer(x, x)
    v = y.diagonal()
    return v.sum() + np.trace(y)


def stride_view(x):
    y = x * x
    w = np.lib.stride_tricks.sliding_window_view(y, 2)
    return (w.sum(axis=1) ** 2).sum()


def flipw(x):
    y = x * x
    np.flip(y)[0] = x[0]
    np.flipud(np.outer(x, x))[0] = 1
    return (y**2).sum()


def rot90w(x):
    y = np.outer(x, x)
    np.rot90(y)[0] = x
    return (y**2).sum()


def late_write(x):
    y = x * x
    z = y[1:]
    s = (z**2).sum()
    y[:] = 0
    y[1] = x[0]
    return s + (z**3).sum()


def exp_then_write(x):
    y = np.exp(x)
    s = np.sum(y * y)
    y *= 2
    y[0] = 0
    return s + (y**2).sum()


def real_part_assigned(x):
    z = x + 1j * x
    z.real = x**2
    return (np.abs(z) ** 2).sum()


def imaginary_item_assigned(x):
    z = x + 1j * x
    z.imag[0] = x[1]
    return (np.abs(z) ** 2).sum()


def real_view_written(x):
    z = x + 1j * x
    r = z.real
    r[...] = x**2
    return (np.abs(z) ** 2).sum()


def real_view_item(x):
    z = x + 1j * x
    r = z.real
    r[0] = x[1] ** 2
    return (np.abs(z) ** 2).sum()


def both_parts(x):
    z = np.zeros(3, complex)
    z.imag[:] = x
    z.real[:] = x**2
    return (np.abs(z) ** 2).sum()


def parts_written(x):
    first, second, third = np.split(x, 3)
    first *= second
    third -= first
    return np.sum(x**2 * [1, 2, 3])


def rows_of_parts_written(x):
    m = np.outer(x, x)
    left, right = np.array_split(m, 2, axis=1)
    left *= right
    right[0] = left[1, 1]
    return np.sum(m**2)


def views_by_columns(x):
    y = np.outer(x, x + 1)
    flat, by_columns = y.T.ravel(order="F"), np.asarray(y.T, order="F")
    flat[1:3] *= x[0]
    by_columns[0, 2] += flat[4] * x[1]
    again = np.asfortranarray(y.T)
    again[1] = x
    reshaped = y.T.reshape(9, order="F")
    reshaped[8] = x[2] ** 2
    copied = y.ravel(order="F")
    copied[3] = 100.0
    return (y * np.arange(9.0).reshape(3, 3)).sum() + (flat**2).sum() * copied[1]


def copied_by_columns(x):
    y = np.outer(x, x + 1)
    z = np.array(y, order="F", copy=None)
    z[...] = z * x[0] + x[1]
    y[1, 2] *= x[2]
    z[...] = z * 2
    return (y * np.arange(9.0).reshape(3, 3)).sum() + z.sum() * x[0]


def conjugate_of_real(x):
    y = np.outer(x, x + 1)
    same, copied = y.conj(), np.conj(y)
    same[1] *= x[0]
    copied[0] = 3.0
    z = y[0] + 1j * x
    other = z.conjugate()
    other[0] = x[1]
    return (y**2).sum() + (copied * same).sum() + (np.abs(z) ** 2).sum() + other[1].imag


def outputs_by_position(x):
    y = np.zeros((4, 3))
    np.clip(x, 0.4, 0.7, y[0])
    np.cumsum(x, 0, None, y[1])
    np.round(x, 0, y[2])
    np.take(x, [2, 0, 5], 0, y[3], "wrap")
    return (y**2).sum() * y[1, 1]


def reductions_into_arrays(x):
    a = np.outer(x, x + 1)
    y = np.zeros((5, 3))
    np.sum(a, 0, None, y[0])
    a.mean(1, None, y[1])
    np.std(a, 1, None, y[2], 1)
    np.median(a, 0, y[3])
    a.max(1, y[4])
    return (y * np.arange(15.0).reshape(5, 3)).sum()


def products_into_arrays(x):
    total, outer, both = np.zeros(()), np.zeros((3, 3)), np.zeros(6)
    np.dot(x, x + 1, total)
    np.outer(x, x, outer)
    np.concatenate((x, x**2), 0, both)
    return total * outer[0, 1] + both @ np.arange(6.0)


def ufunc_methods_into_arrays(x):
    y = np.zeros((3, 3))
    np.add.reduce(np.outer(x, x), 0, None, y[0])
    np.maximum.accumulate(x, 0, None, y[1])
    np.add.reduceat(x, [0, 1, 2], 0, None, y[2])
    return (y**2).prod()


def in_place_without_a_copy(x):
    y = np.array([np.nan, 1.0, np.inf])
    y[1:2] *= x[0]
    z = np.nan_to_num(y, False, 3.0, 2.0)
    z *= x
    kept = np.nan_to_num(z, True)
    kept[0] = 0.0
    return y.prod()


def in_place_without_a_copy_or_axes(x):
    y = np.array(x[0] * x[1])
    number = np.nan_to_num(y, copy=False)  # and no view of the array
    number += x[2]
    y *= 3.0
    return number**2 * y


def what_may_be_overwritten(x):
    y = np.sort(x * x[::-1])
    return np.median(y, overwrite_input=True) * x[1] + np.percentile(y.copy(), 30, 0, None, True)


def differences(f, step=1e-6):
    return np.array([(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(len(X))])


def programs():
    module = sys.modules[__name__]
    for _, thing in sorted(vars(module).items()):
        own = inspect.isfunction(thing) and thing.__module__ == __name__
        if own and list(inspect.signature(thing).parameters) == ["x"]:
            yield thing


@pytest.mark.parametrize("f", list(programs()), ids=lambda f: f.__name__)
def test_gradient(f):
    x = X.copy()
    value, gradient = srcgrad.value_and_grad(f)(x)
    np.testing.assert_array_equal(x, X)
    assert value == pytest.approx(f(X.copy()), rel=1e-12)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", list(programs()), ids=lambda f: f.__name__)
def test_tangent(f):
    direction = np.array([0.5, -1.0, 2.0])
    _, found = srcgrad.jvp(f, (X.copy(),), (direction,))
    assert found == pytest.approx(differences(f) @ direction, rel=1e-5, abs=1e-6)


def multiplied_twice(x):
    out = np.ones(3) * x[0]
    np.multiply.at(out, [0, 0, 1], x[:3])
    return out @ out


def highest_in_places(x):
    out = x[:3] * 2
    np.maximum.at(out, [0, 1, 1], x[3:] * 3)
    np.negative.at(out, [0, 0, 2])
    return out @ np.arange(1, 4)


def matrix_in_places(x):
    a = np.outer(x[:3], x[3:]) + 5
    np.divide.at(a, ([0, 1, 0], [1, 1, 1]), x[:3] + 4)
    np.power.at(a, (slice(None), 1), 2.0)
    np.sqrt.at(a, a > 5)
    return np.sum(np.sin(a))


@pytest.mark.parametrize("f", [multiplied_twice, highest_in_places, matrix_in_places])
def test_ufuncs_at_places(f):
    x = np.array([0.7, -1.2, 0.4, 2.1, -0.3, 1.5])
    check_grads(f, (x,), order=2)


def test_a_product_of_views_that_are_written_later():
    # the lengths aren't known, so neither is whether what np.cross returns is one of the views
    def f(state):
        state = state.copy()
        r, v = state[:3], state[3:]
        h = np.cross(r, v)
        r += 0.1 * v
        return np.sum(h * h) + np.sum(r * r)

    x = np.arange(1.0, 7.0)
    check_grads(f, (x,), order=1)
    moved = [srcgrad.grad(f)(x + step * x[::-1]) for step in (1e-5, -1e-5)]
    expected = (moved[0] - moved[1]) / 2e-5
    np.testing.assert_allclose(srcgrad.hvp(f)(x, x[::-1]), expected, rtol=1e-7)


@pytest.mark.parametrize("later", ["grid[0, 1] = 5.0 * x[0]", "y[0] = 3.0"])
def test_grids_that_share_memory_arent_written(later):
    text = f"""
def f(x):
    y = x * 1.0
    grid, other = np.meshgrid(y, y[:2], copy=False)
    {later}
    return np.sum(grid * other) + np.sum(y**2)
"""
    namespace = {"np": np}
    exec(text, namespace)
    with pytest.raises(srcgrad.UnsupportedError, match="is written in place later"):
        srcgrad.grad(namespace["f"], source=text)(np.array([0.5, 0.3, 0.7]))


def test_grids_that_share_memory():
    def f(x):
        y = x * 1.0
        grid, other = np.meshgrid(y, y[:2], copy=False)
        return np.sum(grid**2 * other)

    x = np.array([0.5, 0.3, 0.7])
    found = srcgrad.grad(f)(x)
    moved = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(found, moved, rtol=1e-7)


def test_a_view_of_the_same_dtype_is_written():
    def f(x):
        y = x.view(np.float64)
        y[0] *= 3
        return np.sum(x**2)

    assert np.array_equal(srcgrad.grad(f)(np.ones(3)), [18.0, 2.0, 2.0])
    with pytest.raises(srcgrad.UnsupportedError, match="a view with another dtype"):
        srcgrad.grad(lambda x: np.sum(x.view(np.float32)))(np.ones(3))


def imaginary_part_of_what_was_written(x):
    z = x + 0j
    z *= 1j * x + 0.3
    return np.sum(z.imag**2 * x) + np.sum(z.real**3)


def imaginary_part_of_what_a_loop_wrote(x):
    z = np.zeros(3, complex)
    for i in range(3):
        z[i] = np.exp(1j * x[i] * x[0])
        z[0] += z[i] * 0.5
    w = np.imag(z)[1:]
    return np.sum(w * w[::-1]) + np.abs(z[0])


def imaginary_part_written(x):
    z = x * (1 + 2j)
    z *= z
    z.imag[1] = x[0] ** 2
    w = z.imag
    v = w + 0
    v *= x
    return np.sum(np.abs(z) ** 2 * x) + np.sum(v) + np.sum(w.reshape(3, 1) * x)


def imaginary_parts_of_what_each_trip_writes(x):
    total, z = 0.0, np.zeros(3, complex)
    for k in range(3):
        before, z = z, np.zeros(3, complex)
        for i in range(3):
            z[i] = np.exp(1j * x[i] * k) + before[i]
        tail = z.imag[1:]
        total += np.sum(z.imag**2) * x[k] + (np.sum(tail) if x[k] > 0 else tail[0])
    return total


def imaginary_part_added_to(x):
    z = x * (1 + 2j)
    z.imag += z.real**2
    z.imag *= 1.5
    z.real -= z.imag
    return np.sum((z**3).imag)


def imaginary_items_added_to(x):
    z = np.outer(x, x * 1j)
    for i in range(3):
        z.real[i] += z.imag[:, i]
        z.imag[i, 1:] -= z.real[1:, i] * x[i]
        z[i].imag *= x[i]
        z.imag[i, 0] += x[i] ** 2
        z.imag[z.real > 0.4] /= 1.5
    return np.sum(np.abs(z) ** 2 * x)


def imaginary_part_written_by_name(x):
    z = x * (1 + 1j)
    part = z.imag
    part[0] = x[1]
    part = z.imag
    part += x * z.real
    return np.sum((z**2).imag * x)


class Wave:
    def __init__(self, x):
        self.field = x * (0.5 + 1j)

    def damp(self, rates):
        self.field.imag -= rates * self.field.imag
        self.field.imag[1:] += self.field.real[:-1]


def imaginary_part_of_a_field(x):
    wave = Wave(x)
    for _ in range(2):
        wave.damp(x**2)
    return np.sum(np.abs(wave.field) ** 2 * x)


@pytest.mark.parametrize(
    "f",
    [
        imaginary_part_added_to,
        imaginary_part_written_by_name,
        imaginary_part_of_what_was_written,
        imaginary_part_of_what_a_loop_wrote,
        imaginary_part_written,
        imaginary_parts_of_what_each_trip_writes,
    ],
)
def test_the_imaginary_part_of_an_array_that_was_written(f):
    check_grads(f, (X,))


@pytest.mark.parametrize("f", [imaginary_items_added_to, imaginary_part_of_a_field])
def test_imaginary_parts_added_to_in_loops(f):
    check_grads(f, (X,), order=1)  # a second derivative would keep views of what changes


def imaginary_part_read_later(x):
    z = x[0] * np.ones(3, complex)
    for i in range(2):
        part = z.imag
        z[i + 1] = 1j * x[i] * z[i]
    return np.sum(part)


def imaginary_part_kept(x):
    parts = []
    z = np.zeros(3, complex)
    for i in range(3):
        z[i] = 1j * x[i]
        parts.append(z.imag)
    return np.sum(parts[0])


@pytest.mark.parametrize("f", [imaginary_part_read_later, imaginary_part_kept])
def test_an_imaginary_part_that_changes_is_refused(f):
    with pytest.raises(srcgrad.UnsupportedError, match="a view of another dtype"):
        srcgrad.grad(f)(X)


def exchanged(x):
    x = x * 1.5
    for k in range(3):
        p = k + np.argmax(np.abs(x[k:, k]))
        x[[k, p]] = x[[p, k]]
        x[k + 1 :] -= x[k + 1 :, k, None] / x[k, k] * x[k]
    return np.sum(np.sin(x[0])) + x[1, 1] * x[2, 2]


def exchanged_parts(x):
    x = x * 1.5
    for k in range(3):
        p = k + np.argmax(np.abs(x[k:, k]))
        if p != k:
            x[[k, p], k:] = x[[p, k], k:]
        x[k + 1 :] -= x[k + 1 :, k, None] / x[k, k] * x[k]
    return np.sum(np.sin(x[0])) + x[1, 1] * x[2, 2]


def rotated(x):
    x = x * 1.5
    for k in range(2):
        x[[k, k + 1, 2]] = x[[k + 1, 2, k]]
    return np.sum(np.sin(x) * np.arange(9.0).reshape(3, 3))


def copied_up(x):
    x = x * 1.5
    for k in range(2):
        x[[k, k + 1]] = x[[k + 1, k + 1]] * x[[k, k]]
    return np.sum(np.sin(x) * np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("f", [exchanged, exchanged_parts, rotated, copied_up])
def test_rows_that_are_exchanged(f):
    x = np.random.default_rng(1).normal(size=(3, 3))
    gradient = srcgrad.grad(f)
    gradient(x)
    assert ("last_written" in gradient.source) == (f in (rotated, copied_up)), gradient.source
    for matrix in (x, x[::-1].copy(), x + 5 * np.eye(3)):
        check_grads(f, (matrix,))


def smoothed(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] ** 2
        if i >= 2:
            y[i] = x[i] * y[i - 1] + np.sin(y[i - 2])
    return np.sum(y)


def recurrence(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] ** 2
        if i >= 2:
            y[i] += x[i] * y[i - 1] + np.sin(y[i - 2])
    return np.sum(y**2)


def columns(x):
    y = np.ones((len(x), len(x)))
    for j in range(len(x)):
        y[j, j] = x[j]
        y[j + 1 :, j] = (x[j + 1 :] - y[j + 1 :, :j] @ y[j, :j]) * y[j, j]
    return np.sum(np.sin(y))


def read_afterwards(x):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] = x[i] ** 2
        y[i + 1] = x[i] * y[i]
    return np.sum(y)


def overlapping_rows(x):
    y = np.zeros((len(x), 2))
    for i in range(1, len(x)):
        y[i - 1 :, 0] = x[i] * y[i - 1, 0] + x[i - 1]
        y[i, 1] = x[i] * y[i, 0]
    return np.sum(y**2)


def backwards(x):
    y = x * 2.0
    for i in range(len(x) - 2, -1, -1):
        y[i] = np.sin(y[i + 1]) * x[i]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i]
    return np.sum(y)


def from_the_end(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * y[i - 1] + x[i]
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "zeros"),
    [
        (recurrence, 0),
        (columns, 0),
        (smoothed, 1),
        (read_afterwards, 1),
        (overlapping_rows, 1),
        (backwards, 1),
        (from_the_end, 1),
    ],
)
def test_zeros_that_nothing_reads_again(f, zeros):
    x = np.array([0.5, -1.5, 2.0, 0.25, 0.75])
    gradient = srcgrad.grad(f)
    gradient(x)
    stored = [line for line in gradient.source.splitlines() if line.endswith(("= 0", "= 0.0"))]
    assert len(stored) == zeros, gradient.source
    for y in (x, x[:2], x[:1]):
        check_grads(f, (y,))


def reflected(x):
    """np.where gives a tuple, which in a tuple is an index of one axis more."""
    y = np.outer(x, np.array([1.0, -2.0, 0.5]))
    for column in range(3):
        outside = np.where(y[:, column] < -0.5)
        y[outside, column] *= -1.5
        y[outside, column] += y[outside, column - 1] ** 2
    return (y**3).sum() / len(y[outside, 0])


def rows_by_tuples(x):
    """Between the ints is a slice, so that what the ints read comes first."""
    y = np.multiply.outer(np.outer(x, x), np.arange(1.0, 3.0))
    z = y[1, :, (0, 1)]
    w = y[:, [0, 2], ..., 1]
    return (z.mean(axis=1) ** 2).sum() / z.shape[1] + z[0] @ w[0].repeat(2)[:3] * w.shape[1]


def columns_named_twice(x):
    """A tuple within an index names the first column twice, as a list would."""
    y = np.outer(x, x)
    i = y.shape[0] - 3
    z = y * 1.5
    z[:, (0, 0)] = y[:, (1, 2)] ** 2
    z[(1, 1), ...] *= y[..., (2, 2, 0)].sum(axis=1)[:2, None]
    z[:, (i, i)] += y[(i, i, i), :1] @ y[:1, (0, 0)]
    return (z * y).sum() + (y[:, (0, 0)] ** 2).sum() + (y[None, (i, i, 2), 1:] ** 3).sum()


@pytest.mark.parametrize("f", [reflected, rows_by_tuples, columns_named_twice])
def test_tuples_in_an_index(f):
    for n in (3, 5):
        x = np.linspace(-0.7, 1.3, n) if f is reflected else np.array([0.4, 0.9, -0.6])
        check_grads(f, (x,))
        assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-12)


def largest_path(x):
    """The best of two moves in each step, of numbers that arrays hold."""
    table = np.zeros((x.size, x.size))
    for i in range(1, x.size):
        for j in range(1, x.size):
            table[i, j] = max(table[i - 1, j], table[i, j - 1] * x[0]) + x[i] * x[j]
            table[i, j] = min(table[i, j], 1.5 + x[i])
            table[i, j] = np.maximum(table[i, j], x[j])
    return (table**2).sum()


def test_the_larger_of_two_numbers_is_chosen_by_a_condition():
    gradient = srcgrad.grad(largest_path)
    for n in (5, 2, 1, 12):
        x = np.sin(3 * np.arange(n) + 1.0)
        check_grads(largest_path, (x,))
    gradient(x)
    assert gradient.source.count("else 0.0") == 3


def empty_into_flat(y, e):
    y.flat[:] = e


def empty_put(y, e):
    np.put(y, [0, 1], e)


def empty_by_a_mask(y, e):
    np.putmask(y, y > 0, e)


@pytest.mark.parametrize("write", [empty_into_flat, empty_put])
def test_of_no_values_none_are_written(write):
    """NumPy leaves the array as it is; `np.resize`, which repeats them here, makes zeros."""

    def f(x, least):
        y = x * x
        write(y, x[x > least])
        return (y * y).sum()

    x = np.array([1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="no values"):
        srcgrad.grad(f)(x, 9.0)
    check_grads(f, (x, 0.0))


def test_a_mask_of_no_values_writes_none():
    def f(x, least):
        y = x * x
        empty_by_a_mask(y, x[x > least])
        return (y * y).sum()

    for least in (0.0, 9.0):
        check_grads(f, (np.array([1.0, 2.0, 4.0]), least))


def by_a_mask(y, values):
    y[np.array([True, False, True, True])] = values[1:]


def by_place(y, values):
    np.place(y, [True, False, True, True], values)


def on_the_diagonal(y, values):
    np.fill_diagonal(y.reshape(2, 2), values)


def joined(y, values):
    np.concatenate([values[2:], values[:2]], out=y)


def ranges(y, values):
    np.ptp([values, 2 * values], 0, out=y)  # of a list of copies
    np.ptp(values.reshape(2, 2), 0, out=y[1:3])


def whole_by_flat(y, values):
    y.flat = values


@pytest.mark.parametrize(
    "write", [by_a_mask, by_place, on_the_diagonal, joined, ranges, whole_by_flat]
)
def test_what_is_read_while_it_is_written(write):
    """Only the run knows which it is: numbers that were there before, or those just written."""

    def f(x, level):
        y = x * x
        values = y[::-1] if level < 1 else np.sin(x)
        write(y, values)
        return np.sum(np.sin(y)) + values[0]

    x = np.array([0.3, -0.4, 0.7, 1.1])
    check_grads(f, (x, 2.0))
    with pytest.raises(ValueError, match=r"test_in_place.py:\d+: NumPy reads what it has just"):
        srcgrad.grad(f)(x, 0.5)


def test_rows_from_columns_that_they_cross():
    """NumPy copies these number by number, and from the end where that is in front."""

    def across(x, i, j):
        m = np.outer(x, x)
        m[i] = m[:, j]
        return np.sum(np.sin(m) * m[0])

    def copied(x, i, j):
        m = np.outer(x, x)
        m[i] = m[:, j].copy()
        return np.sum(np.sin(m) * m[0])

    def beside(x):
        m = np.outer(x, x)
        rows = [x * x, x + 1.0]
        for i in range(1, len(x)):
            m[i] = m[i - 1]
            m[i, 1:] = m[i - 1, :-1] * x[0]
            m[:, i] = m[:, i - 1]
            m[i] = m[0, ::-1]
            m[0, i:] = m[i:, 0]
            m[i] = m[:, i] * 1.0
            m[:, i] = m[i]
            rows.append(rows[-1] * x[i])
            rows[-1][1:] = rows[i - 1][:-1]
        return np.sum(np.sin(m) * rows[-1])

    x = np.array([0.3, -0.4, 0.7, 1.1])
    check_grads(copied, (x, 1, 2))
    check_grads(beside, (x,))
    with pytest.raises(ValueError, match="NumPy reads what it has just written"):
        srcgrad.grad(across)(x, 1, 2)


def test_masks_write_without_asking():
    def f(x, level):
        y = x * level
        for _ in range(3):
            y[y > 0.5] = y[y > 0.5] ** 2
            y[y < -0.5] = -level
            y[x > 0] *= x[x > 0]
        return y @ x

    gradient = srcgrad.grad(f)
    check_grads(f, (np.array([0.9, -1.2, 0.3]), 1.1))
    gradient(np.array([0.9, -1.2, 0.3]), 1.1)
    assert "check" not in gradient.source


def test_products_of_matrices_in_place():
    def f(x, shape, other):
        a = np.resize(x, shape) * [1.0, 2.0]
        b = np.resize(np.sin(x), other)
        a @= b
        a @= a if len(shape) > 1 else b
        return np.sum(np.sin(a))

    x = np.array([0.3, -0.4, 0.7, 1.1, 0.2])
    shapes = [((2,), (2, 2)), ((2, 2), (2, 2)), ((3, 2, 2), (2, 2)), ((3, 2, 2), (3, 2, 2))]
    for shape, other in shapes:
        check_grads(lambda x, shape=shape, other=other: f(x, shape, other), (x,))


def one_number_listed(x, y):
    y[0, 1] = [x[0]]
    return y.sum()


def rows_in_a_row(x, y):
    y[0] = [[x[0], x[1]]]
    return y.sum()


def an_array_in_a_list(x, y):
    y[:, 1] = (x[:2],)
    return y.sum()


def rows_of_the_run_in_a_row(x, y):
    rows = []
    for v in x:
        rows.append([v, 2.0 * v])
    y[0] = rows[:1]
    return y.sum()


def rows_in_what_may_have_any_rank(x, y):
    z = y.reshape(np.array([2] * int(4.0 * x[0])))
    z[0] = [[x[0], x[1]]]
    return z.sum()


@pytest.mark.parametrize(
    "f",
    [
        one_number_listed, rows_in_a_row, an_array_in_a_list, rows_of_the_run_in_a_row,
        rows_in_what_may_have_any_rank,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_lists_nested_deeper_than_their_place(f):
    """NumPy takes an array with more axes, if they are of length one; of lists it takes none."""
    y = np.zeros((2, 2))
    x = np.array([0.5, 0.8, 0.55])
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        f(x, y.copy())
    found = (ValueError, srcgrad.UnsupportedError)
    with pytest.raises(found, match="setting an array element with a sequence"):
        srcgrad.grad(f)(x, y)


def test_nested_lists_where_numpy_takes_them():
    def f(x):
        y = np.ones((2, 2))
        y[0] = x[None, :2]
        y[[0, 1]] = [[[x[0], x[1]]]]
        y[1:] = [[x[2], x[0]]]
        y[y > 0.7] = [x[1]]
        return (y**2).sum()

    def caught(x):
        y = np.ones((2, 2))
        try:
            y[1] = [[x[0], x[1]]]
        except ValueError:
            y[1] = [x[1], x[0] ** 2]
        return (y**2).sum()

    for program in (f, caught):
        check_grads(program, (X,))


def test_one_number_in_an_array_isnt_a_number():
    """NumPy 2.4 raises where one is stored as an item; the versions before take it."""

    def f(x):
        y = np.zeros(2)
        y[0] = np.array([x[0]])
        return y.sum()

    try:
        expected = f(X)
    except ValueError:
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            srcgrad.grad(f)(X)
    else:
        assert srcgrad.value_and_grad(f)(X)[0] == expected


def masked_copy_of_another_row(x):
    y = np.array([x, x**2])
    row = y[0]
    np.copyto(y[1], row, where=row > 0.4)
    return (y * [[1.0], [2.0]]).sum()


def repeated_rows_read_before_they_are_written(x):
    y = np.array([x, x**2])
    rows = np.broadcast_to(y[0], (3, 3))
    y[0] *= rows.sum(axis=0)
    rows = np.broadcast_to(y[:1], (2, 3))
    y[:] = rows[::-1] * x
    return (y * y).sum()


@pytest.mark.parametrize(
    "f", [masked_copy_of_another_row, repeated_rows_read_before_they_are_written]
)
def test_what_shows_elements_several_times_is_read_first(f):
    check_grads(f, (X,))


def the_diagonal(x):
    table = np.zeros((3, 3))
    diagonal = np.diag(table)
    diagonal.flags.writeable = True
    diagonal[:] = x**2
    diagonal[0] += x[1]
    return np.sum(table * np.arange(9.0).reshape(3, 3)) + diagonal[2] ** 2


def the_diagonal_by_setflags(x):
    table = np.outer(x, x)
    diagonal = table.diagonal()
    diagonal.setflags(write=True)
    diagonal *= x
    return np.sum(table**2)


def made_read_only(x):
    rows = []
    for i in range(2):
        row = np.zeros(3)
        row[i] = x[i] ** 2
        row.flags.writeable = False
        rows.append(row)
    rows[0].setflags(write=False)
    return np.sum(rows[0] * x) + np.sum(rows[1] ** 2)


@pytest.mark.parametrize("f", [the_diagonal, the_diagonal_by_setflags, made_read_only])
def test_who_may_write(f):
    x = np.array([0.3, 0.5, 1.4])
    assert srcgrad.value_and_grad(f)(x)[0] == f(x)
    check_grads(f, (x,))


def test_what_is_read_only_and_written_is_refused():
    def caught(x):
        y = 2 * x
        y.flags.writeable = False
        try:
            y[0] = 1.0
        except ValueError:
            return 3 * np.sum(y)
        return np.sum(y)

    def raised(x):
        for _ in range(2):
            x[0] = 1.0
            x.setflags(write=False)
        return np.sum(x)

    for f in (caught, raised):
        with pytest.raises(srcgrad.UnsupportedError, match="read-only"):
            srcgrad.grad(f)(np.ones(3))


def test_the_imaginary_part_of_real_numbers_is_read_only():
    def written(x):
        y = 2 * x
        y.imag[0] = x[0]
        return y.sum()

    def caught(x):
        y = 2 * x
        try:
            y.imag += x
        except ValueError:
            y += x**2
        return y.sum()

    def of_either(x):
        y = x * 2 if x[0] > 1 else x * 1j
        y.imag += x
        return np.sum(np.abs(y) ** 2)

    with pytest.raises(srcgrad.UnsupportedError, match="assignment destination is read-only"):
        srcgrad.grad(written)(X)
    check_grads(caught, (X,))
    with pytest.raises(srcgrad.UnsupportedError, match="are complex isn't known"):
        srcgrad.grad(of_either)(X)


def test_whose_flags_are_set_is_asked_once():
    def f(x):
        rows = [2 * x, x**2, 3 * x]
        rows.pop().flags.writeable = False
        return np.sum(rows[-1]) * len(rows)

    check_grads(f, (X,))


def rows_stored_in_turn(x):
    y = np.outer(x, x)
    y[1:] = [y[0], y[0] * 2]
    y[:2] = y[1], y[2]
    y[None, 1:] = y[2], y[1]
    y[[0, 1]] = y[1], y[0]
    y[:] = [row * 2 for row in y]
    return np.sum(y * np.arange(9.0).reshape(3, 3))


def rows_changed_over(x):
    y = np.outer(x, x)
    y[:2] = y[1], y[0]
    return np.sum(y[0])


def rows_in_a_list(x):
    y, rows = np.outer(x, x), []
    for row in y[::-1]:
        rows.append(row)
    y[:] = rows
    return np.sum(y[0])


def moved_on(x):
    y = np.outer(x, x).T
    y[1:] = list(y[:-1])
    return np.sum(y[2])


def test_of_lists_of_arrays_numpy_stores_one_after_the_other():
    """A later one may have been written by then."""
    check_grads(rows_stored_in_turn, (X,))
    assert srcgrad.value_and_grad(rows_stored_in_turn)(X)[0] == rows_stored_in_turn(X)
    for f in (rows_changed_over, rows_in_a_list, moved_on):
        with pytest.raises(ValueError, match=r"test_in_place.py:\d+: NumPy reads what it has just"):
            srcgrad.grad(f)(X)


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_the_imaginary_part_takes_the_real_part_of_what_is_stored():
    def f(x, n):
        y = x * 1j + 0.5
        z = y * 2
        for _ in range(n):
            y.imag = z[::-1]
            y.imag[1:] = y[:-1] * (2 + 1j)
            y, z = z, y
        return np.sum(y.imag * np.arange(3.0)) + np.sum(y.real**2 * x)

    for n in range(4):
        check_grads(f, (X, n))
        assert srcgrad.value_and_grad(f)(X, n)[0] == pytest.approx(f(X, n))


def test_numbers_that_are_complex_in_some_trips():
    def added(x, n):
        total = x[0] * x[1]
        z = np.outer(x * 1j, x)
        for _ in range(n):
            total += np.sum(np.sin(z if n > 1 else np.require(z)) * np.arange(9.0).reshape(3, 3))
        return np.real(total)

    def of_rows(x, n):
        z = x * 1j + 0.5
        rows = [z, z.real * x, np.moveaxis(z.real, 0, -1) * 2]
        rows[n % 2][0] = x[2]
        total = sum((i + 1) * np.sum(np.sin(row) * np.arange(3.0)) for i, row in enumerate(rows))
        return np.real(total - np.sum(np.sin(z[...]) * np.arange(3.0)) * 0.9)

    def of_either(x, n):
        z, y = np.outer(x * 1j, x), x
        for _ in range(n):
            y = z * 1.1
        total = np.sum(np.sin(y) * 0.7)
        return np.real(total + sum((i + 1) * np.sum(np.sin(row) * x) for i, row in enumerate(z)))

    for n in range(4):
        check_grads(added, (X, n))
        check_grads(of_rows, (X, n))
        check_grads(of_either, (X, n))


def test_indices_of_what_has_one_axis_or_two():
    def f(x, n):
        y = np.outer(x, x)
        if n > 0:
            y = y.reshape(-1)
        for k in np.ndindex(y.shape):
            y[k] = y[k] * len(k)
        for k, item in np.ndenumerate(y):
            y[k] += item * k[-1]
        return np.sum(y * y)

    for n in range(2):
        check_grads(f, (X, n))


@pytest.mark.filterwarnings("error")
def test_what_out_takes_is_cast_as_numpy_does():
    """What is stored is cast in other ways, too."""

    def caught(x):
        y, counts = x * 2, np.zeros(3, int)
        try:
            np.exp(x * 1j, out=y)
        except TypeError:
            y += x
        try:
            np.add(y, x * 1j, out=y, where=x > 0.4)
        except TypeError:
            y *= x
        try:
            np.multiply(x, 3, out=counts)
        except TypeError:
            counts += 2
        return np.sum(y * y * counts)

    def of_other_axes(x):
        y = np.outer(x, x)
        try:
            np.sum(y, axis=0, out=y[1:])
        except ValueError:
            np.sum(y, axis=0, out=y[1])
        np.add(x, y[0], out=y)
        np.clip(x, 0.4, 0.9, out=y[:2])
        return np.sum(y * np.arange(9.0).reshape(3, 3))

    def narrower(x):
        y, z = np.zeros(3, np.float32), np.zeros(3, complex)
        np.sin(x, out=y)
        np.cos(x, out=z)
        return np.sum(y * np.abs(z))

    def raised(x):
        y = x * 2
        np.exp(x * 1j, out=y)
        return np.sum(y)

    for f in (caught, of_other_axes):
        check_grads(f, (X,))
        assert srcgrad.value_and_grad(f)(X)[0] == pytest.approx(f(X))
    assert srcgrad.value_and_grad(narrower)(X)[0] == pytest.approx(narrower(X))
    np.testing.assert_allclose(srcgrad.grad(narrower)(X), np.cos(2 * X), rtol=1e-5)
    with pytest.raises(srcgrad.UnsupportedError, match="can't be cast from dtype.'complex128'"):
        srcgrad.grad(raised)(X)


def test_one_place_of_flat_takes_one_number():
    def f(x):
        y = np.outer(x, x)
        y.flat[-1] = x[0]
        y.flat[4:] = x
        try:
            y.flat[0] = x
        except ValueError:
            y.flat[0] = x[1] * 2
        return np.sum(y * np.arange(9.0).reshape(3, 3)) + y[0, 0] ** 2

    check_grads(f, (X,))
    assert srcgrad.value_and_grad(f)(X)[0] == pytest.approx(f(X))


def test_no_try_catches_that_the_order_of_nditer_is_another():
    def f(x, n):
        y, total = np.outer(x, x), 0.0
        try:
            for item in np.nditer(y[:n].T):
                total += item * (total + 1.0)
        except ValueError:
            total += 7.0
        return total

    check_grads(f, (X, 1))
    with pytest.raises(ValueError, match="in the order of its memory: give order='C'"):
        srcgrad.grad(f)(X, 2)


SAME = [
    np.asarray, np.ascontiguousarray, np.atleast_1d, np.require, np.real_if_close,
    lambda x: x.real, lambda x: x.astype(float, copy=False), lambda x: np.array(x, copy=None),
]  # fmt: skip


@pytest.mark.parametrize("same", SAME)
def test_arrays_that_functions_give_back_have_two_names(same):
    """Another shape of the one would be one of the other; where that isn't read, it may be."""

    def read(x):
        y = x * 2
        z = same(y)
        z.shape = (2, 3)
        return np.sum(y[0])

    def returned(x):
        y = x * 2
        z = same(y)
        z.shape = (2, 3)
        return y, z

    def forgotten(x):
        y = x * 2
        z = same(y)
        z.shape = (2, 3)
        z[0] *= x[5]
        return np.sum(z[0] * z[1])

    x = np.array([0.3, 0.8, 0.55, 1.2, 0.4, 0.9])
    with pytest.raises(ValueError, match=r"test_in_place.py:\d+: this array has other names"):
        srcgrad.grad(read)(x)
    with pytest.raises(ValueError, match="this array has other names"):
        srcgrad.vjp(returned, x)
    check_grads(forgotten, (x,))


def reshaped_choice(x, n):
    y = x * 2
    z = y if n > 1 else x**2
    z.shape = (2, 3)
    return np.sum(y[0] * z[0, 0])


def reshaped_item(x, n):
    rows = []
    for i in range(3):
        rows.append(x * i if i != n else rows[0])
    z = rows.pop()
    z.shape = (2, 3)
    return sum(np.sum(row[0]) for row in rows) + np.sum(z[0] ** 2)


def reshaped_unless_raised(x, n):
    y = x * 2
    try:
        if n < 2:
            raise ValueError
        z = y
    except ValueError:
        z = x**2
    z.shape = (2, 3)
    return np.sum(y[0] * z[0, 0])


@pytest.mark.parametrize("f", [reshaped_choice, reshaped_item, reshaped_unless_raised])
def test_an_array_that_may_have_another_name_is_reshaped(f):
    x = np.array([0.3, 0.8, 0.55, 1.2, 0.4, 0.9])
    check_grads(f, (x, 1))
    with pytest.raises(ValueError, match="this array has other names, whose shape would change"):
        srcgrad.grad(f)(x, 2)


def test_what_is_real_if_close_is_no_view_that_is_written():
    """Which part of an adjoint would be added to depends on the numbers."""

    def f(x, n):
        z = np.outer(x * 1j, x)
        rows = [z.copy(), np.real_if_close(z)]
        for _ in range(n):
            rows.append(rows[-1])
        rows[n - 1][0] = x[0]
        return np.real(sum(np.sum(np.sin(row)) for row in rows))

    with pytest.raises(srcgrad.UnsupportedError, match="a view of another dtype"):
        srcgrad.grad(f)(X, 2)


def test_two_outputs_in_one_array():
    """Which of them it holds in the end is NumPy's business."""

    def f(x, n):
        y, z = x * 2, x * 3
        parts = [y, z]
        np.divmod(x * 5, 1.3, out=(parts[n], z))
        return np.sum(y * z)

    def same(x):
        y = x * 2
        np.modf(x, y, y)
        return np.sum(y)

    check_grads(f, (X, 0))
    for g, args in ((f, (X, 1)), (same, (X,))):
        with pytest.raises(
            (ValueError, srcgrad.UnsupportedError), match="what it has just written"
        ):
            srcgrad.grad(g)(*args)


def extended_by_another(x, n):
    rows = []
    for i in range(n):
        rows.append([x[i], 2 * x[i]])
    for i in range(1, n):
        rows[i].extend(rows[i - 1])
    return sum(sum(row) * x[0] for row in rows)


def extended_by_itself(x, n):
    part, rows = [x[0], x[1]], []
    for _ in range(n):
        rows.append(part)
    rows[0].extend(rows[-1])
    return sum(part)


def test_a_list_that_is_extended_by_itself_under_another_name():
    """It would grow for as long as it is read."""
    check_grads(extended_by_another, (X, 3), 2)
    with pytest.raises(ValueError, match="this list is extended by itself: write list"):
        srcgrad.grad(extended_by_itself)(X, 2)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "cumsum", "cumprod", "nansum", "nancumprod", "trace", "add.accumulate"]
)
@pytest.mark.parametrize("dtypes", ["fd", "df", "??", "ll", "bb", "bl", "?d"])
def test_sums_are_computed_in_the_dtype_of_out(name, dtypes):
    """30 ** 30 is more than single precision holds, and True + True in a bool is True."""
    function = operator.attrgetter(name)(np)
    a = (30 + np.arange(900).reshape(30, 30) % 7).astype(dtypes[0])

    def f(x, a):
        out = np.zeros(np.shape(function(a)), dtypes[1])
        function(a, out=out)
        return x * out

    with np.errstate(all="ignore"):
        value = srcgrad.vjp(lambda x: f(x, a), 1.5)[0]
        assert np.array_equal(value, f(1.5, a), equal_nan=True)


def test_the_derivative_of_a_sum_in_the_dtype_of_out():
    def f(x):
        out, least = np.zeros(3), np.zeros((), "f")
        np.cumprod(x.astype("f"), out=out)
        np.sum(x, 0, None, least)
        return np.sum(out) * x[0] + least * x[1]

    x = np.array([1.5, 2.25, 0.5])
    gradient = srcgrad.grad(f)(x)
    products = np.array([1.5, 3.375, 1.6875])
    expected = [
        products.sum() + 1.5 * (1 + 2.25 + 2.25 * 0.5) + x[1],
        1.5 * (1.5 + 1.5 * 0.5) + x.sum() + x[1],
        1.5 * 1.5 * 2.25 + x[1],
    ]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


@pytest.mark.parametrize("function", [np.sum, np.max, np.mean, np.cumsum])
def test_what_other_functions_than_ufuncs_cast_into_out_is_refused_in_a_try_too(function):
    """They cast floats to ints."""

    def f(x):
        out = np.zeros(np.shape(function(x)), int)
        try:
            function(x, out=out)
        except TypeError:
            return 5.0 * x[0]
        return x[0] * np.sum(out)

    with pytest.raises(srcgrad.UnsupportedError, match="the output can't be cast") as info:
        srcgrad.grad(f)(X)
    assert "assign what is returned" in str(info.value)


def put_with_places(b, values):
    np.place(b, [True, False, True], values)


def put_with_mask(b, values):
    np.putmask(b, [True, False, True], values)


@pytest.mark.parametrize("put", [np.copyto, put_with_places, put_with_mask])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "given",
    [
        *(lambda x: x, lambda x: x * 1j, lambda x: x.astype(np.float32), lambda x: x[1]),
        *(lambda x: 2.5, lambda x: 2.5 + 1j, lambda x: [x[0], 3.0, x[1]]),
        lambda x: x * 1j if x[0] > 0.2 else x,
    ],
)
def test_what_cannot_be_cast_raises_type_error(put, dtype, given):
    """As in NumPy: `np.copyto` casts to less precision, the others do so for what is no array."""

    def f(x):
        b = np.zeros(3, dtype)
        try:
            put(b, given(x))
        except TypeError:
            return 7 * x[0]
        return b @ x

    x = np.array([0.5, 1.5, 2.0])
    value, gradient = srcgrad.value_and_grad(f)(x)
    assert value == f(x)
    steps = np.eye(3) / 64  # of quadratic functions such slopes are exact, in single precision too
    slopes = [(f(x + step) - f(x - step)) * 32 for step in steps]
    np.testing.assert_array_equal(gradient, slopes)
