"""Samples for reading elements, sorting and interpolation."""

import operator

import numpy as np

from .kit import case

rng = np.random.default_rng(3)


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def spread(*shape):
    """Distinct, well separated numbers in random order."""
    n = int(np.prod(shape))
    return (rng.permutation(n) + 0.3 * rng.random(n)).reshape(shape) / 4


def ints(*shape):
    return rng.integers(-3, 3, size=shape)


def bools(*shape):
    return rng.random(shape) < 0.5


KEYS = [
    (r(4), 1),
    (r(4), -1),
    (r(4), np.int64(2)),
    (r(4), slice(1, 3)),
    (r(4), slice(None, None, -1)),
    (r(4), slice(-3, None, 2)),
    (r(4), slice(3, 1)),
    (r(4), Ellipsis),
    (r(4), None),
    (r(4), ()),
    (r(4), (1,)),
    (r(4), [0, 2]),
    (r(4), [0, 2, 2]),
    (r(4), [True, False, True, True]),
    (r(4), []),
    (r(4), ints(3)),
    (r(4), ints(2, 3)),
    (r(4), np.array(1)),
    (r(4), bools(4)),
    (r(4), np.zeros(4, bool)),
    (r(0), slice(None)),
    (r(3, 4), 1),
    (r(3, 4), (1, 2)),
    (r(3, 4), (slice(None), 2)),
    (r(3, 4), (slice(None), slice(None, None, 2))),
    (r(3, 4), (Ellipsis, 2)),
    (r(3, 4), (None, slice(None), None, 1)),
    (r(3, 4), ints(5)),
    (r(3, 4), (ints(5), ints(5))),
    (r(3, 4), (ints(5, 1), ints(2))),
    (r(3, 4), ([0, 1, 1], [2, 3, 3])),
    (r(3, 4), (0, ints(3))),
    (r(3, 4), (slice(1, None), ints(3))),
    (r(3, 4), (ints(3), slice(1, None))),
    (r(3, 4), (ints(3), None)),
    (r(3, 4), bools(3, 4)),
    (r(3, 4), bools(3)),
    (r(3, 4), (slice(None), bools(4))),
    (r(3, 4), (np.array([True, False, True]), ints(2))),
    (r(3, 4), (np.array([True, False, True]), np.array([True, False, False, True]))),
    (r(3, 4), (np.array([True, False, True]), 1)),
    (r(3, 4), True),
    (np.asfortranarray(r(3, 4)), (slice(None), 2)),
    (r(3, 4)[::-1, ::2], (slice(None), 1)),
    (r(2, 3, 4), (ints(2) % 2, slice(None), ints(2))),
    (r(2, 3, 4), (slice(None), ints(2, 2), 1)),
    (r(2, 3, 4), (0, slice(None), ints(2))),
    (r(2, 3, 4), (slice(None), None, ints(2))),
    (r(2, 3, 4), (Ellipsis, ints(2))),
    (r(2, 3, 4), (bools(2, 3), 1)),
    (r(2, 3, 4, 2), (0, Ellipsis, None, 1)),
    (np.array(0.7), ()),
    (np.array(0.7), None),
    (np.array(0.7), Ellipsis),
    (c(3, 4), (1, slice(None))),
    (c(3, 4), (ints(5), 1)),
]

TAKE = [
    case(r(4), 1),
    case(r(4), -1),
    case(r(4), [0, 2, 2]),
    case(r(4), ints(2, 3)),
    case(r(3, 4), 5),
    case(r(3, 4), ints(5)),
    case(r(3, 4), 2, 1),
    case(r(3, 4), ints(5), 0),
    case(r(3, 4), ints(5), -1),
    case(r(3, 4, 2), ints(2, 2), axis=1),
    case(r(3, 4), [7, -8, 2], axis=1, mode="wrap"),
    case(r(3, 4), np.array([7, -8, 2]), axis=1, mode="clip"),
    case(r(3, 4), 9, axis=1, mode="clip"),
    case(c(4), [0, 2, 2]),
    case(r(3), np.array([True, False, True])),
    case(r(4), True),
]

XP = np.array([0.1, 0.4, 1.1, 1.5, 2.3])
X = np.array([-0.5, 0.2, 0.9, 1.4, 1.45, 3.1])

