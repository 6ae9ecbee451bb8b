"""Lists that exist at run time and have items of several kinds: numbers, texts, tuples, objects.

The items of a list that a loop makes are of one kind, or None. Where they aren't, each is put in a
*box*, an object whose class says of which kind its content is, and the list is one of boxes. Boxes
stand in a table as all objects do of which only the run tells how many there are (`objects.py`),
which gives each kind of content a column of its own. So hardly anything knows of such lists: they
are objects of a class here, whose methods are written in what the compiler reads. What is read out
of one is a choice of what the boxes may hold (`choices.py`).
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..rules.registry import definition
from .tables import KINDS_OF_TABLES, Window


class Box:
    """An item of such a list; classes that derive from it have a `field` of their own."""

    field = ""

    def __init__(self, content: Any) -> None:
        setattr(self, self.field, content)

    def content(self) -> Any:
        return getattr(self, self.field)


def boxed(item: Any) -> Any:
    """A box with this content. The compiler makes it in `MixedLists.boxed`."""
    return item


def content(box: Any) -> Any:
    """What is in a box."""
    return box.content()


def equal(a: Any, b: Any) -> Any:
    """Whether two items are equal. The compiler compares them in `MixedLists.equal`."""
    return a == b


def sorted_by(key: Any, item: Any) -> Any:
    """What a list is sorted by. The compiler calls it in `MixedLists.sorted_by`."""
    return key(item)


class Mixed:
    """A list of boxes, to who uses it a list of their contents."""

    stands_for: type = list

    def __init__(self, items: Any) -> None:
        self.boxes: Any = []
        self.extend(items)

    def __len__(self) -> Any:
        return len(self.boxes)

    def __iter__(self) -> Any:
        return map(content, self.boxes)

    def __reversed__(self) -> Any:
        return map(content, reversed(self.boxes))

    def __contains__(self, item: Any) -> Any:
        return any(equal(other, item) for other in self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return of_boxes(self.boxes[key])
        return self.boxes[key].content()

    def __setitem__(self, key: Any, item: Any) -> None:
        if isinstance(key, slice):
            self.boxes[key] = [boxed(other) for other in item]
        else:
            self.boxes[key] = boxed(item)

    def __delitem__(self, key: Any) -> None:
        del self.boxes[key]

    def __add__(self, other: Any) -> Any:
        made = self.copy()
        made.extend(other)
        return made

    def __radd__(self, other: Any) -> Any:
        made = Mixed(other)
        made.extend(self)
        return made

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, count: Any) -> Any:
        return of_boxes(self.boxes * count)

    __rmul__ = __mul__

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, list) or len(self) != len(other):
            return False
        return all(equal(a, b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def append(self, item: Any) -> None:
        self.boxes.append(boxed(item))

    def insert(self, place: Any, item: Any) -> None:
        self.boxes.insert(place, boxed(item))

    def extend(self, items: Any) -> None:
        for item in self.copy() if items is self else items:
            self.boxes.append(boxed(item))

    def pop(self, *place: Any) -> Any:
        return self.boxes.pop(*place).content()

    def clear(self) -> None:
        self.boxes.clear()

    def reverse(self) -> None:
        self.boxes.reverse()

    def copy(self) -> Any:
        return of_boxes(self.boxes[:])

    def count(self, item: Any) -> Any:
        return sum([equal(other, item) for other in self])

    def index(self, item: Any) -> Any:
        for place, other in enumerate(self):
            if equal(other, item):
                return place
        raise ValueError("list.index(x): x not in list")

    def remove(self, item: Any) -> None:
        del self.boxes[self.index(item)]

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        self.boxes.sort(
            key=lambda box: box.content() if key is None else sorted_by(key, box.content()),
            reverse=reverse,
        )


def of_boxes(boxes: Any) -> Any:
    """A list of several kinds that has these boxes."""
    made = Mixed(())
    made.boxes = boxes
    return made


# Of a class of ours: the one whose instances its objects are to the program
STANDS_FOR: dict[type, type] = {
    cls: cls.stands_for  # type: ignore[attr-defined]
    for cls in (*KINDS_OF_TABLES, Window, Mixed)
}

for _cls in (Box, Mixed):
    for _member in vars(_cls).values():
        if isinstance(_member, FunctionType):
            definition(_member)(_member)
definition(of_boxes)(of_boxes)
definition(content)(content)
