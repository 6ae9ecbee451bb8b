"""What a gradient frees is kept for its next call."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from srcgrad import grad

def f(x):
    total = 0.0
    for _ in range(300):
        x = np.sin(x)
        total = total + np.sum(x * x)
    return total

x, gradient = np.ones(40_000), grad(f)
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    gradient(x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's allocator")
@pytest.mark.parametrize(
    ("settings", "faults"),
    [
        ({}, False),
        ({"MALLOC_TRIM_THRESHOLD_": "131072"}, True),
        ({"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=131072"}, True),
    ],
)
def test_pages_are_there_in_the_next_call(settings, faults, monkeypatch, tmp_path):
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "program.py").write_text(PROGRAM)
    run = [sys.executable, str(tmp_path / "program.py")]
    found = int(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert (found > 1000) == faults, found
