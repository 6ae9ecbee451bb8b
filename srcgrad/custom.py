"""What a program says of its own derivatives: custom rules, constants, solvers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .packages import told
from .rules.registry import Unknown
from .runtime import stop_gradient

F = TypeVar("F", bound=Callable[..., Any])


class custom_vjp:
    """A function whose derivative is given by a pair of functions, as in JAX.

    Args:
        f: the function, of positional arguments.

    `f.defvjp(forward, backward)` says what is called when `f` is differentiated:
    `forward(*args)` returns a pair, the result of `f` and what `backward` needs (a nest of arrays
    and numbers); `backward(residuals, d_out)` returns a tuple with the contribution to each
    argument, None where there is none. Both are compiled like any function, so that they may be
    differentiated again. Forward mode transposes `backward`, which must be linear in `d_out`.

    Raises:
        TypeError: `f` can't be called.
        UnsupportedError: when differentiated without `defvjp`.

    >>> import numpy as np, srcgrad
    >>> @srcgrad.custom_vjp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> def forward(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), e
    >>> def backward(e, d_out):
    ...     return (d_out * (1 - 1 / (1 + e)),)
    >>> log1pexp.defvjp(forward, backward)
    >>> float(srcgrad.grad(log1pexp)(100.0))
    1.0
    """

    __name__: str

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise TypeError(f"custom_vjp needs a function, not {type(f).__name__!r}")
        functools.update_wrapper(self, f)
        self.function = f
        self.forward: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Say how the function is differentiated."""
        self.forward, self.backward = forward, backward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<custom_vjp {self.__name__}>"


def nondifferentiable(f: F) -> F:
    """Decorator: a function whose result is a constant for differentiation.

    Calls of it are left as they are: the compiler doesn't look inside, but runs it on small
    arrays, to see what it returns. If it may use more than its arguments (it draws noise, takes the
    next batch), all calls are made, where they stand.

    >>> import numpy as np, srcgrad
    >>> @srcgrad.nondifferentiable
    ... def scale(x):
    ...     return np.max(np.abs(x))
    >>> srcgrad.grad(lambda x: np.sum(x) / scale(x))(np.array([1.0, 2.0]))
    array([0.5, 0.5])
    """
    from .rules import registry  # importing the rules takes longer than importing NumPy

    registry.zero(f, note="a constant, as its author says")
    registry.no_jumps(f)
    return f


class ImplicitRoot:
    """A solver whose result has the derivative of the root that it finds.

    Made by `implicit_root`.
    """

    def __init__(self, f: Callable[..., Any], solver: Callable[..., Any]) -> None:
        for name, function in (("f", f), ("solver", solver)):
            if not callable(function):
                raise TypeError(f"{name} must be a function, not {type(function).__name__!r}")
        self.f, self.solver = f, solver
        self.solve = functools.partial(solved, solver)
        self.__name__ = str(told(f, "__name__", "root"))

    def __call__(self, x0: Any, *args: Any) -> Any:
        return self.solve(x0, *args)


def solved(solver: Any, x0: Any, *args: Any) -> Any:
    """What a solver returns, which must be shaped like its first guess."""
    found = solver(x0, *args)
    if np.shape(found) != np.shape(x0):
        raise ValueError(
            f"the solver returned an array of shape {np.shape(found)}, but its first argument, the "
            f"initial guess, has the shape {np.shape(x0)}"
        )
    if isinstance(x0, np.ndarray):
        return np.asarray(found, dtype=np.result_type(x0.dtype, np.float64))
    return float(found)


def implicit_root(f: Callable[..., Any], solver: Callable[..., Any]) -> ImplicitRoot:
    """A solver of `f(x, *args) = 0`, differentiated by the implicit function theorem.

    The solver runs as it is, in plain Python: the compiler doesn't look into it. The derivative of
    the root x by the arguments is `-inv(df/dx) @ df/dargs`, at the root, whatever led there; the
    linear system is solved by `np.linalg.solve`. It may be differentiated again.

    Args:
        f: the function whose root is sought, of x and the arguments; it returns an array or number
            of the shape of x. Outer variables that it reads have derivatives too.
        solver: called as `solver(x0, *args)`, returns the root.

    Returns:
        A function `root(x0, *args)` that calls the solver; its derivative by `x0` is zero.

    Raises:
        TypeError: `f` or `solver` isn't a function.
        ValueError: the solver returns something that isn't shaped like `x0`.
        numpy.linalg.LinAlgError: from the gradient, if df/dx is singular.

    >>> import srcgrad
    >>> def newton(x, a):
    ...     for _ in range(20):
    ...         x = x - (x * x - a) / (2 * x)
    ...     return x
    >>> root = srcgrad.implicit_root(lambda x, a: x * x - a, newton)
    >>> round(srcgrad.grad(lambda a: root(1.0, a))(4.0), 6)
    0.25
    """
    return ImplicitRoot(f, solver)


