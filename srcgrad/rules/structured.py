"""Structured arrays, as classes that the compiler can read: an array for each field.

What is a view of a structured array is one here, too: fields (`r["x"]`), slices and rows. An array
in which records hold records is refused.
"""

from __future__ import annotations

import numpy as np
from numpy.lib import recfunctions

from ..runtime import structured as whole
from .registry import definition, stands_for, structured, unseen


class Records:
    """A structured array, by the array of each field; `ndim` axes are common to all."""

    def __init__(self, columns, dtype, ndim):
        self.columns, self.dtype, self.ndim = columns, dtype, ndim

    def __getitem__(self, key):
        if isinstance(key, str):
            return column(self.columns[key]) if len(self.dtype.names) > 1 else self.columns[key]
        if is_names(key):
            dtype = dtype_of(self.dtype, key)
            return like(self, {name: self.columns[name] for name in key}, dtype, self.ndim)
        if is_row(key, self.ndim):
            row = Record if isinstance(self, RecordArray) else Row
            return row(self.columns, key, self.dtype)
        found = {name: self.columns[name][key] for name in self.dtype.names}
        return like(self, found, self.dtype, self.ndim_of(found))

    def ndim_of(self, columns):
        name = self.dtype.names[0]
        return columns[name].ndim - self.columns[name].ndim + self.ndim

    def __setitem__(self, key, value):
        if isinstance(key, str):
            if not surely_is(value, self.columns[key]):  # as it is by `r["x"] += 1`
                self.columns[key][...] = value
        elif is_names(key):
            for name, part in zip(key, parts_of(value, len(key)), strict=True):
                self.columns[name][...] = part
        else:
            parts = parts_of(value, len(self.dtype.names))
            for name, part in zip(self.dtype.names, parts, strict=True):
                self.columns[name][key] = part

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __len__(self):
        return len(self.columns[self.dtype.names[0]])

    def __eq__(self, other):
        found = True
        for name in self.dtype.names:
            same = self.columns[name] == other.columns[name]
            for _ in range(same.ndim - self.ndim):
                same = same.all(axis=-1)
            found = found & same
        return found

    def __ne__(self, other):
        return ~(self == other)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented

    def __array_function__(self, func, types, args, kwargs):
        if func not in FUNCTIONS:
            return NotImplemented
        return FUNCTIONS[func](*args, **kwargs)

    def __str__(self):
        return str(unseen(whole, self.dtype, self.columns))

    def __repr__(self):
        return repr(unseen(whole, self.dtype, self.columns))

    @property
    def shape(self):
        return self.columns[self.dtype.names[0]].shape[: self.ndim]

    @property
    def size(self):
        return self.columns[self.dtype.names[0]][(..., *flat_part(self.dtype))].size

    @property
    def T(self):
        if self.ndim < 2:
            return self
        raise NotImplementedError("the transpose of a structured array: transpose its fields")

    def copy(self, order="C"):
        columns = {name: self.columns[name].copy() for name in self.dtype.names}
        return like(self, columns, self.dtype, self.ndim)

    def view(self, dtype=None, type=None):
        kind = dtype if type is None else type
        if kind is np.recarray:
            return RecordArray(self.columns, self.dtype, self.ndim)
        if kind is np.ndarray:
            return Records(self.columns, self.dtype, self.ndim)
        raise NotImplementedError("a structured array viewed as anything else: use its fields")

    def tolist(self):
        return [self[i].tolist() for i in range(len(self))]

    def fill(self, value):
        self[...] = value

    def argsort(self, axis=-1, kind=None, order=None):
        if self.ndim != 1:
            raise NotImplementedError("structured arrays of several dimensions aren't sorted")
        return np.lexsort([self.columns[name] for name in sorted_by(self.dtype, order)])

    def sort(self, axis=-1, kind=None, order=None):
        self[...] = self[self.argsort(order=order)]


class RecordArray(Records):
    """An `np.recarray`: its fields are attributes, too."""

    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        if name in ("columns", "dtype", "ndim"):
            super().__setattr__(name, value)
        else:
            self.columns[name][...] = value


def like(records, columns, dtype, ndim):
    """An array of the kind of another."""
    kind = RecordArray if isinstance(records, RecordArray) else Records
    return kind(columns, dtype, ndim)


