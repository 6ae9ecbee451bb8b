"""Samples of reductions, cumulative functions, order statistics and differences."""

import numpy as np

from .kit import case

rng = np.random.default_rng(11)


def r(*shape):
    return rng.normal(size=shape)


def c(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def away(*shape):
    """Numbers far from zero and from each other."""
    n = int(np.prod(shape))
    return (rng.permutation(n) * 0.1 + 0.5).reshape(shape) * rng.choice([-1.0, 1.0], size=shape)


def holes(x):
    """A copy with some nan, none of them in the first row and column."""
    x = np.array(x)
    x[tuple(slice(1, None, 2) for _ in range(x.ndim))] = np.nan
    return x


LAYOUTS = [away(5), away(3, 4), away(3, 4).T, away(2, 3, 4), np.asfortranarray(away(2, 3, 4))[::-1]]
AXES = [
    (x, axis)
    for x in LAYOUTS
    for axis in [
        None,
        *range(-x.ndim, x.ndim),
        (),
        *([(0, 1), (1, 0), (-1, 0)] if x.ndim > 1 else [(0,)]),
        *([(0, 2), (0, 1, 2), (1, -1)] if x.ndim > 2 else []),
    ]
]


def all_axes(**kwargs):
    return [
        case(x, **({} if axis is None else {"axis": axis}), **keep, **kwargs)
        for x, axis in AXES
        for keep in ({}, {"keepdims": True})
    ]


def single_axes(**kwargs):
    return [
        case(x, **({} if axis is None else {"axis": axis}), **kwargs)
        for x, axis in AXES
        if not isinstance(axis, tuple)
    ]


def with_nan(cases):
    return cases + [
        case(holes(sample.args[0]), *sample.args[1:], fixed=sample.fixed, **sample.kwargs)
        for sample in cases
        if sample.kwargs.get("axis") != ()
    ]


SCALARS = [case(1.5), case(np.float64(-0.7)), case(np.array(0.3))]
x, mask = away(3, 4), np.array([[1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 0]], bool)
WHERE = [
    case(x, where=mask),
    case(x, where=mask, axis=0),
    case(x, where=mask[0], axis=1),
    case(x, where=mask, axis=(0, 1), keepdims=True),
]
POSITIONAL = [case(x, 1), case(x, (0, 1)), case(x, 0, np.float64)]

COMPLEX = [case(c(4)), case(c(3, 4), axis=0), case(c(2, 3, 2), axis=(0, -1), keepdims=True)]
EMPTY = [case(r(0)), case(r(0, 3), axis=0), case(r(3, 0), axis=0), case(r(3, 0), axis=-1)]
INITIAL = [case(x, initial=2.5), case(x, axis=1, initial=2.5), case(x, 1, initial=2, where=mask)]

SAMPLES = {}
for function in (np.sum, np.prod):
    SAMPLES[function] = all_axes() + SCALARS + WHERE + POSITIONAL + COMPLEX + EMPTY + INITIAL
for function in (np.nansum, np.nanprod):
    SAMPLES[function] = with_nan(all_axes() + WHERE + POSITIONAL + INITIAL) + COMPLEX + SCALARS
SAMPLES[np.mean] = all_axes() + SCALARS + WHERE + POSITIONAL + COMPLEX + [case(r(3, 0), axis=0)]
SAMPLES[np.nanmean] = with_nan(all_axes() + WHERE + POSITIONAL) + COMPLEX + SCALARS

zeros = away(4, 3)
zeros[1, 0] = zeros[2, 1] = zeros[3, 1] = 0.0
ZEROS = [
    case(zeros),
    case(zeros[:, 0]),
    case(zeros[:, 1]),
    case(zeros, axis=0),
    case(zeros, axis=1),
    case(zeros.T, axis=-1),
    case(np.stack([zeros, zeros[::-1]]), axis=1),
    case(np.zeros(3)),
    case(np.array([1.5, 0.0])),
    case(np.array([0.0])),
]
SAMPLES[np.prod] += [
    *ZEROS,
    case(zeros, axis=0, keepdims=True),
    case(zeros, axis=(0, 1)),
    case(np.stack([zeros, zeros[::-1]]), axis=(1, 2)),
    case(np.stack([zeros, zeros[::-1]], -1), axis=(-1, 0), keepdims=True),
    case(zeros, axis=0, initial=2.0),
    case(zeros, axis=0, where=mask.T),
    case(0.0),
]
SAMPLES[np.nanprod] += ZEROS

for function in (np.var, np.std, np.nanvar, np.nanstd):
    nan = function in (np.nanvar, np.nanstd)
    cases = [s for s in all_axes() if s.kwargs.get("axis") != ()]
    cases += POSITIONAL + WHERE
    cases += [case(s.args[0], ddof=1, **s.kwargs) for s in cases[:20]]
    cases += [case(x, axis=1, ddof=0.5), case(x, 0, None, ddof=1)]
    if np.__version__ >= "2":
        cases += [case(x, correction=1), case(x, axis=0, correction=1.5)]
        cases += [case(x, axis=1, mean=x.mean(1, keepdims=True))] * (not nan)
        cases += [case(x, axis=0, mean=r(1, 4)), case(r(4), mean=0.3)]
    SAMPLES[function] = (with_nan(cases) if nan else cases) + COMPLEX
for function in (np.var, np.nanvar):
    SAMPLES[function] += [case(np.full(3, 2.0)), case(np.array([[1.0, 1.0], [2.0, 3.0]]), axis=1)]

for functions in ((np.max, np.amax, np.nanmax), (np.min, np.amin, np.nanmin)):
    for function in functions:
        cases = [*all_axes(), case(x, 0), case(x, (0, 1))]
        cases += [case(x, initial=0.65), case(x, axis=1, initial=0.65)]
        cases += [case(x, axis=0, initial=9.0, keepdims=True), case(x, axis=0, initial=-9.0)]
        cases += [case(x, axis=1, initial=0.65, where=mask), case(x, initial=0.65, where=mask)]
        SAMPLES[function] = with_nan(cases) if function.__name__[:3] == "nan" else cases + SCALARS
SAMPLES[np.ptp] = [*all_axes(), case(x, 0), case(np.array([1.5]))]

STREAM = [*single_axes(), case(1.5), case(np.array(0.3)), case(c(4)), case(c(3, 4), axis=0)]
STREAM += [case(r(0)), case(r(0, 3), axis=0), case(r(3, 0), axis=0), case(x, 1)]
for function in (np.cumsum, np.cumprod):
    SAMPLES[function] = [*STREAM, case(x, 1, np.float64)]
for function in (np.nancumsum, np.nancumprod):
    SAMPLES[function] = with_nan(single_axes()) + STREAM
SAMPLES[np.cumprod] += ZEROS
SAMPLES[np.nancumprod] += ZEROS
if hasattr(np, "cumulative_sum"):
    for function in (np.cumulative_sum, np.cumulative_prod):
        SAMPLES[function] = [
            case(s.args[0], **s.kwargs, **initial)
            for s in STREAM + ZEROS[1:]
            if len(s.args) == 1 and (np.ndim(s.args[0]) == 1 or s.kwargs)
            for initial in ({}, {"include_initial": True})
        ]

w4, w3 = rng.uniform(0.5, 2, 4), rng.uniform(0.5, 2, 3)
y = r(2, 3, 4)
SAMPLES[np.average] = [
    *all_axes(),
    *[case(x, axis, rng.uniform(0.5, 2, (3, 4))) for axis in (None, 0, 1, -1, (0, 1))],
    *[case(x, axis, w) for axis, w in ((0, w3), (1, w4), (-1, w4))],
    *[case(y, axis, w) for axis, w in ((1, w3), (-1, w4))],
    case(r(4), None, w4),
    case(x, 0, w3, keepdims=True),
    case(x, None, rng.uniform(0.5, 2, (3, 4)), keepdims=True),
    case(c(4), None, w4),
    case(x, returned=True),
    case(x, 0, w3, returned=True),
    case(x, 1, rng.uniform(0.5, 2, (3, 4)), returned=True, keepdims=True),
    case(x, 0, np.array([1, 2, 3])),
]
if np.__version__ >= "2":
    SAMPLES[np.average] += [
        case(y, axis, rng.uniform(0.5, 2, shape))
        for axis, shape in (((0, 1), (2, 3)), ((2, 0), (4, 2)), ((1, -1), (3, 4)))
    ]

SAMPLES[np.median] = [s for s in all_axes() if s.kwargs.get("axis") != ()]
SAMPLES[np.median] += [case(1.5), case(x, 1), case(away(6)), case(away(1))]
SAMPLES[np.nanmedian] = with_nan(
    [s for s in SAMPLES[np.median] if np.ndim(s.args[0]) and s.args[0].size > 1]
)

METHODS = (
    *("linear", "lower", "higher", "midpoint", "nearest"),
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"),
    *("hazen", "weibull", "median_unbiased", "normal_unbiased"),
)
CONTINUOUS = ("linear", "interpolated_inverted_cdf", *METHODS[-4:])
LEVELS = (0.37, np.array([0.17, 0.83]), np.array([[0.17, 0.83], [0.44, 0.61]]), [0.29, 0.66])
for function, scale in (
    (np.quantile, 1),
    (np.nanquantile, 1),
    (np.percentile, 100),
    (np.nanpercentile, 100),
):
    nan = function.__name__[:3] == "nan"
    levels = [
        [scale * q for q in level] if type(level) is list else scale * level for level in LEVELS
    ]
    cases = [
        case(a, q, **({} if axis is None else {"axis": axis}), **keep)
        for a, axis in (AXES if scale == 1 else AXES[1::3])
        if axis != ()
        for q in (levels if axis is None or isinstance(axis, tuple) else levels[:2])
        if not (nan and np.ndim(q) > 1 and isinstance(axis, tuple))
        for keep in ({}, {"keepdims": True})
    ]
    cases += [
        case(a, q, axis, method=method, fixed=() if method in CONTINUOUS else (1,))
        for a, axis in ((x, 0), (away(7), None), (away(2, 3, 3), (0, 2)))
        for q in levels[: 2 if nan else 3]
        for method in METHODS
    ]
    cases += [case(x, q, fixed=(1,)) for q in (0, scale, scale * 0.0, scale * 1.0, scale * 0.5)]
    SAMPLES[function] = with_nan(cases) if nan else cases
# levels that fall on an element exactly, where the methods differ
for method in METHODS:
    for q in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9, 1.0):
        sample = case(away(5), q, method=method, fixed=(1,))
        SAMPLES[np.quantile].append(sample)
        SAMPLES[np.nanquantile].append(sample)

