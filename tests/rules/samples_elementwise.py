"""Samples of elementwise functions: every one as scalar, of ranks 0 to 3, empty, and strided."""

import builtins
import math
import operator

import numpy as np

from .kit import case

rng = np.random.default_rng(10)


def between(low, high, *shape):
    return rng.uniform(low, high, size=shape)


def layouts(low, high):
    """Arguments of every form, with elements in an open interval."""
    return [
        float(between(low, high)),
        np.float64(between(low, high)),
        np.array(between(low, high)),
        between(low, high, 1),
        between(low, high, 5),
        between(low, high, 0),
        between(low, high, 10)[::-2],
        between(low, high, 3, 4).T,
        np.asfortranarray(between(low, high, 2, 3, 2)),
        between(low, high, 2, 0, 3),
    ]


def complexes(low, high):
    return [
        z(*shape)
        for z in (lambda *shape: between(low, high, *shape) + 1j * between(0.2, 1.0, *shape),)
        for shape in ((), (4,), (2, 3))
    ] + [complex(between(low, high), -0.3), between(low, high, 3) - 0.5j]


def pairs(first, second, fixed=()):
    """Two arguments of every combination of forms, the elements in two open intervals."""
    shapes = (
        ((), ()),
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (3, 4)),
        ((3, 1), (1, 4)),
        ((1,), (3,)),
        ((2, 3, 4), (3, 1)),
        ((), (3, 2)),
        ((0,), (0,)),
        ((0, 3), (1, 3)),
    )
    cases = [case(between(*first, *a), between(*second, *b), fixed=fixed) for a, b in shapes]
    x, y = float(between(*first)), float(between(*second))
    cases += [
        case(x, y, fixed=fixed),
        case(between(*first, 3), y, fixed=fixed),
        case(x, between(*second, 3), fixed=fixed),
        case(np.float64(x), between(*second, 2, 3).T, fixed=fixed),
        case(np.asfortranarray(between(*first, 3, 2)), between(*second, 4)[::-2], fixed=fixed),
    ]
    return cases


def complex_pairs():
    a, b = between(0.3, 1, 3) + 0.4j, between(0.3, 1, 2, 3) - 0.7j
    return [
        case(a, b),
        case(a, between(0.3, 1, 3)),
        case(between(0.3, 1, 2, 1), a),
        case(0.5 + 1j, b),
        case(a, 2.5),
        case(complex(0.3, 0.7), complex(1.2, -0.4)),
    ]


SAMPLES = {}

HOLOMORPHIC = {
    np.negative: (-2, 2),
    np.positive: (-2, 2),
    np.square: (-2, 2),
    np.sqrt: (0.2, 3),
    np.reciprocal: (0.3, 2),
    np.exp: (-2, 2),
    np.exp2: (-2, 2),
    np.expm1: (-2, 2),
    np.log: (0.2, 3),
    np.log2: (0.2, 3),
    np.log10: (0.2, 3),
    np.log1p: (-0.7, 2),
    np.sin: (-3, 3),
    np.cos: (-3, 3),
    np.tan: (-1, 1),
    np.arcsin: (-0.9, 0.9),
    np.arccos: (-0.9, 0.9),
    np.arctan: (-2, 2),
    np.sinh: (-2, 2),
    np.cosh: (-2, 2),
    np.tanh: (-2, 2),
    np.arcsinh: (-2, 2),
    np.arccosh: (1.2, 3),
    np.arctanh: (-0.9, 0.9),
    np.sinc: (-3, 3),
    operator.neg: (-2, 2),
    operator.pos: (-2, 2),
}
COMPLEX_TOO = {
    np.absolute: (0.2, 2),
    np.sign: (0.2, 2),
    np.real: (-2, 2),
    np.imag: (-2, 2),
    np.conjugate: (-2, 2),
    np.angle: (0.2, 2),
    np.nan_to_num: (-2, 2),
    operator.abs: (0.2, 2),
    builtins.abs: (-2, -0.2),
}
REAL = {
    np.cbrt: (0.2, 3),
    np.fabs: (-3, -0.2),
    np.deg2rad: (-90, 90),
    np.rad2deg: (-2, 2),
    np.radians: (-90, 90),
    np.degrees: (-2, 2),
    np.real_if_close: (-2, 2),
    np.i0: (-3, 3),
    np.modf: (1.1, 1.9),
    np.frexp: (1.1, 1.9),
}
CONSTANT = (np.rint, np.round, np.around, np.floor, np.ceil, np.trunc)

