"""The corpus in tests/programs, unmodified: values and gradients, tangents, second derivatives.

Expected are finite differences, but for tangents: those are compared with the gradient. The tests
of one program follow each other, so that its gradient, which is kept, is compiled but once.
"""

from __future__ import annotations

import copy
import os
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.inspect.stages import stages
from tests.programs import finite_differences as fd
from tests.programs import mlp_adam_training

DIRECTIONS = (0, 1, 2)
TOLERANCE = 1e-6

# Programs of which a second derivative isn't defined or can't be had, and why
NO_SECOND = {"barnes_hut": "computed again in the reverse sweep, and changes"}
# Of which it takes longest to compile
LONG = set(
    "beam_truss bundle_adjustment hmm_forward kalman_filter matrix_exponential ray_marching".split()
    if not os.environ.get("SRCGRAD_ALL_SAMPLES")
    else ()
)


@pytest.fixture(scope="module", params=fd.names())
def module(request: pytest.FixtureRequest) -> ModuleType:
    """The module of one of the programs."""
    loaded: ModuleType = fd.load(request.param)
    return loaded


def argnums_of(module: ModuleType) -> tuple[int, ...]:
    return tuple(getattr(module, "ARGNUMS", (0,)))


def is_array_like(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic))


def assert_same_leaf(before: Any, after: Any) -> None:
    if is_array_like(before):
        assert type(before) is type(after)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    elif not callable(before):
        assert before == after


def assert_unchanged(args: Any, before: Any) -> None:
    """The caller's arguments are what they were, bit for bit."""
    fd.map_tree(assert_same_leaf, before, args)


def assert_like_argument(argument: Any, gradient: Any) -> None:
    """A gradient has the shape and the dtype of its argument, leaf by leaf."""
    if not fd.is_differentiable(argument):
        return
    assert np.shape(gradient) == np.shape(argument)
    if isinstance(argument, np.ndarray):
        assert gradient.dtype == argument.dtype


def test_gradient_is_right(module: ModuleType) -> None:
    argnums, args = argnums_of(module), module.inputs()
    before = copy.deepcopy(args)
    value, gradients = srcgrad.value_and_grad(module.program, argnums=argnums)(*args)
    assert_unchanged(args, before)
    assert value == pytest.approx(module.program(*before), rel=1e-12, abs=0.0)
    for argnum, gradient in zip(argnums, gradients, strict=True):
        fd.map_tree(assert_like_argument, args[argnum], gradient)
    for seed in DIRECTIONS:
        direction, expected = fd.directional_difference(module.program, args, argnums, seed)
        found = fd.inner(gradients, direction)
        assert fd.relative_error(found, expected) < TOLERANCE, (
            f"direction {seed}: gradient {found!r}, finite differences {expected!r}"
        )


@pytest.mark.slow
def test_tangent_is_that_of_the_gradient(module: ModuleType) -> None:
    """w · (J u) = (w J) · u, to rounding."""
    argnums, args = argnums_of(module), module.inputs()
    before = copy.deepcopy(args)
    direction = random_direction(module, 0)
    moved = dict(zip(argnums, direction, strict=True))
    tangents = tuple(filled(moved.get(i), a) for i, a in enumerate(args))
    value, t_value = srcgrad.jvp(module.program, args, tangents)
    assert_unchanged(args, before)
    assert value == pytest.approx(module.program(*before), rel=1e-12, abs=0.0)
    gradients = srcgrad.grad(module.program, argnums=argnums)(*args)
    assert t_value == pytest.approx(fd.inner(gradients, direction), rel=1e-10)


@pytest.mark.slow
def test_second_derivatives(module: ModuleType, request: pytest.FixtureRequest) -> None:
    """A product with the Hessian, along another direction, against differences of gradients."""
    name = request.node.callspec.params["module"]
    if name in LONG:
        pytest.skip("takes long")
    argnums, u = argnums_of(module), random_direction(module, 1)
    refused = NO_SECOND.get(name)
    if refused is not None:
        with pytest.raises(srcgrad.UnsupportedError, match=refused) as refusal:
            srcgrad.hvp(module.program, argnums)(*module.inputs(), u)
        assert refusal.value.lineno is not None
        return
    gradient = srcgrad.grad(module.program, argnums=argnums)

    def slope(*args: Any) -> float:
        return fd.inner(gradient(*args), u)

    v, expected = fd.directional_difference(slope, module.inputs(), argnums, 2)
    product = srcgrad.hvp(module.program, argnums)(*module.inputs(), v)
    found = fd.inner(product, u)
    scale = max(abs(expected), abs(slope(*module.inputs())))
    assert abs(found - expected) <= 1e-5 * scale, f"hvp {found!r}, differences {expected!r}"


def random_direction(module: ModuleType, seed: int) -> tuple[Any, ...]:
    """A random direction for each of the arguments that are differentiated."""
    rng = np.random.default_rng(seed)
    inputs = module.inputs()
    return tuple(fd.random_direction(inputs[i], rng) for i in argnums_of(module))


def filled(tangent: Any, argument: Any) -> Any:
    """A tangent of an argument, with zeros for what doesn't move."""
    if isinstance(argument, (list, tuple)):
        items = [filled(None if tangent is None else tangent[i], a) for i, a in enumerate(argument)]
        return type(argument)(*items) if hasattr(argument, "_fields") else type(argument)(items)
    if isinstance(argument, dict):
        return {k: filled(None if tangent is None else tangent[k], a) for k, a in argument.items()}
    if tangent is None and isinstance(argument, np.ndarray):
        return np.zeros_like(argument)
    if tangent is None and isinstance(argument, float):
        return 0.0
    return tangent if tangent is not None else argument


def test_what_is_generated_is_always_the_same() -> None:
    program, args = mlp_adam_training.program, mlp_adam_training.inputs()
    made = [stages(program, *args, argnums=mlp_adam_training.ARGNUMS) for _ in range(3)]
    assert all(each == made[0] for each in made)
