"""The rows of the table of what rules cost: a call of each function with a rule, at two sizes.

Those of the registry come from the samples that test the rules, enlarged; what the samples can't
say, and functions that are written in simpler ones, from the expressions here.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial
import scipy.stats

import srcgrad
from benchmarks import enlarging
from srcgrad.inspect.rules import function_name
from srcgrad.rules import draws, registry
from tests.rules.compiled import Program
from tests.rules.kit import Case
from tests.rules.test_rules import SAMPLES

LARGEST = enlarging.SIZES[-1]
SMALLEST = enlarging.SIZES[0]
STEP = enlarging.STEP


@dataclass(frozen=True)
class Measurable:
    """A function and its gradient, bound to their arguments; `numbers` that these hold."""

    numbers: int
    function: Callable[[], Any]
    gradient: Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """One row to measure.

    Attributes:
        name: the function's, or an expression.
        call: with what the function is called.
        sizes: makes what to measure, the largest size last.
    """

    name: str
    call: str
    sizes: Callable[[], list[Measurable]]


def rows(most: int = LARGEST, word: str = "") -> list[Row]:
    """Those with a word in their names, with arguments of `most` numbers."""
    written = [
        Row(expression, "", Written(expression, inputs, most))
        for inputs, expressions in EXPRESSIONS.items()
        for expression in expressions
    ]
    texts = " ".join(row.name for row in written)
    names = {function_name(function): function for function in functions()}
    sampled = [
        of_samples(function, SAMPLES.get(function, []), most)
        for name, function in names.items()
        if word in name and f"{name}(" not in texts
    ]
    return [row for row in sampled if row] + [row for row in written if word in row.name]


def functions() -> list[Any]:
    """Those for which srcgrad has a derivative, but for what only generated code calls.

    And but for `np.trapz`, which is `np.trapezoid` by its older name.
    """
    registry.load()
    return [
        function
        for function, record in registry.primitives.items()
        if of_srcgrad(record.adjoint or record.partials)
        and not of_srcgrad(function)
        and function is not getattr(np, "trapz", None)
    ]


def of_srcgrad(function: Any) -> bool:
    """Whether a function is srcgrad's own: the user, an example or a test may add rules, too."""
    return (getattr(function, "__module__", None) or "").startswith("srcgrad.")


def without_row() -> set[str]:
    """The functions with a rule that have no sample; of random draws, expressions have some."""
    known = {*SAMPLES, *draws.described()}
    return {function_name(function) for function in functions() if function not in known}


def of_samples(function: Callable[..., Any], samples: list[Case], most: int) -> Row | None:
    """The row of a function, from its samples; None if there is none with a gradient."""
    useful = (s for s in sorted(samples, key=enlarging.plainness) if Program(function, s).active)
    chosen = list(itertools.islice(useful, enlarging.MOST_SAMPLES))
    if not chosen:
        return None
    cases = enlarging.enlarged(function, chosen, most) or chosen[:1]
    last = cases[-1]
    named = [f"{key}={described(value)}" for key, value in last.kwargs.items()]
    call = ", ".join([*map(described, last.args), *named])
    return Row(function_name(function), call, lambda: [sized(function, c) for c in cases])


def sized(function: Callable[..., Any], case: Case) -> Measurable:
    """A sample, and the gradient of the weighted sum of its results."""
    program = Program(function, case)
    gradient, values = program.gradient(), program.values
    return Measurable(
        enlarging.size(case),
        lambda: function(*case.args, **case.kwargs),
        lambda: gradient(**values),
    )


def described(value: Any) -> str:
    """An argument, briefly.

    >>> described((np.ones((3, 2)), 1))
    '(3x2, 1)'
    """
    if isinstance(value, np.ndarray):
        return "x".join(map(str, value.shape)) or "0-d"
    if isinstance(value, (tuple, list)):
        items = [described(item) for item in value[:3]]
        return f"({', '.join(items)}{', ...' if len(value) > 3 else ''})"
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(getattr(value, "__name__", value))
    return text if len(text) < 20 else type(value).__name__


# Expressions


