"""The registry of primitives: which function has which derivative.

A primitive is a callable that the compiler doesn't look into: a NumPy function, an operator, a
method of an array. What is known of one is a `Primitive` record, filed under the function object
itself, never under its name. Rules are ordinary functions; nothing here knows the compiler.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import inspect
import random
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..packages import told

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Primitive:
    """What is known of one primitive.

    Attributes:
        function: the callable itself.
        adjoint: the reverse rule, or None. Called with the primal arguments and the keywords
            `out` and `d_out`; returns the contribution to the adjoint of each leading parameter.
        unused: what the adjoint rule is given for one of several results that nothing uses: 0.0
            stands for zeros like it.
        partials: the partial derivatives of an elementwise function, or None. Called with the
            primal arguments and the keyword `out`.
        zero: the result is piecewise constant, its derivative zero everywhere.
        inert: the result only describes its arguments (a shape, a dtype), or is no number.
        refused: why it cannot be differentiated, or None.
        tangent: the forward rule, or None: forward mode then uses the partials, or transposes the
            adjoint. Called with the primal arguments and the keywords `out` and `tangents`, the
            tuple of the arguments' tangents (None where there is none); returns that of the result.
        always: it is refused wherever it is called, not only where a derivative is wanted.
        mutates: the parameters written in place: positions, or names of keyword parameters.
        copying: the keyword that says whether the result is a copy; if not, it is written into the
            first argument.
        effect: a call does more than return a result (it draws a random number, writes a file):
            it is made once, where it stands, even if nothing needs its result.
        singular: where its derivative is infinite: "root", where the function is finite (`sqrt` at
            0), "pole", where it is infinite itself (`1 / x` at 0), or "" (nowhere that matters).
        chooses: by what it chooses the elements of its first argument that it uses: a "mask", a
            "bound" that they exceed or don't, the "position" or the order of elements, all but
            "nan", "finite" ones, or "" (all of them).
        note: a remark for the table of supported functions.
    """

    function: Callable[..., Any]
    adjoint: Callable[..., Any] | None = None
    unused: float | None = 0.0
    partials: Callable[..., Any] | None = None
    zero: bool = False
    inert: bool = False
    refused: str | None = None
    always: bool = False
    tangent: Callable[..., Any] | None = None
    mutates: tuple[int | str, ...] = ()
    copying: str = ""
    effect: bool = False
    singular: str = ""
    chooses: str = ""
    note: str = ""

    @property
    def differentiable(self) -> bool:
        """Whether a derivative (a zero one included) is known."""
        rules = (self.adjoint, self.partials, self.tangent)
        return self.zero or any(rule is not None for rule in rules)


@dataclass(frozen=True)
class Unknown:
    """What a rule returns for a parameter by which it knows no derivative: refused if wanted.

    `place` is the place in the source that the reason is about, if it isn't that of the call, and
    `advice` what to do instead.
    """

    reason: str
    place: Any = None
    advice: str | None = None
    __array_ufunc__ = None

    def __mul__(self, other: Any) -> Unknown:
        return self

    __rmul__ = __mul__


primitives: dict[Any, Primitive] = {}
kinds: dict[Any, Callable[..., Any]] = {}
methods: dict[Any, Callable[..., Any]] = {}


loaders: list[Callable[[], None]] = []


# How often rules have changed since: what was compiled before may be wrong.
version = 0
_loading = False


def load() -> None:
    """Register the rules for packages that the program has imported since the last call."""
    global _loading
    _loading = True
    try:
        for loader in loaders:
            loader()
    finally:
        _loading = False


def _changed() -> None:
    """Note that a rule was registered; those of a package just imported are news to nobody."""
    global version
    version += not _loading


GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def is_random(function: Any) -> bool:
    """Whether a function draws random numbers: a generator's method, or one of SciPy's without a
    rule that can be told from what to draw."""
    owner = told(function, "__self__")
    cls = told(function, "__objclass__")
    name = told(function, "__name__", "")
    unbound = any(vars(kind).get(name) is function for kind in GENERATORS)
    if isinstance(owner, GENERATORS) or cls in GENERATORS or unbound:
        return True
    if not isinstance(function, (types.FunctionType, types.MethodType)):
        return False
    if not str(function.__module__).startswith("scipy."):
        return False
    record = lookup(function)
    return (record is None or record.refused is not None) and _takes_generator(function)


@functools.cache
def _takes_generator(function: Any) -> bool:
    """Whether a function of SciPy is told from what to draw; some `rvs` by any keywords."""
    names = {"random_state", "rng", "seed"}
    return function.__name__ == "rvs" or not names.isdisjoint(
        inspect.signature(function).parameters
    )


def public_place(value: Any) -> tuple[str, str] | None:
    """The public module of SciPy where a function or distribution is found, and its name there.

    >>> public_place(len)
    """
    text = str(told(value, "__name__") or told(value, "name", ""))
    text = text.removeprefix("function ")  # f2py's, of LAPACK
    place = told(value, "__module__")
    for home in (place,) if place else ("scipy.special", "scipy.linalg.lapack"):
        parts = home.split(".")
        while parts[0] == "scipy" and len(parts) > 1:
            module = ".".join(parts)
            private = any(part.startswith("_") for part in parts)
            if text and not private and getattr(sys.modules.get(module), text, None) is value:
                return module, text
            parts.pop()
    return None


def hashable(thing: Any) -> bool:
    """Whether an object can be the key of a dict, as a function that is filed must."""
    try:
        hash(thing)
    except TypeError:
        return False
    return True


def lookup(function: Any) -> Primitive | None:
    """The record of a function, or None if it is no primitive.

    >>> import numpy as np, srcgrad.rules
    >>> lookup(np.tanh).differentiable
    True
    """
    try:
        return primitives.get(function)
    except TypeError:
        return None


def _file(functions: tuple[Any, ...], **what: Any) -> None:
    _changed()
    for function in functions:
        primitives[function] = replace(primitives.get(function, Primitive(function)), **what)


def _check(functions: tuple[Any, ...], rule: Any, *keywords: str) -> None:
    """See to it that a rule takes what it is called with.

    >>> _check((len,), lambda x: 1.0, "out")
    Traceback (most recent call last):
        ...
    TypeError: a rule of len takes (x, *, out), not (x)
    """
    if not isinstance(rule, types.FunctionType):
        raise TypeError(f"a rule is a Python function, not {rule!r}")
    code = rule.__code__
    if not set(keywords) <= set(keywords_of(rule)) and not code.co_flags & inspect.CO_VARKEYWORDS:
        names = code.co_varnames[: code.co_argcount]
        wanted = ", ".join((*names, "*", *keywords))
        function = told(functions[0], "__name__", "a function") if functions else "a function"
        found = ", ".join((*names, *("*",) * bool(keywords_of(rule)), *keywords_of(rule)))
        raise TypeError(f"a rule of {function} takes ({wanted}), not ({found})")


def keywords_of(rule: Any) -> tuple[str, ...]:
    """The keyword-only parameters of a rule."""
    code = rule.__code__
    return tuple(code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount])


def _check_functions(decorator: str, functions: tuple[Any, ...]) -> None:
    """See to it that what has a rule isn't the rule itself: `@adjoint` without parentheses."""
    for function in functions:
        if isinstance(function, types.FunctionType) and "out" in keywords_of(function):
            if "out" not in (function.__kwdefaults__ or {}):
                raise TypeError(
                    f"@{decorator} is given the function that {function.__name__} is the rule of: "
                    f"@{decorator}(function)"
                )


