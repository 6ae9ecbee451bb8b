"""What the README says is true: its blocks run, its tables hold, its generated sources are current.

After a change to what is generated, `SRCGRAD_REWRITE=1 pytest tests/test_readme.py` rewrites the
generated blocks.
"""

import contextlib
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from srcgrad import grad

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [match.groups() for match in BLOCK.finditer(README.read_text())]
PROGRAMS = [code for language, rest, code in BLOCKS if language == "python" and not rest]
GENERATED = {rest.split()[-1]: code for _, rest, code in BLOCKS if "generated:" in rest}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(code):
    """Run a block as the file model.py; its namespace and what it printed."""
    Path("model.py").write_text(code)
    linecache.checkcache()
    namespace = {"__name__": "model"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "model.py", "exec"), namespace)
    return namespace, printed.getvalue()


def rewrite(head, old, new):
    """Check a block that follows from the code, or write it anew."""
    if os.environ.get("SRCGRAD_REWRITE"):
        text = README.read_text()
        assert text.count(head + old + "```\n") == 1
        README.write_text(text.replace(head + old + "```\n", head + new + "```\n"))
    else:
        assert old == new, "run with SRCGRAD_REWRITE=1 and look at the change"


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number):
    """A block runs, and prints what the comments after its `print`s say, or the next block."""
    code = PROGRAMS[number]
    _, printed = run(code)
    after = [*BLOCKS, ("", "", "")][BLOCKS.index(("python", "", code)) + 1]
    if after[:2] == ("text", " printed"):
        rewrite("```text printed\n", after[2], printed)
        return
    said = re.findall(r"^print\(.*\)  +# (.*)$", code, re.MULTILINE)
    lines = [line for line in said if line != "what follows"]
    assert printed.splitlines()[: len(lines)] == lines


@pytest.mark.parametrize("name", GENERATED)
def test_generated_source_is_current(name):
    program = next(code for code in PROGRAMS if re.search(rf"def {name}\(|^{name} =", code, re.M))
    namespace, _ = run(program)
    source = namespace[name].source.strip("\n") + "\n"
    rewrite(f"```python generated: {name}\n", GENERATED[name], source)


def test_generated_loss_stands_alone():
    """The text in the README is a gradient by itself, given NumPy."""
    namespace, _ = run(PROGRAMS[0])
    alone = {"np": np}
    exec(GENERATED["loss"], alone)
    arguments = [namespace[k] for k in "wxy"]
    np.testing.assert_array_equal(alone["d_loss"](*arguments), namespace["loss"](*arguments))


CONVENTIONS = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$", README.read_text(), re.M)


@pytest.mark.parametrize("function, at, derivative", CONVENTIONS, ids=[c[0] for c in CONVENTIONS])
def test_convention(function, at, derivative):
    namespace, _ = run(f"import numpy as np\ndef f(x):\n    return {function}\n")
    with np.errstate(divide="ignore"):
        found = grad(namespace["f"])(eval(at))
    np.testing.assert_array_equal(found, eval(derivative))


def test_all_conventions_are_checked():
    assert len(CONVENTIONS) == 10


def test_commands():
    """The README's commands name extras and files that exist; .ci/run runs them."""
    commands = [line for lang, _, code in BLOCKS if lang == "sh" for line in code.splitlines()]
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.M)
    ran = []
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["pip", "install"]
        found = re.fullmatch(r"\.(?:\[(\w+)\])?", words[2])
        assert found[1] is None or found[1] in extras
        if "python" in words:
            assert (ROOT / words[words.index("python") + 1]).is_file()
        ran += [command] if "&&" in words else []
    assert ran == [
        "pip install '.[examples]' && python examples/digits.py",
        "pip install '.[test]' && pytest",
    ]


SESSIONS = re.findall(
    r"^\$ (.*)", "\n".join(code for lang, _, code in BLOCKS if lang == "console"), re.M
)


@pytest.mark.parametrize("command", SESSIONS)
def test_command_line(command):
    words = shlex.split(command)
    assert words[0] == "srcgrad"
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text()):
        assert target.startswith("https://") or (ROOT / target).exists(), target
