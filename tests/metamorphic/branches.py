"""Branches, and statements put where they run all the same."""

from __future__ import annotations

import ast
import copy
from typing import Any

from tests.metamorphic.base import Rewrite, has, load, loaded, statements, stored


class Branches(Rewrite):
    """`if` statements in other ways."""

    name = "branches"
    weight = 2.0
    FORMS = (
        "if not (C):\n    B\nelse:\n    A",
        "match bool(C):\n    case True:\n        A\n    case _:\n        B",
        "match bool(C):\n    case False:\n        B\n    case True:\n        A",
        "test = bool(C)\nif test:\n    A\nif not test:\n    B",
        "test = C\nwhile test:\n    A\n    break\nelse:\n    B",
        "try:\n    if not C:\n        raise ValueError\nexcept ValueError:\n    B\nelse:\n    A",
        "for _ in (0,):\n    if C:\n        A\n        break\nelse:\n    B",
        "while True:\n    if C:\n        A\n        break\n    B\n    break",
        "test = C\nfor _ in range(int(bool(test))):\n    A\n"
        "for _ in range(1 - int(bool(test))):\n    B",
        "if (test := bool(C)) is True:\n    A\nelse:\n    B",
        "if C:\n    A\nelif True:\n    B",
        "with contextlib.nullcontext(C) as test:\n    if test:\n        A\n    else:\n        B",
        "try:\n    test = C\nfinally:\n    if test:\n        A\n    else:\n        B",
        "try:\n    if C:\n        A\n    else:\n        B\nexcept ZeroDivisionError:\n    raise",
    )

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if not self.offer(node):
            return node
        text = self.random.choice(self.FORMS)
        jumps = (ast.Break, ast.Continue)
        if has([*node.body, *node.orelse], *jumps) and ("while" in text or "for" in text):
            return node
        if has([*node.body, *node.orelse], *jumps, ast.Return) and "finally" in text:
            return node
        parts = {"A": node.body, "B": node.orelse or [ast.Pass()], "C": node.test}
        new = statements(text, test=self.fresh("test"), **parts)
        self.need(new)
        return copy.deepcopy(new)


class Chosen(Rewrite):
    """A branch that assigns one name in both of its arms as a conditional expression, and back."""

    name = "chosen"

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if len(node.body) != 1 or len(node.orelse) > 1 or not isinstance(node.body[0], ast.Assign):
            return node
        a = node.body[0]
        if node.orelse:
            b = node.orelse[0]
            if not isinstance(b, ast.Assign) or ast.dump(b.targets[0]) != ast.dump(a.targets[0]):
                return node
            other = b.value
        elif isinstance(a.targets[0], ast.Name) and a.targets[0].id in getattr(node, "bound", {}):
            other = load(a.targets[0].id)
        else:
            return node
        if not self.offer(node):
            return node
        return ast.Assign(a.targets, ast.IfExp(node.test, a.value, other))

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.value, ast.IfExp) or not self.offer(node):
            return node
        e = node.value
        return ast.If(
            e.test, [ast.Assign(node.targets, e.body)], [ast.Assign(node.targets, e.orelse)]
        )


class Returns(Rewrite):
    """A function that returns in several places as one that returns at its end, in a loop."""

    name = "returns"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        wanted = has(node.body, ast.Return) and not has(node.body, ast.Yield, ast.YieldFrom)
        ran = node.name != "inputs" and self.offer(node.body[-1])
        self.functions.pop()
        if not wanted or not ran or node.decorator_list:
            return node
        names = {n: self.fresh(n) for n in ("result", "body")}
        text = self.random.choice((
            "while True:\n    BODY",
            "try:\n    BODY\nfinally:\n    pass",
            "with np.errstate(all='ignore'):\n    BODY",
            "with contextlib.suppress(KeyError):\n    BODY",
            "for _ in (0,):\n    BODY",
            "try:\n    BODY\nexcept KeyError:\n    raise",
            "if True:\n    BODY",
        ))  # fmt: skip
        if "while" in text and not isinstance(node.body[-1], ast.Return):
            return node
        head = node.body[:1] if ast.get_docstring(node) else []
        new = statements(text, BODY=node.body[len(head) :], **names)
        self.need(new)
        node.body = head + new
        return node


class Around(Rewrite):
    """Some statements in a `try`, a `with`, a branch or a loop that changes nothing."""

    name = "around"
    FORMS = (
        "try:\n    BODY\nexcept ZeroDivisionError:\n    raise",
        "try:\n    BODY\nfinally:\n    pass",
        "with np.errstate(all='ignore'):\n    BODY",
        "with contextlib.nullcontext():\n    BODY",
        "with contextlib.suppress(KeyError):\n    BODY",
        "if True:\n    BODY",
        "if np is not None:\n    BODY",
        "for _ in (0,):\n    BODY",
        "while True:\n    BODY\n    break",
        "while True:\n    try:\n        BODY\n    except KeyError:\n        continue\n    break",
        "for _ in (None,):\n    BODY\nelse:\n    pass",
        "match None:\n    case None:\n        BODY",
        "try:\n    BODY\nexcept Exception as error:\n    raise RuntimeError('no') from error",
        "@contextlib.contextmanager\ndef around():\n    yield\nwith around():\n    BODY",
    )

    def block(self, body: list[Any]) -> list[Any]:
        start = 0
        while start < len(body):
            if self.offer(body[start]):
                end = start + self.random.choice((1, 2, 3, len(body)))
                part = body[start:end]
                if not has(part, ast.Break, ast.Continue, ast.Nonlocal, ast.Global, ast.Return):
                    text = self.random.choice(self.FORMS)
                    new = statements(text, BODY=part, around=self.fresh("around"))
                    self.need(new)
                    return [*body[:start], *new, *body[end:]]
            start += 1
        return body


