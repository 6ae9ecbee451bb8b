"""Statements and expressions moved into functions, and functions made something else."""

from __future__ import annotations

import ast
import copy
from typing import Any

from tests.metamorphic.base import (
    COMPREHENSIONS,
    Rewrite,
    expression,
    has,
    jumps_out,
    kinds,
    load,
    loaded,
    own_nodes,
    parameters,
    statements,
    store,
    stored,
)


def local_names(functions: list[Any]) -> set[str]:
    """The names that are local in one of the functions around a place."""
    names: set[str] = set()
    for f in functions:
        if isinstance(f, ast.FunctionDef):
            names |= set(parameters(f)) | stored(f.body)
            for n in own_nodes(f.body):
                if isinstance(n, ast.Global):
                    names -= set(n.names)
    return names


class Outlined(Rewrite):
    """Statements as a function, at the top or inside, that is called in their place."""

    name = "outline"
    weight = 3.0

    def block(self, body: list[Any]) -> list[Any]:
        for start, s in enumerate(body):
            if not self.offer(s):
                continue
            end = start + self.random.choice((1, 1, 2, 3, 4))
            part = body[start:end]
            if jumps_out(part) or has(part, ast.Nonlocal, ast.FunctionDef, ast.ClassDef):
                continue
            if any(isinstance(n, ast.Name) and n.id == "super" for p in part for n in ast.walk(p)):
                continue
            new = self.outlined(part, body[end:])
            if new is not None:
                return [*body[:start], *new, *body[end:]]
        return body

    def outlined(self, part: list[Any], rest: list[Any]) -> list[Any] | None:
        function = self.functions[-1]
        if not isinstance(function, ast.FunctionDef):
            return None
        known = local_names(self.functions)
        bound = getattr(part[0], "bound", {})
        writes = sorted(stored(part) & known)
        reads = sorted((loaded(part) | set(writes)) & known & set(bound))
        text = self.random.choice(self.forms(writes))
        names = {n: self.fresh(n) for n in ("helper", "made", "given", "held")}
        outs = ", ".join(writes)
        back = {
            "PACK": f"({outs},)" if writes else "None",
            "DICT": "dict(" + ", ".join(f"{w}={w}" for w in writes) + ")",
            "SPACE": "types.SimpleNamespace(" + ", ".join(f"{w}={w}" for w in writes) + ")",
            "LIST": f"[{outs}]",
            "ARGS": ", ".join(reads),
            "NAMED": ", ".join(f"{r}={r}" for r in reads),
            "HOLD": "types.SimpleNamespace(" + ", ".join(f"{r}={r}" for r in reads) + ")",
            "TARGETS": f"({outs},)" if writes else "made",
        }
        for word, replacement in back.items():
            text = text.replace(word, replacement)
        lines = []
        for line in text.splitlines():
            if "GET" in line:
                indent = line[: len(line) - len(line.lstrip())]
                form = line.strip().removeprefix("GET ")
                lines += [indent + form.replace("@", w) for w in writes]
            elif "FIELD" in line:
                indent = line[: len(line) - len(line.lstrip())]
                form = line.strip().removeprefix("FIELD ")
                lines += [indent + form.replace("@", r) for r in reads] or [indent + "pass"]
            else:
                lines.append(line)
        text = "\n".join(lines)
        if "OUTER" in text:
            if not set(writes) <= set(bound) and set(writes) & loaded(self.functions):
                head = [s for w in writes if w not in bound for s in statements("W = None", W=w)]
            else:
                head = []
            mine = set(parameters(function)) | stored(function.body)
            if not set(writes) <= mine:
                return None
        else:
            head = []
        text = text.replace("Helper", self.fresh("Helper"))
        top, _, here = text.partition("---\n")
        new = statements(here or top, OUTER=writes, BODY=part, **names)
        self.need(new)
        if here:
            first = statements(top, BODY=part, **names)
            self.need(first)
            self.top += copy.deepcopy(first)
        return head + copy.deepcopy(new)

    @staticmethod
    def forms(writes: list[str]) -> list[str]:
        forms = [
            "def helper(ARGS):\n    BODY\n    return PACK\n---\nTARGETS = helper(ARGS)",
            "def helper(ARGS):\n    BODY\n    return PACK\n---\nTARGETS = helper(NAMED)",
            "def helper(ARGS):\n    BODY\n    return LIST\n---\nmade = helper(ARGS)\n"
            "TARGETS = made",
            "def helper(ARGS):\n    BODY\n    return DICT\n---\nmade = helper(ARGS)\n"
            "GET @ = made['@']",
            "def helper(ARGS):\n    BODY\n    return SPACE\n---\nmade = helper(ARGS)\n"
            "GET @ = made.@",
            "def helper(ARGS):\n    BODY\n    return PACK\n---\nTARGETS = helper(**dict(NAMED))",
            "def helper(ARGS):\n    BODY\n    return PACK\nTARGETS = helper(ARGS)",
            "def helper():\n    nonlocal OUTER\n    BODY\nhelper()",
            "def helper():\n    nonlocal OUTER\n    BODY\n[helper() for _ in range(1)]",
            "def helper():\n    nonlocal OUTER\n    BODY\n    yield\nfor _ in helper():\n    pass",
            "def helper(held):\n    FIELD @ = held.@\n    BODY\n    GET held.@ = @\n"
            "---\nheld = HOLD\nhelper(held)\nGET @ = held.@",
            "class Helper:\n    def run(self):\n        FIELD @ = self.@\n        BODY\n"
            "        GET self.@ = @\n        return self\n"
            "---\nheld = Helper()\nFIELD held.@ = @\nheld.run()\nGET @ = held.@",
            "class Helper:\n    def __init__(self, held):\n        vars(self).update(held)\n"
            "    def __call__(self):\n        FIELD @ = self.@\n        BODY\n"
            "        return PACK\n---\nTARGETS = Helper(dict(NAMED))()",
            "def helper(held):\n    FIELD @ = held['@']\n    BODY\n    GET held['@'] = @\n"
            "    return held\n---\nheld = helper(dict(NAMED))\nGET @ = held['@']",
            "def helper(ARGS):\n    BODY\n    yield PACK\n---\nTARGETS = next(helper(ARGS))",
            "def helper(ARGS):\n    try:\n        BODY\n    finally:\n        held = PACK\n"
            "    return held\n---\nTARGETS = helper(ARGS)",
        ]  # fmt: skip
        return forms


