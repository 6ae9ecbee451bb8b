"""Arrays as sets: what is found several times shares the adjoint equally."""

from __future__ import annotations

import numpy as np

from .registry import adjoint, definition


@adjoint(np.unique)
def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *,
    equal_nan=True, sorted=True, out, d_out,
):  # fmt: skip
    if return_index or return_inverse or return_counts:
        out, d_out = out[0], d_out[0]
    if not sorted and axis is None:  # complex numbers come in any order
        d_out = d_out[np.argsort(out)]
    _, inverse, counts = np.unique(
        ar, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan
    )
    inverse = np.ravel(inverse)
    if axis is None:
        return np.reshape((d_out / counts)[inverse], np.shape(ar))
    first = np.moveaxis(d_out, axis, -1) / counts
    return np.moveaxis(first[..., inverse], -1, axis)


@definition(np.union1d)
def union1d(ar1, ar2):
    return np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@definition(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        raise NotImplementedError("return_indices of np.intersect1d isn't supported")
    ar1, ar2 = (np.ravel(a) if assume_unique else np.unique(a) for a in (ar1, ar2))
    values, counts = np.unique(np.concatenate((ar1, ar2)), return_counts=True)
    return values[counts > 1]


@definition(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    values = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return values[~np.isin(values, ar2)]


@definition(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    ar1, ar2 = (np.ravel(a) if assume_unique else np.unique(a) for a in (ar1, ar2))
    values, counts = np.unique(np.concatenate((ar1, ar2)), return_counts=True)
    return values[counts == 1]
