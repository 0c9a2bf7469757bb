from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import files
from rose.errors import Locked, Unwritable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def child(code, *words: str, limit=None):
    """Run a program that has `files` imported, optionally with a limit on the size of files."""
    before = "import sys\nfrom rose import files\nfrom rose.errors import Unwritable\n"
    if limit is not None:
        before += f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit},) * 2)\n"
    run = [sys.executable, "-c", before + code, *words]
    return subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def is_refused(text):
    try:
        files.parse_json(text)
    except ValueError:
        return True
    return False


@pytest.fixture
def folder(tmp_path):
    """Return a folder that holds nothing yet."""
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def test_a_replaced_file_holds_the_new_bytes_and_its_folder_is_made(tmp_path):
    path = tmp_path / "a" / "b.txt"
    files.replace(str(path), "één\r\n")
    assert path.read_bytes() == "één\r\n".encode()
    files.replace(str(path), b"\xff")
    assert path.read_bytes() == b"\xff"
    assert os.listdir(path.parent) == ["b.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    files.replace(str(path), "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_followed_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a")
    files.replace(str(tmp_path / "link"), "new", follow=str(tmp_path))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "new"


def test_a_followed_link_that_leads_out_is_refused(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "rule.md").symlink_to(tmp_path / "victim")
    with pytest.raises(Unwritable, match="leads out"):
        files.replace(str(tmp_path / "store" / "rule.md"), "new", follow=str(tmp_path / "store"))
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_link_in_the_place_of_our_own_file_is_replaced_and_its_target_left_alone(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "index.md").symlink_to(tmp_path / "victim")
    files.replace(str(tmp_path / "index.md"), "derived")
    assert (tmp_path / "victim").read_text() == "mine"
    assert (tmp_path / "index.md").read_text() == "derived"


@pytest.mark.parametrize("write", ["replace", "append_line"])
def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path, write):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "local").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unwritable, match="link"):
        getattr(files, write)(str(tmp_path / "local" / "a"), "x")
    with pytest.raises(Unwritable, match="link"), files.lock(str(tmp_path / "local" / "l"), 0):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_line_is_not_appended_through_a_link(tmp_path):
    (tmp_path / "victim").write_text("mine\n")
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "victim")
    with pytest.raises(Unwritable):
        files.append_line(str(tmp_path / "log.jsonl"), "x")
    assert (tmp_path / "victim").read_text() == "mine\n"


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "large"])
def test_what_is_no_regular_file_is_never_waited_for(tmp_path, kind):
    path = tmp_path / "a"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"12345")
    with pytest.raises(OSError, match=r"no regular file|too large"):
        files.read_bytes(str(path), most=4)


def test_lines_of_what_is_no_regular_file_are_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a")
    with pytest.raises(OSError, match="no regular file"):
        list(files.read_jsonl(str(tmp_path / "a")))


@pytest.mark.parametrize("name", ["file/below", "folder"])
def test_a_place_that_takes_no_file_is_refused_and_left_clean(folder, name):
    (folder / "file").write_text("kept")
    (folder / "folder").mkdir()
    with pytest.raises(Unwritable, match="not written"):
        files.replace(str(folder / name), "new")
    assert sorted(os.listdir(folder)) == ["file", "folder"]
    assert (folder / "file").read_text() == "kept"


def test_a_disk_that_is_full_leaves_the_old_file_and_no_other(folder):
    path = folder / "a"
    path.write_text("old")
    code = (
        "try:\n    files.replace(sys.argv[1], b'x' * 5000)\n"
        "except Unwritable as error:\n    print(error)\n"
    )
    assert "not written" in child(code, str(path), limit=1000)
    assert path.read_text() == "old"
    assert os.listdir(folder) == ["a"]


def test_an_interrupted_write_leaves_the_old_file_and_no_other(folder, monkeypatch):
    (folder / "a").write_text("old")

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.replace(str(folder / "a"), "new")
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_text() == "old"


def test_lines_are_appended_and_a_torn_tail_is_closed_first(tmp_path):
    path = tmp_path / "logs" / "a.jsonl"
    files.append_line(str(path), '{"a":1}')
    with path.open("a") as stream:
        stream.write('{"torn')
    files.append_line(str(path), '{"a":2}')
    assert path.read_text() == '{"a":1}\n{"torn\n{"a":2}\n'
    assert [value["a"] for _, value in files.read_jsonl(str(path))] == [1, 2]


def test_a_short_append_is_taken_back(tmp_path):
    path = tmp_path / "a.jsonl"
    files.append_line(str(path), "x" * 900)
    code = (
        "try:\n    files.append_line(sys.argv[1], 'y' * 500)\n"
        "except Unwritable as error:\n    print(error)\n"
    )
    assert "not written" in child(code, str(path), limit=1000)
    assert path.read_text() == "x" * 900 + "\n"


