from __future__ import annotations

import os

import pytest

from rose.errors import RoseError
from rose.evaluate import stream
from tests.evaluate import streams


def test_cold_a_lesson_enters_after_the_first_episode_that_used_it(tmp_path):
    found = stream.read(streams.write(tmp_path), "cold")
    assert [*found.alive(0)] == []
    assert [*found.alive(1)] == ["testing/db"]
    assert len(found.alive(4)) == 4


def test_warm_every_lesson_is_there_until_it_dies(tmp_path):
    found = stream.read(streams.write(tmp_path, born_seq=2, died_seq=5), "warm")
    assert [len(found.alive(seq)) for seq in range(1, 6)] == [0, 4, 4, 4, 0]


def test_a_line_that_is_no_episode_is_refused_by_its_number(tmp_path):
    folder = streams.write(tmp_path)
    with open(os.path.join(folder, "episodes.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"id": "x"}\n')
    with pytest.raises(RoseError, match=r"episodes\.jsonl:61: is no episode"):
        stream.read(folder, "cold")


def test_a_folder_without_a_stream_is_refused(tmp_path):
    with pytest.raises(RoseError, match=r"episodes\.jsonl cannot be read"):
        stream.read(str(tmp_path), "cold")
