"""The programs in examples/ run as a user runs them, with fewer steps."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ARGUMENTS = {
    "adam.py": ["--steps=1500"],
    "digits.py": ["--epochs=8"],
    "heat_inverse.py": ["--iterations=200"],
    "hmc.py": ["--samples=1000"],
    "least_squares.py": [],
    "newton_cg.py": [],
    "ode_fit.py": [],
    "scipy_fit.py": [],
}


def run(name, *arguments):
    """The output of an example, which must end well and warn of nothing."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / name, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def test_every_example_is_run():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_examples_are_short_and_explain_themselves(name):
    text = (ROOT / "examples" / name).read_text()
    assert len(text.splitlines()) <= 90
    assert f"python examples/{name}" in text


def test_digits():
    output = run("digits.py", *ARGUMENTS["digits.py"])
    assert "def value_and_d_loss(params, x, y, decay):" in output
    accuracy = re.search(r"test accuracy: ([\d.]+)%", output)
    assert float(accuracy[1]) >= 96


def test_heat_inverse():
    output = run("heat_inverse.py", *ARGUMENTS["heat_inverse.py"])
    errors = [float(e) for e in re.findall(r"largest error of the start ([\d.]+)", output)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1 < errors[0]
    assert "def value_and_d_misfit(u, measured, steps):" in output


def test_scipy_fit():
    output = run("scipy_fit.py", *ARGUMENTS["scipy_fit.py"])
    ours, differences = re.findall(r"(\d+) evaluations, loss ([\d.]+)", output)
    assert int(ours[0]) * 3 < int(differences[0])
    assert float(ours[1]) == pytest.approx(float(differences[1]), rel=1e-3)


def test_adam():
    output = run("adam.py", *ARGUMENTS["adam.py"])
    losses = [float(value) for value in re.findall(r"loss ([\d.]+)", output)]
    assert losses == sorted(losses, reverse=True)
    assert float(re.findall(r"test +([\d.]+)%", output)[-1]) > 97
    assert "def value_and_d_loss(params, x, y):" in output


def test_hmc():
    output = run("hmc.py", *ARGUMENTS["hmc.py"])
    assert 80 <= int(re.search(r"(\d+)% accepted", output)[1]) <= 100
    inside = [
        float(low) <= float(truth) <= float(high)
        for low, high, truth in re.findall(r"in \[ *([-\d.]+), *([-\d.]+)\] +\(([-\d.]+)\)", output)
    ]
    assert len(inside) == 4 and sum(inside) >= 3


def test_least_squares():
    output = run("least_squares.py")
    exact, differences = re.findall(r"(\d+) evaluations", output)
    assert int(exact) * 3 < int(differences)
    assert len(set(re.findall(r", (\d+\.\d+)$", output, re.M))) == 1  # the same minimum
    for value, error, truth in re.findall(r"([-\d.]+) ± ([\d.]+) +\(truth ([-\d.]+)\)", output):
        assert abs(float(value) - float(truth)) < 4 * float(error)
    assert "def jvps_residuals(p, t, measured, sigma, t_p, count):" in output


def test_newton_cg():
    output = run("newton_cg.py")
    newton, limited = re.findall(r"energy ([-\d.]+), \|gradient\| \S+ (\d+) gradients", output)
    assert float(newton[0]) == pytest.approx(float(limited[0]), abs=1e-4)
    assert int(newton[1]) * 5 < int(limited[1])
    assert "def jvp_d_energy(x, t_x):" in output


def test_ode_fit():
    output = run("ode_fit.py")
    found = re.findall(r"([\d.]+)   \(truth ([\d.]+)\)", output)
    assert len(found) == 6
    for value, truth in found:
        assert float(value) == pytest.approx(float(truth), rel=0.1)
