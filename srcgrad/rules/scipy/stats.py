"""Rules for `scipy.stats`, from the modules beside; what is then without a rule is refused.

How the methods of distributions find their closed forms is told in `stats_distributions`. The
forms are in `stats_continuous`, `stats_discrete` and, of logarithms of densities in standard form
alone, `stats_densities`. `stats_vectors` has distributions of vectors and matrices,
`stats_descriptive` statistics of samples.
"""

from __future__ import annotations

import types

from scipy import stats

from ..classes import RANDOM
from ..registry import classified, refuse
from . import (  # noqa: F401  (they register their rules)
    stats_continuous,
    stats_densities,
    stats_descriptive,
    stats_discrete,
    stats_samples,
    stats_vectors,
)

HOW = "it has no rule; write it in NumPy, or let its argument be a constant (stop_gradient)"


def refuse_the_rest():
    """Tests, fits, samplers and what else of `scipy.stats` there is; distributions are objects."""
    for name in stats.__all__:
        thing = getattr(stats, name)
        if isinstance(thing, (types.FunctionType, type)) and classified(thing) is None:
            if not (isinstance(thing, type) and issubclass(thing, BaseException)):
                refuse(thing, reason=HOW)
        draw = getattr(type(thing), "rvs", None)
        if draw is not None:
            refuse(draw, reason=RANDOM)


refuse_the_rest()
