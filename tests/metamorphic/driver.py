"""Rewriting programs, and comparing what their gradients are before and after."""

from __future__ import annotations

import ast
import contextlib
import copy
import linecache
import math
import random
import re
import signal
import sys
import time
import types
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import srcgrad
from tests.metamorphic import branches, functions, loops, state, storage, tables
from tests.metamorphic.base import REGISTRY
from tests.metamorphic.facts import observe
from tests.programs import finite_differences as fd

SHRINKING = 40.0  # seconds to make a finding smaller
SAME_VALUE, SAME_GRADIENT = 1e-10, 1e-9
MODES = ("grad", "grad", "value", "jvp", "vjp", "jacfwd", "hvp")
FAMILIES = (
    branches,
    functions,
    loops,
    state,
    storage,
    tables,
)  # what they define is in the registry
_number = 0


class TooLong(BaseException):
    """Something took longer than it may; not to be caught by programs."""


class Step(NamedTuple):
    """One rewrite: its name, what chooses the places, and, if not all of these, which."""

    rewrite: str
    seed: int
    only: tuple[int, ...] | None = None


class Outcome(NamedTuple):
    """What came of differentiating a program: `right`, or what is wrong, with a message."""

    kind: str
    message: str = ""

    @property
    def topic(self) -> tuple[str, str]:
        """What two findings have in common that are one."""
        lines = [line.strip() for line in self.message.splitlines()]
        if self.kind == "refused":
            message = next((s for s in lines[2:] if s and not s.startswith("^")), "")
        else:
            message = lines[0][:60] if lines else ""
        if self.kind.startswith("wrong") or self.kind in ("slower", "longer"):
            return self.kind, ""
        return self.kind, re.sub(r"'[^']*'|\.\w+|\w*_\d+|\d+", "…", message)


@contextlib.contextmanager
def loaded(tree: ast.Module | str, names: dict[str, Any] | None = None) -> Iterator[Any]:
    """The module that a tree or its text says; what it defines has a source."""
    global _number
    _number += 1
    name = f"metamorphic_{_number}"
    module = types.ModuleType(name)
    vars(module).update(names or {})
    sys.modules[name] = module  # dataclasses look it up
    try:
        if isinstance(tree, str):
            file = f"<{name}>"
            module.__file__ = file
            linecache.cache[file] = (len(tree), None, tree.splitlines(True), file)
            exec(compile(tree, file, "exec"), vars(module))
        else:
            exec(compile(tree, f"<watched {name}>", "exec"), vars(module))
        yield module
    finally:
        sys.modules.pop(name, None)
        linecache.cache.pop(f"<{name}>", None)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """End what takes longer, where the system can."""

    def stop(*_: Any) -> None:
        raise TooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def value_of(module: Any) -> float:
    with quiet():
        return float(module.program(*module.inputs()))


def argnums_of(module: Any) -> tuple[int, ...]:
    return tuple(getattr(module, "ARGNUMS", (0,)))


def leaves(module: Any, gradients: Any) -> list[Any]:
    """The parts of a gradient, in order."""
    found: list[Any] = []
    args = module.inputs()
    for argnum, gradient in zip(argnums_of(module), gradients, strict=True):
        fd.map_tree(
            lambda a, g: found.append(np.asarray(g)) if fd.is_differentiable(a) else None,
            args[argnum],
            gradient,
        )
    return found


