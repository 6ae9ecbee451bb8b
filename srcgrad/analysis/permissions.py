"""Who may write: `x.flags.writeable = False`, and `x.setflags(write=True)` of a diagonal.

The generated code reuses memory, so it doesn't forbid itself to write: what is forbidden to the
program needn't be, unless the program writes there later and so raises, which is refused. What it
is allowed is allowed in the generated code too, where it writes: NumPy gives some views that can't
be written at first.
"""

from __future__ import annotations

from .. import ir, runtime
from ..errors import UnsupportedError
from .aliasing import Aliasing


def settle_permissions(function: ir.Function) -> None:
    """Keep what allows to write, where something is written; nothing of the rest.

    Raises:
        UnsupportedError: what is written may be forbidden to write.
    """
    for body in (function, *(unit.body for unit in ir.units((function,)))):
        statements = list(ir.walk(body.block))
        marks = [s for s in statements if isinstance(s, ir.Assign) and s.function in MARKS]
        if not marks:
            continue
        aliasing = Aliasing(body.block)
        needless = set()
        for s in marks:
            written = isinstance(s.args[0], ir.Var) and aliasing.is_written(s.args[0])
            if (
                written
                and s.function is runtime.forbid
                and _is_written_later(s, statements, aliasing)
            ):
                raise UnsupportedError(
                    "what is written here, or where it is seen, may have been made read-only",
                    s.span,
                    "leave it writable",
                )
            if not written or s.function is runtime.forbid:
                needless.add(id(s))
        for block in ir.all_blocks(body.block):
            block.statements = [s for s in block.statements if id(s) not in needless]


MARKS = (runtime.permit, runtime.forbid)


def _is_written_later(s: ir.Assign, statements: list[ir.Statement], aliasing: Aliasing) -> bool:
    """Whether an array may be written behind a statement, or in the next trip of a loop."""
    array = s.args[0]
    assert isinstance(array, ir.Var)
    later = statements[statements.index(s) :]
    for loop in statements:
        if isinstance(loop, ir.Loop):
            inside = list(ir.walk(loop.body))
            if s in inside and not any(array in ir.targets(other) for other in inside):
                later = statements
    writes = (w for w in later if isinstance(w, ir.Assign) and w.writes)
    return any(aliasing.find(array) in aliasing.written_by(w) for w in writes)
