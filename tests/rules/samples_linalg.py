"""Samples for linear algebra.

NumPy's functions of symmetric matrices read one triangle only, and vectors of factorisations may
be turned at will: such functions are tested as parts of others, which are registered here.
"""

import numpy as np

from srcgrad.rules.linalg import cholesky_adjoint, cofactors
from srcgrad.rules.matrices import divisible
from srcgrad.rules.registry import adjoint, lookup
from srcgrad.rules.spectral import solve_symmetric, unitary_factor

from .kit import case

rng = np.random.default_rng(4)


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def definite(*shape):
    x = r(*shape)
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1])


def low_rank(m, n, k):
    return r(m, k) @ r(k, n)


def adjoined(x):
    return np.conj(np.swapaxes(x, -1, -2))


def rule(function):
    return lookup(function).adjoint


SAMPLES = {}


def of_hermitian(function, shift=0, **options):
    """The function of the Hermitian part of its argument."""

    def composed(x):
        return function((x + adjoined(x)) / 2 + shift * np.eye(x.shape[-1]), **options)

    @adjoint(composed)
    def composed_adjoint(x, *, out, d_out):
        a = (x + adjoined(x)) / 2 + shift * np.eye(x.shape[-1])
        d_a = rule(function)(a, **options, out=out, d_out=d_out)
        assert np.allclose(d_a, np.tril(d_a)) or np.allclose(d_a, np.triu(d_a))
        return (d_a + adjoined(d_a)) / 2

    composed.__name__ = f"{function.__name__} of a Hermitian matrix"
    return composed


def then(function, last, last_adjoint, **options):
    """`last(*function(x))`, which does not depend on how LAPACK turns the vectors."""

    def composed(x):
        return last(*function(x, **options))

    @adjoint(composed)
    def composed_adjoint(x, *, out, d_out):
        inner = function(x, **options)
        return rule(function)(x, **options, out=inner, d_out=last_adjoint(*inner, d_out=d_out))

    composed.__name__ = f"{function.__name__} and then {last.__name__}"
    return composed


def u_vh(u, s, vh):
    k = s.shape[-1]
    return u[..., :k] @ vh[..., :k, :]


def u_vh_adjoint(u, s, vh, d_out):
    k = s.shape[-1]
    d_u, d_vh = np.zeros_like(u), np.zeros_like(vh)
    d_u[..., :k] = d_out @ np.swapaxes(vh[..., :k, :], -1, -2)
    d_vh[..., :k, :] = np.swapaxes(u[..., :k], -1, -2) @ d_out
    return d_u, None, d_vh


def u_squares(u, s, vh):
    """Projectors on the leading vectors and on those beyond the singular values."""
    k = s.shape[-1]
    return [u[..., :2] @ adjoined(u[..., :2]), u[..., k:] @ adjoined(u[..., k:])]


def u_squares_adjoint(u, s, vh, d_out):
    k = s.shape[-1]
    d_u = np.zeros_like(u)
    for part, d in zip((slice(None, 2), slice(k, None)), d_out, strict=True):
        w = u[..., part]
        d_u[..., part] += d @ np.conj(w) + np.conj(np.swapaxes(d, -1, -2) @ w)
    return d_u, None, None


def vh_squares(u, s, vh):
    k = s.shape[-1]
    return [adjoined(vh[..., :2, :]) @ vh[..., :2, :], adjoined(vh[..., k:, :]) @ vh[..., k:, :]]


def vh_squares_adjoint(u, s, vh, d_out):
    k = s.shape[-1]
    d_vh = np.zeros_like(vh)
    for part, d in zip((slice(None, 2), slice(k, None)), d_out, strict=True):
        w = vh[..., part, :]
        d_vh[..., part, :] += np.conj(w) @ d + np.conj(w @ np.swapaxes(d, -1, -2))
    return None, None, d_vh


def complement(q, r):
    """The projector on what the columns leave out."""
    k = r.shape[-1]
    return q[..., k:] @ adjoined(q[..., k:])


def complement_adjoint(q, r, d_out):
    k = r.shape[-1]
    d_q = np.zeros_like(q)
    w = q[..., k:]
    d_q[..., k:] = d_out @ np.conj(w) + np.conj(np.swapaxes(d_out, -1, -2) @ w)
    return d_q, None


def weighted(w, v):
    """V diag(1, 2, ...) V^H."""
    return (v * np.arange(1, w.shape[-1] + 1)) @ adjoined(v)


def weighted_adjoint(w, v, d_out):
    scale = np.arange(1, w.shape[-1] + 1)
    return None, (d_out @ np.conj(v) + np.conj(np.swapaxes(d_out, -1, -2) @ v)) * scale


