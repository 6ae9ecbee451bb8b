"""Sparse Jacobians and Hessians: colourings, recovery, and patterns that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from srcgrad import hessian, jacobian, jacobian_sparsity
from srcgrad.sparse import coloring, pattern_of, star_coloring


def patterns() -> list[Any]:
    rng = np.random.default_rng(0)
    n = 12
    arrow = np.eye(n)
    arrow[0] = arrow[:, 0] = 1
    band = sum(np.eye(n, k=k) for k in (-2, -1, 0, 1, 2))
    return [np.eye(n), band, arrow, rng.uniform(size=(n, n)) < 0.2, np.zeros((n, n))]


@pytest.mark.parametrize("pattern", patterns())
def test_columns_of_a_colour_share_no_row(pattern: Any) -> None:
    colors = coloring(pattern_of(pattern))
    for color in set(colors):
        assert np.all((pattern[:, colors == color] != 0).sum(axis=1) <= 1)


@pytest.mark.parametrize("pattern", patterns())
def test_star_colourings_recover(pattern: Any) -> None:
    pattern = (pattern + pattern.T != 0) | np.eye(len(pattern), dtype=bool)
    weights = np.random.default_rng(1).normal(size=pattern.shape)
    weights = np.where(pattern, weights + weights.T, 0.0)

    def f(x: Any) -> Any:
        return 0.5 * x @ weights @ x + np.sum(x**4)

    x = np.linspace(-1, 1, len(pattern))
    found = hessian(f, sparsity=pattern)(x)
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), weights + np.diag(12 * x**2), atol=1e-12)


def test_few_directions() -> None:
    n = 200
    tridiagonal = sparse.diags_array([1.0, 1.0, 1.0], offsets=(-1, 0, 1), shape=(n, n))
    assert coloring(pattern_of(tridiagonal)).max() + 1 == 3
    arrow = np.eye(n)
    arrow[0] = arrow[:, 0] = 1
    assert star_coloring(pattern_of(arrow)).max() + 1 == 2
    assert coloring(pattern_of(arrow)).max() + 1 == n


def stencil(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] - 2 * x[1:-1] ** 2 + x[2:] * x[1:-1]
    return y


@pytest.mark.parametrize("n", [5, 40])
def test_of_a_stencil(n: int) -> None:
    x = np.random.default_rng(2).normal(size=n)
    pattern = jacobian_sparsity(stencil, x)
    assert pattern.nnz == 3 * (n - 2)
    found = jacobian(stencil, sparsity=pattern)
    np.testing.assert_allclose(found(x).toarray(), jacobian(stencil)(x), atol=1e-14)
    assert found._colors.max() + 1 == 3
    assert "def jvps_stencil(x, t_x, count):" in found.source


def test_by_rows() -> None:
    """Few rows that are full: one direction of reverse mode for each."""

    def f(x: Any) -> Any:
        return np.array([np.sum(x**2), np.prod(x)])

    x = np.linspace(1, 2, 7)
    found = jacobian(f, sparsity=np.ones((2, 7)))
    np.testing.assert_allclose(found(x).toarray(), jacobian(f)(x), rtol=1e-12)
    assert "def vjps_f(x, d_out, count):" in found.source


def test_matrices_count_as_their_numbers() -> None:
    def f(x: Any) -> Any:
        return x.T * 3.0

    x = np.ones((2, 3))
    matrix = jacobian(f, sparsity=jacobian_sparsity(f, x))(x)
    np.testing.assert_allclose(matrix.toarray(), jacobian(f)(x).reshape(6, 6))


def test_a_wrong_pattern_is_noticed() -> None:
    x = np.linspace(1, 2, 6)
    with pytest.raises(
        ValueError, match="entries that aren't in the pattern, in row 1 for example"
    ):
        jacobian(stencil, sparsity=np.eye(6))(x)
    with pytest.raises(ValueError, match=r"the pattern has 5 columns, but argument 'x' is 6 numb"):
        jacobian(stencil, sparsity=np.eye(5))(x)
    with pytest.raises(ValueError, match=r"the pattern has 7 rows, but the result 6 numbers"):
        jacobian(stencil, sparsity=np.ones((7, 6)))(x)
    with pytest.raises(ValueError, match="the pattern of a Hessian must be square"):
        hessian(lambda x: x.sum(), sparsity=np.ones((2, 3)))
    with pytest.raises(ValueError, match="sparsity must be a matrix"):
        jacobian(stencil, sparsity=np.ones(6))
    with pytest.raises(TypeError, match="argnums must not be a tuple"):
        jacobian(stencil, (0,), sparsity=np.eye(6))