class Pairs(Rewrite):
    """Statements next to each other as one, assigned in another order, or one as several."""

    name = "pairs"

    def block(self, body: list[Any]) -> list[Any]:
        new: list[Any] = []
        for s in body:
            last = new[-1] if new else None
            if (
                isinstance(last, ast.Assign)
                and isinstance(s, ast.Assign)
                and isinstance(s.targets[0], (ast.Name, ast.Subscript, ast.Attribute))
                and isinstance(last.targets[0], (ast.Name, ast.Subscript, ast.Attribute))
                and not stored([last]) & (loaded([s]) | stored([s]))
                and len(s.targets) == len(last.targets) == 1
                and self.offer(s)
            ):
                if self.random.random() < 0.5 and not stored([s]) & loaded([last]):
                    new[-1:] = [s, last]
                    continue
                targets = ast.Tuple([last.targets[0], s.targets[0]], ast.Store())
                values = ast.Tuple([last.value, s.value], ast.Load())
                new[-1] = ast.Assign([targets], values)
            elif (
                isinstance(s, ast.Assign)
                and isinstance(s.targets[0], ast.Tuple)
                and isinstance(s.value, ast.Tuple)
                and len(s.targets[0].elts) == len(s.value.elts)
                and not any(isinstance(e, ast.Starred) for e in [*s.targets[0].elts, *s.value.elts])
                and self.offer(s)
            ):
                names = [self.fresh("part") for _ in s.value.elts]
                for name, value in zip(names, s.value.elts, strict=True):
                    new.append(ast.Assign([ast.Name(name, ast.Store())], value))
                for name, target in zip(names, s.targets[0].elts, strict=True):
                    new.append(ast.Assign([target], load(name)))
            else:
                new.append(s)
        return new


class Dead(Rewrite):
    """Code that computes with active values, and whose results aren't used."""

    name = "dead"
    weight = 1.5
    FLOAT = (
        "unused = V ** 2 + 1.0",
        "unused = np.zeros(3)\nunused[1] = V * 2\nunused[:2] += V",
        "unused = [V]\nunused.append(V * V)",
        "unused = {'v': V}\nunused['w'] = np.sin(V)",
        "unused = f'{V:.3f}'",
        "assert isinstance(float(V), float), 'not a number'",
        "if np.isnan(V):\n    raise ValueError('nan')",
        "if V is None:\n    raise ValueError('none')",
        "unused = 0.0\nfor _ in range(2):\n    unused += V\n    if unused > 1e9:\n        break",
        "def unused():\n    return V + 1",
        "unused = lambda: V",
        "V = V + 1.0\nV = V - 1.0",
        "V, unused = 0.0, V\nV = unused",
        "unused = V\nunused *= 2",
        "unused = np.full(2, V)\ndel unused",
        "unused = max(V, 0.0) if V > 0 else None",
        "unused = math.floor(V) if abs(V) < 1e6 else 0",
        "try:\n    unused = 1 / (V * 0 + 1)\nexcept ZeroDivisionError:\n    unused = 0",
        "print(end='' if V else '')",
    )
    ARRAY = (
        "unused = V.copy()\nunused *= 2\nunused[0] = 1.0",
        "unused = V + 1\nunused += V",
        "unused = np.zeros_like(V)\nunused[:] = V\nunused[0] += V[0]",
        "unused = [V, V]\nunused.append(V * 2)",
        "unused = V[0]\nunused = unused * 2",
        "assert np.all(np.isfinite(V)) or True",
        "assert isinstance(V, np.ndarray) and V.ndim > 0, V.shape",
        "if V.size > 10**9:\n    raise ValueError(f'too many: {V.shape}')",
        "for unused in V:\n    pass",
        "unused = {k: v for k, v in enumerate(V)}",
        "unused = V\nunused = unused[::-1] if unused.ndim else unused",
        "V += 1.0\nV -= 1.0",
        "V *= 2.0\nV *= 0.5",
        "V[:] = V[::-1]\nV[:] = V[::-1].copy()",
        "unused = V.copy()\nV[...] = 0.0\nV[...] = unused",
        "unused = V[0] + 0.0\nV[0] = 7.0\nV[0] = unused",
        "unused = np.sort(V, axis=None)[0]",
        "def unused(v=V):\n    v[0] = 1.0\n    return v",
        "V = V[:]",
        "np.add(V, 1.0, out=np.empty_like(V))",
        "unused = V.copy()\ntry:\n    unused[10**6] = 1.0\nexcept IndexError:\n    unused = None",
    )

    def block(self, body: list[Any]) -> list[Any]:
        new: list[Any] = []
        for s in body:
            bound = getattr(s, "bound", {})
            names = sorted(n for n, k in bound.items() if self.form(k) and n.isidentifier())
            if names and not isinstance(s, (ast.Nonlocal, ast.Global)) and self.offer(s):
                name = self.random.choice(names)
                text = self.random.choice(self.form(bound[name]))
                dead = statements(text, V=load(name), unused=self.fresh("unused"))
                self.need(dead)
                new += dead
            new.append(s)
        return new

    def form(self, kinds: set[str]) -> Any:
        if kinds == {"float"}:
            return self.FLOAT
        return self.ARRAY if kinds and kinds <= {"array1", "array2", "array3"} else None
