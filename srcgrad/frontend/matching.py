"""`match`: which case is taken, and what its names are there.

What a pattern captures is bound where it has matched, and nowhere else. An alternative `p | q`
that captures is a case of its own for each, with the same guard and body.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections import abc
from collections.abc import Callable
from typing import Any

import gast

from .. import ir
from .attempts import Attempts
from .predicates import FALSE, NONE, TRUE, is_none
from .slots import Slotted
from .structure import is_table
from .values import Choice, DictObject, Instance, ListObject, Value

# What the names of a pattern are, to be asked for where it has matched.
Captures = dict[str, Callable[[], Value]]
# Classes whose pattern has one pattern inside, for the value itself
OF_THEMSELVES = (
    *(bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple),
)  # fmt: skip
TEXTS = (str, bytes, bytearray)


class Matching(Attempts):
    """Lowers `match`."""

    def statement_Match(self, node: Any) -> None:
        self.match_subject(self.spread(self.expression(node.subject)), list(node.cases))

    def match_subject(self, subject: Value, cases: list[Any]) -> None:
        """All cases, for each of the things that a subject may be."""

        def matched(option: Value) -> Value:
            self.match_subject(option, cases)
            return NONE

        if isinstance(subject, Choice):
            self.for_each(subject, matched)
        elif not is_none(subject) and self.may_be_none(subject):
            self.decided(
                self.identical(subject, NONE),
                lambda: self.match_cases(NONE, cases),
                lambda: self.match_cases(subject, cases),
            )
        else:
            self.match_cases(subject, cases)

    def match_cases(self, subject: Value, cases: list[Any]) -> None:
        if cases:
            self.match_case(subject, alternatives(cases[0].pattern), cases)

    def match_case(self, subject: Value, patterns: list[Any], cases: list[Any]) -> None:
        """The first case, whose pattern is any of these, and the other cases if none matches."""
        case = cases[0]
        captures: Captures = {}

        def others() -> None:
            self.match_cases(subject, cases[1:])

        if not patterns:
            others()
            return
        test = self.matched(patterns[0], subject, captures)

        def matching() -> None:
            for name, value in [(name, value()) for name, value in captures.items()]:
                self.bind(name, value)
            guard = TRUE if case.guard is None else self.tested(case.guard)
            self.decided(
                guard, lambda: self.run(case.body), lambda: self.match_cases(subject, cases[1:])
            )

        self.decided(test, matching, lambda: self.match_case(subject, patterns[1:], cases))

    def matched(self, pattern: Any, subject: Value, captures: Captures) -> Value:
        """Whether a pattern matches; what its names are then is added to the captures."""
        match pattern:
            case gast.MatchValue():
                return self.truth(self.compare(gast.Eq(), subject, self.expression(pattern.value)))
            case gast.MatchSingleton():
                return self.truth(self.identical(subject, ir.Const(pattern.value)))
            case gast.MatchAs():
                if pattern.pattern is not None:
                    inner = self.matched(pattern.pattern, subject, captures)
                    if isinstance(inner, ir.Const) and not inner.value:
                        return inner
                else:
                    inner = TRUE
                if pattern.name is not None:
                    captures[pattern.name] = lambda: subject
                return inner
            case gast.MatchOr():
                tests = (self.matched(option, subject, captures) for option in pattern.patterns)
                return self.any_or_all(True, tests)
            case gast.MatchSequence():
                if not self.is_sure(subject, abc.Sequence) or self.is_sure(subject, TEXTS):
                    return FALSE
                return self.matched_items(pattern.patterns, self.unpacked(subject), captures)
            case gast.MatchMapping():
                if not self.is_sure(subject, abc.Mapping):
                    return FALSE
                return self.matched_keys(pattern, subject, captures)
            case gast.MatchClass():
                cls = self.key(self.expression(pattern.cls))
                if not self.is_sure(subject, cls):
                    return FALSE
                return self.matched_attributes(pattern, subject, cls, captures)
        raise self.refuse(f"the pattern {type(pattern).__name__} isn't supported")

    def is_sure(self, subject: Value, cls: Any) -> bool:
        """Whether a subject is an instance of a class: what only the run tells is refused."""
        if self.may_be_none(subject):
            raise self.refuse("whether this is None isn't known when compiling", "match it alone")
        found = None if isinstance(subject, Choice) else self.is_instance(subject, cls)
        if found is None:
            raise self.refuse("the class of this value isn't known when compiling")
        return found

    def matched_keys(self, pattern: Any, subject: Value, captures: Captures) -> Value:
        """Whether the pattern of a mapping matches one."""
        thing = self.thing(subject)
        if isinstance(thing, Instance) and issubclass(thing.type, Slotted):
            thing = self.on_heap(self.builtin_dict(subject))
        if isinstance(thing, DictObject):
            self.settled_keys(thing)
            keys = [self.hashed(self.expression(k)) for k in pattern.keys]
            if any(k not in thing.items for k in keys):
                return FALSE
            if pattern.rest is not None:
                rest = self.new(DictObject({k: v for k, v in thing.items.items() if k not in keys}))
                captures[pattern.rest] = lambda: rest
            given = zip(pattern.patterns, keys, strict=True)
            return self.all_matched([(p, thing.items[k]) for p, k in given], captures)
        plain = all(isinstance(p, gast.MatchAs) and p.pattern is None for p in pattern.patterns)
        if not is_table(thing) or pattern.rest is not None or not plain:
            raise self.refuse(
                "which keys this has isn't known when compiling", "ask for them: `if key in d:`"
            )
        tests = []
        for p, node in zip(pattern.patterns, pattern.keys, strict=True):
            key = self.expression(node)
            tests.append(self.truth(self.contains(subject, key)))
            if p.name is not None:
                captures[p.name] = functools.partial(self.subscript, subject, key)
        return self.any_or_all(False, tests)

    def matched_attributes(
        self, pattern: Any, subject: Value, cls: type, captures: Captures
    ) -> Value:
        """Whether the pattern of a class matches one of its instances."""
        if cls in OF_THEMSELVES and len(pattern.patterns) == 1 and not pattern.kwd_attrs:
            return self.matched(pattern.patterns[0], subject, captures)
        names = getattr(cls, "__match_args__", ())
        if len(names) < len(pattern.patterns):
            message = f"{cls.__name__}() accepts {len(names)} positional sub-patterns"
            raise self.fault(TypeError, f"{message} ({len(pattern.patterns)} given)")
        pairs = [
            *zip(names[: len(pattern.patterns)], pattern.patterns, strict=True),
            *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True),
        ]
        if any(self.has(subject, name) is False for name, _ in pairs):
            return FALSE
        return self.all_matched([(p, self.attribute(subject, n)) for n, p in pairs], captures)

    def matched_items(self, patterns: list[Any], items: list[Value], captures: Captures) -> Value:
        star = next((i for i, p in enumerate(patterns) if isinstance(p, gast.MatchStar)), None)
        if star is None:
            if len(items) != len(patterns):
                return FALSE
            return self.all_matched(list(zip(patterns, items, strict=True)), captures)
        after = len(patterns) - star - 1
        if len(items) < star + after:
            return FALSE
        if patterns[star].name is not None:
            middle = self.new(ListObject(tuple(items[star : len(items) - after])))
            captures[patterns[star].name] = lambda: middle
        pairs = [
            *zip(patterns[:star], items[:star], strict=True),
            *zip(patterns[star + 1 :], items[len(items) - after :], strict=True),
        ]
        return self.all_matched(pairs, captures)

    def all_matched(self, pairs: list[tuple[Any, Value]], captures: Captures) -> Value:
        return self.any_or_all(False, (self.matched(p, item, captures) for p, item in pairs))


def alternatives(pattern: Any) -> list[Any]:
    """The patterns without alternatives that capture, of which one must match, in order."""
    if isinstance(pattern, gast.MatchOr):
        if any(captured(p) for p in pattern.patterns):
            return [q for p in pattern.patterns for q in alternatives(p)]
        return [pattern]
    found = [pattern]
    for name in ("pattern", "patterns", "kwd_patterns"):
        inner = getattr(pattern, name, None)
        if isinstance(inner, list):
            ways: Any = list(map(list, itertools.product(*map(alternatives, inner))))
        else:
            ways = [inner] if inner is None else alternatives(inner)
        if len(ways) > 1:
            found = [with_field(p, name, way) for p in found for way in ways]
    return found


def captured(pattern: Any) -> bool:
    """Whether a pattern captures anything."""
    return any(
        getattr(node, name, None) is not None
        for node in gast.walk(pattern)
        for name in ("name", "rest")
    )


def with_field(node: Any, name: str, value: Any) -> Any:
    new = copy.copy(node)
    setattr(new, name, value)
    return new
