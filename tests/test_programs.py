"""The corpus in tests/programs, unmodified, against finite differences."""

import copy

import numpy as np
import pytest

import srcgrad
from srcgrad.inspect.stages import stages
from tests.programs import finite_differences as fd
from tests.programs import mlp_adam_training

NAMES = list(fd.names())
DIRECTIONS = (0, 1, 2)
TOLERANCE = 1e-6


def is_array_like(leaf):
    return isinstance(leaf, (np.ndarray, np.generic))


def assert_same_leaf(before, after):
    if is_array_like(before):
        assert type(before) is type(after)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    elif not callable(before):
        assert before == after


def assert_unchanged(args, before):
    """The caller's arguments are what they were, bit for bit."""
    fd.map_tree(assert_same_leaf, before, args)


def assert_like_argument(argument, gradient):
    """A gradient has the shape and the dtype of its argument, leaf by leaf."""
    if not fd.is_differentiable(argument):
        return
    assert np.shape(gradient) == np.shape(argument)
    if isinstance(argument, np.ndarray):
        assert gradient.dtype == argument.dtype


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_right(name):
    module = fd.load(name)
    argnums = getattr(module, "ARGNUMS", (0,))
    args = module.inputs()
    before = copy.deepcopy(args)
    gradients = srcgrad.grad(module.program, argnums=argnums)(*args)
    assert_unchanged(args, before)
    for argnum, gradient in zip(argnums, gradients, strict=True):
        fd.map_tree(assert_like_argument, args[argnum], gradient)
    for seed in DIRECTIONS:
        direction, expected = fd.directional_difference(module.program, args, argnums, seed)
        found = fd.inner(gradients, direction)
        assert fd.relative_error(found, expected) < TOLERANCE, (
            f"{name}, direction {seed}: gradient {found!r}, finite differences {expected!r}"
        )


@pytest.mark.parametrize("name", NAMES)
def test_value_is_that_of_the_program(name):
    module = fd.load(name)
    argnums = getattr(module, "ARGNUMS", (0,))
    args = module.inputs()
    before = copy.deepcopy(args)
    value, gradients = srcgrad.value_and_grad(module.program, argnums=argnums)(*args)
    assert_unchanged(args, before)
    assert len(gradients) == len(argnums)
    assert value == pytest.approx(module.program(*before), rel=1e-12, abs=0.0)


def test_what_is_generated_is_always_the_same():
    program, args = mlp_adam_training.program, mlp_adam_training.inputs()
    made = [stages(program, *args, argnums=mlp_adam_training.ARGNUMS) for _ in range(5)]
    assert all(each == made[0] for each in made)
