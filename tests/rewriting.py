"""Programs rewritten into others that do the same: their gradients must be the same, too.

Loops become `while` loops, iterators that are asked for their next item, or loops over generators;
branches become `match` or loops that are left at once; names become attributes of an object or
items of a dict; operators become functions, and functions closures. For a long run:
`python -m tests.rewriting COUNT [first seed]`.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad

from .long_runs import main
from .programs import finite_differences

SETUP = """\
import functools
import operator

class Box:
    pass

def passed_on(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper

"""
OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.MatMult: "matmul", ast.FloorDiv: "floordiv", ast.Mod: "mod",
}  # fmt: skip
YIELDS = (ast.Yield, ast.YieldFrom)
SCOPES = (*YIELDS, ast.Nonlocal, ast.Global)
# In a function with these, a name is more than a variable of it
BINDING = (
    *SCOPES, ast.Lambda, ast.FunctionDef, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp,
    ast.ClassDef, ast.NamedExpr, ast.Try, ast.Match, ast.Delete, ast.With, ast.Import,
)  # fmt: skip
numbers = itertools.count()


def fresh(name: str) -> str:
    return f"{name}_{next(numbers)}"


def written(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def statements(text: str, *bodies: list[ast.stmt]) -> list[Any]:
    """The statements of a text, in which each `...` on a line of its own stands for a body."""
    waiting = iter(bodies)

    class Filled(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> Any:
            hole = isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
            return next(waiting) if hole else node

    return Filled().visit(ast.parse(text)).body


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def holds(nodes: list[ast.stmt], *kinds: type) -> bool:
    return any(isinstance(inside, kinds) for node in nodes for inside in ast.walk(node))


def stored(nodes: list[ast.stmt]) -> set[str]:
    found = (inside for node in nodes for inside in ast.walk(node))
    return {n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def arguments(node: ast.FunctionDef) -> list[str]:
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def key_of(index: ast.expr) -> str:
    """A key as an expression: slices written out."""

    def part(item: ast.expr) -> str:
        if not isinstance(item, ast.Slice):
            return written(item)
        ends = (item.lower, item.upper, item.step)
        return f"slice({', '.join('None' if e is None else written(e) for e in ends)})"

    if isinstance(index, ast.Tuple):
        return f"({', '.join(map(part, index.elts))},)"
    return part(index)


class WhileLoops(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        call = node.iter
        if node.orelse or not (isinstance(call, ast.Call) and written(call.func) == "range"):
            return node
        if len(call.args) > 2:
            return node
        start, stop = ["0", *map(written, call.args)][-2:]
        index, end = fresh("index"), fresh("end")
        head = f"{index}, {end} = {start}, {stop}\nwhile {index} < {end}:\n"
        body = f"    {written(node.target)} = {index}\n    {index} += 1\n    ..."
        return statements(head + body, node.body)


class NextItems(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if node.orelse:
            return node
        items, target = fresh("items"), written(node.target)
        return statements(
            f"{items} = iter({written(node.iter)})\nwhile True:\n    try:\n"
            f"        {target} = next({items})\n    except StopIteration:\n        break\n    ...",
            node.body,
        )


class Generators(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        item = fresh("item")
        node.iter = expression(f"({item} for {item} in {written(node.iter)})")
        return node


class AugmentedCalls(ast.NodeTransformer):
    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        name, value = OPERATORS.get(type(node.op)), written(node.value)
        match node.target:
            case ast.Name(id=target) if name:
                return statements(f"{target} = operator.i{name}({target}, {value})")
            case ast.Subscript(value=holder, slice=index) if name:
                of, key = fresh("of"), fresh("key")
                return statements(
                    f"{of}, {key} = {written(holder)}, {key_of(index)}\n"
                    f"{of}[{key}] = operator.i{name}({of}[{key}], {value})"
                )
        return node


class StoringCalls(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.targets:
            case [ast.Subscript(value=holder, slice=index)]:
                stored = f"{written(holder)}, {key_of(index)}, {written(node.value)}"
                return statements(f"operator.setitem({stored})")
        return node


class Views(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.targets:
            case [ast.Subscript(value=holder, slice=index)]:
                view, of = fresh("view"), written(holder)
                return statements(
                    f"{view} = {of}[:] if hasattr({of}, 'dtype') else {of}\n"
                    f"{view}[{key_of(index)}] = {written(node.value)}"
                )
        return node


class Calls(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        name = OPERATORS.get(type(node.op))
        if name is None or isinstance(node.left, ast.Constant):
            return node
        return expression(f"operator.{name}({written(node.left)}, {written(node.right)})")


class LoopsForBranches(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if holds([node], ast.Break, ast.Continue):
            return node
        return ast.While(node.test, [*node.body, ast.Break()], node.orelse)


class Matches(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        cases = "    case True:\n        ...\n    case _:\n        ..."
        head = f"match bool({written(node.test)}):\n"
        return statements(head + cases, node.body, node.orelse or [ast.Pass()])


class Functions(ast.NodeTransformer):
    """What is done to whole functions, but for what is said of them before."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        first = node.body[0]
        told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        body = node.body[told:]
        if body and not holds(body, *SCOPES):
            node.body = [*node.body[:told], *self.rewritten(node, body)]
        return node

    def rewritten(self, node: ast.FunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
        raise NotImplementedError


class Finally(Functions):
    def rewritten(self, node: ast.FunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
        done = fresh("done")
        return statements(f"{done} = 0\ntry:\n    ...\nfinally:\n    {done} += 1", body)


class Closures(Functions):
    def rewritten(self, node: ast.FunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
        nested = (n for s in body for n in ast.walk(s) if isinstance(n, ast.comprehension))
        own = {name for n in nested for name in stored([n.target])}  # type: ignore[list-item]
        if any(isinstance(n, ast.Name) and n.id == "super" for s in body for n in ast.walk(s)):
            return body
        shared = sorted(stored(body).intersection(arguments(node)) - own)
        line = f"    nonlocal {', '.join(shared)}\n" if shared else ""
        run = fresh("run")
        return statements(f"def {run}():\n{line}    ...\nreturn {run}()", body)


class Attributes(Functions):
    """Variables become attributes of an object."""

    new, place = "Box()", "{}.{}"

    def rewritten(self, node: ast.FunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
        if holds(body, *BINDING):
            return body
        box, names, place = fresh("box"), stored(body), self.place

        class Placed(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> Any:
                if name.id not in names:
                    return name
                placed: Any = expression(place.format(box, name.id))
                placed.ctx = name.ctx
                return placed

        given = [f"{place.format(box, a)} = {a}" for a in arguments(node) if a in names]
        start = statements("\n".join([f"{box} = {self.new}", *given]))
        return [*start, *(Placed().visit(s) for s in body)]


class Items(Attributes):
    """Variables become items of a dict."""

    new, place = "{}", "{}['{}']"


class Returns(ast.NodeTransformer):
    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None:
            return node
        kept = fresh("kept")
        return statements(f"{kept} = [{written(node.value)}]\nreturn {kept}.pop()")


class Wrappers(ast.NodeTransformer):
    def visit_Module(self, node: ast.Module) -> Any:
        for s in node.body:
            if isinstance(s, ast.FunctionDef):
                s.decorator_list.append(ast.Name("passed_on", ast.Load()))
        return node


WAYS: list[Callable[[], ast.NodeTransformer]] = [
    WhileLoops, NextItems, Generators, AugmentedCalls, StoringCalls, Views, Calls, LoopsForBranches,
    Matches, Finally, Closures, Attributes, Items, Returns, Wrappers,
]  # fmt: skip


def rewritten(source: str, ways: list[Callable[[], ast.NodeTransformer]]) -> str:
    """The text of a module, rewritten in these ways one after the other."""
    for way in ways:
        source = written(way().visit(ast.parse(source)))
    return SETUP + source


def choice(seed: int) -> tuple[Any, list[Callable[[], ast.NodeTransformer]]]:
    """One of the programs, and three ways to rewrite it."""
    rng = random.Random(seed)
    modules = [finite_differences.load(name) for name in finite_differences.names()]
    return rng.choice(modules), rng.sample(WAYS, 3)


def program(seed: int) -> str:
    module, ways = choice(seed)
    return rewritten(inspect.getsource(module), ways)


def check(seed: int) -> str:
    """Whether a program that is rewritten has the gradient that it had."""
    (module, _), text, where = choice(seed), program(seed), f"<rewriting {seed}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(text, where, "exec"), names)
    which = tuple(getattr(module, "ARGNUMS", (0,)))
    args = module.inputs()
    value, expected = srcgrad.value_and_grad(module.program, which)(*copy.deepcopy(args))
    try:
        found, gradient = srcgrad.value_and_grad(names["program"], which)(*copy.deepcopy(args))
    except srcgrad.UnsupportedError:
        return "refused"
    np.testing.assert_allclose(found, value, 1e-12)
    np.testing.assert_allclose(flat(gradient), flat(expected), 1e-7, 1e-9)
    return "right"


def flat(value: Any) -> list[float]:
    """The numbers in a nesting."""
    if isinstance(value, (tuple, list)):
        return [number for item in value for number in flat(item)]
    if isinstance(value, dict):
        return flat([*value.values()])
    if hasattr(value, "__dict__"):
        return flat(vars(value))
    return np.ravel(np.asarray(0.0 if value is None else value, float)).tolist()


if __name__ == "__main__":
    main(check, program)
