"""Jacobians and Hessians, of nests of arrays by nests of arrays.

All directions are taken at once where the generated code allows it: it then works on arrays with
one more axis in front, one row for each direction (`transform/batching.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .api import grad
from .argnums import Argnums
from .errors import Unbatchable
from .forward import Derived, Tangent, refuse_input
from .gradient import Gradient, kept
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
        for part in (self._one, self._tangents, self._pulled, self._adjoints):
            part._repeats = True
        self._mode, self._holomorphic = mode, holomorphic
        self._results: dict[Any, Any] = {}
        self._unbatchable: set[Any] = set()
        self._tested: set[Any] = set()  # signatures of functions that are holomorphic

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = self._one.inputs(args, kwargs)
        for place, value in inputs:
            self._check_input(place, value)
        values = [value for _, value in inputs]
        mode = self._mode
        if self._holomorphic:
            self._check_holomorphic(args, kwargs, values)
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
            refuse_input(place, value)
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

    def _check_holomorphic(self, args: tuple[Any, ...], kwargs: Any, values: list[Any]) -> None:
        """Refuse a function whose derivative isn't complex-linear: tested once for a signature."""
        key = self._key(args, kwargs)
        if key in self._tested:
            return
        rng = np.random.default_rng(0)

        def noise(x: Any) -> Any:
            return np.asarray(rng.normal(size=np.shape(x)) + 0.5j, np.asarray(x).dtype)[()]

        derivative: Callable[[Any], Any]
        if self._mode == "forward":
            along: Any = [mapped(noise, v) for v in values]

            def derivative(directions: Any) -> Any:
                return self._one.push(args, kwargs, directions)[0]

        else:
            along, derivative, _ = self._pulled.pull(args, kwargs)
            _check_complex(along)
            along = mapped(noise, along)
        turned = mapped(lambda x: 1j * x, along)
        found, expected = map(list, map(float_leaves, (derivative(turned), derivative(along))))
        if self._mode == "forward":
            _check_complex(expected)
        for a, b in zip(found, expected, strict=True):
            tolerance = float(np.finfo(np.asarray(b).dtype).eps) ** 0.5
            if not np.allclose(a, 1j * b, rtol=tolerance, atol=1e-300, equal_nan=True):
                raise TypeError("with holomorphic=True the function must be holomorphic")
        self._tested.add(key)

    def _key(self, args: tuple[Any, ...], kwargs: Any) -> Any:
        plain = not kwargs and len(args) == self._one._plain
        return tuple(self._one._key(args if plain else self._one._bound(args, kwargs)))

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
        if leaves and sum(map(np.size, leaves)):
            parts = [self._pushed(args, kwargs, values, rows) for rows in batches(leaves)]
            found = [joined(p) for p in zip(*(rows for rows, _ in parts), strict=True)]
            out = parts[0][1]
        else:
            out = self._one.push(args, kwargs, [mapped(lambda x: 0 * x, v) for v in values])[0]
            found = [np.zeros((0, *np.shape(x))) for x in float_leaves(out)]
        self._check_output(out)
        lengths = np.cumsum([0, *map(np.size, leaves)])
        blocks = [
            [
                np.moveaxis(r[lengths[i] : lengths[i + 1]], 0, -1).reshape(
                    (*r.shape[1:], *np.shape(x))
                )
                for i, x in enumerate(leaves)
            ]
            for r in found
        ]
        return self._nested(out, values, blocks)

    def _pushed(
        self, args: tuple[Any, ...], kwargs: Any, values: list[Any], rows: list[Any]
    ) -> tuple[list[Any], Any]:
        """The tangents of the floats in the result along rows of directions; a nest of them."""
        count = len(rows[0])

        def all_at_once() -> Any:
            directions = refilled_from(values, rows)
            tangents = self._tangents.push(args, kwargs, [*directions, count])[0]
            self._part = self._tangents
            # what no direction changes, such as an object that isn't read, has no axis of them
            return [
                r if np.shape(r)[:1] == (count,) else np.zeros((count, *np.shape(r)))
                for r in float_leaves(tangents)
            ], tangents

        found = self._batched(all_at_once, args, kwargs) if count > 1 else None
        if found is not None:
            return found  # type: ignore[no-any-return]
        self._part = self._one
        leaves = list(float_leaves(values))
        tangents = [
            self._one.push(args, kwargs, refilled_from(values, one_row(rows, leaves, k)))[0]
            for k in range(count)
        ]
        return [np.stack(p) for p in zip(*map(float_leaves, tangents), strict=True)], tangents[0]

    # Reverse mode

    def _by_rows(self, args: tuple[Any, ...], kwargs: Any, values: list[Any]) -> Any:
        leaves = list(float_leaves(values))
        out = self._result(args, kwargs)
        self._check_output(out)
        try:
            found = self._rows_like(args, kwargs, leaves, out)
        except Exception:  # the shape of the result may depend on the values
            self._results.pop(self._key(args, kwargs), None)
            out = self._result(args, kwargs)
            found = self._rows_like(args, kwargs, leaves, out)
        lengths = np.cumsum([0, *map(np.size, float_leaves(out))])
        blocks = [
            [
                r[lengths[i] : lengths[i + 1]].reshape((*np.shape(result), *np.shape(x)))
                for r, x in zip(found, leaves, strict=True)
            ]
            for i, result in enumerate(float_leaves(out))
        ]
        return self._nested(out, values, blocks)

    def _rows_like(
        self, args: tuple[Any, ...], kwargs: Any, leaves: list[Any], out: Any
    ) -> list[Any]:
        results = list(float_leaves(out))
        if not sum(map(np.size, results)):
            return [np.zeros((0, *np.shape(x))) for x in leaves]
        parts = [self._pulled_rows(args, kwargs, out, rows) for rows in batches(results)]
        return [joined(p) for p in zip(*parts, strict=True)]

    def _pulled_rows(
        self, args: tuple[Any, ...], kwargs: Any, out: Any, rows: list[Any]
    ) -> list[Any]:
        """The gradients by the floats in the arguments, for rows of adjoints of a result."""
        count = len(rows[0])

        def all_at_once() -> Any:
            compiled, bound, free = self._adjoints._ready(args, kwargs)
            self._part = self._adjoints
            places = list(_places(compiled.nesting, out))
            active = [place == "seed" for place in places if place != "other"]
            given = iter([row for row, a in zip(rows, active, strict=True) if a])
            seeds = [next(given) if p == "seed" else None for p in places if p != "constant"]
            shapes, gradients = compiled.function(*bound, *seeds, count, *free)
            expected = [x.shape for x, a in zip(float_leaves(out), active, strict=True) if a]
            if list(map(tuple, shapes)) != expected:
                raise ValueError(f"the result has the shapes {shapes}, not {expected} as before")
            return list(float_leaves(gradients))

        found = self._batched(all_at_once, args, kwargs) if count > 1 else None
        if found is not None:
            return found  # type: ignore[no-any-return]
        result, pullback, _ = self._pulled.pull(args, kwargs)
        self._part = pullback
        leaves = list(float_leaves(result))
        each = []
        for k in range(count):
            seeds = iter(one_row(rows, leaves, k))
            found = pullback(mapped(lambda _, seeds=seeds: next(seeds), result))
            each.append(list(float_leaves(found)))
        return [np.stack(p) for p in zip(*each, strict=True)]

    def _nested(self, out: Any, values: list[Any], blocks: list[list[Any]]) -> Any:
        """The blocks in the nesting of the result, and in each leaf of it that of the inputs."""

        def leaf(parts: list[Any]) -> Any:
            inner = refilled_from(values, parts)
            return inner[0] if self._single else tuple(inner)

        return refilled(out, iter([leaf(parts) for parts in blocks]))


