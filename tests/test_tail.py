from __future__ import annotations

import os

import pytest

from rose import tail


def write(tmp_path, *lines: str):
    path = tmp_path / "rows.jsonl"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    return str(path)


def test_the_rows_come_in_order_and_what_is_none_is_passed_over(tmp_path):
    path = write(tmp_path, '{"n":1}', "", "[2]", "\udcff", '{"n":3}', '{"torn":')
    assert list(tail.rows(path, 1000)) == [{"n": 1}, {"n": 3}]


@pytest.mark.parametrize(
    ("most", "left"), [(1000, [1, 2, 3]), (17, [2, 3]), (16, [2, 3]), (14, [3]), (0, [])]
)
def test_only_whole_rows_of_the_end_are_read(tmp_path, most, left):
    path = write(tmp_path, '{"n":1}', '{"n":2}', '{"n":3}', "")
    assert [row["n"] for row in tail.rows(path, most)] == left


def test_a_missing_file_holds_no_rows(tmp_path):
    assert tail.end(str(tmp_path / "none"), 10) == b""
    assert list(tail.rows(str(tmp_path / "none"), 10)) == []


def test_a_pipe_is_not_waited_for(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    with pytest.raises(OSError, match="no regular file"):
        list(tail.rows(path, 10))


ROWS = ['{"n":1,"a":"x","b":"x"}', '{"n":2,"a":"y"}', '{"torn":"x"', '{"n":3}', '{"n":4,"a":"z"}']


@pytest.mark.parametrize(
    ("marks", "found"), [(['"x"', '"z"'], [1, 4]), ([], []), (['"nowhere"'], []), (['"y"'], [2])]
)
def test_the_rows_that_hold_a_text_come_once_and_in_order(tmp_path, marks, found):
    path = write(tmp_path, *ROWS)
    assert [row["n"] for row in tail.holding(tail.end(path, 1000), marks)] == found


def test_of_more_texts_than_are_looked_for_none_is_missed(tmp_path):
    path = write(tmp_path, *ROWS)
    marks = [f'"{n}"' for n in range(tail.MOST_MARKS)]
    assert [row["n"] for row in tail.holding(tail.end(path, 1000), [*marks, '"z"'])] == [1, 2, 3, 4]
