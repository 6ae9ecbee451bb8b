"""Arguments by which special functions have no derivative."""

from __future__ import annotations

from ..registry import Unknown

BY_ORDER = Unknown("by its order there is no closed form; use an int, or a constant")
BY_SHAPE = Unknown("by its shape parameters there is no closed form")
OF_COMPLEX = Unknown("of complex numbers it has no rule")
