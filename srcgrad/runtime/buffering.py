"""How large NumPy's buffers are while a generated function runs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def small_buffers(function: Any) -> Any:
    """A function that runs with NumPy's buffers so small that long rows of a part aren't copied.

    >>> small_buffers(np.getbufsize)(), np.getbufsize()
    (512, 8192)
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        size = np.setbufsize(512)
        try:
            return function(*args, **kwargs)
        finally:
            np.setbufsize(size)

    return call
