"""The scene that most tests of reflection play in."""

from __future__ import annotations

import pytest

from tests.reflection.scene import Scene


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)
