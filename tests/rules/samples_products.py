"""Samples for products."""

import operator

import numpy as np

from srcgrad.rules.einsum import adjoint_of_operand

from .kit import case

rng = np.random.default_rng(1)


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def fortran(*shape):
    return np.asfortranarray(r(*shape))


MATMUL = [
    case(r(4), r(4)),
    case(r(3, 4), r(4)),
    case(r(4), r(4, 3)),
    case(r(3, 4), r(4, 2)),
    case(fortran(3, 4), r(4, 2)[::-1]),
    case(r(3, 0), r(0, 2)),
    case(r(0, 3), r(3, 2)),
    case(r(2, 3, 0), r(0, 2)),
    case(r(2, 3, 0), r(0)),
    case(r(2, 3, 4), r(4)),
    case(r(2, 3, 4), r(4, 5)),
    case(r(5, 2, 3, 4), r(4, 5)),
    case(r(5, 2, 3, 4), r(4)),
    case(r(4), r(2, 4, 3)),
    case(r(4), r(5, 2, 4, 3)),
    case(r(3, 4), r(2, 4, 5)),
    case(r(2, 3, 4), r(2, 4, 5)),
    case(r(1, 3, 4), r(2, 4, 5)),
    case(r(2, 3, 4), r(1, 4, 5)),
    case(r(5, 1, 3, 4), r(2, 4, 5)),
    case(c(3, 4), c(4, 2)),
    case(c(3, 4), r(4)),
    case(r(2, 3, 4), c(4, 2)),
]

DOT = [
    *MATMUL[:13],
    case(0.7, r(3)),
    case(r(2, 3), 0.7),
    case(0.7, 1.3),
    case(np.array(0.7), r(2)),
    case(r(4), r(2, 4, 3)),
    case(r(3, 4), r(2, 4, 5)),
    case(r(2, 3, 4), r(2, 4, 5)),
    case(r(2, 3, 4), r(5, 2, 4, 3)),
    case(c(2, 3, 4), c(2, 4, 5)),
    case(c(3), c(3)),
]

INNER = [
    case(r(4), r(4)),
    case(0.7, r(3)),
    case(r(3, 2), np.float64(0.7)),
    case(r(3, 4), r(4)),
    case(r(4), r(3, 4)),
    case(r(3, 4), r(2, 4)),
    case(r(3, 0), r(2, 0)),
    case(r(2, 3, 4), r(4)),
    case(r(4), r(2, 3, 4)),
    case(r(2, 3, 4), r(5, 4)),
    case(r(5, 4), r(2, 3, 4)),
    case(r(2, 3, 4), r(2, 3, 4)),
    case(c(2, 4), c(3, 4)),
]

