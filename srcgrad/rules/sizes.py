"""Kinds of results whose size or dtype depends on values, so that samples would mislead."""

from __future__ import annotations

import builtins
import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir
from ..analysis.alternatives import has_dtype
from ..analysis.inference import Inferred, LengthsNeeded, fits_by_lengths, infer
from ..joins import join
from ..kinds import (
    UNKNOWN,
    Array,
    Dimension,
    Kind,
    Lesser,
    ListOf,
    Scalar,
    Size,
    TupleOf,
    fresh_size,
    kind_of,
)
from .einsum import adjoint_of_operand, explicit, from_labels, from_text
from .helpers import axes_of
from .registry import kind

Args = tuple[ir.Operand, ...]
Kwargs = dict[str, ir.Operand]
# The functions of `math` whose result may be something else than a float
NO_FLOATS = (
    *("ceil", "floor", "trunc", "comb", "perm", "factorial", "gcd", "lcm", "isqrt", "isclose"),
    *("isfinite", "isinf", "isnan", "frexp", "modf", "prod", "sumprod"),
)


def _dtype(operand: ir.Operand) -> np.dtype[Any] | None:
    if isinstance(operand, ir.Const):
        return np.asarray(operand.value).dtype
    kind = getattr(operand, "kind", None)
    return kind.dtype if isinstance(kind, (Array, Scalar)) and has_dtype(kind) else None


def _promoted(operands: Args) -> np.dtype[Any] | None:
    """The dtype of what is computed with numbers, if it is one whatever mixed ones are."""
    found = set()
    for dtypes in itertools.product(*map(_possible, operands)):
        if any(d is None for d in dtypes):  # `in` takes None for float
            return None
        found.add(np.result_type(*dtypes))
    return found.pop() if len(found) == 1 else None


def _possible(operand: ir.Operand) -> list[np.dtype[Any] | None]:
    kind = getattr(operand, "kind", None)
    if isinstance(kind, Scalar) and kind.mixed:
        whole = [np.dtype(int)] if Lesser.WHOLE in kind.mixed else []
        return [*whole, None if Lesser.SHORT in kind.mixed else kind.dtype]
    return [_dtype(operand)]


@kind(np.arange)
def arange(args: Args, kwargs: Kwargs) -> Inferred | None:
    names = [*args, *(kwargs[k] for k in ("start", "stop", "step") if k in kwargs)]
    given = kwargs.get("dtype", args[3] if len(args) > 3 else ir.Const(None))
    if not isinstance(given, ir.Const):
        return None
    dtype = _promoted(tuple(names[:3])) if given.value is None else np.dtype(given.value)
    if all(isinstance(n, ir.Const) for n in names[:3]):
        values = [n.value for n in names[:3]]  # type: ignore[union-attr]
        return Inferred(Array(np.arange(*values).dtype if given.value is None else dtype,
                              (len(np.arange(*values)),)))  # fmt: skip
    size: Dimension = fresh_size()
    only = names[0]
    if len(names) == 1 and isinstance(only, ir.Var) and isinstance(only.kind, Scalar):
        size = only.kind.size if only.kind.size is not None else size
    real = all(d is not None and d.kind in "iuf" for n in names[:3] for d in _possible(n))
    return Inferred(Array(dtype, (size,), dtype is None and real))


def _chosen(choice: Any) -> None:
    """As without probabilities: no sample of them adds up to one."""

    @kind(choice)
    def without(args: Args, kwargs: Kwargs) -> Inferred | None:
        given = (*args[:4], ir.Const(None), *args[5:])[: len(args)]
        return infer(choice, given, {k: v for k, v in kwargs.items() if k != "p"})


_chosen(np.random.Generator.choice)
_chosen(np.random.RandomState.choice)


@kind(np.convolve, np.correlate)
def convolve(args: Args, kwargs: Kwargs) -> Inferred | None:
    return Inferred(Array(_promoted(args[:2]), (fresh_size(),)))


