"""The rules, by family. Importing this package registers them."""

from . import (  # noqa: F401  (they register their rules)
    assertions,
    batching,
    classes,
    creation,
    debugging,
    descriptions,
    differences,
    draws,
    edges,
    elementwise,
    fft,
    fitting,
    functional,
    generated,
    histograms,
    indexing,
    inplace,
    jitted,
    joining,
    library,
    linalg,
    linear,
    methods,
    order_statistics,
    padding,
    polynomial_bases,
    polynomial_classes,
    polynomials,
    pools,
    products,
    progress,
    python,
    reductions,
    scipy,
    shapes,
    shaping,
    sizes,
    spectral,
    strides,
    ufuncs,
)
from .registry import loaders

ufuncs.register()
classes.register()
loaders += [scipy.load, assertions.load, jitted.load, pools.load, progress.load]
