"""Samples for functions that move elements about."""

import numpy as np

from srcgrad.rules import strides

from .kit import case

rng = np.random.default_rng(2)


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def fortran(*shape):
    return np.asfortranarray(r(*shape))


RAVEL = [
    case(r(2, 3)),
    case(r(4)),
    case(np.array(0.7)),
    case(r(2, 3), "F"),
    case(fortran(2, 3), "A"),
    case(r(2, 3), order="A"),
    case(fortran(2, 3), "K"),
    case(r(2, 3, 4).transpose(1, 2, 0), "K"),
    case(r(3, 4)[:, ::-2], "K"),
    case(r(0, 3)),
    case(c(2, 3)),
]

WIDTHS = (1, (1,), (1, 2), ((1, 2), (0, 3)), [[2, 1]], ((1,), (2,)), np.array([[0, 1], [2, 0]]))

PAD = [case(r(3, 4), width) for width in WIDTHS]
PAD += [
    case(r(3, 4), width, mode)
    for mode in (
        "edge",
        "reflect",
        "symmetric",
        "wrap",
        "linear_ramp",
        "maximum",
        "minimum",
        "mean",
        "median",
    )
    for width in (1, ((1, 2), (0, 3)), ((5, 4), (9, 1)))
]
PAD += [
    case(r(5), (2, 1), mode, stat_length=length)
    for mode in ("maximum", "minimum", "mean", "median")
    for length in (2, (2, 3), ((1, 9),))
]
PAD += [case(r(4, 5), 3, mode, reflect_type="odd") for mode in ("reflect", "symmetric")]
PAD += [
    case(r(3), (7, 5), "reflect", reflect_type="odd"),
    case(r(3), (2, 1), "constant", constant_values=4.0),
    case(r(3), (2, 1), "constant", constant_values=(4.0, 2.0)),
    case(r(3, 2), (2, 1), "linear_ramp", end_values=((4.0, 2.0), (1.0, 3.0))),
    case(r(2, 0), 1),
    case(np.array(0.7), 0),
    case(r(2, 3, 2), ((0, 0), (1, 1), (0, 0)), "reflect"),
    case(c(2, 3), 1, "edge"),
    case(c(2, 3), 1, "mean"),
    case(c(2, 3), ((2, 1), (1, 3)), "wrap"),
]
if np.lib.NumpyVersion(np.__version__) >= "2.2.0":
    PAD += [case(r(3, 4), {0: 1, -1: (2, 1)})]

NESTED_BLOCK = [
    case([r(2), r(3)]),
    case([[r(2, 2), r(2, 3)], [r(1, 2), r(1, 3)]]),
    case([[r(2, 2), r(2, 3)], [r(1, 5)]]),
    case([[r(2, 2)], [r(2)]]),
    case([[0.7, r(3)], [r(4)]]),
    case([[[r(1, 2, 2)], [r(1, 3, 2)]], [[r(2, 5, 2)]]]),
    case([r(2, 3, 2), r(2, 3, 1)]),
    case(r(2, 3)),
    case([[c(2, 2), c(2, 3)]]),
]

LINSPACE = [
    case(0.3, 2.0),
    case(0.3, 2.0, 7),
    case(0.3, 2.0, 1),
    case(0.3, 2.0, 0),
    case(0.3, 2.0, 7, False),
    case(0.3, 2.0, num=7, retstep=True),
    case(0.3, 2.0, num=7, endpoint=False, retstep=True),
    case(r(3), r(3), 5),
    case(r(3), 0.7, 5),
    case(r(2, 3), r(3), 5, axis=1),
    case(r(2, 3), r(3), 5, axis=-1),
    case(0.3 + 1j, 2.0 - 1j, 4),
]

SPACES = [
    case(0.3, 1.2),
    case(0.3, 1.2, 5),
    case(0.3, 1.2, 5, False),
    case(r(3) ** 2 + 0.1, 1.7, 5),
    case(r(2, 3) ** 2 + 0.1, r(3) ** 2 + 0.2, 5, axis=1),
    case(r(2, 3) ** 2 + 0.1, r(3) ** 2 + 0.2, 5, axis=-1),
]

COPIES = [
    case(r(2, 3)),
    case(0.7),
    case(np.array(0.7)),
    case([0.7, 1.3]),
    case([[0.7, 1.3], [0.2, np.float64(0.1)]]),
    case([r(3), r(3)]),
    case(
        (0.7, (0.1)),
    ),
    case([r(3), [0.1, 0.2, 0.3]]),
    case([0.7, 2, 1.3]),
    case(c(3)),
]

