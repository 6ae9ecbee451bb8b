"""What a saved gradient asks of its arguments: to be as those that it was generated for."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_arguments(*arguments: tuple[str, Any, str]) -> None:
    """Raise TypeError if values aren't what they are to be, each given with its name.

    A letter stands for any length from 2 on, the same one wherever it stands; `int[n]` is an int
    that is as large.

    >>> check_arguments(("x", np.ones(3), "float64[n]"), ("y", np.ones((3, 1)), "float64[n, 1]"))
    >>> check_arguments(("n", 2.0, "int"))
    Traceback (most recent call last):
        ...
    TypeError: this gradient was saved for n = int, but it is 2.0: save one for that
    """
    sizes: dict[str, int] = {}
    for name, value, expected in arguments:
        kind, bracket, inside = expected.rstrip("]").partition("[")
        found, known = repr(value), ""
        if isinstance(value, np.ndarray):
            found, shape = f"{value.dtype}{[*value.shape]}", value.shape
            fits = bool(bracket) and str(value.dtype) == kind
        elif expected.startswith("int["):
            shape, fits = (value,), type(value) is int
        else:
            shape, fits = (), any(c.__name__ == expected for c in type(value).__mro__)
            fits = fits or found == expected
        lengths = inside.split(", ") if fits and inside else []
        fits = fits and len(lengths) == len(shape)
        for length, n in zip(lengths, shape, strict=False):
            letter, _, more = length.partition(" + ")
            size = int(letter) if letter.isdigit() else sizes.get(letter)
            if size is None:
                size = sizes[letter] = max(n - int(more or 0), 2)
            elif letter in sizes:
                known = f", with {letter} = {size}"
            fits = fits and n == size + int(more or 0)
        if not fits:
            raise TypeError(
                f"this gradient was saved for {name} = {expected}{known}, but it is {found}: "
                "save one for that"
            )
