"""The classes of objects to the program, where classes of srcgrad's stand in the place of others.

What a library makes of data with derivatives (a sparse matrix, a spline, what a solver returns) is
an object of a class that the compiler can read. The program may ask of which class it is.
"""

from __future__ import annotations

from types import FunctionType

import numpy as np

from .. import ir
from ..packages import computes_attributes, has_of_class, of_class
from ..rules import registry
from .predicates import is_static
from .slots import told_class
from .stores import Stores
from .values import Heap, Instance

OWN = "srcgrad."
ARRAYS = (np.ndarray, np.generic)


class Standing(Stores):
    """Tells classes."""

    def in_place(self) -> bool:
        """Whether what is being run stands in the place of something else."""
        asking = self.frames[self.current].namespace.globals.get("__name__") or ""
        return bool(asking.startswith(OWN))

    def seen_classes(self, thing: Heap | None, own: type) -> tuple[type, ...]:
        """The classes of which objects of a class may be to the program; () if that isn't known.

        To what stands in the place of others, they are of their own class.
        """
        own = own if self.in_place() else told_class(own)
        if own in registry.stands_for:
            return (registry.stands_for[own],)
        if self.in_place() or not own.__module__.startswith(OWN):
            return (own,)
        name, classes = registry.told_by.get(own, ("", {}))
        held = thing.items.get(name) if isinstance(thing, Instance) else None
        if isinstance(held, ir.Const) and held.value in classes:
            return (classes[held.value],)
        one = getattr(own, "stands_for", None)
        return (one,) if one is not None else registry.seen_as.get(own, ())

    def seen_class(self, thing: Heap | None, own: type) -> type:
        """The class of which an object of a class is to the program."""
        seen = self.seen_classes(thing, own)
        if len(seen) != 1:
            raise self.refuse("the type of this value isn't known when compiling")
        return seen[0]

    def are_of(self, thing: Heap | None, own: type, cls: type) -> set[bool]:
        """Whether objects of a class may be of another one, and whether they may not be."""
        answers = {issubclass(c, cls) for c in self.seen_classes(thing, own)}
        if not answers or self.in_place():
            answers = {issubclass(own, cls) or True in answers}
        if True in answers or self.seen_classes(thing, own):
            return answers
        may_be = is_static(cls.__module__) and cls.__module__ != "builtins"
        return {False, True} if may_be and not issubclass(cls, ARRAYS) else {False}

    def unshown(self, thing: Instance, name: str) -> bool:
        """Whether only the class that stands in the place of others has an attribute."""
        seen = () if self.in_place() else self.seen_classes(thing, thing.type)
        return thing.type not in seen and {may_have(c, name) for c in seen} == {False}

    def lacked(self, thing: Instance, name: str) -> bool | None:
        """Whether an object has no attribute that its class lacks here; None if it isn't known."""
        seen = self.seen_classes(thing, thing.type)
        if seen == (thing.type,):
            return True
        answers = {may_have(c, name) for c in seen}
        return not answers.pop() if len(answers) == 1 and None not in answers else None


def may_have(cls: type, name: str) -> bool | None:
    """Whether instances of a class have an attribute; None if its methods may set it or not.

    >>> may_have(str, "upper"), may_have(Standing, "frames"), may_have(Standing, "unheard")
    (True, None, False)
    """
    if has_of_class(cls, name):
        return True
    if computes_attributes(cls) or isinstance(of_class(cls, "__getattribute__"), FunctionType):
        return None
    for base in cls.__mro__:
        for member in vars(base).values():
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            code = getattr(function, "__code__", None)
            if code is not None and (name in code.co_names or name in code.co_consts):
                return None
    return False
