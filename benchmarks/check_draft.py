"""How long and how much memory `rose check` takes over a huge transcript.

Writes the transcript of benchmarks/transcript.py and a draft with five quotes: one that stands
once, one that stands in every result, one that stands nowhere, and two by their places.

    python benchmarks/check_draft.py [MEGABYTES]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from harness import ROOT
from transcript import SESSION, a_store, write

DRAFT = """---
when: the task runs the long migration
then: read nodes/n3.md
origin: reflection
evidence:
  - {quote: "Run the long migration of the billing tables"}
  - {quote: "word17"}
  - {quote: "never said at all"}
  - {quote: "word23", region: 9}
  - {quote: "Lesson 1 says line 3 of its own text."}
---
"""
CHILD = """
import os, resource, sys, time
sys.path.insert(0, {root!r})
os.chdir({base!r})
from rose.cli import app
start = time.perf_counter()
app.run(["check", "draft.md", "--as", "rule", "--session", {path!r}])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{{seconds:.1f}} s, peak {{peak:.0f}} MB")
"""


def main(megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as base:
        a_store(base)
        with open(os.path.join(base, "draft.md"), "w", encoding="utf-8") as stream:
            stream.write(DRAFT)
        path = os.path.join(base, f"{SESSION}.jsonl")
        write(path, base, megabytes)
        script = CHILD.format(root=ROOT, base=base, path=path)
        subprocess.run([sys.executable, "-c", script], check=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