SAMPLES = {
    operator.getitem: [case(x, key) for x, key in KEYS],
    np.take: TAKE,
    np.take_along_axis: [
        case(r(4), ints(3), 0),
        case(r(3, 4), ints(3, 2), 1),
        case(r(3, 4), ints(2, 4), axis=0),
        case(r(3, 4), ints(1, 2), -1),
        case(r(1, 4), ints(3, 2), -1),
        case(r(3, 4), ints(5), None),
        case(r(2, 3, 4), ints(2, 2, 4) % 3, 1),
        case(c(3, 4), ints(3, 2), 1),
    ],
    np.compress: [
        case([True, False, True], r(3)),
        case(np.array([0, 1, 1]), r(3, 4)),
        case([True, False, True], r(3, 4), 0),
        case([False, True], r(3, 4), -1),
        case(bools(4), r(3, 4), axis=1),
    ],
    np.ndarray.compress: [
        case(r(3), [True, False, True]),
        case(r(3, 4), [False, True], 1),
        case(r(3, 4), [False, True, True]),
    ],
    np.extract: [case(bools(4), r(4)), case(bools(2, 3), r(2, 3)), case([0, 1, 1], r(3))],
    np.choose: [
        case(np.array([0, 1, 2, 1]), [r(4), r(4), r(4)]),
        case(np.array([0, 1, 1, 1]), (r(4), 0.7)),
        case(np.array([[0], [1]]), [r(4), r(2, 4)]),
        case(np.array([0, 1, 2, 1]), r(3, 4)),
        case(np.array([[0, 1], [1, 2]]), r(3, 2)),
        case(np.array([0, 1, 2]), r(3)),
        case(1, [r(4), r(4)]),
        case(np.array([0, 5, -2, 1]), [r(4), r(4), r(4)], mode="wrap"),
        case(np.array([0, 5, -2, 1]), [r(4), r(4), r(4)], mode="clip"),
    ],
    np.select: [
        case([bools(4), bools(4)], [r(4), r(4)]),
        case([bools(4), bools(4)], [r(4), 0.7], 1.3),
        case([bools(3, 4), bools(4)], [r(3, 1), r(4)], r(4)),
        case([bools(4)], [c(4)], 0.7),
    ],
    np.unique: [
        case(np.array([0.3, -1.2, 2.5, 0.7])),
        case(np.array([[0.3, -1.2], [2.5, 0.7]])),
        case(np.array([0.3, -1.2, 2.5]), True, True, True),
        case(0.5),
        case(np.array([[0.3, -1.2], [2.5, 0.7]]), axis=0),
        case(np.array([[0.3, -1.2, 1.0], [2.5, 0.7, 2.0]]), axis=1, return_counts=True),
        case(np.array([0.3, -1.2, 2.5, 0.7]), equal_nan=False),
        case(np.array([1 + 2j, -0.5j, 2.0])),
    ],
    np.sort: [
        case(spread(5)),
        case(spread(3, 4)),
        case(spread(3, 4), 0),
        case(spread(3, 4), None),
        case(spread(2, 3, 4), 1),
        case(spread(2, 3, 4), axis=-2, kind="stable"),
        case(np.asfortranarray(spread(3, 4)), 0),
        case(spread(5)[::-2]),
        case(r(0)),
        case(spread(5) + 1j),
    ],
    np.sort_complex: [case(spread(5) + 1j), case(spread(5)), case(spread(3, 4) - 2j)],
    np.partition: [
        case(spread(7), 2),
        case(spread(7), (1, 4)),
        case(spread(3, 40), 5),
        case(spread(30, 4), 7, 0),
        case(spread(3, 4), 5, None),
        case(spread(2, 5, 3), 1, axis=-2),
    ],
    np.interp: [
        case(X, XP, r(5)),
        case(0.7, XP, r(5)),
        case(-0.7, XP, r(5)),
        case(X.reshape(2, 3), XP, r(5)),
        case(X, XP, r(5), 0.3),
        case(X, XP, r(5), 0.3, 0.9),
        case(X, XP, r(5), None, 0.9),
        case(0.7, XP, r(5), 0.3, 0.9),
        case(X, XP[:1], r(1), fixed=(1,)),
        case(X, XP, c(5)),
        case(X, XP[[1, 4, 0, 2, 3]], r(5), None, None, 1.7),
        case(X, XP[[1, 4, 0, 2, 3]], r(5), None, None, -1.7),
        case(X, XP, r(5), None, None, 0.77),
        case(X, [0.1, 0.7], [0.3, 0.4]),
    ],
    np.argsort: [case(spread(4))],
    np.searchsorted: [case(XP, X)],
    np.flatnonzero: [case(r(3))],
}
