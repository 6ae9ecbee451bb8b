"""Those that differentiate, side by side: each turns a function and arguments into a call.

A contender's `bind` gives a function without parameters that computes the gradient, from arguments
that are already in the contender's own arrays. What a tape builds anew on every call, it builds
anew here.
"""

from __future__ import annotations

import copy
import importlib
import importlib.metadata
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import operation_list_workloads
from benchmarks.namespaces import NotExpressible, ScalarNumPy, TensorNumPy, TorchNumPy
from benchmarks.spellings import rebound, translated
from benchmarks.tapes import operation_list
from benchmarks.tapes.scalar_graph import Value
from benchmarks.tapes.tensor_graph import Tensor

Function = Callable[..., Any]
Run = Callable[[], Any]


class Contender:
    """The base of all: takes the function as it is.

    Attributes:
        name: what tables call it.
        package: what has to be installed, or None.
        in_numpy: whether its arrays are NumPy's, so that tracemalloc sees them.
        clock: the processor's time that counts, in seconds: of the thread that calls, if that is
            where it computes.
    """

    name = ""
    package: str | None = None
    module: str | None = None
    in_numpy = True
    clock = staticmethod(time.thread_time)

    def __init__(self) -> None:
        if self.package is not None:
            self.library: Any = importlib.import_module(self.module or self.package)
            self.name += f" {importlib.metadata.version(self.package)}"

    def spellings(self) -> list[Callable[[Function], Function]]:
        """Ways to say the function to this contender; the first that isn't refused is taken."""
        return [lambda function: function]

    def bind(
        self, function: Function, argnums: tuple[int, ...], args: tuple[Any, ...], once: bool
    ) -> Run:
        """A call that computes the gradient, a tuple. With `once`, nothing need be compiled."""
        raise NotImplementedError

    def bind_product(self, function: Function, i: int, args: tuple[Any, ...], v: Any) -> Run:
        """A call that computes the product of the Hessian by argument `i` and `v`, as a tuple."""
        raise NotExpressible("Hessian-vector products")

    def numpy(self, gradient: Any) -> tuple[Any, ...]:
        """The gradient as NumPy arrays."""
        if any(part is None for part in gradient):
            raise ValueError("gave None in place of a gradient")
        return tuple(np.asarray(part) for part in gradient)


class SrcGrad(Contender):
    """This project."""

    name = "srcgrad"

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        import srcgrad

        gradient = srcgrad.grad(function, argnums)
        return lambda: gradient(*args)

    def bind_product(self, function: Function, i: int, args: Any, v: Any) -> Run:
        import srcgrad

        product = srcgrad.hvp(function, i)
        return lambda: (product(*args, v),)


class ScalarGraph(Contender):
    """The tape of numbers; arrays hold `Value` objects."""

    name = "scalar tape"

    def spellings(self) -> list[Callable[[Function], Function]]:
        return [lambda function: rebound(function, ScalarNumPy())]

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        if sum(np.size(args[i]) for i in argnums) > 300_000:
            raise NotExpressible("too many numbers to hold one object for each")

        def run() -> Any:
            given = list(args)
            for i in argnums:
                given[i] = self._values(args[i])
            function(*given).backward()
            return [given[i] for i in argnums]

        return run

    @staticmethod
    def _values(x: Any) -> Any:
        if np.ndim(x) == 0:
            return Value(float(x))
        return np.array([Value(v) for v in x.ravel().tolist()], object).reshape(x.shape)

    def numpy(self, gradient: Any) -> tuple[Any, ...]:
        return tuple(
            np.array([v.grad for v in part.flat]).reshape(part.shape)
            if isinstance(part, np.ndarray)
            else np.array(part.grad)
            for part in gradient
        )


class TensorGraph(Contender):
    """The tape of arrays."""

    name = "tensor tape"

    def spellings(self) -> list[Callable[[Function], Function]]:
        return [lambda function: rebound(function, TensorNumPy())]

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        def run() -> Any:
            given = list(args)
            for i in argnums:
                given[i] = Tensor(args[i], requires_grad=True)
            function(*given).backward()
            return [given[i].grad for i in argnums]

        return run


class OperationList(Contender):
    """The list of operations; what it can say is written out for it."""

    name = "list tape"

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        name = function.__name__
        if name not in operation_list_workloads.FUNCTIONS:
            raise NotExpressible("not written out for it")
        record = operation_list_workloads.FUNCTIONS[name]
        given = list(args)
        for i in argnums:
            given[i] = np.asarray(args[i])
        if name in operation_list_workloads.COLUMNS:
            given[0] = given[0][:, None]

        def run() -> Any:
            tape = operation_list.Autograd()
            record(tape, *given)
            tape.backward(1.0)
            return [tape.gradient_buffer.get_param(given[i]) for i in argnums]

        return run

    def numpy(self, gradient: Any) -> tuple[Any, ...]:
        return tuple(g[:, 0] if g.ndim == 2 and g.shape[1] == 1 else g for g in gradient)


class HipsAutograd(Contender):
    """The tracer that the field learnt from."""

    name, package = "autograd", "autograd"

    def spellings(self) -> list[Callable[[Function], Function]]:
        import autograd.numpy

        # since 1.9 it takes plain NumPy, though less of it than of its own
        return [lambda function: function, lambda f: rebound(f, autograd.numpy)]

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        gradient = self.library.grad(function, argnums)
        return lambda: gradient(*args)

    def bind_product(self, function: Function, i: int, args: Any, v: Any) -> Run:
        product = self.library.hessian_vector_product(function, i)
        return lambda: (product(*args, v),)


