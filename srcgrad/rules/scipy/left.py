"""Calls that a definition leaves as they are."""

from __future__ import annotations

import functools

from ..registry import refuse


def left(function, reason):
    """A function that calls another one of SciPy as it is, for a definition that doesn't know some
    option: what it returns of constants is a constant, and by anything else it is refused.

    >>> left(sorted, "it has no rule with reverse=True")([1, 2], reverse=True)
    [2, 1]
    """

    @functools.wraps(function)
    def as_it_is(*args, **kwargs):
        return function(*args, **kwargs)

    refuse(as_it_is, reason=reason)
    return as_it_is
