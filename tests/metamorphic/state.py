"""What a block changes: handed on as a state, written back from a copy, or seen in views."""

from __future__ import annotations

import ast
import copy
from typing import Any

from tests.metamorphic.base import (
    Rewrite,
    expression,
    has,
    is_kind,
    jumps_out,
    load,
    loaded,
    own_nodes,
    parameters,
    statements,
    stored,
)
from tests.metamorphic.functions import local_names
from tests.metamorphic.loops import Loop, breaks, count_names

ARRAYS = "array1/array2/array3"


def is_array(statement: Any, name: str) -> bool:
    """Whether a variable is an array of floats before a statement."""
    return is_kind(getattr(statement, "bound", {}).get(name, ()), ARRAYS)


class Views(Rewrite):
    """A part of an array named some statements before it is read."""

    name, weight = "views", 3.0

    def block(self, body: list[Any]) -> list[Any]:
        for end, s in enumerate(body):
            for part in self.parts(s):
                if not self.offer(s):
                    continue
                fixed = {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
                start = end
                wanted = self.random.choice((0, 1, 2, 5))
                while (
                    start > 0
                    and end - start < wanted
                    and not fixed & stored(body[start - 1 : end])
                    and fixed <= set(getattr(body[start - 1], "bound", {}))
                ):
                    start -= 1
                view = self.fresh("view")
                text = ast.dump(part)
                new = statements("view = PART", PART=copy.deepcopy(part), view=view)
                body[end] = Replaced(text, load(view)).visit(s)
                return [*body[:start], *new, *body[start:]]
        return body

    def parts(self, s: Any) -> list[Any]:
        """The subscripts in a simple statement that are views."""
        if not isinstance(s, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
            return []
        return [
            n for n in own_nodes([s])
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)
            and isinstance(n.value, ast.Name) and is_array(s, n.value.id)
            and any(isinstance(k, ast.Slice) for k in ast.walk(n.slice))
            and not has([n.slice], ast.Call, ast.NamedExpr)
            and loaded([n]) <= local_names(self.functions)
            and loaded([n]) <= set(getattr(s, "bound", {}))
        ]  # fmt: skip


class Replaced(ast.NodeTransformer):
    """Puts an expression in place of those that read the same."""

    def __init__(self, text: str, new: Any) -> None:
        self.text, self.new = text, new

    def visit(self, node: Any) -> Any:
        if isinstance(node, ast.expr) and ast.dump(node) == self.text:
            return copy.deepcopy(self.new)
        return self.generic_visit(node)


class Back(Rewrite):
    """Statements that write into an array, on a copy that is written back."""

    name, weight = "back", 3.0
    FORMS = (
        "held = X.copy()\nBODY\nX[...] = held",
        "held = np.array(X)\nBODY\nX[:] = held",
        "held = X\nBODY",
        "held = X.T\nBODY\nX[...] = held.T",
        "held = np.zeros_like(X)\nheld[...] = X\nBODY\nnp.copyto(X, held)",
        "held = X[...]\nBODY\nX[...] = held",
        "box = [X]\nheld, = box\nBODY\nbox[0][:] = held",
        "held, other = X.copy(), X\nother[...] = 0.0\nBODY\nother += held",
    )

    def block(self, body: list[Any]) -> list[Any]:
        for start, s in enumerate(body):
            written = self.written(s)
            if written is None or not self.offer(s):
                continue
            end = start + self.random.choice((1, 1, 2, 3))
            part = body[start:end]
            if jumps_out(part) or written in stored(part) or hides(part, written):
                continue
            text = self.random.choice(self.FORMS)
            if ".T" in text and not is_kind(s.bound[written], "array1"):
                continue
            held = self.fresh("held")
            names = {"held": held, "box": self.fresh("box"), "other": self.fresh("other")}
            changed = [Replaced(ast.dump(load(written)), load(held)).visit(p) for p in part]
            new = statements(text, X=load(written), BODY=changed, **names)
            return [*body[:start], *copy.deepcopy(new), *body[end:]]
        return body

    def written(self, s: Any) -> str | None:
        """The array whose elements a statement, or one in it, writes."""
        for n in own_nodes([s]):
            targets = n.targets if isinstance(n, ast.Assign) else [getattr(n, "target", None)]
            for t in targets:
                if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name):
                    if is_array(s, t.value.id):
                        return t.value.id
        return None


def hides(part: list[Any], name: str) -> bool:
    """Whether statements use a name in a function that they define."""
    return any(
        name in loaded([f]) for p in part for f in ast.walk(p)
        if isinstance(f, (ast.FunctionDef, ast.Lambda, ast.ClassDef))
    )  # fmt: skip


