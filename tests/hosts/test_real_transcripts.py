"""Real sessions, read whole: the captures beside this file, and the public ones in ../shared.

`ROSE_REGENERATE_GOLDEN=1 pytest tests/hosts` writes tests/golden/transcripts anew; read the diff.
"""

from __future__ import annotations

import json
import os
import tarfile

import pytest

from rose.hosts import claude_code, claude_rows, codex, codex_rows, registry
from rose.hosts.base import Call, Prompt, Tally
from tests.hosts.facts import facts
from tests.hosts.making import CAPTURES

REGENERATE = "ROSE_REGENERATE_GOLDEN" in os.environ
GOLDEN = os.path.join(os.path.dirname(CAPTURES), "golden", "transcripts")
SPOTTER = "claude/spotter"
CAPTURED = [
    f"{host}/{name}"
    for host in ("claude", "codex")
    for name in sorted(os.listdir(os.path.join(CAPTURES, "transcripts", host)))
]
PUBLIC = [
    "claude/agentcmd-single-lines/tool-result-image.jsonl",
    "claude/agentcmd-single-lines/user-slash-command-with-args.jsonl",
    "claude/agentcmd/full-session-askuserquestion.jsonl",
    "claude/agentcmd/full-session-four.jsonl",
    "claude/agentcmd/full-session.jsonl",
    "claude/agentsview/queued_system_messages.jsonl",
    "claude/agentsview/tool_call_pending.jsonl",
    "claude/agentsview/truncated.jsonl",
    "claude/claude-code-log/edge_cases.jsonl",
    "claude/claude-code-log/representative_messages.jsonl",
    "claude/sample-session/sample_session.json",
    "claude/sample-session/sample_session.jsonl",
    f"{SPOTTER}/258c7280-ae70-4798-800f-63464d01a85d.jsonl",
    f"{SPOTTER}/8463c716-a2ea-4c14-9efa-87158ebd9f20.jsonl",
    f"{SPOTTER}/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl",
    f"{SPOTTER}/short.jsonl",
    f"{SPOTTER}/subagent.jsonl",
    "codex/agentcmd/rollout-2025-09-24T19-22-20-01997e76-d124-7592-9cac-2ec05abbca08.jsonl",
    "codex/agentcmd/rollout-2025-09-25T08-02-05-0199812e-64f0-7f73-91fc-095dda01c36e.jsonl",
    "codex/agentcmd/rollout-2025-09-25T15-12-14-019982b8-3422-79e0-8b3b-05abaf4f3c3e.jsonl",
    "codex/exec-json-stream/stream-output-2.jsonl",
    "derived/crlf-blank-and-garbage.jsonl",
    "derived/cut-in-last-line.jsonl",
    "openhands/output.jsonl",
]


