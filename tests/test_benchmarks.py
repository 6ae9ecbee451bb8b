"""The benchmark suite: srcgrad on every workload, and that the measuring tells right from wrong."""

from __future__ import annotations

import copy
import functools
import json
import math
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from benchmarks import __main__ as command
from benchmarks import enlarging, lists, measuring, overheads, report, rule_rows, rules, sixteen
from benchmarks.contenders import (
    Contender,
    OfHessian,
    OperationList,
    ScalarGraph,
    SrcGrad,
    TensorGraph,
)
from benchmarks.measuring import FUNCTION, HAND, Effort, agree, check, interleaved, limit, measure
from benchmarks.operation_list_workloads import FUNCTIONS
from benchmarks.spellings import rebound, translated
from benchmarks.workloads import WORKLOADS
from srcgrad.inspect.rules import function_name
from srcgrad.rules import draws
from tests.rules.kit import case

NOT_YET: dict[str, str] = {}  # workload: why srcgrad can't do it

BY_NAME = {w.function.__name__: w for w in WORKLOADS}
SHORTEST = Effort(ours=0.002, others=0.001, patience=10.0)

# so that a tape that no longer expresses a workload is noticed
TENSOR_TAPE = """
    sine_product rosenbrock log_sum_exp least_squares logistic_regression softmax_regression mlp
    gaussian_log_likelihood tanh_chain polynomial_fit cosine_similarity layer_norm attention_head
    black_scholes lstm gaussian_mixture n_body
    """
SCALAR_TAPE = """
    rosenbrock log_sum_exp least_squares logistic_regression softmax_regression mlp
    gaussian_log_likelihood tanh_chain cosine_similarity layer_norm attention_head black_scholes
    lstm gaussian_mixture jacobi_1d jacobi_2d heat_3d seidel_2d n_body recursive_filter
    """


WITH_HVP = [w for w in WORKLOADS if w.hvp_by_hand is not None]


