"""The programs in examples/teaching/ run: each checks the generated gradients by itself."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "teaching"
PAIRS = {  # how many gradients each compares
    "activations.py": 6,
    "attention.py": 1,
    "embedding.py": 1,
    "losses.py": 4,
    "operation_list_mlp.py": 1,
    "scalars.py": 2,
    "sine_of_relu.py": 1,
    "two_moons.py": 1,
}


def run(name, *arguments):
    """The output of an example, which must end well and warn of nothing."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / name, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run():
    assert {path.name for path in FOLDER.glob("*.py")} == {*PAIRS, "side_by_side.py"}


@pytest.mark.parametrize("name", PAIRS)
def test_generated_beside_derived(name):
    output = run(name)
    assert output.count("--- generated for ") == PAIRS[name]
    assert output.count("--- derived by hand") == PAIRS[name]
    assert output.count("--- they agree") == PAIRS[name]
    assert output.count("\ndef d_") == PAIRS[name]
    text = (FOLDER / name).read_text()
    assert len(text.splitlines()) <= 90
    assert f"python examples/teaching/{name}" in text


def test_xor_is_learnt():
    output = run("operation_list_mlp.py")
    assert float(re.search(r"the loss is ([\d.]+)", output)[1]) < 0.01


def test_sine_of_relu_learns_and_is_plotted(tmp_path):
    path = tmp_path / "loss.png"
    output = run("sine_of_relu.py", f"--plot={path}")
    first, last = re.search(r"from ([\d.]+) to ([\d.]+)", output).groups()
    assert float(last) < 0.1 * float(first)
    assert path.exists() or "matplotlib isn't installed" in output


def test_two_moons_are_told_apart():
    *_, last = re.findall(r"right ([\d.]+)%", run("two_moons.py"))
    assert float(last) >= 97
