"""Histograms: weighted counts, which are linear in the weights. The data have no slope, but for
the edges that follow their extrema; densities have one by the widths of the bins.
"""

from __future__ import annotations

import operator

import numpy as np

from .helpers import all_axes
from .registry import adjoint, definition


def place(a, edges):
    """The number of the bin of each value, and whether it is in one; the last bin is closed."""
    last = len(edges) - 2
    number = np.searchsorted(edges, a, "right") - 1
    number = np.where(a == edges[-1], last, number)
    return np.clip(number, 0, last), (number >= 0) & (number <= last)


@adjoint(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None, *, out, d_out):
    counts, edges = out
    d_counts, d_edges = d_out
    number, inside = place(np.ravel(a), edges)
    if density:
        widths = np.diff(edges)
        d_edges = d_edges + np.diff(d_counts * counts / widths, prepend=0.0, append=0.0)
        total = np.sum(inside) if weights is None else np.sum(np.ravel(weights) * inside)
        d_counts = (d_counts / widths - np.sum(d_counts * counts)) / total
    d_weights = None
    if weights is not None:
        d_weights = np.reshape(d_counts[number] * inside, np.shape(weights))
    if not isinstance(bins, (int, np.integer, str)):
        return None, d_edges, None, None, d_weights
    to_high = np.linspace(0.0, 1.0, len(edges))
    d_high = np.sum(d_edges * to_high)
    d_low = np.sum(d_edges) - d_high
    if range is not None:
        return None, None, [d_low, d_high], None, d_weights
    if np.size(a) == 0:
        return np.zeros_like(a), None, None, None, d_weights
    lowest, highest = a == np.min(a), a == np.max(a)
    d_a = d_low / np.sum(lowest) * lowest + d_high / np.sum(highest) * highest
    return d_a, None, None, None, d_weights


# In several dimensions


@definition(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges: given, or equally far from each other between the ends of a range or the data."""
    if weights is not None and np.shape(weights) != np.shape(a):
        raise ValueError("weights should have the same shape as a.")
    if isinstance(bins, str):  # an estimator chooses how many there are
        bins = np.histogram(a, bins, range, weights=weights)[0].size
    if np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    bins = operator.index(bins)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if range is not None:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    elif np.size(a) == 0:
        low, high = 0.0, 1.0
    else:
        low, high = np.min(a), np.max(a)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of the bins is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


@definition(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    if isinstance(sample, (list, tuple)):
        columns = [np.asarray(x) for x in sample]
    elif isinstance(bins, (list, tuple)):
        columns = [sample[:, k] for k in all_axes(len(bins))]
    elif range is not None:
        columns = [sample[:, k] for k in all_axes(len(range))]
    else:
        raise NotImplementedError(
            "how many dimensions there are must be known here: give the bins of each, or the data "
            "as a tuple of arrays"
        )
    return counted(columns, bins, range, density, weights)


@definition(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if not isinstance(bins, (int, np.integer)) and len(bins) > 2:
        bins = (bins, bins)
    counts, edges = counted([np.asarray(x), np.asarray(y)], bins, range, density, weights)
    return counts, edges[0], edges[1]


def counted(columns, bins, range, density, weights):
    """The counts in the bins of all dimensions, and the edges of each."""
    edges, shape, number = [], (), 0
    for k in all_axes(len(columns)):
        own = bins if isinstance(bins, (int, np.integer)) else bins[k]
        limits = None if range is None else range[k]
        edges_k = histogram_bin_edges(columns[k], own, limits)
        last = len(edges_k)
        places = np.searchsorted(edges_k, columns[k], "right")
        places = np.where(columns[k] == edges_k[-1], last - 1, places)
        number = number * (last + 1) + places
        shape = (*shape, last + 1)
        edges.append(edges_k)
    counts = np.bincount(number, weights, np.prod(shape)).reshape(shape) * 1.0
    counts = counts[(slice(1, -1),) * len(shape)]
    if density:
        counts = counts / np.sum(counts)
        for k in all_axes(len(columns)):
            widths = np.diff(edges[k])
            counts = counts / widths[(slice(None), *(None,) * (len(shape) - 1 - k))]
    return counts, edges