class Row:
    """An item of a structured array, a view of it: a number or array for each field."""

    def __init__(self, columns, index, dtype):
        self.columns, self.index, self.dtype = columns, index, dtype

    def __getitem__(self, key):
        name = key if isinstance(key, str) else self.dtype.names[key]
        return self.columns[name][self.index]

    def __setitem__(self, key, value):
        name = key if isinstance(key, str) else self.dtype.names[key]
        self.columns[name][self.index] = value

    def __iter__(self):
        for name in self.dtype.names:
            yield self.columns[name][self.index]

    def __len__(self):
        return len(self.dtype.names)

    def __eq__(self, other):
        found = True
        for a, b in zip(self, other, strict=True):
            found = found & np.all(a == b)
        return found

    def __ne__(self, other):
        return not self == other

    def tolist(self):
        return tuple([self[name].tolist() for name in self.dtype.names])

    def item(self):
        return self.tolist()

    def __str__(self):
        return unseen(text_of_row, self.dtype, [self[name] for name in self.dtype.names])

    def copy(self):
        columns = {name: np.array(self.columns[name][self.index]) for name in self.dtype.names}
        return Row(columns, (), self.dtype)


class Record(Row):
    """An item of an `np.recarray`."""

    def __getattr__(self, name):
        return self.columns[name][self.index]

    def __setattr__(self, name, value):
        if name in ("columns", "dtype", "index"):
            super().__setattr__(name, value)
        else:
            self.columns[name][self.index] = value


stands_for.update({Records: np.ndarray, RecordArray: np.recarray, Row: np.void, Record: np.record})


# How they are made


@structured(np.zeros)
def zeros(shape, dtype=float, order="C"):
    return made(np.zeros, shape, dtype)


@structured(np.ones)
def ones(shape, dtype=None, order="C"):
    return made(np.ones, shape, dtype)


@structured(np.empty, np.ndarray)
def empty(shape, dtype=float, order="C"):
    return made(np.empty, shape, dtype)


@structured(np.array, np.asarray)
def array(object, dtype=None, copy=True):
    dtype = np.dtype(dtype)
    if isinstance(object, tuple):
        rows = made(np.zeros, (), dtype)
        rows[()] = object
        return rows
    if isinstance(object, list):
        columns = {
            name: np.array([row[k] for row in object], base)
            for k, (name, base, _) in enumerate(fields(dtype))
        }
        return Records(columns, dtype, 1)
    found = made(np.zeros, object.shape, dtype)
    found[...] = object
    return found


@definition(np.recarray)
def recarray(shape, dtype=None):
    return made(np.empty, shape, dtype).view(np.recarray)


FORMATS = "records are made by their dtype: dtype=[(name, type), ...]"


@definition(np.rec.array)
def rec_array(obj, dtype=None, shape=None, offset=0, strides=None, formats=None, names=None):
    if isinstance(obj, Records):
        return obj.copy().view(np.recarray)
    if dtype is None:
        raise NotImplementedError(FORMATS)
    return array(obj, dtype).view(np.recarray)


@definition(np.rec.fromarrays)
def of_arrays(arrayList, dtype=None, shape=None, formats=None, names=None):
    if formats is not None:
        raise NotImplementedError(FORMATS)
    if dtype is None:
        dtype = named_dtype(names, tuple([np.asarray(a).dtype for a in arrayList]))
    dtype = np.dtype(dtype)
    columns = {
        name: np.array(given, base)
        for (name, base, _), given in zip(fields(dtype), arrayList, strict=True)
    }
    return RecordArray(columns, dtype, columns[dtype.names[0]].ndim - len(flat_part(dtype)))


def structured_to_unstructured(arr, dtype=None, copy=False, casting="unsafe"):
    columns = [arr.columns[name].reshape((*arr.shape, -1)) for name in arr.dtype.names]
    found = np.concatenate(columns, axis=-1)
    return found if dtype is None else found.astype(dtype)


@definition(recfunctions.unstructured_to_structured)
def unstructured_to_structured(
    arr, dtype=None, names=None, align=False, copy=False, casting="unsafe"
):
    if dtype is None:
        dtype = named_dtype(names, (arr.dtype,) * arr.shape[-1])
    records, at = made(np.zeros, arr.shape[:-1], dtype), 0
    for name, _, inner in fields(records.dtype):
        count = int(np.prod(inner))
        part = arr[..., at : at + count]
        records[name] = part.reshape((*arr.shape[:-1], *inner))
        at += count
    return records


