"""Forward mode: `jvp`, `linearize`, `derivative`, and products with a Hessian."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .api import grad
from .argnums import Argnums
from .gradient import Gradient, kept
from .pullback import Forward
from .runtime import own_copy
from .trees import children, float_leaves, is_float, mapped, with_children

if TYPE_CHECKING:
    from .compiler import Compiled


class Tangent(Gradient):
    """Compiles the function that carries tangents of some arguments along."""

    _tangent = True

    def push(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], tangents: Sequence[Any]
    ) -> tuple[Any, ...]:
        """What the generated function returns: (out, t_out, aux), without what wasn't asked for."""
        compiled, args, free = self._ready(args, kwargs)
        results = compiled.function(*args, *tangents, *free)
        return results if self._value or self._has_aux else (results,)

    def inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
        """The arguments that have tangents: what each is called, and its value."""
        return inputs_of(self, args, kwargs)


def inputs_of(
    gradient: Gradient, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[tuple[str, Any]]:
    """The chosen arguments of a call: what each is called, and its value."""
    plain = not kwargs and len(args) == gradient._plain
    bound = args if plain else gradient._bound(args, kwargs)
    arguments = dict(zip(gradient._parameters, bound, strict=True))
    found = []
    for which in gradient._inputs:
        name, part = gradient._placed(which, arguments)
        value = arguments[name] if part is None else arguments[name][part]
        found.append((name if part is None else f"{name}[{part!r}]", value))
    return found


def refuse_input(place: str, value: Any) -> None:
    """Raise the TypeError that says why an argument can't be differentiated."""
    from .inputs import check_input  # only now: it imports the compiler

    check_input(place, value)
    raise TypeError(f"argument {place!r} can't be differentiated: it holds no floats")


class _Unit(Tangent):
    """The tangent of the only input is 1."""

    _unit = True


_tangent = kept(Tangent)


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False
) -> tuple[Any, ...]:
    """The result of a function and its derivative along a direction (forward mode).

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        primals: the tuple of its positional arguments.
        tangents: the tuple of directions, each nested and shaped like its argument; None for an
            argument, or a part of one, that isn't of floats.
        has_aux: `f` returns a pair (result, aux).

    Returns:
        `(out, t_out)`, or `(out, t_out, aux)` with `has_aux`; `t_out` is nested like `out`, with
        None where `out` isn't of floats.

    Raises:
        TypeError, ValueError: the tangents aren't nested or shaped like the primals.
        UnsupportedError: `f` uses something that can't be differentiated.

    >>> import numpy as np
    >>> jvp(np.sin, (np.zeros(2),), (np.ones(2),))
    (array([0., 0.]), array([1., 1.]))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp needs a tuple of primals and a tuple of tangents")
    if len(primals) != len(tangents):
        raise ValueError(f"jvp got {len(primals)} primals but {len(tangents)} tangents")
    moved = checked_tangents(tangents, primals, [f"tangent {i}" for i in range(len(primals))])
    forward = _tangent(f, tuple(range(len(primals))), has_aux, True)
    return forward.push(tuple(primals), {}, moved)


def checked_tangents(
    tangents: Iterable[Any], primals: Iterable[Any], places: Iterable[str]
) -> list[Any]:
    """Tangents with the nesting, shapes and dtypes of their primals."""
    return [_checked(t, p, place) for t, p, place in zip(tangents, primals, places, strict=True)]


def _checked(tangent: Any, primal: Any, place: str) -> Any:
    inner = children(primal)
    if inner is not None:
        given = dict.fromkeys(inner) if tangent is None else children(tangent)
        plain = (dict, list, tuple)
        nested = tangent is None or isinstance(tangent, plain) or not isinstance(primal, plain)
        if given is None or not nested:
            kind, found = type(primal).__name__, type(tangent).__name__
            raise TypeError(f"{place} must be a {kind} like its primal, not a {found}")
        if set(given) != set(inner):
            raise ValueError(
                f"{place} must have the items {list(inner)} of its primal, not {list(given)}"
            )
        items = {key: _checked(given[key], p, f"{place}[{key!r}]") for key, p in inner.items()}
        return with_children(primal, items)
    if not is_float(primal):
        return primal
    array = np.asarray(tangent)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{place} must be of floats, not {type(tangent).__name__}")
    if array.shape != np.shape(primal):
        raise ValueError(
            f"{place} must have the shape {np.shape(primal)} of its primal, not {array.shape}"
        )
    dtype = np.asarray(primal).dtype
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{place} is complex, but its primal is real")
    if isinstance(primal, np.ndarray):
        moved = own_copy(primal)  # a reshape is a view of the tangent if it is one of the primal
        moved[...] = array
        return moved
    return dtype.type(array) if isinstance(primal, np.generic) else array.item()


def _kept(leaf: Any) -> Any:
    """A leaf that the caller doesn't change."""
    return own_copy(leaf) if isinstance(leaf, np.ndarray) else leaf


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Linear]:
    """The result of a function, and its derivative there as a linear function.

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        primals: its positional arguments.

    Returns:
        `(out, linear)`: `linear(*tangents)` is the derivative of `f` at `primals` along the
        tangents, nested and shaped like `out`. It holds copies of the primals, and of the numbers
        and arrays that `f` finds outside, so changing them later doesn't matter.

    Raises:
        TypeError, ValueError: from `linear`, if its arguments aren't nested or shaped like the
            primals.
        UnsupportedError: `f` uses something that can't be differentiated.

    >>> import numpy as np
    >>> out, linear = linearize(lambda x: x**2, np.array([1.0, 2.0]))
    >>> linear(np.array([1.0, 0.0])), linear(np.array([0.0, 1.0]))
    (array([2., 0.]), array([0., 4.]))
    """
    if not primals:
        raise TypeError("linearize needs the arguments of the function: linearize(f, *primals)")
    zeros = [mapped(lambda x: 0 * x, p) for p in primals]
    linear = Linear(f, primals)
    return jvp(f, primals, zeros)[0], linear


