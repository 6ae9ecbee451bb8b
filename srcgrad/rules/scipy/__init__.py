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
_waiting = {f"scipy.{name}": name for name in MODULES}  # not imported until now


def load() -> None:
    """Register the rules for those submodules of SciPy that are imported by now."""
    for imported in [module for module in _waiting if module in sys.modules]:
        name = _waiting.pop(imported, None)
        if name is not None:  # else another thread has come first
            module = f"{__name__}.{name.replace('.', '_')}"
            if importlib.util.find_spec(module):
                importlib.import_module(module)
