"""Jacobians and Hessians, of nests of arrays by nests of arrays.

All directions are taken at once where the generated code allows it: it then works on arrays with
one more axis in front, one row for each direction (`transform/batching.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .api import Argnums, Gradient, grad, kept
from .errors import Unbatchable
from .forward import Derived, Tangent
from .kinds import Kind, is_float
from .pullback import Forward
from .trees import children, float_leaves, mapped, refilled

MOST_NUMBERS = 2**24  # in all directions that are taken at once


class _Tangents(Tangent):
    """Compiles the function that takes rows of tangents to rows of tangents of the result."""

    _batch = True


class _Adjoints(Gradient):
    """Compiles the function that takes rows of adjoints of the result to rows of gradients."""

    _pullback = True
    _batch = True


class Jacobian(Derived):
    """The function that computes the Jacobian of another, its primal.

    Made by `jacfwd`, `jacrev`, `jacobian` and `hessian`; called with the primal's arguments.

    Attributes:
        primal: the function it was made from.
        source: the generated source for the latest signature; "" before the first call.
    """

    _what = "Jacobian"

    def __init__(
        self, primal: Callable[..., Any], argnums: Argnums, mode: str, holomorphic: bool
    ) -> None:
        self._one = Tangent(primal, argnums, False, False)
        super().__init__(primal, self._one)
        self._tangents = _Tangents(primal, argnums, False, False)
        several = self._one._argnums if isinstance(self._one._argnums, tuple) else (argnums,)
        self._pulled = Forward(primal, several)
        self._adjoints = _Adjoints(primal, several)
        self._mode, self._holomorphic = mode, holomorphic
        self._single = not isinstance(self._one._argnums, tuple)
        self._results: dict[Any, Any] = {}
        self._unbatchable: set[Any] = set()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = self._one.inputs(args, kwargs)
        for place, value in inputs:
            self._check_input(place, value)
        values = [value for _, value in inputs]
        mode = self._mode
        if mode == "either":
            entries = sum(map(np.size, float_leaves(values)))
            results = sum(map(np.size, float_leaves(self._result(args, kwargs))))
            mode = "forward" if entries <= results else "reverse"
        if mode == "forward":
            return self._by_columns(args, kwargs, values)
        return self._by_rows(args, kwargs, values)

    def _check_input(self, place: str, value: Any) -> None:
        found = list(float_leaves(value))
        if not found:
            raise TypeError(
                f"argument {place!r} can't be differentiated: it is a {type(value).__name__} "
                "without floats in it"
            )
        wrong = [x for x in found if np.iscomplexobj(x) is not self._holomorphic]
        if wrong and self._holomorphic:
            raise TypeError(f"with holomorphic=True argument {place!r} must be complex")
        if wrong and self._mode != "reverse":
            raise TypeError(
                f"argument {place!r} is complex: pass holomorphic=True if the function is "
                "holomorphic, else differentiate by the real and imaginary parts"
            )

    def _check_output(self, out: Any) -> None:
        if self._mode == "forward" or self._holomorphic:
            return
        if any(map(np.iscomplexobj, float_leaves(out))):
            raise TypeError(
                "the result is complex: pass holomorphic=True if the function is holomorphic, "
                "else return its real and imaginary parts"
            )

    def _key(self, args: tuple[Any, ...], kwargs: Any) -> Any:
        return tuple(self._one._key(self._one._bound(args, kwargs)))

    def _result(self, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The result with zeros in place of its floats: it takes a call to see their shapes."""
        key = self._key(args, kwargs)
        if key not in self._results:
            out = called_with_copies(self.primal, args, kwargs)
            self._results[key] = mapped(_outline, out)
        return self._results[key]

    def _batched(self, compute: Callable[[], Any], args: tuple[Any, ...], kwargs: Any) -> Any:
        """What all directions at once give; None where it takes one after the other."""
        key = self._key(args, kwargs)
        if key in self._unbatchable:
            return None
        try:
            return compute()
        except Unbatchable:
            self._unbatchable.add(key)
            return None

    # Forward mode

    def _by_columns(self, args: tuple[Any, ...], kwargs: Any, values: list[Any]) -> Any:
        leaves = list(float_leaves(values))
        count = sum(map(np.size, leaves))

        def all_at_once() -> Any:
            parts = []
            for seeds in batches(leaves):
                directions = refilled_from(values, seeds)
                parts.append(self._tangents.push(args, kwargs, [*directions, len(seeds[0])])[0])
            self._part = self._tangents
            return [np.concatenate(p) for p in zip(*map(float_leaves, parts), strict=True)], parts

        found = self._batched(all_at_once, args, kwargs) if count > 1 else None
        if found is None:
            self._part = self._one
            tangents = [
                self._one.push(args, kwargs, refilled_from(values, directions))[0]
                for directions in unit_directions(leaves)
            ] or [self._one.push(args, kwargs, [mapped(lambda x: 0 * x, v) for v in values])[0]]
            found = [np.stack(p) for p in zip(*map(float_leaves, tangents), strict=True)], tangents
        rows, nests = found
        self._check_output(nests[0])
        lengths = np.cumsum([0, *map(np.size, leaves)])
        blocks = [
            [
                np.moveaxis(r[lengths[i] : lengths[i + 1]], 0, -1).reshape(
                    (*r.shape[1:], *np.shape(x))
                )
                for i, x in enumerate(leaves)
            ]
            for r in rows
        ]
        return self._nested(nests[0], values, blocks)

    # Reverse mode

    def _by_rows(self, args: tuple[Any, ...], kwargs: Any, values: list[Any]) -> Any:
        leaves = list(float_leaves(values))
        out = self._result(args, kwargs)
        self._check_output(out)
        rows = None
        if sum(map(np.size, float_leaves(out))) > 1:
            rows = self._batched(lambda: self._all_rows(args, kwargs, leaves), args, kwargs)
        if rows is None:
            rows = self._row_by_row(args, kwargs, leaves)
        out = self._result(args, kwargs)
        lengths = np.cumsum([0, *map(np.size, float_leaves(out))])
        blocks = [
            [
                r[lengths[i] : lengths[i + 1]].reshape((*np.shape(result), *np.shape(x)))
                for r, x in zip(rows, leaves, strict=True)
            ]
            for i, result in enumerate(float_leaves(out))
        ]
        return self._nested(out, values, blocks)

    def _all_rows(self, args: tuple[Any, ...], kwargs: Any, leaves: list[Any]) -> list[Any]:
        compiled, bound, free = self._adjoints._ready(args, kwargs)
        self._part = self._adjoints
        try:
            return self._rows_like(self._result(args, kwargs), compiled, bound, free, leaves)
        except Exception:  # the shape of the result may depend on the values
            self._results.pop(self._key(args, kwargs), None)
            return self._rows_like(self._result(args, kwargs), compiled, bound, free, leaves)

    def _rows_like(
        self, out: Any, compiled: Any, bound: tuple[Any, ...], free: Any, leaves: list[Any]
    ) -> list[Any]:
        results = list(float_leaves(out))
        kinds = list(_places(compiled.nesting, out))
        active = [is_active for is_active in kinds if is_active != "other"]
        shapes = [r.shape for r, a in zip(results, active, strict=True) if a == "seed"]
        parts = []
        for seeds in batches(results):
            count = len(seeds[0])
            given = iter([s for s, a in zip(seeds, active, strict=True) if a == "seed"])
            every = [next(given) if k == "seed" else None for k in kinds if k != "constant"]
            found, gradients = compiled.function(*bound, *every, count, *free)
            if list(map(tuple, found)) != shapes:
                raise ValueError("the result has another shape than before")
            parts.append(list(float_leaves(gradients)))
        return [np.concatenate(p) for p in zip(*parts, strict=True)]

    def _row_by_row(self, args: tuple[Any, ...], kwargs: Any, leaves: list[Any]) -> list[Any]:
        out, pullback, _ = self._pulled.pull(args, kwargs)
        self._part = pullback
        self._results[self._key(args, kwargs)] = mapped(_outline, out)
        rows: list[list[Any]] = [[] for _ in leaves]
        for directions in unit_directions(list(float_leaves(out))):
            seeds = iter(directions)
            found = pullback(mapped(lambda _, seeds=seeds: next(seeds), out))
            for row, x in zip(rows, float_leaves(found), strict=True):
                row.append(x)
        return [
            np.stack(row) if row else np.zeros((0, *np.shape(x)))
            for row, x in zip(rows, leaves, strict=True)
        ]

    def _nested(self, out: Any, values: list[Any], blocks: list[list[Any]]) -> Any:
        """The blocks in the nesting of the result, and in each leaf of it that of the inputs."""

        def leaf(parts: list[Any]) -> Any:
            inner = refilled_from(values, parts)
            return inner[0] if self._single else tuple(inner)

        return refilled(out, iter([leaf(parts) for parts in blocks]))


