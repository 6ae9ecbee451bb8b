"""Of which class an object is where one of srcgrad's classes stands in the place of a library's."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

import srcgrad

pytest.importorskip("scipy")

from numpy.polynomial import Chebyshev, Polynomial
from scipy import interpolate, optimize, sparse, stats
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from srcgrad.testing import check_grads

X = np.array([1.0, 2.0, 3.0, 1.5, 2.5])
V = np.array([1.0, 2.0, 3.0, 4.0])
Point = collections.namedtuple("Point", "x y")
NAMES = {
    "Point": Point,
    "np": np, "P": (np.array([0, 1, 2, 0]), np.array([0, 1, 2, 2])), "M": np.diag(V[:3]),
    "xs": np.arange(5.0), "OUTER": sparse.csc_matrix(np.eye(3)), "sparse": sparse, "stats": stats,
    "optimize": optimize, "interpolate": interpolate, "Polynomial": Polynomial,
    "Chebyshev": Chebyshev, "Rotation": Rotation,
}  # fmt: skip

MADE = [
    "csr_matrix((v, P), shape=(3, 3))", "csc_matrix((v, P), shape=(3, 3))",
    "coo_matrix((v, P), shape=(3, 3))", "csr_array((v, P), shape=(3, 3))",
    "coo_array((v, P), shape=(3, 3))", "dia_matrix((v[None, :3], [0]), shape=(3, 3))",
]  # fmt: skip
DERIVED = [
    "A", "-A", "2 * A", "A / 2", "A.T", "A.copy()", "A.multiply(2.0)", "A**2", "A.tocsr()", "A @ A",
    "A.tocsc()", "A.tocoo()", "A.asformat('csr')", "A + A", "A - A", "A.multiply(A)", "A.T @ A",
    "A.tocsc() + A.tocsr()", "sparse.diags(v[:3]) + A", "sparse.diags(v[:3]) - A", "A.toarray()",
    "A + sparse.eye(3)", "sparse.vstack([A, A])", "sparse.hstack([A, A], format='csc')", "A @ M",
    "sparse.block_diag([A, A])", "sparse.kron(A, A, format='csr')", "sparse.csc_matrix(A)",
    "sparse.csr_array(A)", "sparse.eye(3, format='csr')", "sparse.identity(3)", "OUTER.T",
    "sparse.diags([v[:3]], [0], format='csr')", "sparse.diags_array(v[:3])",
    "sparse.spdiags([v[:3], v[1:]], [0, 1], 3, 3)", "sparse.kronsum(A, A)", "sparse.tril(A)",
    "sparse.bmat([[A, None], [A, A]])", "sparse.bmat([[A, A]])", "sparse.triu(A, 1, format='csr')",
    "sparse.bmat([[A, A], [A, A]], format='csc')", "sparse.kronsum(A, A, 'csc')",
    *(["sparse.block_array([[A], [A]])"] if hasattr(sparse, "block_array") else []),
]  # fmt: skip
SLICED = ["A[[0]]", "A[0:2]", "A[:, [0]]", "A[np.ix_([0], [1])]"]


def asking(statements: str, test: str):
    """A function whose value depends on what a test says."""
    source = f"def f(v):\n    {statements}\n    if {test}:\n        return np.sum(v)\n"
    source += "    return 3.0 * np.sum(v)\n"
    namespace = dict(NAMES)
    exec(source, namespace)
    return namespace["f"], source


def check(statements: str, test: str, x) -> None:
    f, source = asking(statements, test)
    value, gradient = srcgrad.value_and_grad(f, source=source)(x)
    assert value == f(x), test
    np.testing.assert_array_equal(gradient, np.full(len(x), value / np.sum(x)))


@pytest.mark.parametrize("made", MADE)
def test_formats_of_sparse_matrices(made: str) -> None:
    derived = DERIVED if "dia" in made or "coo" in made else [*DERIVED, *SLICED]
    for one in derived[:: 1 if made == MADE[0] else 3]:
        statements = f"A = sparse.{made}; B = {one}"
        B = eval(one, NAMES | {"A": eval(f"sparse.{made}", NAMES | {"v": V}), "v": V})
        classes = "spmatrix csr_matrix csc_array".split() if one != "A @ M" else []
        name = ("sparse." if sparse.issparse(B) else "np.") + type(B).__name__
        tests = [f"isinstance(B, {name})", *(f"isinstance(B, sparse.{c})" for c in classes)]
        if one != "OUTER.T":
            tests += [f"type(B) is {name}", f"B.__class__ is {name}"]
            tests += [f"B.format == {B.format!r}"] if sparse.issparse(B) else []
        for test in tests:
            check(statements, test, V)


def test_a_format_that_is_not_followed_is_refused() -> None:
    for one in ("sparse.kron(A, A)", "A + OUTER", "A if v[0] > 0.0 else A.tocoo()"):
        for test in ("type(B) is sparse.csr_matrix", "isinstance(B, sparse.coo_matrix)"):
            f, source = asking(f"A = sparse.{MADE[0]}; B = {one}", test)
            with pytest.raises(srcgrad.UnsupportedError):
                srcgrad.grad(f, source=source)(V)


def test_a_solver_for_the_format() -> None:
    """As in finite element programs that take dense matrices and sparse ones."""

    def solved(matrix, right):
        if type(matrix) is sparse.csr_matrix:
            return spsolve(matrix, right)
        if type(matrix) is np.ndarray:
            return np.linalg.solve(matrix, right)
        raise TypeError("the matrix should be an array or a csr_matrix")

    def f(v):
        rows, columns, values = [], [], []
        for i, j in itertools.product(range(3), range(3)):
            rows.append(i)
            columns.append(j)
            values.append(v[i] * v[j] + (5.0 if i == j else 0.0))
        stiffness = sparse.coo_matrix((values, (rows, columns)), shape=(3, 3)).tocsr()
        return np.sum(solved(stiffness, v[1:]) ** 2) + np.sum(solved(stiffness.toarray(), v[:3]))

    check_grads(f, (V,), order=1)
    assert srcgrad.value_and_grad(f)(V)[0] == pytest.approx(f(V), rel=1e-14)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("interpolate.CubicSpline(xs, v)", "interpolate.CubicSpline"),
        ("interpolate.PchipInterpolator(xs, v)", "interpolate.PchipInterpolator"),
        ("interpolate.CubicSpline(xs, v).derivative()", "interpolate.CubicSpline"),
        ("interpolate.interp1d(xs, v)", "interpolate.interp1d"),
        ("interpolate.make_interp_spline(xs, v)", "interpolate.BSpline"),
        ("interpolate.RegularGridInterpolator((xs,), v)", "interpolate.RegularGridInterpolator"),
        ("np.poly1d(v).deriv()", "np.poly1d"),
        ("Polynomial(v).integ()", "Polynomial"),
        ("Chebyshev(v)", "Chebyshev"),
        ("stats.gaussian_kde(v)", "stats.gaussian_kde"),
        ("Rotation.from_rotvec(v[:3])", "Rotation"),
        ("np.broadcast(v, v)", "np.broadcast"),
    ],
)
def test_what_libraries_make(made: str, name: str) -> None:
    for other in (name, "interpolate.PPoly", "Polynomial", "np.poly1d", "tuple", "np.ndarray"):
        for test in (f"isinstance(A, {other})", f"type(A) is {other}", f"A.__class__ is {other}"):
            check(f"A = {made}", test, X)


def test_one_of_several_classes() -> None:
    """Whichever it is of them: what all of them are, or none is, is known."""
    found = "A = optimize.root_scalar(lambda x: x - v[0], bracket=(-9, 9))"
    check(found, "isinstance(A, optimize.OptimizeResult)", X)
    check(found, "isinstance(A, (dict, list))", X)
    check("A = stats.norm(v[0], v[1])", "isinstance(A, stats.rv_continuous)", X)
    check("A = stats.linregress(xs, v)", "isinstance(A, tuple)", X)
    check("A = interpolate.UnivariateSpline(xs, v, s=0)", "isinstance(A, interpolate.BSpline)", X)
    f, source = asking(found, "isinstance(A, optimize.RootResults)")
    with pytest.raises(srcgrad.UnsupportedError, match="isn't known when compiling"):
        srcgrad.grad(f, source=source)(X)


def test_attributes_that_only_the_library_has() -> None:
    spline = "A = interpolate.CubicSpline(xs, v)"
    for name in ("roots", "derivative", "toarray", "x"):
        check(spline, f"hasattr(A, {name!r})", X)
    for test in ("hasattr(A, 'indptr')", "getattr(A, 'indptr', None) is None"):
        f, source = asking(f"A = sparse.{MADE[0]}", test)
        with pytest.raises(srcgrad.UnsupportedError):
            srcgrad.grad(f, source=source)(V)


def test_a_matrix_in_another_format_is_a_copy() -> None:
    def f(v):
        diagonal = sparse.diags(v)
        converted = diagonal.tocsr()
        converted *= 2.0
        same = converted.tocsr()
        same *= v[0]
        return diagonal.sum() + 0.1 * converted.sum()

    check_grads(f, (X,), order=1)
    assert srcgrad.value_and_grad(f)(X)[0] == pytest.approx(f(X), rel=1e-14)


def test_attributes_that_only_the_one_in_its_place_has() -> None:
    matrix = f"A = sparse.{MADE[0]}"
    for test in ("hasattr(A, 'values')", "getattr(A, 'columns', None) is None"):
        check(matrix, test, V)
    check("A = np.poly1d(v)", "hasattr(A, 'values')", X)


@pytest.mark.parametrize(
    "made", ["Point(v[0], v[1])", "np.linalg.svd(M * v[0])", "np.poly1d(v)", "[v]", "v", "{'a': v}"]
)
def test_what_only_classes_have(made: str) -> None:
    """An attribute of the class of a class isn't one of its objects."""
    for name in ("__call__", "__name__", "mro", "__mro__", "__bases__", "__or__", "nothing"):
        check(f"A = {made}", f"hasattr(A, {name!r})", X)
        check(f"A = {made}", f"getattr(A, {name!r}, None) is None", X)


def test_what_is_asked_of_a_list_of_arrays() -> None:
    """Which needn't go together, as they must where an array is made of them."""
    for test in ("np.isscalar(A)", "sparse.issparse(A)", "sparse.isspmatrix_csr(A)"):
        check("A = [v, v[1:]]", test, X)
        check("A = (v, v[1:])", test, X)