def eigenvalues(x):
    """Their powers, which do not depend on their order."""
    w = np.linalg.eigvals(x)
    return [(w**2).sum(-1), (w**3).sum(-1)]


@adjoint(eigenvalues)
def eigenvalues_adjoint(x, *, out, d_out):
    w = np.linalg.eigvals(x)
    d_w = 2 * w * d_out[0][..., None] + 3 * w**2 * d_out[1][..., None]
    return rule(np.linalg.eigvals)(x, out=w, d_out=d_w)


def turned(w, v):
    """The vectors with a positive largest component: LAPACK may choose a negative one."""
    largest = np.take_along_axis(v, np.abs(v).argmax(-2)[..., None, :], -2).real
    return [w, v * np.sign(largest)]


def turned_adjoint(w, v, d_out):
    largest = np.take_along_axis(v, np.abs(v).argmax(-2)[..., None, :], -2).real
    return d_out[0], d_out[1] * np.sign(largest)


SQUARE = [case(r(3, 3)), case(r(1, 1)), case(r(2, 3, 3)), case(r(2, 1, 4, 4)), case(c(3, 3))]
WIDE_AND_TALL = [case(r(4, 3)), case(r(3, 4)), case(r(2, 4, 3)), case(r(2, 2, 3, 4))]
EMPTY = [case(r(0, 3, 3))]

SAMPLES[np.linalg.inv] = [*SQUARE, *EMPTY, case(r(0, 0))]
SAMPLES[np.linalg.pinv] = [
    *SQUARE,
    *WIDE_AND_TALL,
    case(c(4, 3)),
    case(c(2, 3, 4)),
    case(r(4, 3), rcond=1e-10),
]
SAMPLES[of_hermitian(np.linalg.pinv, hermitian=True)] = [*SQUARE]
SAMPLES[np.linalg.solve] = [
    case(r(3, 3), r(3)),
    case(r(3, 3), r(3, 2)),
    case(r(2, 3, 3), r(2, 3, 2)),
    case(r(2, 3, 3), r(1, 3, 2)),
    case(r(3, 3), r(2, 3, 2)),
    case(np.asfortranarray(r(3, 3)), r(3)),
    case(c(3, 3), r(3)),
    case(r(3, 3), c(3, 2)),
    case(r(3, 3), r(3, 0)),
]
if int(np.__version__.split(".")[0]) >= 2:
    SAMPLES[np.linalg.solve] += [
        case(r(2, 3, 3), r(3)),
        case(r(2, 3, 3), r(3, 2)),
        case(r(2, 3, 3), r(3, 1)),
    ]
else:
    SAMPLES[np.linalg.solve] += [case(r(2, 3, 3), r(2, 3))]
SAMPLES[np.linalg.lstsq] = [
    case(r(5, 3), r(5), rcond=None),
    case(r(5, 3), r(5, 2), rcond=None),
    case(r(3, 3), r(3), rcond=None),
    case(r(3, 5), r(3), rcond=None),
    case(r(3, 5), r(3, 2), rcond=None),
    case(c(5, 3), c(5, 2), rcond=None),
    case(c(3, 5), c(3), rcond=None),
    case(r(5, 1), r(5, 1), rcond=None),
]
SAMPLES[np.linalg.tensorsolve] = [
    case(r(2, 3, 6), r(2, 3)),
    case(r(2, 3, 2, 3), r(2, 3)),
    case(r(6, 2, 3), r(6)),
    case(r(2, 6, 3), r(6), (0, 2)),
    case(r(2, 3, 6), r(6), (1, 0)),
    case(c(4, 2, 2), c(4)),
]
SAMPLES[np.linalg.tensorinv] = [case(r(2, 3, 3, 2)), case(r(6, 2, 3), 1), case(c(4, 2, 2), ind=1)]
SAMPLES[np.linalg.det] = [
    *SQUARE,
    *EMPTY,
    case(r(0, 0)),
    case(np.array([[1.0, 2.0], [2.0, 4.0]])),
    case(np.arange(1.0, 10.0).reshape(3, 3)),
    case(np.diag([2.0, 3.0, 0.0])),
    case(np.zeros((2, 2))),
    case(np.zeros((3, 3))),
    case(np.stack([np.eye(3), np.ones((3, 3)), np.diag([0.0, 1.0, 0.0])])),
    case(low_rank(4, 4, 3)),
    case(r(20, 20), tolerance=1e-5),
    case(np.array([[1 + 1j, 2.0], [2 + 2j, 4.0]])),
]