def made(maker, shape, dtype):
    dtype = np.dtype(dtype)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    columns = {name: maker((*shape, *inner), base) for name, base, inner in fields(dtype)}
    return Records(columns, dtype, len(shape))


# What functions make of them


def copied(a, order="K", subok=False):
    return a.copy()


def zeros_like(a, dtype=None, order="K", subok=True, shape=None):
    return made(np.zeros, a.shape if shape is None else shape, a.dtype if dtype is None else dtype)


def concatenated(arrays, axis=0):
    arrays = list(arrays)
    dtype = arrays[0].dtype
    columns = {
        name: np.concatenate([a.columns[name] for a in arrays], axis) for name in dtype.names
    }
    return Records(columns, dtype, arrays[0].ndim)


def sorted_records(a, axis=-1, kind=None, order=None):
    return a[a.argsort(order=order)]


def argsort(a, axis=-1, kind=None, order=None):
    return a.argsort(order=order)


def shape_of(a):
    return a.shape


def size_of(a, axis=None):
    return a.size if axis is None else a.shape[axis]


def ndim_of(a):
    return a.ndim


FUNCTIONS = {
    np.copy: copied, np.zeros_like: zeros_like, np.empty_like: zeros_like,
    np.concatenate: concatenated, np.hstack: concatenated, np.sort: sorted_records,
    np.argsort: argsort, np.shape: shape_of, np.size: size_of, np.ndim: ndim_of,
    recfunctions.structured_to_unstructured: structured_to_unstructured,
}  # fmt: skip


# What is known when compiling


def column(value):
    """A field: in NumPy it lies between the others, so that `ravel` of it, say, is a copy."""
    return value


def surely_is(value, other):
    """Whether two values are the same one, as far as that is known when compiling."""
    return value is other


def fields(dtype):
    """The fields of a dtype: their names, the dtypes of their numbers, and the shapes of these."""
    return tuple((name, dtype[name].base, dtype[name].shape) for name in dtype.names)


def named_dtype(names, dtypes):
    """The dtype of fields of which the names are given, as a text perhaps, or aren't."""
    if names is None:
        names = [f"f{i}" for i in range(len(dtypes))]
    elif isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    return np.dtype(list(zip(names, dtypes, strict=True)))


def text_of_row(dtype, values):
    """What Python writes of a record."""
    return str(np.array([tuple(values)], dtype)[0])


def flat_part(dtype):
    """The index of the first number of the first field."""
    return (0,) * len(dtype[0].shape)


def dtype_of(dtype, names):
    """The dtype of some of the fields."""
    return np.dtype([(name, dtype[name]) for name in names])


def sorted_by(dtype, order):
    """The fields by which records are sorted, the first of them last: the others break ties.

    >>> sorted_by(np.dtype([("a", float), ("b", float), ("c", int)]), "b")
    ('c', 'a', 'b')
    """
    chosen = (order,) if isinstance(order, str) else tuple(order or ())
    others = [name for name in dtype.names if name not in chosen and not dtype[name].shape]
    return (*chosen, *others)[::-1]


def is_names(key):
    return isinstance(key, list) and len(key) > 0 and isinstance(key[0], str)


def is_row(key, ndim):
    """Whether an index takes one record."""
    if isinstance(key, tuple):
        return len(key) == ndim and all(is_number(k) for k in key)
    return ndim == 1 and is_number(key)


def is_number(key):
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def parts_of(value, count):
    """What is stored in each of some fields: nothing that storing one of the others overwrites."""
    if isinstance(value, Records):
        return unwritten([value.columns[name] for name in value.dtype.names])
    if isinstance(value, (Row, tuple)):
        return unwritten(list(value))
    if isinstance(value, list):
        return [[row[k] for row in value] for k in range(count)]
    return [value] * count


def unwritten(parts):
    """Some values, the arrays among those after the first one copied."""
    return [
        part.copy() if k > 0 and isinstance(part, np.ndarray) else part
        for k, part in enumerate(parts)
    ]
