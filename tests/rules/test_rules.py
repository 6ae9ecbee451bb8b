"""Every rule against central differences, over the samples of all families."""

from __future__ import annotations

import builtins
import cmath
import importlib
import math
import operator
import pkgutil
from typing import Any

import numpy as np
import pytest

import srcgrad.rules
import tests.rules
from srcgrad.rules import draws, helpers
from srcgrad.rules.registry import Primitive, lookup, primitives
from srcgrad.rules.spectral import solve_symmetric

from .kit import Case, case, check_case, is_float

for module in pkgutil.iter_modules(srcgrad.rules.__path__, "srcgrad.rules."):
    importlib.import_module(module.name)

SAMPLES: dict[Any, list[Case]] = {
    helpers.polygamma: [case(n, x) for n in (0, 1, 2, 5) for x in (0.3, 2.5, 40.0, -1.7)],
    helpers.bessel_i: [
        case(n, x) for n in (0, 1, 3) for x in (0.0, 1.5, -0.7, np.array([0.0, -3.0, 9.0]))
    ],
}
for module in pkgutil.iter_modules(tests.rules.__path__, "tests.rules."):
    if module.name.startswith("tests.rules.samples_"):
        for function, cases in importlib.import_module(module.name).SAMPLES.items():
            SAMPLES.setdefault(function, []).extend(cases)


def name(function: Any) -> str:
    owner = getattr(function, "__module__", None) or getattr(function, "__objclass__", "")
    return f"{getattr(owner, '__name__', owner)}.{getattr(function, '__name__', function)}"