def adjoint(*functions: Any, note: str = "", unused: float | None = 0.0) -> Callable[[F], F]:
    """Decorator: register the reverse rule of one or several functions.

    The rule's parameters are those of the function, followed by the keyword-only `out` (the
    primal result) and `d_out` (its adjoint, of the same shape and dtype). It returns the
    contribution to its first parameter, or a tuple with one entry per leading parameter
    (None where there is no derivative); a parameter that is a sequence of arrays gets a list.
    Contributions may have the broadcast shape: the compiler reduces them.

    Of a function with several results, `d_out` is a tuple; with `unused=None` it has None, not
    zeros, for a result that nothing uses.

    >>> import numpy as np
    >>> @adjoint(np.tanh)
    ... def tanh(x, *, out, d_out):
    ...     return d_out * (1 - out * out)
    """
    _check_functions("adjoint", functions)

    def register(rule: F) -> F:
        _check(functions, rule, "out", "d_out")
        _file(functions, adjoint=rule, note=note, unused=unused)
        return rule

    return register


def elementwise(*functions: Any, note: str = "") -> Callable[[F], F]:
    """Decorator: register an elementwise function by its partial derivatives alone.

    The rule's parameters are those of the function, followed by the keyword-only `out`. It
    returns the partial derivative by its only parameter, or a tuple with one for each.

    >>> import numpy as np
    >>> @elementwise(np.sin)
    ... def sin(x, *, out):
    ...     return np.cos(x)
    """
    _check_functions("elementwise", functions)

    def register(rule: F) -> F:
        _check(functions, rule, "out")
        _file(functions, partials=rule, note=note)
        return rule

    return register


