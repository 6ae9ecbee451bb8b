"""Shadows of lists that the program builds at run time.

The shadow of a list is a list as long. Where the list holds an array or another list, the shadow
holds that one's shadow; where it holds a number, the shadow holds the number's adjoint: zero in
the forward sweep, added up in the reverse sweep. So what the forward sweep does to the list it
does to the shadow too, and only numbers need anything to be undone in the reverse sweep.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.activity import carries
from ..analysis.aliasing import holds_memory, is_slice
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..frontend.structure import item_structure
from ..frontend.values import ListObject, Ref, Tuple
from ..ir import list_append
from ..kinds import Array, Kind, ListOf, Opaque, Scalar, TupleOf, int_kind
from .contributions import Contributions, is_zero
from .joined_tuples import split_joined_tuples

ZERO = ir.Const(0.0)
INSERTIONS: frozenset[Any] = frozenset({list.insert, runtime.put_back})
# What undoes what gives a list's items another order
UNDONE: dict[Any, Any] = {
    list.reverse: list.reverse, runtime.reorder: runtime.restore_order,
    runtime.restore_order: runtime.reorder,
}  # fmt: skip
MADE_OF_A_LIST = (operator.getitem, list.pop, list, tuple, runtime.fresh_items)


class Lists(Contributions):
    """What both sweeps do with lists."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        split_joined_tuples(function.block)
        settle_items(function.block)
        take_apart(function.block)
        super().__init__(function, inputs, outputs)
        self.parts: dict[ir.Var, dict[int, Any]] = {}  # adjoints of the numbers in a tuple
        # Shadows made for numbers where arrays are expected, with what they are shadows of.
        self.boxes: dict[Any, list[tuple[ir.Var, ir.Var]]] = {}
        # The shadow of a list as it was when a statement used it.
        self.list_shadows: dict[ir.Assign, dict[ir.Var, ir.Var]] = {}
        self.used_lists: dict[ir.Var, ir.Var] = {}

    def object_of(self, var: ir.Var, items: list[Any]) -> Any:
        return Tuple(tuple(items), tuple, var)  # of adjoints

    # The forward sweep

    def shadow_item(self, s: ir.Statement, operand: ir.Operand, kind: Any) -> ir.Operand:
        """The shadow of what is put in a list whose items are of the given kind."""
        if isinstance(kind, (tuple, TupleOf)):
            kinds = kind if isinstance(kind, tuple) else kind.items
            if isinstance(operand, ir.Var) and operand in self.shadows:
                return self.shadows[operand]
            if isinstance(operand, ir.Const) and operand.value is None:
                return ir.Pack(tuple, tuple(self.shadow_item(s, operand, k) for k in kinds))
            if all(isinstance(k, Scalar) and not carries(k) for k in kinds):  # a shape
                return ir.Pack(tuple, (ir.Const(None),) * len(kinds))
            parts = self.tuple_parts(operand, len(kinds))
            pairs = zip(parts, kinds, strict=True)
            return ir.Pack(tuple, tuple(self.shadow_item(s, p, k) for p, k in pairs))
        if isinstance(kind, ListOf):
            return self.shadows.get(operand, ir.Const(None))  # type: ignore[arg-type]
        if isinstance(kind, Array) and carries(kind):
            return self.shadow_or_box(s, operand, kind)
        return ZERO if carries(kind) else ir.Const(None)

    def tuple_parts(self, operand: ir.Operand, count: int) -> list[ir.Operand]:
        """The operands that a tuple is made of."""
        if isinstance(operand, ir.Pack):
            return list(operand.items)
        if isinstance(operand, ir.Var):
            parts = [self.items_of.get((operand, i)) for i in range(count)]
            if all(part is not None for part in parts):
                return parts  # type: ignore[return-value]
        raise UnsupportedError("this tuple can't be kept in a list", self.span)

    def shadow_or_box(self, key: Any, operand: ir.Operand, kind: Kind) -> ir.Operand:
        """The shadow of an operand, or one made for it alone where it has none."""
        if isinstance(operand, ir.Var) and operand in self.shadows:
            return self.shadows[operand]
        if operand is ir.UNDEFINED or (isinstance(operand, ir.Const) and operand.value is None):
            return operand
        assert isinstance(kind, Array)
        dtype = np.dtype(float) if kind.dtype is None else kind.dtype
        number = not isinstance(operand, ir.Var) or isinstance(operand.kind, Scalar)
        have = getattr(getattr(operand, "kind", None), "shape", None)
        box = self.emit(
            np.zeros_like,
            (operand,),
            {"dtype": ir.Const(dtype)},
            inferred=Inferred(Array(dtype, () if number else have)),
            name="d_item",
        )
        self.live_buffers.add(box)
        if isinstance(operand, ir.Var):
            self.boxes.setdefault(key, []).append((operand, box))
        return box

    def unbox(self, key: Any) -> None:
        """Give numbers their adjoints from the shadows made for them."""
        for operand, box in self.boxes.get(key, ()):
            self.add(operand, box)

    def make_list_shadow(self, s: ir.Assign) -> None:
        """Emit the shadow of a new list: of several items, or a part or copy of another list."""
        target = s.target
        assert isinstance(target.kind, ListOf)
        first = s.args[0] if s.args else None
        if s.function in (list, tuple) and isinstance(first, ir.Pack):
            items = tuple(self.shadow_item(s, item, target.kind.item) for item in first.items)
            args: tuple[ir.Operand, ...] = (ir.Pack(list, items),)
            inferred = Inferred(replace(target.kind, type=list))
            self.adopt(target, self.emit(list, args, inferred=inferred))
            return
        if isinstance(first, ir.Var) and isinstance(first.kind, TupleOf) and first in self.shadows:
            whole = self.shadows[first]
            inferred = Inferred(target.kind, (whole,))
            self.adopt(target, self.emit(s.function, (whole, s.args[1]), inferred=inferred))
            return
        if isinstance(first, ir.Var) and isinstance(first.kind, ListOf):
            shadow = self.shadows.get(first)
            alone = isinstance(target.kind.item, Scalar) and not target.kind.holes
            constant = shadow is None and not self.aliasing.changes(first)
            part = s.function in MADE_OF_A_LIST and (constant or (takes_part(s) and alone))
            if part or s.function is runtime.zero_items:
                inferred = Inferred(replace(target.kind, type=list))
                self.adopt(target, self.emit(runtime.zero_items, (target,), inferred=inferred))
                return
            if shadow is not None and s.function in MADE_OF_A_LIST:
                inferred = Inferred(replace(target.kind, type=list), (shadow,))
                writes = (shadow,) if s.writes else ()
                function = list if s.function is tuple else s.function
                fresh, made = takes_part(s) and has_numbers(target.kind.item), shadow
                if not (fresh and takes_all(s)):
                    args = (shadow, *s.args[1:])
                    made = self.emit(function, args, inferred=inferred, writes=writes)
                if fresh:
                    inferred = Inferred(target.kind, (made,))
                    made = self.emit(runtime.fresh_items, (made,), inferred=inferred)
                self.adopt(target, made)
                return
        raise UnsupportedError("what this does to a list can't be differentiated", s.span)

    def adopt(self, var: ir.Var, shadow: ir.Var) -> None:
        shadow.name = f"d_{var.name}"
        self.shadows[var] = shadow
        self.live_buffers.add(shadow)

    def augment_list(self, s: ir.Assign) -> None:
        """Do to the shadow of a list what a statement does to the list."""
        items = s.args[0]
        assert isinstance(items, ir.Var) and isinstance(items.kind, ListOf)
        shadow, kind = self.shadows[items], items.kind.item
        if s.function is list_append:
            item = self.shadow_item(s, s.args[1], kind)
            self.modify(list_append, shadow, item)
        elif s.function in INSERTIONS:
            item = self.shadow_item(s, s.args[2], kind)
            self.modify(s.function, shadow, s.args[1], item)
        elif s.function is operator.setitem:
            if has_references(kind):
                item = self.shadow_item(s, s.args[2], kind)
                self.set_item(shadow, s.args[1], item)
        elif s.function in UNDONE:
            if has_references(kind):  # the others are zeros
                self.modify(s.function, shadow, *s.args[1:])
        elif s.function in (list.pop, operator.getitem) and not takes_part(s):
            if isinstance(s.target.kind, ListOf):
                return  # made by make_list_shadow
            refers = has_references(kind)
            if s.function is list.pop or refers:
                views = (shadow,) if refers else ()
                item = self.emit(
                    s.function,
                    (shadow, *s.args[1:]),
                    inferred=Inferred(s.target.kind, views),
                    writes=(shadow,) if s.writes else (),
                    name=f"d_{s.target.name}",
                )
                if refers:
                    self.adopt(s.target, item)

    # The reverse sweep

    def reverse_list(self, s: ir.Assign) -> None:
        """Undo a statement that makes a list, reads it, or changes it."""
        self.unbox(s)
        first = s.args[0]
        if s.function in (list, tuple) and isinstance(first, ir.Pack):
            self._reverse_made(s, first)
            return
        if isinstance(first, ir.Var) and isinstance(first.kind, TupleOf):
            return  # a list taken out of a tuple: its shadow is the one in the tuple's
        assert isinstance(first, ir.Var) and isinstance(first.kind, ListOf)
        kind = first.kind.item
        if first not in self.shadows or not has_numbers(kind):
            return
        shadow = self.shadows[first]
        if s.function is list_append or s.function in INSERTIONS:
            place = s.args[1:-1]
            item = self.emit(
                list.pop, (shadow, *place), inferred=Inferred(structure(kind), (shadow,)),
                writes=(shadow,), name="d_item",
            )  # fmt: skip
            self._spill(s.args[-1], self.project(item), kind)
        elif s.function is operator.setitem:
            d = self._item(shadow, s.args[1])
            self.set_item(shadow, s.args[1], self._emptied(d, kind))
            self._spill(s.args[2], d, kind)
        elif s.function in UNDONE:
            self.modify(UNDONE[s.function], shadow, *s.args[1:])
        elif takes_part(s):
            if s.target not in self.shadows:  # derivatives need nothing of it
                return
            parts: tuple[ir.Operand, ...] = (ir.Const(None),)
            if len(s.args) > 1 and isinstance(s.args[1], ir.Pack):
                parts = s.args[1].items
            key = self.emit(slice, parts, inferred=Inferred(Opaque(slice)), name="part")
            self._add_items(shadow, key, self.shadows[s.target])
        elif s.function is runtime.add_items:
            more = s.args[2]
            if isinstance(more, ir.Var) and more in self.shadows:
                inferred = Inferred(first.kind, (shadow,))
                part = self.emit(operator.getitem, (shadow, s.args[1]), inferred=inferred)
                self._add_items(self.shadows[more], ir.Const(slice(None)), part)
        elif s.function is operator.getitem:
            d = self._taken(s.target, kind)
            if not _nothing(d):
                old = self._item(shadow, s.args[1])
                self.set_item(shadow, s.args[1], self.operand(self._added(old, d)))
        elif s.function is list.pop:
            d = self.operand(self._taken(s.target, kind))
            if len(s.args) == 1:
                self.modify(list_append, shadow, d)
            else:
                self.modify(runtime.put_back, shadow, s.args[1], d)

    def _reverse_made(self, s: ir.Assign, items: ir.Pack) -> None:
        assert isinstance(s.target.kind, ListOf)
        kind = s.target.kind.item
        if has_numbers(kind):
            for i, operand in enumerate(items.items):
                if any(self.activity.active(v) for v in ir.variables(operand)):
                    self._spill(operand, self._item(self.shadows[s.target], ir.Const(i)), kind)

    def _add_items(self, shadow: ir.Var, key: ir.Operand, more: ir.Var) -> None:
        """Add the items of a list to those that `key` selects of a shadow."""
        self.modify(runtime.add_items, shadow, key, more)

    def set_item(self, shadow: ir.Var, key: ir.Operand, item: ir.Operand) -> None:
        self.modify(operator.setitem, shadow, key, item)

    def list_value(self, var: ir.Var) -> Ref:
        ref = Ref(self.unique())
        self.state.heap[ref.id] = ListObject((), var)
        return ref

    def _item(self, shadow: ir.Var, key: ir.Operand) -> Any:
        inferred = self.item_inferred(shadow)
        return self.project(self.emit(operator.getitem, (shadow, key), inferred=inferred), shadow)

    def _taken(self, var: ir.Var, kind: Any) -> Any:
        """The adjoint of an item that was read or popped, as the shadow list holds it."""
        if isinstance(kind, tuple):
            parts = self.parts.pop(var, {})
            items: list[Any] = []
            for i, k in enumerate(kind):
                inner = self.items_of.get((var, i))
                if isinstance(k, tuple) and i in parts:
                    items.append(parts[i])
                elif isinstance(k, tuple) and inner is not None:
                    items.append(self._taken(inner, k))
                elif has_references(k):
                    item = self.emit(
                        operator.getitem, (self.shadows[var], ir.Const(i)),
                        inferred=Inferred(structure(k), (self.shadows[var],)),
                    )  # fmt: skip
                    items.append(self.project(item))
                else:
                    items.append(parts.get(i, ZERO if carries(k) else ir.Const(None)))
            return Tuple(tuple(items))
        d = self.take(var)
        return ZERO if d is None else d

    def add_part(self, var: ir.Var, i: int, d: Any) -> None:
        """Add to the adjoint of an item of a tuple, of which there may be several reads."""
        if is_zero(d):
            return
        parts = self.parts.setdefault(var, {})
        if i not in parts:
            parts[i] = d
        elif isinstance(d, ir.Var) and isinstance(d.kind, Array):
            parts[i] = self.emit(operator.add, (self.operand(parts[i]), d), name=d.name)
        else:
            parts[i] = self._added(parts[i], d)

    def _added(self, old: Any, new: Any) -> Any:
        if isinstance(old, Tuple):
            items = self.unpacked(new) if not isinstance(new, Tuple) else new.items
            return Tuple(tuple(self._added(a, b) for a, b in zip(old.items, items, strict=True)))
        if is_zero(new) or isinstance(old, Ref):
            return old
        if isinstance(old, ir.Var) and (isinstance(old.kind, Array) or not carries(old.kind)):
            return old
        if is_zero(old):
            return new
        return self.emit(operator.add, (self.operand(old), self.operand(new)))

    def _emptied(self, d: Any, kind: Any) -> ir.Operand:
        """A shadow's item without the adjoints of its numbers."""
        if isinstance(kind, tuple):
            items = zip(self.unpacked(d), kind, strict=True)
            return ir.Pack(tuple, tuple(self._emptied(part, k) for part, k in items))
        if has_references(kind):
            return self.operand(d)
        return ZERO if carries(kind) else ir.Const(None)

    def _spill(self, operand: ir.Operand, d: Any, kind: Any) -> None:
        """Add the adjoints of the numbers of a list item to what the item was made of."""
        if isinstance(operand, ir.Const) and operand.value is None:
            return
        if isinstance(kind, tuple):
            if not has_numbers(kind):
                return
            parts = self.tuple_parts(operand, len(kind))
            for part, item, k in zip(parts, self.unpacked(d), kind, strict=True):
                self._spill(part, item, k)
        elif isinstance(operand, ir.Var) and not has_references(kind):
            self.add(operand, d)

    def add_list(self, var: ir.Var, contribution: Any) -> None:
        """Add a list of contributions, item by item."""
        assert isinstance(var.kind, ListOf)
        shadow, kind = self.used_lists.get(var, self.shadows[var]), var.kind.item
        if isinstance(kind, (tuple, ListOf)):
            self.modify(runtime.add_nested, shadow, self.operand(contribution))
            return
        array = isinstance(contribution, ir.Var) and isinstance(contribution.kind, Array)
        sequence = self.rows(contribution) if array else self.require(contribution)
        length = sequence.length
        if isinstance(length, ir.Const) and isinstance(contribution, ir.Var):  # that it's a loop
            length = self.emit(len, (contribution,), inferred=Inferred(int_kind()), name="n")

        def body(index: Any) -> None:
            i = self.operand(index)
            item, more = self._item(shadow, i), sequence.item(index)
            if isinstance(item, ir.Var) and isinstance(item.kind, Array):
                value = self.fit(self.operand(more), item.kind, item)
                self._accumulate(item, value)
            else:
                self.set_item(shadow, i, self.operand(self._added(item, more)))

        self.iterate(self.builtin_range(length), body, "i")


