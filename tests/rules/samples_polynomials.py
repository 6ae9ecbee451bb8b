"""Samples of the arithmetic of coefficients in the bases of np.polynomial."""

import numpy as np

from srcgrad.rules.polynomial_bases import SLOPES, whole_product
from srcgrad.rules.polynomials import BASES

from .kit import case

rng = np.random.default_rng(3)


def r(*shape):
    return rng.normal(size=shape)


SAMPLES = {}
PAIRS = [(r(4), r(3)), (r(2), r(5)), (r(3), r(3)), (r(1), r(4)), (r(3), r(1)), (r(6), r(6))]
for prefix, (module, _) in BASES.items():
    for name in ("add", "sub", "mul"):
        if prefix + name != "polymul":
            SAMPLES[getattr(module, prefix + name)] = [case(a, b) for a, b in PAIRS]
    SAMPLES[getattr(module, prefix + "mulx")] = [case(r(n)) for n in (1, 2, 5)]
    if prefix == "poly":
        continue
    for name in (prefix + "2poly", "poly2" + prefix):
        SAMPLES[getattr(module, name)] = [case(r(n)) for n in (1, 2, 3, 6)]
    for name in (prefix + "der", prefix + "int"):
        SAMPLES[getattr(module, name)] = [
            case(r(5)), case(r(5), 2), case(r(3, 4)), case(r(3, 4), 1, axis=1), case(r(2), 3),
            case(r(4), scl=2.5), case(r(4, 3, 2), 2, axis=-2), case(r(1)),
        ]  # fmt: skip
    SAMPLES[getattr(module, prefix + "vander")] = [
        case(r(4), 3), case(r(2, 3), 4), case(r(3), 0), case(r(3), 1), case(np.array(0.7), 3),
    ]  # fmt: skip
SAMPLES[whole_product] = [case(prefix, a, b) for prefix in SLOPES for a, b in PAIRS[:3]]
