"""Calls that name large numbers: samples of their operands are long enough to show what they do.

In short ones `np.diagonal(x, 30)` is empty, and a window of 50 doesn't fit.
"""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, ir
from srcgrad.analysis.inference import infer
from srcgrad.kinds import Array, Size
from tests.rules import expressions

VECTOR = np.random.default_rng(0).normal(size=120)
MATRIX = np.random.default_rng(1).normal(size=(45, 60))
MANY_AXES = np.random.default_rng(2).normal(size=(2, 3, 40, 2, 45))
SLIDING = "np.lib.stride_tricks.sliding_window_view"
CALLS = [
    ("np.diagonal(x, 30)", MATRIX),
    ("np.diag(x, -40)", MATRIX),
    ("np.diagonal(x, 30, 2, 4)", MANY_AXES),
    ("1e-9 * np.diff(x, n=37)", VECTOR),
    ("1e-9 * np.diff(x, n=37, axis=2)", MANY_AXES),
    ("np.split(x, [50, 90])[0]", VECTOR),
    ("np.split(x, [50, 90])[2]", VECTOR),
    ("np.split(x, [15, 30], axis=2)[1]", MANY_AXES),
    ("np.take(x, [100, 70])", VECTOR),
    ("np.take(x, 40, axis=0)", MATRIX),
    ("np.take(x, [30, 20], axis=2)", MANY_AXES),
    ("np.delete(x, 50)", VECTOR),
    ("np.delete(x, [30, 40], axis=1)", MATRIX),
    ("np.insert(x, 50, 1.5)", VECTOR),
    ("np.add.reduceat(x, [0, 50, 100])", VECTOR),
    ("np.partition(x, 100)", VECTOR),
    ("np.pad(x, 60, mode='reflect')", VECTOR),
    (f"{SLIDING}(x, 29)", VECTOR),
    (f"{SLIDING}(x, (15, 20))", MATRIX),
    (f"{SLIDING}(x, 35, axis=2)", MANY_AXES),
]
# what is made of it: each needs another thing known of its shape
USES = ["np.mean(y) ** 2", "np.sum(y**2, axis=-1)", "y * y.shape[0] + np.arange(y.shape[-1])"]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("call", "x"), CALLS, ids=[call for call, _ in CALLS])
def test_the_gradient_of_what_is_long(call: str, x: np.ndarray, use: str) -> None:
    f = expressions.function(f"(lambda y: {use})({call})", 1)
    direction = np.random.default_rng(3).normal(size=x.shape)

    def along(t: float) -> float:
        return float(f(x + t * direction))

    by_hand = (along(1e-5) - along(-1e-5)) / 2e-5
    assert np.isclose(np.vdot(grad(f)(x), direction), by_hand, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("rank", "offset"), [*((n, k) for n in (2, 4, 6) for k in (3, 30, 300)), (2, 300_000)]
)
def test_a_length_is_not_taken_for_zero(rank: int, offset: int) -> None:
    x = ir.Var("x", Array(np.dtype(float), tuple(Size(n) for n in range(rank))))
    kind = infer(np.diagonal, (x, ir.Const(offset), ir.Const(0), ir.Const(rank - 1)), {}).kind
    assert isinstance(kind, Array) and kind.shape is not None
    assert len(kind.shape) == rank - 1
    assert isinstance(kind.shape[-1], Size)
    assert kind.shape[:-1] == x.kind.shape[1:-1]
