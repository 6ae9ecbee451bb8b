"""The account of a gradient for learners: line by line, what became of it and why."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from .account import Account, Line
from .primitives import Place, Primitive

INTRODUCTION = (
    "The function is run forwards, then its lines are undone from the last to the first. The "
    "adjoint d_v of a variable v is the derivative of the result by v. Each primitive has a rule: "
    "what the adjoint of its result adds to the adjoints of its operands."
)
FATES = {"dead": "nothing needs its value", "merged": "it was folded into other statements"}
BOLD, QUIET, RULE, KEPT = "1", "2", "31", "33"


@dataclass(frozen=True)
class Step:
    """What became of one line of the function.

    Attributes:
        place: the file and the number of the line.
        text: the line.
        primitives: what it became, with the rules used.
        forward: the generated lines of the forward sweep that come from it.
        reverse: those of the reverse sweep.
        kept: what is kept of it for the reverse sweep, and why.
        removed: the primitives that the gradient doesn't compute, by why.
    """

    place: Place
    text: str
    primitives: tuple[Primitive, ...]
    forward: tuple[Line, ...]
    reverse: tuple[Line, ...]
    kept: tuple[str, ...]
    removed: dict[str, tuple[Primitive, ...]]


@dataclass(frozen=True)
class Explanation:
    """What a gradient is made of, step by step. `print` it, or show it in a notebook."""

    title: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.text()

    def text(self, colour: bool = False) -> str:
        """The explanation as text, with the colours of a terminal if wanted."""

        def styled(text: str, style: str) -> str:
            return f"\x1b[{style}m{text}\x1b[0m" if colour else text

        parts = [styled(self.title, BOLD), *textwrap.wrap(INTRODUCTION, 88)]
        for step in self.steps:
            parts += ["", styled(f"line {step.place[1]}", QUIET) + "  " + styled(step.text, BOLD)]
            parts += _primitives(step, styled)
            for name, lines in (("forward", step.forward), ("reverse", step.reverse)):
                if lines:
                    parts.append(f"    in the {name} sweep")
                for line in lines:
                    parts.append(styled(f"{line.number:>7}  ", QUIET) + line.text.strip())
            parts += [styled(f"    {reason}", KEPT) for reason in step.kept]
            for fate, primitives in step.removed.items():
                names = ", ".join(p.text.partition(" = ")[0] for p in primitives)
                parts.append(styled(f"    not computed: {names} ({FATES[fate]})", QUIET))
        return "\n".join(parts) + "\n"

    def _repr_html_(self) -> str:
        body = "".join(map(_html, self.steps))
        return (
            '<div style="max-width: 60em; line-height: 1.5">'
            f"<h3>{html.escape(self.title)}</h3><p>{html.escape(INTRODUCTION)}</p>{body}</div>"
        )


def explanation_of(account: Account) -> Explanation:
    """Explain a gradient.

    >>> from srcgrad import grad
    >>> from srcgrad.inspect.account import account_of
    >>> import numpy as np
    >>> def wave(x):
    ...     return np.sum(np.sin(x))
    >>> explanation = explanation_of(account_of(grad(wave), np.ones(3)))
    >>> [p.text for p in explanation.steps[0].primitives]
    ['sin = np.sin(x)', 'sum = np.sum(sin)']
    """
    about = next(line.text for line in account.final.lines if '"""' in line.text)
    return Explanation(about.strip().strip('"'), tuple(_steps(account)))


def _steps(account: Account) -> Iterator[Step]:
    for primal in account.primals:
        for line in primal.lines:
            place = line.places[0]
            made = tuple(p for p in account.primitives if p.place == place)
            lines = [
                x for x in account.final.lines
                if place in x.places and not x.text.lstrip().startswith("#")
            ]  # fmt: skip
            popped = {use for k in account.kept if k.listed for use in k.uses}
            reverse = [x for x in lines if x.part == "reverse" or x.number in popped]
            forward = [x for x in lines if x not in reverse]
            kept = tuple(k.reason for k in account.kept if k.place == place)
            if made or lines:
                removed = {
                    fate: found for fate in FATES
                    if (found := tuple(p for p in made if p.fate == fate))
                }  # fmt: skip
                yield Step(
                    place, line.text.strip(), made, tuple(forward), tuple(reverse), kept, removed
                )


def _primitives(step: Step, styled: object) -> Iterator[str]:
    """A table: each primitive, what its rule adds, where the rule is written."""
    assert callable(styled)
    width = min(max([len(p.text) for p in step.primitives], default=0), 48)
    for p in step.primitives:
        times = f"  ({p.times} times)" if p.times > 1 else ""
        formula = p.rule.formula.splitlines() if p.rule is not None else []
        where = p.rule.where if p.rule is not None else ""
        first, *rest = formula or [""]
        head = p.text.ljust(width)
        line = f"    {head}  {styled(first, RULE) if first else ''}{times}".rstrip()
        yield f"{line}  {styled(f'[{where}]', QUIET)}" if where and first else line
        for more in rest:
            yield f"    {' ' * max(width, len(p.text))}  {styled(more, RULE)}"


def _html(step: Step) -> str:
    def code(text: str) -> str:
        return f"<code>{html.escape(text)}</code>"

    rows = []
    for p in step.primitives:
        rule = "" if p.rule is None else "<br>".join(map(code, p.rule.formula.splitlines()))
        where = "" if p.rule is None else html.escape(p.rule.where)
        fate = FATES.get(p.fate, "")
        rows.append(
            f'<tr style="vertical-align: top"><td style="text-align: left">{code(p.text)}</td>'
            f'<td style="text-align: left">{rule}</td><td><small>{where}</small></td>'
            f"<td><small>{f'not computed: {fate}' if fate else ''}</small></td></tr>"
        )
    parts = [f"<h4>line {step.place[1]}: {code(step.text)}</h4>"]
    if rows:
        parts.append(
            "<table><tr><th>primitive</th><th>what its rule adds</th><th>rule</th><th></th></tr>"
            f"{''.join(rows)}</table>"
        )
    for name, lines in (("forward", step.forward), ("reverse", step.reverse)):
        if lines:
            texts = "\n".join(f"{x.number:>4}  {html.escape(x.text.strip())}" for x in lines)
            parts.append(f"<p>In the {name} sweep:</p><pre>{texts}</pre>")
    parts += [f"<p>{html.escape(reason)}</p>" for reason in step.kept]
    return "".join(parts)
