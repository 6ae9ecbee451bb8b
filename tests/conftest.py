"""What holds for every test: one BLAS thread a worker, hypothesis without a deadline, memory."""

from __future__ import annotations

import gc
import math
import os
import zlib
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


# Of a test with many cases, blocks of seeds of random programs among them, a run takes one in four:
# they run the same code, and the time of CI is for what else there is. SRCGRAD_ALL_SAMPLES=1 takes
# all, and so does what selects few (-k).
STEP = 4
FEW = 8  # cases of one test, all of which are taken

# Other steps. Taken whole are tests whose cases are quick and each a promise of its own.
STEPS = {
    "tests/rules/test_conventions.py": 1,
    "tests/rules/test_definitions.py": 1,
    "tests/rules/test_edges.py": 3,
    "tests/rules/test_jacobians.py": 2,
    "tests/rules/test_kinds.py": 2,
    "tests/rules/test_namespace.py": 1,
    "tests/rules/test_rules.py": 1,
    "tests/rules/test_scipy_expressions.py": 8,
    "tests/rules/test_second_order.py": 5,
    "tests/test_api.py": 1,
    "tests/test_choices.py": 1,
    "tests/test_conformity.py": 1,
    "tests/test_container_methods.py::test_a_method": 1,
    "tests/test_contracting.py": 1,
    "tests/test_docstrings.py": 1,
    "tests/test_hostile_names.py": 1,
    "tests/test_idioms.py::test_idiom": 1,
    "tests/test_in_place.py": 1,
    "tests/test_language.py": 1,
    "tests/test_leaving_by_exceptions.py": 1,
    "tests/test_loops.py": 1,
    "tests/test_mixed_numbers.py": 1,
    "tests/test_printer.py": 1,
    "tests/test_programs.py::test_gradient_is_right": 1,
    "tests/test_programs.py::test_second_derivatives": 8,
    "tests/test_refusals.py": 1,
    "tests/test_reuse.py": 1,
    "tests/test_tables.py::test_gradient": 1,
    "tests/test_tapes": 1,
    "tests/test_workloads.py": 1,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every", type=int, default=1, help="of each test with many cases, take one in N at most"
    )


def taken_of(cases: list[pytest.Item], every: int) -> list[pytest.Item]:
    """Some of a test's cases, drawn by their names: counted off, a product might lose a factor."""
    nodeid = cases[0].nodeid
    found = (step for prefix, step in STEPS.items() if nodeid.startswith(prefix))
    step = max(every, next(found, STEP))
    if len(cases) <= FEW and not (step > 1 and "random" in nodeid):
        return cases
    drawn = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
    return drawn[: math.ceil(len(cases) / step)]


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
    taken = {item for cases in tests.values() for item in taken_of(cases, config.option.every)}
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
