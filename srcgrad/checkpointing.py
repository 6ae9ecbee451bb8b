"""Checkpointing: compute again in the reverse sweep what would take too much memory to keep.

`checkpoint(f)` is `f`, of whose calls reverse mode keeps the arguments alone. `checkpoint_loop`
repeats a step so that the gradient of n steps needs the memory of about sqrt(2 n) states, and
three times the work: the binomial schedule of Griewank and Walther, "Algorithm 799: Revolve",
ACM TOMS 26 (2000), which for a number of snapshots needs the fewest steps.

The schedule isn't part of the compiler. It is the recursion `steps`, whose derivative, when it is
computed again rather than recorded, is the schedule: to undo the steps from `start` to `stop`,
advance to the middle, undo the second half, then the first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .trees import children, with_children

State = TypeVar("State")


class Checkpointed:
    """A function whose calls are computed again in the reverse sweep. Made by `checkpoint`."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"checkpoint needs a function, not {type(function).__name__!r}")
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<checkpointed {self.__name__}>"


def checkpoint(f: Callable[..., Any]) -> Checkpointed:
    """The same function, but reverse mode doesn't record what it computes: it runs it again.

    The gradient keeps the arguments of each call, and outer variables that `f` reads, but none of
    its intermediate values; it runs `f` once more. Use it as a decorator, or at a call:
    `checkpoint(layer)(x, w)`.

    Args:
        f: a function of numbers and arrays, and of containers of them. It must do the same each
            time it is called with the same arguments: it can't draw random numbers, or print.

    Returns:
        A function that is called like `f`.

    Raises:
        TypeError: `f` can't be called.
        UnsupportedError: from the gradient, if `f` does something that mustn't be done twice.

    >>> import numpy as np, srcgrad
    >>> @srcgrad.checkpoint
    ... def layer(x, w):
    ...     return np.tanh(w * x)
    >>> gradient = srcgrad.grad(lambda x: layer(layer(x, 2.0), 3.0))
    >>> round(float(gradient(0.1)), 6)
    4.137807
    >>> "def backward_layer(" in gradient.source
    True
    """
    return Checkpointed(f)


def checkpoint_loop(
    body: Callable[[int, State], State], state: State, n: int, snapshots: int | None = None
) -> State:
    """The state after `for i in range(n): state = body(i, state)`, with little memory.

    Where reverse mode would record the intermediate values of all n steps, the gradient keeps
    only `snapshots` states at a time, and computes the others again, by the schedule that does so
    in the fewest steps (Revolve, Griewank and Walther 2000). Outer variables that `body` reads
    have gradients like any.

    Args:
        body: the step, of the iteration's number and the state.
        state: a number, an array, or a tuple of them; every step returns one like it. The loop
            works on a copy, so that `body` may write into its state. Outer arrays it mustn't.
        n: the number of steps.
        snapshots: how many states may be kept. By default so many, about sqrt(2 n / 8), that no
            step is computed more than three times.

    Returns:
        The last state.

    Raises:
        ValueError: `snapshots` isn't positive.
        UnsupportedError: from the gradient, if `body` does something that mustn't be done twice.

    >>> import numpy as np, srcgrad
    >>> def heated(x):
    ...     def step(i, u):
    ...         return u + 0.01 * np.sin(u)
    ...     return np.sum(checkpoint_loop(step, x, 1000))
    >>> srcgrad.grad(heated)(np.array([0.1, 1.0])).round(4)
    array([0.018 , 0.0002])
    """
    if snapshots is None:
        snapshots = default_snapshots(n)
    if snapshots < 1:
        raise ValueError("checkpoint_loop needs at least one snapshot")
    state = _apart(state, True)
    for i in range(n):
        state = _apart(body(i, state))
    return state


def _apart(state: Any, every: bool = False) -> Any:
    """The state, with copies of arrays that share memory with another one, or of every one."""
    arrays: list[Any] = []

    def visit(tree: Any) -> Any:
        inner = children(tree)
        if inner is not None:
            return with_children(tree, {k: visit(v) for k, v in inner.items()})
        if not isinstance(tree, np.ndarray):
            return tree
        if every or any(np.may_share_memory(tree, a) for a in arrays):
            tree = tree.copy(order="K")
        arrays.append(tree)
        return tree

    return visit(state)


def repeated(body: Any, state: Any, n: Any, snapshots: Any = None) -> Any:
    """What the gradient of `checkpoint_loop` is the gradient of."""
    if snapshots is None:
        snapshots = default_snapshots(n)
    if snapshots < 1:
        raise ValueError("checkpoint_loop needs at least one snapshot")
    if n <= 0:
        return state
    return steps(body, state, 0, n, snapshots)


def steps(body: Any, state: Any, start: Any, stop: Any, snapshots: Any) -> Any:
    """`for i in range(start, stop): state = body(i, state)`, in parts."""
    if stop - start <= 8:  # recording is cheaper than a call
        for i in range(start, stop):
            state = body(i, state)
        return state
    middle = start + first_part(stop - start, snapshots)
    state = steps(body, state, start, middle, snapshots)
    return steps(body, state, middle, stop, snapshots - 1)


def advance(body: Any, state: Any, start: Any, stop: Any, snapshots: Any) -> Any:
    """What `steps` computes, without a derivative."""
    for i in range(start, stop):
        state = body(i, state)
    return state


def default_snapshots(n: int) -> int:
    """The number of snapshots with which no step is computed more than three times.

    >>> default_snapshots(100_000)
    157
    """
    blocks = -(-n // 8)
    snapshots = 1
    while (snapshots + 1) * (snapshots + 2) // 2 < blocks:
        snapshots += 1
    return snapshots


def first_part(length: int, snapshots: int) -> int:
    """How many steps to advance before a snapshot is taken, so that the fewest are repeated.

    With s snapshots, and each step computed at most t times, (s + t choose s) blocks can be
    undone. The second part has one snapshot less, the first one repetition less.

    >>> first_part(100_000, 158), first_part(80, 3)
    (1272, 32)
    """
    blocks = -(-length // 8)
    if snapshots <= 1:
        return 8 * (blocks - 1)
    repetitions, most = 0, 1  # (s + t choose s)
    while most < blocks:
        repetitions += 1
        most = most * (snapshots + repetitions) // repetitions
    # (s + t - 1 choose s) and (s + t - 2 choose s - 1)
    before = most * repetitions // (snapshots + repetitions)
    second = before * snapshots // (snapshots + repetitions - 1)
    return 8 * max(1, min(before, blocks - second))


__all__ = ["Checkpointed", "checkpoint", "checkpoint_loop"]
