"""What compiling changes in the process: when garbage is collected, and how deep calls may go.

A compilation makes many objects that live until it ends: the collector, which looks through them
again and again, would take an eighth of the time and find next to nothing. And where the functions
of a program call each other, or its branches stand in each other, so do those of the compiler, of
which each level takes many: Python's limit is for programs that never end.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

DEEPEST = 3000  # levels of calls, which take less than 1 MB of the stack

_lock = threading.RLock()  # a finalizer may compile
_compiling = 0  # threads that compile
_before = False, 0  # whether garbage was collected, and the limit


@contextmanager
def compiling() -> Iterator[None]:
    """Put garbage collection off, and let calls go deeper, until nobody compiles any more.

    >>> with compiling():
    ...     gc.isenabled(), sys.getrecursionlimit() >= DEEPEST
    (False, True)
    >>> gc.isenabled(), sys.getrecursionlimit() < DEEPEST
    (True, True)
    """
    global _compiling, _before
    with _lock:
        if not _compiling:
            _before = gc.isenabled(), sys.getrecursionlimit()
            gc.disable()
            sys.setrecursionlimit(max(DEEPEST, _before[1]))
        _compiling += 1
    try:
        yield
    finally:
        with _lock:
            _compiling -= 1
            if not _compiling:
                sys.setrecursionlimit(_before[1])
                if _before[0]:
                    gc.enable()