SAMPLES = {
    operator.matmul: MATMUL,
    np.matmul: MATMUL,
    np.dot: DOT,
    np.inner: INNER,
    np.outer: [
        case(r(3), r(4)),
        case(r(0), r(4)),
        case(r(2, 3), r(4)),
        case(r(3), r(2, 2)),
        case(r(2, 3), r(2, 2)),
        case(0.7, r(4)),
        case(r(4), 0.7),
        case(c(3), c(4)),
    ],
    np.vdot: [
        case(r(3), r(3)),
        case(r(2, 3), r(3, 2)),
        case(r(6), r(2, 3)),
        case(r(2, 3), r(6)),
        case(0.7, 0.3),
        case(c(3), c(3)),
        case(c(2, 3), c(3, 2)),
        case(r(3), c(3)),
        case(c(3), r(3)),
    ],
    np.tensordot: [
        case(r(2, 3), r(2, 3)),
        case(r(2, 3, 4), r(3, 4, 5)),
        case(r(2, 3, 4), r(4, 5), 1),
        case(r(2, 3), r(4), 0),
        case(0.7, r(4), 0),
        case(r(2, 3, 4), r(4, 3, 5), ((1, 2), (1, 0))),
        case(r(2, 3, 4), r(5, 4, 2), ([0, 2], [2, 1])),
        case(r(2, 3, 4), r(5, 3), (1, 1)),
        case(r(2, 3, 4), r(5, 3), (-2, -1)),
        case(r(2, 3, 4), r(3, 4, 2), ((2, 0, 1), (1, 2, 0))),
        case(r(3), r(3), axes=1),
        case(r(0, 3), r(3, 2), axes=1),
        case(c(2, 3), c(3, 2), axes=1),
    ],
    np.kron: [
        case(r(2), r(3)),
        case(r(2, 3), r(3, 2)),
        case(r(2), r(3, 2)),
        case(r(2, 3), r(2)),
        case(0.7, r(3)),
        case(r(3, 2), 0.7),
        case(0.7, 0.3),
        case(r(2, 1, 3), r(2, 2)),
        case(c(2, 2), c(2, 3)),
    ],
    np.cross: [
        case(r(3), r(3)),
        case(r(4, 3), r(3)),
        case(r(3), r(4, 3)),
        case(r(2, 4, 3), r(4, 3)),
        case(r(1, 3), r(4, 3)),
        case(r(3, 4), r(3, 4), axis=0),
        case(r(3, 4), r(4, 3), 0, 1),
        case(r(3, 4), r(2, 4, 3), 0, 2, 1),
        case(r(2, 3, 4), r(3, 4), 1, 0, 0),
        case(r(2, 3, 4), r(3, 4), axisa=1, axisb=0, axisc=-1),
        case(c(2, 3), c(2, 3)),
    ],
    adjoint_of_operand: [
        case(1, "ij,jk->ik", r(2, 4), r(2, 3), r(3, 4), fixed=(4,)),
        case(0, "ii,...j->...i", r(4, 3), r(3, 3), r(4, 2), fixed=(3,)),
        case(0, "ij,j->i", r(2), r(1, 3), r(3), fixed=(3,)),
    ],
    np.einsum: [
        case("ij,jk->ik", r(2, 3), r(3, 4)),
        case("ij,jk", r(2, 3), r(3, 4)),
        case("ij , jk -> ki", r(2, 3), r(3, 4)),
        case("ji,jk", r(2, 3), r(2, 4)),
        case("ij,jk,kl->il", r(2, 3), r(3, 4), r(4, 2)),
        case("ij,jk,kl->il", r(2, 3), r(3, 4), r(4, 2), optimize=True),
        case("ij,jk,kl->il", r(2, 3), r(3, 4), r(4, 2), optimize="greedy"),
        case(
            "ij,jk,kl->il",
            r(2, 3),
            r(3, 4),
            r(4, 2),
            optimize=["einsum_path", (0, 1), (0, 1)],
        ),
        case(r(2, 3), (0, 1), r(3, 4), (1, 2), (0, 2)),
        case(r(2, 3), [0, 1], r(3, 4), [1, 2]),
        case(r(4, 2, 3), [..., 0, 1], r(3, 4), [1, 2], [..., 2, 0]),
        case("i->", r(3)),
        case("ij->", r(3, 2)),
        case("ij->i", r(3, 2)),
        case("ij->j", r(3, 2)),
        case("ij->ji", r(3, 2)),
        case("ijk->kij", r(3, 2, 4)),
        case("ii", r(3, 3)),
        case("ii->i", r(3, 3)),
        case("iii->i", r(3, 3, 3)),
        case("iij->j", r(3, 3, 2)),
        case("iijj->ij", r(3, 3, 2, 2)),
        case("iijj->", r(3, 3, 2, 2)),
        case("ii,i->i", r(3, 3), r(3)),
        case("i,i", r(3), r(3)),
        case("i,j->ij", r(3), r(2)),
        case("i,j->", r(3), r(2)),
        case("ij,k->k", r(3, 2), r(4)),
        case(",i->i", 0.7, r(3)),
        case(",", 0.7, 1.3),
        case("bij,bjk->bik", r(2, 3, 4), r(2, 4, 5)),
        case("...ij,...jk->...ik", r(2, 3, 4), r(2, 4, 5)),
        case("...ij,...jk", r(5, 2, 3, 4), r(2, 4, 5)),
        case("...ij,jk->...ik", r(2, 3, 4), r(4, 5)),
        case("ij...,jk...->ik...", r(3, 4, 2), r(4, 5, 2)),
        case("...,...->...", r(2, 3), r(3)),
        case("...i->...", r(2, 3)),
        case("i...->...", r(2, 3)),
        case("...ii->...i", r(2, 3, 3)),
        case("i,ij,j->", r(2), r(2, 3), r(3)),
        case("ij,ij->ij", r(1, 3), r(2, 3)),
        case("ij,ij->", r(1, 3), r(2, 3)),
        case("...i,...i->...", r(1, 3), r(2, 3)),
        case(r(2, 3), [0, 1], r(3, 4), [1, 2], [0, 2]),
        case(r(2, 3), [0, 1], r(3, 4), [1, 2]),
        case(r(2, 3), [1, 0]),
        case(r(5, 2, 3), [Ellipsis, 0, 1], r(3, 4), [1, 30], [Ellipsis, 0, 30]),
        case("ij,jk->ik", c(2, 3), c(3, 4)),
        case("ij,jk->ik", r(2, 3), c(3, 4)),
        case("ij,jk->ik", r(0, 3), r(3, 4)),
        case("ij,jk->ik", r(2, 0), r(0, 4)),
    ],
    np.trace: [
        case(r(3, 3)),
        case(r(3, 4)),
        case(r(3, 4), 1),
        case(r(3, 4), -1),
        case(r(3, 4), 1, 1, 0),
        case(r(3, 4, 2)),
        case(r(3, 4, 2), 1, 0, 2),
        case(r(3, 4, 2), offset=1, axis1=-1, axis2=0),
        case(r(3, 4, 2, 3), -1, 1, 3),
        case(r(3, 4), dtype=float),
        case(c(3, 3)),
    ],
    np.convolve: [case(r(5), r(3), *mode) for mode in ((), ("full",), ("same",), ("valid",))]
    + [
        case(r(n), r(m), mode)
        for n, m in ((4, 4), (3, 6), (5, 2), (2, 5), (1, 3), (6, 4), (4, 6))
        for mode in ("full", "same", "valid")
    ]
    + [case(c(5), c(3), mode) for mode in ("full", "same", "valid")],
    np.correlate: [
        case(r(n), r(m), *mode)
        for n, m in ((4, 4), (3, 6), (5, 2), (2, 5), (1, 3), (6, 4), (4, 6), (5, 5), (7, 4))
        for mode in ((), ("full",), ("same",), ("valid",))
    ]
    + [case(c(n), c(m), mode) for n, m in ((5, 3), (3, 5)) for mode in ("full", "same", "valid")],
    np.linalg.multi_dot: [
        case([r(2, 3), r(3, 4)]),
        case([r(2, 3), r(3, 4), r(4, 5)]),
        case([r(2, 3), r(3, 4), r(4, 5), r(5, 2)]),
        case([r(3), r(3, 4), r(4)]),
        case([r(3), r(3)]),
        case([r(3), r(3, 4), r(4, 2)]),
        case([r(2, 3), r(3, 4), r(4)]),
        case([c(2, 3), c(3, 4), c(4, 2)]),
    ],
    np.linalg.matrix_power: [
        case(r(3, 3), n, tolerance=1e-5) for n in (0, 1, 2, 3, 4, 5, 7, -1, -2, -5)
    ]
    + [case(r(2, 3, 3), n, tolerance=1e-5) for n in (0, 2, 6, -1)]
    + [case(c(3, 3), n) for n in (3, 6)],
}

