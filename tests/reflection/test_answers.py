"""What rose's own tools showed counts like any other result, in both hosts' transcripts."""

from __future__ import annotations

import json

import pytest

from rose.hosts import registry
from rose.mcp import desk, tools
from rose.reflection import answers
from tests import factories
from tests.clirun import run
from tests.hosts import making
from tests.reflection.scene import DB, DB_LINE, NOON, bash, ids

PROMPT = making.user("Look into the suite", 0)
CLAUDE, CODEX = "claude-code", "codex"


def answer(scene, tool, given, session=""):
    """Return the fields that a real call gives."""
    where = desk.Desk(lambda: scene.stores, lambda: NOON, session)
    return tools.call(where, tool, given).fields


def written(host, fields):
    """Return an answer as a host writes it into its transcript."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text if host == CLAUDE else f"Wall time: 0.0066 seconds\nOutput:\n{text}"


def observe(scene, host, asked, result, then=""):
    """Observe a session in which a tool of rose's was called, and a command after it."""
    tool, given = asked
    if host == CLAUDE:
        rows = [
            PROMPT,
            making.call(f"mcp__rose__{tool}", given, "t1", 1),
            making.result(result, "t1", 2),
            *(bash(then, "", 2, 3) if then else []),
        ]
        return scene.observe(scene.session(1, *rows))
    called = making.codex_call(tool, given, "c1", 1)
    called["payload"]["namespace"] = "mcp__rose"
    rows = [
        making.codex_meta(cwd=scene.base),
        making.codex_message("user", "Look into the suite", 0),
        called,
        making.codex_output(result, "c1", 2),
    ]
    if then:
        rows += [making.codex_call("exec_command", {"cmd": then}, "c2", 3)]
        rows += [making.codex_output("", "c2", 4)]
    return scene.observe(making.write(scene.tmp_path / "rollout.jsonl", rows))


def seen(scene, host, tool, given, then=""):
    return observe(scene, host, (tool, given), written(host, answer(scene, tool, given)), then)


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
@pytest.mark.parametrize("ref", [DB, "integration-db", f"nodes/{DB}.md"])
def test_a_lesson_that_was_opened_whole_was_read(scene, host, ref):
    facts = seen(scene, host, "open", {"node": ref})
    assert ids(facts.opened) == [DB]
    assert facts.opened[0].how == "read"
    assert facts.opened[0].version is not None
    assert facts.listed == ()


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
def test_what_it_says_is_used_by_a_later_command(scene, host):
    command = "APP_DB_URL=sqlite:///tmp/app.db pytest tests/integration"
    facts = seen(scene, host, "open", {"node": DB}, command)
    assert ids(facts.used) == [DB]


def test_what_a_search_showed_of_it_does_not_speak_against_its_use(scene):
    calls = [("search", {"query": "integration database"}), ("open", {"node": DB})]
    rows = [PROMPT]
    for number, (tool, given) in enumerate(calls, 1):
        result = written(CLAUDE, answer(scene, tool, given))
        rows.append(making.call(f"mcp__rose__{tool}", given, f"t{number}", number))
        rows.append(making.result(result, f"t{number}", number))
    assert "APP_DB_URL" in rows[2]["message"]["content"][0]["content"]
    command = "APP_DB_URL=sqlite:///tmp/app.db pytest tests/integration"
    facts = scene.observe(scene.session(1, *rows, *bash(command, "", 9, 9)))
    assert ids(facts.used) == [DB]
    without = scene.observe(scene.session(2, *rows[:3], *bash(command, "", 9, 9)))
    assert (without.opened, without.used) == ((), ())


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
def test_passages_and_lines_are_excerpts(scene, host):
    lines = [f"Line {number} of a lesson that is longer." for number in range(9)]
    factories.a_lesson_file(scene.store, "nodes/long.md", "\n".join(lines))
    asked = {"node": "long", "query": "line 3", "windows": 1, "chars": 60}
    for given in (asked, {"node": "long", "first": 2, "last": 3}):
        facts = seen(scene, host, "open", given)
        assert [(one.lesson.id, one.how) for one in facts.opened] == [("long", "excerpt")]


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
def test_lines_without_a_word_of_the_body_open_nothing(scene, host):
    facts = seen(scene, host, "open", {"node": DB, "first": 1, "last": 2})
    assert (facts.opened, ids_of(facts.listed)) == ((), [DB])


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
@pytest.mark.parametrize("tool", ["search", "explain"])
def test_what_a_search_or_a_reason_names_is_listed(scene, host, tool):
    given = {"query": "integration tests", "k": 1} if tool == "search" else {"node": DB}
    facts = seen(scene, host, tool, given)
    assert (facts.opened, ids_of(facts.listed)) == ((), [DB])