class Reduced(Loop):
    """A loop as a function from state to state, folded over the items."""

    name, weight = "reduced", 4.0
    STEP = "def step(state, item):\n    TAKE\n    T = item\n    BODY\n    return GIVE\n"
    FORMS = (
        STEP + "final = functools.reduce(step, IT, GIVE)\nKEEP",
        STEP + "final = GIVE\nfor item in IT:\n    final = step(final, item)\nKEEP",
        STEP + "*_, final = itertools.accumulate(IT, step, initial=GIVE)\nKEEP",
        STEP + "for final in itertools.accumulate(IT, step, initial=GIVE):\n    KEEP",
        STEP + "def loop(state, those):\n    if not those:\n        return state\n"
        "    return loop(step(state, those[0]), those[1:])\nfinal = loop(GIVE, list(IT))\nKEEP",
        STEP + "those = list(IT)\ndef loop(state, k):\n    if k == len(those):\n"
        "        return state\n    return loop(step(state, those[k]), k + 1)\n"
        "final = loop(GIVE, 0)\nKEEP",
        STEP + "def states():\n    state = GIVE\n    for item in IT:\n"
        "        state = step(state, item)\n        yield state\nfor final in states():\n"
        "    KEEP",
        STEP + "def run():\n    item = yield\n    state = GIVE\n    while True:\n"
        "        state = step(state, item)\n        item = yield state\nmachine = run()\n"
        "next(machine)\nfor item in IT:\n    final = machine.send(item)\n    KEEP",
    )
    KINDS = (
        ("ALL = state", "(ALL)"),
        ("ALL = state", "[ALL]"),
        ("@ = state['@']", "dict(@=@)"),
        ("@ = state.@", "types.SimpleNamespace(@=@)"),
        ("@ = state.@", "Given(@=@)"),
    )

    def suits(self, node: ast.For) -> bool:
        function = self.functions[-1] if self.functions else None
        if not isinstance(function, ast.FunctionDef) or has(node.body, ast.FunctionDef):
            return False
        return not jumps_out(node.body) and isinstance(node.target, (ast.Name, ast.Tuple))

    def rewritten(self, node: ast.For) -> Any:
        function, bound = self.functions[-1], getattr(node, "bound", {})
        targets = stored([node.target])
        writes = stored(node.body) - targets
        carried = sorted(w for w in writes if w in bound)
        outer = writes - set(carried)
        if not carried or count_names(function, outer) > count_names(node, outer):
            return node
        if count_names(function, targets) > count_names(node, targets):
            return node
        mine = set(parameters(function)) | stored(function.body)
        if not set(carried) <= mine or has(function.body, ast.Nonlocal, ast.Global):
            return node
        take, give = self.random.choice(self.KINDS)
        every = "".join(f"{w}, " for w in carried)
        give = give.replace("@=@", ", ".join(f"{w}={w}" for w in carried)).replace("ALL", every)
        lines: list[str] = []
        for line in self.random.choice(self.FORMS).splitlines():
            indent, word = line[: len(line) - len(line.lstrip())], line.strip()
            if word in ("TAKE", "KEEP"):
                one = take.replace("state", "state" if word == "TAKE" else "final")
                each = [one.replace("@", w).replace("ALL", every) for w in carried]
                lines += [indent + e for e in dict.fromkeys(each)]
            else:
                lines.append(line.replace("GIVE", give))
        text = "\n".join(lines)
        if "Given" in text:
            given = self.fresh("Given")
            fields = "\n".join(f"    {w}: object" for w in carried)
            text = f"@dataclasses.dataclass\nclass Given:\n{fields}\n{text}".replace("Given", given)
        wishes = (
            "step",
            "state",
            "final",
            "item",
            "loop",
            "those",
            "states",
            "run",
            "machine",
            "k",
        )
        names = {n: self.fresh(n) for n in wishes.split()}
        new = statements(text, T=node.target, IT=node.iter, BODY=node.body, **names)
        self.need(new)
        return copy.deepcopy(new)