def arguments(workload):
    """At the smallest size: the arguments, which of them count, and their gradients by hand."""
    args = workload.make_inputs(workload.sizes["tiny"])
    expected = workload.gradient_by_hand(*copy.deepcopy(args))
    if isinstance(workload.argnums, int):
        return args, (workload.argnums,), (expected,)
    return args, workload.argnums, expected


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(
            w,
            id=w.name,
            marks=[pytest.mark.xfail(reason=NOT_YET[w.name])] if w.name in NOT_YET else [],
        )
        for w in WORKLOADS
    ],
)
def test_srcgrad_on_every_workload(workload):
    args, argnums, expected = arguments(workload)
    before = copy.deepcopy(args)
    gradients = srcgrad.grad(workload.function, argnums)(*args)
    scale = max(np.abs(e).max() for e in expected)
    for i, gradient, by_hand in zip(argnums, gradients, expected, strict=True):
        assert gradient.shape == args[i].shape
        assert gradient.dtype == args[i].dtype
        np.testing.assert_allclose(gradient, by_hand, rtol=1e-9, atol=1e-11 * scale)
    for x, y in zip(args, before, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("workload", WITH_HVP, ids=lambda w: w.name)
def test_hessian_vector_products(workload):
    product = command.product_workload(workload)
    args, argnums, expected = arguments(product)
    contender = OfHessian(SrcGrad(), workload.function)
    figures, _ = check(contender, product.function, argnums, args, expected, 30.0)
    assert (figures.status, figures.note) == ("right", "")


@pytest.mark.parametrize(
    ("tape", "name"),
    [
        *((TensorGraph, name) for name in TENSOR_TAPE.split()),
        *((ScalarGraph, name) for name in SCALAR_TAPE.split()),
        *((OperationList, name) for name in FUNCTIONS if name != "double"),
    ],
)
def test_what_the_tapes_express(tape, name):
    args, argnums, expected = arguments(BY_NAME[name])
    figures, _ = check(tape(), BY_NAME[name].function, argnums, args, expected, 30.0)
    assert (figures.status, figures.note) == ("right", "")


class Fixed(Contender):
    """Does as it is told."""

    def __init__(self, name, run):
        self.name, self.run = name, run

    def bind(self, function, argnums, args, once):
        return lambda: self.run(*args)


def test_verdicts():
    def endless(x):
        while True:
            pass

    def overwriting(x):
        x *= 2
        return (x,)

    x = np.array([1.0, -2.0])

    def status(run, patience=10.0):
        return check(Fixed("one", run), None, (0,), (x,), (2 * x,), patience)[0].status

    assert status(lambda x: (2 * x,)) == "right"
    assert status(lambda x: (2 * x + 1e-5,)) == "wrong"
    assert status(lambda x: (np.array([2 * x]),)) == "wrong"
    assert status(lambda x: (x * np.nan,)) == "wrong"
    assert status(overwriting) == "wrong"
    assert status(lambda x: (None,)) == "refused"
    assert status(lambda x: 1 / 0) == "refused"
    assert status(endless, 0.05) == "too slow"


def test_only_the_right_are_timed():
    workload = BY_NAME["sine_product"]
    by_hand = workload.gradient_by_hand
    contenders = [
        SrcGrad(),
        Fixed("right", lambda x: (by_hand(x),)),
        Fixed("wrong", lambda x: (x,)),
    ]
    cell = measure(workload, "tiny", contenders, SHORTEST)
    assert set(cell.figures) == {HAND, FUNCTION, "srcgrad", "right", "wrong"}
    for name, figures in cell.figures.items():
        assert (figures.status == "wrong") == (name == "wrong")
        assert (figures.seconds is None) == (figures.samples == 0) == (name == "wrong")
    assert cell.figures["srcgrad"].peak >= 80
    cell = measure(workload, "tiny", contenders, SHORTEST, frozenset(["right"]))
    assert cell.figures["right"].note == "at a smaller size"
    assert cell.too_slow() == {"right"}


def test_taking_turns(monkeypatch):
    order, now = [], [0.0]

    def run(name):
        order.append(name)
        now[0] += 0.002

    clock = types.SimpleNamespace(perf_counter=lambda: now[0], thread_time=lambda: now[0])
    monkeypatch.setattr(measuring, "time", clock)
    runs = {name: functools.partial(run, name) for name in "ab"}
    times = interleaved(runs, {"a": 1e-9, "b": 0.049})
    assert len(times["a"]) == 1  # its budget thrice over
    assert times["b"] == pytest.approx([0.002] * 25)
    assert "".join(order[4:]).startswith("ab")


def test_limit():
    with pytest.raises(measuring.TooSlow), limit(0.05):
        while True:
            pass
    with limit(5.0):
        pass


def test_limit_counts_one_thread():
    def count():
        sum(range(3_000_000))

    def wait():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(count).result()

    with limit(0.02):
        wait()
    with pytest.raises(measuring.TooSlow), limit(0.02, time.process_time):
        wait()


def test_agreement():
    one = np.ones(2)
    assert agree((one,), (one,))
    assert not agree((one, one), (one,))
    assert not agree((np.ones(3),), (one,))
    assert agree((np.zeros(0),), (np.zeros(0),))


def helper(x):
    return np.double_of(x.copy())


def calls_helper(x, scale=3):
    return helper(x) * scale


def test_spellings():
    namespace = types.SimpleNamespace(double_of=lambda x: 2 * x)
    x = np.ones(2)
    assert rebound(calls_helper, namespace)(x).tolist() == [6, 6]
    with pytest.raises(AttributeError):
        calls_helper(x)
    tensor = types.SimpleNamespace(clone=lambda: 5)
    assert translated(calls_helper, namespace)(tensor) == 30


def test_sixteen_kinds():
    verdicts = sixteen.verdicts([TensorGraph()])
    table = sixteen.by_kind(verdicts)
    assert len(table) == 16
    assert {v.figures.status for v in verdicts} <= {"right", "refused", "not expressible"}
    programs = {v.program: v.figures.status for v in verdicts}
    assert programs["float_of_element"] == "refused"
    assert programs["early_return_nested"] == "right"


def test_command(tmp_path, capsys):
    path = tmp_path / "folder" / "figures.json"
    command.QUICK = SHORTEST
    code = command.main(["--quick", "--only", "sine product", "--json", str(path)])
    assert code == 0
    printed = capsys.readouterr().out
    assert "sine product" in printed and "geometric means" in printed
    figures = json.loads(path.read_text())
    assert [cell["size_class"] for cell in figures["cells"]] == ["tiny", "cache"]
    assert {"srcgrad", HAND, FUNCTION} <= set(figures["cells"][0]["figures"])
    assert set(figures["absent"]) <= {"autograd", "tangent-ad", "advect", "mygrad", "torch", "jax"}


@pytest.mark.parametrize("rich", [True, False])
def test_table(rich, monkeypatch, capsys):
    if not rich:
        monkeypatch.setitem(sys.modules, "rich", None)
    table = report.Table("title", "workload", "ratio")
    table.row("mlp", "1.05")
    table.row("lstm", "WRONG")
    table.show()
    title, *rows = (line.split() for line in capsys.readouterr().out.splitlines() if line.strip())
    assert title == ["title"]
    assert ["workload", "ratio"] in rows and ["mlp", "1.05"] in rows and ["lstm", "WRONG"] in rows


def test_goals():
    def cell(name, seconds):
        figures = {n: measuring.Figures("right", seconds=s) for n, s in seconds.items()}
        return measuring.Cell(name, "tiny", 1, figures)

    cells = [
        cell("one", {HAND: 1.0, FUNCTION: 1.0, "srcgrad": 1.0, "autograd 1.9": 30.0}),
        cell("two", {HAND: 1.0, FUNCTION: 1.0, "srcgrad": 1.5, "autograd 1.9": 15.0}),
    ]
    results = report.Results(["srcgrad", "autograd 1.9"], {}, cells)
    rows = {row[0]: row[1:] for row in report.goals(results).rows}
    assert rows["tiny: over by hand, mean"] == ("<= 1.05", "1.22", "not met")
    assert rows["tiny: over by hand, worst (two)"] == ("<= 1.2", "1.50", "not met")
    assert rows["tiny: autograd 1.9 over srcgrad, mean"] == (">= 10", "17.32", "met")
    assert rows["autograd over srcgrad, worst (two, tiny)"] == (">= 1", "10.00", "met")


def test_means_where_the_gradient_by_hand_is_the_same_program():
    def cell(name, ours):
        pairs = ((HAND, 1.0, 100), ("srcgrad", ours, 100 * int(ours)), (FUNCTION, 1.0, 1))
        figures = {n: measuring.Figures("right", seconds=s, peak=p) for n, s, p in pairs}
        return measuring.Cell(name, "cache", 1, figures)

    cells = [cell("mlp", 2.0), cell("seidel 2-D", 8.0)]
    rows = dict(report.means(report.Results(["srcgrad"], {}, cells)).rows)
    assert rows["srcgrad / by hand"] == rows["peak memory / by hand"] == "4.00 (2)"
    assert rows["where by hand is the same program: time"] == "2.00 (1)"
    assert rows["where by hand is the same program: memory"] == "2.00 (1)"


def test_means():
    assert report.geometric_mean([1, 4]) == 2
    assert math.isnan(report.geometric_mean([]))


def test_overheads(capsys):
    found = [*overheads.printing(), *overheads.spans(), *overheads.finding_source()]
    assert all(0 <= overhead.seconds < 60 for overhead in found)
    assert len({overhead.name for overhead in found}) == 7


def test_an_overhead_says_whether_its_goal_is_met():
    assert str(overheads.Overhead("one", 2e-3, 5e-3)).split() == (
        ["one", "2.0", "ms", "goal", "5.0", "ms", "met"]
    )
    assert str(overheads.Overhead("two", 2.0, 5e-7)).split() == (
        ["two", "2.0", "s", "goal", "0.5", "us", "not", "met"]
    )
    assert str(overheads.Overhead("three", 2e-7, 0.0)).split() == ["three", "0.2", "us"]


def test_each_rule_has_a_row_in_the_table_of_what_rules_cost() -> None:
    assert not rule_rows.without_row()
    smallest = rule_rows.rows(rule_rows.SMALLEST)
    names = [row.name for row in smallest]
    assert len(set(names)) == len(names)
    expressions = " ".join(names)
    functions = {function_name(function) for function in rule_rows.functions()}
    without = {f for f in functions - set(names) if f"{f}(" not in expressions}
    drawn = {*draws.LOCATED, *draws.OTHERS, *draws.PYTHONS, *draws.CHOOSING}
    assert all(name.split(".")[-1] in drawn for name in without)
    assert set(rule_rows.REASONS) <= set(names)


def test_samples_are_enlarged() -> None:
    """As they fit together, and as far as the function takes them."""
    rng = np.random.default_rng(0)
    product = [case(rng.normal(size=(3, 4)), rng.normal(size=(4, 2)))]
    small, large = enlarging.enlarged(np.matmul, product, 4_000)
    assert [a.shape for a in small.args] == [(15, 20), (20, 10)]
    assert [a.shape for a in large.args] == [(42, 56), (56, 28)]
    [square] = enlarging.enlarged(
        np.linalg.cholesky, [case(np.array([[2.0, 1.0], [1.0, 3.0]]))], 500
    )
    assert square.args[0].shape == (22, 22)
    assert np.all(square.args[0] == square.args[0].T)
    [shaped] = enlarging.enlarged(np.broadcast_to, [case(np.arange(3.0), (2, 3))], 500)
    assert [shaped.args[0].shape, shaped.args[1]] == [(501,), (334, 501)]
    [ordered] = enlarging.enlarged(np.interp, [case(1.5, np.arange(3.0), np.ones(3))], 500)
    assert np.all(np.diff(ordered.args[1]) > 0)
    assert enlarging.enlarged(math.sin, [case(0.5)], 500) == []


@pytest.mark.parametrize("word", ["np.exp", "np.linalg.cholesky(", "scipy.sparse.linalg.spsolve("])
def test_what_rules_cost(word: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert rules.main([word, "--quick", "--json", str(tmp_path / "costs.json")]) == 0
    printed = capsys.readouterr().out
    assert "What each rule costs" in printed and "without a reason" in printed
    costs = json.loads((tmp_path / "costs.json").read_text())["rules"]
    assert costs
    for row in costs:
        assert word in row["name"] and row["name"] in printed
        assert row["function"] > 0 and row["gradient"] > 0 and row["numbers"] > 1


def test_outliers_among_rules() -> None:
    """Much slower than the function and than writing as much, or slower the larger the size."""

    def remark(function: float, gradient: float, growth: float | None = 1.0) -> str:
        figures = rules.Figures("a", "x", 100, function, gradient, 1e-4, growth)
        assert figures.outlier == (figures.remark == "UNEXPLAINED")
        return figures.remark

    assert remark(1e-3, 4e-3) == ""
    assert remark(1e-3, 6e-3) == "UNEXPLAINED"
    assert remark(1e-3, 3e-3, 6.0) == "UNEXPLAINED"
    assert remark(1e-6, 4e-4, 6.0) == "writes all of the gradient"
    assert remark(1e-6, 1e-5, None) == "overhead of calls"


@pytest.mark.parametrize("program", lists.PROGRAMS, ids=lambda program: program.__name__)
def test_programs_on_lists(program: Any) -> None:
    xs = np.random.default_rng(2).normal(size=25)
    v = np.cos(np.arange(25))
    slope = (program((xs + 1e-6 * v).tolist()) - program((xs - 1e-6 * v).tolist())) / 2e-6
    for given in (list, np.array):
        assert np.dot(srcgrad.grad(program)(given(xs)), v) == pytest.approx(slope, rel=1e-6)


def test_table_of_programs_on_lists(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lists, "PROGRAMS", {lists.polynomial: (5, 20)})
    assert lists.main(["--quick"]) == 0
    *_, row = capsys.readouterr().out.strip().split("\n")
    name, *figures = row.split()
    assert name == "polynomial" and len(figures) == 5 and all(float(r) > 0 for r in figures)
