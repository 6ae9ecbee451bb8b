"""Arrays of objects of the program's own classes, as classes that the compiler can read.

NumPy keeps which objects they are, along one axis or two. A slice is a view: it shows places of
the same list, and storing another object in it stores it there.

Arithmetic is that of the objects, one by one: their operators, and for functions of one number,
such as `np.sin`, their methods of that name. Numbers beside them are Python's, not NumPy's.
"""

from __future__ import annotations

import operator

import numpy as np

from .registry import applies_to_objects, arrays_of_objects, keeps_objects, stands_for


class Followed:
    """What arrays of objects along one axis and along two have in common."""

    @property
    def dtype(self):
        return np.dtype(object)

    def __contains__(self, item):
        raise NotImplementedError("whether an array of objects has one isn't looked up: use a list")

    def compared(self, other):
        raise NotImplementedError("arrays of objects aren't compared: use a loop")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = compared
    __hash__ = None  # type: ignore[assignment]


class Single(Followed):
    """An array of objects without axes."""

    shape, size, ndim = (), 1, 0

    def __init__(self, held):
        self.held = held

    def __bool__(self):
        raise NotImplementedError("the truth value of an array of an object isn't asked for")

    def item(self):
        return self.held

    tolist = item


def shown(array):
    """The objects of an array as `np.nditer` shows them, one by one as they lie in memory."""
    return iter([Single(item) for item in array.in_memory()])


class Objects(Followed):
    """An array of objects: `items` has all of them, `places` says which this is a view of."""

    def __init__(self, items, places=None):
        self.items, self.places = items, places

    def __len__(self):
        return len(self.items) if self.places is None else len(self.places)

    def __iter__(self):
        for i in range(len(self)):
            yield self.items[self.place(i)]

    def __bool__(self):
        if len(self) > 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        raise NotImplementedError("the truth value of an array of an object isn't asked for")

    def place(self, i):
        return i if self.places is None else self.places[i]

    def in_memory(self):
        return [self.items[i] for i in sorted(map(self.place, range(len(self))))]

    def __getitem__(self, key):
        if isinstance(key, slice):
            places = list(range(len(self.items))) if self.places is None else self.places
            return Objects(self.items, places[key])
        if is_place(key):
            return self.items[self.place(key)]
        return Objects([self.items[self.place(i)] for i in chosen(key, len(self))])

    def __setitem__(self, key, value):
        if is_place(key):
            self.items[self.place(key)] = value
            return
        places = [self.place(i) for i in chosen(key, len(self))]
        given = plain(value)
        if not is_several(given):
            given = [given]
        elif any(is_several(item) for item in given):
            raise NotImplementedError("lists are stored in an array of objects one by one")
        if len(given) != len(places) and len(given) != 1:
            raise ValueError(
                f"could not broadcast input array from shape ({len(given)},) into shape "
                f"({len(places)},)"
            )
        for i, place in enumerate(places):
            self.items[place] = given[i if len(given) > 1 else 0]

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

    def sum(self, axis=None):
        check_axis(axis)
        return total(list(self))

    def mean(self, axis=None):
        return self.sum(axis) / np.intp(len(self))

    def dot(self, other):
        return product(self, other)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if ufunc not in OF_EACH or method != "__call__" or kwargs:
            return NotImplemented
        return applied(ufunc, *inputs)

    def __array_function__(self, func, types, args, kwargs):
        if func not in FUNCTIONS:
            return NotImplemented
        return FUNCTIONS[func](*args, **kwargs)

    def __neg__(self):
        return applied(np.negative, self)

    def __abs__(self):
        return applied(np.absolute, self)

    def __add__(self, other):
        return applied(operator.add, self, other)

    def __radd__(self, other):
        return applied(operator.add, other, self)

    def __sub__(self, other):
        return applied(operator.sub, self, other)

    def __rsub__(self, other):
        return applied(operator.sub, other, self)

    def __mul__(self, other):
        return applied(operator.mul, self, other)

    def __rmul__(self, other):
        return applied(operator.mul, other, self)

    def __truediv__(self, other):
        return applied(operator.truediv, self, other)

    def __rtruediv__(self, other):
        return applied(operator.truediv, other, self)

    def __pow__(self, other):
        return applied(operator.pow, self, other)

    def __rpow__(self, other):
        return applied(operator.pow, other, self)

    def __matmul__(self, other):
        return product(self, other)

    def __rmatmul__(self, other):
        return product(other, self)

    def __iadd__(self, other):
        return self.stored(applied(operator.add, self, other))

    def __isub__(self, other):
        return self.stored(applied(operator.sub, self, other))

    def __imul__(self, other):
        return self.stored(applied(operator.mul, self, other))

    def __itruediv__(self, other):
        return self.stored(applied(operator.truediv, self, other))

    def __ipow__(self, other):
        return self.stored(applied(operator.pow, self, other))

    def stored(self, others):
        """This array, where there are other objects now."""
        if len(others) != len(self):
            raise ValueError(
                f"non-broadcastable output operand with shape ({len(self)},) doesn't match the "
                f"broadcast shape ({len(others)},)"
            )
        for i, item in enumerate(others):
            self[i] = item
        return self


