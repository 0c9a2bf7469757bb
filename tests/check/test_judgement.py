"""The judgement on a draft, where the store is not as it was when it was read."""

from __future__ import annotations

import os

from rose.check import judgement
from rose.check.judgement import Submission
from rose.store import lessons
from tests import factories


def test_a_lesson_that_cannot_be_read_any_more_is_a_finding_about_it(tmp_path):
    store = factories.a_store(tmp_path)
    path = factories.a_lesson_file(store, "nodes/db.md")
    holding = lessons.hold(store)
    os.unlink(path)
    draft = tmp_path / "draft.md"
    draft.write_text("# Databases\n\nAnother body.\n")
    given = Submission(str(draft), "draft.md", slot="db.md", is_elsewhere=True)
    found = judgement.of_lesson(holding, given)
    assert found.incumbent == "nodes/db.md"
    assert [(fault.rule, fault.where) for fault in found.findings][:1] == [
        ("lesson-unreadable", "nodes/db.md")
    ]