class Rest(Rewrite):
    """The rest of a function as a function that is called at its end, or as what follows a loop."""

    name, weight = "rest", 3.0
    FORMS = (
        "def rest():\n    nonlocal OUTER\n    BODY\nreturn rest()",
        "def rest():\n    nonlocal OUTER\n    BODY\nreturn (lambda: rest())()",
        "def rest():\n    nonlocal OUTER\n    BODY\n    yield None\nreturn next(rest())",
        "for _ in ():\n    pass\nelse:\n    BODY",
        "while False:\n    pass\nelse:\n    BODY",
        "try:\n    raise KeyError\nexcept KeyError:\n    BODY",
        "try:\n    pass\nfinally:\n    BODY",
        "class Rest:\n    def __enter__(self):\n        return self\n"
        "    def __exit__(self, *given):\n        return False\nwith Rest():\n    BODY",
        "class Rest(Exception):\n    pass\ntry:\n    for _ in (0,):\n        raise Rest\n"
        "except Rest:\n    BODY",
        "match 'rest':\n    case 'no':\n        pass\n    case _:\n        BODY",
    )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        fits = node.name != "inputs" and not has(
            node.body, ast.Yield, ast.YieldFrom, ast.Nonlocal, ast.Global
        )
        head = 1 if ast.get_docstring(node) else 0
        if fits and isinstance(node.body[-1], ast.Return) and len(node.body) > head + 1:
            if self.offer(node.body[-1]):
                start = self.random.randrange(head, len(node.body))
                node.body[start:] = self.made(node, node.body[start:])
        self.functions.pop()
        return node

    def made(self, node: Any, rest: list[Any]) -> list[Any]:
        text = self.random.choice(self.FORMS)
        if "yield" in text:
            rest = [*rest[:-1], *statements("yield V", V=rest[-1].value or ast.Constant(None))]
            if has(rest, ast.Return):
                return [*rest[:-1], ast.Return(rest[-1].value.value)]
            text = text.replace("    yield None\n", "")
        mine = set(parameters(node)) | stored(node.body)
        outer = sorted(stored(rest) & mine & set(getattr(rest[0], "bound", {})))
        text = text.replace("Rest", self.fresh("Rest"))
        names = {"rest": self.fresh("rest")}
        new = statements(text, BODY=rest, OUTER=outer, **names)
        self.need(new)
        return copy.deepcopy(new)


class Raising(Rewrite):
    """`break` by an exception, and what follows a loop in its `else`."""

    name, weight = "raising", 2.0

    def block(self, body: list[Any]) -> list[Any]:
        for i, s in enumerate(body):
            if not isinstance(s, (ast.For, ast.While)) or s.orelse or not self.offer(s):
                continue
            if not breaks(s.body):
                if has(s.body, ast.Break) or len(body) == i + 1:
                    continue
                end = i + 1 + self.random.choice((1, 2, len(body)))
                s.orelse = body[i + 1 : end]
                return [*body[: i + 1], *body[end:]]
            done = self.fresh("Done")
            s.body = raised(s.body, done)
            text = "class Done(Exception):\n    pass\ntry:\n    LOOP\nexcept Done:\n    pass"
            new = statements(text.replace("Done", done), LOOP=[s])
            return [*body[:i], *new, *body[i + 1 :]]
        return body


def raised(body: list[Any], done: str) -> list[Any]:
    """Statements that raise an exception where they left the loop."""
    new: list[Any] = []
    for s in body:
        if isinstance(s, ast.Break):
            new.append(ast.Raise(expression(f"{done}()"), None))
        elif isinstance(s, ast.If):
            new.append(ast.If(s.test, raised(s.body, done), raised(s.orelse, done)))
        else:
            new.append(s)
    return new


class Rows(Rewrite):
    """A matrix as a list of its rows, of which the elements are read and written."""

    name, weight = "rows", 2.0
    FORMS = (
        "rows = [*X]",
        "rows = list(X)",
        "rows = [X[k] for k in range(len(X))]",
        "rows = {k: row for k, row in enumerate(X)}",
        "rows = [row for row in X]",
        "rows = [row[:] for row in X[:]]",
    )

    def block(self, body: list[Any]) -> list[Any]:
        for start, s in enumerate(body):
            used = sorted(
                n.value.id for n in own_nodes([s])
                if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)
                and is_kind(getattr(s, "bound", {}).get(n.value.id, ()), "array2")
            )  # fmt: skip
            if not used or not self.offer(s):
                continue
            x, end = self.random.choice(used), start + self.random.choice((1, 2, 3))
            part = body[start:end]
            if jumps_out(part) or x in stored(part) or hides(part, x):
                continue
            rows = self.fresh("rows")
            new = statements(self.random.choice(self.FORMS), X=load(x), rows=rows)
            changed = [RowOf(x, rows).visit(p) for p in part]
            return [*body[:start], *new, *changed, *body[end:]]
        return body


class RowOf(ast.NodeTransformer):
    """Elements and rows of an array as those of a list of rows."""

    def __init__(self, array: str, rows: str) -> None:
        self.array, self.rows = array, rows

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id != self.array:
            return node
        index = node.slice
        if isinstance(index, ast.Tuple) and len(index.elts) == 2:
            i, j = index.elts
            if not isinstance(i, ast.Slice) and not isinstance(i, ast.Constant):
                row = ast.Subscript(load(self.rows), i, ast.Load())
                return ast.Subscript(row, j, node.ctx)
        return node
