"""Each hand-written gradient of the benchmark against differences of its function."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from benchmarks.workloads import WORKLOADS

WITH_HVP = [w for w in WORKLOADS if w.hvp_by_hand is not None]


def by_name(workloads):
    return pytest.mark.parametrize("workload", workloads, ids=lambda w: w.name)


def gradients(workload, args):
    """The hand-written gradient, as a tuple of the arguments' numbers and a tuple of arrays."""
    gradient = workload.gradient_by_hand(*args)
    if isinstance(workload.argnums, int):
        return (workload.argnums,), (gradient,)
    return workload.argnums, gradient


def along(f, args, argnums, directions, step):
    """The derivative of ``f(*args)`` along a direction, to fourth order in the step."""

    def moved(t):
        new = list(args)
        for i, direction in zip(argnums, directions, strict=True):
            new[i] = args[i] + t * direction
        return f(*new)

    near = (moved(step) - moved(-step)) / (2 * step)
    far = (moved(2 * step) - moved(-2 * step)) / (4 * step)
    return (4 * near - far) / 3


@by_name(WORKLOADS)
def test_each_element_at_the_smallest_size(workload):
    args = workload.make_inputs(workload.sizes["tiny"])
    argnums, computed = gradients(workload, args)
    scale = max(np.abs(g).max() for g in computed)
    for i, gradient in zip(argnums, computed, strict=True):
        assert gradient.shape == args[i].shape
        assert gradient.dtype == args[i].dtype
        expected = np.empty_like(gradient)
        for index in np.ndindex(gradient.shape):
            direction = np.zeros_like(gradient)
            direction[index] = 1
            expected[index] = along(workload.function, args, (i,), (direction,), 1e-4)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9 * scale)


@by_name(WORKLOADS)
def test_one_direction_at_the_size_of_the_cache(workload):
    args = workload.make_inputs(workload.sizes["cache"])
    argnums, computed = gradients(workload, args)
    # along the gradient nothing cancels, and the noise makes elements differ
    rng = np.random.default_rng(0)
    directions = [g * rng.uniform(0.5, 1.5, g.shape) for g in computed]
    length = np.sqrt(sum((d * d).sum() for d in directions))
    directions = [d / length for d in directions]
    expected = along(workload.function, args, argnums, directions, 1e-5)
    product = sum((g * d).sum() for g, d in zip(computed, directions, strict=True))
    assert product == pytest.approx(expected, rel=1e-5)


@by_name(WITH_HVP)
def test_hessian_vector_products(workload):
    args = workload.make_inputs(workload.sizes["tiny"])
    i = workload.argnums
    v = np.random.default_rng(0).normal(size=args[i].shape)
    expected = along(workload.gradient_by_hand, args, (i,), (v,), 1e-4)
    np.testing.assert_allclose(workload.hvp_by_hand(*args, v), expected, rtol=1e-7, atol=1e-8)


@by_name(WORKLOADS)
def test_arguments_are_not_changed(workload):
    args = workload.make_inputs(workload.sizes["tiny"])
    before = copy.deepcopy(args)
    _, first = gradients(workload, args)
    workload.function(*args)
    _, again = gradients(workload, args)
    for x, y in zip((*args, *first), (*before, *again), strict=True):
        np.testing.assert_array_equal(x, y)


@by_name(WORKLOADS)
def test_inputs_are_the_same_each_time(workload):
    for x, y in zip(workload.make_inputs(20), workload.make_inputs(20), strict=True):
        np.testing.assert_array_equal(x, y)


def test_names_are_unique():
    names = [w.name for w in WORKLOADS]
    assert len(set(names)) == len(names)
    assert all(list(w.sizes) == ["tiny", "cache", "memory"] for w in WORKLOADS)
