"""What holds for every test: one BLAS thread a worker, hypothesis without a deadline, memory."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before NumPy is imported: pytest-xdist uses the cores

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from srcgrad.compiler import primal  # noqa: E402
from srcgrad.optimize import accumulation  # noqa: E402

# Reproducible where nobody watches; a different search on each run at a developer's desk.
settings.register_profile("default", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Left out of the quick half of the suite: what takes long and depends on NumPy, or on what passes
# do with the IR, more than on Python.
SLOW = (
    "tests/rules/",
    "tests/test_benchmarks.py",
    "tests/test_distribution.py",
    "tests/test_examples.py",
    "tests/test_footprint.py",
    "tests/test_forward.py",
    "tests/test_fuzz.py",
    "tests/test_gathering.py",
    "tests/test_inner_derivatives.py",
    "tests/test_layouts.py",
    "tests/test_matrices.py",
    "tests/test_metamorphic.py",
    "tests/test_normal.py",
    "tests/test_optimize.py",
    "tests/test_popped.py",
    "tests/test_printer.py::test_round_trips_the_sources",
    "tests/test_programs.py::test_second",
    "tests/test_programs.py::test_tangent",
    "tests/test_random_arguments.py",
    "tests/test_random_programs.py",
    "tests/test_regions.py",
    "tests/test_restructure.py",
    "tests/test_reuse.py",
    "tests/test_scipy",
    "tests/test_shifts.py",
    "tests/test_swapped.py",
    "tests/test_tapes.py",
    "tests/test_unboxing.py",
    "tests/test_vectorizing.py",
    "tests/test_workloads.py",
)

# Of what may differ from one version of Python to the next.
LANGUAGE = tuple(
    f"tests/test_{name}.py"
    for name in """
        api dataclasses errors exceptions golden hostile_names idioms iterators keys language
        leaving_by_exceptions lookup matches object_protocols pickle printer recent refusals save
        source tangent_reports texts
    """.split()
)


# Of long tables of cases that run the same code, a run takes each second or third, and so it does
# of blocks of seeds of which tests make programs: the time of CI is for what else there is.
# SRCGRAD_ALL_SAMPLES=1 takes all, and so does what selects few (-k).
SAMPLED = {
    "tests/rules/test_compiled.py": 2,
    "tests/rules/test_coverage.py": 2,
    "tests/rules/test_edges.py": 2,
    "tests/rules/test_jacobians.py": 2,
    "tests/rules/test_kinds.py": 2,
    "tests/rules/test_scipy_distributions.py": 2,
    "tests/rules/test_scipy_expressions.py": 6,
    "tests/rules/test_scipy_rotations.py": 3,
    "tests/rules/test_second_order.py": 5,
    "tests/rules/test_triangles.py": 2,
    "tests/rules/test_ufunc_methods.py": 3,
    "tests/rules/test_unused.py": 3,
    "tests/rules/test_variants.py": 2,
    "tests/rules/test_written.py": 2,
    "tests/test_container_methods.py::test_operators_of_counters": 3,
    "tests/test_curve_fit.py": 2,
    "tests/test_forward.py::test_what_stands_beside": 2,
    "tests/test_inner_derivatives.py::test_gradient": 2,
    "tests/test_letters.py": 2,
    "tests/test_links.py::test_questions": 5,
    "tests/test_lists_of_none.py": 2,
    "tests/test_matrices.py::test_what_becomes_of_it": 2,
    "tests/test_mixed_lists.py::test_gradients": 2,
    "tests/test_objects.py::test_gradient": 2,
    "tests/test_optimize.py::test_of_programs": 2,
    "tests/test_orders.py::test_what_depends_on_the_order": 2,
    "tests/test_parts_of_lists.py": 2,
    "tests/test_programs.py::test_second_derivatives": 4,
    "tests/test_programs.py::test_tangent": 3,
    "tests/test_recursion_on_lists.py::test_gradient": 2,
    "tests/test_scipy.py": 3,
    "tests/test_scipy_filters.py": 2,
    "tests/test_scipy_functionals.py": 4,
    "tests/test_scipy_interpolate.py": 2,
    "tests/test_scipy_scattered.py": 3,
    "tests/test_scipy_signal.py": 2,
    "tests/test_scipy_stats.py": 2,
    "tests/test_sorted_lists.py::test_derivatives": 2,
    "tests/test_swapped.py": 2,
    "tests/test_tables.py::test_other_modes": 4,
    "tests/test_teaching.py": 2,
    "tests/test_trees_of_dicts.py::test_program": 2,
    "tests/test_unknown_dtypes.py": 2,
}
RANDOM = 3
FEW = 8  # cases of one test, all of which are taken


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every", type=int, default=1, help="of each test with many cases, take each N-th at most"
    )


def steps_between(item: pytest.Item, every: int) -> int:
    """Of how many cases of a test one is taken."""
    found = (step for prefix, step in SAMPLED.items() if item.nodeid.startswith(prefix))
    return max(every, RANDOM if is_random(item) else next(found, 1))


def is_random(item: pytest.Item) -> bool:
    """Whether the cases of a test are seeds of random programs."""
    return "random" in item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    mark(items)
    yield  # what the command line says is selected
    if os.environ.get("SRCGRAD_ALL_SAMPLES"):
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    taken: set[pytest.Item] = set()
    for cases in tests.values():
        many = len(cases) > FEW or is_random(cases[0])
        step = steps_between(cases[0], config.option.every) if many else 1
        taken.update(cases[::step])
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = [item for item in items if item in taken]


def mark(items: list[pytest.Item]) -> None:
    """Mark tests by where they stand."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith(LANGUAGE):
            item.add_marker(pytest.mark.language)


def pytest_collection_finish() -> None:
    """Collect garbage less often, and not among the tests: compiling makes many small objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


# How many cases the tests of rules checked, by what they checked of them.
cases: dict[str, int] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.nodeid.startswith("tests/rules/"):
        for what, number in report.user_properties:
            cases[what] = cases.get(what, 0) + int(str(number))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if cases:
        terminalreporter.section("cases of the rules")
        for what, number in cases.items():
            terminalreporter.write_line(f"{number:7,} {what}")


@pytest.fixture
def loops_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops aren't made operations on whole arrays: what else is done with them is tested."""
    monkeypatch.setattr(primal, "vectorize", lambda *_: None)
    monkeypatch.setattr(accumulation, "distribute", lambda *_: False)
