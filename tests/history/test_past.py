"""What git knows of the past of files, in real repositories."""

from __future__ import annotations

import os

import pytest

from rose.history import past
from tests.history.repos import a_repo, git, head, put

BODY = "".join(f"line {number}\n" for number in range(30))
AT = {"GIT_COMMITTER_DATE": "2026-11-30T12:00:00+02:00"}


@pytest.fixture
def repo(tmp_path):
    return a_repo(tmp_path / "repo")


def save(repo, subject: str, **environ: str) -> str:
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", subject, **environ)
    return head(repo)


def move(repo, old: str, new: str) -> None:
    os.makedirs(os.path.dirname(repo / new), exist_ok=True)
    git(repo, "mv", old, new)


def test_a_revision_tells_who_when_what_and_which_session(repo):
    put(repo, "mine.txt", "two\n")
    message = "rose: add r_0000aa\n\nwhy\n\nRose-Session: s-1\n"
    sha = save(repo, message, **AT, GIT_AUTHOR_NAME="Ada Ä")
    found = past.revisions(str(repo), ["mine.txt"], 10)
    assert found[0] == past.Revision(
        sha, "Ada Ä", "2026-11-30T10:00:00Z", "rose: add r_0000aa", "s-1", (("M", "mine.txt"),)
    )
    assert [one.subject for one in found] == ["rose: add r_0000aa", "first"]
    assert found[1].files == (("A", "mine.txt"),)
    assert len(past.revisions(str(repo), ["mine.txt"], 1)) == 1


def test_one_file_is_followed_over_its_renames(repo):
    put(repo, "sub/a.md", BODY)
    save(repo, "written")
    move(repo, "sub/a.md", "sub/b.md")
    sha = save(repo, "moved")
    found = past.revisions(str(repo / "sub"), ["b.md"], 10)
    assert [(one.subject, one.files) for one in found] == [
        ("moved", (("R", "sub/b.md"),)),
        ("written", (("A", "sub/a.md"),)),
    ]
    assert past.text_at(str(repo / "sub"), sha, "sub/b.md") == BODY
    assert past.text_at(str(repo / "sub"), sha, "sub/a.md") is None


def test_a_folder_tells_of_all_files_in_it_deleted_ones_too(repo):
    put(repo, "rules/a.md")
    put(repo, "rules/b.md")
    save(repo, "two")
    os.unlink(repo / "rules" / "a.md")
    save(repo, "one")
    found = past.revisions(str(repo), ["rules/"], 10)
    assert [one.files for one in found] == [
        (("D", "rules/a.md"),),
        (("A", "rules/a.md"), ("A", "rules/b.md")),
    ]


@pytest.mark.parametrize("forged", ["\x1e", "\x1f", "\x01", "R100", "M"])
def test_no_subject_or_name_passes_for_another_revision(repo, forged):
    put(repo, "mine.txt", "two\n")
    save(repo, f"{forged}a{forged}", GIT_AUTHOR_NAME=f"Eve{forged}")
    put(repo, f"odd {forged} name.txt")
    save(repo, "odd")
    found = past.revisions(str(repo), ["."], 10)
    assert [len(one.sha) for one in found] == [40, 40, 40]
    assert [len(one.files) for one in found] == [1, 1, 2]
    assert found[1].subject == f"{forged}a{forged}"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("color.ui", "always"),
        ("log.showSignature", "true"),
        ("log.showRoot", "false"),
        ("log.follow", "true"),
        ("log.decorate", "full"),
        ("diff.renames", "false"),
        ("diff.external", "false"),
        ("core.quotePath", "true"),
        ("format.pretty", "raw"),
        ("diff.relative", "true"),
    ],
)
def test_a_persons_own_settings_change_nothing(repo, key, value):
    put(repo, "nodes/ä.md", BODY)
    save(repo, "written")
    move(repo, "nodes/ä.md", "nodes/ö.md")
    save(repo, "moved")
    git(repo, "config", key, value)
    assert past.renames(str(repo), ["nodes"]) == {"nodes/ä.md": "nodes/ö.md"}
    assert [one.files for one in past.revisions(str(repo), ["mine.txt"], 10)] == [
        (("A", "mine.txt"),)
    ]


def test_renames_are_those_below_the_folders_from_where_one_asks(repo):
    for path in ("sub/nodes/a.md", "sub/docs/b.md", "nodes/c.md"):
        put(repo, path, path + BODY)
    save(repo, "written")
    move(repo, "sub/nodes/a.md", "sub/nodes/deep/a.md")
    move(repo, "sub/docs/b.md", "sub/docs/bb.md")
    move(repo, "nodes/c.md", "nodes/cc.md")
    save(repo, "moved")
    wanted = {"nodes/a.md": "nodes/deep/a.md"}
    assert past.renames(str(repo / "sub"), ["nodes", "never"]) == wanted
    assert past.renames(str(repo / "sub"), ["never"]) == {}


def test_a_file_that_came_back_to_its_place_is_not_renamed(repo):
    put(repo, "nodes/a.md", BODY)
    save(repo, "written")
    for old, new in (("a", "b"), ("b", "c"), ("c", "a")):
        move(repo, f"nodes/{old}.md", f"nodes/{new}.md")
        save(repo, f"to {new}")
    assert past.renames(str(repo), ["nodes"]) == {
        "nodes/b.md": "nodes/a.md",
        "nodes/c.md": "nodes/a.md",
    }


def test_asking_changes_nothing_in_a_repository(repo):
    put(repo, "nodes/a.md", BODY)
    save(repo, "written")
    move(repo, "nodes/a.md", "nodes/b.md")
    os.utime(repo / "other.txt", (1, 1))
    index = (repo / ".git" / "index").read_bytes()
    put(repo, ".git/index.lock", "")
    assert past.renames(str(repo), ["nodes"]) == {"nodes/a.md": "nodes/b.md"}
    assert past.revisions(str(repo), ["mine.txt"], 1)
    assert (repo / ".git" / "index").read_bytes() == index


def test_outside_of_git_or_without_it_nothing_is_known(tmp_path, repo, monkeypatch):
    os.makedirs(tmp_path / "plain" / "nodes")
    assert past.renames(str(tmp_path / "plain"), ["nodes"]) == {}
    assert past.revisions(str(tmp_path / "plain"), ["x"], 1) == []
    assert past.revisions(str(tmp_path / "gone"), ["x"], 1) == []
    os.makedirs(repo / "nodes")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert past.renames(str(repo), ["nodes"]) == {}
    assert past.revisions(str(repo), ["mine.txt"], 1) == []