class Subject:
    """A program, what it returns, and its gradient."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.tree = ast.parse(text)
        with loaded(text) as module:
            self.value = value_of(module)
            start = time.perf_counter()
            gradients = srcgrad.grad(module.program, argnums=argnums_of(module))
            with quiet():
                self.gradient = leaves(module, gradients(*module.inputs()))
            self.seconds = time.perf_counter() - start
            self.cost, self.length = cost(module, gradients), len(gradients.source)
        self.product: Any = None  # of the Hessian and a direction, once it is asked for
        watch(self.tree)

    def differentiated(self, text: str, mode: str = "grad", slow: float = math.inf) -> Outcome:
        """What comes of the gradient of this program, rewritten."""
        with loaded(text) as module, quiet():
            argnums, args = argnums_of(module), module.inputs()
            try:
                with within((5 if mode == "hvp" else 1) * (30 + 20 * self.seconds)):
                    if mode == "jvp":
                        return self.along(module)
                    if mode == "hvp":
                        return self.curved(module)
                    if mode == "vjp":
                        value, pull = srcgrad.vjp(module.program, *args)
                        pulled = pull(1.0)
                        found = [pulled[i] for i in argnums]
                    elif mode == "jacfwd":
                        value, found = self.value, srcgrad.jacfwd(module.program, argnums)(*args)
                    elif mode == "value":
                        gradient = srcgrad.value_and_grad(module.program, argnums=argnums)
                        value, found = gradient(*args)
                    else:
                        gradient = srcgrad.grad(module.program, argnums=argnums)
                        value, found = self.value, gradient(*args)
                    found = leaves(module, found)
            except srcgrad.UnsupportedError as error:
                return Outcome("refused", str(error))
            except TooLong as error:
                return Outcome("slow to compile", str(error))
            except Exception as error:
                return Outcome("failed", f"{type(error).__name__}: {error}")
            if not abs(value - self.value) <= SAME_VALUE * (1e-3 + abs(self.value)):
                return Outcome("wrong value", f"{value!r}, not {self.value!r}")
            worst = self.error(found)
            if not worst <= SAME_GRADIENT:
                return Outcome(
                    "wrong gradient", f"by {worst:.1e}; {self.differences(module, found)}"
                )
            if repr(fd.to_lists(args)) != repr(fd.to_lists(module.inputs())):
                return Outcome("changed", "the caller's arguments were changed")
            if mode == "grad" and slow < math.inf:
                ratio, length = cost(module, gradient), len(gradient.source)
                if ratio > slow * max(self.cost, 3.0):
                    return Outcome("slower", f"{ratio:.1f} times the function, not {self.cost:.1f}")
                if length > slow * self.length * len(text) / len(self.text):
                    return Outcome("longer", f"{length} characters, not {self.length}")
        return Outcome("right")

    def along(self, module: Any) -> Outcome:
        """Forward mode, against the gradient."""
        argnums, args = argnums_of(module), module.inputs()
        rng = np.random.default_rng(1)
        direction = tuple(fd.random_direction(args[i], rng) for i in argnums)
        moved = dict(zip(argnums, direction, strict=True))
        tangents = tuple(filled(moved.get(i), a) for i, a in enumerate(args))
        value, found = srcgrad.jvp(module.program, args, tangents)
        if not abs(value - self.value) <= SAME_VALUE * (1e-3 + abs(self.value)):
            return Outcome("wrong value", f"jvp: {value!r}, not {self.value!r}")
        moves = leaves(module, direction)
        terms = [np.sum(np.real(g * d)) for g, d in zip(self.gradient, moves, strict=True)]
        expected = math.fsum(terms)
        size = math.fsum(np.sum(np.abs(g * d)) for g, d in zip(self.gradient, moves, strict=True))
        if not abs(found - expected) <= SAME_GRADIENT * size:
            return Outcome("wrong tangent", f"{found!r}, not {expected!r}")
        return Outcome("right")

    def curved(self, module: Any) -> Outcome:
        """The product of the Hessian and a direction, against that of the program as it was."""
        if self.product is None:
            with loaded(self.text) as before:
                try:
                    self.product = product_of(before)
                except srcgrad.UnsupportedError:
                    self.product = []
        if not self.product:
            return Outcome("right")
        worst = self.error(product_of(module), self.product)
        if not worst <= 1e3 * SAME_GRADIENT:
            return Outcome("wrong product", f"by {worst:.1e}")
        return Outcome("right")

    def error(self, found: list[Any], expected: list[Any] | None = None) -> float:
        """The largest error of a part of a gradient, over the size of the part."""
        expected = self.gradient if expected is None else expected
        largest = max((np.max(np.abs(g), initial=0.0) for g in expected), default=0.0)
        worst = 0.0
        for mine, theirs in zip(found, expected, strict=True):
            if mine.shape != theirs.shape:
                return math.inf
            size = np.max(np.abs(theirs), initial=0.0) + 1e-6 * largest + 1e-300
            error = np.max(np.abs(mine - theirs), initial=0.0) / size
            worst = error if not error <= worst else worst
        return float(worst)

    def differences(self, module: Any, found: list[Any]) -> str:
        """What finite differences say of the two gradients."""
        argnums = argnums_of(module)
        direction, expected = fd.directional_difference(module.program, module.inputs(), argnums)
        moves = leaves(module, direction)
        totals = [
            math.fsum(np.sum(np.real(g * d)) for g, d in zip(gradient, moves, strict=True))
            for gradient in (self.gradient, found)
        ]
        return f"along a direction {totals[1]!r}, before {totals[0]!r}, differences {expected!r}"


def filled(tangent: Any, argument: Any) -> Any:
    """A tangent of an argument, with zeros for what doesn't move."""
    if isinstance(argument, dict):
        return {k: filled(None if tangent is None else tangent[k], a) for k, a in argument.items()}
    if isinstance(argument, (list, tuple)):
        items = [filled(None if tangent is None else tangent[i], a) for i, a in enumerate(argument)]
        return type(argument)(*items) if hasattr(argument, "_fields") else type(argument)(items)
    if tangent is not None:
        return tangent
    if isinstance(argument, np.ndarray):
        return np.zeros_like(argument)
    return 0.0 if isinstance(argument, float) else argument


