from __future__ import annotations

import json
import os

import pytest

from tests.clirun import run, run_child

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    return folder


def put(project, path, content):
    full = project / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(content if isinstance(content, bytes) else content.encode())
    return full


def index(project):
    return (project / ".rose" / "index.md").read_text(encoding="utf-8")


def test_a_lesson_is_added_listed_shown_and_archived(project):
    added = run("add", "Start the database", "--body", "Run it.\n", "--tag", "db", cwd=project)
    assert added.out == "start-the-database  nodes/start-the-database.md\n"
    assert index(project) == "nodes/start-the-database.md - Start the database: Run it. [db]\n"
    assert run("list", cwd=project).out == "start-the-database - Start the database [db]\n"
    assert run("show", "database", cwd=project).out.endswith("---\nRun it.\n")
    archived = run("archive", "start-the-database", cwd=project)
    assert (archived.code, archived.out) == (0, "start-the-database: archived\n")
    assert index(project) == ""
    assert run("list", cwd=project).out == ""


def test_the_text_comes_from_standard_input(project):
    result = run("add", "T", cwd=project, stdin="Früh.\n".encode())
    assert result.code == 0
    assert "Früh." in (project / "nodes" / "t.md").read_text(encoding="utf-8")


def test_the_text_comes_from_a_file(project):
    put(project, "note.txt", "---\nowner: me\n---\nText\n")
    assert run("add", "T", "--file", "note.txt", cwd=project).code == 0
    assert "owner: me\ntitle: T\n" in (project / "nodes" / "t.md").read_text()


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        (["T", "--file", "missing.txt"], b"", 1),
        (["T", "--file", "."], b"", 1),
        (["T", "--body", "x", "--file", "y"], b"", 2),
        ([], b"", 2),
        (["T"], b"\xff\xfe\x00", 1),
        (["T"], b" \n", 1),
        (["T", "--body", ""], b"", 1),
        (["T"], b"x" * 10_000_000, 1),
        (["T", "--body", KEY], b"", 1),
        (["", "--body", "x"], b"", 1),
        (["T", "--body", "x", "--folder", "../.."], b"", 1),
        (["T", "--body", "x", "--home"], b"", 1),
    ],
)
def test_what_cannot_be_added_is_said_and_nothing_is_written(project, words, stdin, code):
    result = run("add", *words, cwd=project, stdin=stdin)
    assert result.code == code
    assert result.err
    assert KEY not in result.err
    assert os.listdir(project / "nodes") == []


def test_standard_input_that_stays_open_is_not_waited_for(project):
    result = run_child("add", "T", cwd=project, stdin=None)
    assert result.code == 2
    assert "--file -" in result.err
    assert os.listdir(project / "nodes") == []


def test_an_added_lesson_is_json_on_request(project):
    added = run("add", "T", "--body", "x", "--folder", "testing", "--json", cwd=project).json
    assert (added["id"], added["path"]) == ("testing/t", "nodes/testing/t.md")
    assert added["file"] == str(project / "nodes" / "testing" / "t.md")


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbf# A\r\n", b"\xff\xfe\0", b"# no end", b"", b"a\0\x1b"]
)
def test_a_lesson_is_shown_byte_for_byte(project, raw):
    put(project, "nodes/a.md", raw)
    result = run("show", "a", cwd=project)
    assert (result.code, result.out.encode("utf-8", "surrogateescape")) == (0, raw)