def twice(a):
    """The cofactors, which the second derivative of a determinant differentiates."""
    return cofactors(a, np.linalg.det(a))


@adjoint(twice)
def twice_adjoint(a, *, out, d_out):
    return rule(cofactors)(a, np.linalg.det(a), out=out, d_out=d_out)[0]


SAMPLES[twice] = SAMPLES[np.linalg.det]
SAMPLES[cofactors] = []  # its second argument follows from the first: see above
SAMPLES[np.linalg.slogdet] = [*SQUARE, case(c(2, 3, 3))]
CHOLESKY = [
    *(case(r(3, 3)), case(r(1, 1)), case(r(2, 3, 3)), case(c(3, 3)), case(r(3, 2, 4, 4))),
    *(case(r(0, 0)), case(r(2, 0, 3, 3))),
]
SAMPLES[of_hermitian(np.linalg.cholesky, 9)] = CHOLESKY
if int(np.__version__.split(".")[0]) >= 2:
    SAMPLES[of_hermitian(np.linalg.cholesky, 9, upper=True)] = CHOLESKY


def factor_adjoint(a, d_factor):
    """What the second derivative of a Cholesky decomposition differentiates."""
    return cholesky_adjoint(np.tril(a) + 9 * np.eye(a.shape[-1]), d_factor)


@adjoint(factor_adjoint)
def factor_adjoint_adjoint(a, d_factor, *, out, d_out):
    factor = np.tril(a) + 9 * np.eye(a.shape[-1])
    d_a, d_d_factor = rule(cholesky_adjoint)(factor, d_factor, out=out, d_out=d_out)
    return np.tril(d_a), d_d_factor


SAMPLES[factor_adjoint] = [case(r(n, n), np.tril(r(n, n))) for n in (0, 1, 4)] + [
    case(r(2, 3, 3), np.tril(r(2, 3, 3)))
]
SAMPLES[cholesky_adjoint] = []  # its first argument is a triangle: see above
SAMPLES[np.linalg.qr] = [
    *(case(r(*shape), *mode) for shape in ((3, 3), (4, 3), (3, 4), (2, 4, 3), (2, 3, 4))
      for mode in ((), ("r",))),
    case(r(3, 4), "complete"),
    case(r(3, 3), mode="complete"),
    case(c(3, 3)),
    case(c(4, 3)),
    case(c(3, 4)),
    case(c(4, 3), "r"),
]  # fmt: skip
SAMPLES[then(np.linalg.qr, complement, complement_adjoint, mode="complete")] = [
    case(r(4, 2)),
    case(c(4, 2)),
    case(r(2, 4, 3)),
]
SAMPLES[of_hermitian(np.linalg.eigvalsh)] = [*SQUARE]
SAMPLES[of_hermitian(np.linalg.eigvalsh, UPLO="U")] = [*SQUARE]
SAMPLES[of_hermitian(np.linalg.eigh)] = [case(r(3, 3)), case(r(2, 3, 3)), case(r(4, 4))]
WEIGHTED = then(np.linalg.eigh, weighted, weighted_adjoint)
SAMPLES[of_hermitian(WEIGHTED)] = SQUARE
for function in (np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.eigh, WEIGHTED):
    SAMPLES[function] = [case(definite(1, 1))]  # what reads one triangle of larger ones is above
SAMPLES[np.linalg.eigvals] = [
    *SQUARE,
    case(np.array([[0.0, 1.0], [-1.0, 0.0]])),
    case(r(5, 5)),
    case(c(2, 4, 4)),
]
SAMPLES[eigenvalues] = [
    *SQUARE,
    case(r(150, 150) / 12, tolerance=1e-5),
    case(c(2, 20, 20)),
    case(np.diag([1.0, 2.0, 3.0])),
    case(np.eye(3)),
    case(np.kron(np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [-1.0, 0.0]]))),
]
SAMPLES[np.linalg.eig] = [case(np.array([[0.3, 1.0], [-1.2, 0.1]]))]
SAMPLES[then(np.linalg.eig, turned, turned_adjoint)] = [
    case(definite(3, 3)),
    case(r(5, 5)),
    case(r(2, 4, 4)),
    case(c(3, 3)),
    case(c(2, 3, 3)),
]
SAMPLES[np.linalg.svd] = [
    case(r(3, 3)),
    case(r(4, 3), False),
    case(r(3, 4), full_matrices=False),
    case(r(2, 3, 4), False),
    case(r(2, 4, 3), compute_uv=False),
    case(c(4, 3), compute_uv=False),
    case(r(3, 3), full_matrices=False),
]
SAMPLES[of_hermitian(np.linalg.svd, compute_uv=False, hermitian=True)] = [*SQUARE]
for options in ({}, {"full_matrices": False}):
    for last, last_adjoint in (
        (u_vh, u_vh_adjoint),
        (u_squares, u_squares_adjoint),
        (vh_squares, vh_squares_adjoint),
    ):
        SAMPLES[then(np.linalg.svd, last, last_adjoint, **options)] = [
            case(r(4, 3)),
            case(r(3, 4)),
            case(c(3, 3)),
            case(c(4, 3)),
            case(c(3, 4)),
            case(r(2, 5, 3)),
        ]
