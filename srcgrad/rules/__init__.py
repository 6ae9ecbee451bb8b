"""The rules, by family. Importing this package registers them."""

from . import (
    batching,
    classes,
    debugging,
    descriptions,
    elementwise,
    fft,
    fitting,
    functional,
    generated,
    histograms,
    indexing,
    inplace,
    linalg,
    linear,
    methods,
    polynomial_classes,
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
    "batching",
    "classes",
    "debugging",
    "descriptions",
    "elementwise",
    "fft",
    "fitting",
    "functional",
    "generated",
    "histograms",
    "indexing",
    "inplace",
    "linalg",
    "linear",
    "lookup",
    "methods",
    "polynomial_classes",
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
