"""Nearest neighbours: which they are is constant, how far away they are isn't."""

from __future__ import annotations

import numpy as np
from scipy import spatial

from ...analysis.inference import Inferred
from ...custom import stop_gradient
from ...ir import Const
from ...kinds import Array, Opaque, fresh_size
from ..registry import definition, kind, refuse, zero
from .kinds import operand_kind
from .left import left


def neighbours(tree, x, k, eps, p, farthest):
    """The numbers of the nearest points. Called by generated code.

    >>> tree = spatial.cKDTree(np.array([[0.0], [1.0], [5.0]]))
    >>> neighbours(tree, np.array([0.9]), 2, 0.0, 2.0, np.inf)
    array([1, 0])
    """
    return tree.query(x, k, eps, p, farthest)[1]


def places(tree, x, numbers):
    """The points with these numbers, or the images of them that are nearest to x; what is no number
    of a point gets the first. Called by generated code.
    """
    found = np.asarray(tree.data)[np.where(numbers < tree.n, numbers, 0)]
    if tree.boxsize is None:
        return found
    box = np.broadcast_to(tree.boxsize, tree.m)
    turns = np.round((x - found) / np.where(box > 0, box, np.inf))
    return found + turns * np.where(box > 0, box, 0.0)


def absent(tree, numbers):
    """Where there was no neighbour. Called by generated code."""
    return np.asarray(numbers) == tree.n


zero(neighbours, absent)
BY_THE_POINTS = (
    "distances have no derivative by the points of which a tree is made: ask it which they are, "
    "and write np.linalg.norm(x - points[numbers], axis=-1)"
)
refuse(places, reason=BY_THE_POINTS)


def fast_tree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize):
    """Called by generated code."""
    return spatial.cKDTree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


def tree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize):
    """Called by generated code."""
    return spatial.KDTree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


refuse(fast_tree, tree, reason=BY_THE_POINTS)
kind(fast_tree)(lambda args, kwargs: Inferred(Opaque(spatial.cKDTree)))
kind(tree)(lambda args, kwargs: Inferred(Opaque(spatial.KDTree)))


@definition(spatial.cKDTree)
def make_fast_tree(
    data, leafsize=16, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None
):
    return fast_tree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


@definition(spatial.KDTree)
def make_tree(
    data, leafsize=10, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None
):
    return tree(data, leafsize, compact_nodes, copy_data, balanced_tree, boxsize)


@kind(neighbours)
def neighbours_kind(args, kwargs):
    x, k = args[1:3]
    shape = x.value.shape if isinstance(x, Const) and isinstance(x.value, np.ndarray) else None
    if shape is None:
        shape = getattr(operand_kind(x), "shape", None)
    if shape is None or not isinstance(k, Const) or not isinstance(k.value, (int, np.integer)):
        return None
    shape = shape[:-1] if k.value == 1 else (*shape[:-1], k.value)
    return Inferred(Array(np.dtype(np.intp), shape))


@kind(places)
def places_kind(args, kwargs):
    shape = getattr(operand_kind(args[2]), "shape", None)
    return None if shape is None else Inferred(Array(np.dtype(float), (*shape, fresh_size())))


@kind(absent)
def absent_kind(args, kwargs):
    shape = getattr(operand_kind(args[1]), "shape", None)
    return None if shape is None else Inferred(Array(np.dtype(bool), shape))


def ask(tree, x, k, eps, p, farthest, workers):
    """Called by generated code."""
    return tree.query(x, k, eps, p, farthest, workers)


query_left = left(ask, "distances are differentiated for a number of neighbours, k, not a list")


@definition(spatial.KDTree.query, spatial.cKDTree.query)
def query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
    if not isinstance(k, (int, np.integer)):
        return query_left(self, x, k, eps, p, distance_upper_bound, workers)
    x = np.asarray(x) * 1.0
    numbers = neighbours(self, x, k, eps, p, distance_upper_bound)
    wide = x if k == 1 else x[..., None, :]
    between = wide - places(self, stop_gradient(wide), numbers)
    apart = np.linalg.norm(between, p, axis=-1)
    return np.where(absent(self, numbers), np.inf, apart), numbers
