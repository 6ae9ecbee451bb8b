"""`array.array` of Python's library, as a class that the compiler can read: a list of numbers that
takes others for its own.
"""

from __future__ import annotations

import array
import operator

import numpy as np

from .registry import definition, only_inside, stands_for

# Bytes of the kinds of ints, and whether they have signs
INTS = {code: (array.array(code).itemsize, code.islower()) for code in "bBhHiIlLqQ"}


class Packed:
    """An array of Python's, by the list of what it holds; its class says of which type."""

    typecode = "d"

    def __init__(self, items):
        self.items = items

    def __array__(self, dtype=None, copy=None):
        return np.array(self.items, self.typecode if dtype is None else dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*map(unpacked, inputs), **kwargs)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return reversed(self.items)

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, key):
        if isinstance(key, slice):
            return CLASSES[self.typecode](self.items[key])
        return self.items[key]

    def __setitem__(self, key, value):
        if isinstance(key, slice) and (key.start, key.stop, key.step) == (None, None, None):
            given = list(fitting(self, value))
            self.items.clear()  # where only the run tells which array this is, no slice is stored
            self.items.extend(given)
        elif isinstance(key, slice):
            self.items[key] = fitting(self, value)
        else:
            self.items[key] = number(self.typecode, value)

    def __delitem__(self, key):
        del self.items[key]

    def __eq__(self, other):
        return self.items == held(other) if isinstance(other, array.array) else NotImplemented

    def __ne__(self, other):
        return self.items != held(other) if isinstance(other, array.array) else NotImplemented

    def __lt__(self, other):
        return self.items < held(other) if isinstance(other, array.array) else NotImplemented

    def __le__(self, other):
        return self.items <= held(other) if isinstance(other, array.array) else NotImplemented

    def __gt__(self, other):
        return self.items > held(other) if isinstance(other, array.array) else NotImplemented

    def __ge__(self, other):
        return self.items >= held(other) if isinstance(other, array.array) else NotImplemented

    def __add__(self, other):
        if is_of_numpy(other):
            return np.asarray(self) + other
        return CLASSES[self.typecode](self.items + fitting(self, other))

    def __radd__(self, other):
        return other + np.asarray(self) if is_of_numpy(other) else NotImplemented

    def __sub__(self, other):
        return np.asarray(self) - other if is_of_numpy(other) else NotImplemented

    def __rsub__(self, other):
        return other - np.asarray(self) if is_of_numpy(other) else NotImplemented

    def __mul__(self, n):
        if is_of_numpy(n):
            return np.asarray(self) * n
        return CLASSES[self.typecode](self.items * n)

    def __truediv__(self, other):
        return np.asarray(self) / other if is_of_numpy(other) else NotImplemented

    def __rtruediv__(self, other):
        return other / np.asarray(self) if is_of_numpy(other) else NotImplemented

    def __matmul__(self, other):
        return np.asarray(self) @ other if is_of_numpy(other) else NotImplemented

    def __rmatmul__(self, other):
        return other @ np.asarray(self) if is_of_numpy(other) else NotImplemented

    def __rmul__(self, n):
        return self * n

    def __iadd__(self, other):
        self.items += fitting(self, other)
        return self

    def __imul__(self, n):
        self.items *= n
        return self

    @property
    def itemsize(self):
        return INTS[self.typecode][0] if self.typecode in INTS else 8

    def append(self, v):
        self.items.append(number(self.typecode, v))

    def insert(self, i, v):
        self.items.insert(i, number(self.typecode, v))

    def extend(self, bb):
        if isinstance(bb, array.array):
            self.items.extend(fitting(self, bb))
        else:
            for item in bb:
                self.items.append(number(self.typecode, item))

    def fromlist(self, list):
        self.items.extend([number(self.typecode, item) for item in list])

    def pop(self, i=-1):
        return self.items.pop(i)

    def remove(self, v):
        self.items.remove(v)

    def reverse(self):
        self.items.reverse()

    def index(self, v, *range):
        return self.items.index(v, *range)

    def count(self, v):
        return self.items.count(v)

    def tolist(self):
        return list(self.items)

    def __copy__(self):
        return CLASSES[self.typecode](list(self.items))

    def __deepcopy__(self, memo):
        return CLASSES[self.typecode](list(self.items))


CLASSES: dict[str, type] = {"d": Packed}
for _code in INTS:
    CLASSES[_code] = type(f"Packed_{_code}", (Packed,), {"typecode": _code})
stands_for.update(dict.fromkeys(CLASSES.values(), array.array))
only_inside.update(CLASSES.values())


def is_of_numpy(value):
    """Whether NumPy's operators take an array of Python's for one of their own."""
    return isinstance(value, (np.ndarray, np.generic))


def unpacked(value):
    return np.asarray(value) if isinstance(value, Packed) else value


def held(given):
    """What an array holds, made here or outside."""
    return given.items if isinstance(given, Packed) else list(given)


def fitting(taken, given):
    """What an array holds, which another takes."""
    if not isinstance(given, array.array):
        raise TypeError("can only take another array")
    if given.typecode != taken.typecode:
        raise TypeError("bad argument type for built-in operation")
    return held(given)


def number(typecode, item):
    """A number as an array of a kind holds it."""
    if typecode == "d":
        if isinstance(item, (str, bytes)):
            raise TypeError("must be real number, not str")
        return float(item)
    value = operator.index(item)
    size, signed = INTS[typecode]
    highest = 2 ** (8 * size - signed)
    if not (-highest if signed else 0) <= value < highest:
        raise OverflowError(f"{value} doesn't fit into an array of type {typecode!r}")
    return value


@definition(array.array)
def packed(typecode, initializer=()):
    if typecode not in CLASSES:
        raise NotImplementedError("arrays of this type can't be followed: use array('d')")
    return CLASSES[typecode]([number(typecode, item) for item in initializer])