def _check_complex(result: Any) -> None:
    if not all(map(np.iscomplexobj, float_leaves(result))):
        raise TypeError("with holomorphic=True the result must be complex")


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


def joined(rows: tuple[Any, ...]) -> Any:
    """Arrays one after the other, in one."""
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def refilled_from(trees: list[Any], leaves: Any) -> list[Any]:
    """Nests with their floats replaced, in order."""
    values = iter(leaves)
    return [refilled(tree, values) for tree in trees]


def one_row(rows: list[Any], leaves: list[Any], k: int) -> list[Any]:
    """Row number k of each of some arrays, as arrays or numbers like the leaves."""
    found = zip(rows, leaves, strict=True)
    return [r[k] if isinstance(x, np.ndarray) else type(x)(r[k]) for r, x in found]


def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Jacobian of `f`, by columns: forward mode, best where the argument is small.

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        argnums: the arguments to differentiate by: a position, a name, or a tuple of them.
        holomorphic: `f` is a holomorphic function of complex arguments, which is tested
            numerically at the first call for each signature.

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
    f: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False, sparsity: Any = None
) -> Callable[..., Any]:
    """The Jacobian of `f`, in the mode that needs fewer directions.

    Arguments and result are those of `jacfwd`. To see the size of the result, `f` is called
    once for each combination of shapes.

    With `sparsity`, a matrix (of SciPy's sparse ones, or an array) whose nonzero entries are where
    the Jacobian has some, it takes few directions, each for many columns that share no row; the
    result is a `scipy.sparse.csr_array`, with a row for each number in the result of `f` and a
    column for each number in the argument. One more direction checks the pattern: a Jacobian with
    other entries raises ValueError. `srcgrad.jacobian_sparsity` finds patterns.

    >>> import numpy as np
    >>> jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    >>> jacobian(lambda x: x**2, sparsity=np.eye(1000))(np.ones(1000)).diagonal()[:3]
    array([2., 2., 2.])
    """
    if sparsity is not None:
        from .sparse import SparseJacobian

        return SparseJacobian(f, argnums, "either", sparsity)
    return _jacobian(f, argnums, "either", holomorphic)


def hessian(
    f: Callable[..., Any], argnums: Argnums = 0, *, sparsity: Any = None
) -> Callable[..., Any]:
    """The Hessian of a function that returns a number: forward mode over reverse mode.

    Args:
        f: the function.
        argnums: the arguments to differentiate by: a position, a name, or a tuple of them.
        sparsity: where the Hessian has entries, as in `jacobian`; as it is symmetric, it takes
            still fewer directions.

    Returns:
        A function called with the arguments of `f`. By one array, an array with its shape twice;
        by a tuple of argnums, a tuple with the row of blocks of each.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    if sparsity is not None:
        from .sparse import SparseJacobian

        return SparseJacobian(grad(f, argnums), argnums, "forward", sparsity, True)
    return _jacobian(grad(f, argnums), argnums, "forward", False)


_jacobian = kept(Jacobian)

__all__ = ["Jacobian", "hessian", "jacfwd", "jacobian", "jacrev"]
