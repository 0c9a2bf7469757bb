"""A small stream of tasks: four lessons, whose words only the record ties to their tasks."""

from __future__ import annotations

import json
import os

LESSONS = {
    "testing/db": "Start postgres before the suite",
    "docs/links": "Check anchors with the crawler",
    "deploy/rollback": "Restore the previous image",
    "api/paging": "Cursors expire after an hour",
}
# What tasks say, which no lesson does.
SAID = {
    "testing/db": ("integration failing", "integration timeouts"),
    "docs/links": ("handbook broken", "handbook stale"),
    "deploy/rollback": ("production outage", "production latency"),
    "api/paging": ("listing truncated", "listing repeated"),
}


def write(folder, episodes: int = 60, **changed: object) -> str:
    """Write a stream of so many episodes into a folder and return its path."""
    os.makedirs(folder, exist_ok=True)
    lessons = [
        {
            "id": name,
            "path": f"nodes/{name}.md",
            "title": name.rpartition("/")[2],
            "gist": "",
            "body": body,
            "born": None,
            "died": None,
            "born_seq": 0,
            "died_seq": None,
            **changed,
        }
        for name, body in LESSONS.items()
    ]
    rows = []
    for seq in range(episodes):
        name = [*LESSONS][seq % len(LESSONS)]
        said = SAID[name][seq // len(LESSONS) % 2]
        rows.append(
            {
                "id": f"e{seq}",
                "time": "",
                "seq": seq,
                "prompt": f"Look into the {said} case {seq}",
                "used": [name],
                "split": "train" if seq < episodes * 0.7 else "test",
                "named": False,
            }
        )
    for file, content in (("lessons", lessons), ("episodes", rows)):
        with open(os.path.join(folder, f"{file}.jsonl"), "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in content)
    return str(folder)
