from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose import files, frontmatter
from rose.config import Settings
from rose.errors import RoseError, Unwritable
from rose.findings import Refused
from rose.routing import targets
from rose.store import lessons, write

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETTINGS = Settings()
KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"


def read(store, path):
    return files.read_bytes(os.path.join(store.base, path)).decode("utf-8")


def everything(store):
    return sorted(
        os.path.relpath(os.path.join(folder, name), store.base)
        for folder, _, names in os.walk(store.base)
        for name in names
        if not folder.startswith(store.local)
    )


def refusal(store, *args: str, **options: object):
    with pytest.raises(Refused) as refused:
        write.add(store, SETTINGS, *args, **options)
    assert everything(store) == []
    return [finding.rule for finding in refused.value.findings]


def test_a_new_lesson_is_written_and_read_back(store):
    lesson = write.add(
        store,
        SETTINGS,
        "Integration tests: the database",
        "Run `make db` first.\n",
        tags=["testing", "postgres"],
        gist="Start it first.",
        folder="testing",
        created="2026-11-30T09:12:44Z",
    )
    assert lesson.path == "nodes/testing/integration-tests-the-database.md"
    assert lesson.id == "testing/integration-tests-the-database"
    assert (lesson.title, lesson.gist) == ("Integration tests: the database", "Start it first.")
    assert lesson.tags == ("testing", "postgres")
    assert (lesson.status, lesson.origin) == ("active", "manual")
    assert read(store, lesson.path) == (
        "---\n"
        'title: "Integration tests: the database"\n'
        "gist: Start it first.\n"
        "tags: [testing, postgres]\n"
        "created: 2026-11-30T09:12:44Z\n"
        "origin: manual\n"
        "---\n"
        "Run `make db` first.\n"
    )


@pytest.mark.parametrize("body", ["", " \n\t", "---\nowner: me\n---\n \n"])
def test_a_lesson_without_a_text_is_refused_with_the_ways_to_give_one(store, body):
    with pytest.raises(Refused, match="--body TEXT, with --file F, or on standard input"):
        write.add(store, SETTINGS, "Never run the seed twice", body)
    assert everything(store) == []


def test_a_header_of_the_body_is_kept_and_its_line_ends_too(store):
    body = "\ufeff---\r\n# why\r\nowner: me\r\ntitle: Old\r\n---\r\nText\r\n"
    lesson = write.add(store, SETTINGS, "New", body)
    text = read(store, lesson.path)
    assert text.startswith("\ufeff---\r\n# why\r\nowner: me\r\ntitle: New\r\n")
    assert text.endswith("---\r\nText\r\n")


def test_a_body_whose_header_cannot_be_read_is_refused(store):
    assert refusal(store, "T", "---\na: 1\na: 2\n---\nText\n") == ["frontmatter"]


def test_a_file_is_never_overwritten(store, put):
    put("nodes/one.md", "first")
    paths = [write.add(store, SETTINGS, "One", "x").path for _ in range(3)]
    assert paths == ["nodes/one-2.md", "nodes/one-3.md", "nodes/one-4.md"]
    assert read(store, "nodes/one.md") == "first"


def test_a_dangling_link_is_not_written_through(store, put, tmp_path):
    put("nodes/other.md")
    os.symlink(tmp_path / "outside.md", os.path.join(store.base, "nodes/one.md"))
    assert write.add(store, SETTINGS, "One", "x").path == "nodes/one-2.md"
    assert not (tmp_path / "outside.md").exists()


@pytest.mark.parametrize(
    ("title", "body", "rule"),
    [
        ("", "x", "title-missing"),
        (" \n\t", "x", "title-missing"),
        ("t" * 201, "x", "title-long"),
        ("T", "x" * 1_000_001, "lesson-too-long"),
        ("T", f"key = {KEY}", "secret"),
        (f"The key is {KEY}", "x", "secret"),
        ("T", "a\0b", "not-utf-8"),
        ("T", "a\udcffb", "not-utf-8"),
    ],
)
def test_what_should_not_be_stored_is_refused(store, title, body, rule):
    assert rule in refusal(store, title, body)


@pytest.mark.parametrize("options", [{"tags": [KEY]}, {"gist": KEY}])
def test_a_secret_is_refused_wherever_it_stands(store, options):
    assert refusal(store, "T", "x", **options) == ["secret"]


def test_all_faults_are_reported_together(store):
    assert refusal(store, "", f"{KEY}\0", folder="../x") == [
        "title-missing",
        "secret",
        "not-utf-8",
        "folder",
    ]


@pytest.mark.parametrize(
    "folder", ["..", "../x", "a/../../x", "/etc", ".git", "a//b", "a/.b", "node_modules", "a\nb"]
)
def test_a_folder_that_leads_out_or_is_not_read_is_refused(store, folder):
    assert refusal(store, "T", "x", folder=folder) == ["folder"]


def test_a_linked_folder_that_leads_out_is_refused(store, put, tmp_path):
    put("nodes/a/keep", "")
    os.symlink(tmp_path, os.path.join(store.base, "nodes/out"))
    with pytest.raises(Refused, match="no folder below"):
        write.add(store, SETTINGS, "T", "x", folder="out")
    assert not list(tmp_path.glob("*.md"))


