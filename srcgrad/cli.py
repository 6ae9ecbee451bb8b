"""The command line: `srcgrad show FILE.py:FUNCTION`, and the other ways to look at a gradient.

The example inputs come from the file itself: a function `example_inputs_FUNCTION()`, or
`example_inputs()` for all its functions, that returns the tuple of arguments (or the only one).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import timeit
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import __version__
from .api import grad, value_and_grad
from .errors import SrcgradError
from .gradient import Gradient
from .inspect.account import STAGES, account_of
from .inspect.directions import compare
from .inspect.highlight import coloured, highlighted
from .inspect.rules import format_table, rules_table
from .inspect.trace import as_text

TOLERANCE = {4: 1e-2, 8: 1e-5}  # by the size of the floats
EXAMPLES = """\
The arguments come from a function example_inputs() in the file, or
example_inputs_FUNCTION(), which returns the tuple of them.

examples:
  srcgrad show model.py:loss                    the generated gradient
  srcgrad show model.py:loss --stage lowered    what the compiler makes of it first
  srcgrad explain model.py:loss                 what became of each line, and why
  srcgrad html model.py:loss -o loss.html       the function beside its gradient
  srcgrad graph model.py:loss -o loss.svg       values and adjoints, drawn
  srcgrad trace model.py:loss                   where does the gradient vanish or explode?
  srcgrad check model.py:loss --argnums w,b     is it right?
  srcgrad rules linalg                          which functions have derivatives