SPLIT = [
    case(r(6), 3),
    case(r(6, 2), 2),
    case(r(6, 4), 2, 1),
    case(r(6, 4), 2, -1),
    case(r(6), [2]),
    case(r(6), [-2]),
    case(r(6), [1, 3]),
    case(r(6), (4, 2)),
    case(r(6), [1, 9]),
    case(r(6), [1, -1]),
    case(r(6), [3, -5]),
    case(c(6), 3),
    case(r(0), 1),
]

SAMPLES = {
    np.reshape: [
        case(r(2, 3), (3, 2)),
        case(r(2, 3), -1),
        case(r(2, 3), (6,), "F"),
        case(fortran(2, 3), (3, 2), order="A"),
        case(fortran(2, 3), (3, 2)),
        case(0.7, (1, 1)),
        case(r(0, 3), (3, 0, 1)),
        case(c(2, 3), (1, 6)),
    ],
    np.ndarray.reshape: [
        case(r(2, 3), 3, 2),
        case(r(2, 3), (3, 2)),
        case(r(2, 3), -1, order="F"),
        case(r(2, 3)[::-1], 6),
    ],
    np.ravel: RAVEL,
    np.ndarray.ravel: RAVEL,
    np.ndarray.flatten: RAVEL,
    np.expand_dims: [
        case(r(3), 0),
        case(r(3), 1),
        case(r(3), -1),
        case(r(2, 3), (0, 2)),
        case(r(2, 3), (-1, 0)),
        case(0.7, 0),
        case(r(2, 3), ()),
    ],
    np.squeeze: [
        case(3.0, 0),
        case(r(2, 1, 3)),
        case(r(1)),
        case(r(2, 1, 3), 1),
        case(r(1, 2, 1), (0, 2)),
        case(r(1, 2, 1), (-1,)),
        case(r(1, 1), (0, 1)),
        case(r(1), axis=0),
        case(0.7),
    ],
    np.atleast_1d: [
        case(0.7),
        case(r(3)),
        case(r(2, 3)),
        case(0.7, r(3), r(2, 2)),
        case(0.7, 2, r(3)),
    ],
    np.atleast_2d: [
        case(0.7),
        case(r(3)),
        case(r(2, 3)),
        case(0.7, r(3), r(2, 2)),
        case(0.7, 2, r(3)),
    ],
    np.atleast_3d: [case(0.7), case(r(3)), case(r(2, 3)), case(0.7, r(3), r(2, 2), r(1, 2, 3))],
    np.transpose: [
        case(r(3)),
        case(r(2, 3)),
        case(r(2, 3, 4)),
        case(r(2, 3, 4), (1, 2, 0)),
        case(r(2, 3, 4), (-1, 0, 1)),
        case(r(2, 3, 4), axes=[0, 2, 1]),
        case(np.array(0.7)),
    ],
    np.ndarray.transpose: [
        case(r(2, 3)),
        case(r(2, 3, 4)),
        case(r(2, 3, 4), 1, 2, 0),
        case(r(2, 3, 4), (1, 2, 0)),
        case(r(2, 3, 4), [1, -1, 0]),
        case(r(2, 3, 4), None),
    ],
    np.swapaxes: [case(r(2, 3, 4), 0, 2), case(r(2, 3, 4), -1, 1), case(r(2, 3), 0, 0)],
    np.moveaxis: [
        case(r(2, 3, 4), 0, 2),
        case(r(2, 3, 4), 0, -1),
        case(r(2, 3, 4), -1, 0),
        case(r(2, 3, 4, 5), (0, 1), (-1, 0)),
        case(r(2, 3, 4, 5), [3, 0], [1, 2]),
        case(r(2, 3, 4, 5), (2, 0, 1), (0, -1, 1)),
    ],
    np.rollaxis: [
        case(r(2, 3, 4), axis, start) for axis in (0, 1, 2, -1) for start in (0, 1, 2, 3, -1)
    ],
    np.flip: [
        case(r(3)),
        case(r(2, 3)),
        case(r(2, 3, 4), 1),
        case(r(2, 3, 4), -1),
        case(r(2, 3, 4), (0, -1)),
        case(r(2, 3, 4), ()),
        case(np.array(0.7)),
    ],
    np.flipud: [case(r(3)), case(r(2, 3))],
    np.fliplr: [case(r(2, 3)), case(r(2, 3, 4))],
    np.rot90: [
        case(r(2, 3)),
        case(r(2, 3), 2),
        case(r(2, 3), -1),
        case(r(2, 3, 4), 3, (1, 2)),
        case(r(2, 3, 4), k=1, axes=(2, 0)),
    ],
    np.roll: [
        case(r(5), 2),
        case(r(5), True),
        case(r(2, 3), -1),
        case(r(2, 3), 2, 1),
        case(r(2, 3), 2, -1),
        case(r(2, 3), (1, 2), (0, 1)),
        case(r(2, 3), 1, (0, 1)),
        case(r(2, 3), (1, 2), axis=0),
        case(r(0), 1),
    ],
    np.broadcast_to: [
        case(r(3), (2, 3)),
        case(0.7, (2, 3)),
        case(r(2, 1), (2, 3)),
        case(r(2, 1, 3), (5, 2, 4, 3)),
        case(r(3), 3),
    ],
    np.broadcast_arrays: [case(r(3), r(2, 1)), case(0.7, r(2)), case(r(2))],
    np.repeat: [
        case(r(3), 2),
        case(r(2, 3), 2),
        case(r(2, 3), 2, 0),
        case(r(2, 3), 3, -1),
        case(r(2, 3), 0, 1),
        case(r(3), [1, 0, 2]),
        case(r(3), np.array([1, 0, 2])),
        case(r(2, 3), [2, 1, 3], axis=1),
        case(r(2, 3), [2], axis=1),
        case(r(2, 2), [2, 1, 0, 3]),
        case(0.7, 3),
        case(c(3), 2),
    ],
    np.tile: [
        case(r(3), 2),
        case(r(3), (2, 3)),
        case(r(2, 3), 2),
        case(r(2, 3), (2, 1)),
        case(r(2, 3), (2, 1, 3)),
        case(0.7, 3),
        case(0.7, (2, 3)),
        case(r(2, 3), [0, 2]),
        case(r(2, 3), ()),
    ],
    np.resize: [
        case(r(3), 7),
        case(r(2, 3), (3, 3)),
        case(r(2, 3), (2, 2)),
        case(r(2, 3), (0,)),
        case(r(0), 3),
        case(0.7, (2, 2)),
    ],
    np.concatenate: [
        case([r(2), r(3)]),
        case((r(2, 3), r(1, 3))),
        case((r(2, 3), r(2, 1)), 1),
        case((r(2, 3), r(2, 1)), -1),
        case((r(2, 3), r(2)), None),
        case((r(2, 3, 4), r(2, 5, 4), r(2, 0, 4)), axis=1),
        case((r(2), [0.1, 0.2])),
        case(([[0.1, 0.2]], r(2, 2))),
        case((r(2),)),
        case(r(2, 3)),
        case(r(2, 3, 4)),
        case(r(2, 3, 4), 1),
        case(r(2, 3, 4), -1),
        case(r(2, 3, 4), None),
        case((r(2), c(2))),
    ],
    np.stack: [
        case([r(3), r(3)]),
        case([r(3), r(3)], 1),
        case((r(2, 3), r(2, 3)), -1),
        case((r(2, 3), r(2, 3)), axis=-3),
        case([0.7, 1.3, np.float64(0.2)]),
        case([[0.1, 0.2], r(2)], 1),
        case(r(2, 3)),
        case(r(2, 3, 4), 1),
    ],
    np.hstack: [
        case((r(2), r(3))),
        case((r(2, 3), r(2, 1))),
        case((0.7, r(3), 1.3)),
        case((0.7, 1.3)),
        case(r(3)),
        case(r(2, 3)),
        case(r(2, 3, 4)),
    ],
    np.vstack: [
        case((r(3), r(3))),
        case((r(2, 3), r(3))),
        case((r(2, 3, 4), r(1, 3, 4))),
        case((0.7, 1.3)),
        case(([0.1, 0.2], r(2))),
        case(r(3)),
        case(r(2, 3)),
        case(r(2, 3, 4)),
    ],
    np.dstack: [
        case((r(3), r(3))),
        case((r(2, 3), r(2, 3))),
        case((r(2, 3, 4), r(2, 3))),
        case((0.7, 1.3)),
        case(r(3)),
        case(r(2, 3)),
        case(r(2, 3, 4)),
        case(r(2, 3, 4, 2)),
    ],
    np.column_stack: [
        case((r(3), r(3))),
        case((r(3, 2), r(3))),
        case((r(3, 2, 4), r(3, 1, 4))),
        case((0.7, 1.3)),
        case(r(3)),
        case(r(2, 3)),
        case(r(2, 3, 4)),
    ],
    np.append: [
        case(r(3), r(2)),
        case(r(3), 0.7),
        case(r(2, 3), r(2, 2)),
        case(r(2, 3), r(2, 2), 1),
        case(r(2, 3), r(1, 3), axis=-2),
        case(0.7, 1.3),
    ],
    np.block: NESTED_BLOCK,
    np.split: SPLIT,
    np.array_split: [*SPLIT, case(r(7), 3), case(r(2), 3), case(r(7, 2), 3, axis=0)],
    np.vsplit: [case(r(4, 2), 2), case(r(4, 2), [1, 3])],
    np.hsplit: [case(r(4), 2), case(r(4, 2), 2), case(r(2, 4, 2), [1, 3])],
    np.dsplit: [case(r(2, 2, 4), 2)],
    np.insert: [
        case(r(3), 1, 0.7),
        case(r(3), -1, 0.7),
        case(r(3), 1, r(2)),
        case(r(3), [1], r(2)),
        case(r(3), [0, 2], r(2)),
        case(r(3), [2, 0], r(2)),
        case(r(3), [0, 2, 2], 0.7),
        case(r(3), slice(0, 2), r(2)),
        case(r(3), np.array([3, 1]), r(2)),
        case(r(2, 3), 1, 0.7),
        case(r(2, 3), 1, 0.7, 1),
        case(r(2, 3), 1, r(2), 1),
        case(r(2, 3), 1, r(3), 0),
        case(r(2, 3), [1], r(2, 1), 1),
        case(r(2, 3), [1, 2], r(2, 2), 1),
        case(r(2, 3), [1, 2], r(2), -1),
        case(r(2, 3, 2), 1, r(2, 2), 1),
        case(r(2, 3, 2), 1, r(4, 2, 2), 1),
        case(c(3), 1, 0.3j),
    ],
    np.delete: [
        case(r(4), 1),
        case(r(4), -1),
        case(r(4), [0, 2]),
        case(r(4), [0, 0, -1]),
        case(r(4), slice(None, None, 2)),
        case(r(4), np.array([True, False, True, False])),
        case(r(2, 3), 1),
        case(r(2, 3), 1, 0),
        case(r(2, 3), [0, 2], -1),
    ],
    np.pad: PAD,
    np.tril: [case(r(3, 3)), case(r(2, 3), 1), case(r(2, 3, 3), -1), case(r(3))],
    np.triu: [case(r(3, 3)), case(r(2, 3), 1), case(r(2, 3, 3), -1), case(r(3))],
    np.diag: [
        case(r(3)),
        case(r(3), 1),
        case(r(3), -2),
        case(r(3, 3)),
        case(r(3, 4), 1),
        case(r(3, 4), -1),
        case(r(4, 2), k=-2),
        case(r(4, 2), 5),
        case(c(3)),
        case(c(3, 3)),
    ],
    np.diagflat: [case(r(3)), case(r(2, 2), 1), case(r(3), -1), case(0.7)],
    np.diagonal: [
        case(r(3, 4)),
        case(r(3, 4), 1),
        case(r(3, 4), -1, 1, 0),
        case(r(3, 4, 2)),
        case(r(3, 4, 2), 1, 0, 2),
        case(r(3, 4, 2), offset=-1, axis1=-1, axis2=0),
        case(r(3, 4, 2, 3), 0, 1, 3),
        case(r(0, 3)),
    ],
    np.vander: [
        case(r(4)),
        case(r(4), 3),
        case(r(4), 3, True),
        case(r(4), N=1),
        case(r(4), 0),
        case(c(3)),
    ],
    np.meshgrid: [
        case(r(3)),
        case(r(3), r(2)),
        case(r(3), r(2), indexing="ij"),
        case(r(3), r(2), sparse=True),
        case(r(3), r(2), r(4)),
        case(r(3), r(2), r(4), indexing="ij", sparse=True),
        case(r(3), 0.7),
    ],
    np.array: [*COPIES, case(0.7, ndmin=2), case(r(3), ndmin=2), case([0.7, r(2)[0]], ndmin=3)],
    np.asarray: COPIES,
    np.asanyarray: COPIES,
    np.asarray_chkfinite: COPIES,
    np.ascontiguousarray: COPIES,
    np.asfortranarray: COPIES,
    np.copy: COPIES,
    np.ndarray.copy: [case(r(2, 3)), case(fortran(2, 3), "K")],
    np.ndarray.astype: [case(r(2, 3), float), case(r(3), complex), case(r(3), float, copy=False)],
    np.ndarray.item: [
        case(np.array(0.7)),
        case(r(1)),
        case(r(1, 1)),
        case(r(3), 1),
        case(r(3), -1),
        case(r(2, 3), 4),
        case(r(2, 3), -1),
        case(r(2, 3), 1, 2),
        case(r(2, 3), (1, -1)),
        case(c(3), 1),
    ],
    np.ndarray.view: [case(r(2, 3)), case(r(2, 3), np.ndarray), case(r(2, 3), type=np.ndarray)],
    np.require: [case(r(2, 3)), case(fortran(2, 3), float, "C"), case([0.7, 1.3])],
    np.ndarray.tolist: [case(r(3)), case(r(2, 3)), case(np.array(0.7))],
    np.full: [case(3, 0.7), case((2, 3), 0.7), case((2, 3), r(3)), case((), 0.7)],
    np.full_like: [
        case(r(3), 0.7, fixed=(0,)),
        case(r(2, 3), r(3), fixed=(0,)),
        case(r(2, 3), 0.7, fixed=(0,), shape=(4,)),
    ],
    np.linspace: LINSPACE,
    np.logspace: [*SPACES, case(0.3, 1.2, 5, True, 3.0), case(0.3, 1.2, 5, base=2.0)],
    np.geomspace: [*SPACES, case(0.3 + 1j, 1.2 - 1j, 5)],
    np.arange: [
        case(4.5, fixed=(0,)),
        case(0.3, 5.2, fixed=(1,)),
        case(0.3, 5.0, 0.7, fixed=(1,)),
        case(5.3, 0.2, -0.7, fixed=(1,)),
    ],
    np.zeros_like: [case(r(3))],
    np.lib.stride_tricks.as_strided: [
        case(r(6), (4, 3), (8, 8)),
        case(r(6), (2, 5), (0, 8)),
        case(r(3, 4), (3,), (40,)),
        case(r(4, 6), (2, 4, 3, 2), (48, 8, 48, 16)),
        case(r(6), (0, 3), (8, 8)),
        case(fortran(4, 5), (3, 2, 4), (8, 8, 32)),
        case(r(2, 3)),
    ],
    strides.strided: [
        case(r(4), np.zeros(4), (2, 3), (8, 8), fixed=(1,)),
        case(r(2, 3), np.zeros((3, 2)).T, (2, 2, 3), (8, 0, 16), fixed=(1,)),
    ],
    strides.sum_of_strided: [
        case(r(2, 3), np.zeros(4), (8, 8), fixed=(1,)),
        case(r(3, 2, 2), np.zeros((2, 4)), (16, 8, 0), fixed=(1,)),
        case(r(2, 2, 3), np.zeros((3, 2)).T, (8, 0, 16), fixed=(1,)),
    ],
    np.lib.stride_tricks.sliding_window_view: [
        case(r(6), 3),
        case(r(4, 5), (2, 3)),
        case(r(4, 5), 2, 1),
        case(r(4, 5), 2, axis=0),
        case(r(4, 5), (2, 2), axis=(1, 0)),
        case(r(6), (2, 3), axis=(0, 0)),
        case(r(2, 4, 5), (2, 3), axis=(-1, 1)),
    ],
}

if hasattr(np, "concat"):
    SAMPLES[np.concat] = [case([r(2), r(3)])]
    SAMPLES[np.permute_dims] = [case(r(2, 3, 4), (1, 2, 0))]
    SAMPLES[np.matrix_transpose] = [case(r(2, 3)), case(r(2, 3, 4))]
    SAMPLES[np.linalg.matrix_transpose] = [case(r(2, 3)), case(r(2, 3, 4))]
    SAMPLES[np.linalg.diagonal] = [case(r(2, 3)), case(r(2, 3, 4), offset=1)]
if hasattr(np, "astype"):
    SAMPLES[np.astype] = [case(r(2, 3), float)]
for _type in (np.float64, np.longdouble, np.complex128, np.clongdouble):
    SAMPLES[_type] = [case(0.7), case(r(3)), case(r(2, 3)), case(r(0)), case(np.array(0.7))]
for _type in (np.float16, np.float32, np.complex64):  # too coarse for differences in steps of 1e-6
    SAMPLES[_type] = [case(r(3), fixed=(0,))]
for _type in (np.complex64, np.complex128, np.clongdouble):
    SAMPLES[_type] += [case(0.7 - 0.2j, fixed=(0,) if _type is np.complex64 else ())]
