from __future__ import annotations

import io
import json
import sys

import pytest

from rose.cli import terminal
from rose.findings import Finding
from tests.clirun import run, run_child, run_on_terminal


@pytest.fixture
def screen(monkeypatch):
    """Return a function that puts a terminal of an encoding in place, and what it was sent."""

    def open_screen(encoding):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding, newline="\n"))

        def sent():
            sys.stdout.flush()
            return raw.getvalue()

        return sent

    return open_screen


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("utf-8", "één\t1", "één\t1\n".encode()),
        ("ascii", "één", b"\\xe9\\xe9n\n"),
        ("utf-8", "a\ud800b", b"a\\ud800b\n"),
        ("utf-8", "\x1b[31mred\x07\x9b\r", b"\\x1b[31mred\\x07\\x9b\\x0d\n"),
    ],
)
def test_a_line_holds_only_what_the_terminal_can_show(screen, encoding, text, expected):
    sent = screen(encoding)
    terminal.out(text)
    assert sent() == expected


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("text", ["één", "\ud800", "🎉", "\x1b"])
def test_json_survives_every_terminal(screen, encoding, text):
    sent = screen(encoding)
    terminal.emit({"a": text})
    assert json.loads(sent().decode(encoding)) == {"a": text}


def test_bytes_are_printed_as_they_are_and_in_order(screen):
    sent = screen("ascii")
    terminal.out("first")
    terminal.pour(b"\xff\0\r\n")
    terminal.out("last")
    assert sent() == b"first\n\xff\0\r\nlast\n"


def test_paths_are_short_below_the_directory_and_home(tmp_path, monkeypatch):
    (tmp_path / "home" / "work").mkdir()
    monkeypatch.chdir(tmp_path / "home" / "work")
    assert terminal.short(str(tmp_path / "home" / "work" / "a" / "b")) == "a/b"
    assert terminal.short(str(tmp_path / "home" / "other")) == "~/other"
    assert terminal.short(str(tmp_path / "home2")) == str(tmp_path / "home2")


def test_at_the_root_paths_keep_their_slash(monkeypatch):
    monkeypatch.chdir("/")
    monkeypatch.setenv("HOME", "/")
    assert terminal.short("/srv/a") == "/srv/a"


@pytest.mark.parametrize(
    ("severity", "refused", "label"),
    [("error", True, "refused"), ("warning", True, "refused"), ("error", False, "warning")],
)
def test_a_finding_says_whether_it_stopped_anything(capsys, severity, refused, label):
    finding = Finding("rule", "a.md:3", "It is off.", "Mend it.", severity=severity)
    terminal.report([finding], refused=refused)
    assert capsys.readouterr().err == f"{label}: a.md:3: rule: It is off. Mend it.\n"


def test_a_directory_that_is_gone_has_no_store(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    found = terminal.stores()
    assert (found.present(), "gone" in found.reason) == ([], True)


LONG = "the integration tests of the whole payment service are run against a real database"


def words_of(text):
    return " ".join(text.split())


def test_words_are_wrapped_on_a_terminal_and_stay_one_line_for_a_program(tmp_path):
    for name in ("piped", "shown"):
        (tmp_path / name).mkdir()
        run("init", cwd=tmp_path / name)
    words = ("route", "--when", LONG, "--then", "read nodes/nowhere/at-all.md first")
    said = run_child(*words, cwd=tmp_path / "piped").err
    (warning,) = [line for line in said.splitlines() if line.startswith("warning: ")]
    assert len(warning) > 80
    shown = run_on_terminal(*words, cwd=tmp_path / "shown").out
    assert words_of(warning) in words_of(shown)
    assert warning not in shown.splitlines()


def test_a_refusal_is_wrapped_at_the_width_of_the_terminal(tmp_path):
    lines = run_on_terminal("reflect", cwd=tmp_path, columns=50).out.splitlines()
    assert lines[0].startswith("rose: ")
    assert len(lines) > 1
    assert max(map(len, lines)) <= 50
    assert words_of(" ".join(lines)) == words_of(run_child("reflect", cwd=tmp_path).err)


@pytest.mark.parametrize(("columns", "lines"), [(80, 2), (100, 1), (0, 2)])
def test_the_routing_line_takes_two_lines_where_one_does_not_fit(tmp_path, columns, lines):
    """A terminal that does not know its width counts as one of 80 columns."""
    run("init", cwd=tmp_path)
    said = run_child("status", cwd=tmp_path).out.splitlines()[2]
    shown = run_on_terminal("status", cwd=tmp_path, columns=columns).out.splitlines()
    told = [line for line in shown if "selection rules" in line or "should fall" in line]
    assert len(told) == lines
    assert words_of(" ".join(told)) == words_of(said)
    assert max(map(len, shown)) <= (columns or 80)


def test_what_is_laid_out_already_is_not_wrapped(tmp_path):
    shown = run_on_terminal("route", "--no-such-option", cwd=tmp_path, columns=30).out
    assert "Usage: rose route" in shown