def frozen(value: Any) -> Any:
    """A copy in which nothing can be written."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(frozen(item) for item in value)
    if isinstance(value, np.ndarray):
        value = value.copy(order="K")
        value.flags.writeable = False
    return value


every_function = pytest.mark.parametrize("function", SAMPLES, ids=name)


@every_function
def test_rule(function: Any, record_property: Any) -> None:
    record_property("rules", len(SAMPLES[function]))
    failures = []
    for sample in SAMPLES[function]:
        try:
            with np.errstate(all="ignore"):
                check_case(function, sample)
        except Exception as error:
            arguments = [getattr(a, "shape", a) for a in sample.args]
            failures.append(f"{arguments} {sample.kwargs}: {type(error).__name__}: {error}")
    assert not failures, "\n".join([f"{len(failures)} samples fail", *failures[:10]])


@every_function
def test_rule_writes_into_nothing_it_is_given(function: Any) -> None:
    record = lookup(function)
    assert record is not None
    if rule(record) is None or record.mutates:
        return
    for sample in SAMPLES[function]:
        args = frozen(sample.args)
        with np.errstate(all="ignore"):
            out = frozen(function(*sample.args, **sample.kwargs))
            if record.adjoint is None:
                rule(record)(*args, **sample.kwargs, out=out)
            elif is_float(out):
                record.adjoint(*args, **sample.kwargs, out=out, d_out=frozen(out * 0.5))


OF_SPARSE = "srcgrad.rules.scipy.sparse_"  # in test_scipy_sparse_linalg.py


def test_every_rule_has_samples() -> None:
    tested = {rule(lookup(function)) for function in SAMPLES}
    missing = sorted(
        name(function)
        for function, record in primitives.items()
        if rule(record) not in (None, *tested)
        and function not in draws.described()  # in test_random_numbers.py
        # in their own tests, and in test_scipy_distributions.py
        and not name(function).startswith(("srcgrad.runtime", "srcgrad.debugging", "tests."))
        and not name(function).startswith(("srcgrad.rules.scipy.stats_", OF_SPARSE))
        and function is not solve_symmetric  # of a Hermitian matrix alone: `hermitian_solution`
    )
    assert not missing, "\n".join(missing)


def rule(record: Primitive | None) -> Any:
    assert record is not None
    return record.adjoint or record.partials


# Where no derivative exists


def gradient(function: Any, *args: Any, d_out: Any = None, **kwargs: Any) -> Any:
    """The contributions of one rule; of an elementwise rule, the partial derivatives."""
    record = lookup(function)
    assert record is not None
    with np.errstate(all="ignore"):
        out = function(*args, **kwargs)
        if record.adjoint is not None:
            d_out = np.ones_like(out)[()] if d_out is None else d_out
            return record.adjoint(*args, **kwargs, out=out, d_out=d_out)
        assert record.partials is not None
        return record.partials(*args, **kwargs, out=out)


def first(function: Any, *args: Any, **kwargs: Any) -> Any:
    result = gradient(function, *args, **kwargs)
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("function", [np.max, np.amax, np.nanmax])
def test_ties_of_maxima_share_equally(function: Any) -> None:
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    assert first(function, x).tolist() == [[0, 0.5, 0.5], [0, 0, 0]]
    np.testing.assert_allclose(first(function, x, axis=1), [[0, 0.5, 0.5], [1 / 3] * 3])
    assert first(function, x, initial=3.0).tolist() == [[0, 1 / 3, 1 / 3], [0, 0, 0]]
    assert first(function, x, axis=1, initial=9.0).tolist() == [[0.0] * 3] * 2


def test_ties_of_minima_medians_and_quantiles_share_equally() -> None:
    x = np.array([1.0, 1.0, 2.0, 2.0, 5.0])
    assert first(np.min, x).tolist() == [0.5, 0.5, 0, 0, 0]
    assert first(np.median, x).tolist() == [0, 0, 0.5, 0.5, 0]
    assert first(np.median, x[:4]).tolist() == [0.25] * 4
    assert first(np.quantile, x, 0.0).tolist() == [0.5, 0.5, 0, 0, 0]
    assert first(np.nanquantile, x, 0.5).tolist() == [0, 0, 0.5, 0.5, 0]
    several = first(np.quantile, x[::-1], [0.0, 0.5, 0.9], d_out=np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(several, [60, 25, 25, 0.5, 0.5])
    in_rows = first(np.nanquantile, np.stack([x, [np.nan, *x[:4]]]), [0.5], axis=1)
    np.testing.assert_allclose(in_rows, [[0, 0, 0.5, 0.5, 0], [0, 0.25, 0.25, 0.25, 0.25]])
    assert first(np.ptp, x).tolist() == [-0.5, -0.5, 0, 0, 1]
    assert first(np.ptp, np.ones(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.fmin, max, min])
@pytest.mark.parametrize("zero", [0, 0.0, np.float64(0.0)])
def test_ties_of_two_numbers_share_equally(function: Any, zero: Any) -> None:
    assert [float(d) for d in gradient(function, 0.0, zero)] == [0.5, 0.5]
    if function in (max, min):
        assert gradient(function, 1.0, 1.0, 1.0, d_out=3.0) == (1, 1, 1)
    else:
        assert first(function, np.zeros(2), zero).tolist() == [0.5, 0.5]
        assert first(function, zero, np.zeros(2)).tolist() == [0.5, 0.5]
        infinite = np.array([np.inf, -np.inf])
        assert first(function, infinite, infinite).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("function", [np.fmax, np.fmin])
def test_nan_takes_no_part(function: Any) -> None:
    d_x, d_y = gradient(function, np.array([np.nan, 1.0]), np.array([1.0, np.nan]))
    assert (d_x.tolist(), d_y.tolist()) == ([0, 1], [1, 0])


@pytest.mark.parametrize(
    "function",
    [np.absolute, builtins.abs, operator.abs, np.fabs, math.fabs, np.sign, np.angle, cmath.phase],
)
@pytest.mark.parametrize("zero", [0.0, 0j, np.float64(0.0), np.zeros(()), np.zeros(2, complex)])
def test_abs_at_0(function: Any, zero: Any) -> None:
    if np.iscomplexobj(zero) and (function in (np.fabs, math.fabs)):
        return
    if np.ndim(zero) and function is cmath.phase:
        return
    d = first(function, zero)
    assert d is None or np.all(np.isfinite(d))
    if function is not np.sign:
        assert d is None or np.all(d == 0)
    assert first(cmath.polar, 0j, d_out=(1.0, 1.0)) == 0


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.hypot, (0.0, 0.0)),
        (np.hypot, (np.zeros(2), 0.0)),
        (np.arctan2, (np.zeros(2), np.zeros(2))),
        (math.hypot, (0.0, 0.0, 0.0)),
        (math.atan2, (0.0, 0.0)),
        (math.dist, ([1.0, 2.0], [1.0, 2.0])),
        (np.std, (np.full(3, 2.0),)),
        (np.std, (np.zeros((2, 3)), 1)),
        (np.nanstd, (np.array([2.0, np.nan, 2.0]),)),
    ],
)
def test_distances_at_0(function: Any, args: Any) -> None:
    for d in gradient(function, *args):
        assert np.all(np.equal(d, 0))


def test_clip_at_a_bound() -> None:
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert first(np.clip, x, -1, 1).tolist() == [0, 1, 1, 1, 0]
    d_low, d_high = gradient(np.clip, x, -1.0, 1.0)[1:]
    assert (d_low.tolist(), d_high.tolist()) == ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1])
    assert first(np.clip, 1.0, 0.0, 1.0) == 1


@pytest.mark.parametrize(
    "function", [operator.pow, builtins.pow, np.power, np.float_power, math.pow]
)
def test_powers_at_0(function: Any) -> None:
    zero = np.zeros(2)
    for y in (0, 0.0, np.float64(0.0)):
        assert float(first(function, 0.0, y)) == 0
    assert tuple(float(d) for d in gradient(function, 0.0, 1.0)) == (1, 0)
    assert float(first(function, 0.0, 0.5)) == math.inf
    assert float(first(function, np.float64(0.0), 0.5)) == math.inf
    if function is not math.pow:
        assert first(function, zero, 0.0).tolist() == [0, 0]
        assert first(function, zero, zero).tolist() == [0, 0]
        assert first(function, zero, 1).tolist() == [1, 1]
        assert first(function, zero, 0.5).tolist() == [math.inf] * 2
        assert gradient(function, zero, 2.0)[1].tolist() == [0, 0]


@pytest.mark.parametrize("function", [np.sqrt, math.sqrt, np.cbrt])
def test_roots_at_0(function: Any) -> None:
    assert first(function, 0.0) == math.inf


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (math.asin, 1.0, math.inf),
        (math.acos, 1.0, -math.inf),
        (math.acosh, 1.0, math.inf),
        (np.arcsin, 1.0, math.inf),
        (np.sinc, 0.0, 0.0),
        (np.sinc, np.zeros(1), 0.0),
        (np.i0, 0.0, 0.0),
    ],
)
def test_ends_of_domains(function: Any, x: Any, expected: float) -> None:
    assert first(function, x, d_out=1.0) == expected


def test_products_with_zeros_are_exact() -> None:
    assert first(np.prod, np.array([2.0, 0.0, 3.0])).tolist() == [0, 6, 0]
    assert first(np.prod, np.array([2.0, 0.0, 0.0])).tolist() == [0, 0, 0]
    assert first(np.prod, np.array([2.0, 5.0, 3.0])).tolist() == [15, 6, 10]
    assert first(np.prod, np.array([1e-200, 1e-200])).tolist() == [1e-200, 1e-200]
    assert first(np.nanprod, np.array([2.0, 0.0, np.nan])).tolist() == [0, 2, 0]
    x = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    assert first(np.cumprod, x).tolist() == [1, 2 + 6, 0, 0, 0]
    assert first(math.prod, [2.0, 0.0, 3.0], d_out=1.0) == [0, 6, 0]


def test_minus_infinity_in_logaddexp() -> None:
    low = -math.inf
    for function in (np.logaddexp, np.logaddexp2):
        assert gradient(function, low, low) == (0, 0)
        assert gradient(function, np.array([low]), 1.0) == (0, 1)


def test_where_keeps_what_is_not_finite_out_of_the_branch_not_taken() -> None:
    mask = np.array([True, False])
    d_x, d_y = gradient(np.where, mask, np.zeros(2), 0.0, d_out=np.array([1.0, math.inf]))[1:]
    assert (d_x.tolist(), d_y.tolist()) == ([1, 0], [0, math.inf])


def test_complex_abs_squared_follows_jax() -> None:
    z = 1 + 2j
    assert 2 * abs(z) * first(np.absolute, z) == pytest.approx(2 - 4j)


def test_nan_is_left_out() -> None:
    x = np.array([1.0, np.nan, 4.0])
    assert first(np.nansum, x).tolist() == [1, 0, 1]
    assert first(np.nanmean, x).tolist() == [0.5, 0, 0.5]
    assert first(np.nanmedian, x).tolist() == [0.5, 0, 0.5]
    assert first(np.nancumsum, x).tolist() == [3, 0, 1]
    assert first(np.nan_to_num, x).tolist() == [1, 0, 1]


def test_special_functions_against_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    for x in (1e-3, 0.5, 3.7, 25.0, 1e6, -0.5, -7.3):
        for order in (0, 1, 2, 4):
            if order and x < 0:
                continue  # scipy's polygamma is wrong there
            found = helpers.polygamma(order, x)
            assert found == pytest.approx(float(special.polygamma(order, x)), rel=1e-12)
    x = np.array([0.0, 1e-8, 0.5, -3.0, 30.0, 600.0])
    for order in (0, 1, 2, 5):
        np.testing.assert_allclose(helpers.bessel_i(order, x), special.iv(order, x), rtol=1e-12)


# Single precision

HEAVY = (np.add, np.multiply, np.divide, np.power, np.maximum, np.fmax, np.clip, np.where, np.tanh)
HEAVY += (np.logaddexp, np.hypot, np.arctan2, np.absolute, np.sum, np.mean, np.var, np.std, np.max)
HEAVY += (np.prod, np.cumsum, np.cumprod, np.median, np.average, np.nansum, np.nanmean, np.nanmax)


@pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 has scalars that are not weak")
@pytest.mark.parametrize("function", HEAVY, ids=name)
def test_float32_is_not_computed_in_float64(function: Any) -> None:
    for sample in SAMPLES[function]:
        args = [
            a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == float else a
            for a in sample.args
        ]
        if not np.ndim(args[0]) or any(
            isinstance(a, (np.ndarray, np.generic)) and a.dtype not in (np.float32, bool)
            for a in args
        ):
            continue
        out = function(*args, **sample.kwargs)
        if is_float(out) and out.dtype == np.float32 and out.size:
            result = gradient(function, *args, **sample.kwargs)
            for d, a in zip(result if isinstance(result, tuple) else (result,), args, strict=False):
                if d is not None and getattr(a, "dtype", None) == np.float32:
                    assert not isinstance(d, np.ndarray) or d.dtype in (np.float32, bool), sample
