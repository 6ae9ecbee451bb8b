"""What CONTRIBUTING.md shows of each stage is what the compiler does.

After a change, `SRCGRAD_REWRITE=1 pytest tests/test_contributing.py` rewrites the blocks.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from srcgrad.inspect.stages import stages

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"
BLOCK = re.compile(r"^```\w+ stage: (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = dict(BLOCK.findall(PAGE.read_text()))


@pytest.fixture
def found(tmp_path, monkeypatch):
    """The stages of the page's own program."""
    monkeypatch.chdir(tmp_path)
    code = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    Path("growth.py").write_text(code)
    namespace = {"__name__": "growth"}
    exec(compile(code, "growth.py", "exec"), namespace)
    return stages(namespace["growth"], np.ones(3), 4)


def test_stages(found):
    assert list(SHOWN) == list(found)
    found = {stage: text.strip("\n") + "\n" for stage, text in found.items()}
    if os.environ.get("SRCGRAD_REWRITE"):
        text = PAGE.read_text()
        for stage, new in found.items():
            text = re.sub(
                rf"(^```\w+ stage: {stage}\n).*?(^```$)",
                lambda match, new=new: match[1] + new + match[2],
                text,
                flags=re.MULTILINE | re.DOTALL,
            )
        PAGE.write_text(text)
    else:
        assert found == SHOWN, "run with SRCGRAD_REWRITE=1 and look at the change"


def test_files_named_exist():
    root = PAGE.parent
    for name in re.findall(r"`((?:srcgrad|tests|benchmarks|\.ci)/[\w./]*)`", PAGE.read_text()):
        assert (root / name).exists(), name
