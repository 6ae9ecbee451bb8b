"""What has no derivative: which NumPy functions describe, which are refused, and why."""

from __future__ import annotations

import builtins
import contextlib
import random
import warnings

import numpy as np

from .. import runtime
from .draws import described
from .registry import (
    classified,
    definition,
    effect,
    files,
    inert,
    method,
    methods,
    refuse,
    unseen,
    zero,
)
from .shaping import present

refuse(
    *present(np, "array2string", "array_repr", "array_str"),
    *present(np, "format_float_positional", "format_float_scientific"),
    reason="a number that is read from text has no derivative",
)
inert(
    *present(np, "base_repr", "binary_repr", "typename"),
    *present(np, "mintypecode", "datetime_data", "datetime_as_string", "isdtype"),
    *present(np, "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall"),
    *present(np, "printoptions"),
    *present(np, "info", "show_config", "show_runtime"),
    note="text, or a description",
)
zero(
    *present(np, "busday_count", "busday_offset", "is_busday", "isnat"),
    *present(np, "packbits", "unpackbits"),
    note="of dates, or of bits",
)
_readers = (np.fromfile, np.fromregex, np.genfromtxt, np.load, np.loadtxt)
_writers = (
    np.save, np.savetxt, np.savez, np.savez_compressed, np.ndarray.dump, np.ndarray.tofile,
)  # fmt: skip
effect(np.printoptions, np.set_printoptions, *_writers)
inert(np.set_printoptions)
files(*_readers, *_writers, builtins.open)
refuse(
    *(*_readers, *_writers, *present(np, "frombuffer", "fromstring", "from_dlpack")),
    *present(np.ndarray, "dumps", "tobytes", "to_device"),
    reason="it reads or writes files, text or memory: do that outside the function",
)
refuse(
    *present(np, "setbufsize", "seterrcall", "test"),
    reason="it changes NumPy's settings: do that outside the function, or use np.errstate",
    always=True,
)


@definition(np.ndarray.setflags)
def setflags(self, write=None, align=None, uic=None):
    if write is None or not isinstance(self, np.ndarray):
        return
    if write:
        runtime.permit(self)
    else:
        runtime.forbid(self)


SETTINGS = ("divide", "over", "under", "invalid")


@definition(np.seterr)
def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """What is set again by `np.seterr(**before)` must be known by its names."""
    before = unseen(np.seterr, all, divide, over, under, invalid)
    return {name: before[name] for name in SETTINGS}


refuse(
    contextlib.ExitStack,
    reason="what a contextlib.ExitStack does when it is left can't be followed: use `with`",
    always=True,
)
_numpy = {id(thing) for thing in vars(np).values()}
for _module in (np.char, np.strings):
    for _name in _module.__all__:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _function = getattr(_module, _name)
        if callable(_function) and id(_function) not in _numpy and type(_function) is not type:
            inert(_function, note="of text")
for _name in np.ma.__all__:
    _function = getattr(np.ma, _name)
    if callable(_function) and id(_function) not in _numpy:
        refuse(
            _function,
            reason="masked arrays aren't supported: use np.where, or np.nansum and its like",
            always=True,
        )
# Of what may be a masked array and isn't
definition(np.ma.isMaskedArray)(lambda x: isinstance(x, np.ma.MaskedArray))
definition(np.ma.is_masked)(lambda x: isinstance(x, np.ma.MaskedArray))
definition(np.ma.getmask)(lambda a: np.ma.nomask)
definition(np.ma.getmaskarray)(lambda arr: np.zeros(np.shape(arr), bool))
definition(np.ma.getdata)(lambda a, subok=True: np.asarray(a))
definition(np.ma.filled)(lambda a, fill_value=None: np.asarray(a))
refuse(
    np.rec.fromrecords,
    np.rec.fromstring,
    np.rec.fromfile,
    np.rec.find_duplicate,
    reason="only of records that np.zeros, np.array and the like make is known what they hold",
    always=True,
)
refuse(np.nested_iters, reason="write np.array([...]) with a list comprehension, or a loop")
refuse(
    *present(np.ndarray, "setfield", "byteswap"),
    reason="it changes the array's memory or flags",
    always=True,
)
refuse(np.ndarray.getfield, reason="use x.view or x.astype")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    if hasattr(np, "row_stack"):
        definition(np.row_stack)(lambda tup: np.vstack(tup))


# Random numbers

RANDOM = (
    "its result is random: draw standard numbers and scale them, as in "
    "mean + width * rng.standard_normal(size)"
)


def _random() -> None:
    for owner in (np.random.Generator, np.random.RandomState, np.random, random.Random, random):
        for name in dir(owner):
            thing = getattr(owner, name)
            if name.startswith("_") or isinstance(thing, type) or not callable(thing):
                continue
            effect(thing)
            if name != "shuffle" and thing not in described():
                refuse(thing, reason=RANDOM)


_random()


@definition(np.random.shuffle)
def shuffle(sequence):
    sequence[:] = np.take(sequence, np.random.permutation(len(sequence)), 0)


@definition(np.random.RandomState.shuffle)
def shuffle_of_state(self, sequence):
    sequence[:] = np.take(sequence, self.permutation(len(sequence)), 0)


@definition(np.random.Generator.shuffle)
def shuffle_of_generator(self, sequence, axis=0):
    """NumPy draws the same numbers for a permutation of the indices."""
    sequence[:] = np.take(sequence, self.permutation(sequence.shape[axis]), axis)


# Attributes and methods of arrays and of NumPy's numbers

inert(
    *present(np.ndarray, "base", "device", "dtype", "flags", "itemsize"),
    *present(np.ndarray, "nbytes", "ndim", "shape", "size", "strides"),
)
inert(
    *present(np.generic, "base", "device", "dtype", "flags", "itemsize"),
    *present(np.generic, "nbytes", "ndim", "shape", "size", "strides"),
)
refuse(np.ndarray.flat, reason="use x.ravel()")
refuse(
    *(np.ndarray.data, np.ndarray.ctypes, np.generic.data),
    *present(np.ndarray, "__array_interface__", "__array_struct__"),
    *present(np.generic, "__array_interface__", "__array_struct__"),
    reason="it gives the memory away, which may be written unnoticed: use the array itself",
    always=True,
)


def register() -> None:
    """File the methods of NumPy's numbers as those of arrays, when these are known."""
    for name in dir(np.generic):
        member = getattr(np.generic, name)
        if name.startswith("_") or classified(member) is not None:
            continue
        same = methods.get(getattr(np.ndarray, name, None), getattr(np, name, None))
        if callable(same) and classified(same) not in (None, "refused", "in place"):
            method(member, same)
        else:
            refuse(member, reason=f"call .{name} of np.asarray(x), an array without axes")
