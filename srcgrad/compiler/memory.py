"""The memory that one call of a gradient frees, kept for the next one.

What a gradient records it frees when it returns. glibc gives memory that is free at the end of its
heap back to the system, and the next call waits for each page of it anew: a tenth to a third of its
time where arrays have 10 kB to 4 MB. It does so from a threshold on that starts at 128 kB, and that
is raised to twice the size of a larger block when such a block is freed. So one is: the largest
that counts, which nobody writes in, and which therefore takes no memory.

Other C libraries don't care. Whoever sets glibc's thresholds (`MALLOC_TRIM_THRESHOLD_`,
`GLIBC_TUNABLES`) has them as they are.
"""

from __future__ import annotations

import functools

import numpy as np

LARGEST = (32 << 20) - (16 << 10)  # bytes; DEFAULT_MMAP_THRESHOLD_MAX, less what stands before


@functools.cache
def keep_freed_memory() -> None:
    """Have up to 64 MB of freed memory kept for what is made next, once and for all.

    >>> keep_freed_memory()
    """
    np.empty(LARGEST, np.uint8)
