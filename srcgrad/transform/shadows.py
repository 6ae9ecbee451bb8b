"""The forward sweep: the function itself, with what the reverse sweep needs added to it.

Memory that is written in place, or kept in a list, has a *shadow*: an array of adjoints made where
the primal one is made, and passed on wherever the primal one is: the shadow of a view is the same
view of the shadow. So shadows alias exactly as the primal arrays do, and aliasing needs no
analysis to be right. An operand that is overwritten later is copied (a *snapshot*) for the rules.
"""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..analysis.momentary import is_momentary
from ..analysis.regions import Regions
from ..errors import UnsupportedError
from ..ir import list_append
from ..kinds import BOOL, INT, Array, ListOf, Scalar, TupleOf, holds_arrays
from ..rules import registry
from .layouts import asks_layout, keep_layouts
from .lists import Lists, takes_part
from .recording import Lasting

LIST_OPERATIONS: frozenset[Any] = frozenset(
    {
        list_append, list.pop, list.insert, list.reverse, runtime.put_back,
        runtime.fresh_items, runtime.add_items, runtime.reorder, runtime.restore_order,
        operator.getitem, operator.setitem,
    }
)  # fmt: skip
# Views in which one element of memory occurs several times, and views that can't be written.
REPEATING: frozenset[Any] = frozenset(
    {
        np.broadcast_to, np.broadcast_arrays, np.meshgrid,
        np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view,
    }
)  # fmt: skip
READ_ONLY: frozenset[Any] = frozenset(
    {np.diag, np.diagonal, np.ndarray.diagonal, np.linalg.diagonal}
)


