"""Loops and comprehensions, written in other ways."""

from __future__ import annotations

import ast
import copy
from typing import Any

from tests.metamorphic.base import (
    Rewrite,
    expression,
    has,
    jumps_out,
    load,
    loaded,
    statements,
    store,
    stored,
)


def is_call(node: Any, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def range_parts(node: Any) -> tuple[Any, Any, int] | None:
    """First, end and step of a call of `range`, if the step is a number in the text."""
    if not is_call(node, "range") or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    first, end, step = ast.Constant(0), None, 1
    if len(node.args) == 1:
        (end,) = node.args
    elif len(node.args) == 2:
        first, end = node.args
    else:
        first, end, by = node.args
        try:
            step = ast.literal_eval(by)
        except ValueError:
            return None
    return first, end, step


class Loop(Rewrite):
    """A rewrite of `for` loops that have no `else`."""

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if node.orelse or not self.suits(node) or not self.offer(node):
            return node
        return self.rewritten(node)

    def suits(self, node: ast.For) -> bool:
        return True

    def rewritten(self, node: ast.For) -> Any:
        raise NotImplementedError


class Counting(Loop):
    """`for i in range(n)` as a `while` loop."""

    name = "while"
    weight = 2.0

    def suits(self, node: ast.For) -> bool:
        return range_parts(node.iter) is not None

    def rewritten(self, node: ast.For) -> Any:
        first, end, step = range_parts(node.iter)  # type: ignore[misc]
        parts = {"k": self.fresh("k"), "END": self.fresh("end"), "FIRST": first, "LAST": end}
        parts |= {"T": node.target, "BODY": node.body}
        sign, how = ("<", "+=") if step > 0 else (">", "-=")
        jumpy = has(node.body, ast.Continue)
        if isinstance(node.target, ast.Name) and not jumpy and self.random.random() < 0.5:
            if node.target.id not in stored(node.body):
                parts["k"] = node.target.id
                after = f"BODY\n    k {how} {abs(step)}"
                return statements(
                    f"END = LAST\nk = FIRST\nwhile k {sign} END:\n    {after}", **parts
                )
        text = f"END = LAST\nk = FIRST\nwhile k {sign} END:\n    T = k\n"
        text += f"    k {how} {abs(step)}\n    BODY"
        if self.random.random() < 0.3:
            text = (
                f"END = LAST\nk = FIRST\nwhile True:\n    if not k {sign} END:\n        break\n"
                f"    T = k\n    k {how} {abs(step)}\n    BODY"
            )
        return statements(text, **parts)


class Iterables(Loop):
    """Other things to loop over, with the same items."""

    name = "iterables"
    weight = 2.0
    FORMS = (
        "for k, T in enumerate(IT):\n    BODY",
        "for T, k in zip(IT, itertools.repeat(None)):\n    BODY",
        "for (T,) in zip(IT):\n    BODY",
        "it = iter(IT)\nwhile True:\n    try:\n        T = next(it)\n"
        "    except StopIteration:\n        break\n    BODY",
        "it = iter(IT)\nwhile (held := next(it, None)) is not None:\n    T = held\n    BODY",
        "for k in [v for v in IT]:\n    T = k\n    BODY",
        "items = list(IT)\nfor k in range(len(items)):\n    T = items[k]\n    BODY",
        "items = list(IT)\nwhile items:\n    T = items.pop(0)\n    BODY",
        "items = list(IT)[::-1]\nwhile items:\n    T = items.pop()\n    BODY",
        "queue = collections.deque(IT)\nwhile queue:\n    T = queue.popleft()\n    BODY",
        "def items():\n    yield from IT\nfor T in items():\n    BODY",
        "def items():\n    for v in IT:\n        yield v\nfor T in items():\n    BODY",
        "def items(those):\n    for v in those:\n        yield v\nfor T in items(IT):\n    BODY",
        "class Items:\n    def __init__(self, those):\n        self.those = list(those)\n"
        "        self.at = 0\n    def __iter__(self):\n        return self\n"
        "    def __next__(self):\n        if self.at == len(self.those):\n"
        "            raise StopIteration\n        self.at += 1\n"
        "        return self.those[self.at - 1]\nfor T in Items(IT):\n    BODY",
        "class Items:\n    def __init__(self, those):\n        self.those = list(those)\n"
        "    def __len__(self):\n        return len(self.those)\n"
        "    def __getitem__(self, k):\n        return self.those[k]\n"
        "for T in Items(IT):\n    BODY",
        "for T in itertools.chain([v for v in IT], ()):\n    BODY",
        "it = iter(IT)\nfor held in it:\n    T = held\n    BODY",
    )

    def rewritten(self, node: ast.For) -> Any:
        text = self.random.choice(self.FORMS)
        names = {n: self.fresh(n) for n in ("k", "it", "held", "items", "queue", "v")}
        for name in ("Items",):
            text = text.replace(name, self.fresh(name))
        if "def items" in text and stored([node.iter]):
            return node
        new = statements(text, IT=node.iter, T=node.target, BODY=node.body, **names)
        self.need(new)
        return new


class Indices(Loop):
    """`for x in xs` by the numbers of the items, and the other way round in part."""

    name = "indices"

    def suits(self, node: ast.For) -> bool:
        return isinstance(node.iter, (ast.Name, ast.Attribute))

    def rewritten(self, node: ast.For) -> Any:
        text = self.random.choice((
            "for k in range(len(IT)):\n    T = IT[k]\n    BODY",
            "k = 0\nwhile k < len(IT):\n    T = IT[k]\n    k += 1\n    BODY",
            "for k, _ in enumerate(IT):\n    T = IT[k]\n    BODY",
        ))  # fmt: skip
        parts = {"k": self.fresh("k"), "IT": node.iter, "T": node.target, "BODY": node.body}
        return statements(text, **parts)


class Peeled(Loop):
    """A loop over a range that is cut: its first iteration, its last, or its halves."""

    name = "peel"

    def suits(self, node: ast.For) -> bool:
        parts = range_parts(node.iter)
        return parts is not None and parts[2] == 1 and not jumps_out(node.body)

    def rewritten(self, node: ast.For) -> Any:
        first, end, _ = range_parts(node.iter)  # type: ignore[misc]
        loop = "for T in range({}, {}):\n    BODY\n"
        text = self.random.choice((
            "if lo < hi:\n    T = lo\n    BODY\n" + loop.format("lo + 1", "hi"),
            loop.format("lo", "hi - 1") + "if lo < hi:\n    T = hi - 1\n    BODY",
            "mid = (lo + hi) // 2\n" + loop.format("lo", "mid") + loop.format("mid", "hi"),
            "for part in (range(lo, hi // 2), range(max(lo, hi // 2), hi)):\n"
            "    for T in part:\n        BODY",
        ))  # fmt: skip
        names = {n: self.fresh(n) for n in ("lo", "hi", "mid", "part")}
        head = statements("lo, hi = FIRST, END", FIRST=first, END=end, **names)
        new = statements(text, T=node.target, BODY=node.body, **names)
        return head + copy.deepcopy(new)


class Unbroken(Rewrite):
    """`break` by a flag; and `continue` by a branch."""

    name = "flags"

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if node.orelse or not breaks(node.body) or not self.offer(node):
            return node
        done = self.fresh("done")
        body = unbroken(node.body, done)
        guard = statements("if D:\n    continue", D=done)
        return [
            *statements("D = False", D=done),
            ast.For(node.target, node.iter, guard + body, [], None),
        ]

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        if node.orelse or not self.offer(node):
            return node
        if not breaks(node.body):
            text = self.random.choice((
                "while True:\n    if not TEST:\n        break\n    BODY",
                "while True:\n    if TEST:\n        BODY\n    else:\n        break",
                "for _ in itertools.count():\n    if not TEST:\n        break\n    BODY",
                "going = bool(TEST)\nwhile going:\n    BODY\n    going = bool(TEST)",
                "for _ in iter(lambda: bool(TEST), False):\n    BODY",
                "while going := bool(TEST):\n    BODY",
                "if TEST:\n    while True:\n        BODY\n        if not TEST:\n            break",
            ))  # fmt: skip
            if has(node.body, ast.Continue) and text.count("TEST") > 1:
                return node
            parts = {"going": self.fresh("going"), "TEST": node.test, "BODY": node.body}
            new = copy.deepcopy(statements(text, **parts))
            self.need(new)
            return new
        done = self.fresh("done")
        body = unbroken(node.body, done)
        text = "done = False\nwhile not done and TEST:\n    BODY"
        return statements(text, done=done, TEST=node.test, BODY=body)


def breaks(body: list[Any]) -> bool:
    """Whether statements leave the loop around them by a `break`, in branches only."""
    return any(isinstance(s, ast.Break) or (isinstance(s, ast.If) and (
        breaks(s.body) or breaks(s.orelse))) for s in body)  # fmt: skip


def unbroken(body: list[Any], done: str) -> list[Any]:
    """Statements that set a flag and continue where they left the loop."""
    new: list[Any] = []
    for s in body:
        if isinstance(s, ast.Break):
            new += statements("D = True\ncontinue", D=done)
        elif isinstance(s, ast.If):
            orelse = unbroken(s.orelse, done)
            new.append(ast.If(s.test, unbroken(s.body, done), orelse))
        else:
            new.append(s)
    return new


class Nested(Rewrite):
    """Two loops as one over pairs."""

    name = "product"

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        inner = node.body[0]
        if (
            len(node.body) != 1
            or not isinstance(inner, ast.For)
            or node.orelse
            or inner.orelse
            or breaks(inner.body)
            or loaded([inner.iter]) & stored([node.target])
            or range_parts(node.iter) is None
            or range_parts(inner.iter) is None
            or not self.offer(node)
        ):
            return node
        texts = ["for A, B in itertools.product(X, Y):\n    BODY"]
        texts += ["for A, B in [(a, b) for a in X for b in Y]:\n    BODY"]
        texts += ["def pairs():\n    for a in X:\n        for b in Y:\n            yield a, b\n"
                  "for A, B in pairs():\n    BODY"]  # fmt: skip
        if len(node.iter.args) == len(inner.iter.args) == 1:
            n, m = node.iter.args[0], inner.iter.args[0]
            texts += ["for A, B in np.ndindex(N, M):\n    BODY"]
            texts += ["for k in range(N * M):\n    A, B = divmod(k, M)\n    BODY"]
            texts += ["for k in range(N * M):\n    A = k // M\n    B = k % M\n    BODY"]
        else:
            n = m = None
        names = {name: self.fresh(name) for name in ("a", "b", "k", "pairs")}
        parts = {"A": node.target, "B": inner.target, "X": node.iter, "Y": inner.iter}
        text = self.random.choice(texts)
        new = statements(text, BODY=inner.body, N=n, M=m, **parts, **names)
        self.need(new)
        return copy.deepcopy(new)


class BodyFunction(Loop):
    """The body of a loop as a closure that is called, at once or later, with the items."""

    name = "body"
    weight = 2.0

    def suits(self, node: ast.For) -> bool:
        function = self.functions[-1] if self.functions else None
        if not isinstance(function, ast.FunctionDef) or has([function], ast.Global):
            return False
        return not jumps_out(node.body) and isinstance(node.target, (ast.Name, ast.Tuple))

    def rewritten(self, node: ast.For) -> Any:
        function = self.functions[-1]
        targets = sorted(stored([node.target]))
        writes = stored(node.body) - set(targets)
        rest = count_names(function, writes) > count_names(node, writes)
        bound = getattr(node, "bound", {})
        outer = sorted(w for w in writes if w in bound or rest)
        head = [s for w in outer if w not in bound for s in statements("W = None", W=w)]
        text = "def step(ARGS):\n    nonlocal OUTER\n    BODY\n"
        text += self.random.choice((
            "for T in IT:\n    step(ARGS2)",
            "for T in IT:\n    step(ARGS2)",
            "any(step(ARGS2) for T in IT)",
            "[step(ARGS2) for T in IT]",
            "for call in [functools.partial(step, ARGS2) for T in IT]:\n    call()",
            "list(map(lambda given: step(*given), [(ARGS2,) for T in IT]))",
            "def loop(those):\n    if those:\n        T = those[0]\n        step(ARGS2)\n"
            "        loop(those[1:])\nloop(list(IT))",
            "def loop():\n    for T in IT:\n        yield step(ARGS2)\n"
            "collections.deque(loop(), 0)",
            "class Step:\n    def __call__(self, items):\n        step(*items)\n"
            "for T in IT:\n    Step()((ARGS2,))",
        ))  # fmt: skip
        text = text.replace("ARGS2", ", ".join(targets))
        names = {
            n: self.fresh(n) for n in ("step", "call", "calls", "loop", "it", "given", "those")
        }
        text = text.replace("Step", self.fresh("Step"))
        new = statements(text, T=node.target, IT=node.iter, ARGS=targets, OUTER=outer,
                         BODY=node.body, **names)  # fmt: skip
        self.need(new)
        return head + copy.deepcopy(new)


def count_names(node: Any, names: set[str]) -> int:
    return sum(1 for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in names)


class Comprehensions(Rewrite):
    """Comprehensions as loops, maps and generators; loops that append as comprehensions."""

    name = "comprehensions"
    weight = 2.0

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        self.generic_visit(node)
        return self.made(node, "list")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        self.generic_visit(node)
        return self.made(node, "generator")

    def made(self, node: Any, what: str) -> Any:
        if has([node.elt], ast.NamedExpr, ast.Yield) or not self.offer(node.elt):
            return node
        first = node.generators[0]
        simple = len(node.generators) == 1 and not first.ifs
        forms = [
            "list(GEN)",
            "[*GEN]",
            "hoist",
            "function",
            "[v for v in GEN]",
            "[v for (v,) in TUP]",
        ]
        if simple and isinstance(first.target, ast.Name):
            forms += ["map", "list(map)", "[*map]"]
            forms += ["filter"]
        elif simple:
            forms += ["starmap"]
        elif len(node.generators) == 1 and len(first.ifs) == 1:
            forms += ["twice"]
        form = self.random.choice(forms)
        generator = ast.GeneratorExp(node.elt, node.generators)
        names = {"v": self.fresh("v"), "out": self.fresh("made"), "f": self.fresh("f")}
        if form == "hoist":
            if not self.steady[-1] or len(self.functions) == 0:
                return node
            loop: Any = statements("out.append(E)", E=node.elt, **names)
            for g in reversed(node.generators):
                for test in reversed(g.ifs):
                    loop = [ast.If(test, loop, [])]
                loop = [ast.For(g.target, g.iter, loop, [], None)]
            self.earlier[-1] += [*statements("out = []", **names), *loop]
            return load(names["out"])
        if form == "function":
            if not self.steady[-1] or len(self.functions) == 0:
                return node
            loop = [ast.Expr(ast.Yield(node.elt))]
            for g in reversed(node.generators):
                for test in reversed(g.ifs):
                    loop = [ast.If(test, loop, [])]
                loop = [ast.For(g.target, g.iter, loop, [], None)]
            self.earlier[-1] += statements("def f():\n    BODY", BODY=loop, **names)
            made = "f()" if what == "generator" else "list(f())"
            return expression(made, **names)
        if form in ("map", "list(map)", "[*map]"):
            text = "map(lambda ARG: E, IT)"
            wrap = form.replace("map", text) if form != "map" else text
            if what == "list" and form == "map":
                wrap = f"list({text})"
            return expression(wrap, ARG=[first.target.id], E=node.elt, IT=first.iter)
        if form == "filter":
            text = "[E for T in filter(lambda _: True, IT)]"
            return expression(text, E=node.elt, T=first.target, IT=first.iter)
        if form == "starmap":
            if not isinstance(first.target, ast.Tuple) or not all(
                isinstance(e, ast.Name) for e in first.target.elts
            ):
                return node
            self.imports.add("itertools")
            args = [e.id for e in first.target.elts]
            text = "list(itertools.starmap(lambda ARG: E, IT))"
            return expression(text, ARG=args, E=node.elt, IT=first.iter)
        if form == "twice":
            text = "[E for T in [T2 for T in IT if TEST]]"
            t2 = copy.deepcopy(first.target)
            for n in ast.walk(t2):
                if hasattr(n, "ctx"):
                    n.ctx = ast.Load()
            return expression(text, E=node.elt, T=first.target, T2=t2, IT=first.iter,
                              TEST=first.ifs[0])  # fmt: skip
        tuples = ast.GeneratorExp(ast.Tuple([node.elt], ast.Load()), node.generators)
        return expression(form, GEN=generator, TUP=tuples, **names)

    def block(self, body: list[Any]) -> list[Any]:
        new: list[Any] = []
        for s in body:
            before = new[-1] if new else None
            if (
                isinstance(before, ast.Assign)
                and isinstance(before.targets[0], ast.Name)
                and isinstance(before.value, ast.List)
                and not before.value.elts
                and isinstance(s, ast.For)
                and not s.orelse
                and len(s.body) == 1
                and isinstance(s.body[0], ast.Expr)
                and (item := appended(s.body[0].value, before.targets[0].id)) is not None
                and self.offer(s)
            ):
                text = self.random.choice(
                    ("[E for T in IT]", "list(E for T in IT)", "[*(E for T in IT)]")
                )
                value = expression(text, E=item, T=s.target, IT=s.iter)
                new[-1] = ast.Assign(before.targets, value)
            else:
                new.append(s)
        return new


def appended(node: Any, name: str) -> Any:
    """What a call appends to a list of that name."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name
    ):
        return node.args[0]
    return None


class Sums(Rewrite):
    """`sum` of a generator as a loop that adds."""

    name = "sums"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if (
            not is_call(node, "sum")
            or len(node.args) != 1
            or not isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
            or not self.steady[-1]
            or not self.offer(node)
        ):
            return node
        total, inner = self.fresh("total"), node.args[0]
        text = self.random.choice(("t += E", "t = t + E", "t = E + t", "t = np.add(t, E)"))
        loop: list[Any] = statements(text, t=total, E=inner.elt)
        for g in reversed(inner.generators):
            for test in reversed(g.ifs):
                loop = [ast.If(test, loop, [])]
            loop = [ast.For(g.target, g.iter, loop, [], None)]
        self.earlier[-1] += [ast.Assign([store(total)], ast.Constant(0)), *loop]
        return load(total)