SAMPLES[then(np.linalg.svd, u_vh, u_vh_adjoint)] = [
    case(np.eye(3)),
    case(2 * np.eye(3) + 0j),
    case(np.diag([2.0, 2.0, 1.0])),
]
ORDERS = (None, 0, 1, 2, 3, 2.5, -1, -2, np.inf, -np.inf)
SAMPLES[np.linalg.norm] = [
    *(case(r(5), ord=ord) for ord in ORDERS),
    *(case(r(3, 4), ord=ord, axis=axis) for ord in ORDERS for axis in (0, -1)),
    *(case(c(2, 3), ord=ord, axis=1, keepdims=True) for ord in ORDERS),
    *(case(r(3, 4), ord=ord) for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    *(case(c(3, 4), ord=ord) for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    *(
        case(r(3, 4, 2), ord=ord, axis=axis, keepdims=keepdims)
        for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
        for axis in ((0, 1), (2, 0), (-1, -2))
        for keepdims in (False, True)
    ),
    case(r(2, 3, 4)),
    case(r(2, 3, 4), keepdims=True),
    case(0.7),
    case(r(3), None, (0,)),
    case(r(0)),
    case(np.asfortranarray(r(3, 4))[::-1]),
]
SAMPLES[np.linalg.cond] = [
    *(case(r(3, 3), p=p) for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")),
    *(case(r(2, 3, 3), p=p) for p in (None, 2, -2, 1, np.inf, "fro", "nuc")),
    case(r(4, 3)),
    case(c(3, 3), 1),
    case(c(3, 3)),
]
SAMPLES[np.linalg.matrix_rank] = [case(r(3, 3))]
if hasattr(np.linalg, "svdvals"):
    SAMPLES[np.linalg.svdvals] = [case(r(4, 3)), case(c(2, 3, 4))]
    SAMPLES[np.linalg.matrix_norm] = [
        case(r(2, 3, 4)),
        case(r(3, 4), ord="nuc"),
        case(r(2, 3, 4), ord=1, keepdims=True),
    ]
    SAMPLES[np.linalg.vector_norm] = [
        case(r(2, 3, 4)),
        case(r(2, 3, 4), axis=1),
        case(r(2, 3, 4), axis=(0, -1), ord=3),
        case(r(2, 3, 4), axis=(0, -1), ord=np.inf, keepdims=True),
        case(r(3), ord=1),
    ]
SAMPLES[unitary_factor] = [
    *(case(z(*shape)) for z in (r, c) for shape in ((3, 3), (4, 3), (2, 3, 4))),
]


def hermitian_solution(a, b):
    """The solution x of h x + x h = b, of the Hermitian part h of a."""
    return solve_symmetric(a + adjoined(a) + 6 * np.eye(a.shape[-1]), b)


@adjoint(hermitian_solution)
def hermitian_solution_adjoint(a, b, *, out, d_out):
    h = a + adjoined(a) + 6 * np.eye(a.shape[-1])
    d_h, d_b = rule(solve_symmetric)(h, b, out=out, d_out=d_out)
    return d_h + adjoined(d_h), d_b


SAMPLES[hermitian_solution] = [case(z(*s), z(*s)) for z in (r, c) for s in ((3, 3), (2, 3, 3))]
TALL = np.random.default_rng(3).normal(size=(2, 5, 2))
SAMPLES[np.linalg.qr] += [
    case(TALL[0], "complete"),
    case(TALL[0] + 1j * TALL[1], "complete"),
    case(TALL, mode="complete"),
    case(TALL[0] * np.array([[1, 1], [0, 1], [1, 1], [0, 1], [0, 0]]), "complete"),
]
UPPER = np.random.default_rng(5).normal(size=(2, 3, 3))
SAMPLES[divisible] = [case(np.triu(UPPER[0]) + np.eye(3)), case(UPPER + 2 * np.eye(3))]
