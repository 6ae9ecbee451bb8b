"""Samples for polynomials, covariances and weighted counts."""

import numpy as np

from srcgrad.rules.fitting import moments

from .kit import case

rng = np.random.default_rng(6)


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


SAMPLES = {
    moments: [case(r(5), r(5), 4), case(r(2, 3), r(2, 3), 1), case(r(4), r(4), 2)],
    np.polyval: [
        case(r(4), r(5)),
        case(r(4), 0.7),
        case(r(4), r(2, 3)),
        case(r(1), r(3)),
        case(c(4), c(3)),
        case(r(4), r(0)),
    ],
    np.polyder: [case(r(4)), case(r(5), 2), case(r(2), 3), case(r(1)), case(c(4), m=0)],
    np.polyint: [case(r(4)), case(r(4), 2), case(r(1), m=3), case(c(4))],
    np.polyadd: [case(r(4), r(4)), case(r(2), r(4)), case(r(4), r(1)), case(r(3), 0.5)],
    np.polysub: [case(r(4), r(4)), case(r(2), r(4)), case(c(4), c(1))],
    np.polymul: [
        *(case(r(4), r(4)), case(r(2), r(4)), case(r(4), r(1)), case(c(2), c(3))),
        *(case(r(3), 0.5), case(1.5, r(2)), case(0.4, 0.7)),
    ],
    np.roots: [
        case(np.array([1.0, -6.0, 11.0, -6.1])),
        case(np.array([2.0, 0.3, 1.0])),
        case(c(4)),
    ],
    np.poly: [case(r(4)), case(r(1)), case(c(3)), case(np.array([1.0, 1.0, 2.0])), case(r(0))],
    np.cov: [
        case(r(5)),
        case(r(3, 5)),
        case(r(1, 5)),
        case(r(3, 5), None, False),
        case(r(3, 5), bias=True),
        case(r(3, 5), ddof=2),
        case(r(5), r(5)),
        case(r(3, 5), r(2, 5)),
        case(r(5, 3), r(5, 2), False),
        case(c(3, 5)),
        case(c(3, 5), c(5)),
    ],
    np.corrcoef: [
        case(r(3, 5)),
        case(r(5), r(5)),
        case(r(3, 5), r(2, 5)),
        case(r(5, 3), None, False),
        case(r(5)),
        case(c(3, 5)),
    ],
    np.bincount: [
        case(np.array([0, 2, 2, 1]), r(4)),
        case(np.array([0, 2, 2, 1]), r(4), 6),
    ],
}
