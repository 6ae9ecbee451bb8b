"""The memory that one call of a gradient frees, kept for the next one.

What a gradient records it frees when it returns. glibc gives memory that is free at the end of its
heap back to the system, and the next call waits for each page of it anew: a tenth to a half of its
time where arrays have 10 kB to 30 MB. It does so from a threshold on that starts at 128 kB, and it
asks the system for each array above another one. Both are raised here: the most that the process
needs is what it was, but it holds on to some of that.

Other C libraries don't care. Whoever sets glibc's thresholds (`MALLOC_TRIM_THRESHOLD_=131072`) has
them as they are.
"""

from __future__ import annotations

import functools
import os

MOST = 1 << 30  # bytes that are kept, or a sixteenth of the machine's memory if that is less
LARGEST = 32 << 20  # bytes of an array on the heap; glibc takes no larger value
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
SETTINGS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")


@functools.cache
def keep_freed_memory() -> int:
    """Have freed memory kept for what is made next, once and for all: up to how many bytes.

    >>> keep_freed_memory() <= MOST
    True
    """
    if not _of_glibc() or _is_set():
        return 0
    try:
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
    except (ImportError, OSError, AttributeError):
        return 0
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = min(MOST, memory // 16)
    mallopt(MMAP_THRESHOLD, LARGEST)  # a threshold that is set isn't raised any more by itself
    mallopt(TRIM_THRESHOLD, most)
    return most


def _of_glibc() -> bool:
    """Whether the process allocates with the GNU C library."""
    try:
        return "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):  # Windows has none, other libraries other names
        return False


def _is_set() -> bool:
    """Whether the user has set one of the thresholds."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return any(name in os.environ for name in SETTINGS) or "_threshold" in tunables
