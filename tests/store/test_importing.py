from __future__ import annotations

import os

import pytest

from rose import files
from rose.config import Settings
from rose.findings import Refused
from rose.store import importing, lessons


@pytest.fixture
def source(tmp_path):
    """Return a function that writes a file below a source folder and gives the folder."""

    def make(path: str, content: str | bytes = "# A\n", folder: str = "lib"):
        full = os.path.join(str(tmp_path), folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode("utf-8")
        with open(full, "wb") as stream:
            stream.write(raw)
        return os.path.join(str(tmp_path), folder)

    return make


@pytest.fixture
def bring(store):
    """Return a function that imports paths and gives the result."""

    def run(*paths: str, dry_run: bool = False, settings: Settings = Settings()):  # noqa: B008 - frozen
        return importing.copy(store, settings, paths, dry_run=dry_run)

    return run


def tree(base):
    """Return every file below a folder with its bytes and its time."""
    return {
        path: (files.read_bytes(path), os.stat(path).st_mtime_ns)
        for folder, _, names in os.walk(base)
        for path in (os.path.join(folder, name) for name in names)
    }


def came(done):
    return [(entry.path, entry.is_new) for entry in done.entries]


def told(done):
    return [(finding.rule, finding.severity) for finding in done.findings]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"no line end",
        b"\xef\xbb\xbf---\r\ntitle: x\r\n---\r\nText\r\n",
        b"---\nglobs: **/*.ts\n---\n\r\r\n\x0c\x85".replace(b"\x85", "\x85".encode()),
        "日本語 👩‍🔬 \u2028\u202e".encode(),
        b'AUTH_TOKENS_TABLE="auth-tokens"\n    secrets: inherit\n',
        b"Co-Authored-By: X <noreply@example.org>\n8f14e45fceea167a5a36dedd4bea2543d1e0a3b1\n",
        b"[redacted:token] was here\n",
    ],
)
def test_a_file_comes_in_byte_for_byte(source, bring, store, raw):
    done = bring(source("skills/x/SKILL.md", raw))
    assert (came(done), done.findings) == ([("nodes/lib/skills/x/SKILL.md", True)], [])
    assert files.read_bytes(os.path.join(store.base, "nodes/lib/skills/x/SKILL.md")) == raw


def test_a_second_run_changes_nothing(source, bring, store):
    lib = source("a.md")
    source("b/c.mdc", "key = 'ghp_" + "a1B2" * 9 + "'\n")
    bring(lib)
    before = tree(store.base)
    done = bring(lib)
    assert came(done) == [("nodes/lib/a.md", False), ("nodes/lib/b/c.mdc", False)]
    assert tree(store.base) == before


def test_a_dry_run_says_the_same_and_writes_nothing(source, bring, store):
    lib = source("a.md")
    before = tree(store.base)
    done = bring(lib, dry_run=True)
    assert (came(done), tree(store.base)) == ([("nodes/lib/a.md", True)], before)
    assert came(bring(lib)) == came(done)


def test_another_text_in_the_place_is_never_written_over(source, bring, store, put):
    put("nodes/lib/a.md", "mine\n")
    lib = source("a.md")
    source("b.md")
    done = bring(lib)
    assert came(done) == [("nodes/lib/b.md", True)]
    assert [(f.rule, f.where) for f in done.findings] == [
        ("import-differs", os.path.join(lib, "a.md"))
    ]
    assert files.read_text(os.path.join(store.base, "nodes/lib/a.md")) == "mine\n"
    assert not os.path.exists(os.path.join(store.base, "nodes/lib/a-2.md"))


def test_names_that_meet_in_one_run_are_numbered_and_stay_so(source, bring, store):
    lib = source("Same.md", "# 1\n")
    source("same.md", "# 2\n")
    if len(os.listdir(lib)) < 2:
        pytest.skip("this file system takes both names for one")
    source("a b.md", "# 3\n")
    source("a-b.md", "# 4\n")
    first = bring(lib)
    paths = [path for path, _ in came(first)]
    assert sorted(paths) == [
        "nodes/lib/Same.md",
        "nodes/lib/a-b-2.md",
        "nodes/lib/a-b.md",
        "nodes/lib/same-2.md",
    ]
    assert came(bring(lib)) == [(path, False) for path in paths]
    texts = {files.read_text(os.path.join(store.base, path)) for path in paths}
    assert texts == {"# 1\n", "# 2\n", "# 3\n", "# 4\n"}


