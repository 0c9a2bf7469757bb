from __future__ import annotations

import json

import pytest

from rose.evaluate import report, stream
from tests.evaluate import streams


@pytest.fixture
def tasks(tmp_path):
    return stream.read(streams.write(tmp_path / "small", 80), "cold")


@pytest.mark.parametrize("reader", ["layer", "recall"])
def test_what_learns_beats_plain_bm25_where_only_the_record_knows(tasks, reader):
    told, _ = report.stream_report(tasks, reader, cap=800, k=3, with_controls=False)
    test = told["parts"]["test"]
    assert test["bm25"]["r3"] == 0
    assert test[reader]["r3"] == 1
    assert told["against_bm25"]["r3"]["low"] > 0.9


def test_the_layer_is_never_above_its_cap(tasks):
    told, _ = report.stream_report(tasks, "layer", cap=90, k=3, with_controls=False)
    rows = told["tenths"]
    assert 0 < told["layer"]["most_tokens"] <= 90
    assert max(row["layer"] for row in rows) < max(row["rules"] for row in rows)


def test_each_control_is_run_beside_the_layer(tmp_path):
    """Poison hurts at first; docs/measurements.md has how it heals on real streams."""
    tasks = stream.read(streams.write(tmp_path / "long", 200), "cold")
    told, _ = report.stream_report(tasks, "layer", cap=800, k=1)
    controls = told["controls"]
    assert controls["shuffled"]["r3"] < told["parts"]["test"]["layer"]["r3"]
    fifths = controls["poisoned"]["against_unpoisoned_by_fifth"]
    assert fifths[0] < -0.2
    assert len(fifths) == 5
    assert fifths[-1] > fifths[0]
    assert controls["no_cap"]["r3"] == told["parts"]["test"]["layer"]["r3"]


def test_the_picks_are_one_line_an_episode_in_order(tasks, tmp_path):
    _, run = report.stream_report(tasks, "recall", cap=800, k=2, with_controls=False)
    path = str(tmp_path / "picks.jsonl")
    report.write_picks(path, run)
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert [row["id"] for row in rows] == [episode.id for episode in tasks.episodes]
    assert rows[0] == {"id": "e0", "ranked": [], "served": []}
    assert all(len(row["ranked"]) <= 10 and len(row["served"]) <= 2 for row in rows)
    assert rows[-1]["served"][0] == tasks.episodes[-1].used[0]
