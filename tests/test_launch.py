"""The launcher: whatever else is installed, the rose beside it is the one that runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def test_a_worker_runs_the_rose_beside_its_launcher(tmp_path):
    """Another version in the site packages must not take over half-way."""
    twin = tmp_path / "twin" / "rose"
    ignored = shutil.ignore_patterns("__pycache__", "demo", "data")
    shutil.copytree(os.path.join(ROOT, "rose"), twin, ignore=ignored)
    entry = twin / "__main__.py"
    entry.write_text(entry.read_text().replace("def main()", "def _main()"))
    with open(entry, "a", encoding="utf-8") as stream:
        stream.write("\n\ndef main():\n    import rose.files\n    print(rose.files.__file__)\n")
    done = subprocess.run(
        [sys.executable, "-I", str(twin / "launch.py"), "reflect", "--pending"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(twin / "files.py")