if np.__version__ >= "2":
    for function, scale in ((np.quantile, 1), (np.percentile, 100)):
        SAMPLES[function] += [
            case(x, q * scale, axis, weights=w, method="inverted_cdf", fixed=(1,))
            for q, axis, w in (
                (0.3, 0, w3), (np.array([0.3, 0.8]), 1, w4), (np.array([[0.3], [0.8]]), 0, w3),
            )
        ]  # fmt: skip
        SAMPLES[function].append(
            case(r(4), 0.3 * scale, weights=w4, method="inverted_cdf", keepdims=True, fixed=(1,))
        )

grid = np.cumsum(rng.uniform(0.5, 1.5, 4))
trapezoid = getattr(np, "trapezoid", None) or np.trapz
SAMPLES[trapezoid] = [
    *[case(s.args[0], **s.kwargs) for s in single_axes()],
    case(x, None, 0.3),
    case(x, None, 0.3, 0),
    case(r(4), grid),
    case(x, grid),
    case(x, grid[:3], axis=0),
    case(y, grid[:3], 1.0, 1, fixed=(2,)),
    case(y, r(2, 3, 4)),
    case(y, r(2, 3, 4), axis=0),
    case(r(4), r(3, 4)),
    case(y, r(3, 4)),
    case(x, r(1, 4)),
    case(c(4), grid),
    case(x, [0.0, 1.0, 3.0, 4.0]),
]
SAMPLES[np.diff] = [
    *single_axes(),
    case(x, 2),
    case(x, 3, 1),
    case(x, 0),
    case(x, 0, -1, 0.5, r(3, 2)),
    case(x, 2, axis=0),
    case(r(5), 1, -1, 0.5),
    case(r(5), 1, -1, 0.5, 1.5),
    case(x, 1, 0, r(2, 4), r(1, 4)),
    case(x, 2, 1, 0.5, r(3, 2)),
    case(x, 1, -1, 2, 3.0),
    case(c(4)),
    case(r(0)),
    case(r(1)),
]
SAMPLES[np.ediff1d] = [
    case(r(5)),
    case(x),
    case(x.T, 0.5),
    case(r(5), 0.5, 1.5),
    case(r(5), r(2), r(3)),
    case(r(5), None, r(1, 2)),
    case(c(4)),
]
SAMPLES[np.gradient] = [
    *[
        case(a, axis=axis, edge_order=order)
        for a, axis in AXES
        for order in (1, 2)
        if axis != () and min(a.shape) > order
    ],
    case(r(2)),
    case(r(5), 0.3),
    case(r(5), 0.3, edge_order=2),
    case(r(4), grid),
    case(r(4), grid, edge_order=2),
    case(r(3), grid[:3], edge_order=2),
    case(r(2), grid[:2]),
    case(x, 0.3),
    case(x, 0.3, 0.7),
    case(x, grid[:3], 0.7),
    case(x, 0.7, grid, edge_order=2),
    case(x, grid[:3], grid, edge_order=2),
    case(x, grid, axis=1),
    case(x, grid, axis=-1, edge_order=2),
    case(y, grid, 0.5, axis=(2, 0)),
    case(y[:, :, ::-1], 2, axis=(0, 1)),
    case(c(5), 0.5),
]
