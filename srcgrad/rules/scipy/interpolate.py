"""Interpolants: those that are made outside, in `interpolants`, and inside, in `piecewise`."""

from . import interpolants, piecewise  # noqa: F401  (they register their rules)
