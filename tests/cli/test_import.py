from __future__ import annotations

import json
import os

import pytest

from rose import files
from tests.clirun import run

MDC = "---\ndescription: Types\nglobs: **/*.ts\nalwaysApply: false\n---\n# Types\n\nText.\n"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    return folder


@pytest.fixture
def library(tmp_path):
    for path, text in {
        "tdd/SKILL.md": "---\nname: tdd\ndescription: Tests first.\n---\n# TDD\n",
        "tdd/run.py": "print()\n",
        "types.mdc": MDC,
        "every.mdc": "---\nglobs: **/*\n---\n# Every\n",
    }.items():
        (tmp_path / "skills" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "skills" / path).write_text(text)
    return tmp_path / "skills"


def stamps(folder):
    """Return every file below a folder with its bytes and its time."""
    return {
        path: (files.read_bytes(path), os.stat(path).st_mtime_ns)
        for at, _, names in os.walk(folder)
        for path in (os.path.join(at, name) for name in names)
    }


def flat(text):
    """Return a text as it was before it was wrapped."""
    return " ".join(text.split())


def test_a_library_comes_in_with_its_conditions_and_a_next_step(project, library):
    result = run("import", str(library), cwd=project)
    assert result.code == 0
    assert "came in    3 files below nodes/skills/" in result.out
    assert "left out   1 no Markdown" in result.out
    assert "read nodes/skills/types.mdc first" in flat(result.out)
    assert "no rule    1 file says it is for every file (`**/*`)" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert "Next: `rose route`" in result.err
    assert "skills/types - Types" in run("list", cwd=project).out
    assert "**/*.ts" in run("route", cwd=project).out
    assert "taught" in run("history", cwd=project).out


def test_a_second_run_changes_no_file_and_no_time(project, library):
    run("import", str(library), cwd=project)
    before = stamps(project)
    result = run("import", str(library), cwd=project)
    assert (result.code, "was there  3 files" in result.out) == (0, True)
    assert "Nothing is new" in result.err
    assert stamps(project) == before


@pytest.mark.parametrize("words", [[], ["--in-place"]])
def test_a_dry_run_says_all_and_writes_nothing(project, words):
    (project / "rules").mkdir()
    (project / "rules" / "types.mdc").write_text(MDC)
    before = stamps(project)
    result = run("import", "rules", "--dry-run", *words, cwd=project)
    assert result.code == 0
    assert "comes in   1 file below" in result.out
    assert "`**/*.ts`" in result.out
    assert "Nothing was written." in result.err
    assert stamps(project) == before


def test_a_folder_of_the_project_is_read_in_place(project):
    rules = project / ".cursor" / "rules"
    rules.mkdir(parents=True)
    (rules / "types.mdc").write_text(MDC)
    result = run("import", ".cursor/rules", "--in-place", cwd=project)
    assert (result.code, os.listdir(project / "nodes")) == (0, [])
    assert "came in    1 file below .cursor/rules/, read in place" in result.out
    assert "read .cursor/rules/types.mdc first" in flat(result.out)
    assert "types - Types" in run("list", cwd=project).out
    assert (rules / "types.mdc").read_text() == MDC
    before = stamps(project)
    assert run("import", ".cursor/rules", "--in-place", cwd=project).code == 0
    assert stamps(project) == before


def test_what_stays_out_is_said_and_the_exit_code_is_1(project, library):
    (library / "latin.md").write_bytes(b"caf\xe9\n")
    result = run("import", str(library), cwd=project)
    assert (result.code, "came in    3 files" in result.out) == (1, True)
    assert f"refused: {library}/latin.md:1: not-utf-8:" in result.err


@pytest.mark.parametrize("words", [["gone"], ["..", "--in-place"], []])
def test_a_call_that_is_refused_changes_nothing(project, words):
    before = stamps(project)
    result = run("import", *words, cwd=project)
    assert (result.code, result.out) == (1 if words else 2, "")
    assert stamps(project) == before


def test_without_a_store_nothing_is_written(tmp_path, library):
    (tmp_path / "home" / "bare").mkdir()
    result = run("import", str(library), cwd=tmp_path / "home" / "bare")
    assert (result.code, "rose init" in result.err) == (1, True)
    assert os.listdir(tmp_path / "home" / "bare") == []


def test_the_home_store_takes_what_all_projects_need(project, library, tmp_path):
    run("init", "--home", cwd=project)
    assert run("import", str(library), "--home", cwd=project).code == 0
    home = tmp_path / "home" / ".rose"
    assert (home / "nodes" / "skills" / "types.mdc").read_text() == MDC
    assert os.listdir(project / "nodes") == []
    assert f"read {home}/nodes/skills/types.mdc first" in flat(run("route", cwd=project).out)


def test_the_result_is_json_on_request(project, library):
    result = run("import", str(library), "--json", cwd=project).json
    assert [(file["path"], file["new"]) for file in result["files"]] == [
        ("nodes/skills/every.mdc", True),
        ("nodes/skills/tdd/SKILL.md", True),
        ("nodes/skills/types.mdc", True),
    ]
    assert result["files"][0]["source"] == str(library / "every.mdc")
    assert [rule["line"] for rule in result["rules"]] == [
        "- When the task touches files that match `**/*.ts`: read nodes/skills/types.mdc first"
    ]
    assert (result["left"], result["everywhere"]) == ({"no Markdown": 1}, 1)
    assert (result["folders"], result["findings"]) == ([], [])


@pytest.fixture
def published(shared, tmp_path):
    """Lay the 502 published files out as they lie in their repositories."""
    folder = os.path.join(shared, "data", "skills")
    texts = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                path = f"published/{row['repo'].replace('/', '__')}/{row['path']}"
                texts[path] = row["text"].encode("utf-8")
    assert len(texts) == 502
    for path, raw in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    return tmp_path / "published", texts


def test_all_published_skills_and_rules_come_in_verbatim_and_once(project, published):
    folder, texts = published
    result = run("import", str(folder), "--json", cwd=project)
    assert (result.code, result.json["findings"]) == (0, [])
    assert len({file["path"] for file in result.json["files"] if file["new"]}) == 502
    for file in result.json["files"]:
        raw = texts[os.path.relpath(file["source"], folder.parent)]
        assert (project / file["path"]).read_bytes() == raw
    listed = run("list", "--json", cwd=project).json
    assert len(listed["lessons"]) == 502
    assert all(lesson["title"] for lesson in listed["lessons"])
    assert sum(not lesson["gist"] for lesson in listed["lessons"]) == 5
    rules = result.json["rules"]
    assert (len(rules), result.json["everywhere"]) == (30, 124)
    before = stamps(project)
    assert run("import", str(folder), cwd=project).code == 0
    assert stamps(project) == before
