"""Generated gradients are readable: about as long as by hand, named for what they hold, lint-free.

After a change to what is generated, `SRCGRAD_REWRITE=1 pytest tests/test_readable.py` rewrites
examples/readable.md.
"""

import ast
import copy
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from srcgrad import grad
from tests.golden_programs import PROGRAMS
from tests.textbook import TEXTBOOK

PAGE = Path(__file__).parent.parent / "examples" / "readable.md"
SHOWN = ("soft_clusters", "recurrent")
HEAD = """\
# How long gradients are

Lines of code of the gradients of textbook functions, without comments, blank lines and docstrings;
a line that is broken is one. By hand is how an expert writes them, in
[tests/textbook.py](../tests/textbook.py). Written by `tests/test_readable.py`.

What makes a generated gradient longer is mostly that it works in place: `d_a *= b` on a line of its
own is up to 1.5 times as fast as one more factor in an expression, as no array is allocated.
"""


def generated(function):
    _, argnums, arguments = TEXTBOOK[function]
    gradient = grad(function, argnums=argnums)
    result = gradient(*copy.deepcopy(arguments))
    return result, gradient.source


def lines(text):
    """The number of lines of code in a function's body; a broken line is one."""
    body = ast.parse(text).body[0].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del body[0]
    return sum(isinstance(node, ast.stmt) for statement in body for node in ast.walk(statement))


@pytest.mark.parametrize("function", TEXTBOOK, ids=lambda f: f.__name__)
def test_both_are_right(function):
    by_hand, _, arguments = TEXTBOOK[function]
    result, _ = generated(function)
    expected = by_hand(*copy.deepcopy(arguments))
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (result, expected)), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def page():
    rows = ["| function | by hand | generated | ratio |", "|---|---|---|---|"]
    total = np.zeros(2, int)
    for function, (by_hand, _, _) in TEXTBOOK.items():
        counts = lines(inspect.getsource(by_hand)), lines(generated(function)[1])
        total += counts
        rows.append(
            f"| `{function.__name__}` | {counts[0]} | {counts[1]} | {counts[1] / counts[0]:.1f} |"
        )
    rows.append(f"| all | {total[0]} | {total[1]} | {total[1] / total[0]:.2f} |")
    parts = [HEAD, "\n".join(rows), ""]
    for function, (by_hand, _, _) in TEXTBOOK.items():
        if function.__name__ in SHOWN:
            source = re.sub(r"textbook\.py:\d+", "textbook.py", generated(function)[1])
            parts += [f"## `{function.__name__}`", ""]
            for title, text in (
                ("The function:", inspect.getsource(function)),
                ("Its gradient by hand:", inspect.getsource(by_hand)),
                ("Generated:", source),
            ):
                parts += [title, "", f"```python\n{text.strip()}\n```", ""]
    return "\n".join(parts), total


def test_lengths():
    found, (by_hand, written) = page()
    if os.environ.get("SRCGRAD_REWRITE"):
        PAGE.write_text(found)
    assert found == PAGE.read_text(), "run with SRCGRAD_REWRITE=1 and look at the change"
    assert written <= 1.34 * by_hand


SOURCES = [
    pytest.param(f, argnums, arguments, id=f.__name__)
    for f, (arguments, argnums) in [
        *PROGRAMS.items(),
        *((f, (arguments, argnums)) for f, (_, argnums, arguments) in TEXTBOOK.items()),
    ]
]


@pytest.mark.parametrize("function, argnums, arguments", SOURCES)
def test_structure(function, argnums, arguments):
    gradient = grad(function, argnums=argnums)
    gradient(*copy.deepcopy(arguments))
    source = gradient.source
    names = ", ".join(
        np.array(list(inspect.signature(function).parameters))[np.atleast_1d(argnums)]
    )
    code = function.__code__
    where = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    first, docstring, *body = source.splitlines()
    assert first == f"def d_{function.__name__}({', '.join(code.co_varnames[: code.co_argcount])}):"
    assert docstring.strip() == (
        f'"""Gradient of {function.__name__} ({where}) with respect to {names}."""'
    )
    assert body.count("") <= 1  # between the forward and the reverse sweep
    primal = {line.strip() for line in inspect.getsource(function).splitlines()}
    comments = [line.strip()[2:] for line in body if line.strip().startswith("# ")]
    assert comments
    assert set(comments) <= primal
    # names say what they hold
    assert not re.search(r"\b(_t|tmp|temp|var|val|arg)_?\d+\b", source)


def test_they_pass_ruff(tmp_path):
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff isn't installed")
    for parameter in SOURCES:
        function, argnums, arguments = parameter.values
        gradient = grad(function, argnums=argnums)
        gradient(*copy.deepcopy(arguments))
        gradient.save(
            tmp_path / f"{Path(function.__code__.co_filename).stem}_{function.__name__}.py"
        )
    rules = "E,F,W,I,UP,B,C4,PIE"
    done = subprocess.run(
        [ruff, "check", "--isolated", "--line-length=100", f"--select={rules}", tmp_path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