class Linear:
    """The linear function that `linearize` returns.

    Attributes:
        primal: the function that it is a derivative of.
        source: the generated source; "" before the first call.
    """

    def __init__(self, f: Callable[..., Any], primals: tuple[Any, ...]) -> None:
        self.primal = f
        self._tangent: Tangent = _tangent(f, tuple(range(len(primals))), False, False)
        self._tangent._repeats = True
        ready = self._tangent._ready(primals, {})
        self._compiled: Compiled | None = ready[0]
        self._primals, *self._given = mapped(_kept, (primals, *ready[1:]), _kept)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_compiled": None}

    def __call__(self, *tangents: Any) -> Any:
        if len(tangents) != len(self._primals):
            raise TypeError(
                f"this linear function takes {len(self._primals)} tangents, not {len(tangents)}"
            )
        places = [f"tangent {i}" for i in range(len(tangents))]
        moved = checked_tangents(tangents, self._primals, places)
        compiled = self._compiled or self._tangent._ready(self._primals, {})[0]
        args, free = self._given
        return compiled.function(*args, *moved, *free)

    @property
    def source(self) -> str:
        """The generated source; "" before the first call."""
        return self._tangent.source

    @property
    def __srcgrad_primal__(self) -> Callable[..., Any]:
        return self.primal

    def __repr__(self) -> str:
        return f"<derivative of {self._tangent._name} at a point>"


class Derived:
    """A function made of generated ones, called with the arguments of its primal.

    Attributes:
        primal: the function it was made from.
        source: the generated source for the latest signature; "" before the first call.
    """

    _what = "derivative"
    _directed = False  # whether a direction stands after the arguments

    def __init__(self, primal: Callable[..., Any], part: Gradient) -> None:
        self.primal = primal
        self._part: Any = part
        self._at = part  # by the inputs, of what is differentiated
        self._single = not isinstance(part._argnums, tuple)
        functools.update_wrapper(self, part)  # type: ignore[arg-type]

    @property
    def __srcgrad_primal__(self) -> Callable[..., Any]:
        return self.primal

    @property
    def __signature__(self) -> inspect.Signature:
        signature = self._at._signature
        return with_direction(signature) if self._directed else signature

    def _before_direction(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], Any, list[tuple[str, Any]]]:
        """The arguments of the function, the direction after them, and the inputs."""
        try:
            inputs = inputs_of(self._part, args[:-1], kwargs)
        except TypeError as error:
            raise TypeError(f"{error}; the direction comes after the arguments") from None
        for place, value in inputs:
            if not any(True for _ in float_leaves(value)):
                refuse_input(place, value)
        return args[:-1], args[-1], inputs

    @property
    def source(self) -> str:
        """The generated source for the latest signature; "" before the first call."""
        return str(self._part.source)

    def __repr__(self) -> str:
        return f"<{self._what} of {getattr(self.primal, '__name__', 'function')}>"


