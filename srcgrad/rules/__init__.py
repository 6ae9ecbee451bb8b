"""The rules, by family. Importing this package registers them."""

from . import (
    classes,
    descriptions,
    elementwise,
    fft,
    fitting,
    functional,
    generated,
    indexing,
    inplace,
    linalg,
    methods,
    polynomials,
    products,
    python,
    reductions,
    scipy,
    shapes,
    shaping,
    sizes,
    ufuncs,
)
from .registry import loaders, lookup

ufuncs.register()
classes.register()
loaders.append(scipy.load)

__all__ = [
    "classes",
    "descriptions",
    "elementwise",
    "fft",
    "fitting",
    "functional",
    "generated",
    "indexing",
    "inplace",
    "linalg",
    "lookup",
    "methods",
    "polynomials",
    "products",
    "python",
    "reductions",
    "scipy",
    "shapes",
    "shaping",
    "sizes",
    "ufuncs",
]