class Shadows(Lists):
    """Emits the forward sweep."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__(function, inputs, outputs)
        self.outer_lists = {v for v in inputs if isinstance(v.kind, ListOf)}  # lists from outside
        self.snapshots: dict[ir.Assign, dict[ir.Var, ir.Var]] = {}
        self.left: set[ir.Assign] = set()  # the calls after which nothing writes what they wrote
        self.lasting = Lasting()
        self.counts: dict[ir.Loop, ir.Var] = {}  # how often a loop ran
        self.shares: dict[ir.Assign, ir.Var] = {}  # whether a result is a view
        self.mirrored: set[ir.Var] = set()  # has a shadow that is part of another one
        self.last_write: dict[ir.Var, int] = {}
        self.position = 0
        self.source = function.block  # of the function, around the position
        self.loops: list[ir.Loop] = []  # around the position
        self.loop_writes: list[set[ir.Var]] = []
        self.trips_own: dict[ir.Loop, set[ir.Var]] = {}  # the variables that each trip makes anew
        self.lent: set[ir.Var] = set()  # memory that others may write when this function is done
        # Classes in which a result may be a view or not, or that are asked how they lie in memory:
        # there shadows, and what is kept of an array, have the same layout
        self.reshaped = {
            self.aliasing.find(v)
            for s in ir.walk(function.block) if isinstance(s, ir.Assign)
            for v in ((*s.views, *ir.uses(s)) if asks_layout(s) else () if s.certain else s.views)
        }  # fmt: skip
        keep_layouts(function, self.aliasing)

    def shadowed(self, var: Any) -> bool:
        """Whether a variable's adjoint is a shadow."""
        if not isinstance(var, ir.Var) or not self.activity.active(var):
            return False
        if isinstance(var.kind, ListOf):
            return True
        return isinstance(var.kind, (Array, TupleOf)) and self.aliasing.is_shared(var)

    def augment(self, block: ir.Block) -> ir.Block:
        """The forward sweep: the block with shadows, snapshots and trip counts added."""
        for number, statement in enumerate(ir.walk(block)):
            if isinstance(statement, ir.Assign):
                for root in self.aliasing.written_by(statement):
                    self.last_write[root] = number
        self.position = -1
        self.regions = Regions(block, self.aliasing)
        self.block = first = ir.Block()
        for v in self.function.params:
            self._give_shadow(v)
        augmented = self._augmented(block)
        augmented.statements[:0] = first.statements
        return augmented

    def _give_shadow(self, v: ir.Var) -> None:
        """The shadow of a list that derivatives are taken by."""
        if v in self.outer_lists and v not in self.shadows:  # a function on lists is passed its own
            inferred = Inferred(v.kind)
            self.adopt(v, self.emit(runtime.zero_items, (v,), inferred=inferred))

    def _augmented(self, block: ir.Block) -> ir.Block:
        outer, self.block = self.block, ir.Block()
        around, self.source = self.source, block
        result = self.block
        for s in block.statements:
            self.position += 1
            self.span = s.span
            match s:
                case ir.Assign():
                    self._augment_assign(s)
                case ir.If():
                    self._augment_if(s)
                case ir.Loop():
                    self._augment_loop(s)
        result.results = block.results
        self.block, self.source = outer, around
        return result

    # Control flow: shadows go where their arrays go

    def _twin(self, var: ir.Var) -> ir.Var:
        twin = ir.Var(f"d_{var.name}", var.kind)
        self.shadows[var] = twin
        self.live_buffers.add(twin)
        return twin

    def _passed(self, operand: ir.Operand, target: ir.Var, key: Any) -> ir.Operand:
        """The shadow of an operand that becomes the value of a shadowed variable."""
        if isinstance(operand, ir.Var) and operand in self.shadows:
            return self.shadows[operand]
        if operand is ir.UNDEFINED or (isinstance(operand, ir.Const) and operand.value is None):
            return operand
        if isinstance(target.kind, Array):
            return self.shadow_or_box(key, operand, target.kind)
        if isinstance(operand, ir.Var) and operand.kind == ListOf(None):
            return self.emit(list, (ir.Pack(list, ()),), inferred=Inferred(target.kind))
        if isinstance(operand, ir.Var) and isinstance(operand.kind, ListOf):
            if not self._needs_snapshot(operand):  # of constants, and as long as it is now
                kept, name = Inferred(target.kind), f"d_{target.name}"
                return self.emit(runtime.zero_items, (operand,), inferred=kept, name=name)
        raise UnsupportedError(
            f"what {target.name!r} refers to after this can't be followed", self.span
        )

    def _augment_if(self, s: ir.If) -> None:
        s.then, s.orelse = self._augmented(s.then), self._augmented(s.orelse)
        self.span = s.span
        wanted = [k for k, target in enumerate(s.targets) if self.shadowed(target)]
        outer = self.block
        for branch in (s.then, s.orelse):
            self.block = branch
            passed = [self._passed(branch.results[k], s.targets[k], id(branch)) for k in wanted]
            branch.results += tuple(passed)
        self.block = outer
        s.targets += tuple(self._twin(s.targets[k]) for k in wanted)
        self.block.statements.append(s)

    def _augment_loop(self, s: ir.Loop) -> None:
        writes = self.aliasing.written_by(*s.body.statements)
        wanted = [k for k, p in enumerate(s.params) if self.shadowed(p)]
        inits = tuple(self._passed(s.inits[k], s.params[k], s) for k in wanted)
        params = tuple(self._twin(s.params[k]) for k in wanted)
        finals = tuple(self._twin(s.targets[k]) for k in wanted)
        self.loop_writes.append(writes)
        self.loops.append(s)
        body = self._augmented(s.body)
        self.loops.pop()
        self.loop_writes.pop()
        self.span = s.span
        outer, self.block = self.block, body
        results = tuple(self._passed(body.results[k], s.params[k], id(body)) for k in wanted)
        own, flags = body.results[: len(s.params)], body.results[len(s.params) :]
        if s.range is None or s.exits:
            count = ir.Var("trips", INT)
            more = self.emit(operator.add, (count, ir.Const(1)), name="trips")
            final = self.counts[s] = ir.Var("trips", INT)
            params, inits = (*params, count), (*inits, ir.Const(0))
            results, finals = (*results, more), (*finals, final)
        self.block = outer
        body.results = (*own, *results, *flags)
        s.body, s.params, s.inits = body, s.params + params, s.inits + inits
        s.targets += finals
        self.block.statements.append(s)

    # Assignments

    def _augment_assign(self, s: ir.Assign) -> None:
        if s.target in self.outer_lists:
            self.block.statements.append(s)
            self._give_shadow(s.target)
            return
        if self._reads_lasting(s):
            self.lasting.items.add(s.target)
        if s.function is operator.setitem and self._lasts(s.args[0], s.args[1], 1):
            self.lasting.stores.append(s)
        active = any(self.activity.is_varied(o) for o in s.operands()) and (
            self.activity.active(s.target) or any(self.activity.active(v) for v in s.writes)
        )
        if active and isinstance(s.function, ir.Unit):
            self.augment_call(s)
            return
        if active and self.takes_result(s):
            self.augment_result(s)
            return
        shadowed = self.shadowed(s.target)
        on_list = self._on_list(s)
        copies: dict[ir.Var, ir.Var] = {}
        if active and not on_list and not (s.views and s.certain and shadowed):
            copies = self._operand_snapshots(s)
        self.block.statements.append(s)
        self.definitions[s.target] = s
        if shadowed:
            self._make_shadow(s)
        by_rule = not s.views or s.target not in self.mirrored
        if active and not on_list and by_rule and self._needs_snapshot(s.target):
            copies[s.target] = self._snapshot(s.target)
        if copies:
            self.snapshots[s] = copies
        if active and s.writes and not on_list and not self._needs_snapshot(s.writes[0], 1):
            self.left.add(s)
        if on_list and s.args[0] in self.shadows:
            self.augment_list(s)
        if s.target in self.lasting.items and s.target in self.shadows:
            self.lasting.items.add(self.shadows[s.target])

    if TYPE_CHECKING:  # of calls of units, of which `unit_calls` takes care

        def augment_call(self, s: ir.Assign) -> None: ...
        def augment_result(self, s: ir.Assign) -> None: ...
        def takes_result(self, s: ir.Assign) -> bool: ...

    @staticmethod
    def _on_list(s: ir.Assign) -> bool:
        """Whether a statement is one of those whose effect on a list is known."""
        first = s.args[0] if s.args else None
        return (
            isinstance(first, ir.Var)
            and isinstance(first.kind, ListOf)
            and (s.function in LIST_OPERATIONS or takes_part(s))
        )

    def _written_later(self, root: ir.Var, after: int = 0) -> bool:
        if root in self.lent:
            return True
        if any(root in writes for writes in self.loop_writes):
            return True
        return self.last_write.get(root, -1) >= self.position + after

    def _shows_changes(self, view: ir.Assign) -> bool:
        """Whether a view is read when its memory has been written, so that it isn't as a copy."""
        root = self.aliasing.find(view.target)
        if not self._written_later(root):
            return False
        return root in self.lent or not is_momentary(view, self.source, self.aliasing)

    def _needs_snapshot(self, v: ir.Var, after: int = 0) -> bool:
        """Whether a variable's contents may be other ones when the reverse sweep comes.

        Other ones than before the present statement, or after it if `after` is 1.
        """
        if isinstance(v.kind, (Array, TupleOf)):
            root, position = self.aliasing.find(v), self.position + after
            if not self._written_later(root, after):
                return False
            return root in self.lent or not self.regions.lasts(v, position, tuple(self.loops))
        if isinstance(v.kind, ListOf):
            return any(map(self._written_later, self.aliasing.classes(v)))
        return False

    def _reads_lasting(self, s: ir.Assign) -> bool:
        """Whether a statement reads what is written, but there no more: a number of an array, or
        an item of a list, or how many it has."""
        first = s.args[0] if s.args else None
        if isinstance(first, ir.Var) and isinstance(first.kind, ListOf):
            item = s.function is operator.getitem and not takes_part(s)
            asks = item or s.function is builtins.len
            return asks and self._list_lasts(self.aliasing.find(first))
        if s.function is not operator.getitem or not isinstance(s.target.kind, Scalar):
            return False
        return self._lasts(s.args[0], s.args[1])

    def _list_lasts(self, root: ir.Var) -> bool:
        """Whether nothing is put in a list any more, or taken out: in another trip of a loop that
        makes it anew, it is another list."""
        if root in self.lent or self.last_write.get(root, -1) >= self.position:
            return False
        around = zip(self.loops, self.loop_writes, strict=True)
        return all(root not in writes or self._is_anew(root, loop) for loop, writes in around)

    def _is_anew(self, root: ir.Var, loop: ir.Loop) -> bool:
        """Whether a list is made in each trip of a loop, and nothing else refers to it."""
        if loop not in self.trips_own:
            self.trips_own[loop] = ir.made_in(loop) - {*loop.params}
        contents = self.aliasing.contents.values()
        held = any(self.aliasing.find(v) is root for v in contents)
        return not held and self.trips_own[loop].issuperset(self.aliasing.members.get(root, [root]))

    def _lasts(self, array: ir.Operand, key: ir.Operand, after: int = 0) -> bool:
        """Whether nothing writes a part of an array any more that is written somewhere.

        That is, at or after the present statement, or after it if `after` is 1.
        """
        if not isinstance(array, ir.Var) or not isinstance(array.kind, Array):
            return False
        root = self.aliasing.find(array)
        if root in self.lent or root not in self.aliasing.written:
            return False
        return self.regions.lasts(array, self.position + after, tuple(self.loops), key)

    def _operand_snapshots(
        self, s: ir.Assign, other: tuple[ir.Var, ...] = ()
    ) -> dict[ir.Var, ir.Var]:
        """Copies of the operands that are written later, but for some."""
        copies: dict[ir.Var, ir.Var] = {}
        for operand in s.operands():
            for v in ir.variables(operand):
                if v not in copies and v not in other and self._needs_snapshot(v):
                    copies[v] = self._snapshot(v)
                    if isinstance(v.kind, ListOf) and v in self.shadows:
                        self._list_snapshot(s, v)
        return copies

    def _list_snapshot(self, s: ir.Assign, v: ir.Var) -> None:
        shadow = self.shadows[v]
        assert isinstance(v.kind, ListOf)
        if isinstance(v.kind.item, Array):  # a list of numbers is as it was when it's needed
            inferred = Inferred(v.kind, (shadow,))
            copy = self.emit(list, (shadow,), inferred=inferred, name=f"d_{v.name}")
            self.list_shadows.setdefault(s, {})[v] = copy

    def _snapshot(self, v: ir.Var) -> ir.Var:
        if isinstance(v.kind, TupleOf):
            return self._tuple_snapshot(v)
        function: Any = np.ndarray.copy
        if not isinstance(v.kind, Array):
            function = runtime.copied_items
        elif v.kind.shape is None:
            function = np.array
        elif self.aliasing.find(v) in self.reshaped:
            function = runtime.own_copy
        span, self.span = self.span, ir.origin(self.span, "recorded")
        copy = self.emit(function, (v,), inferred=Inferred(v.kind), name=v.name)
        self.span = span
        return copy

    def _tuple_snapshot(self, v: ir.Var) -> ir.Var:
        assert isinstance(v.kind, TupleOf)
        items: list[ir.Operand] = []
        for i, kind in enumerate(v.kind.items):
            inferred = Inferred(kind, (v,) if holds_arrays(kind) else ())
            item = self.emit(operator.getitem, (v, ir.Const(i)), inferred=inferred)
            items.append(self._snapshot(item) if holds_arrays(kind) else item)
        args = (ir.Pack(list, tuple(items)),)
        copy = self.emit(tuple, args, inferred=Inferred(v.kind), name=v.name)
        self.items_of.update({(copy, i): item for i, item in enumerate(items)})  # type: ignore[misc]
        return copy

    # Shadows

    def _make_shadow(self, s: ir.Assign) -> None:
        """Emit the shadow of a new array, view or list."""
        target = s.target
        if isinstance(target.kind, ListOf):
            self.make_list_shadow(s)
            return
        if self._on_list(s):
            return  # `augment_list` makes it
        views = [v for v in s.views if v in self.shadows]
        if views and s.function in REPEATING:
            if self._shows_changes(s):
                raise UnsupportedError(
                    "an array is written in place later of which this view may show an element "
                    "in several places",
                    s.span,
                    "make the view one of a copy: x.copy()",
                )
            views = []
        picks = s.function in registry.picking
        if (picks or s.function is np.imag) and not self._shows_changes(s):
            views = []  # the imaginary part of an adjoint has another sign: it is none of its views
        if not views:
            if isinstance(target.kind, Array):
                self.adopt(target, self.shadow_zeros(target, s.function is runtime.own_copy))
            return
        if s.certain:
            self.mirrored.add(target)
            self.adopt(target, self._mirror(s, views))
            return
        if not isinstance(target.kind, Array):
            raise UnsupportedError(
                "this result may share memory with its arguments, and is written in place",
                s.span,
                "make a copy of it first: .copy()",
            )
        if picks or len(views) > 1:  # a function of several arrays hardly returns a view of one
            operands = (target, ir.Pack(tuple, tuple(views)))
            self.act(runtime.check_fresh, *operands)
            self.adopt(target, self.shadow_zeros(target))
            return
        shares = self.emit(
            np.may_share_memory, (target, views[0]), inferred=Inferred(BOOL), name="shares"
        )
        self.shares[s] = shares
        self.mirrored.add(target)
        outer = self.block
        then, orelse = ir.Block(), ir.Block()
        self.block = then
        then.results = (self._mirror(s, views),)
        self.block = orelse
        orelse.results = (self.shadow_zeros(target),)
        self.block = outer
        shadow = ir.Var(f"d_{target.name}", target.kind)
        self.block.statements.append(ir.If(shares, then, orelse, (shadow,), s.span))
        self.adopt(target, shadow)

    def _mirror(self, s: ir.Assign, views: list[ir.Var]) -> ir.Var:
        """The same view, or views, of the shadow."""
        for v in views:
            # the real part of an adjoint is that of the real part; imag has the other sign
            if s.function is not np.real and changes_dtype(v.kind, s.target.kind):
                raise UnsupportedError(
                    "a view of another dtype of an array that is written in place",
                    s.span,
                    "make a copy of it first: .copy()",
                )

        def get(v: ir.Var) -> ir.Operand:
            return self.shadows[v] if v in views else v

        inferred = Inferred(s.target.kind, tuple(self.shadows[v] for v in views))
        view = self.emit(
            s.function,
            tuple(ir.substitute(a, get) for a in s.args),
            {k: ir.substitute(a, get) for k, a in s.kwargs},
            inferred=inferred,
            name=f"d_{s.target.name}",
        )
        if s.function in READ_ONLY:
            view = self.emit(runtime.writable, (view,), inferred=Inferred(s.target.kind, (view,)))
        return view

    def shadow_zeros(self, var: ir.Var, given: bool = False) -> ir.Var:
        """A new shadow for an array: for the copy of one that is given, which may lie in memory in
        any way, one that lies as it does where that matters."""
        assert isinstance(var.kind, Array)
        layout = var.kind.shape is None or self.aliasing.find(var) in self.reshaped
        if given and layout and var.kind.dtype is not None:
            inferred = Inferred(var.kind)
            return self.emit(runtime.own_zeros, (var,), inferred=inferred, name=f"d_{var.name}")
        kwargs: dict[str, ir.Operand] = {"order": ir.Const("K")} if layout else {}
        if var.kind.dtype is None:  # it may be an int, whose adjoint isn't one
            kwargs["dtype"] = self.emit(np.result_type, (var, ir.Const(1.0)))
        return self.emit(
            np.zeros_like, (var,), kwargs, inferred=Inferred(var.kind), name=f"d_{var.name}"
        )


def changes_dtype(a: Any, b: Any) -> bool:
    """Whether a view may have items of another type than what it is a view of surely has."""
    first, second = (getattr(kind, "dtype", None) for kind in (a, b))  # float64 == None
    unknown = second is None and isinstance(b, Array)
    return first is not None and (unknown or (second is not None and first != second))
