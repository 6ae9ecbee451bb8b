"""Adding to elements of an array that may be named several times, as fast as NumPy can."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FEW = 2000  # for so many NumPy takes less time than it takes to look at the key


def add_at(array: Any, key: Any, values: Any) -> None:
    """`np.add.at(array, key, values)`, in less time where the key has arrays of whole numbers.

    NumPy is fast where all are vectors: so are few columns, and the numbers of blocks of rows.

    >>> array = np.zeros((2, 3))
    >>> add_at(array, np.array([1, -1]), np.ones((2, 3)))
    >>> array
    array([[0., 0., 0.],
           [2., 2., 2.]])
    """
    if np.size(values) <= FEW or not in_rows(np.add, array, key, values):
        np.add.at(array, key, values)


def subtract_at(array: Any, key: Any, values: Any) -> None:
    """`np.subtract.at(array, key, values)`, as `add_at` adds.

    >>> array = np.zeros((2, 3))
    >>> subtract_at(array, np.array([1, -1]), np.ones((2, 3)))
    >>> array
    array([[ 0.,  0.,  0.],
           [-2., -2., -2.]])
    """
    if np.size(values) <= FEW or not in_rows(np.subtract, array, key, values):
        np.subtract.at(array, key, values)


def in_rows(function: np.ufunc, array: Any, key: Any, values: Any) -> bool:
    """Do `function.at(array, key, values)` by rows, or return False."""
    found = rows_at(array, key if isinstance(key, tuple) else (key,), values)
    if found is None:
        return False
    matrix, index, rows = found
    n, width = rows.shape
    if width <= 16:
        for column, numbers in zip(matrix.T, rows.T, strict=True):
            function.at(column, index, numbers)
        return True
    flat, columns = matrix.reshape(-1), np.arange(width)
    for start in range(0, n, 256):
        block = slice(start, start + 256)
        places = index[block, None] * width + columns
        function.at(flat, places.reshape(-1), rows[block].reshape(-1))
    return True


def rows_at(array: Any, key: tuple[Any, ...], values: Any) -> tuple[Any, Any, Any] | None:
    """An array as a matrix, the numbers of its rows at a key, and what is added to each.

    The key is `[:, i, j, :]`, arrays of whole numbers between whole axes. None if it is another,
    or if the matrix would be a copy.
    """
    first = next((axis for axis, item in enumerate(key) if not isinstance(item, slice)), len(key))
    items = [np.asarray(item) for item in key[first:] if not isinstance(item, slice)]
    last = first + len(items)
    others = (*key[:first], *key[last:])
    if not all(isinstance(item, slice) and item == slice(None) for item in others):
        return None
    if not items or any(item.dtype.kind not in "iu" for item in items):
        return None
    stack, lengths, row = array.shape[:first], array.shape[first:last], array.shape[last:]
    places = (*stack, *np.broadcast_shapes(*(item.shape for item in items)))
    count, width = math.prod(places), math.prod(row)
    is_matrix = array.ndim == 2 and len(items) == 1 and not stack
    lies = array.flags.c_contiguous or (is_matrix and width <= 16)
    if not lies or np.shape(values) != (*places, *row):
        return None
    index: Any = 0
    for item, n in zip(items, lengths, strict=True):
        lowest = item.min()
        if lowest < -n or item.max() >= n:
            return None  # NumPy says so
        place = item.astype(np.intp, copy=False)
        index = index * n + (place if lowest >= 0 else np.where(place < 0, place + n, place))
    if stack:
        index = np.arange(math.prod(stack))[:, None] * math.prod(lengths) + index.reshape(-1)
    matrix = array if is_matrix else array.reshape(-1, width)
    return matrix, index.reshape(-1), values.reshape(count, width)