def tangent(*functions: Any, note: str = "") -> Callable[[F], F]:
    """Decorator: register the forward rule of one or several functions.

    The rule's parameters are those of the function, followed by the keyword-only `out` (the
    primal result) and `tangents`, a tuple with the tangent of each argument that is passed by
    position, None where there is none. It returns the tangent of the result. Without such a rule
    forward mode transposes the adjoint, so that it is needed only where that is slow.

    >>> import numpy as np
    >>> @tangent(np.square)
    ... def square(x, *, out, tangents):
    ...     return 2 * x * tangents[0]
    """
    _check_functions("tangent", functions)

    def register(rule: F) -> F:
        _check(functions, rule, "out", "tangents")
        _file(functions, tangent=rule, note=note)
        return rule

    return register


def zero(*functions: Any, note: str = "piecewise constant") -> None:
    """Register functions whose derivative is zero wherever it exists."""
    _file(functions, zero=True, note=note)


def inert(*functions: Any, note: str = "") -> None:
    """Register functions that only describe their arguments, or whose result is no number."""
    _file(functions, inert=True, zero=True, note=note)


def refuse(*functions: Any, reason: str, always: bool = False) -> None:
    """Register functions that can't be differentiated, with the reason and what to do.

    `always`: refuse every call, even of arguments that carry no derivative (it writes in place).
    """
    _file(functions, refused=reason, always=always)


def of_bits(*functions: Any, reason: str) -> None:
    """Register functions whose results, where these are no floats, hold the numbers still.

    So they aren't piecewise constant, as those of other functions are, and are refused.
    """
    for function in functions:
        reinterpreting[function] = reason


def mutates(*functions: Any, parameters: tuple[int | str, ...]) -> None:
    """Register which parameters a function writes in place."""
    _file(functions, mutates=parameters)


def rereads(*functions: Any, written: int | str) -> None:
    """Register functions that read their other arguments while they write one of them.

    So they read what they have just written where it shares memory with these. `written` is the
    position of the parameter, or its keyword.
    """
    rereading.update(dict.fromkeys(functions, written))


def copying(*functions: Any, by: str) -> None:
    """Register functions that write into their first argument unless a keyword says `True`.

    They return it, and the number in it if it has no axes.
    """
    _file(functions, copying=by)


def effect(*functions: Any) -> None:
    """Register functions whose calls do more than return a result."""
    _file(functions, effect=True)


def files(*functions: Any) -> None:
    """Register functions that read or write files: what one writes, another may read."""
    filing.update(functions)


def singular(*functions: Any, finite: bool) -> None:
    """Register elementwise functions that have an infinite derivative somewhere.

    There an adjoint of zero, of an element that isn't used, must not give nan.

    `finite`: where the derivative is infinite the function is finite, as is `sqrt` at 0.
    """
    _file(functions, singular="root" if finite else "pole")


def chooses(*functions: Any, by: str) -> None:
    """Register functions that use but some elements of their arguments.

    `by` is what tells which: a "mask" (`np.triu`), whether it's "nan" (`np.nansum`) or "finite":
    what isn't used may well be infinite, or nan; so it may by a "bound" (`np.maximum`);
    "position": its place, in an order too (`np.max`).
    """
    _file(functions, chooses=by)


def method(descriptor: Any, function: Callable[..., Any]) -> None:
    """Register that a method (`np.ndarray.sum`) means the same as a function (`np.sum`)."""
    methods[descriptor] = function