def with_direction(signature: inspect.Signature) -> inspect.Signature:
    """The parameters of a product with a Hessian: those of the function and, last, `v`."""
    P = inspect.Parameter
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if variadic or any(p.default is not P.empty for p in positional):
        return inspect.Signature([P("args", P.VAR_POSITIONAL), P("kwargs", P.VAR_KEYWORD)])
    name = "v"
    while name in signature.parameters:
        name += "_"
    count = len(positional)
    kind = P.POSITIONAL_ONLY
    fixed = [p.replace(kind=kind) for p in positional]
    return inspect.Signature([*fixed, P(name, kind), *parameters[count:]])


class HessianProduct(Derived):
    _what = "product with the Hessian"
    _directed = True

    def __init__(self, primal: Callable[..., Any], argnums: Argnums) -> None:
        super().__init__(primal, _tangent(grad(primal, argnums), argnums, False, False))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        primals, v, inputs = self._before_direction(args, kwargs)
        places, values = zip(*inputs, strict=True)
        several = isinstance(self._part._argnums, tuple)
        if several and (not isinstance(v, (tuple, list)) or len(v) != len(values)):
            raise TypeError(f"the last argument must be a tuple of {len(values)} directions")
        names = [f"the direction of {place!r}" for place in places]
        moved = checked_tangents(v if several else [v], values, names)
        return self._part.push(primals, kwargs, moved)[0]


