from __future__ import annotations

import os
import re

import pytest

from rose.cli import app
from rose.findings import Refused
from rose.hosts import agents_md

BLOCK = agents_md.block()


@pytest.fixture
def aim(tmp_path):
    (tmp_path / "repo").mkdir()
    return agents_md.target(str(tmp_path / "repo"))


def write(aim, data):
    with open(aim.path, "wb") as stream:
        stream.write(data)


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def test_a_file_that_rose_made_holds_the_block_alone_and_is_deleted_again(aim):
    assert agents_md.change(aim).is_change
    assert read(aim.path) == f"{BLOCK}\n".encode()
    assert not agents_md.change(aim).is_change
    agents_md.change(aim, remove=True)
    assert os.listdir(os.path.dirname(aim.path)) == []


def test_an_empty_file_of_a_person_stays_when_the_block_goes(aim):
    write(aim, b"")
    agents_md.change(aim)
    agents_md.change(aim, remove=True)
    assert read(aim.path) == b""


def test_what_a_person_adds_around_the_block_stays(aim):
    write(aim, b"# Mine\n")
    agents_md.change(aim)
    write(aim, b"Before.\n" + read(aim.path) + b"\nAfter.\n")
    agents_md.change(aim, remove=True)
    assert read(aim.path) == b"Before.\n# Mine\n\nAfter.\n"


def test_what_a_person_adds_to_a_file_of_roses_making_keeps_it(aim):
    agents_md.change(aim)
    write(aim, read(aim.path) + b"\nMine.\n")
    agents_md.change(aim, remove=True)
    assert read(aim.path) == b"\nMine.\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_block_of_another_version_is_replaced_in_its_place(newline):
    old = newline.join([agents_md.BEGIN, "What it said once.", agents_md.END])
    text = f"# Mine{newline}{newline}{old}{newline}After.{newline}"
    assert agents_md.added(text) == text.replace(old, agents_md.block(newline))


def test_a_dry_run_says_what_would_change_and_writes_nothing(aim):
    outcome = agents_md.change(aim, dry_run=True)
    assert (outcome.before, outcome.after) == (None, f"{BLOCK}\n")
    assert not os.path.lexists(aim.path)


def test_a_link_to_markdown_of_the_project_stays_a_link(aim, tmp_path):
    real = tmp_path / "repo" / "CLAUDE.md"
    real.write_bytes(b"# Mine")
    os.symlink("CLAUDE.md", aim.path)
    agents_md.change(aim)
    assert BLOCK in real.read_text()
    agents_md.change(aim, remove=True)
    assert os.readlink(aim.path) == "CLAUDE.md"
    assert real.read_bytes() == b"# Mine"


def test_a_link_never_comes_to_lead_nowhere(aim, tmp_path):
    (tmp_path / "repo" / "CLAUDE.md").write_text(f"{BLOCK}\n")
    os.symlink("CLAUDE.md", aim.path)
    agents_md.change(aim, remove=True)
    assert read(aim.path) == b""


@pytest.mark.parametrize("leads_to", ["../outside.md", "hooks/run.sh", "gone.md", "AGENTS.md"])
def test_a_link_that_leads_elsewhere_is_refused_and_its_end_is_left(aim, tmp_path, leads_to):
    (tmp_path / "outside.md").write_text("mine")
    (tmp_path / "repo" / "hooks").mkdir()
    (tmp_path / "repo" / "hooks" / "run.sh").write_text("mine")
    os.symlink(leads_to, aim.path)
    for remove in (False, True):
        with pytest.raises(Refused, match="agents-md-unreadable"):
            agents_md.change(aim, remove=remove)
    assert (tmp_path / "outside.md").read_text() == "mine"
    assert (tmp_path / "repo" / "hooks" / "run.sh").read_text() == "mine"
    assert not os.path.lexists(tmp_path / "repo" / "gone.md")


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe",
        f"{agents_md.BEGIN}\nno end\n".encode(),
        f"no beginning\n{agents_md.END}\n".encode(),
        f"{agents_md.END}\n{agents_md.BEGIN}\n".encode(),
        f"{BLOCK}\n{BLOCK}\n".encode(),
    ],
)
def test_what_cannot_be_edited_is_refused_with_what_to_paste(aim, data):
    write(aim, data)
    for remove in (False, True):
        with pytest.raises(Refused) as caught:
            agents_md.change(aim, remove=remove)
        assert BLOCK in str(caught.value)
    assert read(aim.path) == data


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused_at_once(aim, make):
    make(aim.path)
    with pytest.raises(Refused, match="cannot be read"):
        agents_md.change(aim)


def test_the_markers_that_do_not_pair_are_named_by_line():
    with pytest.raises(ValueError, match="lines 2, 4"):
        agents_md.added(f"# Mine\n{agents_md.END}\n\n{agents_md.BEGIN}\n")


def test_a_marker_inside_a_line_is_a_persons_text(aim):
    write(aim, f"The markers are `{agents_md.BEGIN}` and `{agents_md.END}`.\n".encode())
    agents_md.change(aim)
    assert read(aim.path).endswith(f"\n\n{BLOCK}\n".encode())


def test_the_block_names_relative_paths_and_commands_that_exist():
    assert re.findall(r"(?:^|[\s`'\"(])([/~][^\s`]*)", BLOCK) == []
    assert re.findall(r"`(\.[^`]*)`", BLOCK) == [".rose/routing/*.md", ".rose/index.md"]
    commands = re.findall(r"`rose (\w+)", BLOCK)
    assert commands == ["route", "search"]
    assert [name for name in commands if name not in app.COMMANDS] == []


def test_a_file_whose_end_codex_does_not_read_is_said(aim):
    write(aim, b"x" * (agents_md.MOST_READ_BYTES - 100))
    assert "may be cut" in "".join(agents_md.shortfalls(agents_md.change(aim)))
    write(aim, b"x")
    assert agents_md.shortfalls(agents_md.change(aim)) == []


def test_a_file_that_codex_reads_in_its_place_is_said(aim, tmp_path):
    (tmp_path / "repo" / "AGENTS.override.md").write_text("x")
    assert "in its place" in "".join(agents_md.shortfalls(agents_md.change(aim)))


def test_a_block_that_stands_as_it_was_written_has_no_faults(aim):
    assert agents_md.faults(aim) is None
    write(aim, b"# Mine\n\nThe line `<!-- rose: begin -->` is only spoken of.\n")
    assert agents_md.faults(aim) is None
    agents_md.change(aim)
    assert agents_md.faults(aim) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (agents_md.END, "", "do not pair: lines 1"),
        ("`.rose/index.md`", "`.rose/index`", "not worded"),
        (agents_md.BEGIN, "x" * agents_md.MOST_READ_BYTES + f"\n{agents_md.BEGIN}", "may be cut"),
    ],
)
def test_what_is_amiss_with_a_block_that_stands_is_said(aim, old, new, fault):
    write(aim, f"{BLOCK}\n".replace(old, new).encode())
    (found,) = agents_md.faults(aim) or ()
    assert fault in found


def test_a_file_that_cannot_be_read_holds_no_block(aim):
    write(aim, f"{BLOCK}\n".encode() + b"\xff")
    assert agents_md.faults(aim) is None
