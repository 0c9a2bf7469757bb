"""The streaming reader: what it skips, what it counts, and that it never holds a whole file."""

from __future__ import annotations

import json
import os
import tracemalloc

import pytest

from rose.errors import RoseError
from rose.hosts import rows
from rose.hosts.base import Tally
from tests.hosts.making import write


def read(path):
    """Return the objects of a file and the tally of reading them."""
    tally = Tally()
    return [row.value for row in rows.read(path, tally, rows.skip_nothing)], tally


def test_every_object_is_a_row_with_its_line_number(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"a": 1}, "", {"b": 2}])

    found = list(rows.read(path, Tally(), rows.skip_nothing))

    assert [(row.number, row.value) for row in found] == [(1, {"a": 1}), (3, {"b": 2})]


@pytest.mark.parametrize(
    ("data", "values", "tally"),
    [
        (b'{"a": 1}\r\n\r\n{"b": 2}\r\n', [{"a": 1}, {"b": 2}], Tally(rows=2)),
        (b'\xef\xbb\xbf{"a": 1}\n', [{"a": 1}], Tally(rows=1)),
        (b'{"a": 1}\n{"b": ', [{"a": 1}], Tally(rows=2, torn=1)),
        (b'{"a": 1}\n{"b": 2}', [{"a": 1}, {"b": 2}], Tally(rows=2)),
        (b'\x00\x00\x00\n{"a": 1}\n', [{"a": 1}], Tally(rows=2, torn=1)),
        (b'{"a": "x\x00y"}\n', [], Tally(rows=1, torn=1)),
        (b'{"a": "\xff\xfe"}\n', [{"a": "��"}], Tally(rows=1)),
        (b' \t \n\n{"a": 1}\n', [{"a": 1}], Tally(rows=1)),
        (b'42\n"words"\n[1]\nnull\n{"a": 1}\n', [{"a": 1}], Tally(rows=5, foreign=4)),
        (b"[" * 100_000 + b"\n", [], Tally(rows=1, torn=1)),
        (b'{"a": ' + b"9" * 5000 + b'}\n{"b": 2}\n', [{"b": 2}], Tally(rows=2, torn=1)),
        (b"", [], Tally()),
    ],
    ids=[
        "crlf and blank lines",
        "byte order mark",
        "torn last line",
        "no line feed at the end",
        "a line of NUL bytes",
        "a NUL byte in a string",
        "invalid UTF-8",
        "white space lines",
        "no objects",
        "nested too deep",
        "a number too long",
        "empty file",
    ],
)
def test_a_line_that_is_no_row_is_counted_and_passed_over(tmp_path, data, values, tally):
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)

    assert read(str(path)) == (values, tally)


def test_half_a_surrogate_pair_becomes_text_that_can_be_written(tmp_path):
    path = write(tmp_path / "a.jsonl", ['{"a": "x\\ud83d", "b": "\\ud83d\\ude00"}'])

    values, _ = read(path)

    assert values == [{"a": "x?", "b": "\U0001f600"}]


def test_a_line_over_the_limit_is_skipped_and_the_next_one_read(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "LINE_BYTES", 100)
    path = write(tmp_path / "a.jsonl", [{"a": "x" * 300}, {"b": 2}, {"c": "y" * 300}])

    assert read(path) == ([{"b": 2}], Tally(rows=3, oversized=2))


@pytest.mark.parametrize("size", [99, 100, 101])
def test_a_line_is_oversized_only_beyond_the_limit(tmp_path, monkeypatch, size):
    monkeypatch.setattr(rows, "LINE_BYTES", 100)
    path = write(
        tmp_path / "a.jsonl", [json.dumps({"a": ""}).replace('""', f'"{"x" * (size - 9)}"')]
    )

    _, tally = read(path)

    assert os.path.getsize(path) == size + 1
    assert tally.oversized == (size > 100)


def test_a_long_row_whose_strings_cannot_be_cut_is_oversized(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "STRING_BYTES", 50)
    monkeypatch.setattr(rows, "PARSED_BYTES", 100)
    path = write(tmp_path / "a.jsonl", [{"a": [1] * 60}, {"b": "x" * 500}])

    assert read(path) == ([{"b": "x" * 50}], Tally(rows=2, oversized=1))