class Expressions(Rewrite):
    """An expression as a variable, a function's result, or a lambda's."""

    name = "expressions"
    weight = 2.0

    def visit(self, node: Any) -> Any:
        suits = (
            isinstance(node, (ast.BinOp, ast.Call, ast.Subscript, ast.UnaryOp, ast.IfExp))
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            and any(k in ("float", "int") or "array" in k for k in kinds(node))
            and not has([node], ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Lambda)
            and not any(isinstance(n, COMPREHENSIONS) for n in ast.walk(node))
        )
        if not suits or not self.offer(node):
            return super().visit(node)
        node = super().visit(node)
        reads = sorted(loaded([node]) & local_names(self.functions))
        names = {n: self.fresh(n) for n in ("part", "compute")}
        forms = ["lambda"]
        if self.steady[-1]:
            forms += ["hoist", "hoist", "nested", "walrus", "named lambda"]
        if self.plain_scope():
            forms += ["top", "top", "default"]
        form = self.random.choice(forms)
        if form == "lambda":
            return expression("(lambda: E)()", E=node)
        if form == "walrus":
            return ast.NamedExpr(store(names["part"]), node)
        if form == "hoist":
            self.earlier[-1] += statements("part = E", E=node, **names)
            return load(names["part"])
        if form == "named lambda":
            self.earlier[-1] += statements("compute = lambda: E", E=node, **names)
            return expression("compute()", **names)
        if form == "nested":
            self.earlier[-1] += statements("def compute():\n    return E", E=node, **names)
            return expression("compute()", **names)
        if form == "default":
            text = f"(lambda {', '.join(f'{r}={r}' for r in reads)}: E)()"
            return expression(text, E=node)
        self.top += statements("def compute(ARGS):\n    return E", ARGS=reads, E=node, **names)
        text = f"compute({', '.join(reads)})"
        if self.random.random() < 0.3:
            text = f"compute({', '.join(f'{r}={r}' for r in reads)})"
        return expression(text, **names)

    def plain_scope(self) -> bool:
        """Whether the names here are those of statements: no lambda or comprehension around."""
        return bool(self.steady[-1]) and isinstance(self.functions[-1], ast.FunctionDef)


