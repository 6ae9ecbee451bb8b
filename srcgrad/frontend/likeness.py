"""Which lists that exist at run time may be one and the same, or hold the same items."""

from __future__ import annotations

from .. import ir

Path = tuple[int, ...]  # to a part of an item: positions in tuples


class Group:
    """Lists that hold the same items, some perhaps but a slice of them; of the lists that are a
    certain part of their items, one each: they are alike."""

    def __init__(self, var: ir.Var) -> None:
        self.members = {var}
        self.parts: dict[Path, ir.Var] = {}


class Likeness:
    """Two relations between lists: being alike, and holding the same items.

    What is alike holds the same items, and the same parts of what holds the same items are alike:
    so a new link may bring others with it. Sets are joined, the smaller one into the larger, as
    links are noted; asking is a look-up then, however deep lists are nested.
    """

    def __init__(self) -> None:
        self._alike: dict[ir.Var, set[ir.Var]] = {}
        self._groups: dict[ir.Var, Group] = {}

    def alike(self, var: ir.Var) -> set[ir.Var]:
        """A list, and those that may be the same one."""
        return self._alike.get(var) or {var}

    def is_in(self, var: ir.Var, outer: ir.Var) -> bool:
        """Whether a list may be another one, or part of its items, however deep."""
        found: list[Group] = [self._group(outer)]
        for group in found:
            inner = (self._group(part) for part in group.parts.values())
            found += [other for other in inner if other not in found]
        return any(var in group.members for group in found)

    def note_same(self, var: ir.Var, other: ir.Var, *, sliced: bool = False) -> None:
        """Two lists are alike; or, if one is a slice of the other, hold the same items."""
        waiting = [(var, other, not sliced)]
        while waiting:
            first, second, same = waiting.pop()
            if same:
                self._join_alike(first, second)
            large, small = self._group(first), self._group(second)
            if large is small:
                continue
            if len(large.members) < len(small.members):
                large, small = small, large
            large.members |= small.members
            self._groups.update(dict.fromkeys(small.members, large))
            for path, part in small.parts.items():
                waiting.append((large.parts.setdefault(path, part), part, True))

    def note_part(self, var: ir.Var, path: Path, part: ir.Var) -> None:
        """A list may be a certain part of the items of another one."""
        self.note_same(self._group(var).parts.setdefault(path, part), part)

    def _group(self, var: ir.Var) -> Group:
        return self._groups.get(var) or self._groups.setdefault(var, Group(var))

    def _join_alike(self, var: ir.Var, other: ir.Var) -> None:
        large, small = (self._alike.setdefault(v, {v}) for v in (var, other))
        if large is small:
            return
        if len(large) < len(small):
            large, small = small, large
        large |= small
        self._alike.update(dict.fromkeys(small, large))
