"""Calling a gradient: a generated function that looks up what is compiled for the arguments.

A small gradient takes a microsecond or two; to bind its arguments and to describe them one by one
would take longer. So for arguments of one structure (types that are nested alike), a function with
the primal's own parameters is generated. For `def f(x, params, n=3)` it reads, in short:

    def f(x, params, n=absent):
        if n is absent:
            n = primal.__defaults__[-1]
        if (type(x) is ndarray and x.dtype is float64 and type(params) is dict
                and tuple(params) == keys and type(n) is int):
            a, b = params.values()
            if type(a) is ndarray and a.dtype is float64 and type(b) is float:
                try:
                    holds = (primal.__code__ is code and rules.version == version
                        and globals["np"] is np and "max" not in globals)
                except errors:
                    holds = False
                was_1, was_2, function, variant = recent
                if holds and x.shape == was_1 and a.shape == was_2:
                    latest.variant = variant
                    return function(x, params, n)
                key = (x.shape, a.shape)
                if holds:
                    found = steady.get(key)
                    if found is not None:  # a gradient that depends on nothing else
                        recent = (*key, *found)
                        function, latest.variant = found
                        return function(x, params, n)
                for function, read, matches, used, variant in known.get(key, ()):
                    ...  # the entry that is right for the outer values is called
                return missed(key, (x, params, n))
        return otherwise(x, params, n)
"""

from __future__ import annotations

import functools
import inspect
import keyword
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import outside
from .packages import told
from .runtime import attributes
from .signature import HELD, OPAQUE, RELATED, describe, is_record, whole

if TYPE_CHECKING:
    from .cache import Variant

MOST_NAMES = 200
_Item = tuple[str, Any, tuple[Any, ...]]


@dataclass
class Latest:
    """The variant that was called last, where both a Gradient and its lookups find it."""

    variant: Variant | None = None


def lookup_for(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    static: frozenset[Any],
    needs: dict[str, Any],
) -> Callable[..., Any] | None:
    """A function that calls what is compiled for arguments structured like these.

    Args:
        signature: the primal's.
        args: an argument for each parameter.
        static: the paths of the ints whose values matter, as `describe` takes them.
        needs: what the text refers to: `primal`; `known`, the entries by key; `steady`, the
            functions and variants by key that depend on nothing but the `code` of the primal, the
            `version` of the `rules` and the `conditions` outside (None: there are none of these);
            `latest`; the functions `missed(key, args)`, called if
            there is no entry for the key, and `otherwise`, called like the primal if the arguments
            are of another structure.

    Returns:
        The function, or None where it would be of no use.

    >>> def primal(x, n=2): ...
    >>> needs = {"primal": primal, "known": {}, "latest": Latest()}
    >>> needs |= {"steady": {}, "code": None, "rules": None, "version": 0}
    >>> needs["conditions"] = ()
    >>> needs |= {"missed": lambda key, args: key, "otherwise": lambda x, n: "otherwise"}
    >>> call = lookup_for(inspect.signature(primal), (np.ones(3), 2), frozenset(), needs)
    >>> call(np.ones(5)), call("five")
    (((5,),), 'otherwise')
    """
    names = list(signature.parameters)
    if any(not n.isidentifier() or keyword.iskeyword(n) for n in names):
        return None
    if any(isinstance(a, np.memmap) for a in args):
        return None  # looked up as the plain array it's turned into
    own = "_"
    while any(n.startswith(own) for n in names):
        own += "_"
    writer = _Writer(own, {own + n: v for n, v in (_COMMON | needs).items()}, static)
    if not writer.test([(n, a, ("argument", n)) for n, a in zip(names, args, strict=True)]):
        return None
    exec(_code(writer.text(signature)), writer.globals)
    call = writer.globals[own + "call"]
    assert isinstance(call, types.FunctionType)
    call.__name__ = call.__qualname__ = getattr(needs["primal"], "__qualname__", "gradient")
    return call