class Inlined(Rewrite):
    """A variable that is used once, in the next statement, put where it is used."""

    name = "inline"

    def block(self, body: list[Any]) -> list[Any]:
        new: list[Any] = []
        for s in body:
            last = new[-1] if new else None
            if (
                isinstance(last, ast.Assign)
                and isinstance(last.targets[0], ast.Name)
                and isinstance(s, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.If))
                and uses(self.functions[-1], last.targets[0].id) == 2
                and uses(s if not isinstance(s, ast.If) else s.test, last.targets[0].id) == 1
                and self.offer(s)
            ):
                new[-1] = Inline(last.targets[0].id, last.value).visit(s)
            else:
                new.append(s)
        return new


class Inline(ast.NodeTransformer):
    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> Any:
        return self.value if node.id == self.name and isinstance(node.ctx, ast.Load) else node


def uses(node: Any, name: str) -> int:
    return sum(1 for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name)


class Definitions(Rewrite):
    """A function as something else that can be called in the same way."""

    name = "definitions"
    weight = 2.0
    FORMS = (
        "DEF\nf = functools.partial(impl)",
        "class Callable:\n    def __call__(self, ARGS):\n        return impl(ARGS)\n"
        "DEF\nf = Callable()",
        "DEF\ndef f(*args):\n    return impl(*args)",
        "DEF\ndef f(*args, **kwargs):\n    return impl(*args, **kwargs)",
        "DEF\ndef f(ARGS):\n    made = impl(ARGS)\n    return made",
        "DEF\nf = lambda ARGS: impl(ARGS)",
        "DEF\nf = [impl][0]",
        "DEF\nclass Holder:\n    run = staticmethod(impl)\nf = Holder.run",
        "DEF\nclass Holder:\n    def run(self, ARGS):\n        return impl(ARGS)\nf = Holder().run",
        "DEF\nclass Holder:\n    @classmethod\n    def run(cls, ARGS):\n        return impl(ARGS)"
        "\nf = Holder.run",
        "DEF\nclass Holder:\n    def __init__(self, ARGS):\n        KEEP\n    def run(self):\n"
        "        return impl(FIELDS)\ndef f(ARGS):\n    return Holder(ARGS).run()",
        "DEF\ndef logged(function):\n    @functools.wraps(function)\n"
        "    def wrapper(*args, **kwargs):"
        "\n        return function(*args, **kwargs)\n    return wrapper\nf = logged(impl)",
        "DEF\ntable = {'f': impl}\ndef f(ARGS):\n    return table['f'](ARGS)",
        "DEF\ndef make():\n    def inner(ARGS):\n        return impl(ARGS)\n"
        "    return inner\nf = make()",
        "DEF\ndef f(ARGS):\n    return (lambda *rest: impl(ARG0, *rest))(REST)",
        "DEF\ndef f(ARGS):\n    return impl(**{NAMED})",
        "DEF\ndef f(ARGS):\n    given = [ARGS]\n    return impl(*given)",
        "DEF\ndef run(function, *args):\n    return function(*args)\ndef f(ARGS):\n"
        "    return run(impl, ARGS)",
        "DEF\n@dataclasses.dataclass\nclass Given:\n    TYPED\ndef f(ARGS):\n"
        "    given = Given(ARGS)\n    return impl(GIVEN)",
    )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        inside = bool(self.functions)
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        ran = node.name != "inputs" and self.offer(node.body[-1])
        self.functions.pop()
        a = node.args
        simple = not (a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs or a.defaults)
        if not ran or not simple or self.classes or not a.args:
            return node
        args = [p.arg for p in a.args]
        text = self.random.choice(self.FORMS)
        reserved = {"f", "impl", "self", "args", "kwargs", "rest", "function", "cls", "run"}
        if reserved & set(args) or ("ARG0" in text and len(args) < 2):
            return node
        if inside and "class" in text:
            return node
        words = {
            "ARGS": ", ".join(args), "ARG0": args[0], "REST": ", ".join(args[1:]),
            "NAMED": ", ".join(f"'{x}': {x}" for x in args),
            "KEEP": ", ".join(f"self.{x}" for x in args) + ", = " + ", ".join(args) + ",",
            "FIELDS": ", ".join(f"self.{x}" for x in args),
            "GIVEN": ", ".join(f"given.{x}" for x in args),
            "TYPED": "\n    ".join(f"{x}: object" for x in args),
        }  # fmt: skip
        for word, replacement in words.items():
            text = text.replace(word, replacement)
        for word in ("Callable", "Holder", "Given"):
            text = text.replace(word, self.fresh(word))
        wishes = ("impl", "made", "logged", "table", "make", "inner", "given", "run")
        names = {n: self.fresh(n) for n in wishes}
        names["run"] = "run"
        name, node.name = node.name, names["impl"]
        new = statements(text, DEF=[node], f=name, **names)
        self.need(new)
        return new


