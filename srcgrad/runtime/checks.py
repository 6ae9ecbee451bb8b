"""Raising what the program raises, and refusing values for which nothing was generated."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_broadcast(*arrays: Any) -> None:
    """Raise what an operation on arrays of these shapes raises, where its result isn't needed.

    >>> check_broadcast(np.ones((2, 3)), np.ones(3))
    """
    np.broadcast(*arrays)


def check_stored(target: Any, value: Any) -> None:
    """Raise what `target[...] = value` raises, if the value has another shape.

    >>> check_stored(np.ones((2, 3)), np.ones(3))
    """
    if np.shape(value) != np.shape(target):
        if isinstance(target, np.ndarray):
            np.empty_like(target)[...] = value
        else:
            np.empty(1, np.result_type(target))[0] = value  # a number takes less than an array


def stored(array: Any, index: Any, value: Any) -> None:
    """Raise what `array[index] = value` raises where the shapes don't go together.

    >>> stored(np.ones(3), slice(2), np.ones(4))
    Traceback (most recent call last):
    ValueError: could not broadcast input array from shape (4,) into shape (2,)
    """
    check_stored(array[index], value)


def augmented(inplace: Any, array: Any, value: Any) -> None:
    """Raise what `array op= value` raises, of an operator that works in place.

    >>> augmented(np.ndarray.__iadd__, np.ones((2, 3)), np.ones(3))
    """
    inplace(array.copy(), value)


def check_added(target: Any, value: Any) -> None:
    """Raise what `target += value` raises, if the value has another shape.

    >>> check_added(np.ones((2, 3)), np.ones(3))
    """
    if np.shape(value) != np.shape(target):
        np.broadcast_to(value, np.shape(target))


def check_call(function: Any, *args: Any, **kwargs: Any) -> None:
    """Raise what a call raises whose result isn't needed.

    >>> check_call(np.dot, np.ones(3), np.ones(3))
    """
    if function in (np.dot, np.matmul):
        a, b = args
        if 0 < np.ndim(a) < 3 and 0 < np.ndim(b) < 3 and a.shape[-1] == len(b):
            return
    function(*args, **kwargs)


def check_number(result: Any) -> None:
    """Refuse what a function returned, of which it wasn't known that it is a real number.

    >>> check_number(1.5)
    """
    if result is None or np.size(result) != 1:
        what = "None" if result is None else f"an array of shape {np.shape(result)}"
        raise TypeError(f"grad needs a function that returns a number, but it returned {what}")
    if np.iscomplexobj(result):
        raise TypeError("grad needs a real result, but the function returned a complex number")


UNBOUND = "cannot access local variable {!r} where it is not associated with a value"


def check_bound(bound: bool, name: str) -> None:
    """Raise what Python does where a name is read to which no path to there assigned a value.

    >>> check_bound(True, "y")
    """
    if not bound:
        raise UnboundLocalError(UNBOUND.format(name))


ABSENT = "where this is None the function does something else, for which nothing was compiled"


def check_given(value: Any, place: str) -> None:
    """Refuse None, or a list with None in it, for a function that was compiled for what isn't.

    >>> check_given([1.0, 2.0], "model.py:3")
    """
    if value is None or (isinstance(value, list) and any(item is None for item in value)):
        raise ValueError(f"{place}: {ABSENT}: ask first: if x is None")


def check_attribute(there: bool, message: str) -> None:
    """Raise what Python does where an object lacks an attribute that others of its class have.

    >>> check_attribute(True, "'Node' object has no attribute 'next'")
    """
    if not there:
        raise AttributeError(message)


def check_power(base: Any, exponent: Any) -> None:
    """Refuse a power of Python's numbers that is complex, where a real one was compiled for.

    >>> check_power(2.0, 0.5), check_power(-2.0, 3.0)
    (None, None)
    """
    if isinstance(base, (float, int)) and base < 0 and isinstance(base**exponent, complex):
        raise ValueError(
            f"({base}) ** {exponent} is complex, for which nothing was compiled: "
            "write complex(x) ** y where that is meant, or np.abs(x) ** y"
        )


def check_whole_power(base: Any, exponent: Any) -> None:
    """Refuse a power of ints that is a float, where it has been settled that ints are ints.

    >>> check_whole_power(2, 0), check_whole_power(2, 3)
    (None, None)
    """
    if exponent < 0:
        raise ValueError(
            f"({base}) ** ({exponent}) is a float, for which nothing was compiled: "
            "write float(x) ** y where that is meant"
        )


def check_unwritten(value: Any, method: str, place: str = "") -> None:
    """Raise if an augmented assignment writes into a value, which wasn't known when compiling.

    >>> check_unwritten(2.5, "__iadd__")
    >>> check_unwritten([2.5], "__iadd__")
    Traceback (most recent call last):
        ...
    RuntimeError: an augmented assignment writes into this list, which srcgrad can't follow: ...
    """
    if hasattr(type(value), method):
        raise RuntimeError(
            f"{place}an augmented assignment writes into this {type(value).__name__}, which "
            "srcgrad can't follow: write x = x + y, or convert it before: np.array(...), float(...)"
        )


def check_as_written(value: Any, result: Any) -> None:
    """Raise if `value op= other`, in place, isn't `result`, which `value op other` is.

    >>> check_as_written(2, np.ones(3)), check_as_written(np.ones(3), np.ones(3))
    (None, None)
    >>> check_as_written(np.ones(3), np.ones((3, 3)))
    Traceback (most recent call last):
        ...
    RuntimeError: an augmented assignment would give this array another shape or dtype: ...
    """
    if isinstance(value, np.ndarray):
        if (value.shape, value.dtype) != (np.shape(result), getattr(result, "dtype", None)):
            raise RuntimeError(
                "an augmented assignment would give this array another shape or dtype: write "
                "x = x + y, or x[...] = x + y"
            )


def of_type(value: Any, cls: Any) -> Any:
    """A value that is written where one of this type stands: code was compiled for that type.

    >>> of_type("ignore", str)
    'ignore'
    """
    if type(value) is not cls:
        raise TypeError(
            f"this writes a value of the type {type(value).__name__}, for which nothing was "
            f"compiled, where one of the type {cls.__name__} stood"
        )
    return value


BY_MEMORY = "np.nditer goes through this array in the order of its memory"
TOO_NESTED = (
    "setting an array element with a sequence. The requested array would exceed the maximum "
    "number of dimension of {}."
)


def check_nested(array: Any, index: Any, value: Any) -> None:
    """Raise what `array[index] = items` raises where lists are nested too deep for its axes.

    >>> check_nested(np.ones((2, 2)), 0, np.ones(2))
    """
    axes = np.ndim(array[index])
    if axes < np.ndim(value):
        raise ValueError(TOO_NESTED.format(axes))


def check_finite(adjoint: Any, name: str, filename: str, line: int) -> None:
    """Raise FloatingPointError if an adjoint isn't finite, naming the line that it comes from.

    >>> check_finite(np.ones(2), "x", "model.py", 3)
    """
    if not np.all(np.isfinite(adjoint)):
        import linecache

        wrong = "NaN" if np.any(np.isnan(adjoint)) else "infinite"
        raise FloatingPointError(
            f"the gradient becomes {wrong} here: the adjoint of {name!r}\n"
            f'  File "{filename}", line {line}\n'
            f"    {linecache.getline(filename, line).strip()}"
        )


def check_floats(array: Any, place: str, *values: Any) -> None:
    """Refuse to write floats, or these values if they are floats, into an array of ints.

    >>> check_floats(np.zeros(2), "model.py:3"); check_floats(np.arange(2), "model.py:3", 1)
    """
    floats = not values or any(np.result_type(v).kind in "fc" for v in values)
    if floats and array.dtype.kind in "biu":
        raise TypeError(
            f"{place}: a float is written into an array of ints, which would cut it off: make it "
            "an array of floats, for example np.zeros(n) or x.astype(float)"
        )


def check_by_rows(array: Any) -> None:
    """Refuse to go through an array in the order of its memory where that isn't by rows.

    >>> check_by_rows(np.eye(2))
    """
    if not array.flags.c_contiguous:
        raise ValueError(f"{BY_MEMORY}: give order='C'")


def check_first(results: Any, caller: str, advice: str) -> None:
    """Raise TypeError where a function would cut all results to what the first is, of less.

    >>> check_first([0.0, 1.5], "np.vectorize", "give otypes=[float]")
    """
    first, dtype = np.asarray(results[0]).dtype, np.asarray(results).dtype
    if first.kind in "biu" and dtype != first:
        raise TypeError(f"{caller} makes ints of all results where the first is one: {advice}")
    if first.kind == "f" and dtype.kind == "c":
        raise TypeError(f"{caller} makes all results real where the first one is: add 0j to it")
