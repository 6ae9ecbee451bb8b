"""Which arguments are differentiated: what `argnums` says, as parameters of the function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

Argnums = int | str | Sequence[int | str]
Input = tuple[str, int | str | None]  # a parameter, and of `*args` and `**kwargs` which item


def one_or_several(argnums: Argnums) -> Argnums:
    """`argnums` as it was given, a sequence as a tuple."""
    if isinstance(argnums, (int, str)):
        return argnums
    if isinstance(argnums, np.integer):
        return int(argnums)
    try:
        return tuple(argnums)
    except TypeError:
        raise TypeError(
            f"argnums must be an int, a name or a tuple of them, not {argnums!r}"
        ) from None


def inputs_of(argnums: Argnums, signature: inspect.Signature, name: str) -> tuple[Input, ...]:
    """The parameters to differentiate, of the function of this signature and name.

    >>> def f(x, *rest, scale=1.0): ...
    >>> inputs_of((0, 2, "scale"), inspect.signature(f), "f")
    (('x', None), ('rest', 1), ('scale', None))
    """
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    if not several:
        raise ValueError("argnums is empty: there is nothing to differentiate")
    found = [_input(which, list(signature.parameters.values()), name) for which in several]
    if len(set(found)) != len(found):
        raise ValueError(f"argnums={argnums!r} names an argument twice")
    return tuple(found)


def _input(which: Any, parameters: list[inspect.Parameter], name: str) -> Input:
    if isinstance(which, bool) or not isinstance(which, (int, str, np.integer)):
        raise TypeError(f"argnums must be an int, a name or a tuple of them, not {which!r}")
    variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    if isinstance(which, str):
        names = [p.name for p in parameters]
        if which in names:
            return which, None
        keywords = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
        if keywords is not None:
            return keywords, which
        raise ValueError(
            f"argnums={which!r}: {name} has no parameter of that name, "
            f"only {', '.join(names) or 'none'}"
        )
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    count, index = len(positional), int(which)
    if variadic is not None and (index < 0 or index >= count):
        # which argument it is, only the call can tell
        return variadic, index if index < 0 else index - count
    if not -count <= index < count:
        raise ValueError(
            f"argnums={which} is out of range: {name} takes {count} positional "
            f"argument{'s' * (count != 1)}{_by_name(parameters)}"
        )
    return positional[index], None


def _by_name(parameters: list[inspect.Parameter]) -> str:
    """Advice for a function with parameters that have no position."""
    named = next((p.name for p in parameters if p.kind is p.KEYWORD_ONLY), None)
    return "" if named is None else f"; name the others: argnums={named!r}"


def placed(which: Input, arguments: dict[str, Any], name: str) -> Input:
    """A negative position among arguments of variable number, counted from the start."""
    parameter, part = which
    if not isinstance(part, int) or part >= 0:
        return which
    names = list(arguments)
    before = names[: names.index(parameter)]
    given = len(before) + len(arguments[parameter])
    index = given + part
    if index < 0:
        raise ValueError(
            f"argnums={part} is out of range: {name} was called with {given} positional arguments"
        )
    return (before[index], None) if index < len(before) else (parameter, index - len(before))
