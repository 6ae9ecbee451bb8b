"""Distances between points."""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

from ...analysis.inference import Inferred
from ...kinds import Array, fresh_size
from ..registry import Unknown, adjoint, classified, definition, kind, refuse
from .kinds import operand_kind

DOUBLE = np.dtype(np.float64)

METRIC = Unknown("of this metric it has no rule; write it with np.linalg.norm(a[:, None] - b)")


# Of two points


def weighted(terms, w):
    return terms if w is None else w * terms


@definition(distance.euclidean)
def euclidean(u, v, w=None):
    if w is None:
        return np.linalg.norm(u - v)
    return np.linalg.norm(np.sqrt(w) * (u - v))


definition(distance.sqeuclidean)(lambda u, v, w=None: np.sum(weighted((u - v) ** 2, w)))
definition(distance.cityblock)(lambda u, v, w=None: np.sum(weighted(np.abs(u - v), w)))
definition(distance.chebyshev)(lambda u, v: np.max(np.abs(u - v)))


@definition(distance.minkowski)
def minkowski(u, v, p=2, w=None):
    if w is None:
        return np.linalg.norm(u - v, p)
    return np.linalg.norm(w ** (1 / p) * (u - v), p)


definition(distance.seuclidean)(lambda u, v, V: float(np.linalg.norm((u - v) / np.sqrt(V))))


@definition(distance.mahalanobis)
def mahalanobis(u, v, VI):
    delta = u - v
    return np.sqrt(delta @ VI @ delta)


@definition(distance.cosine)
def cosine(u, v, w=None):
    wu = weighted(u, w)
    return 1.0 - wu @ v / np.sqrt((wu @ u) * (weighted(v, w) @ v))


@definition(distance.correlation)
def correlation(u, v, w=None, centered=True):
    if centered:
        u, v = u - np.average(u, weights=w), v - np.average(v, weights=w)
    return cosine(u, v, w)


@definition(distance.canberra)
def canberra(u, v, w=None):
    total = np.abs(u) + np.abs(v)
    return np.sum(weighted(np.abs(u - v) / (total + (total == 0)), w))


definition(distance.braycurtis)(
    lambda u, v, w=None: np.sum(weighted(np.abs(u - v), w)) / np.sum(weighted(np.abs(u + v), w))
)


@definition(distance.jensenshannon)
def jensenshannon(p, q, base=None, *, axis=0, keepdims=False):
    p = p / np.sum(p, axis=axis, keepdims=True)
    q = q / np.sum(q, axis=axis, keepdims=True)
    m = 0.5 * (p + q)
    terms = p * np.log(p / m) + q * np.log(q / m)
    total = 0.5 * np.sum(terms, axis=axis, keepdims=keepdims)
    return np.sqrt(total if base is None else total / np.log(base))


# Of all pairs


def pulled(x, y, weights):
    """The sums over j of weights[i, j] * (x[i] - y[j]), without the array of all differences."""
    return x * weights.sum(1)[:, None] - weights @ y


def slopes(x, y, out, d_out, metric, p):
    """The derivatives of the distances by the differences x[i] - y[j], times `d_out`."""
    differences = x[:, None].astype(out.dtype) - y  # SciPy computes in double precision
    if metric == "cityblock":
        return d_out[..., None] * np.sign(differences)
    if metric == "chebyshev":
        largest = np.abs(differences) == out[..., None]
        share = d_out / np.sum(largest, axis=-1)
        return share[..., None] * largest * np.sign(differences)
    scaled = d_out / (out + (out == 0)) ** (p - 1)
    return scaled[..., None] * np.sign(differences) * np.abs(differences) ** (p - 1)


@adjoint(distance.cdist)
def cdist(XA, XB, metric="euclidean", *, p=2.0, out, d_out):
    if metric == "euclidean" or metric == "sqeuclidean":
        weights = d_out / (out + (out == 0)) if metric == "euclidean" else 2 * d_out
        return pulled(XA, XB, weights), pulled(XB, XA, weights.T)
    if metric == "cosine":
        a, b = np.linalg.norm(XA, axis=1)[:, None], np.linalg.norm(XB, axis=1)[:, None]
        unit_a, unit_b, similar = XA / a, XB / b, (1 - out) * d_out
        d_a = (similar.sum(1)[:, None] * unit_a - d_out @ unit_b) / a
        return d_a, (similar.sum(0)[:, None] * unit_b - d_out.T @ unit_a) / b
    if metric not in ("cityblock", "chebyshev", "minkowski"):
        return METRIC, METRIC
    d_differences = slopes(XA, XB, out, d_out, metric, p)
    return d_differences.sum(1), -d_differences.sum(0)


@adjoint(distance.pdist)
def pdist(X, metric="euclidean", *, p=2.0, out, d_out):
    m = X.shape[0]  # of no points SciPy makes the square of one
    square, d_square = distance.squareform(out)[:m, :m], distance.squareform(d_out)[:m, :m]
    if metric == "euclidean" or metric == "sqeuclidean":
        weights = 2 * d_square
        if metric == "euclidean":
            weights = d_square / (square + (square == 0))
        return pulled(X, X, weights)
    if metric not in ("cityblock", "chebyshev", "minkowski"):
        return METRIC
    return slopes(X, X, square, d_square, metric, p).sum(1)


@adjoint(distance.squareform)
def squareform(X, force="no", checks=True, *, out, d_out):
    if X.ndim == 1:
        rows, columns = np.triu_indices(out.shape[0], 1)
        return d_out[rows, columns] + d_out[columns, rows]
    d_X = np.zeros(X.shape, d_out.dtype)
    d_X[np.triu_indices(X.shape[0], 1)] = d_out
    return d_X


kind(distance.pdist)(lambda args, kwargs: Inferred(Array(DOUBLE, (fresh_size(),))))


@kind(distance.squareform)
def squareform_kind(args, kwargs):
    found = operand_kind(args[0])
    if found is None or found.shape is None:
        return None
    n = fresh_size()
    return Inferred(Array(found.dtype, (n,) if len(found.shape) == 2 else (n, n)))


for _name in distance.__all__:
    if not classified(getattr(distance, _name)):
        refuse(getattr(distance, _name), reason="it is of truth values, or a check")
