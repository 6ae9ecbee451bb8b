"""`vjp`: a function's result, and the pullback that takes adjoints of it back to the arguments."""

from __future__ import annotations

import collections
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .gradient import Gradient, kept
from .kinds import Array, ListOf, Scalar
from .runtime import attributes, has_attributes
from .signature import fields_of, is_record, is_structured
from .trees import children, with_children

# What lists of the forward sweep hold most, and what needs neither a copy nor a look inside
PLAIN = frozenset(
    {bool, int, float, complex, str, type(None), np.bool_, np.int64, np.float32, np.float64}
)


class Forward(Gradient):
    """Compiles the forward sweep and the pullback of a function, for several arguments."""

    _pullback = True

    def pull(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Pullback, Any]:
        """The result, the pullback and what the function returned besides."""
        compiled, args, free = self._ready(args, kwargs)
        shown, residuals = compiled.function(*args, *free)
        out, aux = shown if self._has_aux else (shown, None)
        # The caller may change its arrays before it calls the pullback.
        outside = list(_arrays([args, free, shown]))
        residuals = _kept(residuals, outside, {})
        return out, Pullback(compiled, self._name, _shapes(out, compiled.nesting), residuals), aux


_forward = kept(Forward)


class Pullback:
    """The function that `vjp` returns: from adjoints of the result to those of the arguments.

    It may be called several times. `source` is its generated source.
    """

    def __init__(self, compiled: Any, name: str, out: Any, residuals: tuple[Any, ...]) -> None:
        self._compiled, self._name, self._out = compiled, name, out
        self._residuals = residuals
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """The generated source of the forward sweep and the pullback."""
        return str(self._compiled.source)

    def __call__(self, d_out: Any) -> tuple[Any, ...]:
        seeds = list(_seeds(d_out, self._compiled.nesting, self._out, "the cotangent"))
        written = [self._residuals[i] for i in self._compiled.written]
        if not written:
            return tuple(self._compiled.pullback(*self._residuals, *seeds))
        # The pullback accumulates into buffers of the forward sweep: leave them as they were.
        with self._lock:
            before = [_saved(item) for item in written]
            buffers = list(_arrays(written))  # now, as the pullback empties the lists
            try:
                result = self._compiled.pullback(*self._residuals, *seeds)
                return tuple(_apart(item, buffers) for item in result)
            finally:
                for restore in before:
                    restore()

    def __repr__(self) -> str:
        return f"<pullback of {self._name}>"


