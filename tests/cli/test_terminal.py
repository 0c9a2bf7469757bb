from __future__ import annotations

import io
import json
import sys

import pytest

from rose.cli import terminal
from rose.findings import Finding


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
