"""Where a long line is broken: as black does it.

A statement is a list of pieces of text. Some are delimiters, at which a line may be broken; some
are marks, which don't show.
"""

from collections.abc import Sequence

from astunparse.unparser import Unparser

from .levels import AND, COMPARE, OPERATOR_LEVELS, OR, TEST

WIDTH = 88  # columns a line may have before it is broken


class Delimiter(str):
    """A piece of text at which a long line may be broken: the weakest-binding ones first."""

    strength: int

    def __new__(cls, text: str, strength: int) -> "Delimiter":
        self = super().__new__(cls, text)
        self.strength = strength
        return self


class _Mark(str):
    """An invisible piece of text, told from the others by identity."""


FOR, ASYNC_FOR = Delimiter(" for ", -2), Delimiter(" async for ", -2)
FILTER, COMMA = Delimiter(" if ", -2), Delimiter(", ", -1)
IF, ELSE = Delimiter(" if ", TEST), Delimiter(" else ", TEST)
BINARY = {
    name: Delimiter(f" {sign} ", OPERATOR_LEVELS[name]) for name, sign in Unparser.binop.items()
}
BOOLEAN = {"And": Delimiter(" and ", AND), "Or": Delimiter(" or ", OR)}
COMPARISON = {name: Delimiter(f" {sign} ", COMPARE) for name, sign in Unparser.cmpops.items()}
# Brackets that may be put (soft), and a stretch that is broken only when nothing else is left.
SOFT, SOFT_END, HIDE, HIDE_END = _Mark(), _Mark(), _Mark(), _Mark()
_OPENERS, _CLOSERS = frozenset("([{"), frozenset(")]}")


def _joined(pieces: Sequence[str], indent: int) -> str:
    return "    " * indent + "".join(pieces).strip(" ")


def _scan(pieces: Sequence[str]) -> tuple[list[tuple[int, int]], list[int]]:
    """Where the outermost brackets are, and the delimiters outside them."""
    pairs, delimiters, opened = [], [], []
    for index, piece in enumerate(pieces):
        if piece in _OPENERS or piece is SOFT or piece is HIDE:
            opened.append(index)
        elif piece in _CLOSERS or piece is SOFT_END or piece is HIDE_END:
            if opened:
                start = opened.pop()
                if not opened:
                    pairs.append((start, index))
        elif not opened and type(piece) is Delimiter:
            delimiters.append(index)
    return pairs, delimiters


def broken(pieces: Sequence[str], indent: int, inside: bool) -> list[str]:
    """The lines of a statement, or of a part that stands `inside` brackets."""
    text = _joined(pieces, indent)
    if len(text) <= WIDTH:
        return [text]
    pairs, delimiters = _scan(pieces)
    if inside and delimiters:
        return _break_at_delimiters(pieces, frozenset(delimiters), indent)
    atom = None  # soft brackets that hold a single thing, and where putting them helps
    for start, end in pairs:
        if pieces[start] is not SOFT:
            continue
        inner, breaks = _scan(pieces[start + 1 : end])
        if not breaks:
            fits = len(_joined(pieces[:start], indent)) < WIDTH
            if fits and not any(last > first + 1 for first, last in inner):
                fits = len(_joined(pieces[start:end], indent + 1)) <= WIDTH
                atom = (start, end) if fits else atom
            pieces = [*pieces[:start], "", *pieces[start + 1 : end], "", *pieces[end + 1 :]]
    chosen = atom
    if chosen is None:
        pairs = [
            (start, end)
            for start, end in _scan(pieces)[0]
            if end > start + 1 and pieces[start] is not HIDE
        ]
        if pieces[0].startswith(("def ", "async def ")):
            ordered = [pair for pair in pairs if pieces[pair[0]] == "("]  # parameters first
        else:
            ordered = pairs[::-1]
        ordered.sort(key=lambda pair: pair[1] - pair[0] == 2)  # not `[0]` if there is another
        for start, end in ordered:
            head, tail = _joined(pieces[:start], indent), _joined(pieces[end:], indent)
            if len(head) < WIDTH and len(tail) <= WIDTH:  # the opening bracket to be added
                chosen = start, end
                break
        else:
            chosen = max(pairs, key=lambda pair: pair[1] - pair[0], default=None)
    if chosen is None:
        revealed = _reveal(pieces)
        return [text] if len(revealed) == len(pieces) else broken(revealed, indent, inside)
    start, end = chosen
    soft = pieces[start] is SOFT or chosen == atom
    opener, closer = ("(", ")") if soft else (pieces[start], pieces[end])
    return [
        *broken([*pieces[:start], opener], indent, inside),
        *broken(pieces[start + 1 : end], indent + 1, True),
        *broken([closer, *pieces[end + 1 :]], indent, inside),
    ]


def _break_at_delimiters(
    pieces: Sequence[str], delimiters: frozenset[int], indent: int
) -> list[str]:
    weakest = min(pieces[index].strength for index in delimiters)  # type: ignore[attr-defined]
    lines: list[str] = []
    group: list[str] = []
    for index, piece in enumerate(pieces):
        if index not in delimiters or piece.strength != weakest:  # type: ignore[attr-defined]
            group.append(piece)
        elif weakest == COMMA.strength:
            lines += broken([*group, ","], indent, True)
            group = []
        else:
            lines += broken(group, indent, True)
            group = [piece.lstrip()]
    if weakest == COMMA.strength:
        group.append(",")
    return lines + broken(group, indent, True)


def _reveal(pieces: Sequence[str]) -> list[str]:
    """Let brackets in what is hidden be broken; its commas remain no places to break at."""
    revealed = []
    depth = 0
    hidden: list[int] = []
    for piece in pieces:
        if piece is HIDE:
            hidden.append(depth)
        elif piece is HIDE_END:
            hidden.pop()
        else:
            depth += (piece in _OPENERS) - (piece in _CLOSERS)
            revealed.append(str(piece) if hidden and hidden[-1] == depth else piece)
    return revealed
