"""Openings: what a session was shown of a lesson, and what it only saw by name."""

from __future__ import annotations

import os

import pytest

from rose import config
from rose.hosts import registry
from rose.reflection import delivery
from rose.reflection import observe as observing
from rose.store import lessons
from tests import factories
from tests.hosts import making
from tests.reflection.scene import DB, DB_LINE, LESSONS, bash, ids, read

PROMPT = making.user("Look into the suite", 0)
GUIDE = "docs/guide"
GUIDE_LINES = [
    "The first line of the guide is here.",
    "The second line of the guide is here.",
    "The third line of the guide is here.",
    "The fourth line of the guide is here.",
]


def observe(scene, *rows: dict[str, object]):
    return scene.observe(scene.session(1, PROMPT, *rows))


def a_guide(scene):
    factories.a_lesson_file(scene.store, f"nodes/{GUIDE}.md", "\n".join(GUIDE_LINES))


@pytest.mark.parametrize("named", ["{base}/nodes/{db}.md", "nodes/{db}.md", "./nodes/{db}.md"])
def test_a_read_of_its_path_opens_a_lesson(scene, named):
    path = named.format(base=scene.base, db=DB)
    facts = observe(scene, *read(path, f"     1\t---\n     5\t{DB_LINE}\n"))
    assert ids(facts.opened) == [DB]
    assert facts.opened[0].how == "read"
    assert facts.opened[0].version is not None
    assert facts.opened[0].turn == 1


def test_a_read_of_an_older_text_has_no_version(scene):
    facts = observe(scene, *read(f"{scene.base}/nodes/{DB}.md", "1\tAnother text.\n"))
    assert ids(facts.opened) == [DB]
    assert facts.opened[0].version is None


def test_a_read_that_failed_opens_nothing(scene):
    failed = [
        making.call("Read", {"file_path": f"{scene.base}/nodes/{DB}.md"}, "t1", 1),
        making.result("File does not exist.", "t1", 1, is_error=True),
    ]
    facts = observe(scene, *failed)
    assert facts.opened == ()
    assert [lesson.id for lesson in facts.listed] == [DB]


def test_a_read_that_was_never_answered_opens_nothing(scene):
    facts = observe(scene, making.call("Read", {"file_path": f"nodes/{DB}.md"}, "t1", 1))
    assert facts.opened == ()


@pytest.mark.parametrize(
    "command",
    [
        f"cat nodes/{DB}.md",
        f"cat nodes/{DB}.md; exit 3",
        "cd nodes/testing && sed -n '1,9p' integration-db.md",
        "cat nodes/testing/*.md",
        f"head -20 < nodes/{DB}.md",
        f"python -c \"print(open('nodes/{DB}.md').read())\"",
        f"grep -n Export nodes/{DB}.md",
    ],
)
def test_a_command_that_names_it_and_shows_a_line_opens_a_lesson(scene, command):
    facts = observe(scene, *bash(command, f"---\ntitle: x\n---\n{DB_LINE}\n"))
    assert ids(facts.opened) == [DB]


def test_a_command_of_a_subfolder_names_it_by_its_own_way(scene):
    rows = [{**row, "cwd": f"{scene.base}/src"} for row in bash(f"cat ../nodes/{DB}.md", DB_LINE)]
    path = making.write(scene.tmp_path / "s.jsonl", [{**PROMPT, "cwd": f"{scene.base}/src"}, *rows])
    assert ids(scene.observe(path).opened) == [DB]


def test_exit_codes_do_not_matter(scene):
    rows = [
        making.call("Bash", {"command": f"cat nodes/{DB}.md; false"}, "t1", 1),
        making.result(f"Exit code 1\n{DB_LINE}", "t1", 1, is_error=True),
    ]
    assert ids(observe(scene, *rows).opened) == [DB]


@pytest.mark.parametrize(
    ("name", "tool_input", "output"),
    [
        ("Grep", {"pattern": "db", "path": "nodes"}, f"Found 1 file\nnodes/{DB}.md"),
        ("Glob", {"pattern": "nodes/**/*.md"}, f"nodes/{DB}.md"),
        ("Bash", {"command": "ls nodes/testing"}, "integration-db.md\n"),
        ("Bash", {"command": "ls -la nodes/testing/"}, "-rw-r--r-- 1 a a 9 integration-db.md\n"),
        ("Bash", {"command": f"wc -l nodes/{DB}.md"}, f"5 nodes/{DB}.md\n"),
    ],
)
def test_a_name_alone_is_listed_and_not_opened(scene, name, tool_input, output):
    rows = [making.call(name, tool_input, "t1", 1), making.result(output, "t1", 1)]
    facts = observe(scene, *rows)
    assert facts.opened == ()
    assert [lesson.id for lesson in facts.listed] == [DB]