def test_two_folders_of_one_name_meet_in_one(source, bring):
    one, two = source("skills/a.md", folder="x"), source("skills/b.md", folder="y")
    done = bring(os.path.join(one, "skills"), os.path.join(two, "skills"))
    assert came(done) == [("nodes/skills/a.md", True), ("nodes/skills/b.md", True)]


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"caf\xe9\n", "not-utf-8"),
        ("# A\n".encode("utf-16"), "not-utf-8"),
        (b"\x89PNG\r\n\x1a\n", "not-utf-8"),
        (b"a\n\0b\n", "nul-character"),
        (b"x" * (importing.MOST_BYTES + 1), "lesson-unreadable"),
    ],
)
def test_what_is_no_text_stays_out_by_name_and_the_rest_comes_in(source, bring, store, raw, rule):
    source("bad.md", raw)
    done = bring(source("good.md"))
    assert came(done) == [("nodes/lib/good.md", True)]
    assert told(done) == [(rule, "error")]
    assert "bad.md" in done.findings[0].where
    assert os.listdir(os.path.join(store.base, "nodes", "lib")) == ["good.md"]


SECRET = "ghp_" + "a1B2c3D4" * 5


def test_a_secret_is_left_out_of_the_copy_and_of_every_file(source, bring, store):
    lib = source("a.md", f"# A\r\n\r\nexport GH={SECRET} && run\r\n")
    done = bring(lib)
    assert told(done) == [("secret", "warning")]
    assert done.findings[0].where.endswith("a.md:3")
    assert SECRET not in done.findings[0].line()
    raw = files.read_bytes(os.path.join(store.base, "nodes/lib/a.md"))
    assert raw == b"# A\r\n\r\nexport GH=[redacted:github-token] && run\r\n"
    assert [path for path, (kept, _) in tree(store.base).items() if SECRET.encode() in kept] == []


@pytest.mark.parametrize("path", ["gone", "lib/gone.md"])
def test_a_path_that_is_not_there_refuses_all(source, bring, store, tmp_path, path):
    before = tree(store.base)
    lib = source("a.md")
    with pytest.raises(Refused) as refused:
        bring(lib, str(tmp_path / path))
    assert [f.rule for f in refused.value.findings] == ["import-path"]
    assert tree(store.base) == before


def test_a_folder_that_would_not_be_read_again_is_refused(source, bring):
    lib = source("node_modules/a.md")
    with pytest.raises(Refused):
        bring(os.path.join(lib, "node_modules"))


@pytest.mark.parametrize("target", [".rose/routing", ".rose", "../out"])
def test_a_planted_link_leads_no_copy_out_of_the_lessons(source, bring, store, tmp_path, target):
    (tmp_path / "out").mkdir()
    os.makedirs(store.routing)
    os.makedirs(os.path.join(store.base, "nodes"))
    os.symlink(os.path.join("..", target), os.path.join(store.base, "nodes", "lib"))
    done = bring(source("r_0000aa.md"))
    assert (came(done), told(done)) == ([], [("import-differs", "error")])
    assert (os.listdir(store.routing), os.listdir(tmp_path / "out")) == ([], [])


def test_a_lessons_folder_that_leads_out_refuses_all(source, bring, store, tmp_path):
    (tmp_path / "out").mkdir()
    os.symlink(tmp_path / "out", os.path.join(store.base, "nodes"))
    with pytest.raises(Refused):
        bring(source("a.md"))
    assert os.listdir(tmp_path / "out") == []


def test_the_project_itself_can_be_named_without_reading_its_lessons_twice(bring, store, put):
    put("nodes/a.md")
    put("docs/b.md")
    put("CLAUDE.md", "# C\n")
    done = bring(store.base, settings=Settings(lessons_paths=("nodes", "docs")))
    assert came(done) == [("nodes/project/CLAUDE.md", True)]
    assert came(bring(store.base, settings=Settings(lessons_paths=("nodes", "docs")))) == [
        ("nodes/project/CLAUDE.md", False)
    ]


def test_a_disk_that_refuses_is_said_and_a_second_run_goes_on(source, bring, store, put):
    way = put("nodes/lib", "a file in the way")
    lib = source("a.md")
    done = bring(lib)
    assert (came(done), told(done)) == ([], [("unwritable", "error")])
    os.unlink(way)
    assert came(bring(lib)) == [("nodes/lib/a.md", True)]


def test_what_came_in_is_a_lesson_whatever_its_header(source, bring, store):
    lib = source("one.mdc", "---\ndescription: For: types\nglobs: **/*.ts\n---\n# One\n")
    source("two.mdc", '---\ndescription: "Two" it is\nglobs: **/*.ts\n---\n\nText.\n')
    bring(lib)
    shelf = lessons.scan(store, Settings())
    assert [(x.id, x.title, x.gist) for x in shelf.lessons] == [
        ("lib/one", "One", "For: types"),
        ("lib/two", "two", '"Two" it is'),
    ]


def test_more_files_than_are_written_at_once_all_come_in(source, bring, store):
    for number in range(2 * importing.AT_ONCE + 1):
        lib = source(f"{number:04}.md", f"# {number}\n")
    done = bring(lib)
    assert len(done.entries) == 2 * importing.AT_ONCE + 1
    texts = {files.read_text(os.path.join(store.base, entry.path)) for entry in done.entries}
    assert len(texts) == len(done.entries)
