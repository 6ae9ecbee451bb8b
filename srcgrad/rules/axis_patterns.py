"""The functions of einops, which name axes: `rearrange(x, "b (h w) c -> b c h w", h=2)`.

The pattern is read when compiling; what is left is what one would write oneself, with `reshape`,
`transpose` and the like. An axis is a group of names: of one name, as a rule, of several in
parentheses, of none where the pattern has 1.
"""

from __future__ import annotations

import string
import sys
from typing import Any

import numpy as np

from .registry import definition

_loaded: set[Any] = set()


def load() -> None:
    """Register the functions if the user's program has imported einops, or opt_einsum."""
    of_einops = (rearrange, reduce, repeat, einsum, pack, unpack, parse_shape, asnumpy)
    for package, functions in (("einops", of_einops), ("opt_einsum", (contract,))):
        for function in functions if package in sys.modules else ():
            known = getattr(sys.modules[package], function.__name__, None)
            if known is not None and known not in _loaded:
                _loaded.add(known)
                definition(known)(function)


def rearrange(tensor, pattern, **axes_lengths):
    x = stacked(tensor)
    left, right = sides(pattern, np.ndim(x))
    lengths = lengths_of(x.shape, left, axes_lengths)
    return composed(taken_apart(x, left, lengths), names_in(left), right, lengths)


def reduce(tensor, pattern, reduction, **axes_lengths):
    x = stacked(tensor)
    left, right = sides(pattern, np.ndim(x))
    lengths = lengths_of(x.shape, left, axes_lengths)
    x = taken_apart(x, left, lengths)
    axes = absent(names_in(left), names_in(right))
    if axes and isinstance(reduction, str):
        x = getattr(x, reduction)(axis=axes)
    elif axes:
        x = reduction(x, axes)
    return composed(x, present(names_in(left), names_in(right)), right, lengths)


def repeat(tensor, pattern, **axes_lengths):
    x = stacked(tensor)
    left, right = sides(pattern, np.ndim(x))
    lengths = lengths_of(x.shape, left, axes_lengths)
    x = taken_apart(x, left, lengths)
    new = others(names_in(right), names_in(left))
    if new:
        shape = tuple([lengths[name] for name in new])
        x = np.broadcast_to(x[(..., *(None,) * len(new))], (*x.shape, *shape))
    return composed(x, names_in(left) + new, right, lengths)


def einsum(*tensors_and_pattern):
    return np.einsum(letters(tensors_and_pattern[-1]), *tensors_and_pattern[:-1])


def contract(*operands, **how):
    return np.einsum(*operands, optimize=True)


def pack(tensors, pattern):
    before, after = around(pattern)
    flat, shapes = [], []
    for x in tensors:
        end = np.ndim(x) - after
        shapes.append(x.shape[before:end])
        flat.append(x.reshape((*x.shape[:before], -1, *x.shape[end:])))
    return np.concatenate(flat, axis=before), shapes


def unpack(tensor, packed_shapes, pattern):
    before, _ = around(pattern)
    found, start = [], 0
    for shape in packed_shapes:
        count = 1
        for n in shape:
            count = count * n
        part = tensor[(*(slice(None),) * before, slice(start, start + count))]
        found.append(part.reshape((*tensor.shape[:before], *shape, *tensor.shape[before + 1 :])))
        start = start + count
    return found


def parse_shape(x, pattern):
    return {name: x.shape[i] for i, name in named_axes(pattern)}


def asnumpy(tensor):
    return tensor


# What they share


def stacked(tensor):
    """An array, or a list of them as one."""
    return np.stack(tensor) if isinstance(tensor, (list, tuple)) else tensor


def lengths_of(shape, groups, given):
    """The length of each name, of which each group may leave one to be told by the array."""
    lengths = dict(given)
    for i, group in enumerate(groups):
        unknown = others(group, tuple(given))
        if len(unknown) > 1:
            raise ValueError(f"the lengths of {unknown} aren't known")
        if unknown and len(group) == 1:
            lengths[group[0]] = shape[i]
        elif unknown:
            known = 1
            for name in others(group, unknown):
                known = known * given[name]
            lengths[unknown[0]] = shape[i] // known
    return lengths


def taken_apart(x, groups, lengths):
    """An array with an axis for each name."""
    if is_plain(groups):
        return x
    return x.reshape(tuple([lengths[name] for name in names_in(groups)]))


def composed(x, names, groups, lengths):
    """An array whose axes have names, with an axis for each group of them."""
    order = places(names, names_in(groups))
    if not in_order(order):
        x = x.transpose(order)
    if is_plain(groups):
        return x
    shape = []
    for group in groups:
        length = lengths[group[0]] if group else 1
        for name in group[1:]:
            length = length * lengths[name]
        shape.append(length)
    return x.reshape(tuple(shape))


# What is known when compiling


def sides(pattern, ndim):
    """The groups of names on the left of a pattern, and those on the right.

    >>> sides("b (h w) ... -> ... b 1 h w", 4)
    ((('b',), ('h', 'w'), ('...0',), ('...1',)), (('...0',), ('...1',), ('b',), (), ('h',), ('w',)))
    """
    left, right = map(groups_of, pattern.split("->"))
    more = [f"...{i}" for i in range(ndim - len(left) + 1)] if ("...",) in left else []
    found = expanded(left, more), expanded(right, more)
    if len(found[0]) != ndim:
        raise ValueError(f"{pattern!r} is no pattern for an array of {ndim} axes")
    return found


def groups_of(side):
    """The groups of names of one side."""
    groups, inside = [], None
    for token in side.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            inside = []
        elif token == ")":
            groups.append(tuple(inside))
            inside = None
        elif inside is None:
            groups.append(() if token == "1" else (token,))
        elif token != "1":
            inside.append(token)
    return groups


def expanded(groups, more):
    """Groups with names in place of `...`."""
    found = []
    for group in groups:
        if group == ("...",):
            found += [(name,) for name in more]
        else:
            parts = [more if name == "..." else [name] for name in group]
            found.append(tuple(name for part in parts for name in part))
    return tuple(found)


def names_in(groups):
    return tuple(name for group in groups for name in group)


def is_plain(groups):
    """Whether each axis has one name."""
    return all(len(group) == 1 for group in groups)


def others(names, known):
    return tuple(name for name in names if name not in known)


def absent(names, kept):
    """The axes whose names aren't kept."""
    return tuple(i for i, name in enumerate(names) if name not in kept)


def present(names, kept):
    return tuple(name for name in names if name in kept)


def places(names, order):
    return tuple(names.index(name) for name in order)


def in_order(order):
    return tuple(order) == tuple(range(len(order)))


def letters(pattern):
    """A pattern as `np.einsum` has it.

    >>> letters("b i, j b -> i j")
    'ab,ca->bc'
    """
    known = {mark: mark for mark in ("...", ",", "->")}
    tokens = pattern.replace(",", " , ").replace("->", " -> ").split()
    for token in tokens:
        known.setdefault(token, string.ascii_letters[len(known) - 3])
    return "".join(known[token] for token in tokens)


def around(pattern):
    """How many axes stand before the `*` of a pattern, and how many after it."""
    names = pattern.split()
    return names.index("*"), len(names) - names.index("*") - 1


def named_axes(pattern):
    return tuple((i, name) for i, name in enumerate(pattern.split()) if name != "_")