def materials(most: int) -> dict[str, Any]:
    """What expressions are made of: inputs of about as many numbers, matrices of fewer."""
    rng = np.random.default_rng(0)
    side = max(4, round(0.4 * most**0.5))
    long = rng.uniform(0.5, 2.0, most)
    square = rng.normal(size=(side, side)) / side**0.5 + 2 * np.eye(side)
    n = most // 8
    bands = [np.full(n, 4.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)]
    matrix = scipy.sparse.diags(bands, [0, 1, -1], format="csc")
    points = rng.normal(size=(side, 3))
    return {
        "long": long,
        "other": long[::-1].copy(),
        "part": long[:n].copy(),
        "rest": long[n : 2 * n].copy(),
        "short": long[:side].copy(),
        "few": long[:5].copy(),
        "wide": rng.uniform(0.5, 2.0, (side, 2 * side)),
        "square": square,
        "definite": square @ square.T,
        "stack": rng.normal(size=(most // 16, 4, 4)) + 4 * np.eye(4),
        "image": rng.normal(size=(side, side)),
        "kernel": rng.normal(size=(5, 5)),
        "points": points,
        "sorted": np.sort(long[:n]),
        "index": rng.integers(0, most, most // 2),
        "matrix": matrix,
        "i": matrix.tocoo().row,
        "j": matrix.tocoo().col,
        "data": matrix.tocoo().data,
        "n": n,
        "rng": rng,
        "np": np,
        "scipy": scipy,
    }


class Written:
    """The sizes of an expression."""

    def __init__(self, expression: str, inputs: str, most: int) -> None:
        self.expression, self.inputs, self.most = expression, inputs, most

    def __call__(self) -> list[Measurable]:
        names = ", ".join("xyz"[: self.inputs.count(",") + 1])
        text = f"def plain({names}):\n    return {self.expression}\n\n\n"
        text += f"def loss({names}):\n    return np.sum({self.expression})\n"
        filename = f"<rule {self.expression}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        sizes = [n for n in (self.most // STEP, self.most) if n >= SMALLEST]
        return [self.sized(text, filename, n) for n in sizes]

    def sized(self, text: str, filename: str, numbers: int) -> Measurable:
        namespace = materials(numbers)
        args = eval(f"({self.inputs},)", namespace)
        exec(compile(text, filename, "exec"), namespace)
        plain = namespace["plain"]
        gradient = srcgrad.grad(namespace["loss"], tuple(range(len(args))))
        size = sum(np.size(x) for x in args)
        return Measurable(size, lambda: plain(*args), lambda: gradient(*args))


EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "long": (
        "np.prod(1 + 1e-6 * x)", "np.cumprod(1 + 1e-6 * x)", "np.quantile(x, [0.1, 0.5, 0.9])",
        "np.partition(x, 100)", "np.clip(x, 0.7, 1.5)", "x[index]", "np.take(x, index)",
        "np.lib.stride_tricks.sliding_window_view(x, 5).sum(-1)", "np.fft.irfft(np.fft.rfft(x))",
        "np.repeat(x, 3) ** 2", "scipy.stats.norm.logpdf(x)", "scipy.stats.gamma.logpdf(x, 2.5)",
        "scipy.signal.hilbert(x).imag", "scipy.signal.resample(x, n)", "scipy.signal.detrend(x)",
        "scipy.signal.savgol_filter(x, 7, 2, mode='nearest')", "np.float32(x)", "np.float16(x)",
        "scipy.signal.welch(x)[1]",
        "np.complex64(x).real",
    ),
    "long, other": (
        "np.maximum(x, y)", "np.where(x > 1, x, y)", "np.hypot(x, y)", "x ** y",
        "np.concatenate((x, y))", "scipy.spatial.distance.cosine(x, y)", "rng.normal(x, y)",
        "rng.uniform(x, y + 2)", "scipy.stats.pearsonr(x, y)[0]",
        "scipy.stats.linregress(x, y).slope",
    ),
    "wide": (
        "np.sum(x, axis=0)", "np.max(x, axis=1)", "np.cumsum(x, axis=1)", "np.sort(x, axis=1)",
        "np.linalg.norm(x, axis=1)", "np.pad(x, 5, 'reflect')",
        "scipy.special.softmax(x, axis=1)", "scipy.stats.zscore(x)", "scipy.stats.skew(x)",
        "np.apply_along_axis(lambda row: row * row[0], 0, x)",
    ),
    "long, few": (
        "np.interp(x, np.arange(5.0), y)", "scipy.signal.lfilter(y, [1.0, -0.5], x)",
        "np.polynomial.polynomial.polyval(x, y)",
        "np.polynomial.chebyshev.chebval(x, y)", "scipy.signal.upfirdn(y, x, 3, 2)",
        "scipy.ndimage.correlate1d(x, y)", "scipy.signal.filtfilt(y, [4.0, 0.5], x)",
    ),
    "part, few": ("np.convolve(x, y)", "np.polynomial.polynomial.polymul(x, y)"),
    "part, rest": ("scipy.signal.fftconvolve(x, y)", "scipy.integrate.trapezoid(y, np.cumsum(x))",
        "scipy.integrate.simpson(y, x=np.cumsum(x))"),
    "wide, wide.T.copy()": ("x @ y",),
    "wide, wide.copy()": ("np.einsum('ij,kj->ik', x, y)",),
    "short, short.copy()": ("np.outer(x, y)", "np.polymul(x, y)"),
    "short": ("scipy.linalg.toeplitz(x)", "scipy.linalg.circulant(x)"),
    "kernel, short": ("np.kron(x, y)",),
    "square": (
        "np.linalg.inv(x)", "np.linalg.det(x / 2)", "np.linalg.slogdet(x)[1]", "np.linalg.qr(x)[1]",
        "np.linalg.svd(x, compute_uv=False)", "np.linalg.svd(x)[0]", "np.linalg.pinv(x)",
        "np.linalg.matrix_power(x / 2, 5)", "np.linalg.eig(x)[0].real", "scipy.linalg.expm(x / 2)",
        "scipy.linalg.polar(x)[0]", "scipy.linalg.lu(x)[2]",
        "scipy.linalg.sqrtm(x).real",
    ),
    "square, short": (
        "np.linalg.solve(x, y)", "np.linalg.lstsq(x, y)[0]", "scipy.linalg.solve_triangular(x, y)",
        "scipy.linalg.lstsq(x, y)[0]",
    ),
    "definite": (
        "np.linalg.cholesky(x)", "np.linalg.eigvalsh(x)", "np.linalg.eigh(x)[1]",
        "scipy.linalg.cholesky(x)", "scipy.linalg.eigh(x)[1]", "scipy.linalg.eigvalsh(x)",
        "scipy.linalg.pinvh(x)",
    ),
    "definite, short": (
        "scipy.linalg.cho_solve(scipy.linalg.cho_factor(x), y)",
        *(f"scipy.sparse.linalg.{name}(x, y)[0]" for name in ("cg", "bicg", "bicgstab", "cgs")),
        *(f"scipy.sparse.linalg.{name}(x, y)[0]" for name in ("gmres", "qmr", "tfqmr")),
        "scipy.stats.multivariate_normal.logpdf(y, y / 2, x)",
    ),
    "stack": ("np.linalg.solve(x, x[..., 0:1])", "np.linalg.inv(x)[..., 0]", "np.linalg.det(x)"),
    "image": (
        "scipy.ndimage.gaussian_filter(x, 2.0)", "scipy.ndimage.rotate(x, 20.0, order=1)",
        "scipy.ndimage.zoom(x, 1.5, order=1)", "scipy.ndimage.shift(x, 1.3)",
        "scipy.ndimage.uniform_filter(x, 5)", "scipy.ndimage.sobel(x)",
        "scipy.signal.medfilt(x, 5)",
        "scipy.fft.dctn(x)",
    ),
    "image, kernel": (
        "scipy.ndimage.correlate(x, y)", "scipy.signal.convolve2d(x, y)",
    ),
    "points, points[::-1].copy()": ("scipy.spatial.distance.cdist(x, y)",),
    "points": ("scipy.spatial.distance.pdist(x)",),
    "part": (
        "matrix @ x", "scipy.sparse.linalg.spsolve(matrix, x)",
        "scipy.sparse.linalg.splu(matrix).solve(x)",
        "scipy.sparse.linalg.aslinearoperator(matrix).matvec(x)",
        "scipy.sparse.linalg.aslinearoperator(matrix).rmatvec(x)",
        "np.arange(x[0], x[0] + n)", "np.full(n, x[0])",
    ),
    "data, part": (
        "scipy.sparse.csr_matrix((x, (i, j))) @ y",
        "scipy.sparse.linalg.spsolve(scipy.sparse.csc_matrix((x, (i, j))), y)",
    ),
    "sorted, part": (
        "scipy.interpolate.CubicSpline(x, y)(0.5 * (x[1:] + x[:-1]))",
        "scipy.interpolate.PchipInterpolator(x, y)(0.5 * (x[1:] + x[:-1]))",
        "scipy.interpolate.Akima1DInterpolator(x, y)(0.5 * (x[1:] + x[:-1]))",
        "scipy.interpolate.make_interp_spline(x, y)(0.5 * (x[1:] + x[:-1]))",
    ),
}  # fmt: skip

# Why the gradient of an outlier takes as long as it does, and by the reason, of which rows
_REASONS: dict[str, str] = {
    "an argsort, which is slower than NumPy's sort, and a look for equal elements": """
        np.sort(x, axis=1) | np.sort_complex
        """,
    "NumPy doesn't say where the rest goes: sorts both, O(n log n)": "np.partition(x, 100)",
    "shares among ties: compares with all, and counts": """
        np.min | np.amax | np.amin | np.nanmax | np.nanmin | np.max(x, axis=1) | np.ptp | np.fmax |
        np.fmin | np.minimum | np.fmax.accumulate | np.fmin.accumulate | np.maximum.accumulate |
        np.minimum.accumulate
        """,
    "by both arguments, one of them broadcast: a sum of products for that": """
        np.vecdot | np.linalg.vecdot | np.vecmat | np.matvec | np.cross | operator.pow | pow |
        np.power | np.linalg.matmul
        """,
    "by both arguments: as much for each of them": """
        x ** y | np.correlate | scipy.signal.correlate | scipy.signal.convolve |
        scipy.ndimage.correlate1d(x, y) | np.polynomial.polynomial.polymul(x, y) |
        scipy.signal.filtfilt(y, [4.0, 0.5], x)
        """,
    "with zeros, or products too small for a float, a recurrence": "np.cumulative_prod",
    "the function is written in C; its steps are recorded here in Python": """
        np.poly | np.polynomial.chebyshev.chebval(x, y)
        """,
    "products with the slopes of each, which NumPy takes one after the other in Python": """
        np.polynomial.chebyshev.chebvander
        """,
    "adds each border to what it mirrors": "np.pad(x, 5, 'reflect')",
    "adds at each segment's elements": "np.add.reduceat",
    "inverses of small blocks, for NumPy has no triangular solve": "np.linalg.cholesky(x)",
    "an inverse, which the gradient is": """
        np.linalg.det(x / 2) | np.linalg.slogdet(x)[1] | scipy.linalg.det | np.linalg.det(x)
        """,
    "needs the vectors, which the values alone don't": """
        np.linalg.eigvalsh(x) | scipy.linalg.eigvalsh(x)
        """,
    "the function only copies; sums along diagonals": """
        scipy.linalg.toeplitz(x) | scipy.linalg.circulant(x) | scipy.linalg.hankel
        """,
    "the derivative by Al-Mohy and Higham: three times the products, in Python": """
        scipy.linalg.cosm | scipy.linalg.sinm | scipy.linalg.tanm | scipy.linalg.coshm |
        scipy.linalg.sinhm | scipy.linalg.tanhm | scipy.linalg.expm_frechet
        """,
    "of a matrix of twice the size": "scipy.linalg.logm",
    "a Sylvester equation": "scipy.linalg.sqrtm(x).real",
    "by a matrix the gradient is a whole one": "scipy.linalg.solve_triangular(x, y)",
    "solves, and products of whole matrices, where the function eliminates": """
        scipy.linalg.lu(x)[2] | scipy.linalg.lu_factor | scipy.linalg.cholesky(x) |
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(x), y)
        """,
    "solves once more, with the transpose, and by a matrix the gradient is a whole one": """
        scipy.sparse.linalg.bicg(x, y)[0] | scipy.sparse.linalg.bicgstab(x, y)[0] |
        scipy.sparse.linalg.cgs(x, y)[0] | scipy.sparse.linalg.qmr(x, y)[0] |
        scipy.sparse.linalg.tfqmr(x, y)[0]
        """,
    "SuperLU solves with the transpose more slowly": "SuperLU.solve",
    "each point's neighbours and weights in NumPy": """
        scipy.ndimage.map_coordinates | scipy.ndimage.rotate(x, 20.0, order=1) |
        scipy.ndimage.zoom(x, 1.5, order=1) | scipy.ndimage.shift(x, 1.3)
        """,
    "works on the square of distances, twice as many": "scipy.spatial.distance.pdist(x)",
    "the derivative is another function, which SciPy computes more slowly": """
        scipy.special.j1 | scipy.special.i1 | scipy.special.i1e | scipy.special.psi |
        scipy.special.rgamma | scipy.special.itstruve0 | scipy.special.itmodstruve0 |
        scipy.special.exprel | scipy.special.boxcox | scipy.special.boxcox1p |
        scipy.special.inv_boxcox | scipy.special.inv_boxcox1p
        """,
    "Carlson's form, right where the usual one cancels": """
        scipy.special.ellipk | scipy.special.ellipkm1 | scipy.special.ellipe
        """,
    "of degree 0 the function is a constant": """
        scipy.special.eval_legendre | scipy.special.eval_sh_legendre
        """,
    "products with the deviations, for the matrix and for its diagonal": "np.corrcoef",
    "the function is one pass over memory, its gradient four": "np.reciprocal",
}
REASONS = {row.strip(): reason for reason, names in _REASONS.items() for row in names.split(" |")}