def test_a_long_line_is_cut_before_it_is_parsed(tmp_path):
    image = "iVBORw0KGgo" * 700_000
    path = write(tmp_path / "a.jsonl", [{"image": image, "text": "kept"}])
    tracemalloc.start()

    values, _ = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert values[0]["text"] == "kept"
    assert len(values[0]["image"]) == rows.STRING_BYTES
    assert peak < 40_000_000


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"text": "x" * 200_000}] * 100)
    tracemalloc.start()

    count = sum(1 for _ in rows.read(path, Tally(), rows.skip_nothing))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 100
    assert peak < 5_000_000


@pytest.mark.parametrize(
    "text",
    [
        "plain text that is long",
        'quotes " and \\ backslashes \\\\" in it \\\\',
        "é ü 中文 \U0001f600 and more of them 中文",
        "\\" * 40,
        '"' * 40,
        "\n\t\r" * 15,
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("limit", range(1, 24))
def test_a_shortened_line_is_still_json_and_its_strings_are_beginnings(text, ascii_only, limit):
    value = {"a": text, "b": [text, 7, "x"], "c": None}
    line = json.dumps(value, ensure_ascii=ascii_only).encode()

    short = json.loads(rows.shorten(line, limit).decode("utf-8"))

    assert short["b"][1:] == [7, "x"]
    assert short["a"] == short["b"][0]
    assert text.startswith(short["a"].encode("utf-8", "ignore").decode())
    assert len(json.dumps(short["a"])) <= limit + 2 or not ascii_only


@pytest.mark.parametrize(
    ("stamp", "value"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T00:00:10.5Z", 10.5),
        ("1970-01-01T00:00:10.123456789Z", 10.123456),
        ("1970-01-01T01:00:10+01:00", 10.0),
        ("1970-01-01T00:00:10", 10.0),
        (10, 10.0),
        (1796065519243, 1796065519.243),
        ("yesterday", None),
        ("", None),
        (True, None),
        (None, None),
        (float("nan"), None),
        (10**400, None),
        ([], None),
    ],
)
def test_a_timestamp_is_read_in_every_form(stamp, value):
    assert rows.seconds(stamp) == value


def test_a_file_that_is_none_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(RoseError, match=r"nowhere\.jsonl: cannot be read"):
        read(str(tmp_path / "nowhere.jsonl"))


def test_a_folder_or_a_pipe_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")

    with pytest.raises(RoseError, match="is no file"):
        read(str(tmp_path))
    with pytest.raises(RoseError, match="is no file"):
        read(str(tmp_path / "pipe.jsonl"))


def source(agent, path):
    """Return a source of a file's rows."""
    first = next(rows.read(path, Tally(), rows.skip_nothing)).value["timestamp"]
    return rows.Source(
        agent, rows.seconds(first), lambda: rows.read(path, Tally(), rows.skip_nothing)
    )


def stamped(*seconds: float):
    """Return rows with these timestamps."""
    return [{"timestamp": second, "n": place} for place, second in enumerate(seconds)]


def test_files_are_merged_by_time_and_keep_their_own_order(tmp_path):
    main = write(tmp_path / "main.jsonl", stamped(1, 5, 4, 9))
    early = write(tmp_path / "early.jsonl", stamped(2, 6))
    late = write(tmp_path / "late.jsonl", stamped(20, 21))

    merged = rows.merge(source(None, main), [source("late", late), source("early", early)])

    assert [(agent, row.value["timestamp"]) for agent, row in merged] == [
        (None, 1),
        ("early", 2),
        (None, 5),
        (None, 4),
        ("early", 6),
        (None, 9),
        ("late", 20),
        ("late", 21),
    ]


def test_a_row_without_a_time_stays_below_the_one_above_it(tmp_path):
    main = write(tmp_path / "main.jsonl", [{"timestamp": 1}, {"n": 1}, {"timestamp": 9}])
    agent = write(tmp_path / "agent.jsonl", stamped(2, 3))

    merged = rows.merge(source(None, main), [source("a", agent)])

    assert [agent for agent, _ in merged] == [None, None, "a", "a", None]
