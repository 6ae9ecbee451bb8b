"""The command line, run as a program."""

import os
import pty
import subprocess
import sys
import textwrap

import pytest

import srcgrad
from srcgrad import cli

MODEL = """
    import numpy as np
    from srcgrad import grad, UnsupportedError
    from srcgrad import Gradient

    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    @grad(argnums=(0, "x"))
    def both(w, x):
        return np.sum((x @ w) ** 2)

    def nested(p):
        return np.sum(p["w"] * p["w"]) * p["b"][0]

    def example_inputs_nested():
        return {"w": np.arange(3.0), "b": (2.0,)}

    def integer(n, x):
        return n * 1.0

    def example_inputs_integer():
        return 3, 1.0

    def example_inputs():
        return np.arange(3.0), np.ones((4, 3))

    def jump(w, x):  # the derivative srcgrad takes isn't that of the steps
        return float(np.sum(np.floor(w * 1e9)))

    number = 3
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(MODEL))
    return str(path)


def run(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-m", "srcgrad", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **(env or {})},
    )  # fmt: skip


def test_version_and_help():
    assert run("--version").stdout == f"srcgrad {srcgrad.__version__}\n"
    text = run("--help").stdout
    assert text.startswith("usage: srcgrad")
    assert "show" in text
    assert "check" in text
    assert "example_inputs" in text
    nothing = run()
    assert nothing.returncode == 2
    assert nothing.stdout.startswith("usage: srcgrad")


def test_show(model):
    shown = run("show", f"{model}:loss")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith('def d_loss(w, x):\n    """Gradient of loss (model.py:')
    assert "\x1b" not in shown.stdout
    assert "with respect to x." in run("show", f"{model}:loss", "--argnums", "x").stdout
    assert "with respect to w, x." in run("show", f"{model}:both").stdout
    assert "with respect to w, x." in run("show", f"{model}:loss", "--argnums", "0,1").stdout


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_on_a_terminal(model, environment, coloured):
    pytest.importorskip("pygments")
    main, other = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "srcgrad", "show", f"{model}:loss"],
        stdout=other, env={**env, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(other)
    text = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(main)
    assert process.wait() == 0
    assert (b"\x1b[" in text) == coloured
    assert b"d_loss" in text


@pytest.mark.parametrize("name", ["loss", "both", "nested"])
def test_check(model, name):
    checked = run("check", f"{model}:{name}")
    assert (checked.returncode, checked.stderr) == (0, "")
    lines = checked.stdout.splitlines()
    assert [line[:16].strip() for line in lines] == [
        "value", "maximal error", "function", "with gradient",
    ]  # fmt: skip
    assert float(lines[1].split()[2]) < 1e-6


def test_check_finds_a_wrong_gradient(model):
    checked = run("check", f"{model}:jump")
    assert checked.returncode == 1
    assert "the gradient is wrong: the error is above 1e-05" in checked.stderr


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("model.py", "'model.py' isn't of the form FILE.py:FUNCTION"),
        ("nothing.py:f", "there is no file 'nothing.py'"),
        ("{model}:nothing", "has no function 'nothing'; it has loss, both, nested"),
        ("{model}:number", "'number' in {model} is a int, not a function"),
        ("{model}:integer", "argument 'n' can't be differentiated: it is an int"),
    ],
)
def test_mistakes(model, target, words):
    failed = run("show", target.format(model=model))
    assert failed.returncode == 2
    assert words.format(model=model) in failed.stderr
    assert "Traceback" not in failed.stderr
    assert failed.stdout == ""


def test_more_mistakes(tmp_path, capsys):
    path = tmp_path / "empty.py"
    path.write_text("def f(x):\n    return eval('x')\n")
    assert cli.main(["show", f"{path}:f"]) == 2
    assert "has no example inputs: add a function\n\n    def example_inputs():" in (
        capsys.readouterr().err
    )
    assert cli.main(["show", f"{path}:f", "--argnums", "5"]) == 2
    assert "argnums=5 is out of range: f takes 1 positional argument" in capsys.readouterr().err
    path.write_text("import nothing_of_this_name\n")
    assert cli.main(["check", f"{path}:f"]) == 2
    assert "failed: ModuleNotFoundError: No module named" in capsys.readouterr().err