def test_appends_of_several_processes_are_all_there(tmp_path):
    path = str(tmp_path / "a.jsonl")
    code = (
        "for n in range(50):\n"
        "    files.append_line(sys.argv[1], files.dump_json({'by': sys.argv[2], 'n': n}))\n"
    )
    threads = [threading.Thread(target=child, args=(code, path, str(by))) for by in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {(line["by"], line["n"]) for _, line in files.read_jsonl(path)}
    assert found == {(str(by), n) for by in range(4) for n in range(50)}


def test_a_held_lock_is_reported_after_the_wait(tmp_path):
    path = str(tmp_path / "local" / "lock")
    with files.lock(path, 0), pytest.raises(Locked, match="another rose process"):
        files.lock(path, 0.02).__enter__()
    with files.lock(path, 0):
        assert os.path.exists(path)


KILLED = "import os\nfiles.lock(sys.argv[1], 0).__enter__()\nos.kill(os.getpid(), 9)\n"


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = str(tmp_path / "lock")
    child(KILLED, path)
    with files.lock(path, 0):
        assert os.path.exists(path)


def test_a_lock_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "local").write_text("")
    with pytest.raises(Unwritable, match="not locked"):
        files.lock(str(tmp_path / "local" / "lock"), 0).__enter__()


def test_a_stamp_tells_a_changed_file_and_nothing_from_a_missing_one(tmp_path):
    path = tmp_path / "a"
    assert files.stat_stamp(str(path)) is None
    assert files.stat_stamp("a\0b") is None
    path.write_text("one")
    before = files.stat_stamp(str(path))
    assert files.stat_stamp(str(path)) == before
    files.replace(str(path), "two")
    assert files.stat_stamp(str(path)) != before


@given(values)
@settings(max_examples=300)
def test_what_is_dumped_is_parsed_back_as_the_standard_library_does(value):
    text = files.dump_json(value)
    assert text.isascii()
    assert "\n" not in text
    assert files.parse_json(text) == json.loads(text) == value


@given(values, st.sampled_from(["", " ", "\n\t", "\r\n"]))
@settings(max_examples=200)
def test_white_space_around_a_value_is_no_matter(value, space):
    text = space + json.dumps(value, ensure_ascii=False, indent=1) + space
    assert files.parse_json(text) == json.loads(text)


@given(st.text(st.sampled_from('{}[]",:0123.eE-+truefalsn \\u\n'), max_size=12))
@settings(max_examples=500)
def test_what_the_standard_library_refuses_is_refused(text):
    try:
        expected = json.loads(text, strict=False)
    except ValueError:
        assert is_refused(text)
    else:
        assert files.parse_json(text) == expected


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a":1} x', "nul", "\ufeff{}", "'a'", "[1,]", '"\\ud8', "\0", "01"]
)
def test_a_broken_text_is_a_value_error(text):
    assert is_refused(text)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_without_end_is_a_value_error(opening):
    assert is_refused(opening * 200_000)


def test_lone_surrogates_and_what_is_no_number_are_read():
    assert files.parse_json('"\\ud800"') == "\ud800"
    assert files.parse_json(files.dump_json("\udfff")) == "\udfff"
    assert files.parse_json("[Infinity, -Infinity]") == [math.inf, -math.inf]
    number = files.parse_json("NaN")
    assert isinstance(number, float)
    assert math.isnan(number)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", []),
        (b'{"a":1}\n{"a":2}', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{"a":1}\r\n\r\n{"a":2}\r\n', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'{"a":\n[1]\n3\n{"a":2}\n', [(4, {"a": 2})]),
        (b'\xff\xfe\n\0\n{"a":"\xe9"}\n{"a":2}\n', [(4, {"a": 2})]),
    ],
)
def test_torn_and_foreign_lines_are_passed_over(tmp_path, raw, expected):
    (tmp_path / "a.jsonl").write_bytes(raw)
    assert list(files.read_jsonl(str(tmp_path / "a.jsonl"))) == expected


def test_a_missing_file_holds_no_lines(tmp_path):
    assert list(files.read_jsonl(str(tmp_path / "none"))) == []


def test_a_text_that_is_no_utf8_is_a_value_error(tmp_path):
    (tmp_path / "a").write_bytes(b"\xe9")
    with pytest.raises(ValueError, match="utf-8"):
        files.read_text(str(tmp_path / "a"))


def test_what_is_not_there_need_not_be_deleted(tmp_path):
    files.replace(str(tmp_path / "a"), "x")
    assert files.delete(str(tmp_path / "a"))
    assert not files.delete(str(tmp_path / "a"))


def test_nothing_is_deleted_beyond_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a").write_text("mine")
    (tmp_path / "local").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "b").symlink_to(tmp_path / "elsewhere" / "a")
    with pytest.raises(Unwritable, match="link"):
        files.delete(str(tmp_path / "local" / "a"))
    assert files.delete(str(tmp_path / "b"))
    assert (tmp_path / "elsewhere" / "a").read_text() == "mine"
