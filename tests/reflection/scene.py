"""A small project with five lessons, and sessions that ran in it, for the tests of reflection."""

from __future__ import annotations

import json
import os

from rose import config, files, layout, refresh, session, yamltext
from rose.hosts import registry
from rose.reflection import delivery, observe, reflect
from rose.routing import table
from rose.store import lessons
from tests import factories
from tests.hosts import making

NOON = "2026-11-30T12:00:00Z"
DB = "testing/integration-db"
DB_LINE = (
    "Export `APP_DB_URL=sqlite:///tmp/app.db` before running `pytest tests/integration`; "
    "without it every test errors at setup."
)
LINKS_LINE = (
    "Write `[store](store.md)`, not the site's address; `make docs-check` fails on absolute links."
)
# The lessons of the repository in which the captured work sessions ran.
LESSONS = {
    "api/paging": (
        "Every list call is paged",
        "Pass `limit` and `cursor`; a call without `cursor` returns the first 50 rows only.",
    ),
    "deploy/rollback": (
        "Roll back with the release script",
        "Use `scripts/release.sh --rollback`; never delete the tag by hand.",
    ),
    "docs/links": ("Links in the docs are relative", LINKS_LINE),
    "testing/fixtures": (
        "Fixtures live in one place",
        "Shared fixtures are in `tests/conftest.py`; a fixture in a test module is never reused.",
    ),
    "testing/integration-db": ("Integration tests need a database URL", DB_LINE),
}


class Scene:
    """One project on disk."""

    def __init__(self, tmp_path, settings: dict[str, str] | None = None) -> None:
        self.tmp_path = tmp_path
        self.store = factories.a_store(tmp_path)
        for name, (title, line) in LESSONS.items():
            text = f"---\ntitle: {title}\n---\n{line}\n"
            factories.a_lesson_file(self.store, f"nodes/{name}.md", text)
        if settings:
            files.replace(self.store.config, yamltext.dump(settings))
        self.stores = layout.Stores(self.store, None, "test")

    @property
    def base(self) -> str:
        return self.store.base

    def capture(self, name: str, change=lambda text: text) -> str:
        """Return a captured session as if it had run in this project."""
        text = files.read_text(making.capture(f"claude/{name}.jsonl"))
        path = os.path.join(self.base, "..", f"{name}.jsonl")
        files.replace(path, change(text.replace("/repo", self.base)))
        return os.path.abspath(path)

    def session(self, number: int, *rows: dict[str, object]) -> str:
        """Write a session of its own from rows and return its path."""
        name = session_id(number)
        placed = [
            {**row, "sessionId": name, "cwd": self.base, "uuid": f"{row['uuid']}-{number}"}
            for row in rows
        ]
        return making.write(self.tmp_path / f"{name}.jsonl", placed)

    def reflect(self, path: str, **options) -> reflect.Outcome:
        return reflect.reflect_on(self.stores, path, at=NOON, **options)

    def observe(self, path: str, sent=None) -> observe.Facts:
        settings = config.read(self.store)[0]
        shelf = lessons.scan(self.store, settings, cache=False)
        rules = [(self.store, rule) for rule in self.rules()]
        holding = lessons.Holding(self.store, settings, shelf)
        transcript = registry.open_transcript(path)
        return observe.observe(transcript, [holding], rules, sent or delivery.Sent())

    def rules(self):
        return table.read(self.store, ("nodes",)).rules

    def send(self, name: str, host: str = "claude-code") -> str:
        """Note the compiled layer as sent to a session, and return the block."""
        layer = refresh.layer(self.stores, exact=False)
        path = session.note_path(self.store.sessions, layout.session_name(host, name))
        files.append_line(path, session.sent_line("UserPromptSubmit", None, layer))
        return str(layer["block"])

    def ledger_lines(self) -> list[dict[str, object]]:
        folder = self.store.ledger("local")
        if not os.path.isdir(folder):
            return []
        return [
            line
            for name in sorted(os.listdir(folder))
            for _, line in files.read_jsonl(os.path.join(folder, name))
        ]


def session_id(number: int) -> str:
    return f"5e551011-0000-4000-8000-{number:012d}"


def bash(command: str, output: str, number: int = 1, second: int = 1) -> list[dict[str, object]]:
    """Return the two rows of a shell call."""
    name = f"toolu_{number}_{second}"
    return [
        making.call("Bash", {"command": command}, name, second),
        making.result(output, name, second),
    ]


def read(path: str, text: str, number: int = 1, second: int = 1) -> list[dict[str, object]]:
    """Return the two rows of a Read."""
    name = f"toolu_{number}_{second}"
    return [
        making.call("Read", {"file_path": path}, name, second),
        making.result(text, name, second),
    ]


def with_block(text: str, block: str) -> str:
    """Return a transcript whose injected block is replaced by another."""
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        attachment = row.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "hook_additional_context":
            attachment["content"] = [block]
    return "".join(json.dumps(row) + "\n" for row in rows)


def ids(found) -> list[str]:
    """Return the lesson ids of what was opened or used."""
    return [one.lesson.id for one in found]
