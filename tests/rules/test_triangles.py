"""Functions that read one triangle of a matrix: the other one may hold anything."""

import numpy as np
import pytest
from scipy import linalg, stats

import srcgrad
import srcgrad.testing

RNG = np.random.default_rng(5)
ROOT = RNG.normal(size=(3, 3))
POSITIVE = ROOT @ ROOT.T + 3 * np.eye(3)
GARBAGE = RNG.normal(size=(3, 3))
B = RNG.normal(size=(3, 2))
W = RNG.normal(size=(3, 3))
IN_UNIFORM = np.array([0.3, -0.2, 0.5])


def weighted(x):
    return np.sum(W * x)


def spectral(w, v):
    """What doesn't depend on the signs of the eigenvectors."""
    return weighted(v @ np.diag(np.exp(0.1 * w)) @ v.conj().T)


LOWER = {
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a) * [1.0, 2.0, 3.0]),
    "eigh": lambda a: spectral(*np.linalg.eigh(a)),
    "cholesky": lambda a: weighted(np.linalg.cholesky(a)),
    "pinv": lambda a: weighted(np.linalg.pinv(a, hermitian=True)),
    "svd": lambda a: np.sum(np.linalg.svd(a, compute_uv=False, hermitian=True) ** 3),
    "scipy eigh": lambda a: spectral(*linalg.eigh(a)),
    "scipy eigvalsh": lambda a: np.sum(linalg.eigvalsh(a) * [1.0, 2.0, 3.0]),
    "scipy cholesky": lambda a: weighted(linalg.cholesky(a, lower=True)),
    "pinvh": lambda a: weighted(linalg.pinvh(a)),
    "solve, symmetric": lambda a: np.sum(linalg.solve(a, B, lower=True, assume_a="sym") ** 2),
    "solve, positive": lambda a: np.sum(linalg.solve(a, B, lower=True, assume_a="pos") ** 2),
    "generalised": lambda a: np.sum(linalg.eigvalsh(POSITIVE + W, a) * [1.0, 2.0, 3.0]),
    "normal": lambda a: stats.multivariate_normal.logpdf(IN_UNIFORM, None, a),
}
UPPER = {
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a, "U") * [1.0, 2.0, 3.0]),
    "eigh": lambda a: spectral(*np.linalg.eigh(a, "U")),
    "scipy eigh": lambda a: spectral(*linalg.eigh(a, lower=False)),
    "scipy cholesky": lambda a: weighted(linalg.cholesky(a)),
    "pinvh": lambda a: weighted(linalg.pinvh(a, lower=False)),
    "solve, symmetric": lambda a: np.sum(linalg.solve(a, B, assume_a="sym") ** 2),
    "solve, positive": lambda a: np.sum(linalg.solve(a, B, assume_a="pos") ** 2),
}
CALLS = [
    pytest.param(f, part, other, id=f"{name}, {which}")
    for which, table, part, other in (
        ("lower", LOWER, np.tril, np.triu), ("upper", UPPER, np.triu, np.tril)
    )
    for name, f in table.items()
]  # fmt: skip


@pytest.mark.parametrize(("f", "part", "other"), CALLS)
@pytest.mark.parametrize("filled", ["both", "one", "garbage"])
def test_one_triangle_is_read(f, part, other, filled):
    x = {
        "both": POSITIVE,
        "one": part(POSITIVE),
        "garbage": part(POSITIVE) + other(GARBAGE, 1 if part is np.tril else -1),
    }[filled]
    srcgrad.testing.check_grads(f, (x,), order=2, rtol=1e-4)
    gradient = srcgrad.grad(f)(x)
    np.testing.assert_allclose(gradient, part(gradient), atol=1e-14)
    np.testing.assert_allclose(gradient, srcgrad.grad(f)(POSITIVE), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", ["eigvalsh", "eigh", "cholesky"])
def test_of_a_complex_matrix(name):
    x = POSITIVE + 1j * (GARBAGE - GARBAGE.T)
    f = LOWER[name]
    srcgrad.testing.check_grads(lambda re, im: np.real(f(re + 1j * im)) * 1.0,
                                (x.real, np.tril(x.imag)), order=1)  # fmt: skip


def test_a_program_that_fills_one_triangle():
    def largest(q):
        k = np.zeros((4, 4))
        k[0, 0], k[1, 1], k[2, 2], k[3, 3] = q[0] - q[1], q[1], q[2], q[0] + q[3]
        k[1, 0] = q[1] + q[0]
        k[2, 0], k[2, 1] = q[2] * q[0], q[1] - q[3]
        k[3, 0], k[3, 1], k[3, 2] = q[0] * q[3], q[2] ** 2, q[1] * q[2]
        values, vectors = np.linalg.eigh(k)
        v = vectors[:, np.argmax(values)]
        return np.sum(np.outer(v, v) * np.arange(16.0).reshape(4, 4))

    srcgrad.testing.check_grads(largest, (np.array([0.7, -0.4, 0.9, 0.3]),), order=2)