def vjp(
    f: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> tuple[Any, Pullback] | tuple[Any, Pullback, Any]:
    """The result of a function, and its pullback.

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        primals: its positional arguments.
        has_aux: `f` returns a pair (result, aux).

    Returns:
        `(out, pullback)`, or `(out, pullback, aux)` with `has_aux`. `pullback(d_out)` takes an
        adjoint (cotangent) of the result, nested and shaped like it, and returns the tuple of the
        adjoints of the arguments, each shaped like its argument; None for an argument that isn't
        of floats. `f` runs once; the pullback may be called many times.

    Raises:
        TypeError, ValueError: from the pullback, if `d_out` isn't nested or shaped like the result.
        UnsupportedError: if `f` uses something that can't be differentiated.

    >>> import numpy as np
    >>> out, pullback = vjp(np.sin, np.zeros(2))
    >>> pullback(np.ones(2))
    (array([1., 1.]),)
    """
    if not primals:
        raise TypeError("vjp needs the arguments of the function: vjp(f, *primals)")
    forward = _forward(f, tuple(range(len(primals))), has_aux)
    out, pullback, aux = forward.pull(primals, {})
    return (out, pullback, aux) if has_aux else (out, pullback)


def _arrays(thing: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays in a nest of containers and objects, which may be in circles."""
    waiting, seen = [thing], set()
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            yield thing
        elif isinstance(thing, (list, tuple)):
            waiting.extend(_more_than_numbers(thing))
        elif isinstance(thing, dict):
            waiting.extend(_more_than_numbers(thing.values()))
        elif isinstance(thing, types.ModuleType):  # from where there is a way to everything
            yield from (v for v in vars(thing).values() if isinstance(v, np.ndarray))
        elif is_record(thing) or (has_attributes(thing) and not callable(thing)):
            waiting.extend(attributes(thing).values())


def _more_than_numbers(items: Iterable[Any]) -> list[Any]:
    """The items that aren't numbers, or tuples of them."""
    return [item for item in items if not _is_plain(item)]


def _is_plain(item: Any) -> bool:
    kind = type(item)
    return kind in PLAIN or (kind is tuple and PLAIN.issuperset(map(type, item)))


def _kept(residual: Any, outside: list[Any], done: dict[int, Any]) -> Any:
    """A residual that doesn't share memory with what the caller has.

    `done` has what became of others, by identity: a list that is in two places still is.
    """
    if id(residual) in done:
        return done[id(residual)]
    kept = residual
    if isinstance(residual, np.ndarray):
        if any(np.may_share_memory(residual, a) for a in outside):
            kept = residual.copy(order="K")
    elif isinstance(residual, list):
        done[id(residual)] = kept = []
        kept += [i if _is_plain(i) else _kept(i, outside, done) for i in residual]
    elif isinstance(residual, dict):
        done[id(residual)] = kept = residual.copy()
        kept.update({key: _kept(item, outside, done) for key, item in residual.items()})
    elif isinstance(residual, tuple) and not hasattr(residual, "_fields"):
        kept = tuple(_kept(item, outside, done) for item in residual)
    done[id(residual)] = kept
    return kept


def _saved(item: Any) -> Callable[[], None]:
    """A function that restores a list or array to what it is now."""
    if isinstance(item, np.ndarray) and item.flags.writeable:
        content = item.copy()

        def restore_array() -> None:
            item[...] = content

        return restore_array
    if isinstance(item, tuple):
        parts = [_saved(i) for i in _more_than_numbers(item)]

        def restore_tuple() -> None:
            for restore in parts:
                restore()

        return restore_tuple
    if isinstance(item, dict):
        entries, values = dict(item), [_saved(i) for i in _more_than_numbers(item.values())]

        def restore_dict() -> None:
            item.clear()
            item.update(entries)
            for restore in values:
                restore()

        return restore_dict
    if isinstance(item, list):
        items, inner = list(item), [_saved(i) for i in _more_than_numbers(item)]

        def restore_list() -> None:
            item[:] = items
            for restore in inner:
                restore()

        return restore_list
    return lambda: None


def _apart(result: Any, buffers: list[Any]) -> Any:
    """The result, with copies of the arrays that are in buffers."""
    if isinstance(result, np.ndarray):
        shared = any(np.may_share_memory(result, b) for b in buffers)
        return result.copy(order="K") if shared else result
    inner = children(result)
    if inner is None:
        return result
    items = {k: i if _is_plain(i) else _apart(i, buffers) for k, i in inner.items()}
    same = all(items[key] is item for key, item in inner.items())
    kept = same and not isinstance(result, (list, dict))  # which may be one that is restored
    return result if kept else with_children(result, items)


def _shapes(out: Any, nesting: Any) -> Any:
    """A result's nesting with the shapes of its arrays; of a number (), of other things None."""
    if isinstance(nesting, tuple):  # other things that an object holds may be in circles
        held = _held(out)
        return {key: _shapes(held.get(key), inner) for key, inner in nesting[1].items()}
    if isinstance(out, (np.ndarray, np.generic, float, complex)):
        return np.shape(out)
    if isinstance(out, (list, tuple)):
        return {i: _shapes(item, nesting) for i, item in enumerate(out)}
    return None


def _held(out: Any) -> dict[Any, Any]:
    """The items or attributes of a part of a result."""
    if isinstance(out, (list, tuple)):
        return dict(enumerate(out))
    if isinstance(out, dict):
        return out
    if is_structured(out):
        return fields_of(out)
    return attributes(out) if has_attributes(out) else {}


def _seeds(d_out: Any, nesting: Any, shapes: Any, place: str) -> Iterator[Any]:
    """The leaves of a cotangent, in order, checked against the result."""
    d_out = list(d_out) if isinstance(d_out, collections.deque) else d_out
    if nesting is None:
        return
    if isinstance(nesting, (Array, Scalar)):
        yield _seed(d_out, nesting, shapes, place)
        return
    if isinstance(nesting, ListOf):
        yield _list_seed(d_out, nesting, shapes, place)
        return
    if not isinstance(nesting, tuple):
        yield d_out
        return
    kind, items = nesting
    if isinstance(d_out, dict) and kind is dict:
        given: dict[Any, Any] = d_out
    elif isinstance(d_out, (list, tuple)) and issubclass(kind, (list, tuple)):
        given = dict(enumerate(d_out))
        if not isinstance(d_out, list if issubclass(kind, list) else tuple):
            given = {}
    elif isinstance(d_out, kind) and is_structured(d_out):
        given = fields_of(d_out)
    elif isinstance(d_out, kind) and has_attributes(d_out):
        given = attributes(d_out)
    else:
        raise TypeError(
            f"{place} must be a {kind.__name__} like the result, not a {type(d_out).__name__}"
        )
    if set(given) != set(items):
        if kind is dict:
            raise ValueError(f"{place} must have the keys {list(items)}, not {list(given)}")
        if type(d_out) is not kind and len(given) != len(d_out):
            raise TypeError(
                f"{place} must be a {kind.__name__} like the result, not a {type(d_out).__name__}"
            )
        raise ValueError(f"{place} must have {len(items)} items like the result, not {len(given)}")
    for key, inner in items.items():
        part = (
            f"{place}[{key!r}]"
            if issubclass(kind, (dict, list, tuple, np.ndarray))
            else f"{place}.{key}"
        )
        yield from _seeds(given[key], inner, shapes[key] if shapes else None, part)


def _list_seed(d_out: Any, kind: ListOf, shapes: Any, place: str) -> Any:
    """The cotangent of a list that is built at run time."""
    if not isinstance(d_out, tuple if kind.type is tuple else list):
        raise TypeError(
            f"{place} must be a {kind.type.__name__} like the result, not a {type(d_out).__name__}"
        )
    if shapes is not None and len(d_out) != len(shapes):
        raise ValueError(f"{place} must have {len(shapes)} items like the result, not {len(d_out)}")
    return [
        _item_seed(item, kind.item, shapes[i] if shapes else None, f"{place}[{i}]")
        for i, item in enumerate(d_out)
    ]


def _item_seed(d_out: Any, kind: Any, shapes: Any, place: str) -> Any:
    """The cotangent of an item of a list, which may be a tuple or a list."""
    if isinstance(kind, ListOf):
        return _list_seed(d_out, kind, shapes, place)
    if isinstance(kind, (Array, Scalar)):
        return _seed(d_out, kind, shapes, place)
    if not isinstance(kind, tuple) or (d_out is None and shapes is None):
        return d_out
    if not isinstance(d_out, tuple) or len(d_out) != len(kind):
        what = f"a tuple of {len(d_out)}" if isinstance(d_out, tuple) else type(d_out).__name__
        raise TypeError(f"{place} must be a tuple of {len(kind)} like the result, not {what}")
    parts = enumerate(zip(d_out, kind, strict=True))
    return tuple(
        _item_seed(item, k, shapes[i] if shapes else None, f"{place}[{i}]")
        for i, (item, k) in parts
    )


def _seed(d_out: Any, kind: Array | Scalar, shape: tuple[int, ...] | None, place: str) -> Any:
    if kind.dtype is not None and kind.dtype.kind not in "fc":
        return d_out  # the derivative of an integer isn't used
    if d_out is None and shape is None:
        d_out = 0.0  # where the result is None in this run, though it may be a number: unused
    if not isinstance(d_out, (np.ndarray, np.generic, int, float, complex)):
        raise TypeError(f"{place} must be an array or a number, not a {type(d_out).__name__}")
    given = np.asarray(d_out)
    if given.dtype.kind not in "fciub":
        raise TypeError(f"{place} must be of floats, not of dtype {given.dtype}")
    if shape is not None and given.shape != shape:
        raise ValueError(f"{place} must have the shape {shape} of the result, not {given.shape}")
    if given.dtype.kind == "c" and kind.dtype is not None and kind.dtype.kind != "c":
        raise TypeError(f"{place} is complex, but the result is real")
    if isinstance(kind, Scalar):
        return given.item() if kind.python else kind.dtype.type(given)
    return given.astype(kind.dtype or given.dtype, copy=True)


__all__ = ["Pullback", "vjp"]
