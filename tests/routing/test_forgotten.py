"""What a person deleted stays deleted until the rejection goes."""

from __future__ import annotations

import os

import pytest

from rose import files, layout
from rose.routing import forgotten
from rose.routing.rules import Rule

GONE = Rule(
    id="r_0000aa",
    when="the task runs `pytest`: or “not”",
    then="read nodes/testing/ and nodes/db.md first",
    match=("command:pytest", "folder:tests/"),
    targets=("nodes/testing/", "nodes/db.md"),
)
AT = "2026-11-30T09:12:44Z"


@pytest.fixture
def store(tmp_path):
    return layout.project_store(str(tmp_path / "project"))


def test_a_written_rejection_reads_back_as_it_was(store):
    forgotten.write(store, GONE, AT)
    found, findings = forgotten.read(store)
    assert findings == []
    assert found == (
        forgotten.Forgotten(
            rule=GONE.id,
            effect="prefer",
            match=GONE.match,
            targets=GONE.targets,
            at=AT,
        ),
    )


@pytest.mark.parametrize(
    ("match", "targets", "is_covered"),
    [
        (["command:pytest"], ["nodes/testing/"], True),
        (["command:pytest"], ["nodes/testing"], True),
        (["folder:tests/unit/"], ["nodes/testing/fixtures.md"], True),
        (["command:pytest", "folder:tests/"], ["nodes/testing/", "nodes/db.md"], True),
        (["command:pytest"], ["nodes/api/"], False),
        (["command:pytest", "word:slow"], ["nodes/testing/"], False),
        (["command:pytest"], ["nodes/testing/", "nodes/api/"], False),
        (["command:pytest"], [], False),
        ([], ["nodes/testing/"], False),
    ],
)
def test_a_rule_is_forgotten_when_a_deleted_one_said_all_of_it(store, match, targets, is_covered):
    forgotten.write(store, GONE, AT)
    assert forgotten.test_of([store])(match, targets) is is_covered


def test_a_deleted_rule_in_words_alone_blocks_only_rules_in_words_alone(store):
    forgotten.write(
        store, Rule("r_0000ab", "the task is a release", "read x", targets=("n/x",)), AT
    )
    test = forgotten.test_of([store])
    assert test([], ["n/x"])
    assert not test(["word:release"], ["n/x"])


def test_a_deleted_skip_rule_does_not_block_its_opposite(store):
    forgotten.write(store, GONE, AT)
    gone = forgotten.read(store)[0]
    assert not forgotten.covers(gone, ["command:pytest"], ["nodes/testing/"], effect="skip")


def test_a_rejection_that_a_person_deleted_is_void(store):
    os.unlink(forgotten.write(store, GONE, AT))
    assert not forgotten.test_of([store])(["command:pytest"], ["nodes/testing/"])


def test_a_hand_edited_rejection_counts_as_it_stands(store):
    path = forgotten.path_of(store, "r_0000ac")
    files.replace(path, "\ufeff---\r\nmatch: word:docs\r\ntargets: nodes/docs/\r\n---\r\nNo.\r\n")
    assert forgotten.test_of([store])(["word:docs"], ["nodes/docs/"])


def test_other_files_in_the_folder_are_passed_over_and_a_broken_one_is_named(store):
    forgotten.write(store, GONE, AT)
    folder = os.path.dirname(forgotten.path_of(store, GONE.id))
    files.replace(os.path.join(folder, "session.md"), "a lesson's rejection")
    files.replace(os.path.join(folder, "r_0000ad.md"), b"\xff\xfe broken")
    files.replace(os.path.join(folder, "r_0000ae.md"), "---\nkind: other\n---\n")
    files.replace(os.path.join(folder, "r_0000af.md"), "---\nmatch: [word:docs\n---\n")
    found, findings = forgotten.read(store)
    assert [old.rule for old in found] == [GONE.id]
    assert [os.path.basename(f.where.partition(":")[0]) for f in findings] == [
        "r_0000ad.md",
        "r_0000af.md",
    ]


def test_a_store_without_rejections_forgot_nothing(store):
    assert forgotten.read(store) == ((), [])


def test_a_file_in_the_place_of_the_folder_is_named(store):
    files.replace(os.path.dirname(forgotten.path_of(store, GONE.id)), "not a folder")
    assert [f.rule for f in forgotten.read(store)[1]] == ["rejections-unreadable"]
