"""The rules, by family. Importing this package registers them."""

from . import (
    descriptions,
    elementwise,
    indexing,
    inplace,
    methods,
    products,
    python,
    reductions,
    shapes,
    shaping,
)
from .registry import lookup

__all__ = [
    "descriptions",
    "elementwise",
    "indexing",
    "inplace",
    "lookup",
    "methods",
    "products",
    "python",
    "reductions",
    "shapes",
    "shaping",
]