def settle_items(block: ir.Block) -> None:
    """Give numbers read out of lists in which arrays are put later the kind of those arrays.

    Their shadows are arrays too: see `shadow_or_box`.
    """
    for s in ir.walk(block):
        if not isinstance(s, ir.Assign) or s.function not in (operator.getitem, list.pop):
            continue
        held, key, found = s.args[0], s.args[-1], s.target.kind
        if not isinstance(held, ir.Var):
            continue
        if isinstance(held.kind, ListOf) and held.kind.item is not None and not takes_part(s):
            s.target.kind = _as_held(found, item_structure(held.kind.item))
        elif isinstance(held.kind, TupleOf) and isinstance(key, ir.Const):
            s.target.kind = _as_held(found, held.kind.items[key.value])
        if s.target.kind != found:
            s.views = (held,)


def _as_held(kind: Kind, item: Kind) -> Kind:
    if isinstance(kind, TupleOf) and isinstance(item, TupleOf):
        return replace(kind, items=tuple(map(_as_held, kind.items, item.items)))
    return item if isinstance(kind, Scalar) and isinstance(item, Array) else kind


def take_apart(block: ir.Block) -> None:
    """Take tuples apart where they are made, but those of units that aren't used as a whole.

    Each part has its adjoint: what is put in a list, and what a primitive returned.
    """
    whole: set[ir.Var] = set()
    shapes: set[Any] = set()  # the items of tuples without floats, which needn't be taken again
    for s in ir.walk(block):
        key = _item_key(s)
        if key is None:
            whole.update(v for v in ir.uses(s) if isinstance(v.kind, TupleOf))
        elif not carries(key[0].kind):
            shapes.add(key)
    _take_apart(block, whole, shapes)


