"""Samples of the methods of ufuncs that have rules of their own."""

import numpy as np

from .kit import case

rng = np.random.default_rng(23)


def r(*shape):
    return rng.normal(size=shape)


EXTREMES = [
    case(r(5)),
    case(r(3, 4)),
    case(r(3, 4), 1),
    case(r(3, 4), axis=-1),
    case(r(2, 3, 4), 1),
    case(np.asfortranarray(r(3, 4))),
    case(r(6)[::-2]),
    case(r(0, 3)),
]

SAMPLES = {
    np.maximum.accumulate: EXTREMES,
    np.minimum.accumulate: EXTREMES,
    np.fmax.accumulate: EXTREMES,
    np.fmin.accumulate: EXTREMES,
    np.add.reduceat: [
        case(r(6), [0, 2, 4]),
        case(r(6), [0, 4, 1, 5]),
        case(r(6), [3]),
        case(r(6), np.array([0, 0, 3])),
        case(r(3, 5), [0, 2], 1),
        case(r(3, 5), [0, 2], axis=0),
        case(r(2, 5, 3), [1, 3], 1),
    ],
}