class TangentAd(Contender):
    """The other source transformation, maintained."""

    name, package, module = "tangent-ad", "tangent-ad", "tangent"

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        gradient = self.library.grad(function, wrt=argnums)
        if len(argnums) == 1:
            return lambda: (gradient(*args),)
        return lambda: gradient(*args)


class Advect(Contender):
    """A tracer; needs Python 3.12."""

    name, package = "advect", "advect"

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        gradient = self.library.grad(function, argnums)
        return lambda: gradient(*args)


class MyGrad(Contender):
    """A tape of tensors that NumPy's own functions accept."""

    name, package = "mygrad", "mygrad"

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        tensor = self.library.tensor

        def run() -> Any:
            given = list(args)
            for i in argnums:
                given[i] = tensor(args[i])
            function(*given).backward()
            return [given[i].grad for i in argnums]

        return run


class PyTorch(Contender):
    """Eager, on one thread; arguments are made tensors beforehand."""

    name, package, in_numpy = "torch", "torch", False

    def __init__(self) -> None:
        super().__init__()
        self.library.set_num_threads(1)
        self.library.set_default_dtype(self.library.float64)

    def spellings(self) -> list[Callable[[Function], Function]]:
        return [lambda function: translated(function, TorchNumPy())]

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        torch = self.library
        given = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
        for i in argnums:
            given[i] = torch.as_tensor(given[i], dtype=torch.float64).requires_grad_()
        leaves = [given[i] for i in argnums]
        gradient = torch.autograd.grad
        return lambda: gradient(function(*given), leaves)

    def bind_product(self, function: Function, i: int, args: Any, v: Any) -> Run:
        torch = self.library
        given = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
        x, v = given[i].requires_grad_(), torch.from_numpy(v)

        def run() -> Any:
            (d_x,) = torch.autograd.grad(function(*given), x, create_graph=True)
            return torch.autograd.grad(d_x, x, v)

        return run


class Jax(Contender):
    """Compiled by jit, in double precision; arguments are put on the device beforehand."""

    name, package, in_numpy = "jax", "jax", False
    clock = staticmethod(time.process_time)  # it compiles and computes in threads of its own

    def __init__(self) -> None:
        super().__init__()
        self.library.config.update("jax_enable_x64", True)
        self.library.config.update("jax_platforms", "cpu")

    def spellings(self) -> list[Callable[[Function], Function]]:
        import jax.numpy

        return [lambda function: rebound(function, jax.numpy)]

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        jax = self.library
        gradient = jax.grad(function, argnums)
        if not once:
            steps = tuple(i for i, a in enumerate(args) if isinstance(a, int))
            gradient = jax.jit(gradient, static_argnums=steps)
        given = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        return lambda: jax.block_until_ready(gradient(*given))

    def bind_product(self, function: Function, i: int, args: Any, v: Any) -> Run:
        jax = self.library
        given, v = [jax.numpy.asarray(a) for a in args], jax.numpy.asarray(v)
        gradient = jax.grad(function, i)

        @jax.jit
        def product(*given: Any) -> Any:
            along = [jax.numpy.zeros_like(a) for a in given]
            along[i] = v
            return jax.jvp(gradient, given, tuple(along))[1]

        return lambda: (jax.block_until_ready(product(*given)),)


class OfHessian(Contender):
    """A contender asked for Hessian-vector products of `function`; the last argument is the vector.

    The function that it is given to bind is ignored.
    """

    def __init__(self, contender: Contender, function: Function) -> None:
        self.contender, self.function = contender, function
        self.name, self.in_numpy = contender.name, contender.in_numpy
        self.clock = contender.clock

    def spellings(self) -> list[Callable[[Function], Function]]:
        return [lambda _, s=s: s(self.function) for s in self.contender.spellings()]

    def bind(self, function: Function, argnums: Any, args: Any, once: bool) -> Run:
        *args, v = args
        return self.contender.bind_product(function, argnums[0], tuple(args), v)

    def numpy(self, gradient: Any) -> tuple[Any, ...]:
        return self.contender.numpy(gradient)


CONTENDERS: tuple[type[Contender], ...] = (
    SrcGrad,
    ScalarGraph,
    OperationList,
    TensorGraph,
    HipsAutograd,
    TangentAd,
    Advect,
    MyGrad,
    PyTorch,
    Jax,
)


def available() -> tuple[list[Contender], dict[str, str]]:
    """The contenders that can be imported, and why the others can't."""
    present, absent = [], {}
    for contender in CONTENDERS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                present.append(contender())
        except ImportError as error:
            absent[contender.name] = str(error)
    return present, absent


def attempts(
    contender: Contender,
    function: Function,
    argnums: tuple[int, ...],
    args: tuple[Any, ...],
    once: bool = False,
) -> tuple[Run, tuple[Any, ...]]:
    """A call that has been made once, and the gradient it gave.

    Raises:
        Exception: what the contender raised at the last of its spellings.
    """
    *early, last = contender.spellings()
    for spelling in early:
        try:
            return _attempt(contender, spelling(function), argnums, args, once)
        except Exception:
            continue
    return _attempt(contender, last(function), argnums, args, once)


def _attempt(
    contender: Contender, function: Function, argnums: Any, args: Any, once: bool
) -> tuple[Run, tuple[Any, ...]]:
    run = contender.bind(function, argnums, copy.deepcopy(args), once)
    return run, contender.numpy(run())
