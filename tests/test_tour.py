"""The numbered tour in examples/tour runs, and prints what the comments after its `print`s say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from srcgrad import cli

ROOT = Path(__file__).parent.parent
TOUR = sorted((ROOT / "examples" / "tour").glob("*.py"))
SAID = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def output(path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", path], capture_output=True, text=True, env=environment,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_it_is_numbered():
    numbers = [int(path.name[:2]) for path in TOUR]
    assert numbers == list(range(1, 11))
    page = (ROOT / "examples" / "README.md").read_text()
    assert re.findall(r"\]\(tour/(\d\d_\w+\.py)\)", page) == [path.name for path in TOUR]


@pytest.mark.parametrize("path", TOUR, ids=lambda path: path.stem)
def test_scripts_are_short(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 90
    assert text.startswith(f'"""{int(path.name[:2])}. ')
    assert f"python examples/tour/{path.name}" in text


@pytest.mark.parametrize("path", TOUR, ids=lambda path: path.stem)
def test_script(path):
    lines = output(path).splitlines()
    for said in SAID.findall(path.read_text()):
        assert said in lines, lines[:20]
        del lines[: lines.index(said) + 1]  # in this order


COMMANDS = re.findall(
    r"srcgrad (\w+ examples/tour/.*)$", "\n".join(p.read_text() for p in TOUR), re.MULTILINE
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command, tmp_path, monkeypatch, capsys):
    words = [str(ROOT / word) if word.startswith("examples") else word for word in command.split()]
    if words[-1].endswith(".svg"):
        words[-1] = words[-1].replace(".svg", ".dot")  # Graphviz may be absent
    monkeypatch.chdir(tmp_path)
    with pytest.warns() if "nans" in command else monkeypatch.context():
        assert cli.main(words) == 0
    assert capsys.readouterr().out or list(tmp_path.iterdir())
