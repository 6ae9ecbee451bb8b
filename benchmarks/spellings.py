"""A NumPy function spelled for another array library.

Most contenders differentiate the function as it is. Others need the calls of ``np`` to go to their
own namespace (`rebound`), and PyTorch a few attributes by other names as well (`translated`).
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any


def rebound(function: Callable[..., Any], namespace: Any) -> Callable[..., Any]:
    """A copy of `function` in which the global ``np`` is `namespace`.

    The same holds for the functions of its module, so for those that it calls.
    """
    old = function.__globals__
    new = {**old, "np": namespace}
    for name, value in old.items():
        if isinstance(value, types.FunctionType) and value.__globals__ is old:
            new[name] = _copy(value, new)
    return _copy(function, new)


def _copy(function: types.FunctionType, namespace: dict[str, Any]) -> types.FunctionType:
    copy = types.FunctionType(
        function.__code__,
        namespace,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def translated(function: Callable[..., Any], namespace: Any) -> Callable[..., Any]:
    """Like `rebound`, with ``x.copy()`` and ``x.size`` as PyTorch spells them."""
    module = sys.modules[function.__module__]
    tree = _Translation().visit(ast.parse(inspect.getsource(module)))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    new = {**function.__globals__, "np": namespace}
    exec(compile(ast.fix_missing_locations(tree), module.__file__ or "", "exec"), new)
    copy: Callable[..., Any] = new[function.__name__]
    return copy


class _Translation(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = []
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr == "copy":
            node.attr = "clone"
        elif node.attr == "size":
            node.attr = "numel"
            return ast.Call(node, [], [])
        return node