def reshapes(name: str) -> Callable[[F], F]:
    """Decorator: register what an array is after a call of a method that changes its shape."""

    def register(rule: F) -> F:
        reshaping[name] = rule
        return rule

    return register


def kind(*functions: Any) -> Callable[[F], F]:
    """Decorator: register how the kind of a result follows from the operands.

    Needed only where running the function on small samples can't tell: see `analysis.inference`.
    The function gets the operands as the IR has them and returns an `Inferred`, or None to leave
    it to the samples.
    """

    def register(rule: F) -> F:
        _changed()
        for function in functions:
            kinds[function] = rule
        return rule

    return register


spellings: dict[Any, str] = {}


def spelled(function: Any, how: str) -> None:
    """Register how a call is printed: as an operator of its operands ("@"; "@ reversed" if the
    second comes first), or as a method (".dot") or property ("T") of its first.
    """
    spellings[function] = how


def member(cls: type | None, name: str) -> Any:
    """The function behind a method or property of a class, if it is a primitive or defined.

    >>> member(float, "hex") is None
    True
    """
    found = getattr(cls, name, None)
    found = found.fget if isinstance(found, property) else found
    try:
        return found if found in primitives or found in definitions else None
    except TypeError:
        return None


inplace_rules: dict[Any, Callable[..., Any]] = {}
reshaping: dict[str, Callable[..., Any]] = {}
definitions: dict[Any, Callable[..., Any]] = {}


def inplace(*functions: Any) -> Callable[[F], F]:
    """Decorator: register the reverse rule of a function that writes its first argument in place.

    The rule's parameters are those of the function (the first one as it was before the call)
    and the keyword-only `d_x`, the adjoint of the written array: a buffer that holds the adjoint
    of the new contents when the rule starts and must hold that of the old ones when it ends. It
    returns the contributions to the parameters, None for the first. A keyword-only `out` is the
    array as the call left it, or None if it is written again.

    >>> import operator
    >>> @inplace(operator.imul)
    ... def imul(x, y, *, d_x):
    ...     d_y = d_x * x
    ...     d_x *= y
    ...     return None, d_y
    """

    def register(rule: F) -> F:
        _changed()
        for function in functions:
            inplace_rules[function] = rule
        return rule

    return register


def definition(*functions: Any) -> Callable[[F], F]:
    """Decorator: register a Python function that does what a primitive does, in simpler ones.

    >>> import numpy as np
    >>> @definition(np.copyto)
    ... def copyto(dst, src):
    ...     dst[...] = src
    """

    def register(body: F) -> F:
        _changed()
        for function in functions:
            definitions[function] = body
        return body

    return register


written_out: dict[Any, Callable[..., Any]] = {}


def otherwise(*functions: Any) -> Callable[[F], F]:
    """Decorator: register a definition for calls of which the `kind` of the result isn't told."""

    def register(body: F) -> F:
        _changed()
        for function in functions:
            written_out[function] = body
        return body

    return register


# Of a function that makes arrays: what it makes where their dtype has fields
of_fields: dict[Any, Any] = {}


def structured(*functions: Any) -> Callable[[F], F]:
    """Decorator: register what does in a definition what functions do with a structured dtype."""

    def register(body: F) -> F:
        _changed()
        of_fields.update(dict.fromkeys(functions, body))
        return body

    return register


# Of a function that makes arrays: what it makes of a list of objects of users' classes
of_objects: dict[Any, Any] = {}
arrays_of_objects: set[type] = set()  # classes of srcgrad's that they make


def keeps_objects(*functions: Any) -> Callable[[F], F]:
    """Decorator: register what does in a definition what functions do with a list of objects."""

    def register(body: F) -> F:
        _changed()
        of_objects.update(dict.fromkeys(functions, body))
        return body

    return register


# Of a ufunc or operator: what applies it to objects of users' classes, and to arrays of them
of_each_object: dict[Any, Any] = {}


def applies_to_objects(*functions: Any) -> Callable[[F], F]:
    """Decorator: register what does in a definition what functions do with objects, one by one."""

    def register(body: F) -> F:
        _changed()
        of_each_object.update(dict.fromkeys(functions, body))
        return body

    return register


