"""Calls that a definition leaves as they are."""

from __future__ import annotations

from ..registry import refuse


class Left:
    """A function of SciPy that is called as it is."""

    def __init__(self, function):
        self.function, self.__name__ = function, function.__name__

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def left(function, reason):
    """What calls a function of SciPy as it is, for a definition that doesn't know some option: what
    it returns of constants is a constant, and by anything else it is refused.

    >>> left(sorted, "it has no rule with reverse=True")([1, 2], reverse=True)
    [2, 1]
    """
    made = Left(function)
    refuse(made, reason=reason)
    return made