class Table(Followed):
    """An array of objects along two axes: `items` has them, `steps` says how far rows are apart."""

    def __init__(self, items, shape, steps=None):
        self.items, self.shape = items, shape
        self.steps = (shape[1], 1) if steps is None else steps

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        for i in range(len(self)):
            yield self.row(i)

    def __bool__(self):
        raise NotImplementedError("the truth value of an array of objects isn't asked for")

    def row(self, i):
        return Objects(self.items, [self.place(i, j) for j in range(self.shape[1])])

    def place(self, i, j):
        rows, columns = self.shape
        return along(i, rows, 0) * self.steps[0] + along(j, columns, 1) * self.steps[1]

    def __getitem__(self, key):
        if is_place(key):
            return self.row(along(key, self.shape[0], 0))
        if not isinstance(key, tuple) or len(key) != 2:
            raise NotImplementedError("of an array of objects with two axes, rows are taken")
        i, j = key
        if is_place(i) and is_place(j):
            return self.items[self.place(i, j)]
        if is_place(i) and isinstance(j, slice):
            return self.row(along(i, self.shape[0], 0))[j]
        if isinstance(i, slice) and is_place(j):
            return self.T.row(along(j, self.shape[1], 1))[i]
        raise NotImplementedError("of an array of objects with two axes, rows or columns are taken")

    def __setitem__(self, key, value):
        if not isinstance(key, tuple) or not all(map(is_place, key)) or len(key) != 2:
            raise NotImplementedError("several objects are stored in an array one by one")
        self.items[self.place(*key)] = value

    @property
    def size(self):
        return self.shape[0] * self.shape[1]

    @property
    def ndim(self):
        return 2

    @property
    def flat(self):
        return iter(self.in_order())

    @property
    def T(self):
        return Table(self.items, self.shape[::-1], self.steps[::-1])

    def in_order(self):
        """Its objects, row by row."""
        return [item for row in self for item in row]

    def in_memory(self):
        return self.items

    def tolist(self):
        return [list(row) for row in self]

    def copy(self):
        return Table(self.in_order(), self.shape)

    def flatten(self):
        return Objects(self.in_order())

    def ravel(self):
        return Objects(self.items) if self.steps == (self.shape[1], 1) else self.flatten()

    def sum(self, axis=None):
        if axis is not None:
            raise NotImplementedError("objects in two axes are added up along both")
        return total(self.in_order())

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented

    def __array_function__(self, func, types, args, kwargs):
        if func not in OF_TABLES:
            return NotImplemented
        return OF_TABLES[func](*args, **kwargs)


def along(i, count, axis):
    """A position that may count from the end."""
    if i < -count or i >= count:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {count}")
    return i + count if i < 0 else i


stands_for.update({Objects: np.ndarray, Table: np.ndarray, Single: np.ndarray})
arrays_of_objects.update((Objects, Table))


@keeps_objects(np.array)
def made(items, dtype=None, *, copy=True):
    check_dtype(dtype)
    return Objects(list(items))


@keeps_objects(np.asarray, np.asanyarray)
def taken(items, dtype=None):
    check_dtype(dtype)
    return items if isinstance(items, Objects) else Objects(list(items))


@keeps_objects(np.empty, np.ndarray)
def empty(shape, dtype=None):
    return filled(shape, None)


@keeps_objects(np.zeros)
def zeros(shape, dtype=None):
    return filled(shape, 0)


@keeps_objects(np.ones)
def ones(shape, dtype=None):
    return filled(shape, 1)


@keeps_objects(np.full)
def filled(shape, fill_value, dtype=None):
    if not isinstance(shape, (tuple, list)):
        return Objects([fill_value] * shape)
    if len(shape) == 1:
        return Objects([fill_value] * shape[0])
    rows, columns = shape
    return Table([fill_value] * (rows * columns), (rows, columns))


