"""Finding the source text of a function object, and parsing it."""

from __future__ import annotations
import __future__

import ast
import io
import linecache
import re
import sys
import threading
import types
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import gast

from ..errors import SourceError, Span
from ..packages import told
from .mangling import mangle
from .recent import unpack_in_loops

__all__ = ["Source", "get_source"]

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The source of one function.

    `node` is its gast node, with the lines and columns of the file it is in. It is shared by
    everybody who asks for this function's source: copy it to change it. `text` is the function
    as its author wrote it, without decorators and indentation.

    >>> def square(x):
    ...     return x * x
    >>> source = get_source(square)
    >>> source.name, type(source.node).__name__
    ('square', 'FunctionDef')
    >>> print(source.text)
    def square(x):
        return x * x
    """

    node: Any
    filename: str
    name: str
    text: str
    _spans: dict[tuple[int, int, int, int], Span] = field(default_factory=dict, repr=False)

    def span(self, node: Any) -> Span:
        """Return where a node of this function stands in the file.

        >>> def square(x):
        ...     return x * x
        >>> source = get_source(square)
        >>> span = source.span(source.node.body[0].value)
        >>> span.line, span.column, span.end_line, span.end_column, span.function
        (2, 11, 2, 16, 'square')
        """
        place = _place(node) or _place(self.node) or (1, 0, 1, 0)
        span = self._spans.get(place)
        if span is None:
            span = self._spans[place] = Span(self.filename, *place, self.name)
        return span


def _place(node: Any) -> tuple[int, int, int, int] | None:
    line = getattr(node, "lineno", None)
    if line is not None:
        end_line = getattr(node, "end_lineno", None)
        if end_line is None:
            return line, node.col_offset, line, node.col_offset
        return line, node.col_offset, end_line, node.end_col_offset
    # arguments, comprehension, withitem and match_case have no place of their own.
    places = [p for child in gast.iter_child_nodes(node) if (p := _place(child)) is not None]
    if not places:
        return None
    return (*min(p[:2] for p in places), *max(p[2:] for p in places))


def get_source(function: Callable[..., object], source: str | None = None) -> Source:
    """Find the source of exactly this function (not of what it may wrap), and parse it.

    Raises SourceError when there is none, or when it is not what the function was made from.
    Where Python keeps no source, `source` gives the text; so does, for functions that a program
    makes, their attribute `__srcgrad_source__`.

    >>> get_source(lambda x: 2 * x).text
    'lambda x: 2 * x'
    >>> namespace = {}
    >>> exec("def double(x): return 2 * x", namespace)
    >>> get_source(namespace["double"], source="def double(x): return 2 * x").filename
    '<srcgrad source of double>'
    """
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType):
        raise _not_a_function(function)
    code = function.__code__
    found = _sources.get(id(code))
    if found is not None and found[0]() is code and found[1] == source:
        return found[2]
    with _lock, warnings.catch_warnings():
        # The user has seen the warnings of this source when Python compiled it.
        warnings.simplefilter("ignore")
        result = _from_file(function) if source is None else _from_text(code, source)
        key = id(code)

        def forget(dead: weakref.ref[types.CodeType]) -> None:
            entry = _sources.get(key)
            if entry is not None and entry[0] is dead:
                del _sources[key]

        # By identity: code objects of two files are equal if only their file name differs.
        _sources[key] = (weakref.ref(code, forget), source, result)
    return result


_sources: dict[int, tuple[weakref.ref[types.CodeType], str | None, Source]] = {}
# Reentrant, as the garbage collector may run anything while the lock is held.
_lock = threading.RLock()


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    lines: list[str]
    tree: ast.Module
    codes: dict[int, list[types.CodeType]]  # by compiler flags

    def compiled(self, flags: int) -> list[types.CodeType]:
        if flags not in self.codes:
            self.codes[flags] = self.compile(self.tree.body, flags)
        return self.codes[flags]

    def compile(self, statements: list[ast.stmt], flags: int) -> list[types.CodeType]:
        module = ast.Module(statements, [])
        return list(_codes(compile(module, self.name, "exec", flags, dont_inherit=True)))


_files: OrderedDict[str, _File] = OrderedDict()
_FILES_KEPT = 16


def _from_file(function: types.FunctionType) -> Source:
    code = function.__code__
    try:
        return _from_lines(code, *_lines(function))
    except SourceError:
        text = function.__dict__.get("__srcgrad_source__")
        if not isinstance(text, str):
            raise
        result = _from_text(code, text)
        # functools.wraps copies this attribute to functions made from other source.
        if getattr(result.node, "name", "<lambda>") != code.co_name:
            raise
        return result


def _from_lines(code: types.CodeType, filename: str, lines: list[str]) -> Source:
    file = _files.get(filename)
    # Not by time stamp: linecache has looked at that, and a notebook cell has none.
    if file is None or file.lines != lines:
        try:
            file = _File(filename, list(lines), ast.parse("".join(lines)), {})
        except (SyntaxError, ValueError) as error:
            raise _changed(code, filename, "is not valid Python now") from error
        _files[filename] = file
        while len(_files) > _FILES_KEPT:
            _files.popitem(last=False)
    _files.move_to_end(filename)
    node = _find(file, code)
    return _source(node, filename, code.co_qualname, file.lines)


def _lines(function: types.FunctionType) -> tuple[str, list[str]]:
    code = function.__code__
    filename = code.co_filename
    # Through the module and its public functions, which doctest replaces to add its examples.
    linecache.checkcache(filename)
    # From 3.13 on, the prompt and `python -c` keep their text, by code object or as <string>,
    # which is also what every exec calls its text.
    from_code = getattr(linecache, "_getlines_from_code", None)
    lines = list(from_code(code) or ()) if from_code is not None else []
    if not lines:
        if filename.startswith("<frozen "):  # a module that Python has in itself, and in a file
            filename = function.__globals__.get("__file__", filename)
        lines = linecache.getlines(filename, function.__globals__)
        if filename == "<string>" and not _stands_in(code, lines):
            lines = []
        if lines:
            return filename, lines
    if not lines:
        raise _not_found(code)
    if filename in ("<string>", "<stdin>"):
        return _register(code.co_name, "".join(lines)), lines
    linecache.cache[filename] = (len("".join(lines)), None, lines, filename)
    return filename, lines


def _stands_in(code: types.CodeType, lines: list[str]) -> bool:
    """Whether a text can be what a function was made from, by the line where it begins."""
    line = code.co_firstlineno
    head = "lambda" if code.co_name == "<lambda>" else code.co_name
    return any(head in text for text in lines[line - 1 : line + 20])


def _find(file: _File, code: types.CodeType) -> _Function:
    line = code.co_firstlineno
    nodes = [
        node
        for node in _functions(file.tree, line)
        if _first_line(node) == line and _name(node) == code.co_name
    ]
    if not nodes:
        raise _changed(code, file.name, f"has no {_kind(code)} at line {line} now")
    flags = code.co_flags & _FUTURES | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    # Which names the module imports changes how a function compiles. IPython and the prompt
    # compile each statement of a cell by itself, and so without its imports.
    together = file.tree.body
    alone = [statement for statement in together if _covers(statement, line)]
    try:
        statements, twins = together, _twins(code, file.compiled(flags))
        if not twins:
            statements, twins = alone, _twins(code, file.compile(alone, flags))
    except (SyntaxError, ValueError) as error:
        raise _changed(code, file.name, "is not valid Python now") from error
    if not twins:
        raise _changed(code, file.name, f"has another {_kind(code)} at line {line} now")
    if len(nodes) == 1:
        return nodes[0]

    # Several lambdas on the line. Which code object is which node's: compiled again, each at a
    # line that nothing else is on. What is inside moves along, because Python folds instructions
    # by whether they are on one line.
    inside = [[(n, n.lineno, n.end_lineno) for n in _located(node)] for node in nodes]
    height = len(file.lines) + 1
    try:
        for i, located in enumerate(inside, start=1):
            for n, first, last in located:
                n.lineno, n.end_lineno = first + i * height, last + i * height
        codes = file.compile(statements, flags)
    finally:
        for located in inside:
            for n, first, last in located:
                n.lineno, n.end_lineno = first, last
    marked = [
        (n, c) for i, n in enumerate(nodes, 1) for c in _twins(code, codes, line + i * height)
    ]
    # Equal code objects are made one, and then the place is that of the first only.
    if len(marked) == len(twins):
        place = _places(code)
        marked = [(n, c) for n, c in marked if _places(c) == place] or marked
    if len({ast.dump(n) for n, _ in marked}) != 1:
        raise SourceError(
            f"cannot tell which of {len(nodes)} lambdas on this line is meant",
            _whole_line(code, file.name),
            "Put them on separate lines, or use def.",
        )
    return marked[0][0]


def _located(node: ast.AST) -> list[Any]:
    return [n for n in ast.walk(node) if hasattr(n, "lineno")]


def _twins(
    code: types.CodeType, codes: list[types.CodeType], at_line: int | None = None
) -> list[types.CodeType]:
    line = code.co_firstlineno if at_line is None else at_line
    return [
        c
        for c in codes
        if c.co_firstlineno == line and c.co_qualname == code.co_qualname and _same_code(code, c)
    ]


def _places(code: types.CodeType) -> list[object]:
    # From the function's own line. Without those of the function itself, which say no more.
    first = code.co_firstlineno
    return [
        (line - first, end - first, column, last)
        for line, end, column, last in code.co_positions()
        if line is not None and end is not None and (line != first or last)
    ]


_FUTURES = 0
for _feature in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _feature).compiler_flag


def _functions(node: ast.AST, line: int | None) -> Iterator[_Function]:
    """Yield the functions in a tree, those that may be at a line if one is given."""
    if line is not None and not _covers(node, line):
        return
    if isinstance(node, _Function):
        yield node
    if isinstance(node, ast.JoinedStr):
        # Python 3.11 puts what is in an f-string of several lines on the wrong ones.
        line = None
    for child in ast.iter_child_nodes(node):
        yield from _functions(child, line)


def _covers(node: ast.AST, line: int) -> bool:
    end = getattr(node, "end_lineno", None)
    return end is None or _first_line(node) <= line <= end


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", None)
    first: int = decorators[0].lineno if decorators else node.lineno
    return first


def _name(node: _Function) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


_SIGNATURE = 0x04 | 0x08  # *args, **kwargs
_CODE_FIELDS = ("co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_freevars")


def _same_code(running: types.CodeType, found: types.CodeType) -> bool:
    if (running.co_flags ^ found.co_flags) & _SIGNATURE:
        return False
    if any(getattr(running, field) != getattr(found, field) for field in _CODE_FIELDS):
        return False
    if any(name.startswith("@py_") for name in running.co_varnames):
        return _same_but_for_asserts(running, found)
    return (
        running.co_code == found.co_code
        and running.co_names == found.co_names
        and running.co_varnames == found.co_varnames
        and running.co_cellvars == found.co_cellvars
        and running.co_exceptiontable == found.co_exceptiontable
        and _same_constant(running.co_consts, found.co_consts)
    )


def _same_but_for_asserts(running: types.CodeType, found: types.CodeType) -> bool:
    # pytest rewrites the asserts of a test module, adding variables of such names. What else
    # the function holds is unchanged; but from 3.14 on, `assert all(...)` is a loop with truth
    # values, and small ints are in the instructions, of which one may be kept as a constant.
    variables = tuple(name for name in running.co_varnames if not name.startswith("@py_"))
    return (
        variables == found.co_varnames
        and set(found.co_names) <= set(running.co_names)
        and all(
            _fits_an_instruction(f) or any(_same_constant(r, f) for r in running.co_consts)
            for f in found.co_consts
        )
    )


def _fits_an_instruction(constant: object) -> bool:
    return constant is None or (isinstance(constant, int) and 0 <= constant < 256)


def _same_constant(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same_code(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same_constant, a, b))
    if isinstance(a, float | complex):
        return repr(a) == repr(b)  # tells -0.0 from 0.0, and nan is nan
    return a == b


def _source(node: _Function, filename: str, name: str, lines: list[str]) -> Source:
    translated = gast.ast_to_gast(node)
    mangle(translated, name)
    unpack_in_loops(translated)
    return Source(translated, filename, name, _text(node, lines))


def _text(node: _Function, lines: list[str]) -> str:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None and end_column is not None
    taken = lines[node.lineno - 1 : end_line]
    first = taken[0]
    indent = first[: len(first) - len(first.lstrip())]
    if isinstance(node, ast.Lambda):
        # From the end: both may be on one line.
        taken[-1] = taken[-1].encode()[:end_column].decode()
        taken[0] = taken[0].encode()[node.col_offset :].decode()
    in_string: set[int] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Constant | ast.JoinedStr) and child.end_lineno is not None:
            in_string.update(range(child.lineno + 1, child.end_lineno + 1))
    for i, line in enumerate(taken):
        if node.lineno + i not in in_string:
            taken[i] = line.removeprefix(indent) if line.startswith(indent) else line.lstrip(" \t")
    return "".join(taken).rstrip("\r\n")


def _from_text(code: types.CodeType, text: str) -> Source:
    filename = _register(code.co_name, text)
    lines = io.StringIO(text).readlines()
    given = f"the text given as source of {code.co_name}"
    functions = list(_outermost(_parse(text, filename, given)))
    named = [node for node in functions if _name(node) == code.co_name]
    if len(named) == 1:
        functions = named
    if not functions:
        raise SourceError(f"{given} holds no function")
    if len(functions) > 1:
        names = ", ".join(_name(node) for node in functions)
        raise SourceError(
            f"{given} holds {len(functions)} functions ({names})",
            advice=f"Give one function, or one that is named {code.co_name}."
            if code.co_name.isidentifier()
            else "Give one function.",
        )
    (node,) = functions
    source = _source(node, filename, code.co_qualname, lines)
    wanted, has = _parameters_of_code(code), _parameters_of_node(node)
    # In a class, the parameter __x is called _Class__x.
    same = len(wanted) == len(has) and all(
        w == h or (h.startswith("__") and w.endswith(h)) for w, h in zip(wanted, has, strict=True)
    )
    if not same:
        raise SourceError(
            f"{given} takes ({', '.join(has)}), but the function takes ({', '.join(wanted)})",
            source.span(source.node),
        )
    return source


def _parse(text: str, filename: str, given: str) -> ast.Module:
    # An indented function and the lines of a lambda are made to parse by what is put before them,
    # not by changing them: a string of several lines stays as it is, and so do the columns.
    error: SyntaxError | None = None
    indented = re.match(r"(?:[ \t\f]*(?:#.*)?\r?\n)*[ \t]+[^\s#]", text) is not None
    for before, after in [("if 1:\n", "")] if indented else [("", ""), ("(\n", "\n)")]:
        try:
            tree = ast.parse(before + text + after)
        except SyntaxError as e:
            error = error or e
            if e is error and before and e.lineno is not None:
                e.lineno -= 1
        except ValueError as e:
            raise SourceError(f"{given} is not valid Python: {e}") from e
        else:
            return ast.increment_lineno(tree, -1) if before else tree
    assert error is not None
    line = error.lineno or 1
    lines = text.splitlines()
    code = lines[line - 1] if line <= len(lines) else ""
    column = len(code[: max((error.offset or 1) - 1, 0)].encode())
    span = Span(filename, line, column, line, column + 1, "")
    raise SourceError(f"{given} is not valid Python: {error.msg}", span) from error


def _outermost(node: ast.AST) -> Iterator[_Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield child
        else:
            yield from _outermost(child)


def _parameters_of_code(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames[:count])
    for flag, stars in ((0x04, "*"), (0x08, "**")):
        if code.co_flags & flag:
            names.append(stars + code.co_varnames[count])
            count += 1
    return names


def _parameters_of_node(node: _Function) -> list[str]:
    a = node.args
    names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [f"*{a.vararg.arg}"] if a.vararg else []
    names += [f"**{a.kwarg.arg}"] if a.kwarg else []
    return names


def _register(name: str, text: str) -> str:
    lines = io.StringIO(text).readlines()
    number = 1
    while True:
        again = f" ({number})" if number > 1 else ""
        filename = f"<srcgrad source of {name}{again}>"
        kept: Any = linecache.cache.get(filename)
        if kept is None or kept[2] == lines:
            break
        number += 1
    linecache.cache[filename] = (len(text), None, lines, filename)
    return filename


def _kind(code: types.CodeType) -> str:
    return "lambda" if code.co_name == "<lambda>" else f"function {code.co_name}"


def _whole_line(code: types.CodeType, filename: str) -> Span:
    line = code.co_firstlineno
    return Span(filename, line, 0, line + 1, 0, code.co_qualname)


def _pass_text(name: str) -> str:
    name = name if name.isidentifier() else "f"
    return f'grad({name}, source="...")'


def _changed(code: types.CodeType, filename: str, how: str) -> SourceError:
    if filename.startswith("<"):
        message = f"the text kept as {filename} is not what {code.co_qualname} was made from: it "
        advice = "Define the function again"
    else:
        message = f"{filename} has changed since {code.co_qualname} was defined: it "
        advice = "Reload its module (or, if an import hook rewrites it, turn that off)"
    return SourceError(
        message + how,
        _whole_line(code, filename),
        f"{advice}, or pass its text: {_pass_text(code.co_name)}.",
    )


def _not_found(code: types.CodeType) -> SourceError:
    filename = code.co_filename
    if filename.startswith("<stdin>"):
        why = "it was typed at the Python prompt, which keeps no source"
        if sys.version_info < (3, 13):
            why += " before Python 3.13"
    elif filename.startswith("<string>"):
        why = "it was made by exec or eval, or by python -c, which keep no source"
    elif filename.startswith("<"):
        why = f"it was made by a program ({filename}) that keeps no source"
    else:
        why = f"the file {filename} cannot be read"
    return SourceError(
        f"cannot find the source of {code.co_qualname}: {why}",
        advice=f"Define it in a file or a notebook, or pass its text: {_pass_text(code.co_name)}.",
    )


def _not_a_function(thing: object) -> SourceError:
    name = told(thing, "__qualname__") or told(thing, "__name__")
    kind = type(thing).__name__
    if isinstance(thing, type):
        why, advice = "it is a class", "Give one of its methods, or a function that calls it."
    elif isinstance(thing, types.BuiltinFunctionType) or kind in ("ufunc", "method_descriptor"):
        why = f"it is a {'ufunc' if kind == 'ufunc' else 'built-in function'}, not made of Python"
        advice = f"Give a function that calls it: lambda x: {name}(x)."
    else:
        name = name or "this"
        why, advice = f"it is of type {kind}, not a function", "Give a function that calls it."
    return SourceError(f"cannot find the source of {name}: {why}", advice=advice)
