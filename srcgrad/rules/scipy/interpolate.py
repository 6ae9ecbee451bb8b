"""Interpolants: those that are made outside, in `interpolants`, and inside, of one variable in
`piecewise`, of several in `scattered`."""

from . import interpolants, piecewise, scattered  # noqa: F401  (they register their rules)
