"""What the gradient of a loop-heavy program costs: time against the function's, bytes recorded.

    python -m benchmarks.programs [--quick]

Ratios are medians taken in one run, function and gradient interleaved, on one thread. Bytes
recorded are those of the arrays and numbers that the forward sweep pushes for the reverse sweep (an
array that is merely kept alive isn't counted twice); bytes written those that the program stores by
index.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

import argparse  # noqa: E402
import ast  # noqa: E402
import copy  # noqa: E402
import inspect  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from srcgrad import grad  # noqa: E402
from tests.programs import finite_differences  # noqa: E402

# program: three sizes; "element" loops are bound by Python, "slice" programs by NumPy
PROGRAMS: dict[str, tuple[str, tuple[int, int, int]]] = {
    "gauss_seidel_2d": ("element", (8, 16, 32)),
    "lu_loop": ("element", (8, 16, 32)),
    "cholesky_loop": ("element", (8, 16, 32)),
    "deriche_filter": ("element", (8, 16, 32)),
    "conv2d_loops": ("element", (8, 16, 32)),
    "thomas": ("element", (50, 200, 800)),
    "jacobi_2d": ("slice", (16, 64, 256)),
    "jacobi_3d": ("slice", (8, 32, 128)),
    "fdtd_2d": ("slice", (64, 256, 1024)),
    "cavity_flow": ("slice", (11, 31, 101)),
}


def seconds(runs: list[Callable[[], Any]], budget: float) -> list[float]:
    """The median of the processor's time of each run, all interleaved."""
    times: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(times[0]) < 3:
        for run, taken in zip(runs, times, strict=True):
            start = time.process_time()
            run()
            taken.append(time.process_time() - start)
    return [statistics.median(taken) for taken in times]


class _Meter:
    """Counts bytes: those of each array once, eight for a number."""

    def __init__(self) -> None:
        self.bytes, self.seen, self.kept = 0, set(), []

    def __call__(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            for item in value:
                self(item)
        elif isinstance(value, np.ndarray):
            owner = value if value.base is None else value.base
            if id(owner) not in self.seen:
                self.seen.add(id(owner))
                self.kept.append(owner)
                self.bytes += value.nbytes
        elif isinstance(value, (float, int, np.generic)):
            self.bytes += 8
        return value


class _Recording(ast.NodeTransformer):
    """Measures what is appended to the records."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
        ):
            call.args = [ast.Call(ast.Name("_meter", ast.Load()), call.args, [])]
        return node


class _Writing(ast.NodeTransformer):
    """Measures what is stored by index."""

    def _store(self, node: Any, targets: list[ast.expr]) -> Any:
        reads = []
        for target in targets:
            if isinstance(target, ast.Subscript):
                read = copy.deepcopy(target)
                read.ctx = ast.Load()
                reads.append(ast.Expr(ast.Call(ast.Name("_written", ast.Load()), [read], [])))
        return [node, *reads]

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._store(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Subscript):
            return self._store(node, [node.target])
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        whole = ast.Call(ast.Name("_written", ast.Load()), [read, ast.Constant(True)], [])
        return [node, ast.Expr(whole)]


def recorded_bytes(gradient: Any, args: tuple[Any, ...]) -> int:
    """What one call of the gradient records."""
    gradient(*copy.deepcopy(args))
    variant = gradient._latest
    function = inspect.unwrap(variant.compiled.function)
    tree = ast.fix_missing_locations(_Recording().visit(ast.parse(gradient.source)))
    meter = _Meter()
    namespace = {**function.__globals__, "_meter": meter}
    exec(compile(tree, "<measured>", "exec"), namespace)
    free = variant.read(gradient.primal)[: variant.used]
    namespace[function.__name__](*copy.deepcopy(args), *free)
    return meter.bytes


def written_bytes(module: Any, args: tuple[Any, ...]) -> int:
    """What one run of the program stores by index."""
    total = 0

    def written(value: Any, whole: bool = False) -> None:
        nonlocal total
        if not whole or isinstance(value, np.ndarray):
            total += int(np.size(value)) * 8

    tree = _Writing().visit(ast.parse(inspect.getsource(module)))
    namespace: dict[str, Any] = {"__name__": module.__name__, "_written": written}
    exec(compile(ast.fix_missing_locations(tree), "<measured>", "exec"), namespace)
    namespace["program"](*copy.deepcopy(args))
    return total


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="the two smaller sizes only")
    options = parser.parse_args(arguments)
    print(f"{'program':18}{'kind':9}{'size':>6}{'f, ms':>10}{'grad, ms':>10}{'ratio':>7}"
          f"{'recorded':>14}{'written':>15}{'rec/wr':>8}")  # fmt: skip
    for name, (kind, sizes) in PROGRAMS.items():
        module = finite_differences.load(name)
        gradient = grad(module.program, argnums=tuple(getattr(module, "ARGNUMS", (0,))))
        for size in sizes[: 2 if options.quick else 3]:
            args = module.inputs(size)
            try:
                gradient(*copy.deepcopy(args))
            except Exception as error:
                print(f"{name:18}{kind:9}{size:6}  {type(error).__name__}: {error}"[:150])
                break
            pairs = [
                lambda m=module, a=args: m.program(*copy.deepcopy(a)),
                lambda g=gradient, a=args: g(*copy.deepcopy(a)),
            ]
            f, g = seconds(pairs, 0.2 if options.quick else 0.6)
            recorded, written = recorded_bytes(gradient, args), written_bytes(module, args)
            share = recorded / written if written else float("nan")
            print(f"{name:18}{kind:9}{size:6}{f * 1e3:10.3f}{g * 1e3:10.3f}{g / f:7.2f}"
                  f"{recorded:14,}{written:15,}{share:8.2f}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
