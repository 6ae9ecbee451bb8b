"""Samples of histograms."""

import numpy as np

from .kit import case

r = np.random.default_rng(7).standard_normal
EDGES = np.array([-2.0, -0.5, 0.3, 1.7])
SAMPLES = {
    np.histogram: [
        case(r(6), 4, (-3.1, 3.0), weights=r(6), fixed=(0,)),
        case(r((2, 3)), EDGES, weights=r((2, 3)), fixed=(0,)),
        case(r(6), 4, (-3.1, 3.0), True, r(6) ** 2, fixed=(0,)),
        case(r((2, 3)), EDGES, density=True, weights=r((2, 3)) ** 2, fixed=(0,)),
        case(r(6), EDGES, density=True, fixed=(0,)),
        case(r(6), 4, weights=r(6), fixed=(4,)),
        case(r(6), 3, density=True),
        case(r(9), "sqrt", density=True),
        case(r(9), "sturges", weights=None),
    ]
}
