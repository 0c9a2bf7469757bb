from __future__ import annotations

import os
import time

import pytest

from rose import racy
from tests.routing.samples import write


@pytest.mark.parametrize(
    ("age_ns", "expected"), [(-5, False), (0, False), (11_999_999, False), (12_000_000, True)]
)
def test_a_change_is_settled_when_it_is_a_tick_old(age_ns, expected):
    assert racy.is_settled(10**18, 10**18 + age_ns) is expected


def test_after_the_wait_a_fresh_file_is_settled(tmp_path):
    path = str(tmp_path / "x")
    write(path, "x")
    racy.wait([path, str(tmp_path / "missing"), "\0"])
    assert racy.is_settled(os.stat(path).st_ctime_ns, racy.now_ns())


def test_a_change_in_the_future_is_waited_for_no_longer_than_a_tick(monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    racy.wait_since(racy.now_ns() + 10**18)
    assert slept == [racy.TICK_NS / 1e9]