def matcher_for(
    values: tuple[Any, ...], static: frozenset[Any] = frozenset()
) -> Callable[[tuple[Any, ...]], bool]:
    """A function that tells whether values are described as these are.

    `static` says of some that only their types matter: by their positions, with `OPAQUE`.

    >>> matches = matcher_for((np.ones(3), {"key": True}))
    >>> matches((np.zeros(3), {"key": True})), matches((np.zeros(3), {"key": False}))
    (True, False)
    """
    writer = _Writer("_", {"_" + n: v for n, v in _COMMON.items()}, static)
    if not writer.test([("values", values, ())]):

        def described(them: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(describe(v, (i,), static) for i, v in enumerate(them))

        expected = described(values)
        return lambda others: described(others) == expected
    key = f"{writer.indent}return ({''.join(f'{k}, ' for k in writer.key)})"
    exec(_code("\n".join(["def key(values):", *writer.lines, key])), writer.globals)
    writer.globals["expected"] = writer.globals["key"](values)
    lines = ["def matches(values):", *writer.lines, f"{key} == expected", "    return False"]
    exec(_code("\n".join(lines)), writer.globals)
    return writer.globals["matches"]  # type: ignore[no-any-return]


_COMMON = {"absent": object(), "type": type, "tuple": tuple, "len": len, "describe": describe}


@dataclass
class _Writer:
    """Writes the text: one `if` for each depth of nesting, and the parts of the key."""

    own: str  # what the names begin with that aren't the primal's
    globals: dict[str, Any]
    static: frozenset[Any]
    lines: list[str] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    indent: str = "    "
    names: int = 0

    def test(self, items: list[_Item]) -> bool:
        """Write the tests of these values and of what is in them; False if that's too many."""
        while items:
            tests: list[str] = []
            unpacked: list[str] = []
            inner: list[_Item] = []
            for name, value, path in items:
                parts = self._test(name, value, path, tests)
                if parts is not None:
                    held, values = parts
                    named = [(self._name(), v, (*path, k)) for k, v in values]
                    unpacked += [f"{', '.join(n for n, _, _ in named)}, = {held}"] * bool(named)
                    inner += named
            if self.names > MOST_NAMES:
                return False
            if tests:
                self.lines.append(f"{self.indent}if {' and '.join(tests)}:")
                self.indent += "    "
            self.lines += [self.indent + line for line in unpacked]
            items = inner
        return True

    def _test(
        self, name: str, value: Any, path: tuple[Any, ...], tests: list[str]
    ) -> tuple[str, list[tuple[Any, Any]]] | None:
        """Add the tests of one value, and what the key has of it. Returns what to unpack, if it
        is a container: an expression, and the items."""
        t, own = type(value), self.own
        if value is None:
            tests.append(f"{name} is None")
            return None
        of_type = f"{own}type({name}) is {self._constant(t)}"
        if (*path, OPAQUE) in self.static:
            tests.append(of_type)
        elif t is np.ndarray:
            tests.append(of_type)
            self.key.append(f"{name}.shape")
            if np.dtype(value.dtype.char) is value.dtype:  # NumPy's own, of which there is one
                tests.append(f"{name}.dtype is {self._constant(value.dtype)}")
            else:
                self.key.append(f"{name}.dtype")
        elif t is float or t is complex or isinstance(value, np.number):
            tests.append(of_type)
            if path in self.static:
                self.key.append(name)
        elif t is int or t is bool or t is str or t is bytes:
            tests.append(of_type)
            if t is not int or path in self.static or RELATED in self.static:
                self.key.append(name)
        elif isinstance(value, (list, tuple)) and whole(value, path, self.static) is None:
            tests += [of_type, f"{own}len({name}) == {len(value)}"]
            return name, list(enumerate(value))
        elif t is dict and (*path, HELD) not in self.static and all(type(k) is str for k in value):
            tests += [of_type, f"{own}tuple({name}) == {self._constant(tuple(value))}"]
            return f"{name}.values()", list(value.items())
        elif t is not dict and is_record(value) and attributes(value) is told(value, "__dict__"):
            members = vars(value)
            keys = self._constant(tuple(members))
            tests += [of_type, f"{own}tuple({name}.__dict__) == {keys}"]
            return f"{name}.__dict__.values()", list(members.items())
        else:
            if isinstance(value, (list, tuple)):
                tests.append(of_type)
            path_static = f"{self._constant(path)}, {self._constant(self.static)}"
            self.key.append(f"{own}describe({name}, {path_static})")
        return None

    def text(self, signature: inspect.Signature) -> str:
        """The function, after its tests are written."""
        own, names = self.own, list(signature.parameters)
        given = "".join(f"{n}, " for n in names)
        keyed = f"{own}key = ({''.join(f'{k}, ' for k in self.key)})"
        inside = [
            *([keyed] if self.globals[own + "conditions"] is None else self._steady(keyed, given)),
            f"for {own}function, {own}read, {own}matches, {own}used, {own}variant in "
            f"{own}known.get({own}key, ()):",
            f"    {own}free = {own}read({own}primal)",
            f"    if {own}free is not None:",
            f"        if not {own}free:",
            f"            {own}latest.variant = {own}variant",
            f"            return {own}function({given})",
            f"        if {own}matches({own}free):",
            f"            {own}latest.variant = {own}variant",
            f"            return {own}function({given}*{own}free[:{own}used])",
            f"return {own}missed({own}key, ({given}))",
        ]
        defaults = self._defaults(signature)
        head = f"def {own}call({self._header(signature, defaults)}):"
        asked = [f"    if {n} is {own}absent:\n        {n} = {d}" for n, d in defaults.items()]
        last = f"    return {own}otherwise({_passed(signature)})"
        looked_up = (self.indent + line for line in inside)
        return "\n".join([head, f"    global {own}recent", *asked, *self.lines, *looked_up, last])

    def _steady(self, keyed: str, given: str) -> list[str]:
        """The call of a gradient that depends on nothing outside but what is as it was."""
        own = self.own
        was = [f"{own}was_{i}" for i in range(len(self.key))]
        same = [f"{k} == {w}" for k, w in zip(self.key, was, strict=True)]
        same = same or [f"{own}function is not None"]
        self.globals[own + "recent"] = (None,) * (len(was) + 2)
        return [
            *self._held(),
            f"{', '.join([*was, f'{own}function', f'{own}variant'])} = {own}recent",
            f"if {' and '.join([f'{own}holds', *same])}:",
            f"    {own}latest.variant = {own}variant",
            f"    return {own}function({given})",
            keyed,
            f"if {own}holds:",
            f"    {own}found = {own}steady.get({own}key)",
            f"    if {own}found is not None:",
            f"        {own}recent = (*{own}key, *{own}found)",
            f"        {own}function, {own}latest.variant = {own}found",
            f"        return {own}function({given})",
        ]

    def _held(self) -> list[str]:
        """Whether all is outside as it was, but for the numbers and arrays that are read there."""
        own, primal = self.own, self.globals[self.own + "primal"]
        writer = outside.Writer(primal, self.globals, own)
        tests = [f"{own}primal.__code__ is {own}code", f"{own}rules.version == {own}version"]
        tests += map(writer.test, self.globals[own + "conditions"])
        held = f"{own}holds = {' and '.join(tests)}"
        if len(tests) == 2:
            return [held]
        failed = f"except {writer.constant(outside.ERRORS)}:"
        return ["try:", f"    {held}", failed, f"    {own}holds = False"]

    def _defaults(self, signature: inspect.Signature) -> dict[str, str]:
        """Where a function has the defaults of its parameters now: they may be replaced."""
        primal = self.globals[self.own + "primal"]
        if not isinstance(primal, (types.FunctionType, types.MethodType)):
            return {}
        keyword_only = inspect.Parameter.KEYWORD_ONLY
        parameters = signature.parameters.values()
        placed = [p for p in parameters if p.kind is not keyword_only and p.kind not in _STARS]
        found = {
            p.name: f"{self.own}primal.__defaults__[{i - len(placed)}]"
            for i, p in enumerate(placed)
            if p.default is not p.empty
        }
        for p in parameters:
            if p.kind is keyword_only and p.default is not p.empty:
                found[p.name] = f"{self.own}primal.__kwdefaults__[{p.name!r}]"
        return found

    def _header(self, signature: inspect.Signature, asked: dict[str, str]) -> str:
        """The parameters, with the defaults of the primal but for those that are asked for."""
        parts: list[str] = []
        before: Any = inspect.Parameter.POSITIONAL_ONLY
        for p in signature.parameters.values():
            if before is p.POSITIONAL_ONLY is not p.kind and parts:
                parts.append("/")
            if p.kind is p.KEYWORD_ONLY and before not in (p.VAR_POSITIONAL, p.KEYWORD_ONLY):
                parts.append("*")
            default = "" if p.default is p.empty else f"={self._constant(p.default)}"
            if p.name in asked:
                default = f"={self.own}absent"
            parts.append(f"{_STARS.get(p.kind, '')}{p.name}{default}")
            before = p.kind
        if before is inspect.Parameter.POSITIONAL_ONLY and parts:
            parts.append("/")
        return ", ".join(parts)

    def _name(self) -> str:
        self.names += 1
        return f"{self.own}{self.names}"

    def _constant(self, value: Any) -> str:
        name = f"{self.own}c{len(self.globals)}"
        self.globals[name] = value
        return name


_STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _passed(signature: inspect.Signature) -> str:
    """The arguments, handed on as they came."""
    parameters = signature.parameters.values()
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    return ", ".join(
        f"{p.name}={p.name}" if p.kind is keyword_only else f"{_STARS.get(p.kind, '')}{p.name}"
        for p in parameters
    )


@functools.lru_cache(maxsize=256)
def _code(text: str) -> types.CodeType:
    return compile(text, "<srcgrad lookup>", "exec")
