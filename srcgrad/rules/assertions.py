"""The assertions of numpy.testing: they return nothing, and raise what they would raise anyway."""

from __future__ import annotations

import sys

from ..analysis.inference import Inferred
from ..kinds import NOTHING
from .registry import effect, inert, kind

NAMES = (
    *("assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal"),
    *("assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less"),
    *("assert_equal", "assert_string_equal"),
)
_loaded: list[str] = []


def load() -> None:
    """Register them, once the user's program has imported numpy.testing, which takes a while."""
    testing = sys.modules.get("numpy.testing")
    if _loaded or not hasattr(testing, NAMES[-1]):  # it may be about to be imported
        return
    _loaded.append("numpy.testing")
    functions = [getattr(testing, name) for name in NAMES]
    inert(*functions)
    effect(*functions)
    kind(*functions)(nothing)


def nothing(args, kwargs):
    return Inferred(NOTHING)