def test_a_search_counts_as_the_same_search_in_a_shell_does(scene):
    lines = [f"Line {number} of a lesson about zebras." for number in range(9)]
    factories.a_lesson_file(scene.store, "nodes/long.md", "\n".join(lines))
    by_tool = seen(scene, CLAUDE, "search", {"query": "zebras", "k": 1})
    row = answer(scene, "search", {"query": "zebras", "k": 1})["rows"][0]
    printed = f"1. {row['node']} - {row['title']}\n{row['path']}\n{row['window']['text']}\n"
    by_shell = scene.observe(scene.session(2, PROMPT, *bash("rose search zebras", printed)))
    assert (by_tool.opened, by_tool.listed) == (by_shell.opened, by_shell.listed)
    assert ids_of(by_tool.listed) == ["long"]


def test_passages_count_as_the_same_passages_in_a_shell_do(scene):
    lines = [
        f"{place} zebras are counted at noon." for place in ("Northern", "Southern", "Eastern")
    ]
    text = "\n".join(["# Long", *lines, "A last one."]).replace("\n", f"\n{'x' * 60}\n")
    factories.a_lesson_file(scene.store, "nodes/long.md", text)
    words = ["evidence", "long", "zebras", "--chars", "40", "--windows", "3"]
    printed = run(*words, cwd=scene.base).out
    passages = [f"  line {2 * at + 1}: {line}" for at, line in enumerate(lines, 1)]
    assert printed.splitlines() == ["nodes/long.md", *passages]
    given = {"node": "long", "query": "zebras", "chars": 40, "windows": 3}
    by_tool = seen(scene, CLAUDE, "open", given)
    by_shell = scene.observe(scene.session(2, PROMPT, *bash("rose evidence long zebras", printed)))
    [tool], [shell] = by_tool.opened, by_shell.opened
    assert (tool.lesson.id, tool.how) == (shell.lesson.id, shell.how) == ("long", "excerpt")


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
def test_a_result_that_the_host_cut_still_shows_what_it_shows(scene, host):
    lines = [f'Line {number} says "so" of a lesson.' for number in range(90)]
    factories.a_lesson_file(scene.store, "nodes/long.md", "\n".join(lines))
    whole = written(host, answer(scene, "open", {"node": "long"}))
    cut = f"{whole[:900]}…500 tokens truncated…{whole[-200:]}"
    facts = observe(scene, host, ("open", {"node": "long"}), cut)
    assert [(one.lesson.id, one.how) for one in facts.opened] == [("long", "excerpt")]


@pytest.mark.parametrize("host", [CLAUDE, CODEX])
@pytest.mark.parametrize("result", ["No lesson 'x'. `rose list` lists them.", "{", '{"path": 3}'])
def test_an_error_or_another_programs_answer_opens_nothing(scene, host, result):
    facts = observe(scene, host, ("open", {"node": DB}), result)
    assert facts.opened == ()


def test_a_name_and_a_path_alone_prove_nothing(scene):
    claimed = json.dumps({"path": f"nodes/{DB}.md", "text": "Something else altogether."})
    facts = observe(scene, CLAUDE, ("open", {"node": DB}), claimed)
    assert (facts.opened, ids_of(facts.listed)) == ((), [DB])


def test_a_result_of_no_tool_of_roses_is_left_as_it_stands(scene):
    text = json.dumps({"path": f"nodes/{DB}.md", "text": DB_LINE})
    path = scene.session(1, PROMPT, *bash("open", text))
    events = list(registry.open_transcript(path).events())
    assert list(answers.plain(events)) == events


def ids_of(found):
    return [lesson.id for lesson in found]
