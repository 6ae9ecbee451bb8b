"""The explanation and the page of five functions: what a change does to them is seen in review.

After a change, `SRCGRAD_REWRITE=1 pytest tests/test_golden_pages.py` rewrites the files in
tests/golden/explained and tests/golden/pages.
"""

import os
import re
from pathlib import Path

import pytest

from srcgrad import grad
from srcgrad.inspect.account import account_of
from srcgrad.inspect.page import page_of
from tests.golden_programs import PROGRAMS, heat, logistic_loss, mlp, recurrent_network, views

FOLDER = Path(__file__).parent / "golden"
SHOWN = (heat, logistic_loss, mlp, recurrent_network, views)


def compare(file, found):
    if os.environ.get("SRCGRAD_REWRITE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(found)
    assert found == file.read_text(), "run with SRCGRAD_REWRITE=1 and look at the change"


def unnumbered(text, function):
    """Without what changes when something is added above the function or the rules."""
    first = function.__code__.co_firstlineno
    text = re.sub(r"(\w+\.py):\d+", r"\1", text)
    text = re.sub(r"\b([Ll]ine) (\d+)(?=  |</h3>)", lambda m: f"{m[1]} +{int(m[2]) - first}", text)

    def place(match):
        return match[0].replace(match[1], f"+{int(match[1]) - first}")

    head, separator, rest = text.partition('class="side generated"')
    head = re.sub(r'data-line="(\d+)".*?class="number".*?>\1<', place, head)
    return head + separator + rest


def gradient(function):
    arguments, argnums = PROGRAMS[function]
    return grad(function, argnums=argnums), arguments


@pytest.mark.parametrize("function", SHOWN, ids=lambda f: f.__name__)
def test_explanation(function):
    made, arguments = gradient(function)
    found = unnumbered(str(made.explain(*arguments)), function)
    compare(FOLDER / "explained" / f"{function.__name__}.txt", found)


@pytest.mark.parametrize("function", SHOWN, ids=lambda f: f.__name__)
def test_page(function):
    pytest.importorskip("pygments")
    made, arguments = gradient(function)
    page = page_of(account_of(made, *arguments))
    main = page[page.index("<main>") : page.index("</main>")] + "</main>\n"
    # the stages before the last are seen in CONTRIBUTING.md
    main = re.sub(
        r'<div role="tabpanel"[^>]* hidden>.*?(?=<div role="tabpanel")', "", main, flags=re.S
    )
    main = main.replace(' role="option" tabindex="-1" aria-selected="false"', "")
    compare(FOLDER / "pages" / f"{function.__name__}.html", unnumbered(main, function))


def test_no_other_files():
    names = {f.__name__ for f in SHOWN}
    assert {f.stem for f in (FOLDER / "explained").iterdir()} == names
    assert {f.stem for f in (FOLDER / "pages").iterdir()} == names
