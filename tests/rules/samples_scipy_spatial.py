"""Samples of scipy.spatial.distance."""

from srcgrad.rules import scipy as scipy_rules

from .kit import case
from .samples_linalg import r

SAMPLES = {}
try:
    from scipy.spatial import distance
except ImportError:
    distance = None

if distance is not None:
    scipy_rules.load()
    METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski")
    SAMPLES[distance.cdist] = [case(r(4, 3), r(5, 3), m) for m in (*METRICS, "cosine")] + [
        case(r(4, 3), r(5, 3), "minkowski", p=3.0),
        case(r(4, 3), r(5, 3)),
    ]
    SAMPLES[distance.pdist] = [case(r(5, 3), m) for m in METRICS]
    SAMPLES[distance.squareform] = [case(r(6)), case(distance.squareform(r(6)), fixed=(0,))]
