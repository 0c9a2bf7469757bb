"""`rose trace` and `rose replay` as a person calls them."""

from __future__ import annotations

import json

import pytest

from tests.clirun import run


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    lesson = folder / "nodes" / "testing" / "db.md"
    lesson.parent.mkdir(parents=True, exist_ok=True)
    lesson.write_text("# Start the database\n\nThe tests need port 5432.\n", encoding="utf-8")
    (folder / "nodes" / "other.md").write_text("# Other\n\nA database, too.\n", encoding="utf-8")
    return folder


@pytest.fixture
def recalled(project):
    """Return the id of a recall's record."""
    result = run("recall", "the database", "--session", "session-one", "--json", cwd=project)
    return result.json["id"]


def path_of(project):
    return project / ".rose" / "local" / "traces" / "selection.jsonl"


def test_the_latest_calls_are_listed_newest_first_in_eighty_columns(project, recalled):
    run("search", "database " * 30, "--log", "s2", cwd=project)
    result = run("trace", cwd=project)
    newest, oldest = result.out.splitlines()
    assert "  search    s2        2 found   database database" in newest
    assert newest.endswith("…")
    assert oldest.startswith(f"{recalled}  ")
    assert oldest.endswith("  recall    session-  2 of 2    the database")
    assert max(map(len, result.out.splitlines())) <= 80
    listed = run("trace", "--json", cwd=project).json
    assert [row["kind"] for row in listed] == ["search", "recall"]


def test_no_record_yet_is_a_sentence(project):
    result = run("trace", cwd=project)
    assert (result.code, result.out) == (0, "")
    assert "`rose recall`" in result.err
    assert run("trace", "--json", cwd=project).json == []


def test_one_is_shown_with_what_became_of_each_lesson(project, recalled):
    result = run("trace", recalled[:8], cwd=project)
    assert "query      the database" in result.out
    assert "stages     found 2, selected 2, admitted 2, excluded 0, opened 2" in result.out
    assert "lessons    testing/db (" in result.out
    assert "): served, whole" in result.out
    assert "  > The tests need port 5432." in result.out
    # A path is never broken, however long it is.
    wrapped = [line for line in result.out.splitlines() if str(project) not in line]
    assert max(map(len, wrapped)) <= 80
    assert run("trace", recalled, "--json", cwd=project).json["session"] == "session-one"


def test_what_was_excluded_or_failed_is_shown(project):
    run("config", "recall.max_tokens", "40", cwd=project)
    run("recall", "database", "--scope", "nodes/*.md", cwd=project)
    [row] = run("trace", "--json", cwd=project).json
    out = run("trace", row["id"], cwd=project).out
    assert "scope      nodes/*.md" in out
    assert "failure    admission-refused" in out
    assert "over-budget: needs " in out


def test_the_kinds_of_nothing_are_told_apart_in_the_list_and_one_by_one(project):
    rejected = ["reject", "testing/db", "--query", "database", "--why", "x", "--scope-reason"]
    run(*rejected, "--session", "s1", cwd=project)
    kinds = {
        "none": ["zebra"],
        "left out": ["database", "--no-retrieval"],
        "no words": ["the of"],
        "0 of 1": ["database", "--session", "s1"],
    }
    run("archive", "other", cwd=project)
    for words in kinds.values():
        run("recall", *words, cwd=project)
    rows = run("trace", "--json", cwd=project).json[::-1]
    listed = run("trace", cwd=project).out.splitlines()[::-1]
    assert [kind in line for kind, line in zip(kinds, listed, strict=True)] == [True] * 4
    said = [" ".join(run("trace", row["id"], cwd=project).out.split()) for row in rows]
    sentences = (
        "stages of 1 lesson none is about that",
        "stages retrieval was left out",
        "stages the prompt holds no word that could be looked for",
        "stages all that was selected fell: found 1, selected 1, admitted 0, excluded 1",
    )
    assert [sentence in one for sentence, one in zip(sentences, said, strict=True)] == [True] * 4


def rewrite(project, **changes):
    row = json.loads(path_of(project).read_text().splitlines()[-1])
    path_of(project).write_text(json.dumps({**row, **changes}) + "\n")
    return row["id"]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"failure": "judge-failed"}, "degraded"),
        ({"failure": "selection-failed"}, "degraded"),
        ({"failure": "judge-failed", "selected": [], "admitted": []}, "failed"),
        ({"failure": "search-failed", "selected": [], "admitted": []}, "failed"),
    ],
)
def test_a_call_that_served_all_the_same_is_degraded_and_no_failure(
    project, recalled, changes, word
):
    rewrite(project, **changes)
    assert f"  recall    session-  {word:<8}  the database" in run("trace", cwd=project).out


def test_limits_are_words_and_a_judge_is_shown_with_its_scores(project, recalled):
    budget = json.loads(path_of(project).read_text())["budget"]
    judged = {"rerank": 0.9, "filter": 0.25, "text": 1.5}
    selected = [{"node": "testing/db", "why": judged}, {"node": "named", "why": {"filter": 1}}]
    out = []
    for modes in (["filter", "rerank"], ["rerank"]):
        name = rewrite(
            project,
            budget={**budget, "judged": modes, "threshold": 0.5},
            selected=selected,
            excluded=[{"node": "named", "reason": "missing", "detail": "it is gone"}],
        )
        out.append(run("trace", name, cwd=project).out)
    assert "limits     3 lessons, 400 tokens, 9500 bytes, windows of 320 characters\n" in out[0]
    assert "judged     rerank, filter; kept from 0.5\n" in out[0]
    assert "judged     rerank\n" in out[1]
    assert ", rerank 0.9, filter 0.25): served, whole" in out[0]
    assert "named (filter 1): missing: it is gone" in out[0]
    assert "encoded" not in out[0]
    assert max(len(line) for line in out[0].splitlines() if str(project) not in line) <= 80


