"""The table of supported functions."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad.cli import main
from srcgrad.inspect.rules import Row, counts, format_table, row, rules_table
from srcgrad.rules import registry

registry.load()  # the rules of SciPy's modules


def test_every_row_has_a_name_and_every_refusal_a_reason() -> None:
    rows = rules_table()
    assert len({r.name for r in rows}) == len(rows)
    for r in rows:
        assert r.name and r.reverse in ("yes", "zero", "–", "no")
        assert r.reverse != "no" or r.note, r


def test_many_functions_are_differentiable() -> None:
    assert counts()["yes"] > 480


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (np.add.reduce, Row("np.add.reduce", "yes", "yes", "written in simpler functions")),
        (np.ndarray.sum, Row("np.ndarray.sum", "yes", "yes", "the same as np.sum")),
        (np.argmax, Row("np.argmax", "zero", "zero", "an integer")),
        (np.less.outer, Row("np.less.outer", "zero", "zero", "piecewise constant")),
    ],
)
def test_a_row(function: object, expected: Row) -> None:
    assert row(function) == expected


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "linalg.sv"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("function") and "np.linalg.svdvals" in printed
    assert "np.sin" not in printed
    assert main(["rules", "no such function"]) == 1
    assert format_table([]) == "function  reverse  forward  note"
