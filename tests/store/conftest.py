from __future__ import annotations

import os

import pytest

from rose import layout


@pytest.fixture
def store(tmp_path):
    (tmp_path / "project" / ".rose").mkdir(parents=True)
    return layout.project_store(str(tmp_path / "project"))


@pytest.fixture
def put(store):
    """Return a function that writes a file below the store's base."""

    def write(path, content=""):
        full = os.path.join(store.base, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode("utf-8")
        with open(full, "wb") as stream:
            stream.write(raw)
        return full

    return write
