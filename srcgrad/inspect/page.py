"""The page that shows a function beside its gradient, in one file that needs nothing else.

`page.html`, `page.css` and `page.js` are what doesn't depend on the gradient. Lines carry the
numbers of the primal lines that they come from (`data-at`); the script lights up those that share
one.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from string import Template

from .account import Account, Kept, Line, Primal, Stage
from .highlight import tokens
from .primitives import Place, Primitive
from .trace import Trace

FATES = {"dead": "not computed: nothing needs it", "merged": "folded into the rest"}


def page_of(account: Account, trace: Trace | None = None) -> str:
    """The page of a gradient, as HTML, with the values of a call if there is a trace of one.

    >>> from srcgrad import grad
    >>> from srcgrad.inspect.account import account_of
    >>> page = page_of(account_of(grad(lambda x: x * x), 3.0))
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    places = _places(account)
    folder = files(__package__)
    parts = {
        "title": html.escape(f"The gradient of {account.name}"),
        "name": html.escape(account.name),
        "about": _about(account),
        "style": folder.joinpath("page.css").read_text("utf-8").strip(),
        "script": folder.joinpath("page.js").read_text("utf-8").strip(),
        "primals": "\n".join(_primal(p, account, places) for p in account.primals),
        "details": "\n".join(_detail(place, n, account) for place, n in places.items()),
        "tabs": "".join(_tab(stage, account) for stage in account.stages),
        "panels": "\n".join(_panel(stage, account, places) for stage in account.stages),
        "values": _values(trace, places),
    }
    return Template(folder.joinpath("page.html").read_text("utf-8")).substitute(parts)


def embedded(page: str, lines: int) -> str:
    """A page in a frame, for a notebook."""
    height = min(260 + 21 * lines, 900)
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def _places(account: Account) -> dict[Place, int]:
    """The lines of the functions, numbered."""
    lines = (line for p in account.primals for line in p.lines)
    return {place: n for n, place in enumerate(dict.fromkeys(x.places[0] for x in lines))}


def _about(account: Account) -> str:
    """The first line of the generated docstring, with the parameters as code."""
    text = next(x.text for x in account.final.lines if '"""' in x.text)
    return html.escape(text.strip().strip('"'))


def _primal(primal: Primal, account: Account, places: dict[Place, int]) -> str:
    heading = ""
    if primal is not account.primals[0]:
        heading = f"<h3>and <code>{html.escape(primal.name)}</code>, which it calls</h3>\n"
    body = _listing(primal.lines, places, f"Source of {primal.name}")
    return f"{heading}{body}"


def _tab(stage: Stage, account: Account) -> str:
    chosen = stage is account.final
    return (
        f'<button type="button" role="tab" id="tab-{stage.name}" '
        f'aria-controls="panel-{stage.name}" aria-selected="{str(chosen).lower()}" '
        f'tabindex="{0 if chosen else -1}">{html.escape(stage.name)}</button>'
    )


def _panel(stage: Stage, account: Account, places: dict[Place, int]) -> str:
    final = stage is account.final
    kept = f" data-kept='{html.escape(json.dumps(_arcs(account.kept)))}'" if final else ""
    hidden = "" if final else " hidden"
    listing = _listing(stage.lines, places, f"Stage {stage.name}", final)
    return (
        f'<div role="tabpanel" id="panel-{stage.name}" aria-labelledby="tab-{stage.name}"'
        f"{kept}{hidden}>\n{listing}\n"
        f'<p class="stage-about">{html.escape(stage.about)}</p>\n</div>'
    )


def _arcs(kept: tuple[Kept, ...]) -> list[dict[str, object]]:
    return [
        {"name": k.name, "from": k.line, "to": use, "listed": k.listed}
        for k in kept
        for use in k.uses[: None if k.listed else 1]
        if use > k.line and (k.listed or not k.copied)
    ]


def _listing(
    lines: tuple[Line, ...], places: dict[Place, int], label: str, arcs: bool = False
) -> str:
    coloured = tokens("\n".join(line.text for line in lines))
    rows = [_row(x, t, places) for x, t in zip(lines, coloured, strict=True)]
    return (
        f'<div class="code{" with-arcs" if arcs else ""}" role="listbox" '
        f'aria-label="{html.escape(label)}">\n' + "\n".join(rows) + "\n</div>"
    )


def _row(line: Line, coloured: list[tuple[str, str]], places: dict[Place, int]) -> str:
    at = " ".join(str(places[p]) for p in line.places if p in places)
    indent = len(line.text) - len(line.text.lstrip())
    code = "".join(
        f'<span class="{kind}">{html.escape(text)}</span>' if kind else html.escape(text)
        for kind, text in coloured
    )
    title = (
        f' title="{html.escape("by the rule of " + ", ".join(line.rules))}"' if line.rules else ""
    )
    return (
        f'<div class="line{" " + line.part if line.part else ""}" role="option" tabindex="-1" '
        f'aria-selected="false" data-line="{line.number}" data-at="{at}"{title}>'
        f'<span class="number" aria-hidden="true">{line.number}</span>'
        f'<span class="text" style="--indent: {indent}">{code}</span></div>'
    )


def _detail(place: Place, number: int, account: Account) -> str:
    """What became of a line: its primitives with their rules, and what of it is kept."""
    made = [p for p in account.primitives if p.place == place]
    kept = [k for k in account.kept if k.place == place]
    if not made and not kept:
        return ""
    parts = [_primitive(p) for p in made]
    keeps = [f'<p class="keeps">{html.escape(k.reason)}</p>' for k in kept]
    body = f"<dl>{''.join(parts)}</dl>{''.join(keeps)}"
    return f'<section data-at="{number}" hidden><h3>Line {place[1]}</h3>{body}</section>'


def _values(trace: Trace | None, places: dict[Place, int]) -> str:
    if trace is None or not trace.rows:
        return ""
    return (
        '<section class="values" aria-label="Values">\n<div class="bar"><h2>Values and adjoints '
        f"of one call</h2></div>\n{trace.html(places)}\n</section>"
    )


def _primitive(p: Primitive) -> str:
    fate = f'<span class="fate">{FATES[p.fate]}</span>' if p.fate else ""
    times = f" <span class='fate'>{p.times} times</span>" if p.times > 1 else ""
    rule = ""
    if p.rule is not None:
        rule = f"<dd><code>{html.escape(p.rule.formula)}</code></dd>"
    return f"<dt>{html.escape(p.text)}{times}{fate}</dt>{rule}"