def hvp(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function `(*args, v) -> H v`, with H the Hessian of `f`.

    Forward mode over reverse mode: about twice the cost of a gradient, and no Hessian is formed.

    Args:
        f: a function that returns a number.
        argnums: the arguments that H is by: a position, a name, or a tuple of them.

    Returns:
        A function called with the arguments of `f` and, last, the direction `v`, nested and
        shaped like the chosen argument; for a tuple of argnums a tuple of directions. The
        product is nested and shaped like `v`. `source` has the generated source.

    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    return HessianProduct(f, argnums)


class VectorHessian(Derived):
    _what = "vector-Hessian product"
    _directed = True

    def __init__(self, primal: Callable[..., Any], argnums: Argnums) -> None:
        gradient = grad(primal, argnums)
        self._several = isinstance(gradient._argnums, tuple)
        several: Any = gradient._argnums if self._several else (gradient._argnums,)
        super().__init__(primal, Forward(gradient, several))
        self._single = not self._several

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        primals, v, _ = self._before_direction(args, kwargs)
        pullback = self._part.pull(primals, kwargs)[1]
        found = pullback(tuple(v) if self._several else v)
        return found if self._several else found[0]


def vhp(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function `(*args, v) -> v H`, with H the Hessian of `f`, by reverse mode twice.

    H is symmetric where it is continuous, so this is what `hvp` computes, which is cheaper. The
    two are independent of each other: each checks the other.

    >>> import numpy as np
    >>> vhp(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]), np.array([1.0, 1.0]))
    array([10.,  4.])
    """
    return VectorHessian(f, argnums)


class Derivative(Derived):
    def __init__(self, primal: Callable[..., Any], argnums: int | str) -> None:
        super().__init__(primal, _Unit(primal, argnums, False, False))
        self._along: Tangent = _tangent(primal, argnums, False, False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ((place, x),) = self._part.inputs(args, kwargs)
        if not is_float(x) or np.ndim(x):
            what = f"an array of shape {np.shape(x)}" if np.ndim(x) else f"a {type(x).__name__}"
            raise TypeError(
                f"derivative is of a function of one float, but {place!r} is {what}; "
                "use jacobian or elementwise_grad"
            )
        slope = self._part.push(args, kwargs, ())[0]
        if np.ndim(slope) or not is_float(slope):
            raise TypeError("derivative is of a function that returns a float; use jacfwd")
        if np.iscomplexobj(x):
            turned = self._along.push(args, kwargs, [type(x)(1j)])[0]
            if not np.isclose(turned, 1j * slope, rtol=1e-6, atol=1e-300, equal_nan=True):
                raise TypeError("derivative by a complex number needs a holomorphic function")
        return slope


def derivative(f: Callable[..., Any], argnums: int | str = 0) -> Callable[..., Any]:
    """The derivative of a function of one number that returns a number, by forward mode.

    Args:
        f: the function; the other arguments may be anything.
        argnums: the argument to differentiate by: a position or a name.

    Raises:
        TypeError: when called, if the argument isn't a float or the result isn't one; by a complex
            number, if the function isn't holomorphic there.

    >>> slope = derivative(lambda x, n: x**n)
    >>> slope(2.0, 3)
    12.0
    """
    if not isinstance(argnums, (int, str)) or isinstance(argnums, bool):
        raise TypeError(f"argnums of derivative must be a position or a name, not {argnums!r}")
    return Derivative(f, argnums)


class Elementwise(Derived):
    def __init__(self, primal: Callable[..., Any], argnums: int | str) -> None:
        super().__init__(primal, _Unit(primal, argnums, False, False))
        self._along: Tangent = _tangent(primal, argnums, False, False)
        self._part._repeats = self._along._repeats = True
        self._known: set[int] = set()  # the variants that are known to be of elementwise functions

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ((place, x),) = self._part.inputs(args, kwargs)
        if not is_float(x):
            raise TypeError(
                f"elementwise_grad is by an array of floats, but {place!r} is a {type(x).__name__}"
            )
        slope = self._part.push(args, kwargs, ())[0]
        if np.shape(slope) != np.shape(x) or not is_float(slope):
            raise TypeError(
                "elementwise_grad needs a result of floats of the shape of the argument, "
                f"{np.shape(x)}, not {np.shape(slope)}; use jacobian"
            )
        if id(self._part._latest) not in self._known:
            self._check(args, kwargs, x, slope)
            self._known.add(id(self._part._latest))
        return slope

    def _check(self, args: tuple[Any, ...], kwargs: Any, x: Any, slope: Any) -> None:
        """Refuse a function whose Jacobian isn't diagonal: a product with it shows that."""
        rng = np.random.default_rng(0)
        v = rng.uniform(0.5, 1.5, np.shape(x))
        if np.iscomplexobj(x):
            v = v * np.exp(1j * rng.uniform(0.0, 6.0, np.shape(x)))
        moved = checked_tangents([v if np.ndim(v) else v[()]], [x], ["the direction"])
        found = self._along.push(args, kwargs, moved)[0]
        epsilon = float(np.finfo(np.asarray(slope).dtype).eps)
        if not np.allclose(found, v * slope, rtol=epsilon**0.5, atol=1e-300, equal_nan=True):
            kind = "holomorphic elementwise" if np.iscomplexobj(x) else "elementwise"
            raise TypeError(f"elementwise_grad needs a function that is {kind}; use jacobian")


def elementwise_grad(f: Callable[..., Any], argnums: int | str = 0) -> Callable[..., Any]:
    """The derivative of an elementwise function of an array, element by element.

    One sweep of forward mode, whatever the size of the array.

    Args:
        f: a function each element of whose result depends on that element of the argument alone.
        argnums: the argument to differentiate by: a position or a name.

    Returns:
        A function called with the arguments of `f`, whose result has the shape of the argument.

    Raises:
        TypeError: when called, if `f` isn't elementwise, which is tested numerically at the first
            call for each signature.

    >>> import numpy as np
    >>> elementwise_grad(lambda x: np.exp(x) * x)(np.array([0.0, 1.0]))
    array([1.        , 5.43656366])
    """
    if not isinstance(argnums, (int, str)) or isinstance(argnums, bool):
        raise TypeError(f"argnums of elementwise_grad must be a position or a name: {argnums!r}")
    return Elementwise(f, argnums)


__all__ = [
    "Derived", "Linear", "Tangent", "derivative", "elementwise_grad", "hvp", "jvp", "linearize",
    "vhp",
]  # fmt: skip
