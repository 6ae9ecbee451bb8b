"""Samples of Python's own functions."""

import builtins
import cmath
import math

import numpy as np

from .kit import case

rng = np.random.default_rng(12)


def numbers(low, high, n=4):
    values = [float(v) for v in rng.uniform(low, high, n)]
    return [*values, np.float64(values[0])]


def pairs(first, second):
    return zip(numbers(*first), numbers(*second), strict=True)


UNARY = {
    math.sqrt: (0.2, 3),
    math.exp: (-2, 2),
    math.expm1: (-2, 2),
    math.log: (0.2, 3),
    math.log2: (0.2, 3),
    math.log10: (0.2, 3),
    math.log1p: (-0.7, 2),
    math.sin: (-3, 3),
    math.cos: (-3, 3),
    math.tan: (-1, 1),
    math.asin: (-0.9, 0.9),
    math.acos: (-0.9, 0.9),
    math.atan: (-2, 2),
    math.sinh: (-2, 2),
    math.cosh: (-2, 2),
    math.tanh: (-2, 2),
    math.asinh: (-2, 2),
    math.acosh: (1.2, 3),
    math.atanh: (-0.9, 0.9),
    math.radians: (-90, 90),
    math.degrees: (-2, 2),
    math.gamma: (0.2, 5),
    math.lgamma: (0.2, 50),
    math.erf: (-2, 2),
    math.erfc: (-2, 2),
    math.fabs: (-2, 2),
    math.modf: (1.1, 1.9),
    math.frexp: (1.1, 1.9),
    math.floor: (1.1, 1.9),
    math.ceil: (1.1, 1.9),
    math.trunc: (1.1, 1.9),
    builtins.float: (-2, 2),
    builtins.complex: (-2, 2),
    builtins.int: (1.1, 1.9),
    builtins.round: (1.1, 1.4),
}
if hasattr(math, "cbrt"):
    UNARY |= {math.cbrt: (-3, 3), math.exp2: (-2, 2)}

SAMPLES = {f: [case(x) for x in numbers(*interval)] for f, interval in UNARY.items()}
SAMPLES[math.gamma] += [case(x) for x in numbers(-2.9, -2.1)]
SAMPLES[math.lgamma] += [case(x) for x in numbers(-2.9, -2.1)]
SAMPLES[builtins.float] += [case(np.array(1.5))]
SAMPLES[builtins.complex] += [case(1.5, -0.5), case(1.0 + 2j), case(1.0 + 2j, 0.5j)]

BINARY = {
    math.pow: ((0.3, 2), (-2, 2)),
    math.fmod: ((2.1, 2.9), (-1.04, -0.9)),
    math.remainder: ((2.1, 2.4), (0.95, 1.04)),
    math.atan2: ((-2, 2), (-2, 2)),
    math.hypot: ((-2, 2), (-2, 2)),
    math.log: ((0.2, 3), (1.5, 3)),
    builtins.max: ((-1, 1), (-1, 1)),
    builtins.min: ((-1, 1), (-1, 1)),
}
for function, (first, second) in BINARY.items():
    SAMPLES.setdefault(function, [])
    SAMPLES[function] += [case(a, b) for a, b in pairs(first, second)]
for function in (math.copysign, math.nextafter):
    SAMPLES[function] = [case(a, b, fixed=(1,)) for a, b in pairs((-2, 2), (-2, 2))]
for function in (math.hypot, builtins.max, builtins.min):
    SAMPLES[function] += [case(0.3, -0.7, 1.9), case(2.0, 0.5, 1.5, -3.0)]
SAMPLES[builtins.max] += [case(2.5, 2), case(1, 2.5), case(0, 1.5, -1)]
SAMPLES[builtins.min] += [case(1.5, 2), case(3, 2.5), case(0, -1.5, 1)]
SAMPLES[builtins.max] += [
    case(0, np.array(1.5)),
    case(np.array(2.5), 2),
    case(0.5, np.array([1.5])),
]
SAMPLES[builtins.min] += [case(2, np.array(1.5), 3.0), case(np.array([1.5]), np.array(2.5))]
SAMPLES[math.hypot] += [case(-0.7)]
SAMPLES[math.pow] += [case(-1.3, y, fixed=(1,)) for y in (0, 1, 2, 3.0, -1.0)]
SAMPLES[math.pow] += [case(0.0, y, fixed=(1,)) for y in (1.0, 2.0)] + [case(2, 1.5)]
SAMPLES[math.ldexp] = [case(1.5, 3), case(-0.3, -2)]
SAMPLES[math.dist] = [
    case([0.3, 1.7], [1.1, -0.4]),
    case((0.3, 1.7, 2.0), (1.1, -0.4, 0.9)),
    case(np.array([0.3, 1.7]), np.array([1.1, -0.4])),
]
SAMPLES[math.fsum] = [case([0.3, 1.7, -0.2]), case((0.5,)), case(np.array([0.3, 1.7]))]
SAMPLES[math.prod] = [
    case([0.3, 1.7, -0.2]),
    case((0.5, 1.5), start=3.0),
    case([0.3, 0.0, -0.2, 1.5], start=2.0),
    case([0.3, 0.0, 0.0]),
    case(np.array([0.3, 0.0, -0.2])),
    case(np.array([0.3, 0.7])),
    case([0.5]),
]
if hasattr(math, "sumprod"):
    SAMPLES[math.sumprod] = [
        case([0.3, 1.7], [1.1, -0.4]),
        case((0.3, 1.7), [1, 2]),
        case(np.array([0.3, 1.7]), np.array([1.1, -0.4])),
    ]
if hasattr(math, "fma"):
    SAMPLES[math.fma] = [case(0.3, 1.7, -0.2)]

points = [complex(a, b) for a in (-1.3, 0.4) for b in (-0.7, 0.9)]
for name in (
    *("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("tanh", "asinh", "acosh", "atanh", "phase", "polar"),
):
    SAMPLES[getattr(cmath, name)] = [case(z) for z in points]
SAMPLES[complex.conjugate] = [case(z) for z in points]
SAMPLES[cmath.log] += [case(z, 1.5 - 0.3j) for z in points] + [case(points[0], 2.0)]
SAMPLES[cmath.rect] = [case(1.3, 0.4), case(0.5, -2.0)]
SAMPLES[cmath.sqrt] += [case(2.0), case(-2.0)]
for name in ("asin", "acos", "acosh", "atanh"):  # real numbers on the cuts
    SAMPLES[getattr(cmath, name)] += [case(1.7), case(-2.5), case(0.4)]
