"""Every program: forward mode against reverse mode, and second derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp
from srcgrad.forward import Tangent
from tests.programs import finite_differences as fd
from tests.test_programs import SUPPORTED

# Programs of which a second derivative isn't defined or can't be had, and why
NO_SECOND: dict[str, str] = {}


def directions(module: Any, seed: int) -> Any:
    argnums = tuple(getattr(module, "ARGNUMS", (0,)))
    rng = np.random.default_rng(seed)
    return argnums, tuple(fd.random_direction(module.inputs()[i], rng) for i in argnums)


@pytest.mark.parametrize("name", SUPPORTED)
def test_dot_products(name: str) -> None:
    """w · (J u) = (w J) · u, to rounding."""
    module = fd.load(name)
    argnums, direction = directions(module, 11)
    gradient = grad(module.program, argnums=argnums)(*module.inputs())
    tangent = Tangent(module.program, argnums, False, False)
    (t_out,) = tangent.push(module.inputs(), {}, direction)
    terms: list[float] = []
    fd.map_tree(
        lambda d, g: None if d is None else terms.append(float(np.sum(np.abs(np.real(g * d))))),
        direction,
        gradient,
    )
    assert abs(t_out - fd.inner(gradient, direction)) <= 1e-10 * max(sum(terms), 1e-12)


@pytest.mark.parametrize("name", [n for n in SUPPORTED if n not in NO_SECOND])
def test_second_derivatives(name: str) -> None:
    """A product with the Hessian, along another direction, against differences of gradients."""
    module = fd.load(name)
    argnums, u = directions(module, 1)
    gradient = grad(module.program, argnums=argnums)

    def slope(*args: Any) -> float:
        return fd.inner(gradient(*args), u)

    v, expected = fd.directional_difference(slope, module.inputs(), argnums, 2)
    product = hvp(module.program, argnums)(*module.inputs(), v)
    found = fd.inner(product, u)
    scale = max(abs(expected), abs(slope(*module.inputs())))
    assert abs(found - expected) <= 1e-5 * scale, f"hvp {found!r}, differences {expected!r}"
