from __future__ import annotations

import os
import re

import pytest

from rose.errors import RoseError
from rose.findings import Refused
from rose.routing import rules, table
from tests.routing.samples import a_rule, a_store, put, write

GOOD = "---\nwhen: docs are built\nthen: read nodes/a.md\n---\n"


def _age(folder: str) -> None:
    """Move every file's times back, past any clock tick."""
    for name in os.listdir(folder):
        os.utime(os.path.join(folder, name), ns=(10**18, 10**18))


def test_rules_are_read_in_order_of_id(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000bb"), a_rule("r_0000aa"))
    found = table.read(store, ("nodes",))
    assert [rule.id for rule in found.rules] == ["r_0000aa", "r_0000bb"]
    assert found.findings == ()
    assert found.rules[0].path == f"{store.routing}/r_0000aa.md"


def test_a_store_without_a_routing_folder_has_no_rules(tmp_path):
    store = a_store(tmp_path)
    os.rmdir(store.routing)
    assert table.read(store, ("nodes",)) == table.Table((), ())


def test_a_file_in_place_of_the_folder_is_a_finding(tmp_path):
    store = a_store(tmp_path)
    os.rmdir(store.routing)
    write(store.routing, "x")
    assert [f.rule for f in table.read(store, ("nodes",)).findings] == ["routing-unreadable"]


@pytest.mark.parametrize(
    ("content", "expected", "line"),
    [
        (b"", "frontmatter-missing", 1),
        (b"---\nwhen: a\nthen: b\0c\n---\n", "nul-character", 3),
        ("---\nwhen: caf\u00e9 tasks\nthen: b\n---\n".encode("latin-1"), "not-utf-8", 2),
        (GOOD.encode("utf-16"), "not-utf-8", 1),
        (b"x" * 5_000_000, "rule-too-long", 1),
        (
            b"---\nwhen: a\n<<<<<<< ours\nthen: b\n=======\nthen: c\n>>>>>>> theirs\n---\n",
            "merge-conflict",
            3,
        ),
        (b"---\nwhen: docs\n\tthen: b\n---\n", "frontmatter", None),
        (b"---\nwhen: [x]y\nthen: b\n---\n", "frontmatter", None),
        (b"---\nwhen: always\nthen: read nodes/a.md\n---\n", "when-vacuous", None),
        (b"---\nwhen: n_abc is useless\nthen: skip it\n---\n", "when-names-a-lesson", None),
        (
            b"---\nwhen: docs\nthen: use ghp_16C7e42F292c6912E7710c838347Ae178B4a\n---\n",
            "secret",
            None,
        ),
    ],
)
def test_a_broken_file_is_named_with_line_and_reason_and_the_others_load(
    tmp_path, content, expected, line
):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"), a_rule("r_0000cc"))
    write(f"{store.routing}/r_0000bb.md", content)
    found = table.read(store, ("nodes",))
    assert [rule.id for rule in found.rules] == ["r_0000aa", "r_0000cc"]
    assert [f.rule for f in found.findings] == [expected]
    assert re.match(r"\.rose/routing/r_0000bb\.md", found.findings[0].where)
    assert line is None or found.findings[0].where.endswith(f"r_0000bb.md:{line}")
    assert found.ids() == {"r_0000aa", "r_0000bb", "r_0000cc"}


def test_a_folder_named_as_a_rule_is_named(tmp_path):
    store = a_store(tmp_path)
    os.mkdir(f"{store.routing}/r_0000bb.md")
    assert [f.rule for f in table.read(store, ("nodes",)).findings] == ["rule-unreadable"]


def test_a_dangling_link_is_named(tmp_path):
    store = a_store(tmp_path)
    os.symlink("nowhere", f"{store.routing}/r_0000bb.md")
    assert [f.rule for f in table.read(store, ("nodes",)).findings] == ["rule-unreadable"]


def test_a_pipe_does_not_block(tmp_path):
    store = a_store(tmp_path)
    os.mkfifo(f"{store.routing}/r_0000bb.md")
    assert [f.rule for f in table.read(store, ("nodes",)).findings] == ["rule-unreadable"]


def test_another_markdown_file_is_a_warning(tmp_path):
    store = a_store(tmp_path)
    write(f"{store.routing}/README.md", "# Rules\n")
    write(f"{store.routing}/notes.txt", "no rule")
    write(f"{store.routing}/.hidden.md", "no rule")
    (finding,) = table.read(store, ("nodes",)).findings
    assert (finding.rule, finding.severity) == ("not-a-rule", "warning")


def test_the_cache_gives_the_same_table(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa", evidence=(rules.Evidence("s", "q", 1, (2, 3)),)))
    write(f"{store.routing}/r_0000bb.md", "")
    fresh = table.read(store, ("nodes",), cache=False)
    assert not os.path.exists(store.rules_cache)
    assert table.read(store, ("nodes",)) == fresh
    assert os.path.exists(store.rules_cache)
    assert table.read(store, ("nodes",)) == fresh


def test_a_changed_file_is_read_again(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    _age(store.routing)
    table.read(store, ("nodes",))
    put(store, a_rule("r_0000aa", then="read nodes/deploy/"))
    assert table.read(store, ("nodes",)).rules[0].then == "read nodes/deploy/"


def test_an_edit_within_one_clock_tick_is_not_missed(tmp_path, monkeypatch):
    """The stamp is equal, so only an entry that was settled when it was read may be trusted."""
    store = a_store(tmp_path)
    path = f"{store.routing}/r_0000aa.md"
    put(store, a_rule("r_0000aa", when="the task is one"))
    monkeypatch.setattr(table.files, "stat_stamp", lambda _: [10**18, 10**18, 1, 1])
    monkeypatch.setattr(table.racy, "now_ns", lambda: 10**18 + 1)
    assert table.read(store, ("nodes",)).rules[0].when == "the task is one"
    put(store, a_rule("r_0000aa", when="the task is two"))
    assert table.read(store, ("nodes",)).rules[0].when == "the task is two"
    assert os.path.exists(path)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"v":1}', '{"v":99,"files":{}}', '{"v":1,"files":{"r_0000aa.md":3}}'],
)
def test_a_broken_cache_is_ignored(tmp_path, content):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(store.rules_cache, content)
    assert len(table.read(store, ("nodes",)).rules) == 1


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    write(store.local, "a file in place of the folder")
    assert len(table.read(store, ("nodes",)).rules) == 1


def test_targets_follow_the_lessons_roots(tmp_path):
    store = a_store(tmp_path)
    write(f"{store.routing}/r_0000aa.md", "---\nwhen: docs\nthen: read docs/a.md nodes/a.md\n---\n")
    assert table.read(store, ("nodes",)).rules[0].targets == ("nodes/a.md",)
    assert table.read(store, ("docs",)).rules[0].targets == ("docs/a.md",)


def test_an_update_keeps_what_a_person_wrote(tmp_path):
    store = a_store(tmp_path)
    path = f"{store.routing}/r_0000aa.md"
    write(path, "\ufeff---\r\n# mine\r\nwhen: docs\r\nthen: x\r\ncolour: red\r\n---\r\nWhy.\r\n")
    rule = table.update(store, "r_0000aa", {"status": "retired", "born": 7}, ("nodes",))
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    assert (rule.status, rule.born) == ("retired", 7)
    assert text == (
        "\ufeff---\r\n# mine\r\nwhen: docs\r\nthen: x\r\ncolour: red\r\n"
        "status: retired\r\nborn: 7\r\n---\r\nWhy.\r\n"
    )


def test_a_file_that_cannot_be_read_is_not_rewritten(tmp_path):
    store = a_store(tmp_path)
    broken = "---\nwhen: a: b\nthen: x\n---\n"
    write(f"{store.routing}/r_0000aa.md", broken)
    with pytest.raises(Refused):
        table.update(store, "r_0000aa", {"status": "retired"}, ("nodes",))
    with open(f"{store.routing}/r_0000aa.md", encoding="utf-8") as file:
        assert file.read() == broken


def test_an_update_that_would_break_the_rule_is_refused(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    with pytest.raises(Refused):
        table.update(store, "r_0000aa", {"status": "gone"}, ("nodes",))
    assert table.read(store, ("nodes",)).rules[0].status == "active"


@pytest.mark.parametrize("rule_id", ["../../etc/passwd", "r_1", "r_0000AA", "", "r_0000aa\n"])
def test_an_id_is_never_a_path(tmp_path, rule_id):
    store = a_store(tmp_path)
    with pytest.raises(RoseError, match="no rule id"):
        table.delete(store, rule_id)


def test_a_deleted_rule_is_gone_and_a_second_time_said_so(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    table.delete(store, "r_0000aa")
    assert table.read(store, ("nodes",)).rules == ()
    with pytest.raises(RoseError, match="There is no rule r_0000aa"):
        table.delete(store, "r_0000aa")
    with pytest.raises(RoseError, match="r_0000aa"):
        table.update(store, "r_0000aa", {"status": "retired"}, ("nodes",))


def test_a_new_id_is_not_among_those_in_use():
    draws = iter(["0000aa", "0000bb"])
    assert table.new_id({"r_0000aa"}, lambda: next(draws)) == "r_0000bb"
    assert rules.ID.fullmatch(table.new_id(()))
