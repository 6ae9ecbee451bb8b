"""Python's garbage collector, put off while something is compiled.

A compilation makes many objects that live until it ends: the collector, which looks through them
again and again, would take an eighth of the time and find next to nothing.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.RLock()  # a finalizer may compile
_compiling = 0  # threads that compile
_was_enabled = False


@contextmanager
def collecting_later() -> Iterator[None]:
    """Put garbage collection off until nobody compiles any more.

    >>> with collecting_later():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    global _compiling, _was_enabled
    with _lock:
        if not _compiling:
            _was_enabled = gc.isenabled()
            gc.disable()
        _compiling += 1
    try:
        yield
    finally:
        with _lock:
            _compiling -= 1
            if not _compiling and _was_enabled:
                gc.enable()
