"""The rules, by family. Importing this package registers them."""

from . import (
    descriptions,
    elementwise,
    fft,
    fitting,
    generated,
    indexing,
    inplace,
    linalg,
    methods,
    products,
    python,
    reductions,
    scipy,
    shapes,
    shaping,
    sizes,
)
from .registry import loaders, lookup

loaders.append(scipy.load)

__all__ = [
    "descriptions",
    "elementwise",
    "fft",
    "fitting",
    "generated",
    "indexing",
    "inplace",
    "linalg",
    "lookup",
    "methods",
    "products",
    "python",
    "reductions",
    "scipy",
    "shapes",
    "shaping",
    "sizes",
]
