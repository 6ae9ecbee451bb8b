"""Nests of arrays: arguments and results that are tuples, lists, dicts and objects of them."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .runtime import attributes, make_dict, make_list, put_attributes, structured, tuple_of
from .signature import fields_of, is_record, is_structured


def children(tree: Any) -> dict[Any, Any] | None:
    """The items of a container or object by key; None of a leaf.

    >>> children([2.0, "a"])
    {0: 2.0, 1: 'a'}
    """
    if isinstance(tree, (list, tuple, collections.deque)):
        return dict(enumerate(tree))
    if isinstance(tree, dict):
        return tree
    if is_structured(tree):
        return fields_of(tree)
    return attributes(tree) if is_record(tree) else None


def is_float(leaf: Any) -> bool:
    """Whether a leaf is a float or complex number, or an array of them."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind in "fc"
    return isinstance(leaf, (float, complex))


def float_leaves(tree: Any) -> Iterator[Any]:
    """The floats and arrays of floats in a nest, in order.

    >>> list(float_leaves({"a": (1.5, 2), "b": [np.float32(2)]}))
    [1.5, np.float32(2.0)]
    """
    inner = children(tree)
    if inner is not None:
        for item in inner.values():
            yield from float_leaves(item)
    elif is_float(tree):
        yield tree


def mapped(function: Callable[..., Any], tree: Any, other: Any = lambda leaf: leaf) -> Any:
    """The nest with a function applied to its floats, and another one to its other leaves.

    >>> mapped(lambda x: 2 * x, {"a": (1.5, 2)})
    {'a': (3.0, 2)}
    """
    inner = children(tree)
    if inner is None:
        return function(tree) if is_float(tree) else other(tree)
    items = {key: mapped(function, item, other) for key, item in inner.items()}
    return with_children(tree, items)


def with_children(tree: Any, items: dict[Any, Any]) -> Any:
    """A container or object of the same type that holds other items.

    >>> with_children((1, 2), {0: 3, 1: 4})
    (3, 4)
    """
    if isinstance(tree, dict):
        factory = getattr(tree, "default_factory", None)
        namespace = getattr(tree, "__dict__", None) is tree
        return items if type(tree) is dict else make_dict(type(tree), items, factory, namespace)
    if isinstance(tree, tuple):
        return tuple_of(type(tree), items.values())
    if isinstance(tree, (list, collections.deque)):
        return make_list(type(tree), items.values())
    if is_structured(tree):
        return structured(tree.dtype, items)
    new = copy.copy(tree)
    put_attributes(new, items)
    return new


def refilled(tree: Any, values: Iterator[Any]) -> Any:
    """The nest with its floats replaced, in order, by the values; None for other leaves.

    >>> refilled([1.0, "text", 2.0], iter("ab"))
    ['a', None, 'b']
    """
    return mapped(lambda _: next(values), tree, lambda _: None)
