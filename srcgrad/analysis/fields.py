"""Fields of structured arrays: NumPy keeps them between each other, the IR an array for each.

What `ravel` or `reshape` makes of one may so be a copy in NumPy where it is a view here. Nobody can
tell until one of the two is written, wherever the field was handed on to: that is refused, as is
what asks how a field lies in memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import ir, runtime
from ..errors import UnsupportedError
from .aliasing import Aliasing, holds_memory

WHERE_IT_LIES = ("strides", "flags", "base", "data")
ADVICE = "make a copy of the field first: .copy()"


def check_fields(block: ir.Block, fields: Iterable[ir.Var]) -> None:
    """Refuse a function whose result depends on how NumPy keeps fields.

    Raises:
        UnsupportedError: it does.
    """
    known = set(fields)
    if known:
        _Walk(block, known, known, set()).block(block)


class _Walk:
    """A function, in the order in which it runs; loops twice."""

    def __init__(
        self,
        block: ir.Block,
        fields: set[ir.Var],
        known: set[ir.Var],
        seen: set[tuple[ir.Unit, frozenset[int]]],
    ) -> None:
        self.aliasing = Aliasing(block)
        self.known = known
        self.seen = seen
        self.fields = {self.aliasing.find(v) for v in fields}
        copies = [
            s for s in ir.walk(block) if isinstance(s, ir.Assign) and s.function is runtime.own_copy
        ]
        while (
            new := {self.aliasing.find(s.target) for s in copies if self.is_field(s.args[0])}
            - self.fields
        ):
            self.fields |= new
        self.unsure: set[ir.Var] = set()  # the memory that is a view's too, perhaps

    def is_field(self, operand: ir.Operand) -> bool:
        return not self.fields.isdisjoint(self.aliasing.held_by((operand,)))

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            if isinstance(s, ir.Assign):
                self.assign(s)
                continue
            for _ in range(2 if isinstance(s, ir.Loop) else 1):
                for inner in ir.blocks(s):
                    self.block(inner)

    def assign(self, s: ir.Assign) -> None:
        if not self.unsure.isdisjoint(self.aliasing.written_by(s)):
            raise UnsupportedError(
                "a field of a structured array is written of which a view or a copy was made, "
                "which of the two follows from how NumPy keeps it", s.span, ADVICE,
            )  # fmt: skip
        if s.function is getattr and self.asks(s.args[1]) and self.is_field(s.args[0]):
            raise UnsupportedError(
                f"{s.args[1]!r} of a field of a structured array isn't supported: "
                "it lies elsewhere", s.span, ADVICE,
            )  # fmt: skip
        if isinstance(s.function, ir.Unit):
            self.call(s)
        if s.views and not s.certain:
            self.unsure |= self.fields & self.aliasing.held_by(s.views)

    def asks(self, name: ir.Operand) -> bool:
        return isinstance(name, ir.Const) and name.value in WHERE_IT_LIES

    def call(self, s: ir.Assign) -> None:
        unit: ir.Unit = s.function
        given = frozenset(
            i for i, a in enumerate(s.args)
            if isinstance(a, ir.Var) and holds_memory(a.kind) and self.is_field(a)
        )  # fmt: skip
        if (unit, given) in self.seen:
            return
        self.seen.add((unit, given))
        params = {p for i, p in enumerate(unit.body.params) if i in given}
        _Walk(unit.body.block, self.known | params, self.known, self.seen).block(unit.body.block)
