"""Functions that make iterables: range, zip, enumerate, map, itertools, np.ndindex."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..kinds import Array, Dimension, ListOf, Scalar, int_kind
from ..rules.object_arrays import shown
from .changes import Source
from .columns import is_reference
from .dicts import Dicts
from .item_counts import some
from .iteration import Body, Loop
from .operations import (
    ArrayIterator,
    check_as_many,
    column_at,
    count_columns,
    len_of_range,
    zipped_strictly,
)
from .predicates import FALSE, NONE, TRUE, is_iterator, is_none, is_range, is_unknown
from .restarts import NeedStatic
from .stepping import ENDLESS, items_zipped
from .structure import is_table
from .values import (
    Choice,
    DictObject,
    Generator,
    Instance,
    ListObject,
    Place,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Value,
)
from .wording import described


class Iterators(Dicts):
    """Evaluates calls of functions that make iterables."""

    def builtin_range(self, *args: Value) -> Value:
        parts = list(args)
        if len(parts) == 1:
            parts = [ir.Const(0), *parts]
        if len(parts) == 2:
            parts.append(ir.Const(1))
        for part in parts:
            self.check_counts(part)
        if all(isinstance(p, ir.Const) for p in parts):
            try:
                known = range(*(p.value for p in parts))  # type: ignore[union-attr]
            except (TypeError, ValueError) as error:
                raise self.raised_by_python(error) from None
            length: Value = ir.Const(len(known))
            return Sequence(
                length,
                lambda i: (
                    ir.Const(known[i.value])
                    if isinstance(i, ir.Const)
                    else self.range_item(parts, i)
                ),
                False,
                tuple(parts),
                born=None,
            )
        start, stop, step = parts
        if isinstance(step, ir.Const) and step.value == 1:
            zero = isinstance(start, ir.Const) and start.value == 0
            bounds = self.python_int(stop), self.python_int(start)
            length = bounds[0] if zero else self.binary(operator.sub, *bounds)
        else:
            length = self.emit(
                len_of_range, tuple(self.operand(p) for p in parts), inferred=Inferred(int_kind())
            )
        return Sequence(length, lambda i: self.range_item(parts, i), False, tuple(parts), born=None)

    def range_item(self, parts: list[Value], i: Value) -> Value:
        start, _, step = parts
        if not (isinstance(step, ir.Const) and step.value == 1):
            i = self.binary(operator.mul, i, self.python_int(step))
        if isinstance(start, ir.Const) and start.value == 0:
            return i
        return self.binary(operator.add, self.python_int(start), i)

    def int_bounds(self, sequence: Any) -> tuple[Any, ...]:
        return tuple(map(self.python_int, sequence.bounds))

    def check_counts(self, value: Value) -> None:
        """Refuse a float as a bound, which no Python takes: it is raised where a try is around."""
        kind = value.kind if isinstance(value, ir.Var) and self.trying is not None else None
        surely = isinstance(kind, Scalar) and kind.dtype.kind == "f" and not kind.mixed
        if surely or (isinstance(value, ir.Const) and isinstance(value.value, float)):
            raise self.fault(TypeError, "'float' object cannot be interpreted as an integer")
        if is_reference(value):
            raise self.refuse("an object can't be followed as a bound", "write int(...)")

    def python_int(self, value: Value) -> Value:
        """What is counted from or to as Python's int: `range` counts on where NumPy's overflow."""
        if isinstance(value, ir.Const) and isinstance(value.value, np.integer):
            return ir.Const(int(value.value))
        self.check_counts(value)
        kind = value.kind if isinstance(value, ir.Var) else None
        if not isinstance(kind, (Scalar, Array)):
            return value
        if isinstance(kind, Scalar) and kind.python and kind.dtype.kind != "f":
            return value
        assert isinstance(value, ir.Var)
        return self.emit(operator.index, (value,), inferred=Inferred(int_kind()))

    def builtin_enumerate(self, value: Value, start: Value = ir.Const(0)) -> Value:  # noqa: B008
        start = self.python_int(start)
        if isinstance(value, Generator):
            return self.counted_items(value, start)
        inner = self.require(value)
        again = inner.changing

        def changing() -> Value:
            assert again is not None
            return self.builtin_enumerate(again(), start)

        return Sequence(
            inner.length,
            lambda i: (
                Tuple((self.binary(operator.add, i, start), self.item(inner, i)), fresh=True)
                if not (isinstance(start, ir.Const) and start.value == 0)
                else Tuple((i, self.item(inner, i)), fresh=True)
            ),
            inner.structural,
            changing=None if again is None else changing,
        )

    def counted_items(self, generator: Generator, start: Value) -> Generator:
        """`enumerate` of a generator."""

        def run(body: Callable[[Value], None]) -> None:
            frame, name = self.current, self.hidden(start)

            def counted(item: Value) -> None:
                count = self.state.frames[frame][name]
                self.state.frames[frame][name] = self.binary(operator.add, count, ir.Const(1))
                body(Tuple((count, item), fresh=True))

            self.iterate(generator, counted)
            self.state.frames[frame].pop(name, None)

        return Generator(run)

    def columns(self, rows: Value, named: dict[str, Value]) -> Value:
        """`zip(*rows, **named)`, which gives no column where there is no row."""
        thing = self.on_heap(rows)
        kind = thing.var.kind if isinstance(thing, ListObject) and thing.var is not None else None
        if isinstance(kind, ListOf) and isinstance(kind.item, tuple):
            return self.columns_of_tuples(rows, len(kind.item))
        if isinstance(kind, ListOf) and isinstance(kind.item, (ListOf, Array)):
            taken = self.builtin_list(rows)  # as they are now; what is in them is read when asked
            count = self.inline(count_columns, [taken, named.get("strict", FALSE)], {})
            return Sequence(count, lambda i: self.inline(column_at, [taken, i], {}))
        return self.call(ir.Const(zip), self.unpacked(rows), named)

    def columns_of_tuples(self, rows: Value, count: int) -> Value:
        """The columns of a list of tuples that exists at run time: none, or so many."""
        lists = [self.new(ListObject(())) for _ in range(count)]
        any_row = self.truth(rows)

        def put(row: Value) -> None:
            for ref, item in zip(lists, self.unpacked(row), strict=True):
                self.append(ref, item)

        self.iterate(rows, put)
        made = Choice(any_row, (Tuple(()), Tuple(tuple(lists))))
        self.columns_made.add(made)
        return made

    def lazily(self, value: Value) -> Value:
        """A generator of the items of an object of a user class that is iterated over.

        How far an iterator has come is in it: no more of its items are made than are asked for.
        """
        if not isinstance(self.thing(value), Instance) or self.is_cursor(value):
            return value
        iterator = self.iterator_of(value)
        if iterator is None:
            return value
        if isinstance(iterator, Generator):
            return replace(iterator, early=True)
        return self.stepped(iterator)

    def by_item(self, value: Value) -> Value:
        """The items of a generator one by one, where that is simple; anything else as it is."""
        if not isinstance(value, Generator) or value.sequence is None or value.early:
            return value
        self.use_up(value)
        return value.sequence()

    def made_at_once(self, value: Value) -> Sequence:
        """The items of an iterator, made before they are asked for."""
        moment = self.moment()
        made = self.require(self.builtin_list(value))
        return replace(made, over=(*made.over, *self.read_since(moment, [value])))

    def builtin_zip(self, *values: Value, strict: Value | None = None) -> Value:
        given, values = values, tuple(self.by_item(self.lazily(v)) for v in values)
        loose = strict is None or (isinstance(strict, ir.Const) and not strict.value)
        if any(
            new is not old and isinstance(new, Generator) and not new.early
            for old, new in zip(given, values, strict=True)
        ):
            if loose:
                return self.inline(items_zipped, list(given), {})
            raise self.refuse(
                "an iterator inside zip(strict=True) can't be consumed item by item",
                "make a list of it first: list(...)",
            )
        late = [k for k, v in enumerate(values) if isinstance(v, Generator) and not v.early]
        if len(late) == 1 < len(values) and loose:
            zipped = self.zipped_with(values, late[0])
            if zipped is not None:
                return zipped
        turns = self.taken_in_turn(values)
        unknown = [v for v in values if isinstance(v, ir.Var) and is_unknown(v)]
        self.in_part |= {v for v in unknown if unknown.count(v) > 1}
        parts = [turns.get(k) or (self.made_at_once(v) if k in late else self.require(v))
                 for k, v in enumerate(values)]  # fmt: skip
        lengths = [p.length for p in parts]
        if strict is not None and any(not self.same_length(n, lengths[0]) for n in lengths):
            if not loose and self.catcher(ValueError) is not None:
                if all(isinstance(v, (Ref, Tuple, ir.Var)) or is_range(v) for v in values):
                    return self.inline(zipped_strictly, list(values), {})
                raise self.refuse(
                    "when this zip(strict=True) ends too early isn't known, and a try catches that",
                    "make lists first: zip(list(...), list(...), strict=True)",
                )
            self.inline(check_as_many, [strict, Tuple(tuple(lengths))], {})
        finite = [n for n in lengths if not (isinstance(n, ir.Const) and n.value == ENDLESS)]
        lengths = finite or lengths
        known = [n.value for n in lengths if isinstance(n, ir.Const)]
        if not lengths:
            return Sequence(ir.Const(0), lambda i: NONE, True)
        if len(known) == len(lengths):
            length: Value = ir.Const(min(known))
        elif any(p.structural for p in parts):
            return self.zipped_while(parts, min(known))
        else:
            unique = [
                n
                for i, n in enumerate(lengths)
                if not any(self.same_length(n, m) for m in lengths[:i])
            ]
            length = unique[0]
            if len(unique) > 1:
                size: Dimension | None = some() if all(map(self.surely_runs, unique)) else None
                size = 0 if any(map(self.never_runs, unique)) else size
                operands = tuple(self.operand(n) for n in unique)
                length = self.emit(min, operands, inferred=Inferred(int_kind(size)))
        structural = any(p.structural for p in parts)
        longer = [any(self.may_end_before(q, p) for q in parts[k:]) for k, p in enumerate(parts)]

        def item(i: Value) -> Tuple:
            pairs = zip(parts, longer, strict=True)
            items = tuple(self.item_alone(p, i) if more else p.item(i) for p, more in pairs)
            return Tuple(items, fresh=True)

        return Sequence(length, item, structural)

    def taken_in_turn(self, values: tuple[Value, ...]) -> dict[int, Sequence]:
        """What `zip` takes for those of its arguments that are one iterator, by their positions."""
        found: dict[int, Sequence] = {}
        for ref in dict.fromkeys(v for v in values if isinstance(v, Ref) and self.is_cursor(v)):
            places = [k for k, v in enumerate(values) if v == ref]
            if len(places) == 1:
                continue
            rest = self.rest_of(ref)
            for turn, k in enumerate(places):
                found[k] = self.every(rest, len(places), turn)
        return found

    def every(self, sequence: Sequence, step: int, first: int) -> Sequence:
        """Some items of a sequence, as many as all of those that begin before the step have."""
        length = self.binary(operator.floordiv, sequence.length, ir.Const(step))

        def item(i: Value) -> Value:
            position = self.binary(operator.mul, i, ir.Const(step))
            return sequence.item(self.binary(operator.add, position, ir.Const(first)))

        return replace(sequence, length=length, item=item)

    def may_end_before(self, a: Sequence, b: Sequence) -> bool:
        """Whether one sequence may have less items than another one."""
        if isinstance(a.length, ir.Const) and isinstance(b.length, ir.Const):
            return bool(a.length.value < b.length.value)
        return not self.same_length(a.length, b.length)

    def item_alone(self, sequence: Sequence, i: Value) -> Value:
        """An item of which one more is made than is taken."""
        moment = self.moment()
        item = sequence.item(i)
        self.check_alone(moment)
        return item

    def zipped_with(self, values: tuple[Value, ...], which: int) -> Generator | None:
        """What `zip` makes of values of which one is a generator: its items are counted.

        None where the items of the others must be known when compiling.
        """
        generator = values[which]
        assert isinstance(generator, Generator)
        parts = {k: self.require(v) for k, v in enumerate(values) if k != which}
        if any(p.structural for p in parts.values()):
            return None
        finite = [
            p.length for p in parts.values()
            if not (isinstance(p.length, ir.Const) and p.length.value == ENDLESS)
        ]  # fmt: skip
        length: Value | None = None
        if finite:
            length = finite[0] if len(finite) == 1 else self.call(ir.Const(min), finite, {})
            # it is asked for one more, where it comes first
            stop = self.binary(operator.add, length, ir.Const(1)) if which == 0 else length
            generator = self.cut(generator, ir.Const(0), stop, NONE)
        counted = self.counted_items(generator, ir.Const(0))

        def run(body: Callable[[Value], None]) -> None:
            def take(pair: Value) -> None:
                count, item = self.unpacked(pair)

                def give() -> None:
                    items = (item if k == which else self.item_alone(parts[k], count)
                             for k in range(len(values)))  # fmt: skip
                    body(Tuple(tuple(items)))

                known = [n.value for n in finite if isinstance(n, ir.Const)]
                if isinstance(count, ir.Const) and any(n <= count.value for n in known):
                    return
                if length is None or which > 0:
                    give()
                else:
                    self.when(self.compare(gast.Lt(), count, length), give)

            self.iterate(counted, take)

        return Generator(run)

    def zipped_while(self, parts: list[Sequence], most: int) -> Value:
        """What `zip` makes of sequences of which some may end before the `most` items that there
        are of the one that has to be unrolled."""
        last = ir.Const(most - 1)
        lengths = [p.length for p in parts if isinstance(p.length, ir.Var)]
        lengths = [n for n in lengths if most > 0 and not self.surely_more(n, last)]
        for n in lengths:
            if self.specialisable(n.origins):
                raise NeedStatic(n.origins, "how many items there are", self.span)

        def item(i: Value) -> Value:
            return Tuple(tuple(self.item_alone(p, i) for p in parts), fresh=True)

        if not lengths:
            return Sequence(ir.Const(most), item, True)

        def run(body: Callable[[Value], None]) -> None:
            for part in parts:
                self.check_lengths(part)
            for i in map(ir.Const, range(most)):

                def take(i: ir.Const = i) -> None:
                    body(item(i))

                tests = [self.compare(gast.Gt(), n, i) for n in lengths]
                both = functools.reduce(lambda a, b: self.both(operator.and_, a, b), tests)
                self.branch(self.operand(self.truth(both)), take, lambda: None)

        return Generator(run)

    def same_length(self, a: Value, b: Value) -> bool:
        if self.same(a, b):
            return True
        sizes = [
            v.kind.size if isinstance(v, ir.Var) and isinstance(v.kind, Scalar) else None
            for v in (a, b)
        ]
        return sizes[0] is not None and sizes[0] == sizes[1]

    def builtin_reversed(self, value: Value) -> Value:
        if self.has_method(value, "__reversed__"):
            return self.call(self.attribute(value, "__reversed__"), [], {})
        thing = self.on_heap(value)
        one_way = is_iterator(value) and not is_range(value)
        if one_way or self.is_cursor(value) or (isinstance(thing, DictObject) and thing.is_set):
            raise self.fault(TypeError, f"{described(value)} can't be reversed")
        table = is_table(thing)
        # not what an __iter__ says
        inner = (None if table else self.by_number(value)) or self.require(value)
        last = self.binary(operator.sub, inner.length, ir.Const(1))
        bounds: tuple[Value, Value, Value] | None = None
        if inner.bounds is not None:
            start, stop, step = self.int_bounds(inner)
            if all(isinstance(b, ir.Const) for b in inner.bounds):
                r = range(start.value, stop.value, step.value)[::-1]
                bounds = (ir.Const(r.start), ir.Const(r.stop), ir.Const(r.step))
            elif isinstance(step, ir.Const) and step.value == 1:
                bounds = (
                    self.binary(operator.sub, stop, ir.Const(1)),
                    self.binary(operator.sub, start, ir.Const(1)),
                    ir.Const(-1),
                )
        return Sequence(
            inner.length,
            lambda i: self.item(inner, self.binary(operator.sub, last, i)),
            inner.structural,
            bounds,
        )

    def builtin_map(self, function: Value, *values: Value) -> Value:
        if len(values) == 1 and isinstance(values[0], Generator):
            inner = values[0]
            return Generator(
                lambda body: self.iterate(inner, lambda i: body(self.call(function, [i], {})))
            )
        rows = self.builtin_zip(*values)
        if isinstance(rows, Generator):
            return Generator(
                lambda body: self.iterate(
                    rows, lambda row: body(self.call(function, self.unpacked(row), {}))
                )
            )
        zipped = self.require(rows)

        def item(i: Value) -> Value:
            parts = zipped.item(i)
            assert isinstance(parts, Tuple)
            return self.call(function, list(parts.items), {})

        return Sequence(zipped.length, item, zipped.structural)

    def builtin_filter(self, function: Value, value: Value) -> Value:
        none = is_none(function)

        def run(body: Callable[[Value], None]) -> None:
            def tested(item: Value) -> None:
                test = self.truth(item if none else self.call(function, [item], {}))
                self.decided(test, lambda: body(item))

            self.iterate(value, tested)

        return Generator(run)

    def builtin_chain(self, *values: Value) -> Value:
        def run(give: Body, loop: Loop) -> None:
            for value in values:
                loop(value, give)

        return self.several_loops(run)

    def builtin_pairwise(self, value: Value) -> Value:
        anew = isinstance(value, Sequence) and not is_range(value)  # each item is asked for twice
        inner = self.made_at_once(value) if anew else self.require(value)
        one, remembered = ir.Const(1), [source.what for source in inner.over]
        if isinstance(value, ir.Var) and isinstance(value.kind, Array):
            remembered.append(self.bases(value))
        items = [Source(what, True, self.contents(what)) for what in remembered]
        return Sequence(
            self.binary(operator.sub, inner.length, one),
            lambda i: Tuple((inner.item(i), inner.item(self.binary(operator.add, i, one)))),
            inner.structural,
            over=(*inner.over, *items),
        )

    def builtin_accumulate(
        self, value: Value, function: Value | None = None, *, initial: Value = NONE
    ) -> Value:
        def step(a: Value, b: Value) -> Value:
            if function is None or is_none(function):
                return self.binary(operator.add, a, b)
            return self.call(function, [a, b], {})

        if isinstance(value, Generator):
            value = self.builtin_list(value)
        sequence, one = self.require(value), ir.Const(1)
        given = not is_none(initial)
        if isinstance(sequence.length, ir.Const):
            items: list[Value] = [initial] if given else []
            for item in self.unpacked(sequence):
                items.append(step(items[-1], item) if items else item)
            return Tuple(tuple(items))
        frame, ref = self.current, self.new(ListObject(()))

        def fill() -> None:
            total = self.hidden(initial if given else sequence.item(ir.Const(0)))
            self.append(ref, self.state.frames[frame][total])

            def add(item: Value) -> None:
                new = step(self.state.frames[frame][total], item)
                self.state.frames[frame][total] = new
                self.append(ref, new)

            if given:
                self.iterate(sequence, add)
            else:
                rest = self.binary(operator.sub, sequence.length, one)
                later = Sequence(rest, lambda i: sequence.item(self.binary(operator.add, i, one)))
                self.iterate(later, add)
            self.state.frames[frame].pop(total)

        if given or self.surely_runs(sequence.length):
            fill()
        else:
            self.when(self.compare(gast.Gt(), sequence.length, ir.Const(0)), fill)
        return ref

    def builtin_repeat(self, value: Value, times: Value = ir.Const(ENDLESS)) -> Value:  # noqa: B008
        return Sequence(times, lambda i: value, False)

    def builtin_islice(self, value: Value, *bounds: Value) -> Value:
        parts = [NONE, *bounds] if len(bounds) == 1 else list(bounds)
        lazy = isinstance(value, (Generator, Sequence)) or self.is_cursor(value)
        if lazy:  # what comes after the last isn't made
            start, stop, step = (*parts, NONE)[:3]
            return self.cut(value, ir.Const(0) if is_none(start) else start, stop, step)
        cut = Slice(*parts, *([NONE] * (3 - len(parts))))
        if isinstance(value, ir.Var):
            return self.subscript(value, cut)
        return self.subscript(self.builtin_list(value), cut)

    def cut(self, value: Value, start: Value, stop: Value, step: Value) -> Generator:
        """The items that `islice` takes of an iterator, which it takes `stop` items from."""
        one = ir.Const(1)

        def run(body: Callable[[Value], None]) -> None:
            frame, name = self.current, self.hidden(ir.Const(0))
            broken = self.hidden(FALSE)  # by the consumer

            def leave() -> None:
                values = self.state.frames[frame]
                values["%stop"] = values["%break"] = TRUE

            def take(item: Value) -> None:
                count = self.state.frames[frame][name]
                later = self.binary(operator.add, count, one)
                self.state.frames[frame][name] = later
                wanted = self.compare(gast.GtE(), count, start)
                if not is_none(step):
                    offset = self.binary(operator.sub, count, start)
                    turn = self.compare(
                        gast.Eq(), self.binary(operator.mod, offset, step), ir.Const(0)
                    )
                    wanted = self.both_hold(wanted, turn)
                self.when(wanted, lambda: body(item))
                if self.state.unreachable:
                    return
                values = self.state.frames[frame]
                values[broken] = values.get("%break", FALSE)
                if not is_none(stop):
                    self.when(self.compare(gast.GtE(), later, stop), leave)

            def all_of_them() -> None:
                self.iterate(value, take)

            if is_none(stop):
                all_of_them()
            else:
                self.when(self.compare(gast.Gt(), stop, ir.Const(0)), all_of_them)
            if self.state.unreachable:
                return
            values = self.state.frames[frame]
            values.pop(name)
            by_consumer = values.pop(broken)
            if self.broken.get(frame) in values:
                values[self.broken[frame]] = by_consumer

        return Generator(run)

    def when(self, test: Value, run: Callable[[], None]) -> None:
        """Run something if a test holds."""
        known = self.truth(test)
        if not isinstance(known, ir.Const):
            self.branch(known, run, lambda: None)
        elif known.value:
            run()

    def both_hold(self, a: Value, b: Value) -> Value:
        """Whether two tests hold."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, ir.Const):
                return y if x.value else x
        return self.emit(operator.and_, (self.operand(a), self.operand(b)))

    def builtin_count(
        self,
        start: Value = ir.Const(0),  # noqa: B008
        step: Value = ir.Const(1),  # noqa: B008
    ) -> Value:
        def item(i: Value) -> Value:
            return self.binary(operator.add, start, self.binary(operator.mul, i, step))

        return Sequence(ir.Const(ENDLESS), item)

    def builtin_starmap(self, function: Value, value: Value) -> Value:
        def run(body: Callable[[Value], None]) -> None:
            self.iterate(value, lambda item: body(self.call(function, self.unpacked(item), {})))

        return Generator(run)

    def builtin_cycle(self, value: Value) -> Value:
        sequence = self.require(self.builtin_list(value))

        def item(i: Value) -> Value:
            return sequence.item(self.binary(operator.mod, i, sequence.length))

        return Sequence(ir.Const(ENDLESS), item)

    def builtin_from_iterable(self, value: Value) -> Value:
        return self.several_loops(lambda give, loop: loop(value, lambda part: loop(part, give)))

    def builtin_ndindex(self, *shape: Value) -> Value:
        """`np.ndindex`: the indices of an array, one loop in the other."""
        lengths = list(shape)
        if len(lengths) == 1 and self.sequence_type(lengths[0]) is not None:
            lengths = self.unpacked(lengths[0])
        elif len(lengths) == 1 and is_unknown(lengths[0]):
            message = "how many axes np.ndindex goes through must be known here"
            self.need_static(lengths[0], message, "loop over the elements of x.reshape(-1)")

        def run(give: Body, loop: Loop) -> None:
            def level(before: tuple[Value, ...]) -> None:
                if len(before) == len(lengths):
                    give(Tuple(before))
                    return
                inner = self.builtin_range(lengths[len(before)])
                loop(inner, lambda i: level((*before, i)), "ijkl"[len(before) % 4])

            level(())

        return replace(self.several_loops(run), early=True)

    def builtin_ndenumerate(self, array: Value) -> Value:
        def run(body: Callable[[Value], None]) -> None:
            indices = self.builtin_ndindex(self.attribute(array, "shape"))
            self.iterate(indices, lambda i: body(Tuple((i, self.subscript(array, i)))))

        return Generator(run)

    def builtin_nditer(
        self,
        op: Value,
        flags: Value = NONE,
        op_flags: Value = NONE,
        order: Value = ir.Const("K"),  # noqa: B008
        **options: Value,
    ) -> Value:
        """`np.nditer` of one array or several, which may be written and tells its index."""
        asked = [self.stated(v, "what nditer is asked for") or [] for v in (flags, op_flags)]
        wanted = set(asked[0]) | {f for row in asked[1] for f in np.atleast_1d(row).tolist()}
        several = self.sequence_type(op) is not None
        writes = "readwrite" in wanted
        if "refs_ok" in wanted and self.are_objects(op):
            if wanted <= {"refs_ok", "zerosize_ok", "readonly"} and self.key(order) == "K":
                return self.call(Place(shown), [op], {})
        known = {"multi_index", "zerosize_ok", "refs_ok", "readonly", "readwrite"}
        if options or wanted - known or (several and writes):
            raise self.refuse("np.nditer with these options isn't supported", "use np.ndindex")
        if self.key(order) == "K":
            for array in self.unpacked(op) if several else [op]:
                whole = self.attribute(self.attribute(array, "flags"), "c_contiguous")
                if isinstance(whole, ir.Const) and not whole.value:
                    raise self.refuse(runtime.BY_MEMORY, "give order='C'")
                if not isinstance(whole, ir.Const):
                    self.act(runtime.check_by_rows, self.operand(array))
        elif self.key(order) != "C":
            raise self.refuse("np.nditer in this order isn't supported", "give order='C'")
        if not several and not wanted - {"zerosize_ok", "refs_ok", "readonly"}:
            return self.attribute(op, "flat")
        arrays = self.call_object(np.broadcast_arrays, self.unpacked(op), {}) if several else op
        return self.call(Place(ArrayIterator), [arrays, ir.Const(several), ir.Const(writes)], {})
