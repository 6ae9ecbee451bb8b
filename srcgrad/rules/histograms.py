"""Histograms: weighted counts, which are linear in the weights. The data have no slope.

Edges that follow the data move with them: then they must be given, or the range.
"""

from __future__ import annotations

import numpy as np

from .registry import Unknown, adjoint

FOLLOWING = Unknown("its edges follow the data: give range=(low, high), or the edges as an array")


def place(a, edges):
    """The number of the bin of each value, and whether it is in one; the last bin is closed."""
    last = len(edges) - 2
    number = np.searchsorted(edges, a, "right") - 1
    number = np.where(a == edges[-1], last, number)
    return np.clip(number, 0, last), (number >= 0) & (number <= last)


@adjoint(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None, *, out, d_out):
    counts, edges = out
    d_counts = d_out[0]
    number, inside = place(np.ravel(a), edges)
    d_weights = None
    if weights is not None:
        if density:
            widths = np.diff(edges)
            total = np.sum(weights * np.reshape(inside, np.shape(weights)))
            d_counts = (d_counts / widths - np.sum(d_counts * counts)) / total
        d_weights = np.reshape(d_counts[number] * inside, np.shape(weights))
    if not isinstance(bins, (int, np.integer)):
        return None, d_out[1], None, None, d_weights
    if range is None:
        return FOLLOWING, None, None, None, d_weights
    to_high = np.linspace(0.0, 1.0, bins + 1)
    d_high = np.sum(d_out[1] * to_high)
    return None, None, [np.sum(d_out[1]) - d_high, d_high], None, d_weights
