"""Drawings of what the three tapes recorded, with graphviz.

Data are ellipses and operations boxes, joined in the direction of the computation. The text is
built without the graphviz program; `render` and the display in a notebook need it.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import graphviz

from benchmarks.tapes import operation_list, scalar_graph, tensor_graph


@singledispatch
def draw(recorded: Any, **names: Any) -> graphviz.Digraph:
    """The graph behind a `Value`, a `Tensor` or an `Autograd` engine.

    Names may be given to what is in it: ``draw(loss, W=W, b=b)``.
    """
    raise TypeError(f"cannot draw {type(recorded).__name__}")


@draw.register
def _(recorded: scalar_graph.Value, **names: Any) -> graphviz.Digraph:
    picture = _Picture(names)
    for value in scalar_graph.topological_order(recorded):
        picture.data(value, f"{value.data:.4g}", f"grad {value.grad:.4g}")
        if value.parents:
            picture.operation(value.op, value.parents, value)
    return picture.digraph


@draw.register
def _(recorded: tensor_graph.Tensor, **names: Any) -> graphviz.Digraph:
    picture = _Picture(names)
    for tensor in tensor_graph.topological_order(recorded):
        picture.data(tensor, f"{tensor.dtype} {tensor.shape}")
        if tensor.grad_fn is not None:
            wanted = zip(tensor.grad_fn.inputs, tensor.grad_fn.needs_input_grad, strict=True)
            inputs = [x for x, needed in wanted if needed]
            picture.operation(tensor.grad_fn.function.__name__, inputs, tensor)
    return picture.digraph


@draw.register
def _(recorded: operation_list.Autograd, **names: Any) -> graphviz.Digraph:
    picture = _Picture(names)
    for operation in recorded.operation_list:
        for array in (*operation.inputs, operation.output):
            picture.data(array, f"{array.dtype} {array.shape}")
        function = operation.backward_operation
        function = getattr(function, "func", function)
        name = getattr(function, "__name__", repr(function)).removesuffix("_backward")
        picture.operation(name, operation.inputs, operation.output)
    return picture.digraph


class _Picture:
    """A graph whose nodes go by the identity of the object drawn, numbered in order."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.digraph = graphviz.Digraph(graph_attr={"rankdir": "LR"})
        self._names = {id(thing): name for name, thing in names.items()}
        self._numbers: dict[int, str] = {}
        self._operations = 0

    def data(self, thing: Any, *lines: str) -> None:
        """An ellipse, unless it is there already."""
        if id(thing) in self._numbers:
            return
        self._numbers[id(thing)] = node = f"data{len(self._numbers)}"
        if id(thing) in self._names:
            lines = (self._names[id(thing)], *lines)
        self.digraph.node(node, "\n".join(lines), shape="ellipse")

    def operation(self, name: str, inputs: Any, output: Any) -> None:
        """A box between the data it takes and gives."""
        node = f"operation{self._operations}"
        self._operations += 1
        self.digraph.node(node, name, shape="box")
        for thing in inputs:
            self.digraph.edge(self._numbers[id(thing)], node)
        self.digraph.edge(node, self._numbers[id(output)])