# Of a class: what makes an object outside of it anew, and of which of its attributes
made_of: dict[type, tuple[Any, ...]] = {}

# Of a class of srcgrad's: the one in whose place it stands
stands_for: dict[type, type] = {}
# Of others: the classes that the program may see its objects as, and which attribute tells of which
seen_as: dict[type, tuple[type, ...]] = {}
told_by: dict[type, tuple[str, dict[Any, type]]] = {}
# Such classes whose objects can't be returned
only_inside: set[type] = set()


def passes_for(*classes: type, told: tuple[str, dict[Any, type]] | None = None) -> Callable[[C], C]:
    """Decorator: say of a class of srcgrad's which classes the program may see its objects as.

    >>> @passes_for(range)
    ... class Steps: pass
    >>> seen_as[Steps]
    (<class 'range'>,)
    """

    def register(cls: C) -> C:
        seen_as[cls] = classes
        if told is not None:
            told_by[cls] = told
        return cls

    return register


# What functions that describe arrays say of None
of_none: dict[Any, Any] = {}

# Functions that return one of their operands

picking: set[Any] = set()


def picks(*functions: Any) -> None:
    """Register functions that return one of their operands, whichever the values of all tell.

    Of the operands' adjoints or tangents they would return another one.
    """
    picking.update(functions)


# Linear functions

linear_in: dict[Any, range] = {}
together: set[Any] = set()  # linear in all of their arguments at once: `np.atleast_2d(a, b)`
shape_only: dict[Any, int] = {}  # the position of an operand of which only the shape matters
OFFSETS = frozenset({"initial", "prepend", "append", "out"})  # with these nothing is linear
ignoring_out: set[Any] = set()  # what has a parameter `out` into which nothing is written
summing_in_out: set[Any] = set()  # what computes in the dtype of `out=`, unless one is given


def linear(*functions: Any, by: range = range(1), like: int | None = None) -> None:
    """Register functions that are linear in each of some parameters, if the others are held.

    `by` has the positions of those parameters, `like` that of one whose shape alone matters.

    >>> import numpy as np
    >>> linear(np.matmul, by=range(2))
    """
    for function in functions:
        linear_in[function] = by
        if like is not None:
            shape_only[function] = like


def linear_together(*functions: Any) -> None:
    """Register functions of any number of arrays whose results each belong to one of them.

    >>> import numpy as np
    >>> linear_together(np.atleast_2d)
    """
    linear(*functions)
    together.update(functions)


# Context managers that may be entered again when something is recomputed
reentrant: set[type] = {np.errstate, warnings.catch_warnings}

# Quantities that aren't numbers, each with one of them. What a number makes of a duration, times or
# over it, is none either, and has no derivative.
quantities: dict[type, Any] = {
    datetime.timedelta: datetime.timedelta(days=1),
    datetime.datetime: datetime.datetime(2000, 1, 1),
    datetime.date: datetime.date(2000, 1, 1),
}

# Packages that tell somebody something, or ask the system: their functions are called, not looked
# into.
reporting: frozenset[str] = frozenset(
    "IPython argparse configparser cProfile csv datetime genericpath getpass glob gzip hashlib io "
    "json locale logging loguru matplotlib mlflow ntpath os pathlib pickle platform plotly "
    "posixpath pprint psutil rich seaborn shutil subprocess tempfile tensorboard tensorboardX "
    "threading timeit tqdm traceback tracemalloc uuid wandb warnings yaml".split()
)
# So are these.
called: set[Any] = {contextlib.redirect_stdout, contextlib.redirect_stderr}
# Those of them that keep nothing of what they are told.
forgetful = frozenset(
    "argparse csv datetime genericpath glob hashlib json logging ntpath pickle platform posixpath "
    "pprint timeit traceback uuid warnings".split()
)


