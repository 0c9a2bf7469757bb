"""What the wheel would hold, as its build tool says without building it."""

from __future__ import annotations

import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def files_of(folder: str) -> set[str]:
    return {
        os.path.relpath(os.path.join(at, name), ROOT)
        for at, folders, names in os.walk(os.path.join(ROOT, "rose", folder))
        for name in names
        if "__pycache__" not in at
    }


@pytest.mark.parametrize("folder", ["demo", "data", "hosts", "reflection"])
def test_the_wheel_holds_the_data_that_the_program_reads(folder):
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    builder = wheel.WheelBuilder(ROOT)
    packed = {file.distribution_path for file in builder.recurse_included_files()}
    wanted = files_of(folder)
    assert wanted
    assert wanted <= packed
