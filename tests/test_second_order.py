"""Every program: forward mode against reverse mode, and second derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, hvp
from srcgrad.forward import Tangent
from tests.programs import finite_differences as fd
from tests.test_programs import NAMES
from tests.test_random_programs import function_of

# Programs of which a second derivative isn't defined or can't be had, and why
NO_SECOND = {"barnes_hut": "computed again in the reverse sweep, and changes"}


def directions(module: Any, seed: int) -> Any:
    argnums = tuple(getattr(module, "ARGNUMS", (0,)))
    rng = np.random.default_rng(seed)
    return argnums, tuple(fd.random_direction(module.inputs()[i], rng) for i in argnums)


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", [n for n in NAMES if n not in NO_SECOND])
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


@pytest.mark.parametrize("name", NO_SECOND)
def test_second_derivatives_refused(name: str) -> None:
    module = fd.load(name)
    argnums, v = directions(module, 1)
    with pytest.raises(UnsupportedError, match=NO_SECOND[name]) as refusal:
        hvp(module.program, argnums)(*module.inputs(), v)
    assert refusal.value.lineno is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_programs(start: int) -> None:
    """Programs made at random: tangents against gradients, and products with the Hessian."""
    for seed in range(start, start + 10):
        f = function_of(seed)
        rng = np.random.default_rng(seed)
        x, u, v = 0.8 * rng.normal(size=(3, 4))
        gradient = grad(f)
        with np.errstate(all="ignore"):
            try:
                d_x = gradient(x, 3)
            except (UnsupportedError, ArithmeticError, LookupError, UnboundLocalError):
                continue
            (t_out,) = Tangent(f, 0, False, False).push((x, 3), {}, (v,))
            assert abs(t_out - d_x @ v) <= 1e-10 * max(1.0, np.sum(np.abs(d_x * v))), seed
            found = hvp(f)(x, 3, v) @ u
            near, far = (
                (gradient(x + h * v, 3) - gradient(x - h * v, 3)) @ u / (2 * h)
                for h in (1e-6, 1e-5)
            )
            if abs(near - far) <= 1e-6 * max(1.0, abs(near)):  # no branch is taken otherwise
                assert abs(found - near) <= 1e-5 * max(1.0, abs(near)), seed
