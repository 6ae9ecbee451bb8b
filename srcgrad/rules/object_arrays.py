"""Arrays of objects of the program's own classes, as a class that the compiler can read.

NumPy keeps which objects they are, along one axis. A slice is a view: it shows places of the same
list, and storing another object in it stores it there.
"""

from __future__ import annotations

import numpy as np

from .registry import arrays_of_objects, keeps_objects, stands_for


class Objects:
    """An array of objects: `items` has all of them, `places` says which this is a view of."""

    def __init__(self, items, places=None):
        self.items, self.places = items, places

    def __len__(self):
        return len(self.items) if self.places is None else len(self.places)

    def __iter__(self):
        for i in range(len(self)):
            yield self.items[self.place(i)]

    def __contains__(self, item):
        raise NotImplementedError("whether an array of objects has one isn't looked up: use a list")

    def __bool__(self):
        if len(self) > 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        raise NotImplementedError("the truth value of an array of an object isn't asked for")

    def place(self, i):
        return i if self.places is None else self.places[i]

    def __getitem__(self, key):
        if isinstance(key, slice):
            places = list(range(len(self.items))) if self.places is None else self.places
            return Objects(self.items, places[key])
        if is_place(key):
            return self.items[self.place(key)]
        return Objects([self.items[self.place(i)] for i in chosen(key)])

    def __setitem__(self, key, value):
        if not is_place(key):
            raise NotImplementedError("several objects are stored in an array one by one")
        self.items[self.place(key)] = value

    # What it is

    @property
    def shape(self):
        return (len(self),)

    @property
    def size(self):
        return len(self)

    @property
    def ndim(self):
        return 1

    @property
    def dtype(self):
        return np.dtype(object)

    @property
    def T(self):
        return self

    def tolist(self):
        return list(self)

    def copy(self):
        return Objects(list(self))

    def flatten(self):
        return Objects(list(self))

    def ravel(self):
        return self

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented

    def __array_function__(self, func, types, args, kwargs):
        if func not in FUNCTIONS:
            return NotImplemented
        return FUNCTIONS[func](*args, **kwargs)

    def of_each(self, other):
        raise NotImplementedError("arithmetic with an array of objects isn't followed: use a loop")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = of_each
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __pow__ = __rpow__ = of_each
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = of_each
    __hash__ = None  # type: ignore[assignment]


stands_for[Objects] = np.ndarray
arrays_of_objects.add(Objects)


@keeps_objects(np.array)
def made(items, dtype=None, *, copy=True):
    check_dtype(dtype)
    return Objects(list(items))


@keeps_objects(np.asarray, np.asanyarray)
def taken(items, dtype=None):
    check_dtype(dtype)
    return items if isinstance(items, Objects) else Objects(list(items))


def check_dtype(dtype):
    if dtype is not None and dtype is not object and dtype != "O":
        raise NotImplementedError("an array of objects is made with dtype=object")


def append(arr, values, axis=None):
    return Objects(list(arr) + (list(values) if is_several(values) else [values]))


def concatenate(arrays, axis=0):
    items = []
    for part in arrays:
        items = items + list(part)
    return Objects(items)


def delete(arr, obj, axis=None):
    if not is_place(obj):
        raise NotImplementedError("objects are deleted from an array one by one")
    gone = obj if obj >= 0 else obj + len(arr)
    return Objects([arr[i] for i in range(len(arr)) if i != gone])


FUNCTIONS = {
    np.append: append, np.concatenate: concatenate, np.hstack: concatenate, np.delete: delete,
    np.copy: lambda a: a.copy(), np.shape: lambda a: a.shape, np.size: lambda a: a.size,
    np.ndim: lambda a: 1, np.ravel: lambda a: a,
}  # fmt: skip


def is_place(key):
    return isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_))


def is_several(values):
    return isinstance(values, (Objects, list, tuple))


def chosen(key):
    """The positions that an array or list of them names, or a mask."""
    found = np.asarray(key)
    return (np.flatnonzero(found) if found.dtype == bool else found).tolist()
