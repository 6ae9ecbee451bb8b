"""Drawing a gradient: the primitives, and how values and adjoints flow between them.

The graph is text in the DOT language, made from the lowered function; Graphviz draws it. Values
flow along solid arrows, adjoints back along dashed ones. Loops and branches are boxes.
"""

from __future__ import annotations

import itertools
import json
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import ir, runtime
from ..gradient import Gradient
from ..outside import make_reader
from ..transform.tracing import Site, listener
from .calls import Call, calls, varying

STYLE = """\
    rankdir=TB
    bgcolor=transparent
    fontname="Helvetica"
    node [shape=box style="rounded,filled" fillcolor="#f4f2ec" color="#c9c5b9" fontname="Courier"
          fontsize=11 height=0.3]
    edge [fontname="Courier" fontsize=9 color="#2f6fb0" fontcolor="#6b6f76" arrowsize=0.7]"""
ADJOINT = 'style=dashed color="#b8472f" constraint=false'
NEXT = 'style=dotted color="#97720f" constraint=false label="next"'
FORMATS = ("svg", "png", "pdf")


@dataclass(frozen=True)
class Graph:
    """A drawing in the DOT language: `str` gives the text; a notebook shows the picture.

    Attributes:
        dot: the text.
    """

    dot: str

    def __str__(self) -> str:
        return self.dot

    def svg(self) -> str:
        """The picture as SVG.

        Raises:
            RuntimeError: Graphviz isn't installed.
        """
        return self._drawn("svg").decode()

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file: SVG, PNG or PDF as its suffix says; DOT text for .dot, .gv or another.

        Raises:
            RuntimeError: it is a picture, and Graphviz isn't installed.
            OSError: the file can't be written.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "graph.dot"
        >>> Graph("digraph {}\\n").save(path)
        >>> path.read_text()
        'digraph {}\\n'
        """
        kind = Path(path).suffix[1:].lower()
        data = self._drawn(kind) if kind in FORMATS else self.dot.encode()
        Path(path).write_bytes(data)

    def _drawn(self, kind: str) -> bytes:
        try:
            import graphviz
        except ImportError:
            raise RuntimeError(
                f"drawing {kind} needs graphviz: pip install 'srcgrad[viz]'; or save as .dot"
            ) from None
        try:
            drawn: bytes = graphviz.Source(self.dot).pipe(format=kind)
        except graphviz.ExecutableNotFound:
            raise RuntimeError(
                f"drawing {kind} needs the program dot of Graphviz (apt-get install graphviz, "
                "brew install graphviz, https://graphviz.org); or save as .dot"
            ) from None
        return drawn

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        try:
            return {"image/svg+xml": self.svg(), "text/plain": self.dot}
        except RuntimeError:
            return {"text/plain": self.dot}


class _Shown(Gradient):
    """A gradient that shows all its variables."""

    _traced = "all"


def graph_of(gradient: Gradient, *args: Any, **kwargs: Any) -> Graph:
    """The graph of a function and its gradient.

    >>> from srcgrad import grad
    >>> "np.sin(x)" in graph_of(grad(lambda x: np.sum(np.sin(x))), np.ones(3)).dot
    True
    """
    drawing = _Drawing(frozenset(name for name, _ in gradient._inputs))
    shapes: dict[int, str] = {}
    run = bool(args or kwargs)
    shown = gradient
    if run:
        shown = _Shown(gradient.primal, gradient._argnums, gradient._has_aux, True, gradient._text)
    token = ir.watcher.set(drawing)
    try:
        compiled = shown._compiled_anew(args, kwargs)
    finally:
        ir.watcher.reset(token)
    if run:
        used, read = make_reader(compiled, gradient.primal)

        def listen(site: Site, adjoint: bool, value: Any) -> None:
            if not adjoint:
                shapes[site.variable] = "×".join(map(str, np.shape(value)))

        heard = listener.set(listen)
        try:
            values = shown._unmapped(shown._bound(args, kwargs))
            compiled.function(*values, *(read(gradient.primal) or ())[:used])
        finally:
            listener.reset(heard)
    return Graph(drawing.text(gradient._name, shapes))


@dataclass(frozen=True)
class _Edge:
    start: str
    end: str
    variable: int
    active: bool


class _Drawing:
    """Draws the function when it has been lowered."""

    def __init__(self, inputs: frozenset[str]) -> None:
        self.inputs = inputs
        self.lines: list[str] = []
        self.edges: list[_Edge] = []
        self.more: list[str] = []

    def __call__(self, stage: str, function: ir.Function) -> None:
        if stage != "lowered":
            return
        self.lines, self.edges, self.more = [], [], []
        self.sources: dict[int, list[int]] = {}
        self.calls = {c.target: c for c in calls(function, self.inputs)}
        self.varies = varying(function, self.inputs)
        self.nodes: dict[ir.Var, str] = {}  # where a variable comes from
        self.numbers = itertools.count()
        used = ir.free_variables(function.block)
        for p in function.params:
            if p in used:
                self.nodes[p] = self.node(p.name, "    ", 'shape=ellipse fillcolor="#e3eefa"')
        self.draw(function.block, "    ")

    def node(self, label: str, indent: str, style: str = "") -> str:
        name = f"n{next(self.numbers)}"
        self.lines.append(f"{indent}{name} [label={_quoted(label)}{style and ' '}{style}]")
        return name

    def edge(self, operand: ir.Operand, target: ir.Var, writes: bool = False) -> None:
        """Values flow from where an operand comes from to where it is used."""
        for v in ir.variables(operand):
            if v in self.nodes:
                active = self.varies(v) and (writes or self.varies(target))
                self.edges.append(_Edge(self.nodes[v], self.nodes[target], v.id, active))

    def same(self, target: ir.Var, *operands: ir.Operand) -> None:
        """A variable has the shape of what it takes its value from."""
        found = [v.id for operand in operands for v in ir.variables(operand)]
        self.sources.setdefault(target.id, []).extend(found)

    def draw(self, block: ir.Block, indent: str) -> None:
        for s in block.statements:
            match s:
                case ir.Assign() if s.function is runtime.own_copy:
                    assert isinstance(s.args[0], ir.Var)
                    self.nodes[s.target] = self.nodes[s.args[0]]
                case ir.Assign():
                    self.nodes[s.target] = self.node(_label(self.calls[s.target.id]), indent)
                    for operand in s.operands():
                        self.edge(operand, s.target, bool(s.writes))
                    for v in s.writes:  # what reads it later reads what was written
                        self.nodes[v] = self.nodes[s.target]
                        for base in self.bases(v, block):
                            self.nodes[base] = self.nodes[s.target]
                case ir.If():
                    self.branches(s, indent)
                case ir.Loop():
                    self.loop(s, indent)

    def bases(self, v: ir.Var, block: ir.Block) -> Iterator[ir.Var]:
        """The arrays that a variable is a view of."""
        for s in block.statements:
            if isinstance(s, ir.Assign) and s.target is v:
                for base in s.views:
                    yield base
                    yield from self.bases(base, block)

    def box(self, label: str, indent: str) -> Iterator[str]:
        self.lines.append(f"{indent}subgraph cluster_{next(self.numbers)} {{")
        self.lines.append(
            f'{indent}    label={_quoted(label)} labeljust=l style="rounded" color="#c9c5b9" '
            'fontsize=11 fontname="Courier"'
        )
        yield indent + "    "
        self.lines.append(f"{indent}}}")

    def branches(self, s: ir.If, indent: str) -> None:
        for inside in self.box(_line(s) or "if", indent):
            for name, branch in (("then", s.then), ("else", s.orelse)):
                if branch.statements:
                    for deeper in self.box(name, inside):
                        self.draw(branch, deeper)
            for target, a, b in zip(s.targets, s.then.results, s.orelse.results, strict=True):
                self.nodes[target] = self.node(target.name, inside, "shape=diamond")
                self.same(target, a, b)
                for operand in dict.fromkeys((s.test, a, b)):
                    self.edge(operand, target)

    def loop(self, s: ir.Loop, indent: str) -> None:
        for inside in self.box(_line(s) or "loop", indent):
            used = ir.free_variables(s.body)
            if s.index is not None and s.index in used:
                self.nodes[s.index] = self.node(s.index.name, inside, "shape=ellipse")
            for p, init in zip(s.params, s.inits, strict=True):
                if p not in used and p not in s.body.results:
                    continue
                self.nodes[p] = self.node(p.name, inside, "shape=ellipse")
                self.same(p, init)
                self.edge(init, p)
            self.draw(s.body, inside)
        for p, target, result in zip(s.params, s.targets, s.body.results, strict=False):
            if isinstance(result, ir.Var) and result in self.nodes:
                if p in self.nodes and self.nodes[p] != self.nodes[result]:
                    self.more.append(f"    {self.nodes[result]} -> {self.nodes[p]} [{NEXT}]")
                self.nodes[target] = self.nodes[result]
                self.same(target, result)

    def text(self, name: str, shapes: dict[int, str]) -> str:
        lines = [f"digraph {_quoted(name)} {{", STYLE, *self.lines]
        for e in dict.fromkeys(self.edges):
            shape = self.shape(e.variable, shapes)
            label = f" [label={_quoted(' ' + shape)}]" if shape else ""
            lines.append(f"    {e.start} -> {e.end}{label}")
            if e.active:
                lines.append(f"    {e.end} -> {e.start} [{ADJOINT}]")
        return "\n".join([*lines, *dict.fromkeys(self.more), "}", ""])

    def shape(self, variable: int, shapes: dict[int, str]) -> str:
        if variable in shapes:
            return shapes[variable]
        found = (self.shape(v, shapes) for v in self.sources.get(variable, []))
        return next(filter(None, found), "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _label(c: Call) -> str:
    return c.text if len(c.text) <= 60 else f"{c.text[:57]}..."


def _line(s: ir.If | ir.Loop) -> str:
    """The line of the function that a box stands for."""
    if s.span is None:
        return ""
    return linecache.getline(s.span.filename, s.span.line).strip()
