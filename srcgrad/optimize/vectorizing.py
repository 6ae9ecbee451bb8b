"""Loops over elements or rows whose iterations are independent become operations on whole arrays.

    for i in range(1, n):                       c[1:] = a[1:] * b[:-1]
        c[i] = a[i] * b[i - 1]           =>     total = total + np.sum(c[1:])
        total += c[i]

What depends on the loop's index gets one more axis in front, with a row for each iteration, as in
`batching`; `analysis/independence.py` says of which loops that is right. Inner loops come first, so
that nested ones vanish from within. A loop stays where an operation isn't known to work on rows,
where it might not raise what the loop raises, and where it would make an array larger than those
that the program has.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import ir
from ..analysis.affine import Integers, Proof
from ..analysis.buffers import Buffers
from ..analysis.handed_on import asked_for, may_be_missing
from ..analysis.independence import Dependent, Iterations
from ..errors import Unbatchable, UnsupportedError
from ..frontend.lower import Lowerer
from ..frontend.restarts import NeedStatic
from ..kinds import Array, Size
from .choices import are_quiet, without_branches
from .filled_lists import Filled, filled_lists, read_as_array
from .hoisting import appends, hoisted
from .list_reads import Reads
from .whole_loops import Whole


def vectorize(function: ir.Function, low: Lowerer, needed: Iterable[ir.Operand]) -> None:
    """Replace the loops of a function that are independent, in place.

    Args:
        function: the program.
        low: emits statements.
        needed: what is made of its variables later, besides its results.
    """
    if not any(isinstance(s, ir.Loop) for s in ir.walk(function.block)):
        return
    Loops(function, low, [v for operand in needed for v in ir.variables(operand)]).block(
        function.block
    )


class Loops:
    """The loops of a function, each of which may become operations on whole arrays."""

    def __init__(self, function: ir.Function, low: Lowerer, needed: list[ir.Var]) -> None:
        self.function, self.low, self.needed = function, low, needed
        self.own: set[ir.Var] = set()  # the arrays in the place of lists: nothing else has them
        self.look()

    def look(self) -> None:
        """Analyse the function as it is now."""
        block = self.function.block
        self.aliasing = Buffers(block, self.function.together)
        self.integers = Integers(block)
        self.used = asked_for(block, self.needed)
        self.missing = may_be_missing(block)
        self.reads: Reads | None = None  # when they are asked for

    def block(self, block: ir.Block) -> None:
        """Replace the loops of a block that needn't stay."""
        for s in list(block.statements):
            for inner in ir.blocks(s):
                self.block(inner)
            if isinstance(s, ir.Loop):
                made = self.loop(s)
                if made is None:
                    made = self.filling(block, s)
                if made is not None:
                    at = block.statements.index(s)
                    block.statements[at : at + 1] = made
                    self.look()

    def loop(
        self, loop: ir.Loop, tests: Iterable[tuple[ir.Operand, bool]] = ()
    ) -> list[ir.Statement] | None:
        """The statements that do what a loop does; None if it has to stay.

        The `tests` are what is known to be true, or false, where it is.
        """
        whole = self.whole(loop, tests)
        return None if whole is None else whole.made.statements

    def filling(self, block: ir.Block, loop: ir.Loop) -> list[ir.Statement] | None:
        """The statements that make arrays of the lists that a loop of a block fills.

        Where the lists are read, the arrays are. None if the loop has to stay.
        """
        body = hoisted(loop.body)
        if not any(map(appends, body.statements)):
            return None
        if self.reads is None:
            function = self.function
            self.reads = Reads(function.block, self.needed, self.used, self.aliasing)
        reads = self.reads
        copied = reads.copied(block, loop)
        if copied is not None:
            made = next(s for s in block.statements if copied[1] in ir.targets(s))
            block.statements.remove(made)
            ir.rename(self.function.block, {copied[1]: copied[0]})
            return []
        proof = self.proof(loop)
        if not are_quiet(body.hasty, loop, proof, self.aliasing):
            return None
        lists = filled_lists(block, loop, body, proof.runs(loop), reads)
        if not lists:
            return None
        statements = loop.body.statements
        instead = {s: made for f in lists for s, made in f.instead.items()}
        loop.body.statements = [made for s in body.statements for made in instead.get(s, [s])]
        self.used |= body.chosen
        whole = self.whole(loop, careful=any(reads.is_tested(f.items) for f in lists))
        loop.body.statements = statements
        if whole is None or not all(self.is_steady(f, whole.kept[f.keeping]) for f in lists):
            return None
        for f in lists:
            array = whole.kept[f.keeping]
            own = array in whole.fresh or array in self.own
            known = read_as_array(reads, f, array, own, self.low)
            if known is not array:
                for each in (self.function.block, whole.made):
                    replace_variable(each, array, known)
            self.own.discard(array)
            self.own.update({array} if known is array and array in whole.fresh else ())
            block.statements.remove(f.made)
        return whole.made.statements

    def is_steady(self, filled: Filled, array: ir.Var) -> bool:
        """Whether what is to be a row of a list is as long as the other rows."""
        assert isinstance(array.kind, Array) and array.kind.shape
        shapes = (getattr(p.kind, "shape", None) or () for p in self.function.params)
        known = {n.base for shape in shapes for n in shape if isinstance(n, Size)}
        (length, *_) = array.kind.shape
        return filled.rows is None or isinstance(length, int) or length.base in known

    def proof(self, loop: ir.Loop) -> Proof:
        """What is known of integers where a loop is."""
        return Proof(self.integers, [*self.function.params, *ir.free_variables(loop.body)])

    def whole(
        self, loop: ir.Loop, tests: Iterable[tuple[ir.Operand, bool]] = (), careful: bool = False
    ) -> Whole | None:
        """All iterations of a loop at once; None if it has to stay.

        If that has to be `careful`, no sum runs over what belongs to several iterations.
        """
        outer = (self.low.block, self.low.span)
        self.low.block = ir.Block()
        try:
            proof = self.proof(loop)
            for test, true in tests:
                proof.passed(test, true)
            body = without_branches(loop, proof, self.aliasing, self.used)
            iterations = Iterations(loop, body, self.aliasing, proof, self.used)
            whole = Whole(iterations, self.low, careful)
            if not iterations.surely_runs and not self.missing.isdisjoint(
                ir.free_variables(loop.body)
            ):
                return None
            whole.all_at_once()
            return whole
        except (Dependent, Unbatchable, UnsupportedError, NeedStatic):
            return None
        finally:
            self.low.block, self.low.span = outer


def replace_variable(block: ir.Block, old: ir.Var, new: ir.Var) -> None:
    """Have another variable in place of one, also where that is made."""
    ir.rename(block, {old: new})
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and s.target is old:
            s.target = new
