"""What each rule costs: the time of its gradient over that of the function, at a sizeable input.

    python -m benchmarks.rules [WORD]

An elementwise function's gradient should cost about as much as the function, a product's twice, a
solve's two solves, a sort's a sort; what costs much more has the reason beside it. On one thread:
on several, those of BLAS may wait for each other longer than they compute. WORD: only the
expressions that contain it.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import linecache  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

import srcgrad  # noqa: E402

rng = np.random.default_rng(0)
LONG = rng.uniform(0.5, 2.0, 200_000)
WIDE = rng.uniform(0.5, 2.0, (400, 500))
SQUARE = rng.normal(size=(200, 200)) + 20 * np.eye(200)
DEFINITE = SQUARE @ SQUARE.T
STACK = rng.normal(size=(2000, 4, 4)) + 4 * np.eye(4)
IMAGE = rng.normal(size=(300, 300))
POINTS = rng.normal(size=(300, 3))
INDEX = rng.integers(0, 200_000, 100_000)

EXPRESSIONS: dict[str, tuple[Any, ...]] = {
    **{
        f"np.{name}(x)": (LONG,)
        for name in (
            *("sin", "exp", "log", "sqrt", "tanh", "abs", "square", "reciprocal", "arctan"),
            *("cumsum", "sort", "diff", "mean", "var", "std", "max", "median", "ptp", "unwrap"),
            *("nansum", "nanmean", "flip", "ravel", "gradient", "trapezoid", "nan_to_num"),
        )
    },
    "np.prod(1 + 1e-6 * x)": (LONG,),
    "np.cumprod(1 + 1e-6 * x)": (LONG,),
    "np.quantile(x, [0.1, 0.5, 0.9])": (LONG,),
    "np.partition(x, 100)": (LONG,),
    "np.maximum(x, y)": (LONG, LONG[::-1].copy()),
    "np.where(x > 1, x, y)": (LONG, LONG[::-1].copy()),
    "np.clip(x, 0.7, 1.5)": (LONG,),
    "np.hypot(x, y)": (LONG, LONG[::-1].copy()),
    "x ** y": (LONG, LONG[::-1].copy()),
    "x[index]": (LONG,),
    "np.take(x, index)": (LONG,),
    "np.interp(x, np.arange(4.0), y)": (LONG, LONG[:4].copy()),
    "np.repeat(x, 3) ** 2": (LONG,),
    "np.roll(x, 7)": (LONG,),
    "np.pad(x, 5, 'reflect')": (WIDE,),
    "np.concatenate((x, y))": (LONG, LONG.copy()),
    "np.sum(x, axis=0)": (WIDE,),
    "np.max(x, axis=1)": (WIDE,),
    "np.cumsum(x, axis=1)": (WIDE,),
    "np.sort(x, axis=1)": (WIDE,),
    "np.linalg.norm(x, axis=1)": (WIDE,),
    "np.convolve(x, y)": (LONG[:20000].copy(), LONG[:50].copy()),
    "x @ y": (WIDE, WIDE.T.copy()),
    "np.einsum('ij,kj->ik', x, y)": (WIDE, WIDE.copy()),
    "np.outer(x, y)": (LONG[:500].copy(), LONG[:400].copy()),
    "np.kron(x, y)": (rng.normal(size=(20, 20)), rng.normal(size=(20, 20))),
    "np.lib.stride_tricks.sliding_window_view(x, 5).sum(-1)": (LONG,),
    "np.linalg.inv(x)": (SQUARE,),
    "np.linalg.solve(x, y)": (SQUARE, SQUARE[0].copy()),
    "np.linalg.solve(x, x[..., 0:1])": (STACK,),
    "np.linalg.det(x / 20)": (SQUARE,),
    "np.linalg.slogdet(x)[1]": (SQUARE,),
    "np.linalg.cholesky(x)": (DEFINITE,),
    "np.linalg.qr(x)[1]": (SQUARE,),
    "np.linalg.svd(x, compute_uv=False)": (SQUARE,),
    "np.linalg.svd(x)[0]": (SQUARE,),
    "np.linalg.eigvalsh(x)": (DEFINITE,),
    "np.linalg.eigh(x)[1]": (DEFINITE,),
    "np.linalg.pinv(x)": (SQUARE,),
    "np.linalg.lstsq(x, y)[0]": (SQUARE, SQUARE[0].copy()),
    "np.linalg.matrix_power(x / 20, 5)": (SQUARE,),
    "np.fft.fft(x).real": (LONG,),
    "np.fft.irfft(np.fft.rfft(x))": (LONG,),
    "scipy.special.gammaln(x)": (LONG,),
    "scipy.special.logsumexp(x)": (LONG,),
    "scipy.special.softmax(x, axis=1)": (WIDE,),
    "scipy.special.erf(x)": (LONG,),
    "scipy.stats.norm.logpdf(x)": (LONG,),
    "scipy.linalg.expm(x / 20)": (SQUARE,),
    "scipy.linalg.solve_triangular(x, y)": (SQUARE, SQUARE[0].copy()),
    "scipy.linalg.toeplitz(x)": (LONG[:500].copy(),),
    "scipy.signal.fftconvolve(x, y)": (LONG, LONG[:1000].copy()),
    "scipy.signal.lfilter(y, [1.0, -0.5], x)": (LONG, LONG[:3].copy()),
    "scipy.ndimage.gaussian_filter(x, 2.0)": (IMAGE,),
    "scipy.ndimage.correlate(x, y)": (IMAGE, IMAGE[:5, :5].copy()),
    "scipy.ndimage.rotate(x, 20.0, order=1)": (IMAGE,),
    "scipy.spatial.distance.cdist(x, y)": (POINTS, POINTS[::-1].copy()),
    "scipy.spatial.distance.pdist(x)": (POINTS,),
    "matrix @ x": (LONG[:40_000].copy(),),
    "scipy.sparse.linalg.spsolve(matrix, x)": (LONG[:40_000].copy(),),
}
WHY = {
    "np.sort(x)": "an argsort, which is slower than a sort, and a look for equal elements",
    "np.sort(x, axis=1)": "an argsort, which is slower than a sort, and a look for equal elements",
    "np.partition(x, 100)": "NumPy doesn't say where the rest goes: sorts both, O(n log n)",
    "np.max(x)": "shares among ties: compares with all, and counts",
    "np.max(x, axis=1)": "shares among ties: compares with all, and counts",
    "np.ptp(x)": "two extrema, each with its ties",
    "np.linalg.cholesky(x)": "two general solves: NumPy has no triangular one",
    "np.linalg.det(x / 20)": "an inverse, which the gradient is",
    "np.linalg.slogdet(x)[1]": "an inverse, which the gradient is",
    "np.linalg.lstsq(x, y)[0]": "three products with the pseudo-inverse, for matrices of any rank",
    "scipy.linalg.toeplitz(x)": "the function only copies; sums along diagonals",
    "np.interp(x, np.arange(4.0), y)": "the interval of each point is found again",
    "np.sum(x, axis=0)": "the gradient is as large as x, and written",
    "np.mean(x)": "the gradient is as large as x, and written",
    "np.roll(x, 7)": "a copy: twice",
    "np.ravel(x)": "the function is a view, and its gradient an array",
    "np.flip(x)": "the function is a view, and its gradient an array",
    "np.linalg.svd(x, compute_uv=False)": "needs the vectors, which the values alone don't",
    "np.linalg.eigvalsh(x)": "needs the vectors, which the values alone don't",
    "np.linalg.qr(x)[1]": "two general solves and three products: NumPy has no triangular solve",
    "np.gradient(x)": "a copy of each difference, added to both its neighbours",
    "np.pad(x, 5, 'reflect')": "adds each border to what it mirrors",
    "x ** y": "by both: another power, and a logarithm",
    "scipy.signal.fftconvolve(x, y)": "by both: two convolutions more",
    "scipy.ndimage.gaussian_filter(x, 2.0)": "filters again, and the borders added up",
    "scipy.spatial.distance.pdist(x)": "works on the square of distances, twice as many",
    "scipy.ndimage.rotate(x, 20.0, order=1)": "each pixel's four neighbours and weights in NumPy",
    "scipy.linalg.expm(x / 20)": "expm_frechet, three times the products, and in Python",
    "scipy.linalg.solve_triangular(x, y)": "by a matrix the gradient is a whole one",
    "np.einsum('ij,kj->ik', x, y)": "by both: two more of the same",
    "x @ y": "by both: two more of the same",
}


def programs(expression: str, count: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function of an expression alone, and the one that reduces it to a number."""
    import scipy
    import scipy.linalg
    import scipy.ndimage
    import scipy.signal
    import scipy.sparse.linalg
    import scipy.spatial
    import scipy.stats

    names = ", ".join("xyz"[:count])
    text = f"def plain({names}):\n    return {expression}\n\n\n"
    text += f"def loss({names}):\n    return np.sum({expression})\n"
    filename = f"<rule {expression}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    n = 40_000
    bands = [np.full(n, 4.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)]
    matrix = scipy.sparse.diags(bands, [0, 1, -1], format="csc")
    namespace = {"np": np, "scipy": scipy, "index": INDEX, "matrix": matrix}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["plain"], namespace["loss"]


def best(function: Callable[..., Any], args: tuple[Any, ...], budget: float = 0.15) -> float:
    """The least time of some calls."""
    function(*args)
    least, end = np.inf, time.perf_counter() + budget
    while time.perf_counter() < end or least == np.inf:
        start = time.perf_counter()
        function(*args)
        least = min(least, time.perf_counter() - start)
    return float(least)


def measure(expression: str) -> tuple[float, float]:
    """Seconds of a function, and of its gradient by all arguments."""
    args = EXPRESSIONS[expression]
    plain, loss = programs(expression, len(args))
    gradient = srcgrad.grad(loss, tuple(range(len(args))))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return best(plain, args), best(gradient, args)


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    words = sys.argv[1:] if arguments is None else arguments
    word = words[0] if words else ""
    print(f"{'expression':58}{'function':>10}{'gradient':>10}{'ratio':>8}")
    for expression in EXPRESSIONS:
        if word in expression:
            function, gradient = measure(expression)
            why = WHY.get(expression, "")
            print(
                f"{expression:58}{1e6 * function:8.0f}us{1e6 * gradient:8.0f}us"
                f"{gradient / function:8.1f}  {why}".rstrip(),
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