for function, interval in (HOLOMORPHIC | COMPLEX_TOO | REAL).items():
    none = (0,) if function in (np.sign, np.imag, np.angle) else ()  # no contribution for reals
    SAMPLES[function] = [case(x, fixed=none) for x in layouts(*interval)]
for function, interval in (HOLOMORPHIC | COMPLEX_TOO).items():
    if function is np.sign and np.__version__ < "2":
        continue  # it was that of the real part
    SAMPLES[function] += [case(z) for z in complexes(*interval)]
for function in CONSTANT:
    SAMPLES[function] = [case(x) for x in layouts(1.1, 1.4)]

SAMPLES[np.cbrt] += [case(between(-3, -0.2, 4))]
SAMPLES[np.angle] += [case(between(0.2, 2, 3) * 1j + 0.5, deg=True)]
SAMPLES[np.sinc] += [case(np.array([0.0, 1e-9, 1e-3, -0.09, 0.11, 1.0])), case(0.0)]
SAMPLES[np.i0] += [case(np.array([0.0, 8.0, -20.0, 50.0]), tolerance=1e-5)]
SAMPLES[np.nan_to_num] += [
    case(between(-1, 1, 3), nan=7.0),
    case(np.array([1.0, np.nan, np.inf]), nan=2.0, posinf=1.0, neginf=0.0),
]
SAMPLES[np.unwrap] = [
    case(np.array([0.1, 3.0, -2.9, -1.0])),
    case(between(-3, 3, 3, 4), axis=0),
    case(between(-3, 3, 3, 4), 4.0, fixed=(1,)),
    case(between(-3, 3, 3, 4), period=1.3),
]

for functions, first, second in (
    ((operator.add, np.add), (-2, 2), (-2, 2)),
    ((operator.sub, np.subtract), (-2, 2), (-2, 2)),
    ((operator.mul, np.multiply), (-2, 2), (-2, 2)),
    ((operator.truediv, np.divide), (-2, 2), (0.3, 2)),
    ((operator.pow, builtins.pow, np.power, np.float_power), (0.3, 2), (-2, 2)),
):
    for function in functions:
        SAMPLES[function] = pairs(first, second) + complex_pairs()

for functions, first, second in (
    ((operator.mod, np.remainder), (2.1, 2.9), (0.9, 1.04)),
    ((operator.mod, np.remainder), (2.1, 2.9), (-1.04, -0.9)),
    ((np.fmod,), (2.1, 2.9), (-1.04, -0.9)),
    ((np.hypot, np.arctan2), (-2, 2), (0.2, 2)),
    ((np.logaddexp, np.logaddexp2), (-3, 3), (-3, 3)),
    ((np.maximum, np.minimum, np.fmax, np.fmin), (-1, 1), (-1, 1)),
):
    for function in functions:
        SAMPLES.setdefault(function, [])
        SAMPLES[function] += pairs(first, second)
for function in (np.hypot, np.arctan2):
    SAMPLES[function] += [case(between(-2, 2, 4), between(-2, 2, 4))]

for function in (operator.floordiv, np.floor_divide):
    SAMPLES[function] = pairs((2.1, 2.9), (0.9, 1.04))
for function in (np.divmod, builtins.divmod):
    SAMPLES[function] = pairs((2.1, 2.9), (0.9, 1.04)) + pairs((2.1, 2.9), (-1.04, -0.9))
SAMPLES[np.copysign] = pairs((-2, -0.2), (0.2, 2), (1,)) + pairs((-2, 2), (-2, 2), (1,))
SAMPLES[np.nextafter] = pairs((-2, 2), (-2, 2), (1,))
SAMPLES[np.heaviside] = pairs((-2, 2), (-2, 2), (0,))
SAMPLES[np.heaviside] += [case(np.array([0.0, 1.0, 0.0]), between(0, 1, 2, 3), fixed=(0,))]
SAMPLES[np.ldexp] = [
    case(between(-2, 2, 3), 2),
    case(1.5, 3),
    case(between(-2, 2, 2, 3), np.array([0, 1, -2])),
    case(2.5, np.array([0, 1, -2])),
]