class ImplicitMinimum(ImplicitRoot):
    """A minimizer whose result has the derivative of the minimum. Made by `implicit_minimum`."""


def implicit_minimum(f: Callable[..., Any], solver: Callable[..., Any]) -> ImplicitMinimum:
    """A minimizer of `f(x, *args)`, differentiated by the implicit function theorem.

    Like `implicit_root` of the gradient of `f` by x: what counts is that the gradient vanishes at
    what the solver returns. The linear system has the Hessian of `f`.

    >>> import numpy as np, srcgrad
    >>> def ridge(x, a):
    ...     return np.sum((x - a) ** 2) + 0.5 * np.sum(x**2)
    >>> argmin = srcgrad.implicit_minimum(ridge, lambda x0, a: a / 1.5)
    >>> srcgrad.grad(lambda a: np.sum(argmin(np.zeros(2), a)))(np.ones(2)).round(6)
    array([0.666667, 0.666667])
    """
    return ImplicitMinimum(f, solver)


def adjoint_solution(pullback: Any, x: Any, d_out: Any) -> Any:
    """The solution of the transposed linear system of the implicit function theorem."""
    if np.ndim(x) == 0:
        return d_out / pullback(1.0)[0]
    n = np.size(x)
    identity, jacobian = np.eye(n), np.zeros((n, n))
    for i in range(n):
        jacobian[i] = np.ravel(pullback(np.reshape(identity[i], np.shape(x)))[0])
    return np.reshape(np.linalg.solve(jacobian.T, np.ravel(d_out)), np.shape(x))


class Outside:
    """A function that runs in plain Python and calls functions, as solvers and integrators do.

    For rules; what it calls is made by `close`.

    Args:
        run: what is called, with plain functions where the arguments are closed ones.
        like: a function of the same arguments whose result is of the same dtype and rank; it is
            only looked at, never run.
        rule: called with the arguments and the keywords `out` and `d_out`; it returns a tuple with
            the contribution to each argument, None where there is none. It is compiled, so that
            it may be differentiated again. Without a rule the derivative is zero.
    """

    def __init__(
        self,
        run: Callable[..., Any],
        like: Callable[..., Any],
        rule: Callable[..., Any] | None = None,
    ) -> None:
        self.run, self.like, self.rule = run, like, rule
        self.__name__ = str(told(run, "__name__", "outside"))

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)


def close(
    f: Callable[..., Any], *samples: Any
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
    """A function without outer variables, and the outer variables that another one has.

    `g, moving, held = close(f, *samples)`: `g(*args, *moving, *held)` is `f(*args)`, for arguments
    of the kinds of the samples. `moving` are the arrays and numbers of floats, `held` the
    rest. So a rule can hand `g` to an `Outside`, and differentiate by what `f` captures.
    """
    return (lambda *args: f(*args[: len(samples)])), (), ()


# What a rule returns for `held`, unless it has no derivative by what `f` does
BY_LISTS = Unknown(
    "what it is given reads a list of numbers from outside that depends on what is differentiated",
    advice="make it an array: np.array(...) or np.stack(...) of the items",
)


def jumps(f: Callable[..., Any], count: int) -> tuple[Any, ...]:
    """For each argument of a closed function: what is to be said of a jump that moves with it.

    That is None if no jump depends on it, or if those that do are the same for all values of the
    first `count` arguments, over which something is summed up; else a `registry.Unknown`, which a
    rule returns as the contribution to it.
    """
    return (None,) * f.__code__.co_argcount


__all__ = [
    "BY_LISTS",
    "Outside",
    "close",
    "custom_vjp",
    "implicit_minimum",
    "implicit_root",
    "jumps",
    "nondifferentiable",
    "stop_gradient",
]