@pytest.fixture(scope="session")
def public(shared, tmp_path_factory):
    """Return the folder of the unpacked public transcripts."""
    folder = tmp_path_factory.mktemp("public")
    with tarfile.open(os.path.join(shared, "data", "transcripts", "transcripts.tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    return str(folder)


def check_golden(name, found):
    """Compare facts with their golden file, or write it when asked to."""
    path = os.path.join(GOLDEN, name.replace("/", "--") + ".golden.json")
    if REGENERATE:
        os.makedirs(GOLDEN, exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(found, stream, indent=1, ensure_ascii=False)
            stream.write("\n")
    with open(path, encoding="utf-8") as stream:
        assert found == json.load(stream)


@pytest.mark.parametrize("name", CAPTURED)
def test_a_captured_session_gives_its_golden_facts(name):
    check_golden(f"captures/{name}", facts(os.path.join(CAPTURES, "transcripts", name)))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_session_gives_its_golden_facts(name, public):
    check_golden(name, facts(os.path.join(public, name)))


def test_every_public_file_is_read_without_a_fault_and_its_lines_are_accounted_for(public, shared):
    with open(os.path.join(shared, "data", "transcripts", "index.jsonl"), encoding="utf-8") as rows:
        index = [json.loads(row) for row in rows]
    names = [entry["file"] for entry in index if entry["file"].endswith(".jsonl")]
    torn, counts = {}, {}
    for entry in index:
        transcript = registry.open_transcript(os.path.join(public, entry["file"]))
        counts[entry["file"]] = sum(1 for _ in transcript.events())
        torn[entry["file"]] = transcript.tally.torn
    silent = {name for name in counts if not counts[name]}

    assert len(index) == 73
    assert {name: torn[name] for name in names} == {
        entry["file"]: entry["bad_lines"] for entry in index if entry["file"] in names
    }
    assert {name.split("/")[0] for name in silent} == {"claude", "codex", "openhands", "swe-agent"}
    assert len(silent) == 20


# What follows was read off the raw rows by hand.


def calls_of(path):
    """Return the calls of a transcript as (turn, name, path or command, failed), and its tally."""
    transcript = registry.open_transcript(path)
    calls = [event for event in transcript.events() if isinstance(event, Call)]
    return [(c.turn, c.name, c.command or "".join(c.paths), c.failed) for c in calls], transcript


def prompts_of(transcript):
    """Return the prompts of a transcript as (turn, text)."""
    return [(e.turn, e.text) for e in transcript.events() if isinstance(e, Prompt)]


def test_a_session_whose_calls_a_person_refused(public):
    calls, transcript = calls_of(os.path.join(public, SPOTTER, "short.jsonl"))

    assert prompts_of(transcript) == [(1, "mix phx.server doesnt seem to start")]
    assert calls == [
        (1, "Bash", "mix phx.server 2>&1 | head -80", True),
        (1, "Glob", "/home/dev/projects/spotter", True),
    ]
    assert transcript.tally == Tally(rows=15)


def test_a_session_that_edits_and_runs(public):
    path = os.path.join(public, "claude/claude-code-log/representative_messages.jsonl")
    calls, transcript = calls_of(path)

    assert [turn for turn, _ in prompts_of(transcript)] == [1, 2, 3, 4]
    assert prompts_of(transcript)[2] == (3, "Can you run that example to show the output?")
    assert calls == [
        (2, "Edit", "/tmp/decorator_example.py", False),  # noqa: S108 - a path in the session
        (3, "Bash", "python /tmp/decorator_example.py", False),
    ]


def test_a_session_with_a_skill_and_its_expansion(public):
    calls, transcript = calls_of(os.path.join(public, SPOTTER, "subagent.jsonl"))
    prompts = prompts_of(transcript)

    assert [name for _, name, _, _ in calls] == [
        "WebFetch",
        "WebSearch",
        "WebSearch",
        "WebSearch",
        "Glob",
        "WebSearch",
        "Read",
        "WebSearch",
        "AskUserQuestion",
        "Task",
        "Write",
        "ExitPlanMode",
        "Bash",
        "Bash",
        "Bash",
        "Bash",
    ]
    assert [turn for turn, _, _, _ in calls] == [1] * 12 + [2] * 4
    assert prompts[0][1].startswith("/acme:create-beads websearch to learn how to fastest setup")
    assert prompts[1:] == [(2, "create the beads")]


@pytest.mark.parametrize(
    ("session", "prompts", "calls", "failed"),
    [
        (
            "258c7280-ae70-4798-800f-63464d01a85d",
            [
                "Implement spotter-gqc",
                "check again",
                "new beads for the epic were added. tackle them",
                "did you push?",
            ],
            188,
            7,
        ),
        (
            "ae4a77f8-aedd-4bc1-888f-c94edc91af04",
            [
                (
                    "Work on bead spotter-4te. Run bd show spotter-4te to see the issue details "
                    "and bd ready to find available subtasks. Start with the first ready task."
                ),
                "continue implementation",
            ],
            254,
            12,
        ),
    ],
)
def test_a_long_session_with_queued_messages_and_a_compaction(
    public, session, prompts, calls, failed
):
    found, transcript = calls_of(os.path.join(public, SPOTTER, f"{session}.jsonl"))

    assert [text for _, text in prompts_of(transcript)] == prompts
    assert (len(found), sum(call[3] for call in found)) == (calls, failed)


def test_an_older_rollout_of_codex(public):
    path = os.path.join(
        public,
        "codex/agentcmd",
        "rollout-2025-09-24T19-22-20-01997e76-d124-7592-9cac-2ec05abbca08.jsonl",
    )
    calls, transcript = calls_of(path)
    prompts = prompts_of(transcript)

    assert len(prompts) == 13
    assert prompts[1:6] == [
        (2, "Why do we need stats for the team?"),
        (3, "Is this done?"),
        (4, "continue"),
        (5, "Can you auto accept all changes for the rest of this session?"),
        (6, "ok continue"),
    ]
    assert calls[0] == (1, "shell", 'rg "TeamSheet"', False)


@pytest.mark.parametrize("name", CAPTURED)
def test_a_row_that_is_skipped_unparsed_would_have_said_nothing(name):
    module, walk = (
        (claude_code, claude_rows.Walk(Tally()))
        if name.startswith("claude")
        else (codex, codex_rows.Walk(Tally(), "/"))
    )
    with open(os.path.join(CAPTURES, "transcripts", name), "rb") as stream:
        skipped = [json.loads(line) for line in stream if module.skip(line[:2048])]
    arguments = (None,) if name.startswith("claude") else ()

    assert skipped
    assert [event for row in skipped for event in walk.row(row, *arguments)] == []