def test_a_lesson_is_shown_byte_for_byte_in_a_plain_terminal(project):
    put(project, "nodes/a.md", "# Früh\n")
    result = run_child("show", "a", cwd=project, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert (result.code, result.out) == (0, "# Früh\n")


def test_a_shown_lesson_is_json_on_request(project):
    put(project, "nodes/a.md", b"# A \xff\n")
    assert run("show", "a", "--json", cwd=project).json["text"] == "# A \ufffd\n"


@pytest.mark.parametrize("ref", ["../../etc/passwd", "/etc/passwd", "nope", ""])
def test_what_is_no_lesson_is_not_shown(project, ref):
    put(project, "nodes/a.md", "# A\n")
    result = run("show", ref, cwd=project)
    assert (result.code, result.out) == (1, "")
    assert "No lesson" in result.err


@pytest.mark.parametrize(
    ("folder", "ref"),
    [
        ("src", "../nodes/testing/fixtures.md"),
        ("nodes/testing", "fixtures.md"),
        ("nodes/testing", "./fixtures.md"),
        ("src", "nodes/testing/fixtures.md"),
        ("src", "xtur"),
    ],
)
def test_a_path_is_read_from_the_working_directory_first(project, folder, ref):
    put(project, "nodes/testing/fixtures.md", "# Right\n")
    put(project, "nodes/fixtures.md", "# Wrong\n")
    put(project, "src/app.py", "")
    (project / "nodes" / "fixtures.md").rename(project / "nodes" / "other.md")
    assert run("show", ref, cwd=project / folder).out == "# Right\n"


def test_the_nearer_of_two_files_of_one_name_is_meant(project):
    put(project, "nodes/testing/a.md", "# Near\n")
    put(project, "nodes/a.md", "# Far\n")
    assert run("show", "a.md", cwd=project / "nodes" / "testing").out == "# Near\n"
    assert run("show", str(project / "nodes" / "a.md"), cwd=project).out == "# Far\n"


def test_a_part_of_an_id_does_not_archive(project):
    put(project, "nodes/testing/fixtures.md", "# A\n")
    result = run("archive", "fixt", cwd=project)
    assert (result.code, result.out) == (1, "")
    assert "Did you mean testing/fixtures?" in result.err
    assert run("archive", "fixtures", cwd=project).code == 0


def test_a_lesson_with_a_header_in_braces_is_listed_and_not_rewritten(project):
    text = "---\n{title: X, tags: [a]}\n---\n# A\n"
    put(project, "nodes/a.md", text)
    put(project, "nodes/b.md", "---\n{}\n---\n# B\n")
    assert run("list", cwd=project).code == 0
    result = run("archive", "a", cwd=project)
    assert (result.code, result.out) == (1, "")
    assert "no braces around them" in " ".join(result.err.split())
    assert (project / "nodes" / "a.md").read_text() == text


def test_an_ambiguous_end_names_the_candidates(project):
    put(project, "nodes/x/a.md", "")
    put(project, "nodes/y/a.md", "")
    assert "x/a, y/a" in run("show", "a", cwd=project).err


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ([], ["a", "b"]),
        (["--tag", "x"], ["a"]),
        (["--status", "archived"], ["c"]),
        (["--all"], ["a", "b", "c"]),
        (["--all", "--tag", "x"], ["a", "c"]),
    ],
)
def test_the_list_is_narrowed_by_tag_and_status(project, words, ids):
    put(project, "nodes/a.md", "---\ntags: [x]\n---\n# A\n")
    put(project, "nodes/b.md", "# B\n")
    put(project, "nodes/c.md", "---\ntags: [x]\nstatus: archived\n---\n# C\n")
    lines = run("list", *words, cwd=project).out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ids
    listed = run("list", *words, "--json", cwd=project).json
    assert [lesson["id"] for lesson in listed["lessons"]] == ids


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "2 of 3 lessons; --all shows every one.\n"),
        (["--tag", "x"], "1 of 2 lessons; --all shows every one.\n"),
        (["--tag", "x", "--all"], ""),
        (["--all"], ""),
        (["--tag", "none", "--all"], "No lesson has the tag 'none'.\n"),
    ],
)
def test_what_the_list_leaves_out_is_said_with_an_option_that_shows_it(project, words, said):
    put(project, "nodes/a.md", "---\ntags: [x]\n---\n# A\n")
    put(project, "nodes/b.md", "# B\n")
    put(project, "nodes/c.md", "---\ntags: [x]\nstatus: archived\n---\n# C\n")
    assert run("list", *words, cwd=project).err == said