def _take_apart(block: ir.Block, whole: set[ir.Var], shapes: set[Any]) -> None:
    known = shapes | set(map(_item_key, block.statements))
    statements: list[ir.Statement] = []
    for s in block.statements:
        for inner in ir.blocks(s):
            _take_apart(inner, whole, shapes)
        statements.append(s)
        waiting: list[ir.Var] = []
        if isinstance(s, ir.Assign) and isinstance(s.target.kind, TupleOf):
            made = carries(s.target.kind) and not isinstance(s.function, ir.Unit)
            if made or s.target in whole:
                waiting = [s.target]
        for v in waiting:
            assert isinstance(v.kind, TupleOf)
            for i, kind in enumerate(v.kind.items):
                if (v, i) in known:
                    continue
                views = (v,) if holds_memory(kind) else ()
                item = ir.Var(f"{v.name}_{i}", kind)
                args = (v, ir.Const(i))
                statements.append(ir.Assign(item, operator.getitem, args, span=s.span, views=views))
                if isinstance(kind, TupleOf):
                    waiting.append(item)
    block.statements = statements


def _item_key(s: ir.Statement) -> tuple[ir.Var, Any] | None:
    """The tuple and the position, of a statement that reads an item of a tuple."""
    if isinstance(s, ir.Assign) and s.function is operator.getitem:
        first, key = s.args
        if isinstance(first, ir.Var) and isinstance(first.kind, TupleOf):
            return (first, key.value) if isinstance(key, ir.Const) else None
    return None


