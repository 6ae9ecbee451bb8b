"""What users call: `grad`, `value_and_grad`, `vjp`, and the `Gradient` they get.

A Gradient compiles at its first call for each signature. A call looks up the shapes and dtypes of
the arguments in a dict; only on a miss are the patterns compared, under which gradients compiled
for other sizes can be used again.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from .compiler import Compiled, Request, compile_gradient, is_record
from .frontend.values import Path

F = TypeVar("F", bound=Callable[..., Any])
Argnums = int | str | Sequence[int | str]
_HASHABLE = (bool, str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType)


class Gradient:
    """A function that computes the gradient of another, its primal.

    Made by `grad` and `value_and_grad`; call it with the primal's arguments.

    Attributes:
        primal: the function itself.
        source: the generated source for the latest signature; "" before the first call.
        sources: the generated sources, one for each signature seen so far.

    >>> from srcgrad import grad
    >>> def cube(x):
    ...     return x * x * x
    >>> grad(cube)(2.0)
    12.0
    """

    def __init__(
        self,
        primal: Callable[..., Any],
        argnums: Argnums = 0,
        has_aux: bool = False,
        value: bool = False,
        source: str | None = None,
        pullback: bool = False,
    ) -> None:
        if not callable(primal):
            raise TypeError(f"grad needs a function, not {type(primal).__name__}")
        self.primal = primal
        self._options = {"argnums": argnums, "has_aux": has_aux, "value": value, "source": source}
        self._has_aux, self._value, self._source = has_aux, value, source
        self._pullback = pullback
        self._argnums = argnums
        self._signature: inspect.Signature | None = None
        self._entries: dict[Any, list[_Entry]] = {}
        self._compiled: list[_Variant] = []
        self._static: frozenset[Any] = frozenset()
        self._latest: Compiled | None = None
        self._lock = threading.RLock()
        if not isinstance(primal, Gradient):
            _copy_identity(self, primal)
        self._names: tuple[str, ...] | None = None
        self._plain: int | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Find the parameters, and check `argnums` against them."""
        primal: Any = self.primal
        try:
            if isinstance(primal, types.FunctionType):
                # not what the function may wrap: the function itself
                signature = inspect.signature(primal, follow_wrapped=False)
            else:
                signature = inspect.signature(primal)
        except (TypeError, ValueError):
            count = getattr(primal, "nin", None)
            if count is None:
                raise TypeError(
                    f"the parameters of {_name(primal)} aren't known; wrap it in a lambda"
                ) from None
            positional = inspect.Parameter.POSITIONAL_ONLY
            signature = inspect.Signature(
                [inspect.Parameter(f"x{i}" if count > 1 else "x", positional) for i in range(count)]
            )
        if isinstance(primal, np.ufunc):
            positional = inspect.Parameter.POSITIONAL_ONLY
            names = ["x"] if primal.nin == 1 else [f"x{i + 1}" for i in range(primal.nin)]
            signature = inspect.Signature([inspect.Parameter(n, positional) for n in names])
        self._signature = signature
        parameters = list(signature.parameters.values())
        simple = all(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
        )
        self._plain = len(parameters) if simple else None
        self._wrt = self._check_argnums(parameters)

    def _check_argnums(self, parameters: list[inspect.Parameter]) -> tuple[Any, ...]:
        """The parameters to differentiate: (name, position in *args or None) of each."""
        argnums = self._argnums
        several = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
        if not several:
            raise ValueError("argnums is empty: there is nothing to differentiate")
        found = []
        positional = [
            p.name
            for p in parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        keywords = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
        name = _name(self.primal)
        for which in several:
            if isinstance(which, bool) or not isinstance(which, (int, str, np.integer)):
                raise TypeError(
                    f"argnums must be an int, a name or a tuple of them, not {which!r}"
                )
            if isinstance(which, str):
                if which in {p.name for p in parameters}:
                    found.append((which, None))
                elif keywords is not None:
                    found.append((keywords, which))
                else:
                    raise ValueError(
                        f"argnums={which!r}: {name} has no parameter of that name, "
                        f"only {', '.join(p.name for p in parameters)}"
                    )
                continue
            index = int(which)
            if index < 0:
                index += len(positional)
            if 0 <= index < len(positional):
                found.append((positional[index], None))
            elif variadic is not None and index >= len(positional):
                found.append((variadic, index - len(positional)))
            else:
                plural = "s" * (len(positional) != 1)
                raise ValueError(
                    f"argnums={which} is out of range: {name} takes "
                    f"{len(positional)} positional argument{plural}"
                )
        if len(set(found)) != len(found):
            raise ValueError(f"argnums={argnums!r} names an argument twice")
        return tuple(found)

    # Calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != self._plain:
            args = self._bound(args, kwargs)
        key = []
        for a in args:
            t = type(a)
            if t is np.ndarray:
                key.append(a.shape)
                key.append(a.dtype)
            elif t is float:
                key.append(t)
            else:
                key.append(self._describe(a, len(key)))
        entries = self._entries.get(tuple(key))
        if entries is not None:
            for entry in entries:
                free = entry.free_values()
                if free is not None:
                    return entry.function(*args, *free)
        entry = self._find(args, tuple(key))
        free = entry.free_values()
        assert free is not None
        return entry.function(*args, *free)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        assert self._signature is not None
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{_name(self.primal)}() {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _describe(self, value: Any, position: Any) -> Any:
        return describe(value)

    def _find(self, args: tuple[Any, ...], key: Any) -> _Entry:
        """The entry for a signature not seen before: of a compiled variant, or a new one."""
        with self._lock:
            for entry in self._entries.get(key, ()):
                if entry.free_values() is not None:
                    return entry
            assert self._signature is not None
            names = list(self._signature.parameters)
            arguments = dict(zip(names, args, strict=True))
            for variant in self._compiled:
                if variant.fits(arguments):
                    entry = _Entry(variant, self)
                    break
            else:
                variant = self._compile(arguments)
                entry = _Entry(variant, self)
            if self._wide_key(args) is None:
                entries = self._entries.setdefault(key, [])
                entries.insert(0, entry)
                del entries[8:]
                if len(self._entries) > 4096:
                    self._entries.clear()
            self._latest = variant.compiled
            return entry

    def _wide_key(self, args: tuple[Any, ...]) -> None:
        return None

    def _compile(self, arguments: dict[str, Any]) -> _Variant:
        wrt = self._wrt
        if any(part is not None for _, part in wrt):
            raise NotImplementedError
        request = Request(
            _name(self.primal),
            tuple(name for name, _ in wrt),
            self._value,
            self._has_aux,
            self._pullback,
        )
        compiled = compile_gradient(
            self._target(), request, arguments, self._static, self._source
        )
        self._static |= compiled.static
        variant = _Variant(compiled, arguments)
        self._compiled.insert(0, variant)
        del self._compiled[64:]
        return variant

    def _target(self) -> Any:
        return self.primal

    # Looking

    @property
    def source(self) -> str:
        return "" if self._latest is None else self._latest.source

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(variant.compiled.source for variant in reversed(self._compiled))

    @property
    def __srcgrad_primal__(self) -> Callable[..., Any]:
        return self.primal

    def __repr__(self) -> str:
        what = "value and gradient" if self._value else "gradient"
        return f"<{what} of {_name(self.primal)}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return types.MethodType(self, instance)

    @property
    def __signature__(self) -> inspect.Signature | None:
        return self._signature


class _Variant:
    """A compiled gradient, and the pattern of the arguments that it is right for."""

    def __init__(self, compiled: Compiled, arguments: dict[str, Any]) -> None:
        self.compiled = compiled
        self.paths = tuple(path for path, _ in compiled.free)
        self.pattern = self._pattern(arguments, [p.read() for p in self.paths])

    def _pattern(self, arguments: dict[str, Any], free: list[Any]) -> Any:
        sizes: dict[int, int] = {}
        parts = [
            pattern(value, sizes, ("argument", name), self.compiled.static)
            for name, value in arguments.items()
        ]
        return tuple(parts), tuple(pattern(value, sizes, (), frozenset()) for value in free)

    def holds(self) -> bool:
        """Whether the functions and constants that were compiled in are still the same."""
        for path, expected in self.compiled.guards:
            try:
                now = path.read()
            except Exception:
                return False
            if now is not expected and not _equal(now, expected):
                return False
        return all(f.__code__ is code for f, code in self.compiled.codes)

    def fits(self, arguments: dict[str, Any]) -> bool:
        if not self.holds():
            return False
        try:
            free = [p.read() for p in self.paths]
        except Exception:
            return False
        return bool(self._pattern(arguments, free) == self.pattern)


class _Entry:
    """What a signature is looked up to: a compiled variant and the values it reads outside."""

    __slots__ = ("codes", "described", "function", "guards", "paths", "variant")

    def __init__(self, variant: _Variant, owner: Gradient) -> None:
        self.variant = variant
        self.function = variant.compiled.function
        self.paths = variant.paths
        self.guards = variant.compiled.guards
        self.codes = variant.compiled.codes
        self.described = tuple(describe(p.read()) for p in self.paths)

    def free_values(self) -> tuple[Any, ...] | list[Any] | None:
        """The values from outside the function, or None if this entry isn't right for them."""
        for path, expected in self.guards:
            if path.how == "global":
                if path.container.get(path.name) is not expected and not self.variant.holds():
                    return None
            elif not self.variant.holds():
                return None
        for f, code in self.codes:
            if f.__code__ is not code:
                return None
        if not self.paths:
            return ()
        try:
            values = [p.read() for p in self.paths]
        except Exception:
            return None
        for value, expected in zip(values, self.described, strict=True):
            if describe(value) != expected:
                return None
        return values


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (int, str, bytes, float)) and a == b


def describe(value: Any) -> Any:
    """A hashable description of a value: shape and dtype of arrays, types of numbers."""
    t = type(value)
    if t is np.ndarray:
        return (value.shape, value.dtype)
    if t is float or t is complex:
        return t
    if t is int:
        return (int, value)
    if t is bool or t is str or value is None:
        return (t, value)
    if isinstance(value, np.generic):
        return t
    if isinstance(value, (list, tuple)):
        return (t, *map(describe, value))
    if isinstance(value, dict):
        return (t, *((k, describe(v)) for k, v in value.items()))
    if isinstance(value, np.ndarray):
        return (t, value.shape, value.dtype)
    if is_record(value):
        return (t, *((k, describe(v)) for k, v in vars(value).items()))
    try:
        hash(value)
    except TypeError:
        return (t, id(value))
    return (t, value)


def pattern(value: Any, sizes: dict[int, int], path: Any, static: frozenset[Any]) -> Any:
    """Like `describe`, but of sizes only which are equal, and which are 0 or 1."""
    t = type(value)
    if isinstance(value, np.ndarray):
        shape = tuple(
            n if n < 2 else ("n", sizes.setdefault(n, len(sizes))) for n in value.shape
        )
        return (t, value.dtype, shape)
    if t is int:
        return (int, value) if path in static else int
    if t is float or t is complex or isinstance(value, np.generic):
        return t
    if isinstance(value, (list, tuple)):
        return (t, *(pattern(v, sizes, (*path, i), static) for i, v in enumerate(value)))
    if isinstance(value, dict):
        return (t, *((k, pattern(v, sizes, (*path, k), static)) for k, v in value.items()))
    if is_record(value):
        items = vars(value).items()
        return (t, *((k, pattern(v, sizes, (*path, k), static)) for k, v in items))
    return describe(value)


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if name is None and isinstance(function, functools.partial):
        return _name(function.func)
    if name is None:
        name = type(function).__name__
    return "function" if name == "<lambda>" else str(name)


def _copy_identity(gradient: Any, primal: Any) -> None:
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(gradient, attribute, getattr(primal, attribute))
        except (AttributeError, TypeError):
            pass


@overload
def grad(f: Callable[..., Any], /, argnums: Argnums = ..., *, has_aux: bool = ...,
         source: str | None = ...) -> Gradient: ...


@overload
def grad(*, argnums: Argnums = ..., has_aux: bool = ...,
         source: str | None = ...) -> Callable[[Callable[..., Any]], Gradient]: ...


def grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    source: str | None = None,
) -> Any:
    """The gradient of a function that returns a number, as a function or as a decorator.

    Args:
        f: the function, of NumPy arrays, numbers and containers of them. Without it, `grad` is a
            decorator: `@grad(argnums="w")`.
        argnums: which arguments to differentiate: a position, a name, or a tuple of them.
        has_aux: `f` returns a pair (value, aux); the gradient returns (gradient, aux).
        source: the text of `f`, where Python doesn't keep it.

    Returns:
        A `Gradient`. Called with the arguments of `f`, it returns the derivative of the result by
        the chosen argument, with its shape, dtype and nesting; a tuple of them for a tuple of
        argnums.

    Raises:
        UnsupportedError: when called, if `f` uses something that can't be differentiated.
        TypeError, ValueError: if `f` doesn't return a number, or an argument isn't of floats.

    >>> import numpy as np
    >>> @grad
    ... def loss(x):
    ...     return np.sum(x**2)
    >>> loss(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    if f is None:
        return functools.partial(grad, argnums=argnums, has_aux=has_aux, source=source)
    return Gradient(f, argnums, has_aux, False, source)


def value_and_grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    source: str | None = None,
) -> Any:
    """Like `grad`, but the result is a pair (value, gradient); with `has_aux`,
    ((value, aux), gradient).

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    if f is None:
        return functools.partial(value_and_grad, argnums=argnums, has_aux=has_aux, source=source)
    return Gradient(f, argnums, has_aux, True, source)


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The result of a function, and its pullback: a function from an adjoint of the result to
    the tuple of the adjoints of the arguments.

    >>> import numpy as np
    >>> out, pullback = vjp(np.sin, np.zeros(2))
    >>> pullback(np.ones(2))
    (array([1., 1.]),)
    """
    raise NotImplementedError


__all__ = ["Gradient", "Path", "Sequence", "dataclasses", "grad", "value_and_grad", "vjp"]