if hasattr(np, "vecdot"):
    VECDOT = [
        case(r(3), r(3)),
        case(r(2, 3), r(3)),
        case(r(3), r(2, 3)),
        case(r(4, 1, 3), r(2, 3)),
        case(c(2, 3), c(2, 3)),
        case(r(2, 3), c(3)),
    ]
    SAMPLES[np.linalg.vecdot] = [*VECDOT, case(r(3, 2), r(3, 2), axis=0)]
    SAMPLES[np.vecdot] = [
        *VECDOT,
        case(r(3, 2), r(3, 2), axis=0),
        case(r(2, 3, 4), r(3, 4), axis=-2),
    ]
    SAMPLES[np.linalg.outer] = [case(r(3), r(4))]
    SAMPLES[np.linalg.matmul] = [case(r(2, 3, 4), r(4))]
    SAMPLES[np.linalg.tensordot] = [case(r(2, 3, 4), r(3, 4, 5)), case(r(2, 3), r(3), axes=1)]
    SAMPLES[np.linalg.cross] = [case(r(2, 3), r(2, 3)), case(r(3, 2), r(3, 2), axis=0)]
    SAMPLES[np.linalg.trace] = [case(r(3, 4)), case(r(2, 3, 4), offset=1)]

if hasattr(np, "matvec"):
    SAMPLES[np.vecdot].append(case(r(3, 4), r(3), axis=0))
    SAMPLES[np.matvec] = [
        case(r(2, 3), r(3)),
        case(r(5, 2, 3), r(3)),
        case(r(2, 3), r(5, 3)),
        case(r(5, 1, 2, 3), r(4, 3)),
        case(c(2, 3), c(3)),
    ]
    SAMPLES[np.vecmat] = [
        case(r(3), r(3, 2)),
        case(r(5, 3), r(3, 2)),
        case(r(3), r(5, 3, 2)),
        case(c(4, 3), c(5, 1, 3, 2)),
    ]