def test_an_unknown_status_is_a_slip_in_the_words(project):
    assert run("list", "--status", "old", cwd=project).code == 2


def test_a_broken_lesson_is_listed_and_said(project):
    put(project, "nodes/a.md", "---\nx: 1\nx: 2\n---\n# A\n")
    result = run("list", cwd=project)
    assert (result.code, result.out) == (0, "a - A\n")
    assert "rose doctor" in result.err


def test_an_empty_list_says_how_to_add_a_lesson(project):
    result = run("list", cwd=project)
    assert (result.code, result.out) == (0, "")
    assert "rose add" in result.err


def test_a_superseded_lesson_names_the_newer_one(project):
    put(project, "nodes/old.md", "# Old\n")
    put(project, "nodes/new.md", "# New\n")
    result = run("archive", "old", "--superseded-by", "new", cwd=project)
    assert (result.code, result.out) == (0, "old: superseded\n")
    assert "superseded_by: new" in (project / "nodes" / "old.md").read_text()
    again = run("archive", "old", "--superseded-by", "new", "--json", cwd=project)
    assert again.json["changed"] is False


def test_a_broken_lesson_is_not_archived(project):
    put(project, "nodes/a.md", "---\nx: 1\nx: 2\n---\n")
    result = run("archive", "a", cwd=project)
    assert (result.code, "nodes/a.md:3" in result.err) == (1, True)


def test_home_lessons_lie_under_the_projects(project, tmp_path):
    run("init", "--home", cwd=project)
    run("add", "Everywhere", "--body", "x", "--home", cwd=project)
    run("add", "Here", "--body", "y", cwd=project)
    assert run("list", cwd=project).out == "here - Here\neverywhere - Everywhere (home)\n"
    assert index(project) == "nodes/here.md - Here: y\n"
    assert "everywhere" in (tmp_path / "home" / ".rose" / "index.md").read_text()
    assert run("show", "nodes/here.md", "--home", cwd=project).code == 1
    assert run("archive", "everywhere", cwd=project).code == 0
    assert (
        "status: archived" in (tmp_path / "home" / ".rose" / "nodes" / "everywhere.md").read_text()
    )


def test_a_disk_that_takes_no_derived_files_keeps_the_lesson(project):
    (project / ".rose" / "index.md").unlink()
    (project / ".rose" / "index.md").mkdir()
    result = run("add", "T", "--body", "x", cwd=project)
    assert result.code == 0
    assert (project / "nodes" / "t.md").exists()


def test_a_disk_that_takes_no_lock_is_said(project):
    for name in os.listdir(project / ".rose" / "local"):
        (project / ".rose" / "local" / name).unlink()
    (project / ".rose" / "local").rmdir()
    (project / ".rose" / "local").write_text("")
    result = run("add", "T", "--body", "x", cwd=project)
    assert (result.code, "not locked" in result.err) == (1, True)
    assert os.listdir(project / "nodes") == []
    assert run("list", cwd=project).code == 0


def test_names_that_no_terminal_can_show_are_still_json(project):
    put(project, "nodes/a.md", b'---\ntitle: "\\ud800x"\n---\n')
    listed = run("list", "--json", cwd=project)
    assert listed.code == 0
    assert json.loads(listed.out)["lessons"][0]["id"] == "a"


@pytest.mark.parametrize("command", ["add", "show", "list", "archive", "init", "config", "doctor"])
def test_every_command_has_an_example(project, command):
    result = run(command, "--help", cwd=project)
    assert (result.code, f"Example: rose {command}" in result.out) == (0, True)


@pytest.mark.parametrize("words", [["add", "T"], ["show", "a"], ["list"], ["archive", "a"]])
def test_without_a_store_a_command_says_how_to_make_one(tmp_path, words):
    result = run(*words, cwd=tmp_path)
    assert (result.code, "rose init" in result.err) == (1, True)