def test_what_was_opened_is_not_listed_as_well(scene):
    facts = observe(
        scene,
        *bash("ls nodes/testing", "integration-db.md\nfixtures.md\n"),
        *read(f"nodes/{DB}.md", DB_LINE, 1, 2),
    )
    assert ids(facts.opened) == [DB]
    assert [lesson.id for lesson in facts.listed] == ["testing/fixtures"]


def test_three_lines_that_no_other_lesson_has_open_a_lesson(scene):
    a_guide(scene)
    facts = observe(scene, *bash("rose show guide", "\n".join(GUIDE_LINES[:3])))
    assert [(one.lesson.id, one.how) for one in facts.opened] == [(GUIDE, "excerpt")]


@pytest.mark.parametrize("prefix", ["{n}\t", "     {n}→", "{n}:", "nodes/docs/guide.md:{n}:", "+"])
def test_what_tools_put_before_a_line_does_not_hide_it(scene, prefix):
    a_guide(scene)
    lines = [prefix.format(n=n) + line for n, line in enumerate(GUIDE_LINES[:3], 1)]
    assert ids(observe(scene, *bash("rg -n guide", "\n".join(lines))).opened) == [GUIDE]


def test_two_lines_do_not_open_a_lesson_that_nobody_named(scene):
    a_guide(scene)
    assert observe(scene, *bash("rg guide", "\n".join(GUIDE_LINES[:2]))).opened == ()


def test_lines_that_two_lessons_share_do_not_open_either(scene):
    a_guide(scene)
    factories.a_lesson_file(scene.store, "nodes/docs/copy.md", "\n".join(GUIDE_LINES))
    assert observe(scene, *bash("rg guide", "\n".join(GUIDE_LINES))).opened == ()


def test_what_the_model_wrote_itself_is_not_opened(scene):
    rows = [
        making.call("Edit", {"file_path": f"nodes/{DB}.md", "new_string": "x"}, "t1", 1),
        making.result(f"The file was updated:\n5\t{DB_LINE}", "t1", 1),
    ]
    assert observe(scene, *rows).opened == ()


def test_each_lesson_is_opened_once(scene):
    path = f"nodes/{DB}.md"
    facts = observe(scene, *read(path, DB_LINE, 1, 1), *read(path, DB_LINE, 1, 2))
    assert ids(facts.opened) == [DB]


def test_one_call_may_open_several_lessons(scene):
    bodies = "\n".join(line for _, line in LESSONS.values())
    facts = observe(scene, *bash("cat nodes/*/*.md", bodies))
    assert sorted(ids(facts.opened)) == sorted(LESSONS)


def test_a_worktree_reads_the_same_lessons(scene):
    rows = [{**row, "cwd": "/elsewhere/wt"} for row in [PROMPT, *read(f"nodes/{DB}.md", DB_LINE)]]
    path = making.write(scene.tmp_path / "s.jsonl", rows)
    assert ids(scene.observe(path).opened) == [DB]


def test_a_lesson_of_short_lines_is_known_by_whole_lines(scene):
    factories.a_lesson_file(scene.store, "nodes/short.md", "a\nb = 1\n")
    assert ids(observe(scene, *bash("cat nodes/short.md", "a\nb = 1\n")).opened) == ["short"]
    assert observe(scene, *bash("stat nodes/short.md", "a file, and more\n")).opened == ()


def test_a_lesson_that_vanished_meanwhile_is_no_error(scene):
    settings = config.read(scene.store)[0]
    shelf = lessons.scan(scene.store, settings, cache=False)
    os.unlink(f"{scene.base}/nodes/{DB}.md")
    path = scene.session(1, PROMPT, *read(f"nodes/{DB}.md", DB_LINE))
    holding = lessons.Holding(scene.store, settings, shelf)
    facts = observing.observe(registry.open_transcript(path), [holding], [], delivery.Sent())
    assert ids(facts.opened) == [DB]
    assert facts.opened[0].version is None
