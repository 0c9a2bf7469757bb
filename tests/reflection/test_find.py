"""Finding transcripts where the hosts keep them."""

from __future__ import annotations

import os

import pytest

from rose.errors import RoseError
from rose.reflection import find
from tests.hosts import making

FOLDER = "/home/dev/my_repo.x"
SLUG = "-home-dev-my-repo-x"
OTHER = "5e551011-0000-4000-8000-00000000000b"


@pytest.fixture
def homes(tmp_path):
    return find.Homes(str(tmp_path / "claude"), str(tmp_path / "codex"))


def claude(tmp_path, slug, session, cwd=FOLDER):
    path = tmp_path / "claude" / "projects" / slug / f"{session}.jsonl"
    return making.write(path, [{**making.user("hi"), "cwd": cwd, "sessionId": session}])


def codex(tmp_path, session, cwd=FOLDER):
    folder = tmp_path / "codex" / "sessions" / "2026" / "11" / "30"
    path = folder / f"rollout-2026-11-30T10-00-00-{session}.jsonl"
    return making.write(path, [making.codex_meta(id=session, cwd=cwd)])


def test_a_session_of_either_host_is_found_by_its_id(tmp_path, homes):
    one = claude(tmp_path, SLUG, making.SESSION)
    other = codex(tmp_path, OTHER)
    assert find.find_transcript(making.SESSION, homes) == (one, "claude-code")
    assert find.find_transcript(OTHER, homes) == (other, "codex")


@pytest.mark.parametrize("session", ["*", "../../x", "a/b", "", "[a-z]*", "x" * 300])
def test_an_id_is_never_a_pattern_or_a_path(tmp_path, homes, session):
    claude(tmp_path, SLUG, making.SESSION)
    with pytest.raises(RoseError, match="no session id"):
        find.find_transcript(session, homes)


def test_an_unknown_session_is_a_sentence(homes):
    with pytest.raises(RoseError, match=r"No session 'abc'.*--transcript"):
        find.find_transcript("abc", homes)


@pytest.mark.parametrize("start", [OTHER[:-1], OTHER[:-2] + "0b"])
def test_the_beginning_of_an_id_that_only_one_session_has_is_enough(tmp_path, homes, start):
    claude(tmp_path, SLUG, "f" + making.SESSION)
    path = codex(tmp_path, OTHER)
    assert find.find_transcript(start, homes) == (path, "codex")


def test_a_beginning_that_several_sessions_have_names_them(tmp_path, homes):
    claude(tmp_path, SLUG, "abc1")
    codex(tmp_path, "abc2")
    queued = {"abc3": ("/t.jsonl", "codex")}
    with pytest.raises(RoseError, match="'abc' names several sessions: abc1, abc2, abc3"):
        find.find_transcript("abc", homes, queued)
    assert find.find_transcript("abc3", homes, queued) == ("/t.jsonl", "codex")


def test_of_two_transcripts_of_one_session_the_newest_is_taken(tmp_path, homes):
    old, new = claude(tmp_path, SLUG, "abc1"), claude(tmp_path, SLUG + "-src", "abc1")
    os.utime(old, (1000, 1000))
    assert find.find_transcript("abc", homes)[0] == new


def test_all_sessions_of_a_folder_are_found_and_no_others(tmp_path, homes):
    here = [claude(tmp_path, SLUG, making.SESSION), codex(tmp_path, OTHER)]
    below = claude(tmp_path, SLUG + "-src", "below", cwd=FOLDER + "/src")
    claude(tmp_path, SLUG + "-src", "namesake", cwd="/home/dev/my-repo-x-src")
    claude(tmp_path, "-home-dev-other", "other", cwd="/home/dev/other")
    codex(tmp_path, "5e551011-0000-4000-8000-00000000000c", cwd="/home/dev/other")
    found = find.all_transcripts(FOLDER, homes)
    assert sorted(path for path, _ in found) == sorted([*here, below])


def test_sessions_come_oldest_first(tmp_path, homes):
    paths = [claude(tmp_path, SLUG, name) for name in ("b", "a", "c")]
    for age, path in enumerate(paths):
        os.utime(path, (1000 - age, 1000 - age))
    assert [path for path, _ in find.all_transcripts(FOLDER, homes)] == paths[::-1]


def test_hosts_that_are_not_there_have_no_sessions():
    assert find.all_transcripts(FOLDER, find.Homes("", "")) == []
