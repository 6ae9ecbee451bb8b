"""Rules for SciPy, one module for each of its submodules.

SciPy is optional, and slow to import: the rules for a submodule are registered when the user's
program has imported it, and srcgrad never imports it by itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

MODULES = (
    *("special", "linalg", "stats", "signal", "ndimage"),
    *("linalg.lapack", "fft", "fftpack", "integrate", "interpolate", "optimize"),
    *(
        "sparse",
        "sparse.linalg",
        "spatial",
        "spatial.distance",
        "spatial.transform",
        "sparse.csgraph",
    ),
)
_loaded: set[str] = set()


def load() -> None:
    """Register the rules for those submodules of SciPy that are imported by now."""
    if len(_loaded) == len(MODULES):
        return
    for name in MODULES:
        if name not in _loaded and f"scipy.{name}" in sys.modules:
            _loaded.add(name)
            module = f"{__name__}.{name.replace('.', '_')}"
            if importlib.util.find_spec(module):
                importlib.import_module(module)