@pytest.mark.parametrize("folder", ["testing", "testing/", "nodes/testing", " testing "])
def test_a_folder_is_named_with_or_without_the_root(store, folder):
    assert write.add(store, SETTINGS, "T", "x", folder=folder).path == "nodes/testing/t.md"


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("a b/C", "nodes/a-b/c/t.md"),
        ("My_Docs/new one", "nodes/My_Docs/new-one/t.md"),
        ("日本 語", "nodes/日本-語/t.md"),
        ("is there", "nodes/is-there/t.md"),
    ],
)
def test_a_new_folder_is_named_so_that_a_rule_can_name_it(store, put, folder, path):
    put("nodes/My_Docs/x.md")
    put("nodes/is there/x.md")
    lesson = write.add(store, SETTINGS, "T", "x", folder=folder)
    assert lesson.path == path
    assert targets.targets_of(f"read {path}", ("nodes",)) == (path,)


def test_a_slug_does_not_lead_through_a_link_out_of_the_project(store, put, tmp_path):
    put("nodes/a/keep", "")
    os.symlink(tmp_path, os.path.join(store.base, "nodes/way-out"))
    with pytest.raises(Refused, match="no folder below"):
        write.add(store, SETTINGS, "T", "x", folder="Way out")


def test_the_root_itself_may_be_named(store):
    assert write.add(store, SETTINGS, "T", "x", folder="nodes").path == "nodes/t.md"


def test_new_lessons_go_to_the_first_folder_of_the_setting(store):
    settings = Settings(lessons_paths=(".claude/skills", "nodes"))
    assert write.add(store, settings, "T", "x").path == ".claude/skills/t.md"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Run the tests", "run-the-tests"),
        ("  a/b\\c: d.e  ", "a-b-c-d-e"),
        ("../../etc/passwd", "etc-passwd"),
        ("Привет мир", "привет-мир"),
        ("数据库 先启动", "数据库-先启动"),
        ("हिन्दी", "हिन्दी"),
        ("e\u0301te\u0301", "été"),
        ("🎉🎉", "lesson"),
        ("-rf", "rf"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_file_is_named_by_the_words_of_its_title(title, name):
    assert write.slug(title) == name


@given(st.text(max_size=300))
def test_a_file_name_is_always_short_and_plain(title):
    name = write.slug(title)
    assert 0 < len(name.encode("utf-8")) <= 180
    assert not set(name) & set("/\\. \n\0")
    assert name[0] != "-"


def test_a_full_or_read_only_disk_is_said(store, put):
    put("nodes", "a file in place of the folder")
    with pytest.raises(Unwritable, match="nodes"):
        write.add(store, SETTINGS, "T", "x")


@pytest.fixture
def shelf(store, put):
    put("nodes/old.md", "\ufeff---\r\ntitle: Old # mine\r\nextra: [1]\r\n---\r\nText\r\n")
    put("nodes/new.md", "# New\n")
    put("nodes/broken.md", "---\na: 1\na: 2\n---\n")
    return {lesson.id: lesson for lesson in lessons.scan(store, SETTINGS).lessons}


def test_archiving_changes_the_status_alone(store, shelf):
    before = read(store, "nodes/old.md")
    assert write.archive(store, shelf["old"])
    expected = before.replace("extra: [1]\r\n", "extra: [1]\r\nstatus: archived\r\n")
    assert read(store, "nodes/old.md") == expected
    assert not write.archive(store, shelf["old"])


def test_a_superseded_lesson_names_the_one_that_took_its_place(store, shelf):
    write.archive(store, shelf["new"])
    write.archive(store, shelf["new"], shelf["old"])
    fields, body, _ = frontmatter.read(read(store, "nodes/new.md"), "")
    assert (fields["status"], fields["superseded_by"]) == ("superseded", "old")
    assert body == "# New\n"


def test_a_lesson_whose_header_cannot_be_read_is_not_archived(store, shelf):
    with pytest.raises(Refused, match=r"nodes/broken\.md:3"):
        write.archive(store, shelf["broken"])
    assert read(store, "nodes/broken.md") == "---\na: 1\na: 2\n---\n"


def test_a_lesson_that_is_no_utf8_is_not_archived(store, put):
    path = put("nodes/latin.md", b"# \xe9\n")
    with pytest.raises(Refused, match="not UTF-8"):
        write.archive(store, lessons.scan(store, SETTINGS).lessons[0])
    assert files.read_bytes(path) == b"# \xe9\n"


def test_a_lesson_is_not_superseded_by_itself(store, shelf):
    with pytest.raises(RoseError, match="itself"):
        write.archive(store, shelf["old"], shelf["old"])


ADD = """
import sys
from rose import layout
from rose.config import Settings
from rose.store import write
for number in range(5):
    write.add(layout.project_store(sys.argv[1]), Settings(), "Same title", sys.argv[2])
"""


def test_lessons_of_several_processes_are_all_there(store):
    words = [sys.executable, "-c", ADD, store.base]
    children = [subprocess.Popen([*words, f"by {number}"], cwd=ROOT) for number in range(4)]
    codes = [child.wait(60) for child in children]
    assert codes == [0] * 4
    bodies = [lessons.body(store, x) for x in lessons.scan(store, SETTINGS).lessons]
    assert [sum(f"by {n}" in body for body in bodies) for n in range(4)] == [5] * 4
