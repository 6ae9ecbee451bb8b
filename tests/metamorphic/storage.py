"""Local variables kept elsewhere, under other names, or exchanged with others."""

from __future__ import annotations

import ast
import copy
from typing import Any

from tests.metamorphic.base import (
    COMPREHENSIONS,
    Rewrite,
    expression,
    has,
    load,
    parameters,
    statements,
    stored,
)


class Places(ast.NodeTransformer):
    """Puts an expression in place of a variable, in a function and those inside that share it."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id != self.name:
            return node
        place = expression(self.text)
        place.ctx = node.ctx
        return place

    def visit_FunctionDef(self, node: Any) -> Any:
        if self.name in parameters(node) or (
            self.name in stored(node.body) and not declared(node, self.name)
        ):
            return node
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        names = [n for n in node.names if n != self.name]
        return ast.Nonlocal(names) if names else ast.Pass()

    def visit_Lambda(self, node: Any) -> Any:
        return node if self.name in parameters(node) else self.generic_visit(node)


def declared(node: Any, name: str) -> bool:
    """Whether a function declares a name nonlocal."""
    return any(isinstance(s, ast.Nonlocal) and name in s.names for s in ast.walk(node))


def captured_badly(function: Any, name: str) -> bool:
    """Whether a name has other meanings in the function: of a comprehension, or a declaration."""
    for n in ast.walk(function):
        if isinstance(n, (ast.Global, ast.NamedExpr)):
            names = n.names if isinstance(n, ast.Global) else [n.target.id]
            if name in names:
                return True
        if isinstance(n, COMPREHENSIONS) and name in {
            t.id for g in n.generators for t in ast.walk(g.target) if isinstance(t, ast.Name)
        }:
            return True
        if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name == name:
            return True
        if isinstance(n, ast.ExceptHandler) and n.name == name:
            return True
        if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name:
            return True
    return declared(function, name)


def kinds_in(function: Any, name: str) -> set[str]:
    """The kinds that a variable of a function was seen to have."""
    return {
        k for n in ast.walk(function) for k in getattr(n, "bound", {}).get(name, ())
    }  # fmt: skip


class Kept(Rewrite):
    """A local variable as an element or an attribute of something."""

    name = "kept"
    weight = 4.0
    ANY = (
        ("box = [None]", "box[0]"),
        ("box = [None]", "box[-1]"),
        ("box = [None, None, None]", "box[1]"),
        ("box = {}", "box['NAME']"),
        ("box = {}", "box[0]"),
        ("box = {}", "box[0, 'x']"),
        ("box = dict(NAME=None)", "box['NAME']"),
        ("box = types.SimpleNamespace()", "box.NAME"),
        ("box = types.SimpleNamespace(NAME=None)", "box.NAME"),
        ("class Box:\n    pass\nbox = Box()", "box.NAME"),
        ("class Box:\n    NAME = None\nbox = Box()", "box.NAME"),
        ("class Box:\n    __slots__ = ('NAME',)\nbox = Box()", "box.NAME"),
        ("class Box:\n    def __init__(self):\n        self.NAME = None\nbox = Box()", "box.NAME"),
        ("@dataclasses.dataclass\nclass Box:\n    NAME: object = None\nbox = Box()", "box.NAME"),
        ("class Box:\n    @property\n    def NAME(self):\n        return self.held\n"
         "    @NAME.setter\n    def NAME(self, value):\n        self.held = value\nbox = Box()",
         "box.NAME"),
        ("class Box:\n    def __init__(self):\n        self.held = {}\n"
         "    def __getitem__(self, key):\n        return self.held[key]\n"
         "    def __setitem__(self, key, value):\n        self.held[key] = value\nbox = Box()",
         "box['NAME']"),
        ("box = collections.defaultdict(list)", "box['NAME']"),
        ("box = collections.deque([None])", "box[0]"),
        ("box = [[None]]", "box[0][0]"),
        ("box = {'inner': {}}", "box['inner']['NAME']"),
        ("box = types.SimpleNamespace(inner=types.SimpleNamespace())", "box.inner.NAME"),
    )  # fmt: skip
    FLOAT = (
        ("box = np.zeros(1)", "box[0]"),
        ("box = np.zeros(())", "box[()]"),
        ("box = np.zeros(3)", "box[1]"),
        ("box = np.zeros((2, 2))", "box[1, 0]"),
        ("box = np.zeros(2)[::-1]", "box[0]"),
        ("box = [0.0]", "box[0]"),
        ("box = {'NAME': 0.0}", "box['NAME']"),
        ("box = types.SimpleNamespace(NAME=0.0)", "box.NAME"),
        ("class Box:\n    def __init__(self):\n        self.NAME = 0.0\nbox = Box()", "box.NAME"),
    )  # fmt: skip

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        head = node.body[:1] if ast.get_docstring(node) else []
        if node.name == "inputs" or not node.body:
            self.functions.pop()
            return node
        names = sorted(stored(node.body) | set(parameters(node)))
        for name in names:
            if captured_badly(node, name) or name == "self" or has(node.body, ast.Delete):
                continue
            if not self.offer(node.body[-1]):
                continue
            seen = kinds_in(node, name)
            forms = self.ANY + (self.FLOAT * 3 if seen == {"float"} else ())
            made, place = self.random.choice(forms)
            made = made.replace("Box", self.fresh("Box"))
            box = self.fresh("box")
            first = statements(made.replace("NAME", name), box=box)
            self.need(first)
            place = place.replace("NAME", name).replace("box", box)
            body = node.body[len(head) :]
            if name in parameters(node):
                first += statements(f"{place} = P", P=load(name))
            new = [Places(name, place).visit(s) for s in body]
            if name in parameters(node):
                first[-1].value = load(name)
            node.body = head + first + new
        self.functions.pop()
        return node


class Together(Rewrite):
    """Several local variables of a function kept in one object."""

    name = "together"
    weight = 2.0
    FORMS = (
        ("state = {}", "state['NAME']"),
        ("state = types.SimpleNamespace()", "state.NAME"),
        ("class State:\n    pass\nstate = State()", "state.NAME"),
        ("state = [None] * COUNT", "state[INDEX]"),
    )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        if node.name != "inputs" and node.body and self.offer(node.body[-1]):
            names = sorted(stored(node.body) | set(parameters(node)))
            names = [n for n in names if not captured_badly(node, n) and n != "self"]
            if len(names) > 1 and not has(node.body, ast.Delete):
                count = min(len(names), self.random.choice((2, 3, 4, 8)))
                self.keep(node, sorted(self.random.sample(names, count)))
        self.functions.pop()
        return node

    def keep(self, node: Any, names: list[str]) -> None:
        head = node.body[:1] if ast.get_docstring(node) else []
        made, form = self.random.choice(self.FORMS)
        made = made.replace("State", self.fresh("State")).replace("COUNT", str(len(names)))
        state = self.fresh("state")
        first = statements(made, state=state)
        self.need(first)
        body = node.body[len(head) :]
        for index, name in enumerate(names):
            place = form.replace("state", state).replace("NAME", name)
            place = place.replace("INDEX", str(index))
            body = [Places(name, place).visit(s) for s in body]
            if name in parameters(node):
                first += statements(f"{place} = {name}")
        node.body = head + first + body


class Renamed(Rewrite):
    """A local variable, a function or a module under a name that is meant to confuse."""

    name = "renamed"
    HOSTILE = (
        "d_x d_out out np_ numpy list sum range float max abs d_ _ __ self x_1 x_saved λ größe "
        "grad result value tuple dict d_d_x shape n_1 copy math _saved operator input type id "
        "reverse undefined d_total array d_product product difference zip enumerate print min"
    ).split()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        if node.name != "inputs" and node.body:
            keyword = set(parameters(node))
            for name in sorted(stored(node.body) - keyword):
                if captured_badly(node, name) or not self.offer(node.body[-1]):
                    continue
                used = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)}
                used |= {n.arg for n in ast.walk(self.tree) if isinstance(n, ast.arg)}
                used |= {a.asname or a.name for s in self.tree.body
                         if isinstance(s, ast.Import) for a in s.names}  # fmt: skip
                wish = self.random.choice(self.HOSTILE)
                if wish not in used:
                    node.body = [Places(name, wish).visit(s) for s in node.body]
        self.functions.pop()
        return node


class Swapped(Rewrite):
    """Two variables exchanged twice, and one handed through others."""

    name = "swapped"

    def block(self, body: list[Any]) -> list[Any]:
        new: list[Any] = []
        for s in body:
            bound = getattr(s, "bound", {})
            mine = self.functions[-1]
            local = stored(mine.body) | set(parameters(mine)) if hasattr(mine, "args") else set()
            if isinstance(mine, ast.Lambda) or has(mine.body, ast.Nonlocal, ast.Global):
                local = set()
            numeric = {"float", "array1", "array2", "array3"}
            names = sorted(n for n, k in bound.items() if n in local and k <= numeric)
            if len(names) > 1 and self.offer(s):
                a, b = self.random.sample(names, 2)
                texts = [
                    "A, B = B, A\nA, B = B, A",
                    "held = A\nA = B\nB = held\nA, B = B, A",
                    "held = [A, B]\nB, A = held\nA, B = B, A",
                    "held = {'a': A, 'b': B}\nA = held['a']\nB = held['b']",
                    "A, B = (lambda p, q: (p, q))(A, B)",
                    "(A, B), held = (A, B), None",
                    "A, B = [v for v in (A, B)]",
                    "A, *held = A, B\nB, = held",
                ]
                if bound[a] == bound[b] and "float" not in bound[a]:
                    texts += [
                        "held = A.copy()\nA[...] = B\nB[...] = held\n"
                        "held = A.copy()\nA[...] = B\nB[...] = held",
                        "held = np.stack([A, B])\nA[...], B[...] = held[0], held[1]",
                        "held = np.stack([A, B])\nA, B = held",
                        "A, B = np.array([A, B])",
                        "A[0], B[0] = B[0], A[0]\nA[0], B[0] = B[0], A[0]",
                    ]
                if bound[a] == bound[b] == {"float"}:
                    texts += [
                        "held = np.array([A, B])\nA, B = held",
                        "held = np.array([A, B])\nheld[[0, 1]] = held[[1, 0]]\nB, A = held",
                        "if A > B:\n    A, B = B, A\n    A, B = B, A",
                        "A, B = A + B, B\nA = A - B",
                    ]
                text = self.random.choice(texts)
                new += copy.deepcopy(
                    statements(text, A=load(a), B=load(b), held=self.fresh("held"))
                )
            new.append(s)
        return new


class Held(Rewrite):
    """Arguments of a function copied, kept or viewed when it begins."""

    name = "entered"
    FORMS = (
        "V = V.copy()",
        "V = V[:]",
        "V = np.asarray(V)",
        "V = np.array(V, copy=True)",
        "V = np.array(V.tolist())",
        "V = V.T.copy().T",
        "V = np.asfortranarray(V)",
        "V = V[::-1].copy()[::-1]",
        "V = np.concatenate([V, V])[: len(V)]",
        "V = copy.deepcopy(V)",
        "V = np.array([*V])",
        "V = V * 2\nV /= 2",
        "V = (V, None)[0]",
    )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        head = node.body[:1] if ast.get_docstring(node) else []
        first = node.body[len(head)] if len(node.body) > len(head) else None
        new: list[Any] = []
        for name in parameters(node):
            seen = kinds_in(node, name)
            if not seen or not seen <= {"array1", "array2", "array3"} or declared(node, name):
                continue
            if node.name != "inputs" and first is not None and self.offer(first):
                text = self.random.choice(self.FORMS)
                new += statements(text, V=load(name))
        self.need(new)
        node.body = head + new + node.body[len(head) :]
        self.functions.pop()
        return node
