"""The reverse of broadcasting, which the tapes of arrays share."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def unbroadcast(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Add up `gradient` over the axes along which an array of `shape` was repeated."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    if extra:
        gradient = gradient.sum(axis=tuple(range(extra)))
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    if repeated:
        gradient = gradient.sum(axis=repeated, keepdims=True)
    if gradient.shape != shape:
        raise ValueError(f"gradient of shape {gradient.shape} for an input of {shape}")
    return gradient
