"""Telling a transcript's host, and refusing what is none."""

from __future__ import annotations

import pytest

from rose.errors import RoseError
from rose.hosts import registry
from rose.hosts.base import Tally
from tests.hosts.making import capture, codex_meta, user, write


@pytest.mark.parametrize(
    ("name", "host"),
    [("claude/session.jsonl", "claude-code"), ("codex/rollout.jsonl", "codex")],
)
def test_the_host_is_told_by_the_first_rows(name, host):
    assert registry.open_transcript(capture(name)).head().host == host


def test_rows_that_nobody_knows_do_not_hide_the_host(tmp_path):
    path = write(tmp_path / "a.jsonl", ["torn {", {"type": "thread.started"}, codex_meta()])

    assert registry.open_transcript(path).head().host == "codex"


def test_the_given_host_is_taken(tmp_path):
    path = write(tmp_path / "a.jsonl", [user("go")])

    transcript = registry.open_transcript(path, "codex")

    assert list(transcript.events()) == []
    assert transcript.tally == Tally(rows=1, foreign=1)


def test_a_file_of_no_known_host_has_no_events_and_says_why(tmp_path):
    rows = ["{", '  "a": 1', "}", {"type": "thread.started"}, {"history": []}, 7]
    transcript = registry.open_transcript(write(tmp_path / "a.traj", rows))

    assert list(transcript.events()) == []
    assert transcript.uuids() == []
    assert transcript.head().session == "a.traj"
    assert transcript.tally == Tally(rows=6, torn=3, foreign=3)


def test_an_empty_file_has_no_events(tmp_path):
    transcript = registry.open_transcript(write(tmp_path / "a.jsonl", []))

    assert list(transcript.events()) == []
    assert transcript.tally == Tally()


def test_an_unknown_host_is_refused(tmp_path):
    with pytest.raises(RoseError, match=r"unknown host: emacs\. Known are claude-code, codex\."):
        registry.open_transcript(write(tmp_path / "a.jsonl", []), "emacs")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(RoseError, match="cannot be read"):
        registry.open_transcript(str(tmp_path / "none.jsonl"))


def test_a_path_that_is_no_path_is_refused():
    with pytest.raises(RoseError, match="cannot be read"):
        registry.open_transcript("/a\0b")


def test_a_file_that_goes_away_is_refused_when_it_is_read(tmp_path):
    path = write(tmp_path / "a.jsonl", [user("go")])
    transcript = registry.open_transcript(path)
    (tmp_path / "a.jsonl").unlink()

    with pytest.raises(RoseError, match="cannot be read"):
        list(transcript.events())