def product_of(module: Any) -> list[Any]:
    """The product of the Hessian of a program and a direction."""
    args, argnums, rng = module.inputs(), argnums_of(module), np.random.default_rng(1)
    direction = tuple(fd.random_direction(args[i], rng) for i in argnums)
    moved = tuple(filled(d, args[i]) for d, i in zip(direction, argnums, strict=True))
    return leaves(module, srcgrad.hvp(module.program, argnums)(*args, moved))


def cost(module: Any, gradient: Any) -> float:
    """How long a gradient takes, over what the function takes."""
    times = []
    with quiet():
        for call in (gradient, module.program):
            best = math.inf
            for _ in range(3):
                args = module.inputs()
                start = time.perf_counter()
                call(*args)
                best = min(best, time.perf_counter() - start)
            times.append(best)
    return times[0] / times[1]


def watch(tree: ast.Module) -> None:
    """Note in a tree what its expressions are when the program runs."""

    def run(watched: ast.Module, names: dict[str, Any]) -> None:
        with loaded(watched, names) as module:
            value_of(module)

    observe(tree, run)


def applied(tree: ast.Module, step: Step) -> tuple[ast.Module, tuple[int, ...]] | None:
    """A tree after a rewrite, and where it was applied; None if it can't be."""
    rewrite = REGISTRY[step.rewrite]
    counted = rewrite(copy.deepcopy(tree), step.seed)
    counted.run()
    if not counted.count:
        return None
    chosen = step.only
    if chosen is None:
        choose = random.Random(f"{step.rewrite}:{step.seed}")
        most = choose.choice((1, 1, 1, 3, 3, 1 + counted.count // 4, counted.count))
        chosen = tuple(choose.sample(range(counted.count), min(most, counted.count)))
    return rewrite(copy.deepcopy(tree), step.seed, frozenset(chosen)).run(), chosen


def rewritten(subject: Subject, steps: list[Step]) -> tuple[str, list[Step]]:
    """The text of a program after those of the steps that leave its value; and these."""
    tree, text, kept = subject.tree, subject.text, []
    for step in steps:
        try:
            result = applied(tree, step)
            if result is None:
                continue
            new = ast.unparse(result[0])
            with within(20), loaded(new) as module:
                value = value_of(module)
            if abs(value - subject.value) <= SAME_VALUE * (1e-3 + abs(subject.value)):
                new_tree = ast.parse(new)
                with within(20):
                    watch(new_tree)
                tree, text = new_tree, new
                kept.append(step._replace(only=result[1]))
        except (Exception, TooLong):
            continue  # it meant something else
    return text, kept


def random_steps(seed: int, names: list[str] | None = None, most: int = 6) -> list[Step]:
    choose = random.Random(seed)
    names = names or list(REGISTRY)
    weights = [REGISTRY[n].weight for n in names]
    count = choose.randint(1, most)
    return [Step(n, choose.randrange(10**6)) for n in choose.choices(names, weights, k=count)]


def shrunk(subject: Subject, steps: list[Step], topic: Any, mode: str, slow: float) -> list[Step]:
    """As few steps, each at as few places, as show a finding on the same topic."""

    end = time.monotonic() + SHRINKING

    def shows(some: list[Step]) -> bool:
        if time.monotonic() > end:
            return False
        text, kept = rewritten(subject, some)
        return len(kept) == len(some) and subject.differentiated(text, mode, slow).topic == topic

    smaller = True
    while smaller:
        smaller = False
        for i, step in enumerate(steps):
            fewer = [steps[:i] + steps[i + 1 :]]
            sites = step.only or ()
            if len(sites) > 1:
                halves = sites[: len(sites) // 2], sites[len(sites) // 2 :]
                fewer += [[*steps[:i], step._replace(only=h), *steps[i + 1 :]] for h in halves]
                if len(sites) <= 4:
                    rests = [sites[:k] + sites[k + 1 :] for k in range(len(sites))]
                    fewer += [[*steps[:i], step._replace(only=h), *steps[i + 1 :]] for h in rests]
            better = next((f for f in fewer if f and shows(f)), None)
            if better is not None:
                steps, smaller = better, True
                break
    return steps


def subjects(names: list[str] | None = None) -> Iterator[Subject]:
    """The programs of `tests/programs`, differentiated."""
    for name in names or fd.names():
        yield Subject(name, (fd.HERE / f"{name}.py").read_text(encoding="utf-8"))
