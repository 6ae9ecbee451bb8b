"""What a function looks like after each stage of the pipeline."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from .. import ir
from ..api import Gradient

_VARIABLE = re.compile(r"\b([^\W\d]\w*)\.(\d+)\b")


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
    shown: dict[str, str] = {}
    numbers: dict[str, int] = {}
    count = itertools.count()

    def watch(stage: str, function: ir.Function) -> None:
        def renumbered(match: re.Match[str]) -> str:
            number = match[2]
            if number not in numbers:
                numbers[number] = next(count)
            return f"{match[1]}.{numbers[number]}"

        text = _VARIABLE.sub(renumbered, ir.to_text(function))
        shown[stage] = "\n".join(line.rstrip() for line in text.splitlines())

    gradient = Gradient(f, argnums)
    token = ir.watcher.set(watch)
    try:
        gradient(*args, **kwargs)
    finally:
        ir.watcher.reset(token)
    return {**shown, "emitted": gradient.source}
