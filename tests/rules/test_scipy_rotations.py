"""Rotations, and the older transforms: values, reverse, forward and second order."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

from .expressions import check, function

pytest.importorskip("scipy")

from scipy import fftpack
from scipy.sparse import csgraph
from scipy.spatial.transform import Rotation, Slerp

R = np.random.default_rng(0)
V, M = R.normal(size=3), R.normal(size=(4, 3))
QUATERNIONS = R.normal(size=(4, 4))
ONE = Rotation.from_rotvec([0.3, -0.2, 0.5])
TWO = Rotation.from_rotvec(np.arange(6.0).reshape(2, 3) / 5)
MATRIX = Rotation.from_rotvec(V).as_matrix()
NAMES = {"R": Rotation, "Slerp": Slerp, "ONE": ONE, "TWO": TWO}

EXPRESSIONS = [
    ("R.from_rotvec(x).as_matrix()", V),
    ("R.from_rotvec(x).as_matrix()", 0 * V),
    ("R.from_rotvec(x, degrees=True).apply(y)", 30 * V, M),
    ("R.from_rotvec(x).apply(y, inverse=True)", V, V[::-1].copy()),
    ("R.from_rotvec(x).apply(y)", M, V),
    ("R.from_rotvec(x).apply(y)", M, M + 1),
    ("R.from_quat(x).as_matrix()", QUATERNIONS[0]),
    ("R.from_quat(x, scalar_first=True).as_rotvec()", QUATERNIONS),
    ("R.from_rotvec(x).as_rotvec()", 0 * V),
    ("R.from_rotvec(x).as_rotvec(degrees=True)", M * 1e-4),
    ("R.from_matrix(x).as_quat()", MATRIX),
    ("R.from_matrix(x).as_quat()", MATRIX + 0.1 * M[:3]),
    ("R.from_matrix(x).as_rotvec()", np.stack([MATRIX, MATRIX.T, MATRIX @ MATRIX])),
    ("(R.from_rotvec(x) * R.from_rotvec(y)).as_quat(canonical=True)", V, M),
    ("(ONE * R.from_rotvec(x)).as_quat()", V),
    ("(R.from_rotvec(x) * ONE).as_quat(scalar_first=True)", V),
    ("(R.from_rotvec(x).inv() * TWO).as_matrix()", V),
    ("ONE.apply(x)", M),
    ("TWO.apply(x, inverse=True)", V),
    ("(TWO[1] * R.from_rotvec(x)).magnitude()", V),
    ("R.from_mrp(x).as_mrp()", M),
    ("(R.from_rotvec(x) ** 2.5).as_quat()", V),
    ("(R.from_rotvec(x) ** y).as_quat()", V, 1.3),
    ("R.from_euler('z', x).as_matrix()", 0.4),
    ("R.from_euler('z', [x], degrees=True).as_matrix()", 40.0),
    ("R.concatenate([R.from_rotvec(x), R.from_rotvec(y)]).as_quat()", V, M),
    ("R.from_rotvec(x).mean().as_matrix()", M / 3),
    ("R.from_rotvec(x).mean(weights=y).as_matrix()", M / 3, np.arange(1.0, 5)),
    ("np.stack([r.as_quat() for r in R.from_rotvec(x)[1:3]])", M),
    ("R.align_vectors(x, y)[0].as_matrix()", M, M[::-1] + 1),
    ("R.align_vectors(x, y)[1]", M, M[::-1] + 1),
    ("R.align_vectors(x, y, np.arange(1.0, 5))[0].as_rotvec()", M, M + 0.3 * M[::-1]),
    ("Slerp([0, 1, 2, 3], R.from_rotvec(x))(y).as_quat()", M / 3, np.array([0.5, 1.2, 2.9])),
    ("Slerp([0, 1, 2, 3], R.from_rotvec(x))(y).as_quat()", M / 3, 0.7),
    ("Slerp([0, 1], TWO)(x).as_matrix()", 0.3),
]
for _seq in ("xyz", "ZYX", "zxz", "XYX", "yx", "YZ", "xzy"):
    EXPRESSIONS.append((f"R.from_euler({_seq!r}, x).as_quat()", M[:, : len(_seq)].copy()))
    if len(_seq) == 3:
        EXPRESSIONS.append((f"R.from_rotvec(x).as_euler({_seq!r})", M))
        EXPRESSIONS.append((f"(TWO * R.from_rotvec(x)).as_euler({_seq!r}, True)", V))


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=[case[0] for case in EXPRESSIONS])
def test_rotations(number: int) -> None:
    """Second derivatives of every other one."""
    check(*EXPRESSIONS[number], second=number % 2 == 0, **NAMES)


def test_a_rotation_is_a_rotation() -> None:
    def program(x):
        r = Rotation.from_rotvec(x)
        assert isinstance(r, Rotation) and r.single
        return np.sum(r.apply([1.0, 2.0, 3.0]))

    value, gradient = srcgrad.value_and_grad(program)(V)
    assert value == pytest.approx(program(V)) and gradient.shape == (3,)


def test_the_motion_of_a_camera_is_found() -> None:
    points = R.normal(size=(20, 3)) + np.array([0, 0, 5])
    true = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.2])
    seen = Rotation.from_rotvec(true[:3]).apply(points) + true[3:]

    def residuals(pose):
        return np.ravel(Rotation.from_rotvec(pose[:3]).apply(points) + pose[3:] - seen)

    pose = np.zeros(6)
    for jacobian in (srcgrad.jacfwd(residuals), srcgrad.jacrev(residuals)) * 3:
        pose = pose - np.linalg.lstsq(jacobian(pose), residuals(pose), None)[0]
    np.testing.assert_allclose(pose, true, atol=1e-9)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("R.random().apply(x)", "its result is random"),
        ("R.from_rotvec(x).reduce().as_quat()", "use from_euler"),
        ("R.from_davenport([0, 0, 1], 'e', x[0]).as_quat()", "use from_euler"),
        ("csgraph.shortest_path(np.outer(x, x))", "add the weights along it"),
        ("fftpack.hilbert(x)", "multiply the Fourier transform"),
    ],
)
def test_what_is_refused(expression: str, message: str) -> None:
    f = function(expression, 1, **NAMES, csgraph=csgraph, fftpack=fftpack)
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(V)


def test_one_pair_of_vectors_is_refused() -> None:
    def program(x):
        return np.sum(Rotation.align_vectors([[1.0, 0.0, 0.0]], x)[0].as_matrix() * MATRIX)

    with pytest.raises(ValueError, match="one pair of vectors"):
        srcgrad.grad(program)(V[None])


def test_which_nodes_are_connected_is_a_step() -> None:
    def program(x):
        return csgraph.connected_components(np.outer(x, x) > 0.5)[0] * np.sum(x)

    assert srcgrad.grad(program)(np.ones(3)).tolist() == [1, 1, 1]


X, Y = R.normal(size=6), R.normal(size=(4, 5))
TRANSFORMS = [
    *("fp.fft(x)", "fp.ifft(x, 8)", "fp.rfft(x)", "fp.rfft(x, 5)", "fp.irfft(x)", "fp.irfft(x, 9)"),
    *("fp.irfft(fp.rfft(x) ** 2)", "fp.rfft(y, axis=0)", "fp.irfft(y)", "fp.irfft(y, 3, 0)"),
    *("fp.fftn(y)", "fp.fft2(y)", "fp.ifft2(y, (3, 3))", "fp.ifftn(y, axes=(1,))"),
    *("fp.dctn(y)", "fp.idctn(y)", "fp.dstn(y, 3)", "fp.idstn(y, 2, norm='ortho')"),
    *(
        f"fp.{name}(y, {kind}, norm={norm!r})"
        for name in ("dct", "idct", "dst", "idst")
        for kind in (1, 2, 3, 4)
        for norm in (None, "ortho")
    ),
]


@pytest.mark.parametrize("expression", TRANSFORMS)
def test_older_transforms(expression: str) -> None:
    of_vector = "(x" in expression
    check(
        expression if of_vector else expression.replace("(y", "(x"),
        X if of_vector else Y,
        fp=fftpack,
    )
