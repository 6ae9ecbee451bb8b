"""The `Gradient` object: a function that compiles the gradient of another when it is called.

A Gradient compiles at its first call for each signature. A call looks up the shapes and dtypes of
the arguments in a dict (`lookup.py`); only on a miss are the patterns compared, under which
gradients compiled for other sizes can be used again (`cache.py`).
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .argnums import Argnums, Input, inputs_of, one_or_several, placed
from .cache import MOST_KEYS, Store, Variant, store_for
from .errors import UnsupportedError, is_ours
from .frontend.values import writes_what_it_reads
from .lookup import Latest, lookup_for
from .outside import Condition
from .packages import told
from .signature import describe, known_of_call, signature_of, stand_in

if TYPE_CHECKING:
    from .compiler import Compiled
    from .inspect.explain import Explanation
    from .inspect.graph import Graph
    from .inspect.trace import Trace

MOST_STRUCTURES = 4


class Gradient:
    """A function that computes the gradient of another, its primal.

    Made by `grad` and `value_and_grad`; called with the primal's arguments. It may be called from
    several threads, and pickled: by name if the primal can be imported, else with its source.

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

    # Python looks `__call__` up in the type, and finds the slot: a call of a Gradient is one of the
    # function that its slot holds, with nothing in between.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]
    __name__: str
    __qualname__: str
    _pullback = False
    _tangent = False
    _traced = ""
    _unit = False
    _batch = False
    _nan_check = False
    _repeats = False  # calls what it generates, or the function, several times for one answer

    def __init__(
        self,
        primal: Callable[..., Any],
        argnums: Argnums = 0,
        has_aux: bool = False,
        value: bool = False,
        source: str | None = None,
    ) -> None:
        what = "value_and_grad" if value else "grad"
        if isinstance(primal, (staticmethod, classmethod)):
            kind = type(primal).__name__
            raise TypeError(f"put @{kind} above @{what}, not below it")
        if isinstance(primal, type):
            raise TypeError(f"{what} needs a function, not the class {primal.__name__}")
        if not callable(primal):
            raise TypeError(f"{what} needs a function, not {_article(primal)}")
        if source is not None and not isinstance(source, str):
            raise TypeError(f"source must be the text of the function, not {_article(source)}")
        self.primal = primal
        self._argnums = one_or_several(argnums)
        self._has_aux, self._value, self._text = bool(has_aux), bool(value), source
        self._last = Latest()
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            found = told(primal, attribute, self)
            if found is not self:
                setattr(self, attribute, found)
        self._prepare()

    def _prepare(self) -> None:
        """Find the parameters, check `argnums` against them, and find the store."""
        primal = self.primal
        self._code = told(primal, "__code__")
        self._signature = signature_of(primal)
        self._defaults = _defaults(primal)
        self._parameters = tuple(self._signature.parameters)
        parameters = self._signature.parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        simple = all(p.kind in kinds for p in parameters)
        self._plain = len(self._parameters) if simple else -1
        self._inputs = inputs_of(self._argnums, self._signature, _name(primal))
        options = (
            type(self), self._inputs, isinstance(self._argnums, tuple), self._has_aux,
            self._value, self._text,
        )  # fmt: skip
        told_apart = known_of_call(self._signature, [name for name, _ in self._inputs])
        self._store: Store = store_for(primal, options, told_apart)
        self._entries = self._store.entries
        self._begin()

    # Calling

    def _begin(self) -> None:
        """Forget how calls are looked up."""
        self._structures = -1
        self.__call__ = functools.partial(_called, weakref.ref(self))

    def _learn(self, args: tuple[Any, ...]) -> None:
        """Generate a faster look-up for arguments of this structure, from the second call on."""
        self._structures += 1
        if not 0 < self._structures <= MOST_STRUCTURES:
            return
        from .rules import registry

        static, code, version = basis = self._basis()
        conditions, latest = None, self._latest
        if isinstance(self.primal, types.FunctionType) and latest is not None and latest.is_steady:
            conditions = latest.conditions
        known: dict[Any, Any] = {}
        steady: dict[Any, Any] = {}
        needs = {
            "primal": self.primal,
            "known": known,
            "steady": steady,
            "code": code,
            "rules": registry,
            "version": version,
            "conditions": conditions,
            "latest": self._last,
            "missed": functools.partial(
                _missed, weakref.ref(self), basis, known, steady, conditions
            ),
            "otherwise": self.__call__,
        }
        self.__call__ = lookup_for(self._signature, args, static, needs) or self.__call__

    def _basis(self) -> tuple[frozenset[Any], Any, int]:
        """What a look-up is generated for, beside the structure of the arguments."""
        from .rules import registry  # only now: importing the rules takes long

        return self._store.static, self._code, registry.version

    def _ready(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Compiled, tuple[Any, ...], tuple[Any, ...]]:
        """What is compiled for a call, its arguments bound, and the outer values to pass on."""
        if kwargs or len(args) != self._plain:
            args = self._bound(args, kwargs)
        args = self._unmapped(args)
        variant, free = self._looked_up(args)
        if self._repeats and writes_what_it_reads(variant.compiled.static):
            raise UnsupportedError(
                f"{_name(self.primal)} writes outside what it reads there, and would be called "
                "several times", None, "return the values instead",
            )  # fmt: skip
        return variant.compiled, args, free

    def _looked_up(self, args: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        """The gradient for a signature, and the outer values to pass on."""
        for _, read, matches, used, variant in self._entries.get(tuple(self._key(args)), ()):
            free = read(self.primal)
            if free is not None and (not free or matches(free)):
                self._last.variant = variant
                return variant, free[:used]
        try:
            variant, free = self._find(args)
        except Exception as error:
            if is_ours(error):
                # it shows the place in the user's code, which the compiler's frames would bury
                raise error.with_traceback(None) from None
            raise
        return variant, free[: variant.used]

    def _key(self, args: tuple[Any, ...]) -> list[Any]:
        """What the call looks up: every argument described."""
        static = self._store.static
        key: list[Any] = []
        for name, a in zip(self._parameters, args, strict=True):
            if type(a) is np.ndarray:
                key.append(a.shape)
                key.append(a.dtype)
                continue
            try:
                key.append(describe(a, ("argument", name), static))
            except RecursionError:
                raise TypeError(f"{name!r} is nested too deeply, or holds itself") from None
        return key

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if self._defaults != _defaults(self.primal):
            self._prepare()
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{_name(self.primal)}() {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    @staticmethod
    def _unmapped(args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Memory-mapped arrays as plain ones, which are views of the same memory."""
        if any(isinstance(a, np.memmap) for a in args):
            return tuple(np.asarray(a) if isinstance(a, np.memmap) else a for a in args)
        return args

    def _find(self, args: tuple[Any, ...]) -> tuple[Variant, tuple[Any, ...]]:
        """The gradient for a signature that isn't looked up yet, compiled if need be."""
        if told(self.primal, "__code__") is not self._code:
            self._prepare()
        arguments = dict(zip(self._parameters, args, strict=True))
        variant, free = self._store.find(
            self.primal,
            arguments,
            lambda: tuple(self._key(args)),
            lambda static: self._compile(arguments, static),
        )
        self._last.variant = variant
        return variant, free

    def _compile(self, arguments: dict[str, Any], static: frozenset[Any]) -> Compiled:
        # only now: importing the compiler takes longer than importing NumPy
        from .compiler import Request, compile_gradient

        request = Request(
            _name(self.primal),
            tuple(self._placed(which, arguments) for which in self._inputs),
            self._value,
            self._has_aux,
            self._pullback,
            not isinstance(self._argnums, tuple),
            self._tangent,
            self._unit,
            self._traced,
            self._batch,
            self._nan_check,
        )
        compiled = compile_gradient(self.primal, request, arguments, static, self._text)
        compiled.example = {k: stand_in(v) for k, v in arguments.items()}
        return compiled

    def _compiled_anew(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
        """Compile for these arguments, whether that has been done or not, and keep nothing.

        Without arguments, for such as those for which the latest source was generated.
        """
        if args or kwargs or not self._parameters:
            values = self._unmapped(self._bound(args, kwargs))
            arguments = dict(zip(self._parameters, values, strict=True))
        elif self._latest is None or self._latest.compiled.example is None:
            raise TypeError(f"give the arguments of {self._name}, as in a call")
        else:
            arguments = self._latest.compiled.example
        return self._compile(arguments, self._store.known_of(self.primal))

    @property
    def _latest(self) -> Variant | None:
        return self._last.variant

    @property
    def _name(self) -> str:
        return _name(self.primal)

    def _placed(self, which: Input, arguments: dict[str, Any]) -> Input:
        """One of `_inputs` in a call with these arguments."""
        return placed(which, arguments, self._name)

    # Looking

    @property
    def source(self) -> str:
        """The generated source for the latest signature; "" before the first call."""
        return "" if self._latest is None else self._latest.compiled.source

    @property
    def sources(self) -> tuple[str, ...]:
        """The generated sources, one for each signature seen so far."""
        return tuple(variant.compiled.source for variant in reversed(self._store.variants))

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """How the gradient for these arguments is made, line by line, for learners.

        Args:
            args, kwargs: the arguments of the function; without any, such as those of the latest
                call.

        Returns:
            For each line of the function the primitives it became, with the rules used, the
            generated lines that come from it, what is kept for the reverse sweep and why, and what
            isn't computed. `print` it; a notebook shows it as HTML.

        Raises:
            TypeError: without arguments, if the gradient hasn't been called.
            UnsupportedError: the function can't be differentiated.

        >>> from srcgrad import grad
        >>> def square(x):
        ...     return x * x
        >>> explanation = grad(square).explain(3.0)
        >>> print(explanation.steps[0].primitives[0].rule.formula)
        d_x += d_product * x
        d_x += d_product * x
        """
        from .inspect.account import account_of
        from .inspect.explain import explanation_of

        return explanation_of(account_of(self, *args, **kwargs))

    def trace(self, *args: Any, **kwargs: Any) -> Trace:
        """Call the gradient, and watch the values and adjoints of the function's variables.

        Args:
            args, kwargs: the arguments of the function.

        Returns:
            For each line that gives a named variable a value: the shape, the norm, the least and
            greatest number and how many NaN of the variable and of its adjoint; in loops, for each
            iteration. `print` it: where does the gradient vanish or explode? A notebook shows it
            as HTML, `rich.print` with colours.

        Raises:
            UnsupportedError: the function can't be differentiated.

        >>> from srcgrad import grad
        >>> def f(x):
        ...     y = x * x
        ...     return y * y
        >>> trace = grad(f).trace(3.0)
        >>> [(row.name, row.values[0].norm, row.adjoints[0].norm) for row in trace.rows]
        [('x', 3.0, 108.0), ('y', 9.0, 18.0), ('result', 81.0, 1.0)]
        """
        from .inspect.trace import trace_of

        return trace_of(self, *args, **kwargs)

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The primitives of the function, and how values and adjoints flow between them.

        Args:
            args, kwargs: the arguments of the function; the function is run, to write the shapes
                on the edges. Without any, it is drawn as for the latest call, without shapes.

        Returns:
            A graph in the DOT language: `str` gives its text, `save` draws it into a file, a
            notebook shows it. Loops and branches are boxes around what is in them.

        Raises:
            TypeError: without arguments, if the gradient hasn't been called.
            UnsupportedError: the function can't be differentiated.

        >>> from srcgrad import grad
        >>> print(grad(lambda x: x * x).graph(3.0))  # doctest: +ELLIPSIS
        digraph "function" {
        ...
        """
        from .inspect.graph import graph_of

        return graph_of(self, *args, **kwargs)

    def html(self, *args: Any, **kwargs: Any) -> str:
        """A page that shows the function beside its gradient, as one file of HTML.

        It needs no network. Pointing at a line lights up what comes from it. Takes arguments and
        raises errors as `explain` does; if there are arguments, the page has the values of a call
        (see `trace`). `srcgrad html FILE.py:FUNCTION` does the same from the command line; a
        notebook shows a gradient that has been called as this page.

        >>> from srcgrad import grad
        >>> grad(lambda x: x * x).html(3.0).startswith("<!doctype html>")
        True
        """
        from .inspect.account import account_of
        from .inspect.page import page_of

        trace = self.trace(*args, **kwargs) if args or kwargs else None
        return page_of(account_of(self, *args, **kwargs), trace)

    def _repr_html_(self) -> str | None:
        if self._latest is None or self._latest.compiled.example is None:
            return None
        from .inspect.account import account_of
        from .inspect.page import embedded, page_of

        account = account_of(self)
        return embedded(page_of(account), len(account.final.lines))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the generated source for the latest signature as a module that needs only NumPy.

        The module holds the same function, with the outer values it read as default arguments. It
        checks that its arguments have the dtypes, ranks, equal lengths and flags that it is for,
        and raises TypeError if they don't.

        Raises:
            ValueError: the gradient hasn't been called yet, so that nothing is generated.
            UnsupportedError: the source refers to something that can't be written to a file.

        >>> from srcgrad import grad
        >>> import tempfile, pathlib, runpy
        >>> gradient = grad(lambda x: x * x)
        >>> gradient(3.0)
        6.0
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "d_square.py"
        >>> gradient.save(path)
        >>> runpy.run_path(str(path))["d_function"](5.0)
        10.0
        """
        from .saving import module_text

        if self._latest is None:
            raise ValueError("nothing is generated yet: call the gradient once, then save it")
        free = self._latest.read(self.primal)
        if free is None:
            raise ValueError("what the function uses has changed: call the gradient again")
        text = module_text(self._latest.compiled, self._signature, free, self._latest.pattern)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    @property
    def __srcgrad_primal__(self) -> Callable[..., Any]:
        return self.primal

    @property
    def __signature__(self) -> inspect.Signature:
        return self._signature

    def __repr__(self) -> str:
        what = "value and gradient" if self._value else "gradient"
        return f"<{what} of {_name(self.primal)}>"

    # As a method: `argnums` counts self, as the function does

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        from .pickling import reduce

        return reduce(self)


# These hold a gradient weakly: it holds them, and one made for a single call should go at once,
# with the arrays that its function may hold.


def _called(reference: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a gradient for whose arguments there is no look-up."""
    gradient = reference()
    compiled, args, free = gradient._ready(args, kwargs)
    gradient._learn(args)
    return compiled.function(*args, *free)


def _missed(
    reference: Any,
    basis: Any,
    known: Any,
    steady: Any,
    conditions: tuple[Condition, ...] | None,
    key: Any,
    args: tuple[Any, ...],
) -> Any:
    """Call a gradient whose look-up doesn't know the key; from now on it does."""
    gradient = reference()
    variant, free = gradient._looked_up(args)
    if gradient._basis() != basis:
        gradient._begin()  # more values must be part of the key, say
    else:
        if len(known) >= MOST_KEYS:
            known.clear()
            steady.clear()
        known[key] = gradient._entries[tuple(gradient._key(args))]
        if variant.is_steady and conditions is not None and _among(variant.conditions, conditions):
            steady[key] = variant.compiled.function, variant
    return variant.compiled.function(*args, *free)


def _among(some: tuple[Condition, ...], others: tuple[Condition, ...]) -> bool:
    """Whether who tests all others has tested these."""
    return {(p, id(v)) for p, v in some} <= {(p, id(v)) for p, v in others}


class CheckedGradient(Gradient):
    """A gradient that raises FloatingPointError where it becomes NaN or infinite.

    Made by `grad(f, nan_check=True)`; the message names the line of the function.
    """

    _nan_check = True


T = TypeVar("T")


def kept(make: type[T]) -> Callable[..., T]:
    """A maker of objects that keeps the latest, where the arguments can be hashed."""
    cached = functools.lru_cache(maxsize=128)(make)

    def get(*args: Any) -> T:
        try:
            return cached(*args)
        except TypeError:
            return make(*args)

    return get


def _article(thing: Any) -> str:
    name = type(thing).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _defaults(function: Any) -> tuple[int, ...]:
    """What tells the default arguments of a function, which its signature holds, from others."""
    positional = told(function, "__defaults__") or ()
    named = told(function, "__kwdefaults__") or {}
    return (*map(id, positional), *map(id, named.values()))


def _name(function: Any) -> str:
    name = told(function, "__name__")
    if isinstance(function, Gradient):
        return f"d_{name or 'function'}".replace("<lambda>", "function")
    if name is None and isinstance(function, functools.partial):
        return _name(function.func)
    if name is None:
        name = type(function).__name__
    return "function" if name == "<lambda>" else str(name)
