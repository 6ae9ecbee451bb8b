"""Jacobians and Hessians, of nests of arrays by nests of arrays.

All directions are taken at once where the generated code allows it: it then works on arrays with
one more axis in front, one row for each direction (`transform/batching.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .api import Argnums, grad
from .forward import Derived, Tangent, kept
from .pullback import vjp
from .trees import float_leaves, mapped, refilled

MOST_NUMBERS = 2**24  # in all directions that are taken at once


class Jacobian(Derived):
    """The function that computes the Jacobian of another, its primal.

    Made by `jacfwd`, `jacrev`, `jacobian` and `hessian`; called with the primal's arguments.
    """

    _what = "Jacobian"

    def __init__(
        self, primal: Callable[..., Any], argnums: Argnums, mode: str, holomorphic: bool
    ) -> None:
        self._forward = Tangent(primal, argnums, False, False)
        super().__init__(primal, self._forward)
        self._mode, self._holomorphic = mode, holomorphic
        self._single = not isinstance(self._forward._argnums, tuple)
        self._shapes: dict[Any, list[tuple[int, ...]]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = self._forward.inputs(args, kwargs)
        for place, value in inputs:
            self._check_input(place, value)
        mode = self._mode
        if mode == "either":
            entries = sum(np.size(x) for _, value in inputs for x in float_leaves(value))
            results = sum(int(np.prod(shape)) for shape in self._result_shapes(args, kwargs))
            mode = "forward" if entries <= results else "reverse"
        values = [value for _, value in inputs]
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

    def _result_shapes(self, args: tuple[Any, ...], kwargs: Any) -> list[tuple[int, ...]]:
        """The shapes of the floats in the result: it takes a call to see them."""
        key = tuple(self._forward._key(self._forward._bound(args, kwargs)))
        if key not in self._shapes:
            self._shapes[key] = [np.shape(x) for x in float_leaves(self._result(args, kwargs))]
        return self._shapes[key]

    def _result(self, args: tuple[Any, ...], kwargs: Any) -> Any:
        state = np.random.get_state()
        try:
            args, kwargs = copy.deepcopy((args, kwargs))
            return self.primal(*args, **kwargs)
        finally:
            np.random.set_state(state)

    # Forward mode

    def _by_columns(self, args: tuple[Any, ...], kwargs: Any, values: list[Any]) -> Any:
        leaves = list(float_leaves(values))
        count = sum(map(np.size, leaves))
        columns = [
            self._forward.push(args, kwargs, refilled_from(values, directions))[0]
            for directions in unit_directions(leaves)
        ]
        empty = not columns
        if empty:
            zeros = [mapped(lambda x: 0 * x, v) for v in values]
            columns = [self._forward.push(args, kwargs, zeros)[0]]
        self._check_output(columns[0])
        stacked = [np.stack(parts, -1) for parts in zip(*map(float_leaves, columns), strict=True)]
        blocks = [
            [
                np.asarray(part).reshape((*s.shape[:-1], *np.shape(x)))
                for x, part in zip(leaves, cut(s[..., :count], leaves), strict=True)
            ]
            for s in stacked
        ]
        return self._nested(columns[0], values, blocks)

    # Reverse mode

    def _by_rows(self, args: tuple[Any, ...], kwargs: Any, values: list[Any]) -> Any:
        bound = self._forward._bound(args, kwargs)
        out, pullback = vjp(self.primal, *bound)[:2]
        self._check_output(out)
        leaves, results = list(float_leaves(values)), list(float_leaves(out))
        rows = []
        for directions in unit_directions(results):
            seeds = iter(directions)
            found = pullback(mapped(lambda _, seeds=seeds: next(seeds), out))
            rows.append(list(float_leaves(self._chosen(found, bound))))
        stacked = [
            np.stack([r[i] for r in rows]) if rows else np.zeros((0, *np.shape(x)))
            for i, x in enumerate(leaves)
        ]
        lengths = np.cumsum([0, *map(np.size, results)])
        blocks = [
            [
                s[lengths[i] : lengths[i + 1]].reshape((*np.shape(r), *np.shape(x)))
                for s, x in zip(stacked, leaves, strict=True)
            ]
            for i, r in enumerate(results)
        ]
        return self._nested(out, values, blocks)

    def _chosen(self, found: tuple[Any, ...], bound: tuple[Any, ...]) -> list[Any]:
        by_name = dict(zip(self._forward._parameters, found, strict=True))
        arguments = dict(zip(self._forward._parameters, bound, strict=True))
        placed = [self._forward._placed(which, arguments) for which in self._forward._inputs]
        return [by_name[name] if i is None else by_name[name][i] for name, i in placed]

    # Both

    def _check_output(self, out: Any) -> None:
        complex_result = any(map(np.iscomplexobj, float_leaves(out)))
        if complex_result and not self._holomorphic and self._mode != "forward":
            raise TypeError(
                "the result is complex: pass holomorphic=True if the function is holomorphic, "
                "else return its real and imaginary parts"
            )

    def _nested(self, out: Any, values: list[Any], blocks: list[list[Any]]) -> Any:
        """The blocks in the nesting of the result, and in each leaf of it that of the inputs."""

        def leaf(parts: list[Any]) -> Any:
            inner = refilled_from(values, parts)
            return inner[0] if self._single else tuple(inner)

        return refilled(out, iter([leaf(parts) for parts in blocks]))


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


def cut(array: Any, leaves: list[Any]) -> list[Any]:
    """An array's last axis cut into one piece for each leaf."""
    return np.split(array, np.cumsum([np.size(x) for x in leaves])[:-1], axis=-1)


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
