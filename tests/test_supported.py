"""The page of what is supported is what the registry says.

After a change to the rules, `SRCGRAD_REWRITE=1 pytest tests/test_supported.py` rewrites it.
"""

import os
from pathlib import Path

import pytest

from srcgrad.inspect.rules import counts
from srcgrad.inspect.supported import library_rows, supported_page, versions

PAGE = Path(__file__).parent.parent / "examples" / "supported.md"


def test_the_page_is_current():
    if f"for {versions()}." not in " ".join(PAGE.read_text().split()):
        pytest.skip(f"the page is for other libraries than {versions()}")
    found = supported_page()
    if os.environ.get("SRCGRAD_REWRITE"):
        PAGE.write_text(found)
    assert found == PAGE.read_text(), "run with SRCGRAD_REWRITE=1 and look at the change"


def test_all_functions_are_on_it():
    page = supported_page()
    for row in library_rows():
        assert f"`{row.name}`" in page
    assert str(counts(library_rows())["yes"]) in page