class Arguments(Rewrite):
    """A function that takes its arguments packed."""

    name = "arguments"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = super().visit_FunctionDef(node)
        self.functions.append(node)
        ran = node.name != "inputs" and self.offer(node.body[-1])
        self.functions.pop()
        a = node.args
        if not ran or a.vararg or a.kwarg or a.kwonlyargs or a.defaults or not a.args:
            return node
        first = 1 if self.classes and not self.functions else 0
        args = [p.arg for p in a.args[first:]]
        if not args or node.decorator_list:
            return node
        given = self.fresh("given")
        form = self.random.choice(("star", "star", "rest", "defaults", "positional"))
        if form == "star":
            a.args, a.vararg = a.args[:first], ast.arg(given)
            text = self.random.choice((
                f"{', '.join(args)}, = given",
                "\n".join(f"{x} = given[{i}]" for i, x in enumerate(args)),
                f"{args[0]}, *rest = given\n"
                + (f"{', '.join(args[1:])}, = rest" if args[1:] else ""),
            ))  # fmt: skip
            node.body[:0] = statements(text, given=given, rest=self.fresh("rest"))
        elif form == "rest" and len(args) > 1:
            a.args, a.vararg = a.args[: first + 1], ast.arg(given)
            node.body[:0] = statements(f"{', '.join(args[1:])}, = given", given=given)
        elif form == "defaults":
            a.defaults = [ast.Constant(None) for _ in args]
        else:
            a.posonlyargs, a.args = a.args, []
        return node


class Numbers(Rewrite):
    """A number in the text as a constant of the module, a default value, or an attribute."""

    name = "numbers"

    def visit_Constant(self, node: ast.Constant) -> Any:
        if type(node.value) not in (float, int) or not self.functions:
            return node
        if self.functions[0].name == "inputs" or not isinstance(
            self.functions[-1], ast.FunctionDef
        ):
            return node
        if not self.offer():
            return node
        value, name = repr(node.value), self.fresh("CONSTANT")
        form = self.random.choice(("global", "array", "class", "function", "dict", "numpy"))
        kind = "float64" if isinstance(node.value, float) else "int64"
        if form == "numpy":
            return expression(f"np.{kind}({value})")
        if form == "array":
            self.top += statements(f"N = np.array([{value}, {value}])", N=name)
            return expression("N[1]", N=name)
        if form == "class":
            self.top += statements(f"class {name}:\n    value = {value}")
            return expression(f"{name}.value")
        if form == "function":
            self.top += statements(f"def N():\n    return {value}", N=name)
            return expression("N()", N=name)
        if form == "dict":
            self.top += statements(f"N = {{'value': {value}}}", N=name)
            return expression("N['value']", N=name)
        self.top += statements(f"N = {value}", N=name)
        return load(name)
