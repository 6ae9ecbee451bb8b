"""What a function looks like after each stage of the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..gradient import Gradient
from .account import account_of


def stages(f: Callable[..., Any], *args: Any, argnums: Any = 0, **kwargs: Any) -> dict[str, str]:
    """Compile the gradient of `f` for these arguments, and show it after each stage.

    Variables are numbered in the order in which they appear, the same in all stages.

    >>> shown = stages(lambda x: x * x, 3.0)
    >>> list(shown)
    ['lowered', 'reversed', 'simplified', 'recorded', 'emitted']
    >>> print(shown["lowered"])
    function d_function(x.0)
        product.1 = mul(x.0, x.0)
        yield
    """
    account = account_of(Gradient(f, argnums), *args, **kwargs)
    return {stage.name: stage.text for stage in account.stages}