def _outline(x: Any) -> Any:
    """An array of zeros of the shape and dtype of another, without memory."""
    return np.broadcast_to(np.zeros((), np.asarray(x).dtype), np.shape(x))


def _places(nesting: Any, out: Any) -> Iterator[str]:
    """For each leaf of a result: "seed" of a float, "constant" of a float known when compiling,
    "other" of what is no float, but has an adjoint that isn't used."""
    if isinstance(nesting, Kind):
        yield "seed" if is_float(nesting) else "other"
    elif nesting is None:
        yield from ("constant" for _ in float_leaves(out))
    else:
        inner = children(out) or {}
        for key, item in nesting[1].items():
            yield from _places(item, inner[key])


def called_with_copies(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result of a function, leaving its arguments and NumPy's random state alone."""
    state = np.random.get_state()
    try:
        args, kwargs = copy.deepcopy((args, kwargs))
        return function(*args, **kwargs)
    finally:
        np.random.set_state(state)


def batches(leaves: list[Any]) -> Iterator[list[Any]]:
    """The unit directions of arrays and numbers, as rows, as many at a time as memory allows.

    >>> [[x.shape for x in rows] for rows in batches([np.ones((2, 3)), 1.0])]
    [[(7, 2, 3), (7,)]]
    """
    sizes = [int(np.size(x)) for x in leaves]
    total = sum(sizes)
    most = max(2, MOST_NUMBERS // max(1, total))
    starts = list(range(0, total, most))
    if len(starts) > 1 and total - starts[-1] == 1:  # one row is no batch
        starts[-1] -= 1
    for start, stop in zip(starts, [*starts[1:], total], strict=True):
        before, rows = 0, []
        for x, size in zip(leaves, sizes, strict=True):
            eye = np.eye(stop - start, size, start - before, np.asarray(x).dtype)
            rows.append(eye.reshape((stop - start, *np.shape(x))))
            before += size
        yield rows


def refilled_from(trees: list[Any], leaves: Any) -> list[Any]:
    """Nests with their floats replaced, in order."""
    values = iter(leaves)
    return [refilled(tree, values) for tree in trees]


def unit_directions(leaves: list[Any]) -> Iterator[list[Any]]:
    """For each number in some arrays and numbers: zeros like them, and one 1."""
    for i, x in enumerate(leaves):
        for k in range(np.size(x)):
            direction = [_zero(other) for other in leaves]
            if isinstance(x, np.ndarray):
                direction[i].flat[k] = 1
            else:
                direction[i] = type(x)(1)
            yield direction


def _zero(x: Any) -> Any:
    return np.zeros_like(x) if isinstance(x, np.ndarray) else type(x)(0)


def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Jacobian of `f`, by columns: forward mode, best where the argument is small.

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        argnums: the arguments to differentiate by: a position, a name, or a tuple of them.
        holomorphic: `f` is a holomorphic function of complex arguments.

    Returns:
        A function called with the arguments of `f`. For an array by an array, an array whose
        shape is that of the result followed by that of the argument; for containers, and a tuple
        of argnums, the nesting of the result with that of the arguments inside.

    Raises:
        TypeError: when called, if an argument isn't of floats, or complex without `holomorphic`.
        UnsupportedError: when called, if `f` uses something that can't be differentiated.

    >>> import numpy as np
    >>> jacfwd(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(f, argnums, "forward", holomorphic)


def jacrev(
    f: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Jacobian of `f`, by rows: reverse mode, best where the result is small.

    Arguments and result are those of `jacfwd`.

    >>> import numpy as np
    >>> jacrev(lambda x: {"sum": x.sum(), "same": x})(np.array([1.0, 2.0]))["sum"]
    array([1., 1.])
    """
    return _jacobian(f, argnums, "reverse", holomorphic)


def jacobian(
    f: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Jacobian of `f`, in the mode that needs fewer directions.

    Arguments and result are those of `jacfwd`. To see the size of the result, `f` is called
    once for each combination of shapes.

    >>> import numpy as np
    >>> jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    return _jacobian(f, argnums, "either", holomorphic)


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The Hessian of a function that returns a number: forward mode over reverse mode.

    Args:
        f: the function.
        argnums: the arguments to differentiate by: a position, a name, or a tuple of them.

    Returns:
        A function called with the arguments of `f`. By one array, an array with its shape twice;
        by a tuple of argnums, a tuple with the row of blocks of each.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return _jacobian(grad(f, argnums), argnums, "forward", False)


_jacobian = kept(Jacobian)

__all__ = ["Jacobian", "hessian", "jacfwd", "jacobian", "jacrev"]