def test_without_a_count_none_is_spoken_of(project):
    run("recall", "zebra", cwd=project)
    [row] = run("trace", "--json", cwd=project).json
    assert "tokens     0\n" in run("trace", row["id"], cwd=project).out


def test_the_calls_of_one_session_are_listed_by_a_beginning_of_its_id(project, recalled):
    run("search", "database", "--log", "other-one", cwd=project)
    [line] = run("trace", "--session", "sess", cwd=project).out.splitlines()
    assert line.startswith(recalled)
    assert [
        row["kind"] for row in run("trace", "--session", "other", "--json", cwd=project).json
    ] == ["search"]
    unknown = run("trace", "--session", "zz", cwd=project)
    assert (unknown.code, "No session 'zz'" in unknown.err) == (1, True)
    assert run("trace", recalled, "--session", "sess", cwd=project).code == 2


def test_what_failed_afterwards_is_said_beside_what_it_came_to(project, recalled):
    told = {"schema": "rose.trace.v1", "id": recalled, "at": "x", "failure": "consumer-failed"}
    with path_of(project).open("a") as stream:
        stream.write(json.dumps(told) + "\n")
    out = run("trace", recalled, cwd=project).out
    assert "afterwards consumer-failed: the session could not be read afterwards" in out
    assert "stages     found 2, selected 2, admitted 2" in out
    assert run("trace", cwd=project).out.endswith("  recall    session-  2 of 2    the database\n")
    assert run("replay", recalled, cwd=project).out == "identical\n"


def test_what_became_of_a_record_is_shown_with_it(project, recalled):
    told = {"schema": "rose.trace.v1", "id": recalled, "at": "x", "citations": ["testing/db"]}
    told["output"] = {"opened": ["testing/db", "other"], "used": []}
    with path_of(project).open("a") as stream:
        stream.write(json.dumps(told) + "\n")
    out = run("trace", recalled, cwd=project).out
    assert "opened     testing/db, other" in out
    assert "used       none" in out
    assert "cited      testing/db" in out


def test_a_file_that_somebody_edited_is_no_crash(project, recalled):
    row = json.loads(path_of(project).read_text())
    strange = {name: "\x1b[31m strange" for name in row if name not in ("schema", "id")}
    path_of(project).write_text(json.dumps({**row, **strange}) + "\n")
    assert run("trace", recalled, cwd=project).code == 0
    listed = run("trace", cwd=project)
    assert listed.code == 0
    assert "\x1b" not in listed.out
    assert run("replay", recalled, cwd=project).code == 1


@pytest.mark.parametrize("node", [["a"], {"a": "b"}, 7, None])
def test_a_lesson_whose_name_somebody_edited_is_no_crash(project, recalled, node):
    row = json.loads(path_of(project).read_text())
    for name in ("candidates", "selected", "admitted", "excluded"):
        row[name] = [{"node": node, "reason": "revoked"}]
    path_of(project).write_text(json.dumps(row) + "\n")
    assert run("trace", recalled, cwd=project).code == 0
    assert run("replay", recalled, cwd=project).code == 1
    assert run("replay", recalled, "--view", "current", cwd=project).code == 0


def test_a_replay_is_identical_until_a_lesson_changes(project, recalled):
    same = run("replay", recalled, cwd=project)
    assert (same.code, same.out, same.err) == (0, "identical\n", "")
    run("archive", "other", cwd=project)
    changed = run("replay", recalled, cwd=project)
    assert changed.code == 1
    assert changed.out.startswith("candidates[0].score: recorded ")
    assert changed.err == "The lessons have changed since the call.\n"


def test_the_current_view_says_what_would_be_excluded(project, recalled):
    nothing = run("replay", recalled, "--view", "current", cwd=project)
    assert nothing.out == "Nothing would be excluded today.\n"
    run("archive", "other", cwd=project)
    result = run("replay", recalled, "--view", "current", cwd=project)
    assert (result.code, result.out) == (0, "other: revoked: archived\n")


def test_the_new_record_is_written_to_a_new_file_alone(project, recalled):
    words = ["replay", recalled, "--output", "again.json"]
    assert run(*words, cwd=project).code == 0
    written = json.loads((project / "again.json").read_text())
    assert written == json.loads(path_of(project).read_text())
    (project / "again.json").write_text("mine")
    refused = run(*words, cwd=project)
    assert (refused.code, refused.out) == (2, "")
    assert "again.json is there already" in refused.err
    assert (project / "again.json").read_text() == "mine"


def test_another_major_schema_is_refused(project, recalled):
    text = path_of(project).read_text().replace("rose.trace.v1", "rose.trace.v2")
    path_of(project).write_text(text)
    for command in ("trace", "replay"):
        result = run(command, recalled, cwd=project)
        assert (result.code, result.out) == (1, "")
        assert "'rose.trace.v2'; this rose reads rose.trace.v1" in result.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["replay"], 2),
        (["replay", "t_", "--view", "past"], 2),
        (["replay", "nothing"], 1),
        (["trace", "nothing"], 1),
    ],
)
def test_a_bad_word_or_an_unknown_id_is_refused(project, words, code):
    assert run(*words, cwd=project).code == code


def test_no_store_names_the_command_that_makes_one(tmp_path):
    for words in (["trace"], ["trace", "t_1"], ["replay", "t_1"]):
        result = run(*words, cwd=tmp_path)
        assert result.code == 1
        assert "rose init" in result.err
