"""`rose mcp` as a person calls it; tests/mcp has what an agent program gets."""

from __future__ import annotations

import subprocess
import sys

from tests.clirun import ROOT, run


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path):
    result = run("mcp", "--store", str(tmp_path / "zebra"), cwd=tmp_path)
    assert result.code == 2
    assert result.err == "rose: --store zebra: there is no such folder.\n"


def test_help_and_other_commands_do_not_load_the_package(tmp_path):
    script = (
        "import sys; from rose.cli import app; app.run(['--help']); print('mcp' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": ROOT, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert " mcp " in done.stdout
    assert done.stdout.endswith("False\n")