@kind(builtins.max, builtins.min)
def extreme(args: Args, kwargs: Kwargs) -> Inferred | None:
    """One of the arguments, whichever it is: of a float and an int, perhaps the float.

    An array of one item may be it, too, as it is, which samples of it mightn't be.
    """
    if len(args) < 2 or kwargs:
        return None
    whole: Kind | None = None
    for operand in args:
        if not isinstance(operand, (ir.Var, ir.Const)):
            return None
        known = operand.kind if isinstance(operand, ir.Var) else kind_of(operand.value)
        if not isinstance(known, (Scalar, Array)):
            return None
        whole = known if whole is None else join(whole, known)
    if isinstance(whole, Scalar) and whole.dtype.kind == "i" and whole.size is None:
        whole = replace(whole, size=fresh_size())  # lengths that are the same stay known
    arrays = (a for a in args if isinstance(a, ir.Var) and isinstance(a.kind, Array))
    views = tuple(dict.fromkeys(arrays))
    assert whole is not None
    return Inferred(whole, views, not views)


@kind(np.partition)
def partition(args: Args, kwargs: Kwargs) -> Inferred | None:
    """Of the same shape; no sample may be long enough for the `kth` given."""
    axis = args[2] if len(args) > 2 else kwargs.get("axis", ir.Const(-1))
    whole = getattr(args[0], "kind", None)
    if not isinstance(whole, Array) or not isinstance(axis, ir.Const) or axis.value is None:
        return None
    return Inferred(whole)


@kind(np.argpartition)
def argpartition(args: Args, kwargs: Kwargs) -> Inferred | None:
    found = partition(args, kwargs)
    if found is None or not isinstance(found.kind, Array):
        return None
    return Inferred(Array(np.dtype(np.intp), found.kind.shape))


@kind(np.quantile, np.nanquantile, np.percentile, np.nanpercentile)
def quantile(args: Args, kwargs: Kwargs) -> Inferred | None:
    """Of several levels: the samples' values are none."""
    if len(args) < 2 or len(args) > 3 or not set(kwargs) <= {"axis", "keepdims", "method"}:
        return None
    a, q = (getattr(x, "kind", None) for x in args[:2])
    if not isinstance(a, Array) or not isinstance(q, Array) or not a.shape or not q.shape:
        return None
    axis = args[2] if len(args) > 2 else kwargs.get("axis", ir.Const(None))
    items = axis.items if isinstance(axis, ir.Pack) else (axis,)
    if not all(isinstance(item, ir.Const) for item in items):
        return None
    numbers = tuple(item.value for item in items)  # type: ignore[union-attr]
    keepdims, method = kwargs.get("keepdims", ir.Const(False)), kwargs.get("method")
    known = isinstance(keepdims, ir.Const) and isinstance(method, (ir.Const, type(None)))
    if not known or a.dtype is None or q.dtype is None:
        return None
    axes = axes_of(len(a.shape), numbers if isinstance(axis, ir.Pack) else numbers[0])
    if keepdims.value:  # type: ignore[union-attr]
        rest = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    else:
        rest = tuple(n for i, n in enumerate(a.shape) if i not in axes)
    how = "linear" if method is None else method.value  # type: ignore[union-attr]
    found = np.quantile(np.ones(1, a.dtype), np.ones(1, q.dtype), method=how)  # type: ignore[arg-type]
    return Inferred(Array(found.dtype, (*q.shape, *rest)))


@kind(np.linalg.tensorsolve)
def tensorsolve(args: Args, kwargs: Kwargs) -> Inferred | None:
    a, b = (getattr(x, "kind", None) for x in args[:2])
    axes = args[2] if len(args) > 2 else kwargs.get("axes", ir.Const(None))
    if not isinstance(a, Array) or not isinstance(b, Array) or a.shape is None or b.shape is None:
        return None
    rank = len(a.shape) - len(b.shape)
    dtype = _promoted(args[:2])
    if rank < 0 or dtype is None:
        return None
    known = isinstance(axes, ir.Const) and axes.value is None
    shape = a.shape[len(b.shape) :] if known else tuple(fresh_size() for _ in range(rank))
    return Inferred(Array(dtype if dtype.kind in "fc" else np.dtype(float), shape))