"""


class UsageError(Exception):
    """A mistake in the command, shown without a traceback."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code: 0, 1 if a check fails, 2 for a wrong command.

    >>> main(["show", "no such file.py:f"])
    2
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        code: int = options.run(options)
        return code
    except UsageError as error:
        print(f"srcgrad: {error}", file=sys.stderr)
        return 2
    except SrcgradError as error:
        print(f"srcgrad: {type(error).__name__}:\n{error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="srcgrad",
        description="Look at the gradients that srcgrad generates, and check them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"srcgrad {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, run, text in (
        ("show", _show, "print the generated gradient"),
        ("explain", _explain, "tell, line by line, what became of the function and why"),
        ("html", _html, "write a page that shows the function beside its gradient"),
        ("graph", _graph, "draw the primitives, and how values and adjoints flow"),
        ("trace", _trace, "call the gradient, and tabulate the values and adjoints of variables"),
        ("check", _check, "compare the gradient with finite differences, and time it"),
    ):
        command = commands.add_parser(name, help=text, description=text.capitalize() + ".")
        command.add_argument("target", metavar="FILE.py:FUNCTION")
        command.add_argument(
            "--argnums",
            metavar="LIST",
            help="positions or names of the arguments to differentiate, with commas between "
            "(default: 0, or what the decorator of the function says)",
        )
        if name == "show":
            command.add_argument(
                "--stage",
                choices=STAGES,
                default="emitted",
                help="which stage of the compiler to show (default: emitted, the gradient itself)",
            )
        if name != "check":
            kinds = " (.svg, .png, .pdf or .dot)" if name == "graph" else ""
            command.add_argument(
                "-o", "--output", metavar="FILE",
                help=f"write to this file{kinds}, not to the terminal",
            )  # fmt: skip
        command.set_defaults(run=run)
    text = "print the table of the functions that have derivatives, and of those that can't"
    command = commands.add_parser("rules", help=text, description=text.capitalize() + ".")
    command.add_argument("word", nargs="?", default="", help="only of names that contain this")
    command.set_defaults(run=_rules)
    return parser


def _rules(options: argparse.Namespace) -> int:
    rows = [row for row in rules_table() if options.word.lower() in row.name.lower()]
    print(format_table(rows))
    return 0 if rows else 1


def _show(options: argparse.Namespace) -> int:
    gradient, args, _ = _loaded(options, grad)
    if options.stage == "emitted":
        _called(gradient, args)
        text = gradient.source
    else:
        text = account_of(gradient, *args).stage(options.stage).text + "\n"
    return _written(options, text, highlighted(text, sys.stdout))


def _explain(options: argparse.Namespace) -> int:
    gradient, args, _ = _loaded(options, grad)
    explanation = _watched(gradient, gradient.explain, args)
    return _written(options, explanation.text(), explanation.text(coloured(sys.stdout)))


def _html(options: argparse.Namespace) -> int:
    gradient, args, _ = _loaded(options, grad)
    page = _watched(gradient, gradient.html, args)
    if options.output is None and sys.stdout.isatty():
        options.output = f"{gradient.__name__}.html"
    return _written(options, page, page)


def _graph(options: argparse.Namespace) -> int:
    gradient, args, _ = _loaded(options, grad)
    graph = _watched(gradient, gradient.graph, args)
    if options.output is None:
        return _written(options, graph.dot, graph.dot)
    try:
        graph.save(options.output)
    except RuntimeError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"writing {options.output} failed: {error.strerror}") from None
    print(f"wrote {options.output}", file=sys.stderr)
    return 0


def _trace(options: argparse.Namespace) -> int:
    gradient, args, _ = _loaded(options, grad)
    trace = _watched(gradient, gradient.trace, args)
    shown = str(trace)
    if coloured(sys.stdout):
        shown = as_text(trace, shutil.get_terminal_size().columns)
    return _written(options, str(trace), shown)


def _written(options: argparse.Namespace, text: str, shown: str) -> int:
    """Write to the file that the command names, or print."""
    if options.output is None:
        print(shown, end="")
        return 0
    try:
        Path(options.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"writing {options.output} failed: {error.strerror}") from None
    print(f"wrote {options.output}", file=sys.stderr)
    return 0


def _check(options: argparse.Namespace) -> int:
    gradient, args, argnums = _loaded(options, value_and_grad)
    value, found = _called(gradient, args)
    if gradient._has_aux:
        value = value[0]
    gradients = found if isinstance(argnums, tuple) else (found,)
    indices = [_position(gradient, which) for which in gradient._inputs]

    def primal(*args: Any) -> Any:
        result = gradient.primal(*args)
        return result[0] if gradient._has_aux else result

    error, size = compare(primal, args, indices, gradients)
    function_time = _time(lambda: primal(*args))
    gradient_time = _time(lambda: gradient(*args))
    print(f"value           {float(value):.10g}")
    print(f"maximal error   {error:.2g} (relative, against finite differences)")
    print(f"function        {_seconds(function_time)}")
    print(f"with gradient   {_seconds(gradient_time)} ({gradient_time / function_time:.1f} times)")
    if not error <= TOLERANCE[size]:
        print(f"the gradient is wrong: the error is above {TOLERANCE[size]:g}", file=sys.stderr)
        return 1
    return 0


def _position(gradient: Gradient, which: tuple[str, int | str | None]) -> int:
    name, part = which
    index = gradient._parameters.index(name)
    return index + part if isinstance(part, int) else index


def _loaded(
    options: argparse.Namespace, make: Callable[..., Gradient]
) -> tuple[Gradient, tuple[Any, ...], Any]:
    """The gradient of the function that the command names, the example inputs, the argnums."""
    file, separator, name = options.target.rpartition(":")
    if not separator or not file or not name:
        raise UsageError(f"{options.target!r} isn't of the form FILE.py:FUNCTION")
    module = _module(Path(file))
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if function is None:
        functions = [
            key
            for key, thing in vars(module).items()
            if (isinstance(thing, Gradient) or callable(thing))
            and getattr(thing, "__module__", None) == module.__name__
        ]
        has = f"it has {', '.join(functions)}" if functions else "it has no functions"
        raise UsageError(f"{file} has no function {name!r}; {has}")
    if not callable(function):
        raise UsageError(f"{name!r} in {file} is a {type(function).__name__}, not a function")
    chosen: Any = 0
    has_aux, text = False, None
    if isinstance(function, Gradient):
        chosen, has_aux, text = function._argnums, function._has_aux, function._text
        function = function.primal
    if options.argnums is not None:
        numbers = [_number(part.strip()) for part in options.argnums.split(",")]
        chosen = tuple(numbers) if len(numbers) > 1 else numbers[0]
    try:
        gradient = make(function, argnums=chosen, has_aux=has_aux, source=text)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    return gradient, _inputs(module, file, name), chosen


def _number(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdigit() else text


def _module(file: Path) -> Any:
    if not file.is_file():
        raise UsageError(f"there is no file {str(file)!r}")
    name = file.stem
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(file)!r} isn't a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.resolve().parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        lines = traceback.format_exception_only(error)
        raise UsageError(f"running {file} failed: {''.join(lines).strip()}") from error
    return module


def _inputs(module: Any, file: str, name: str) -> tuple[Any, ...]:
    own = f"example_inputs_{name.rpartition('.')[2]}"
    make = getattr(module, own, None) or getattr(module, "example_inputs", None)
    if make is None:
        raise UsageError(
            f"{file} has no example inputs: add a function\n\n"
            f"    def example_inputs():\n        return (...)  # the arguments of {name}\n\n"
            f"or {own}() for this function alone"
        )
    made = make()
    return made if type(made) is tuple else (made,)


def _called(gradient: Gradient, args: tuple[Any, ...]) -> Any:
    return _watched(gradient, gradient, args)


def _watched(gradient: Gradient, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a call that runs the function returns; its errors are shown as the user's."""
    try:
        return call(*args)
    except SrcgradError:
        raise
    except Exception as error:
        raise UsageError(
            f"the gradient of {gradient.__name__} on the example inputs failed: "
            f"{type(error).__name__}: {error}"
        ) from error


def _time(call: Callable[[], Any]) -> float:
    """Seconds of a call: the best of some runs of about 50 ms."""
    timer = timeit.Timer(call)
    number, taken = 1, timer.timeit(1)
    while taken < 0.02 and number < 100_000:
        number *= 4
        taken = timer.timeit(number)
    return float(min(taken, *timer.repeat(3, number))) / number


def _seconds(time: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if time >= scale:
            return f"{time / scale:.3g} {unit}"
    return f"{time / 1e-6:.3g} us"


__all__ = ["UsageError", "main"]