def check_dtype(dtype):
    if dtype is not None and dtype not in (object, np.dtype(object), "O", "object"):
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


def by_method(name):
    def call(item, *others):
        if not hasattr(item, name):
            kind = type(item).__name__
            raise TypeError(
                f"loop of ufunc does not support argument 0 of type {kind} which has no callable "
                f"{name} method"
            )
        return getattr(item, name)(*others)

    return call


NAMED = (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "conjugate",
    "cos", "cosh", "deg2rad", "degrees", "exp", "exp2", "expm1", "fabs", "fmod", "hypot", "log",
    "log10", "log1p", "log2", "rad2deg", "radians", "rint", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)

# What NumPy calls for each object
OF_EACH = {getattr(np, name): by_method(name) for name in NAMED}
OF_EACH |= {function: function for function in OPERATORS}
OF_EACH |= {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.power: operator.pow, np.negative: operator.neg,
    np.absolute: operator.abs, np.square: lambda item: item * item,
    np.reciprocal: lambda item: 1 / item,
}  # fmt: skip


@applies_to_objects(*OF_EACH)
def applied(function, *operands):
    """What a ufunc or operator makes of objects, numbers, and arrays of both."""
    of_each = OF_EACH[function]
    given = [plain(operand) for operand in operands]
    counts = [len(operand) for operand in given if is_several(operand)]
    if not counts:
        return of_each(*given)
    if len(counts) == 2 and counts[0] != counts[1] and counts[0] != 1 and counts[1] != 1:
        raise ValueError(
            f"operands could not be broadcast together with shapes ({counts[0]},) ({counts[1]},) "
        )
    count = counts[-1] if counts[0] == 1 else counts[0]
    return Objects([of_each(*[item_of(g, i) for g in given]) for i in range(count)])


def plain(operand):
    """What NumPy takes an operand for: a list, numbers of Python's, or an object."""
    if isinstance(operand, (list, tuple)):
        operand = np.asarray(operand)
    if isinstance(operand, Objects):
        return list(operand)
    if not isinstance(operand, (np.ndarray, np.generic)):
        return operand
    if operand.ndim > 1:
        raise NotImplementedError("an array of objects has one axis: use a loop")
    return operand.tolist()


def item_of(given, i):
    return given[i if len(given) > 1 else 0] if isinstance(given, list) else given


def check_axis(axis):
    if axis not in (None, 0, -1):
        raise NotImplementedError("an array of objects has one axis")


def total(items):
    """The sum as NumPy adds objects up, from the first on."""
    if not items:
        return 0
    result = items[0]
    for item in items[1:]:
        result = result + item
    return result


def product(a, b):
    """`a @ b`"""
    if np.ndim(a) == 2:
        return Objects([product(row, b) for row in a])
    if np.ndim(b) == 2:
        return Objects([product(a, column) for column in np.transpose(b)])
    if np.ndim(a) != 1 or np.ndim(b) != 1:
        raise NotImplementedError("this product of objects isn't followed: use a loop")
    if len(a) != len(b):
        raise ValueError(f"matmul: shapes ({len(a)},) and ({len(b)},) not aligned")
    return total(list(applied(operator.mul, a, b)))


FUNCTIONS = {
    np.sum: lambda a, axis=None: a.sum(axis), np.mean: lambda a, axis=None: a.mean(axis),
    np.dot: product,
    np.append: append, np.concatenate: concatenate, np.hstack: concatenate, np.delete: delete,
    np.copy: lambda a: a.copy(), np.shape: lambda a: a.shape, np.size: lambda a: a.size,
    np.ndim: lambda a: 1, np.ravel: lambda a: a,
}  # fmt: skip


OF_TABLES = {
    np.sum: Table.sum, np.copy: Table.copy, np.ravel: Table.ravel,
    np.shape: lambda a: a.shape, np.size: lambda a: a.size, np.ndim: lambda a: 2,
    np.transpose: lambda a: a.T,
}  # fmt: skip


def is_place(key):
    return isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_))


def is_several(values):
    return isinstance(values, (Objects, list, tuple))


def chosen(key, count):
    """The positions that a slice names, an array or list of them, or a mask."""
    if isinstance(key, slice):
        return list(range(count))[key]
    found = np.asarray(key)
    return (np.flatnonzero(found) if found.dtype == bool else found).tolist()