@kind(np.linalg.tensorinv)
def tensorinv(args: Args, kwargs: Kwargs) -> Inferred | None:
    a = getattr(args[0], "kind", None)
    ind = args[1] if len(args) > 1 else kwargs.get("ind", ir.Const(2))
    if not isinstance(a, Array) or a.shape is None or not isinstance(ind, ir.Const):
        return None
    dtype = a.dtype if a.dtype is not None and a.dtype.kind in "fc" else None
    return Inferred(Array(dtype, (*a.shape[ind.value :], *a.shape[: ind.value])))


@kind(np.einsum)
def einsum(args: Args, kwargs: Kwargs) -> Inferred | None:
    """A new array of the subscripts' lengths: samples with many axes would be large."""
    found = None if set(kwargs) - {"optimize", "order", "casting"} else _subscripts(args)
    if found is None or len(found[0]) < 2:
        return None  # of one operand it may be a view
    lengths, output, arrays = _lengths_of(*found), found[1], found[2]
    dtype = _promoted(arrays)
    if lengths is None or dtype is None or not set(output) <= set(lengths):
        return None
    if not output:
        return Inferred(Scalar(dtype, False))
    return Inferred(Array(dtype, tuple(_common(lengths[letter]) for letter in output)))


@kind(adjoint_of_operand)
def adjoint_like_operand(args: Args, kwargs: Kwargs) -> Inferred | None:
    number, x_kind = args[0], None
    if isinstance(number, ir.Const):
        x_kind = getattr(args[3 + number.value], "kind", None)
    dtype = _promoted(args[2:])
    if dtype is None or not isinstance(x_kind, Array):
        return None
    return Inferred(Array(dtype, x_kind.shape))


@fits_by_lengths(np.einsum)
def einsum_fits(args: Args, kwargs: Kwargs) -> bool | None:
    found = _subscripts(args)
    if found is None:
        return None
    lengths = _lengths_of(*found)
    output = found[1]
    if lengths is None or not set(output) <= set(lengths) or len(set(output)) < len(output):
        return False
    return all(len({n for n in alike if n != 1}) < 2 for alike in lengths.values())