def unseen(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` in a definition: the function isn't looked into."""
    return function(*args, **kwargs)


# What functions of a type do, as a Python function, of which they are compiled
python_of: dict[type, Callable[[Any], Any]] = {}

reverse_only: dict[Any, str] = {}
reinterpreting: dict[Any, str] = {}
rereading: dict[Any, int | str] = {}
filing: set[Any] = set()


def only_reverse(*functions: Any, reason: str) -> None:
    """Register functions whose adjoint rule can't be transposed: forward mode refuses them."""
    for function in functions:
        reverse_only[function] = reason


# Jumps

jumping: dict[Any, frozenset[str]] = {}
steady: set[Any] = set()
equalities: set[Any] = set()
matching: set[Any] = set()
ordering: set[Any] = set()
measuring: set[Any] = set()
analytic: set[Any] = set()
raising: set[Any] = set()


def jumps(*functions: Any, given: Sequence[str] = ()) -> None:
    """Register functions that jump at some places, though they have a rule: `x % y`.

    With `given`, they do so only if one of these keywords is.
    """
    jumping.update((function, frozenset(given)) for function in functions)


def no_jumps(*functions: Any) -> None:
    """Register functions of zero derivative that never jump.

    Any other function of zero derivative, or with an integer or truth value for a result, does.
    """
    steady.update(functions)


def equality(*functions: Any) -> None:
    """Register functions that tell whether numbers are equal, or finite.

    Of what analytic functions compute, that changes at single points only.
    """
    equalities.update(functions)


def matches(*functions: Any) -> None:
    """Register functions that tell whether things are the same, or nearly so."""
    matching.update(functions)


def orders(*functions: Any) -> None:
    """Register functions that tell which of two things is greater."""
    ordering.update(functions)


def measures(*functions: Any) -> None:
    """Register functions that tell how large things are, zero of those that are zero."""
    measuring.update(functions)


def smooth(*functions: Any) -> None:
    """Register analytic functions."""
    analytic.update(functions)


def restricted(*functions: Any) -> None:
    """Register functions of numbers that raise outside their domain, where the rule does not."""
    raising.update(functions)


# Batches

ALL, FLAT = object(), object()  # what an axis left out means: all axes, or those of a flat array
REQUIRED = object()
batch_rules: dict[Any, Callable[..., Any]] = {}
batchable: dict[Any, tuple[str, ...]] = {}  # of a rule, the parameters that may be batches
batch_axes: dict[Any, tuple[int | None, Any, str]] = {}
batch_elementwise: set[Any] = set()


def batch(*functions: Any, of: tuple[str, ...] | None = None) -> Callable[[F], F]:
    """Decorator: register how a function works on batches, which have one more axis in front.

    The rule's parameters are those of the function and the keyword-only `batched`, the names of
    those parameters that are batches: of the parameters `of`, which is the first one if None. (With
    a batch elsewhere, the shift of `np.roll` say, the rule isn't asked.) It returns the batch of
    results, or NotImplemented.

    >>> import numpy as np
    >>> @batch(np.swapaxes)
    ... def swapaxes(a, axis1, axis2, *, batched):
    ...     ndim = np.ndim(a) - 1
    ...     return np.swapaxes(a, axis1 % ndim + 1, axis2 % ndim + 1)
    """

    def register(rule: F) -> F:
        batchable[rule] = of or rule.__code__.co_varnames[:1]
        for function in functions:
            batch_rules[function] = rule
        return rule

    return register


def along_axis(
    *functions: Any, axis: int | None, default: Any = REQUIRED, name: str = "axis"
) -> None:
    """Register functions that work on batches if their axis is counted from the end.

    `axis` is the position of the parameter that is the axis, or the tuple of axes, and `name` its
    name; None if the function works along the last axes anyway.
    """
    for function in functions:
        batch_axes[function] = (axis, default, name)


def elementwise_batch(*functions: Any) -> None:
    """Register functions that work on batches if all operands have as many axes."""
    batch_elementwise.update(functions)


def classified(function: Any) -> str | None:
    """In which class a function is, or None.

    >>> import numpy as np, srcgrad.rules
    >>> [classified(f) for f in (np.tanh, np.floor, np.shape, np.copyto, np.load, "no function")]
    ['rule', 'zero', 'definition', 'definition', 'refused', None]
    """
    try:
        function = methods.get(function, function)
        known = function in definitions
    except TypeError:
        return None
    if known:
        return "definition"
    if function in inplace_rules:
        return "in place"
    record = lookup(function)
    if record is None:
        return None
    if record.adjoint is not None or record.partials is not None:
        return "rule"
    if record.refused is not None:
        return "refused"
    return "inert" if record.inert else "zero" if record.zero else None
