from __future__ import annotations

import os

import pytest

from rose.store import gather


@pytest.fixture
def source(tmp_path):
    """Return a function that writes files below a source folder and gives its path."""
    base = tmp_path / "lib"

    def make(*paths: str, text: str = "# A\n"):
        for path in paths:
            full = os.path.join(str(base), path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as stream:
                stream.write(text)
        return str(base)

    return make


def gathered(*paths: str, read: tuple[str, ...] = ()):
    found = gather.Gathered()
    for path in paths:
        gather.gather(path, path, lambda folder: folder in read, found)
    return found


def places(*paths: str, **options):
    return [source.place for source in gathered(*paths, **options).sources]


def test_markdown_comes_in_by_place_and_the_rest_is_counted(source):
    lib = source("b.md", "a/SKILL.MD", "a/x.mdc", "a/run.py", ".git/c.md", ".d.md")
    source("node_modules/e.md", "a/pic.png")
    found = gathered(lib)
    assert [s.place for s in found.sources] == ["lib/a/SKILL.MD", "lib/a/x.mdc", "lib/b.md"]
    assert found.left == {
        gather.NO_MARKDOWN: 2,
        gather.HIDDEN: 2,
        gather.PACKAGES: 1,
    }
    assert found.findings == []


def test_what_agent_programs_keep_in_hidden_folders_is_seen_and_shown(source):
    lib = source(".cursor/rules/a.mdc", ".github/copilot-instructions.md", ".idea/b.md")
    assert places(lib) == ["lib/cursor/rules/a.mdc", "lib/github/copilot-instructions.md"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("My notes/How to.md", "lib/My-notes/How-to.md"),
        (" .md", "lib/lesson.md"),
        ("a\u00a0b/c.md", "lib/a-b/c.md"),
    ],
)
def test_a_name_becomes_one_word(source, path, place):
    assert places(source(path)) == [place]


def test_a_file_is_named_with_its_folder(source):
    lib = source("CLAUDE.md", "x.txt")
    found = gathered(os.path.join(lib, "CLAUDE.md"), os.path.join(lib, "x.txt"))
    assert [s.place for s in found.sources] == ["lib/CLAUDE.md"]
    assert [(f.rule, f.where) for f in found.findings] == [
        ("no-markdown", os.path.join(lib, "x.txt"))
    ]


def test_a_file_that_two_paths_hold_comes_in_once(source):
    lib = source("a/x.md", "b.md")
    assert places(os.path.join(lib, "a"), lib) == ["a/x.md", "lib/b.md"]


def test_no_link_is_followed(source, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    lib = source("AGENTS.md")
    os.symlink("AGENTS.md", os.path.join(lib, "CLAUDE.md"))
    os.symlink(tmp_path / "secret.md", os.path.join(lib, "out.md"))
    os.symlink(tmp_path, os.path.join(lib, "up"))
    os.symlink("gone", os.path.join(lib, "gone.md"))
    found = gathered(lib)
    assert [s.place for s in found.sources] == ["lib/AGENTS.md"]
    assert found.left == {gather.LINK: 4}


@pytest.mark.parametrize("name", ["a\nb.md", "a\x1b[31m.md", "a\u202eb.md", "n" * 201 + ".md"])
def test_a_name_that_no_lesson_can_have_is_reported(source, name):
    found = gathered(source("ok.md", name))
    assert [s.place for s in found.sources] == ["lib/ok.md"]
    assert [f.rule for f in found.findings] == ["lesson-name"]
    assert found.findings[0].where.isprintable()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_reported_and_not_opened(source):
    lib = source("ok.md")
    os.mkfifo(os.path.join(lib, "pipe.md"))
    found = gathered(lib)
    assert [s.place for s in found.sources] == ["lib/ok.md"]
    assert [f.rule for f in found.findings] == ["lesson-unreadable"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_reported(source):
    lib = source("ok.md", "shut/a.md")
    os.chmod(os.path.join(lib, "shut"), 0)
    found = gathered(lib)
    os.chmod(os.path.join(lib, "shut"), 0o700)
    assert [s.place for s in found.sources] == ["lib/ok.md"]
    assert [f.rule for f in found.findings] == ["folder-unreadable"]


def test_what_is_read_already_is_passed_over(source):
    lib = source("a.md", "nodes/b.md")
    nodes = os.path.join(lib, "nodes")
    assert places(lib, read=(nodes,)) == ["lib/a.md"]
    found = gathered(os.path.join(nodes, "b.md"), read=(nodes,))
    assert (found.sources, found.left) == ([], {gather.READ: 1})