def takes_part(s: ir.Assign) -> bool:
    """Whether a statement makes a list of a part, or of all, of another list's items."""
    if s.function is operator.getitem:
        return is_slice(s.args[1])
    return s.function in (builtins.list, tuple) and not isinstance(s.args[0], ir.Pack)


def takes_all(s: ir.Assign) -> bool:
    """Whether a statement that makes a list of a part of another one's items copies it."""
    parts = (part for key in s.args[1:] for part in ir.slice_parts(key))
    return all(ir.is_constant(part, None) for part in parts)


def has_references(kind: Any) -> bool:
    """Whether items of this kind are, or hold, arrays or lists."""
    if isinstance(kind, tuple):
        return any(map(has_references, kind))
    return isinstance(kind, (Array, ListOf)) and carries(kind)


def has_numbers(kind: Any) -> bool:
    """Whether items of this kind are, or hold, numbers that can have an adjoint."""
    if isinstance(kind, tuple):
        return any(map(has_numbers, kind))
    return kind is not None and not isinstance(kind, (Array, ListOf)) and carries(kind)


def structure(item: Any) -> Kind:
    """The kind of a list's item."""
    return item_structure(item) if isinstance(item, tuple) else item


def _nothing(d: Any) -> bool:
    if isinstance(d, Tuple):
        return all(
            is_zero(item) or isinstance(item, Ref)
            or (isinstance(item, ir.Var) and isinstance(item.kind, Array))
            for item in d.items
        )  # fmt: skip
    return is_zero(d)