def _subscripts(args: Args) -> tuple[list[str], str, Args] | None:
    """The subscripts of the operands and of the result, and the operands, if ranks are known."""
    first = args[0]
    if isinstance(first, ir.Const) and isinstance(first.value, str):
        (inputs, output), arrays = from_text(first.value), args[1:]
    else:
        lists, arrays = args[1::2], args[: len(args) // 2 * 2 : 2]
        lists = (*lists, args[-1]) if len(args) % 2 else lists
        if not all(isinstance(labels, ir.Pack) for labels in lists):
            return None
        items = [labels.items for labels in lists]  # type: ignore[union-attr]
        if not all(isinstance(item, ir.Const) for labels in items for item in labels):
            return None
        labels = [[item.value for item in row] for row in items]  # type: ignore[union-attr]
        if not all(type(i) is int or i is Ellipsis for row in labels for i in row):
            return None
        inputs = from_labels(labels)
        output = inputs.pop() if len(args) % 2 else None
    shapes = [a.kind.shape for a in arrays if isinstance(getattr(a, "kind", None), Array)]  # type: ignore[union-attr]
    if not len(shapes) == len(arrays) == len(inputs) or None in shapes:
        return None
    return *explicit(inputs, output, [len(shape) for shape in shapes]), arrays


def _lengths_of(inputs: list[str], output: str, arrays: Args) -> dict[str, list[Dimension]] | None:
    """The lengths that each letter has, or None if there aren't as many letters as axes."""
    shapes = [a.kind.shape for a in arrays]  # type: ignore[union-attr]
    if any(len(letters) != len(shape) for letters, shape in zip(inputs, shapes, strict=True)):
        return None
    lengths: dict[str, list[Dimension]] = {}
    for letters, shape in zip(inputs, shapes, strict=True):
        for letter, n in zip(letters, shape, strict=True):
            lengths.setdefault(letter, []).append(n)
    return lengths


def _common(lengths: list[Dimension]) -> Dimension:
    """The length of an axis of several operands, those of one element broadcast."""
    others = [n for n in lengths if n != 1]
    sure = [n for n in others if not isinstance(n, Size) or n.never_one]
    if sure or len(set(others)) < 2:
        return (sure or others or [1])[0]
    return fresh_size()


def cross(args: Args, kwargs: Kwargs) -> LengthsNeeded | None:
    """The product of two vectors of length two is a number."""
    named = dict(zip(("axisa", "axisb", "axisc", "axis"), args[2:], strict=False)) | kwargs
    unknown: list[Size] = []
    for operand, name in zip(args[:2], ("axisa", "axisb"), strict=False):
        if not isinstance(operand, ir.Var):
            continue  # its lengths are written out
        kind, axis = operand.kind, named.get("axis", ir.Const(None))
        if isinstance(axis, ir.Const) and axis.value is None:
            axis = named.get(name, ir.Const(-1))
        if not isinstance(kind, Array) or not kind.shape or not isinstance(axis, ir.Const):
            return None
        if type(axis.value) is int and -len(kind.shape) <= axis.value < len(kind.shape):
            length = kind.shape[axis.value]
            unknown += [length] if isinstance(length, Size) else []
    return LengthsNeeded(tuple(unknown)) if unknown else None


kind(np.cross)(cross)
if hasattr(np.linalg, "cross"):
    kind(np.linalg.cross)(cross)


@kind(np.vdot)
def vdot(args: Args, kwargs: Kwargs) -> Inferred | None:
    dtype = _promoted(args[:2])
    return None if dtype is None else Inferred(Scalar(dtype, False))


def _real_function(args: Args, kwargs: Kwargs) -> Inferred | None:
    return Inferred(Scalar(np.dtype(float)))


for _name in dir(math):
    _function = getattr(math, _name)
    if _name not in NO_FLOATS and callable(_function) and not _name.startswith("_"):
        kind(_function)(_real_function)


@kind(np.ndarray.item)
def item(args: Args, kwargs: Kwargs) -> Inferred | None:
    """A Python number, of an array or of a NumPy number (of which no sample has this method)."""
    dtype = _dtype(args[0])
    if dtype is None or dtype.kind not in "biufc":
        return None
    return Inferred(kind_of(dtype.type(0).item()))


@kind(np.linalg.eigvals)
def eigvals(args: Args, kwargs: Kwargs) -> Inferred | None:
    """Of a real matrix the eigenvalues are real or complex, as they come."""
    shape = getattr(getattr(args[0], "kind", None), "shape", None)
    dtype = _dtype(args[0])
    known = dtype if dtype is not None and dtype.kind == "c" else None
    return Inferred(Array(known, None if shape is None else shape[:-1]))


@kind(np.linalg.eig)
def eig(args: Args, kwargs: Kwargs) -> Inferred | None:
    values = eigvals(args, kwargs)
    assert values is not None and isinstance(values.kind, Array)
    shape = getattr(getattr(args[0], "kind", None), "shape", None)
    result = type(np.linalg.eig(np.eye(1)))
    return Inferred(TupleOf((values.kind, Array(values.kind.dtype, shape)), result))


@kind(np.linalg.lstsq)
def lstsq(args: Args, kwargs: Kwargs) -> Inferred | None:
    """There are residuals only where the rank is full, which samples don't tell."""
    kinds: list[Any] = [getattr(a, "kind", None) for a in args[:2]]
    if len(kinds) < 2 or not all(isinstance(k, Array) and k.shape is not None for k in kinds):
        return None
    dtype = _promoted(args[:2])
    if dtype is None or dtype.kind not in "fc":
        return None
    real = np.zeros(0, dtype).real.dtype
    x = Array(dtype, (*kinds[0].shape[1:], *kinds[1].shape[1:]))
    numbers = Array(real, (fresh_size(),))
    rank, values = Scalar(np.dtype(np.int32), False), Array(real, (fresh_size(),))
    return Inferred(TupleOf((x, numbers, rank, values)))


@kind(np.real_if_close)
def real_if_close(args: Args, kwargs: Kwargs) -> Inferred | None:
    dtype = _dtype(args[0])
    if dtype is None or dtype.kind != "c":
        return None
    shape = getattr(getattr(args[0], "kind", None), "shape", None)
    return Inferred(Array(None, shape), tuple(ir.variables(args[0])), False)


def _pieces(x: ir.Operand, count: int, axis: int, equal: bool) -> Inferred | None:
    kind_ = getattr(x, "kind", None)
    if not isinstance(kind_, Array) or kind_.shape is None:
        return None
    if not -len(kind_.shape) <= axis < len(kind_.shape):
        return None
    whole = fresh_size()
    items = []
    for _ in range(count):
        shape = list(kind_.shape)
        n = shape[axis]
        if equal and isinstance(n, int) and n % count == 0:
            shape[axis] = n // count
        else:
            shape[axis] = whole if equal else fresh_size()
        items.append(Array(kind_.dtype, tuple(shape)))
    return Inferred(TupleOf(tuple(items), list), tuple(ir.variables(x)))


def _split(args: Args, kwargs: Kwargs, axis: ir.Operand, even: bool) -> Inferred | None:
    sections = args[1] if len(args) > 1 else kwargs.get("indices_or_sections")
    if not isinstance(axis, ir.Const):
        return None
    if isinstance(sections, ir.Const) and isinstance(sections.value, (int, np.integer)):
        return _pieces(args[0], int(sections.value), axis.value, even)
    if isinstance(sections, ir.Pack):
        return _pieces(args[0], len(sections.items) + 1, axis.value, False)
    if isinstance(sections, ir.Const):
        return _pieces(args[0], len(sections.value) + 1, axis.value, False)
    size = getattr(getattr(sections, "kind", None), "shape", None)
    if size is not None and len(size) == 1 and not isinstance(size[0], Size):
        return _pieces(args[0], size[0] + 1, axis.value, False)
    return None


@kind(np.split)
def split(args: Args, kwargs: Kwargs) -> Inferred | None:
    axis = args[2] if len(args) > 2 else kwargs.get("axis", ir.Const(0))
    return _split(args, kwargs, axis, True)


@kind(np.array_split)
def array_split(args: Args, kwargs: Kwargs) -> Inferred | None:
    axis = args[2] if len(args) > 2 else kwargs.get("axis", ir.Const(0))
    return _split(args, kwargs, axis, False)


@kind(np.vsplit)
def vsplit(args: Args, kwargs: Kwargs) -> Inferred | None:
    return _split(args, kwargs, ir.Const(0), True)


@kind(np.hsplit)
def hsplit(args: Args, kwargs: Kwargs) -> Inferred | None:
    rank = getattr(getattr(args[0], "kind", None), "rank", None)
    return _split(args, kwargs, ir.Const(0 if rank == 1 else 1), True)


@kind(np.dsplit)
def dsplit(args: Args, kwargs: Kwargs) -> Inferred | None:
    return _split(args, kwargs, ir.Const(2), True)


@kind(np.pad)
def pad(args: Args, kwargs: Kwargs) -> Inferred | None:
    """By the pairs of a list that exists at run time: of as many axes as before."""
    whole = getattr(args[0], "kind", None)
    width = args[1] if len(args) > 1 else kwargs.get("pad_width")
    listed = isinstance(width, ir.Var) and isinstance(width.kind, ListOf)
    if not listed or not isinstance(whole, Array) or whole.shape is None:
        return None
    return Inferred(Array(whole.dtype, tuple(fresh_size() for _ in whole.shape)))


@kind(np.fft.fft, np.fft.ifft)
def fft(args: Args, kwargs: Kwargs) -> Inferred | None:
    """Of a length that is an int or a float, as the run tells: samples of a float fail."""
    whole = getattr(args[0], "kind", None)
    length = args[1] if len(args) > 1 else kwargs.get("n")
    number = isinstance(length, ir.Var) and (
        not isinstance(length.kind, Scalar) or length.kind.dtype.kind not in "iu"
    )
    axis = args[2] if len(args) > 2 else kwargs.get("axis", ir.Const(-1))
    if not number or not isinstance(whole, Array) or not whole.shape or whole.dtype is None:
        return None
    if not isinstance(axis, ir.Const):
        return None
    shape = list(whole.shape)
    shape[axis.value] = fresh_size()
    return Inferred(Array(np.fft.fft(np.zeros(1, whole.dtype)).dtype, tuple(shape)))


@kind(np.unique)
def unique(args: Args, kwargs: Kwargs) -> Inferred | None:
    """Along an axis: samples of random numbers have no equal ones."""
    names = ("ar", "return_index", "return_inverse", "return_counts", "axis")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    whole, axis = getattr(given["ar"], "kind", None), given.get("axis", ir.Const(None))
    flags = [given.get(name, ir.Const(False)) for name in names[1:4]]
    if not isinstance(whole, Array) or not whole.shape or whole.dtype is None:
        return None
    if not all(isinstance(flag, ir.Const) for flag in (*flags, axis)):
        return Inferred(UNKNOWN)
    (index, inverse, counts), along = (f.value for f in flags), axis.value  # type: ignore[union-attr]
    if along is not None and not -len(whole.shape) <= along < len(whole.shape):
        return None
    n, shape = fresh_size(), list(whole.shape)
    if along is None:
        shape = [n]
    else:
        shape[along] = n
    positions = Array(np.dtype(np.intp), (n,))
    back = Array(np.dtype(np.intp), None if along is not None else whole.shape)
    wanted = ((index, positions), (inverse, back), (counts, positions))
    items = [k for is_wanted, k in wanted if is_wanted]
    values = Array(whole.dtype, tuple(shape))
    return Inferred(TupleOf((values, *items)) if items else values)


@kind(np.bincount)
def bincount(args: Args, kwargs: Kwargs) -> Inferred | None:
    """As long as the largest number says."""
    weights = args[1] if len(args) > 1 else kwargs.get("weights", ir.Const(None))
    counting = isinstance(weights, ir.Const) and weights.value is None
    dtype = np.dtype(np.intp if counting else np.float64)
    return Inferred(Array(dtype, (fresh_size(),)))


@kind(np.histogram)
def histogram(args: Args, kwargs: Kwargs) -> Inferred | None:
    """As many counts as an int says, and one more edge. The edges may be an array that is given."""
    named = dict(zip(("a", "bins", "range", "density", "weights"), args, strict=False)) | kwargs
    bins, plain = named.get("bins", ir.Const(10)), named.get("density", ir.Const(None))
    weights = named.get("weights", ir.Const(None))
    edges_dtype: Any = np.dtype(float)
    size: Any = bins.value if isinstance(bins, ir.Const) else getattr(bins, "kind", None)
    if isinstance(size, Scalar) and size.python and size.dtype.kind == "i":
        size = size.size or fresh_size()
    elif isinstance(bins, ir.Pack) and bins.type in (list, tuple):
        size, edges_dtype = len(bins.items) - 1, None
    elif isinstance(size, Array) and size.rank == 1:
        assert size.shape is not None
        (n,), edges_dtype = size.shape, size.dtype
        size = n.shifted(-1) if isinstance(n, Size) else n - 1
    counted = isinstance(weights, ir.Const) and isinstance(plain, ir.Const) and not plain.value
    known = _dtype(named["a"]) == np.float64 and (counted or _dtype(weights) == np.float64)
    given = tuple(ir.variables(bins))
    if type(size) not in (int, Size) or not known:
        kinds = TupleOf((Array(None, (fresh_size(),)), Array(None, (fresh_size(),))))
        return Inferred(kinds, given, False)
    edges = size.shifted(1) if isinstance(size, Size) else size + 1
    counts = Array(np.dtype(np.intp if counted else float), (size,))
    kinds = TupleOf((counts, Array(edges_dtype, (edges,))))
    return Inferred(kinds, given, not given)