for name in ("sqrt", "log", "log2", "log10", "arcsin", "arccos", "arctanh"):
    SAMPLES[getattr(np.lib.scimath, name)] = [
        *(case(x) for x in (0.6, -0.7, 2.5 + 0.5j, np.array(0.4), np.ones((2, 0)))),
        *(case(x) for x in (between(0.2, 0.9, 3), between(-3, -1.5, 2, 2), between(1.5, 3, 4))),
        case(between(-2, 2, 3) * 1j + 0.5),
    ]
SAMPLES[np.lib.scimath.logn] = [case(2.5, between(0.2, 3, 3)), case(-2.5, between(-3, 3, 3))]
SAMPLES[np.lib.scimath.power] = [
    case(between(0.2, 3, 3), 2.5),
    case(between(-3, 3, 3), 2.5),
    case(between(-3, 3, 3), -2),
    case(-1.5, -2),
]

# powers with exponents that are often written as numbers
for function in (operator.pow, builtins.pow, np.power):
    SAMPLES[function] += [
        case(x, y, fixed=(1,))
        for x in (1.3, -0.7, np.float64(0.9), between(-2, 2, 4), between(0.5, 2, 2, 3).T)
        for y in (0, 1, 2, 3, 2.0, -1.0, -2.0, 0.0)
    ]
    SAMPLES[function] += [
        case(x, y, fixed=(1,)) for x in (1.3, between(0.5, 2, 4)) for y in (0.5, -0.5, 1.5, 2.5)
    ]
    SAMPLES[function] += [
        case(np.array([0.0, 0.0, 2.0]), np.array([2, 0, 0])),
        case(np.array([0.0, -1.0, 2.0]), 2, fixed=(1,)),
        case(0.0, 2.0, fixed=(1,)),
        case(0.0, 1.0, fixed=(1,)),
        case(2, between(-1, 1, 3)),
        case(math.e, between(-1, 1, 3), fixed=(0,)),
    ]

for function in (np.maximum, np.minimum):
    SAMPLES[function] += [case(between(-1, 1, 5), 0), case(0, between(-1, 1, 2, 3)), case(0.5, 1)]

x = between(-2, 2, 3, 4)
low, high = between(-1, -0.5, 4), between(0.5, 1, 3, 1)
SAMPLES[np.clip] = [
    case(x, -1.0, 1.0),
    case(x, -1, None),
    case(x, None, 1),
    case(x, low, high),
    case(x, low, None),
    case(x, None, high),
    case(x, a_min=-0.5, a_max=0.5),
    case(0.3, -1.0, 1.0),
    case(1.3, -1.0, 1.0),
    case(-1.3, -1.0, 1.0),
    case(x, 1.0, -1.0),
    case(between(-2, 2, 0), -1.0, 1.0),
    case(x[::-1, ::2], low[::2], 1.0),
    case(x, -1.0, 1.0, casting="no", order="K"),
]
if hasattr(np, "cumulative_sum"):  # min and max came with NumPy 2.1
    SAMPLES[np.clip] += [case(x, min=-1.0), case(x, max=1.0), case(x, min=-1.0, max=1.0)]
    SAMPLES[np.clip] += [case(x, min=low), case(x, max=high), case(x, min=low, max=high)]

mask = x > 0.3
SAMPLES[np.where] = [
    case(mask, x, between(-1, 1, 3, 4)),
    case(mask, x, 0.0),
    case(mask, 1.0, x),
    case(mask, x, between(-1, 1, 4)),
    case(mask[0], between(-1, 1, 3, 1), x),
    case(True, 1.5, 2.5),
    case(x > 0, between(-1, 1), between(-1, 1, 1, 4)),
    case(x, x, 1.0, fixed=(0,)),
    case(mask, x * 1j, x),
    case(mask[:0], x[:0], 1.0),
    case(mask),
]
