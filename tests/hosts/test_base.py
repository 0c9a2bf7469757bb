"""rose's own block is cut out of any text, and quotes are looked for in the rest."""

from __future__ import annotations

import pytest

from rose.hosts import registry
from rose.hosts.base import regions, strip_block
from tests.hosts.making import attachment, call, capture, result, said, user, write

BLOCK = (
    "rose routing layer v1: where knowledge lies.\n"
    "Store: /repo\n"
    "- When the task is a docs change: read nodes/docs/"
)
RECALLED = "rose recall v1: lessons.\nStore: /repo\n- nodes/a.md, whole:\n> # A\n>   text"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("plain", "plain"),
        (BLOCK, ""),
        (f"a\n{BLOCK}\nb", "a\nb"),
        (f"a\n{BLOCK}\n\nb\n- c", "a\n\nb\n- c"),
        (f"{BLOCK}\n{BLOCK}\nb", "b"),
        (f'{{"context": "{BLOCK}"}}'.replace("\n", "\\n"), ""),
        ("rose routing layer v1", ""),
        (f"a\n{RECALLED}\nb", "a\nb"),
        (f"a\n{BLOCK}\n\n{RECALLED}\n\nb\n> c", "a\n\n\nb\n> c"),
        (f"{BLOCK}\n{RECALLED}\nb", "b"),
    ],
)
def test_a_block_is_cut_out_of_a_text(text, rest):
    assert strip_block(text) == rest


def test_regions_are_messages_and_results_without_roses_own_text(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        [
            user("fix it"),
            attachment("hook_additional_context", 1, content=[BLOCK], hookEvent="UserPromptSubmit"),
            said("looking", 2),
            call("Bash", {"command": "rose route"}, second=3),
            result(f"rules:\n{BLOCK}", second=4),
            call("Bash", {"command": "cat .rose/x"}, "t2", second=5),
            result(BLOCK, "t2", second=6),
            user('<rose-reflection v="1"> what was used?', 7),
            call("Bash", {"command": "cat asked.md"}, "t3", second=8),
            result('<rose-reflection v="1">\nwhat?\n</rose-reflection>\nend', "t3", second=9),
        ],
    )

    assert list(regions(registry.open_transcript(path, None))) == [
        (1, "prompt", "fix it"),
        (2, "said", "looking"),
        (3, "result", "rules:"),
        (4, "result", "\n\nend"),
    ]


def test_the_regions_of_a_capture_hold_the_lesson_that_was_read():
    found = list(regions(registry.open_transcript(capture("claude/work-routed.jsonl"), None)))

    assert [kind for _, kind, _ in found] == ["prompt", "said", "result", "result", "said"]
    assert "Export `APP_DB_URL=sqlite:///tmp/app.db`" in found[2][2]
    assert not [text for _, _, text in found if "When the task" in text]


def test_a_result_from_outside_the_repository_is_a_foreign_region(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        [
            user("look it up"),
            call("WebFetch", {"url": "https://a.example"}, "t1", second=1),
            result("fetched", "t1", second=2),
            call("mcp__tracker__read", {}, "t2", second=3),
            result("an issue", "t2", second=4),
            call("Bash", {"command": "ls"}, "t3", second=5),
            result("a.py", "t3", second=6),
        ],
    )
    found = list(regions(registry.open_transcript(path, None)))
    assert [(region.text, region.is_foreign) for region in found] == [
        ("look it up", False),
        ("fetched", True),
        ("an issue", True),
        ("a.py", False),
    ]
