"""Real sessions, read to facts: the captures, and the public transcripts in ../shared.

None of them knows rose. Their lessons are made of what they really read: each file that a session
read is a lesson of the same name, in a folder of the same store. `ROSE_REGENERATE_GOLDEN=1 pytest
tests/reflection` writes tests/golden/facts anew; read the diff.
"""

from __future__ import annotations

import json
import os
import tarfile

import pytest

from rose import config, files, layout
from rose.hosts import registry
from rose.hosts.base import Call
from rose.reflection import delivery, observe
from rose.store import lessons
from tests.hosts.making import CAPTURES

REGENERATE = "ROSE_REGENERATE_GOLDEN" in os.environ
GOLDEN = os.path.join(os.path.dirname(CAPTURES), "golden", "facts")
SHOWN = 8
CAPTURED = [
    f"{host}/{name}"
    for host in ("claude", "codex")
    for name in sorted(os.listdir(os.path.join(CAPTURES, "transcripts", host)))
]
SPOTTER = "claude/spotter"
CODEX = "codex/agentcmd/rollout-2025-09"
PUBLIC = [
    "claude/agentcmd/full-session-four.jsonl",
    "claude/agentcmd/full-session.jsonl",
    "claude/agentsview/valid_session.jsonl",
    "claude/claude-code-log/representative_messages.jsonl",
    f"{SPOTTER}/258c7280-ae70-4798-800f-63464d01a85d.jsonl",
    f"{SPOTTER}/8463c716-a2ea-4c14-9efa-87158ebd9f20.jsonl",
    f"{SPOTTER}/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl",
    f"{SPOTTER}/short.jsonl",
    f"{SPOTTER}/subagent.jsonl",
    f"{CODEX}-24T19-22-20-01997e76-d124-7592-9cac-2ec05abbca08.jsonl",
    f"{CODEX}-25T08-02-05-0199812e-64f0-7f73-91fc-095dda01c36e.jsonl",
    f"{CODEX}-25T15-12-14-019982b8-3422-79e0-8b3b-05abaf4f3c3e.jsonl",
    "derived/crlf-blank-and-garbage.jsonl",
    "derived/cut-in-last-line.jsonl",
]


@pytest.fixture(scope="session")
def public(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    with tarfile.open(os.path.join(shared, "data", "transcripts", "transcripts.tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    return str(folder)


def facts_of(path: str, tmp_path) -> observe.Facts:
    """Return the facts of a session against the lessons that it read."""
    transcript = registry.open_transcript(path)
    base = os.path.join(os.path.realpath(tmp_path), "repo")
    store = layout.project_store(base)
    os.makedirs(os.path.join(base, "reads"))
    for name, text in read_by(transcript).items():
        files.replace(os.path.join(base, "reads", name), text)
    settings = config.Settings(lessons_paths=("nodes", "reads"))
    shelf = lessons.scan(store, settings, cache=False)
    return observe.observe(
        transcript, [lessons.Holding(store, settings, shelf)], [], delivery.Sent()
    )


def read_by(transcript) -> dict[str, str]:
    """Return what a session read, by file name."""
    found: dict[str, str] = {}
    for event in transcript.events():
        if not isinstance(event, Call) or event.failed or len(event.result.splitlines()) < 4:
            continue
        named = list(event.paths) if event.name == "Read" else []
        words = (event.command or "").split()
        if words[:1] in (["cat"], ["sed"]):
            named.append(words[-1].strip("'\""))
        for path in named:
            plain = event.result.encode("utf-8", "replace").decode("utf-8")
            found.setdefault(os.path.basename(path) + ".md", plain)
    return found


def as_json(facts: observe.Facts) -> dict[str, object]:
    return {
        "host": facts.host,
        "rows": facts.rows,
        "prompts": facts.prompts,
        "task": facts.task,
        "kinds": list(facts.kinds),
        "opened": len(facts.opened),
        "opened_first": [[o.lesson.id, o.how, o.turn] for o in facts.opened[:SHOWN]],
        "listed": [lesson.id for lesson in facts.listed],
        "used": [[u.lesson.id, u.span] for u in facts.used],
        "sent": list(facts.sent),
        "delivered": list(facts.delivered or ()),
    }


def compare(name: str, facts: observe.Facts) -> None:
    path = os.path.join(GOLDEN, name.replace("/", "__") + ".json")
    text = json.dumps(as_json(facts), indent=1, ensure_ascii=True) + "\n"
    if REGENERATE:
        files.replace(path, text)
    assert files.read_text(path) == text


@pytest.mark.parametrize("name", CAPTURED)
def test_the_facts_of_a_captured_session(name, tmp_path):
    path = os.path.join(CAPTURES, "transcripts", *name.split("/"))
    compare(name, facts_of(path, tmp_path))


@pytest.mark.parametrize("name", PUBLIC)
def test_the_facts_of_a_public_session(name, public, tmp_path):
    compare(name, facts_of(os.path.join(public, name), tmp_path))


def test_no_public_transcript_breaks_the_observation(public, tmp_path):
    names = [
        os.path.join(folder, name) for folder, _, found in os.walk(public) for name in sorted(found)
    ]
    seen = [facts_of(path, tmp_path / str(number)) for number, path in enumerate(sorted(names))]
    assert len(seen) == 73
    assert sum(len(facts.opened) for facts in seen) > 100
    assert sum(len(facts.used) for facts in seen) > 20
    assert all(len(facts.kinds) <= 64 for facts in seen)
